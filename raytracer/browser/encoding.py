"""Pictures as files for a browser: small ones while they change, an exact one when finished."""

from __future__ import annotations

from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING

from PIL import Image, features

if TYPE_CHECKING:
    from raytracer.viewer.session import Picture

DRAFT_QUALITY, FINE_QUALITY = 80, 92
"""Quality of JPEG and WebP (0 to 100) of drafts, and of pictures that only lack samples."""


@dataclass(frozen=True)
class Encoded:
    """A picture as a file: its MIME type and its bytes."""

    mime: str
    data: bytes


def encoded(picture: Picture) -> Encoded:
    """Encode a picture: PNG if it is finished, WebP if it has alpha, otherwise JPEG."""
    file = BytesIO()
    height, width = picture.pixels.shape[:2]
    mode = "RGBX" if picture.opaque else "RGBA"
    image = Image.frombuffer(mode, (width, height), picture.pixels, "raw", mode, 0, 1)
    quality = DRAFT_QUALITY if picture.draft else FINE_QUALITY
    if picture.finished or not (picture.opaque or features.check("webp")):
        shown = image.convert("RGB") if picture.opaque else image
        shown.save(file, "PNG", compress_level=1)
        return Encoded("image/png", file.getvalue())
    if picture.opaque:
        # Full resolution of colour shows the edges of spheres as they will be.
        image.save(file, "JPEG", quality=quality, subsampling=2 if picture.draft else 0)
        return Encoded("image/jpeg", file.getvalue())
    image.save(file, "WEBP", quality=quality, method=0)
    return Encoded("image/webp", file.getvalue())
