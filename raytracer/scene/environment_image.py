"""Images of environments: files to linear radiance."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ENDINGS = (".exr", ".hdr", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")


def read_radiance(path: Path) -> NDArray[np.float32]:
    """Return an image as linear RGB, float32 (h, w, 3), row 0 on top.

    Raises:
        UserError: no such file, no image, or a package that is missing.
    """
    import numpy as np

    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UserError(
            f"{path}: environment.image: '{ending}' is no kind of image that is read here; give "
            f"one of {', '.join(ENDINGS)}"
        )
    if not path.is_file():
        raise UserError(f"{path}: environment.image: there is no such file")
    try:
        pixels = _readers(ending)(path)
    except UserError:
        raise
    except Exception as error:  # whatever the library raises for a broken file
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise UserError(f"{path}: environment.image: is no image: {reason}") from None
    if pixels.ndim == 2:
        pixels = np.repeat(pixels[..., None], 3, axis=2)
    if pixels.ndim != 3 or pixels.shape[2] < 3 or not pixels.size:
        raise UserError(f"{path}: environment.image: has no three channels of colour")
    pixels = np.ascontiguousarray(pixels[..., :3], np.float32)
    if not np.isfinite(pixels).all() or pixels.min() < 0.0:
        pixels = np.nan_to_num(np.maximum(pixels, 0.0), nan=0.0, posinf=65504.0)
    result: NDArray[np.float32] = pixels
    return result


def _readers(ending: str) -> Any:
    """Return the function that reads files of an ending."""
    return {".exr": _read_exr, ".hdr": _read_hdr}.get(ending, _read_srgb)


def _read_exr(path: Path) -> Any:
    """Read the colour of an OpenEXR file."""
    import numpy as np

    try:
        import OpenEXR
    except ImportError:
        raise UserError(
            f"{path}: reading .exr needs OpenEXR: pip install 'raytracer[exr]'"
        ) from None
    with OpenEXR.File(str(path)) as file:
        channels = file.channels()
        for name in ("RGB", "RGBA"):
            if name in channels:
                return channels[name].pixels
        if "R" in channels:
            return np.stack([channels[name].pixels for name in "RGB"], axis=-1)
        return channels["Y"].pixels


def _read_hdr(path: Path) -> Any:
    """Read a Radiance file."""
    try:
        from imagecodecs import rgbe_decode
    except ImportError:
        raise UserError(
            f"{path}: reading .hdr needs imagecodecs: pip install 'raytracer[hdr]'"
        ) from None
    return rgbe_decode(path.read_bytes())


def _read_srgb(path: Path) -> Any:
    """Read a picture of 8 bits, or a grey one of 16, in sRGB; floats are linear."""
    import numpy as np
    from PIL import Image

    with Image.open(path) as image:
        if image.mode == "F":  # numbers, not codes
            return np.asarray(image, np.float64)
        if image.mode in ("I;16", "I"):
            codes = np.clip(np.asarray(image, np.float64) / 65535.0, 0.0, 1.0)
        else:
            codes = np.asarray(image.convert("RGB"), np.float64) / 255.0
    return np.where(codes <= 0.04045, codes / 12.92, ((codes + 0.055) / 1.055) ** 2.4)
