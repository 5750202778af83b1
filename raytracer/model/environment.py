"""The environment: light from all directions, of one colour, a gradient or an image file."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, SceneError, UserError
from raytracer.config.field_types import Number, Text, Truth
from raytracer.config.fields import Defined, setting
from raytracer.files.access import OpenFile, open_file, silence_stderr, translate_errors
from raytracer.model.colors import Color, linear_rgb, parse_color, srgb_to_linear
from raytracer.model.key_types import ColorValue
from raytracer.model.openexr_image import TEXEL, read_exr
from raytracer.system.memory import require_room

ENDINGS = (".exr", ".hdr", ".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp")
FORMATS = ("PNG", "JPEG", "TIFF", "WEBP")  # Pillow runs programs for some others
CODES = 3  # bytes per pixel in sRGB
BLOCK_ROWS = 64


@dataclass(frozen=True, repr=False, eq=False)
class Environment(Defined, place="environment"):
    """Light from all directions, instead of the ambient light and the background's light.

    With the integrator `path` it lights the spheres; the other integrators only reflect it in
    mirrors, and the ambient light stays. The camera sees the background of the scene, unless
    `visible` is set.

    Args:
        image: File of an equirectangular image: .exr, .hdr, .png, .jpg or .tiff, twice as wide as
            high; relative to the scene file.
        color: One colour in all directions, instead of an image.
        bottom: Colour of the nadir of a gradient; needs `top`.
        top: Colour of the zenith of a gradient; needs `bottom`.
        intensity: Factor of the radiance.
        rotation: Rotation in degrees about the up axis of the background. With 0 the middle of an
            image lies towards +x, or +z if x is up.
        shadow: Whether spheres cast shadows in its light (path tracing). Without, each surface gets
            the light of the hemisphere above it.
        visible: Whether the camera sees it behind the spheres, instead of the background. If the
            background is transparent, it is not seen, and still gives light.

    Raises:
        SceneError: a value is out of range, or settings contradict each other.
    """

    image: str | None = setting(None, Text())
    color: Color | None = setting(None, ColorValue())
    bottom: Color | None = setting(None, ColorValue())
    top: Color | None = setting(None, ColorValue())
    intensity: float = setting(1.0, Number(0.0, 1e9))
    rotation: float = setting(0.0, Number(-360.0, 360.0))
    shadow: bool = setting(True, Truth())
    visible: bool = setting(False, Truth())

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.bottom is None) != (self.top is None):
            missing = "bottom" if self.bottom is None else "top"
            raise SceneError(f"environment.{missing}: missing; a gradient needs bottom and top")
        given = [self.image, self.color, self.top]
        if sum(each is not None for each in given) != 1:
            raise SceneError(
                "environment: give one of `image`, `color`, and the gradient of `bottom` and `top`"
            )

    def equirectangular(self) -> NDArray[np.float32]:
        """Return the radiance, linear RGB, float32 (h, w, 3): row 0 is the zenith.

        A grey image has one channel.

        Raises:
            UserError: the image cannot be read.
        """
        if self.image is not None:
            image = read_radiance(Path(self.image))
            image *= self.intensity
            return image
        rows: Any
        if self.color is not None:
            rows = np.array([[srgb_to_linear(parse_color(self.color))]])
        else:
            edges = (self.top, self.bottom)
            top, bottom = (np.array(srgb_to_linear(parse_color(edge or ""))) for edge in edges)
            angle = (np.arange(256) + 0.5) * np.pi / 256  # from the zenith, of each row's middle
            height = 0.5 + 0.5 * np.cos(angle)
            rows = (bottom + height[:, None] * (top - bottom))[:, None, :]
        return np.asarray(rows * self.intensity, np.float32)


def read_radiance(path: Path) -> NDArray[np.float32]:
    """Return an image as linear RGB, float32 (h, w, 3), row 0 on top; (h, w, 1) if it is grey."""
    ending = path.suffix.lower()
    if ending not in ENDINGS:
        raise UserError(
            f"{path}: environment.image: '{ending}' files cannot be read; give "
            f"one of {', '.join(ENDINGS)}"
        )
    with open_file(path, f"{path}: environment.image") as file:
        with translate_errors(file.source, ending), silence_stderr():
            pixels = {".exr": read_exr, ".hdr": _read_hdr}.get(ending, _read_picture)(file)
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


def _read_hdr(file: OpenFile) -> NDArray[Any]:
    try:
        from imagecodecs import rgbe_decode
    except ImportError:
        raise UserError(
            f"{file.path}: reading .hdr needs imagecodecs: pip install 'raytracer[hdr]'"
        ) from None
    return np.asarray(rgbe_decode(file.read(file.size)))


class _FileWithoutDescriptor:
    """A file without its descriptor, which libtiff would map into memory: if another process cut
    the file, this one would end by SIGBUS."""

    def __init__(self, file: OpenFile) -> None:
        self.read, self.seek, self.tell = file.file.read, file.file.seek, file.file.tell


def _read_picture(file: OpenFile) -> NDArray[np.float32]:
    """Read an 8-bit image, or a grey one with 16 bits, in sRGB; floats are linear."""
    from PIL import Image, UnidentifiedImageError

    file.file.seek(0)
    try:
        opened_image = Image.open(_FileWithoutDescriptor(file), formats=FORMATS)  # type: ignore[arg-type]
    except UnidentifiedImageError:
        raise DataFileError(
            f"{file.source}: is damaged, or not a PNG, JPEG, TIFF or WebP image"
        ) from None
    with opened_image as image:
        need = (TEXEL + CODES) * image.width * image.height
        need += file.size if image.format == "TIFF" else 0  # libtiff takes the whole file
        require_room(file.source, need, remedy="make it smaller")
        if image.mode == "F":
            return np.array(image, np.float32)
        if image.mode in ("I;16", "I;16B", "I"):
            grey = srgb_to_linear(np.arange(1 << 16) / 65535.0).astype(np.float32)
            return np.asarray(grey[np.clip(np.asarray(image), 0, 65535).astype(np.uint16)])
        codes = np.asarray(image if image.mode == "RGB" else image.convert("RGB"))
    return linear_rgb(codes.reshape(-1, CODES)).reshape(codes.shape)
