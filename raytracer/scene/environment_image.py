"""Image files of environments, as linear radiance."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, UserError
from raytracer.files.access import OpenFile, opened, reading, silenced
from raytracer.memory import require_room

ENDINGS = (".exr", ".hdr", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")

FORMATS = ("PNG", "JPEG", "TIFF", "WEBP")  # Pillow runs programs for some others

TEXEL = 12  # bytes per pixel of linear RGB, float32
CODES = 3  # bytes per pixel in sRGB

BLOCK_ROWS = 64


def read_radiance(path: Path) -> NDArray[np.float32]:
    """Return an image as linear RGB, float32 (h, w, 3), row 0 on top; (h, w, 1) if it is grey."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UserError(
            f"{path}: environment.image: '{ending}' files cannot be read; give "
            f"one of {', '.join(ENDINGS)}"
        )
    with opened(path, f"{path}: environment.image") as file:
        with reading(file.source, ending), silenced():
            pixels = {".exr": _read_exr, ".hdr": _read_hdr}.get(ending, _read_picture)(file)
        if pixels.ndim == 2:
            pixels = pixels[..., None]
        if pixels.ndim != 3 or pixels.shape[2] not in (1, 3, 4) or not pixels.size:
            raise DataFileError(f"{file.source}: does not have three colour channels")
    result: NDArray[np.float32] = np.ascontiguousarray(pixels[..., :3], np.float32)
    for top in range(0, len(result), BLOCK_ROWS):
        block = result[top : top + BLOCK_ROWS]
        if not np.isfinite(block).all() or block.min() < 0.0:
            np.maximum(block, 0.0, out=block)
            np.nan_to_num(block, copy=False, nan=0.0, posinf=65504.0)
    return result


def _read_exr(file: OpenFile) -> Any:
    try:
        import OpenEXR
    except ImportError:
        raise UserError(
            f"{file.path}: reading .exr needs OpenEXR: pip install 'raytracer[exr]'"
        ) from None
    with OpenEXR.File(file.name, header_only=True) as image:
        header = image.header()
    low, high = (np.asarray(end, np.int64) for end in header["dataWindow"])
    need = (4 * len(header["channels"]) + TEXEL) * int(np.prod(high - low + 1))
    require_room(file.source, need, remedy="make it smaller")
    with OpenEXR.File(file.name) as image:
        channels = image.channels()
        for name in ("RGB", "RGBA"):
            if name in channels:
                return channels[name].pixels
        if "R" in channels:
            return np.stack([channels[name].pixels for name in "RGB"], axis=-1)
        return channels["Y"].pixels


def _read_hdr(file: OpenFile) -> NDArray[Any]:
    try:
        from imagecodecs import rgbe_decode
    except ImportError:
        raise UserError(
            f"{file.path}: reading .hdr needs imagecodecs: pip install 'raytracer[hdr]'"
        ) from None
    return np.asarray(rgbe_decode(file.read(file.size)))


def _read_picture(file: OpenFile) -> NDArray[np.float32]:
    """Read an 8-bit image, or a grey one with 16 bits, in sRGB; floats are linear."""
    from raytracer.scene.colors import linear_rgb, srgb_to_linear

    codes: NDArray[Any] = _codes(file)
    if codes.dtype.kind == "f":
        return codes
    if codes.dtype == np.uint8:
        linear: NDArray[np.float32] = linear_rgb(codes.reshape(-1, CODES)).reshape(codes.shape)
        return linear
    grey: NDArray[np.float32]
    grey = srgb_to_linear(np.arange(1 << 16) / 65535.0).astype(np.float32)[codes]
    return grey


def _codes(file: OpenFile) -> Any:
    """Return stored values: uint8 (h, w, 3), uint16 (h, w), or linear float32 (h, w)."""
    from PIL import Image, UnidentifiedImageError

    file.file.seek(0)
    try:
        opened_image = Image.open(file.file, formats=FORMATS)
    except UnidentifiedImageError:
        raise DataFileError(
            f"{file.source}: is damaged, or not a PNG, JPEG, TIFF or WebP image"
        ) from None
    with opened_image as image:
        need = (TEXEL + CODES) * image.width * image.height
        require_room(file.source, need, remedy="make it smaller")
        if image.mode == "F":
            return np.array(image, np.float32)
        if image.mode in ("I;16", "I;16B", "I"):
            return np.clip(np.asarray(image), 0, 65535).astype(np.uint16)
        return np.asarray(image if image.mode == "RGB" else image.convert("RGB"))
