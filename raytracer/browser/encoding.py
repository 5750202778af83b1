"""Pictures as files for a browser: small while they change, exact when finished."""

from dataclasses import dataclass
from io import BytesIO
from math import sqrt

from PIL import Image

from raytracer.viewer.session import Picture

DRAFT_QUALITY, FINE_QUALITY = 80, 92  # of JPEG and WebP (0 to 100)
BYTES_PER_PIXEL = 0.25  # first guess for drafts

TRIES = 4

STILL_PIXELS = 1 << 20  # maximum for pictures in notebooks: below about two megabytes


@dataclass(frozen=True)
class Encoded:
    """A picture as a file: its MIME type, its bytes, and its width and height in pixels."""

    mime: str
    data: bytes
    size: tuple[int, int]


def encoded(picture: Picture) -> Encoded:
    """Encode a picture: PNG if it is finished, WebP if it has alpha, otherwise JPEG."""
    image = _image(picture)
    if not picture.finished:
        return _lossy(image, picture.draft)
    return _png(image.convert("RGB") if picture.opaque else image)


def reduced(picture: Picture, limit: float) -> Encoded:
    """Encode a picture as a draft with about `limit` bytes."""
    image = _image(picture)
    scale = min(sqrt(limit / (BYTES_PER_PIXEL * image.width * image.height)), 1.0)
    for _ in range(TRIES):
        width, height = (max(round(scale * side), 1) for side in image.size)
        small = image.resize((width, height), Image.Resampling.BOX)
        file = _lossy(small, draft=True)
        ratio = limit / len(file.data)
        if 1.0 <= ratio < 2.0 or (ratio >= 1.0 and scale == 1.0):
            break
        scale = min(scale * sqrt(0.8 * ratio), 1.0)
    return file


def still(picture: Picture) -> bytes:
    """Return a picture as a PNG of at most `STILL_PIXELS`."""
    image = _image(picture).convert("RGB" if picture.opaque else "RGBA")
    scale = min(1.0, sqrt(STILL_PIXELS / (image.width * image.height)))
    image.thumbnail((int(scale * image.width), int(scale * image.height)))
    return _png(image).data


def _image(picture: Picture) -> Image.Image:
    height, width = picture.pixels.shape[:2]
    mode = "RGBX" if picture.opaque else "RGBA"
    return Image.frombuffer(mode, (width, height), picture.pixels, "raw", mode, 0, 1)


def _lossy(image: Image.Image, draft: bool) -> Encoded:
    """Return a JPEG, or a WebP for a picture with alpha."""
    file, quality = BytesIO(), DRAFT_QUALITY if draft else FINE_QUALITY
    if image.mode == "RGBX":
        # Without chroma subsampling the edges of spheres look final.
        image.save(file, "JPEG", quality=quality, subsampling=2 if draft else 0)
        return Encoded("image/jpeg", file.getvalue(), image.size)
    image.save(file, "WEBP", quality=quality, method=0)
    return Encoded("image/webp", file.getvalue(), image.size)


def _png(image: Image.Image) -> Encoded:
    file = BytesIO()
    image.save(file, "PNG", compress_level=1)
    return Encoded("image/png", file.getvalue(), image.size)
