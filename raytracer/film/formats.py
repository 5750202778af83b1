"""Formats of pictures, by suffix: what each supports, and how it is written.

PNG is written by `png` and OpenEXR as a film; Pillow writes the others, and is imported only for
them.
"""

import warnings
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np

from raytracer.config.arguments import check_whole
from raytracer.config.errors import OutputError, find_nearest_name, quote_value
from raytracer.files import output
from raytracer.files.access import open_file, parse_json
from raytracer.film import film_file, png
from raytracer.film.film import Pixels


class PictureFormat(NamedTuple):
    name: str  # for people, and for Pillow
    suffixes: tuple[str, ...]  # the usual one first
    bits: tuple[int, ...] = (8,)
    alpha: bool = True
    quality: int = 0  # the default of 1..100; 0: it keeps every value
    side: int = 0  # maximum number of pixels; 0: more than any picture has


PNG = PictureFormat("PNG", (".png",), bits=(8, 16))
TIFF = PictureFormat("TIFF", (".tiff", ".tif"))
SVG = PictureFormat("SVG", (".svg",), bits=(8, 16))
PDF = PictureFormat("PDF", (".pdf",))
EXR = PictureFormat("OpenEXR", (".exr",), bits=(8, 16))
FORMATS = (
    PNG,
    TIFF,
    PictureFormat("JPEG", (".jpg", ".jpeg"), alpha=False, quality=95, side=65_535),
    PictureFormat("WEBP", (".webp",), quality=90, side=16_383),
    PictureFormat("AVIF", (".avif",), quality=85, side=65_535),
    SVG,
    PDF,
    EXR,
)
"""All formats; SVG and PDF embed the picture; OpenEXR has linear light, without tone curve."""

SUFFIXES = {suffix: each for each in FORMATS for suffix in each.suffixes}

LOSSLESS = 100  # quality at which WebP and AVIF keep every value

# Tags of TIFF and of EXIF.
DESCRIPTION, SOFTWARE = 270, 305
PILLOW = ("PNG", "TIFF", "JPEG", "WEBP", "AVIF")  # whose metadata Pillow reads
MAX_METADATA = 1 << 24  # bytes; usual metadata have a few thousand
SVG_HEAD = 256  # bytes at the start of an SVG that hold what is before its description


def find_format(path: str | Path) -> PictureFormat:
    """Return the format of a picture by its suffix. Raises OutputError."""
    suffix = Path(path).suffix.lower()
    kind = SUFFIXES.get(suffix)
    if kind is None:
        near = (
            find_nearest_name(suffix, SUFFIXES) if suffix.startswith((".j", ".p", ".t")) else None
        )
        hint = f"did you mean '{near}'?" if near else f"known are {', '.join(SUFFIXES)}"
        what = f"'{suffix}' is not the suffix of a picture format" if suffix else "it has no suffix"
        raise OutputError(f"{path}: {what}; {hint}")
    return kind


def format_named(name: str) -> PictureFormat:
    """Return a format by a suffix with or without its dot, as "png". Raises OutputError."""
    kind = SUFFIXES.get(f".{name.lower().removeprefix('.')}" if isinstance(name, str) else "")
    if kind is None:
        known = ", ".join(suffix[1:] for suffix in SUFFIXES)
        raise OutputError(f"format: {quote_value(name)} is not a picture format; known are {known}")
    return kind


def check_target(
    path: str | Path, bits: int = 8, quality: int | None = None, *, transparent: bool = False,
    side: int = 0, kind: PictureFormat | None = None,
) -> PictureFormat:  # fmt: skip
    """Return the format of a file after checking that it can be written, and hold the picture.

    kind: the format; None is that of the suffix. Others and errors as for `check_format`.
    """
    kind = check_format(
        path, kind or find_format(path), bits, quality, transparent=transparent, side=side
    )
    (film_file.check_target if kind is EXR else output.check_file)(path)
    return kind


def check_format(
    place: str | Path, kind: PictureFormat, bits: int = 8, quality: int | None = None, *,
    transparent: bool = False, side: int = 0,
) -> PictureFormat:  # fmt: skip
    """Return a format after checking that it can hold the picture.

    place: where it is written, for messages. quality: 1..100, for lossy formats; None is the
    format's default. side: pixels of the longer side, if they are known. Raises OutputError.
    """
    name, problem = kind.name, None
    if quality is not None and check_whole(quality, "quality", 1, 100) and not kind.quality:
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
    elif side > kind.side > 0:
        problem = (
            f"{name} has at most {kind.side:,} pixels per side, not {side:,}: give a name of a .png"
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
        raise OutputError(f"{place}: {problem}")
    return kind


def write(
    file: BinaryIO, pixels: Pixels, kind: PictureFormat, texts: dict[int, str], quality: int,
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
    try:
        Pillow.fromarray(np.ascontiguousarray(pixels)).save(file, kind.name, **options)
    except ValueError as error:  # of a picture that is too large
        raise OSError(str(error)) from error


def read_metadata(path: Path, is_input: bool = True) -> dict[str, Any]:
    """Return the metadata of a picture, without reading its pixels; {} if it has none, or is none.

    is_input: False if it may be replaced; see `access.open_file`. Raises DataFileError: the file
    cannot be read.
    """
    from PIL import Image as Pillow

    text: Any = None
    with open_file(path, standard_input=True, is_input=is_input) as file:
        # Whatever Pillow raises for a file that is no picture, or damaged; a pipe cannot seek.
        with suppress(Exception), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of its size: no pixel is decoded
            if (text := _svg_description(file.file)) is None:
                file.file.seek(0)
                with Pillow.open(file.file, formats=PILLOW) as picture:
                    text = picture.info.get(png.KEY) or picture.getexif().get(DESCRIPTION)
        is_ours = isinstance(text, str) and text.startswith("{")  # not of a camera
        if not is_ours or len(text) > MAX_METADATA:
            return {}
        return parse_json(text, file.source, "its metadata")


def _svg_description(file: BinaryIO) -> str | None:
    """Return the description at the start of an SVG; None of other files."""
    data = file.read(SVG_HEAD)
    _, mark, data = data.partition(b"<desc>") if b"<svg" in data else (b"", b"", b"")
    while mark and b"</desc>" not in data and (more := file.read(1 << 16)):
        data += more
        if len(data) > MAX_METADATA:
            return None
    from html import unescape

    text, end, _ = data.partition(b"</desc>")
    return unescape(text.decode("utf-8")) if end else None
