"""Formats of pictures, by suffix: what each supports, and how it is written.

PNG is written by `png` and OpenEXR as a film; Pillow writes the others, and is imported only for
them.
"""

import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from raytracer.arguments import whole
from raytracer.errors import OutputError, nearest
from raytracer.film.film import Pixels


class Format(NamedTuple):
    name: str  # for people, and for Pillow
    suffixes: tuple[str, ...]  # the usual one first
    bits: tuple[int, ...] = (8,)
    alpha: bool = True
    quality: int = 0  # the default of 1..100; 0: it keeps every value
    side: int = 0  # maximum number of pixels; 0: more than any picture has


PNG = Format("PNG", (".png",), bits=(8, 16))
TIFF = Format("TIFF", (".tiff", ".tif"))
SVG = Format("SVG", (".svg",), bits=(8, 16))
PDF = Format("PDF", (".pdf",))
EXR = Format("OpenEXR", (".exr",), bits=(8, 16))
FORMATS = (
    PNG,
    TIFF,
    Format("JPEG", (".jpg", ".jpeg"), alpha=False, quality=95, side=65_535),
    Format("WEBP", (".webp",), quality=90, side=16_383),
    Format("AVIF", (".avif",), quality=85, side=65_535),
    SVG,
    PDF,
    EXR,
)
"""All formats; SVG and PDF embed the picture; OpenEXR has linear light, without tone curve."""

SUFFIXES = {suffix: each for each in FORMATS for suffix in each.suffixes}

LOSSLESS = 100  # quality at which WebP and AVIF keep every value

# Tags of TIFF and of EXIF.
DESCRIPTION, SOFTWARE = 270, 305


def format_of(path: str | Path) -> Format:
    """Return the format of a picture by its suffix. Raises OutputError."""
    suffix = Path(path).suffix.lower()
    kind = SUFFIXES.get(suffix)
    if kind is None:
        near = nearest(suffix, SUFFIXES) if suffix.startswith((".j", ".p", ".t")) else None
        hint = f"did you mean '{near}'?" if near else f"known are {', '.join(SUFFIXES)}"
        what = f"'{suffix}' is not the suffix of a picture format" if suffix else "it has no suffix"
        raise OutputError(f"{path}: {what}; {hint}")
    return kind


def require(
    path: str | Path, bits: int = 8, quality: int | None = None, *, transparent: bool = False,
    size: tuple[int, int] = (0, 0),
) -> Format:  # fmt: skip
    """Return the format of a file after checking that it can hold the picture.

    quality: 1..100, for lossy formats; None is the format's default. size: width and height in
    pixels. Raises OutputError where there is no such format, or it cannot hold the picture.
    """
    kind = format_of(path)
    name, problem = kind.name, None
    if quality is not None and whole(quality, "quality", 1, 100) and not kind.quality:
        lossy = ", ".join(each.suffixes[0] for each in FORMATS if each.quality)
        problem = (
            f"{name} is lossless and has no quality: leave it out, or give a name that ends "
            f"in one of {lossy}"
        )
    elif bits not in kind.bits:
        problem = f"{name} has {kind.bits[-1]} bits per channel, not {bits}: give a name of a .png"
    elif transparent and not kind.alpha:
        problem = (
            f"{name} cannot be transparent, and the picture is: give it a background (--background "
            "white), or a name that ends in .png or .webp"
        )
    elif kind.side and max(size) > kind.side:
        problem = (
            f"{name} has at most {kind.side:,} pixels a side, and the picture has {size[0]:,}x"
            f"{size[1]:,}: give a name that ends in .png or .tiff"
        )
    elif kind is PDF and find_spec("matplotlib") is None:
        problem = "needs matplotlib: pip install 'raytracer[plot]', or give a name of a .svg"
    elif name in ("WEBP", "AVIF"):
        from PIL import features

        if not features.check(name.lower()):
            problem = (
                f"the installed Pillow cannot write {name}: pip install --upgrade pillow, or give "
                "another ending"
            )
    if problem is not None:
        raise OutputError(f"{path}: {problem}")
    return kind


def write(
    file: BinaryIO, pixels: Pixels, kind: Format, texts: dict[int, str], quality: int,
    dpi: float | None = None,
) -> None:  # fmt: skip
    """Write a picture, uint8 (h, w, 3 or 4), in any format but PNG and OpenEXR.

    file: seekable. texts: ASCII by the tags `DESCRIPTION`, the metadata, and `SOFTWARE`. quality:
    1..100. dpi: pixels per inch that a TIFF or JPEG states, or None.
    """
    from PIL import Image as Pillow

    exif = Pillow.Exif()
    exif.update(texts)
    options: dict[str, Any] = {"quality": quality, "exif": exif.tobytes()}
    if dpi is not None and kind.name in ("JPEG", "TIFF"):
        options["dpi"] = (dpi, dpi)
    if kind is TIFF:
        options = {"compression": "tiff_adobe_deflate", "tiffinfo": texts} | options
        del options["quality"], options["exif"]
    elif kind.name == "JPEG":
        options |= {"subsampling": 0, "optimize": True}  # of full size: colours carry data
    elif kind.name == "AVIF":
        options |= {"subsampling": "4:4:4"}
    elif quality == LOSSLESS:
        options |= {"lossless": True, "exact": True}
    Pillow.fromarray(np.ascontiguousarray(pixels)).save(file, kind.name, **options)


def read_description(file: BinaryIO) -> str | None:
    """Return the description in a picture that `write` made, or None. Raises Exception: any, if it
    is not a picture or is damaged."""
    from PIL import Image as Pillow

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of its size: no pixel is decoded
        known = [each.name for each in FORMATS if each not in (PNG, EXR)]
        with Pillow.open(file, formats=known) as picture:
            text = picture.getexif().get(DESCRIPTION)
    return text if isinstance(text, str) else None
