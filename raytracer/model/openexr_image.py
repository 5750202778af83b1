"""Images of environments in OpenEXR, by its own package (extra `exr`)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.system.memory import require_room

TEXEL = 12  # bytes per pixel of linear RGB, float32
COLORS = ("RGB", "Y")  # channels that are read, and those of a layer after its name and a dot


def read_exr(file: OpenFile) -> NDArray[np.float32]:
    """Return the colours of an OpenEXR file, linear, float32 (h, w, 3), or (h, w, 1) if it is grey.

    They are those of the first part with channels R, G, B, or with Y, and those of a layer
    ("Combined.R") where no part has them without. The picture is the display window; outside of
    the data window it is black.

    Raises:
        DataFileError: it has no such channels; is deep, a cube map, or sampled at fewer places.
        UserError: the package is missing or too old.
    """
    from raytracer.film.film_file import require_openexr

    exr = require_openexr(file.path)
    with exr.File(file.name, header_only=True) as stored:
        headers = [dict(part.header) for part in stored.parts]  # empty after the block
    number, channels = _find_colors(file, headers)
    header = headers[number]
    window, display = (_parse_window(header[name]) for name in ("dataWindow", "displayWindow"))
    need = sum(
        4 * len(each["channels"]) * _count_pixels(_parse_window(each["dataWindow"]))
        for each in headers
    )
    require_room(file.source, need + TEXEL * _count_pixels(display), remedy="make it smaller")
    with exr.File(file.name, separate_channels=True) as stored:
        found = stored.channels(number)
        planes = [np.asarray(found[name].pixels, np.float32) for name in channels]
        pixels = np.stack(planes, axis=-1)
    return pixels if window == display else _place_in_display(pixels, window, display)


def _find_colors(file: OpenFile, headers: list[dict[str, Any]]) -> tuple[int, list[str]]:
    """Return the part with colours, and the names of their channels. Raises DataFileError."""
    names = [[channel.name for channel in header["channels"]] for header in headers]
    for letters in COLORS:
        prefixes = dict.fromkeys(
            ["", *(name.removesuffix(letters[0]) for part in names for name in part)]
        )
        for prefix in prefixes:
            if prefix and not prefix.endswith("."):
                continue
            wanted = [prefix + letter for letter in letters]
            for number, part in enumerate(names):
                if {*wanted} <= {*part}:
                    _require_plain(file, headers[number], wanted)
                    return number, wanted
    listed = ", ".join(name for part in names for name in part)
    raise DataFileError(f"{file.source}: has no channels R, G, B, or Y: it has {listed or 'none'}")


def _require_plain(file: OpenFile, header: dict[str, Any], names: list[str]) -> None:
    """Refuse what is no map of longitude and latitude with a colour per pixel."""
    by_name = {channel.name: channel for channel in header["channels"]}
    problem = ""
    if "deep" in str(header.get("type", "")):
        problem = "has deep pixels: flatten it"
    elif "CUBE" in str(header.get("envmap", "")):
        problem = "is a cube map: convert it to latitude and longitude, as with exrenvmap -latlong"
    elif any((by_name[name].xSampling, by_name[name].ySampling) != (1, 1) for name in names):
        problem = "has colours of fewer pixels than its size: convert it to RGB"
    elif names[0].endswith("Y") and names[0].removesuffix("Y") + "RY" in by_name:
        problem = "has luminance and chroma: convert it to RGB"
    if problem:
        raise DataFileError(f"{file.source}: {problem}")


Window = tuple[int, int, int, int]


def _parse_window(ends: Any) -> Window:
    """Return a window as its first column and row, and those after its last."""
    (x0, y0), (x1, y1) = np.asarray(ends, np.int64).tolist()
    return x0, y0, x1 + 1, y1 + 1


def _count_pixels(window: Window) -> int:
    x0, y0, x1, y1 = window
    return max(x1 - x0, 0) * max(y1 - y0, 0)


def _place_in_display(
    pixels: NDArray[np.float32], window: Window, display: Window
) -> NDArray[np.float32]:
    """Return the display window of a picture that covers another one."""
    x0, y0, x1, y1 = display
    result = np.zeros((y1 - y0, x1 - x0, pixels.shape[-1]), np.float32)
    left, top = max(window[0], x0), max(window[1], y0)
    right, bottom = max(min(window[2], x1), left), max(min(window[3], y1), top)
    inside = pixels[top - window[1] : bottom - window[1], left - window[0] : right - window[0]]
    result[top - y0 : bottom - y0, left - x0 : right - x0] = inside
    return result
