"""Settings of how a file is read."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from os import PathLike
from typing import Any

from raytracer.config.arguments import check_mapping, check_text, check_whole
from raytracer.config.errors import SceneError, quote_value
from raytracer.config.field_types import TEXT, FieldType, Integer, Text, Truth
from raytracer.config.fields import Defined, check_fields, setting
from raytracer.files.access import check_path

MAX_FRAMES = 10**12  # largest frame number; that of a file is checked when it is read
MAX_SMOOTHED = 1001

PARTS = ("centers", "radii", "diameters", "colors", *"xyzrgb", "redshift")
"""Parts of spheres that columns can be named for."""

SINGLE = {"radius": "radii", "diameter": "diameters", "color": "colors"}
"""Other words for some parts."""


FRAME = FieldType(
    {int: {"type": "integer"}},
    partial(check_whole, low=-MAX_FRAMES, high=MAX_FRAMES),
    metavar="INTEGER",
)


def _column_names(value: Any, name: str) -> dict[str, str]:
    given = value
    if isinstance(value, str):  # a comma in the name of a column is no separator
        pairs = [each.partition("=") for each in re.split(r",(?=\s*\w+=)", value)]
        given = {part.strip(): column.strip() for part, _, column in pairs}
        if "" in given.values():
            raise SceneError(f"{name}: {quote_value(value)} is not of the form x=NAME,radius=NAME")
    names = {SINGLE.get(k, k): each for k, each in check_mapping(given, name).items()}
    check_fields(names, PARTS, name)
    return {key: check_text(each, f"{name}.{key}") for key, each in names.items()}


FILE_PATH = FieldType({str: TEXT}, lambda value, name, **_: check_path(value, name), metavar="FILE")

COLUMN_NAMES = FieldType(
    {dict: {
        "type": "object", "additionalProperties": False,
        "properties": dict.fromkeys((*PARTS, *SINGLE), TEXT),
    }},
    _column_names, metavar="x=NAME,radius=NAME,...",
)  # fmt: skip
"""Names of arrays or columns by parts of spheres: {x = "px"}, or "x=px,radius=rad"."""


@dataclass(frozen=True, repr=False, eq=False)
class SourceSettings(Defined):
    """How a particle file is read.

    Args:
        frame: Frame of a trajectory, from 0, or back from -1.
        smoothing: Show each particle at its mean position over so many frames of a trajectory, the
            shown frame in the middle.
        unwrap: Follow particles out of a periodic box, from the first frame on. This reads all
            frames before the shown one.
        format: Format of the file, or of standard input, as its ending: xyz or csv, for example.
        topology: File with the atoms of a trajectory of coordinates alone: .psf, .prmtop, .pdb or
            .gro, for example.
        arrays: Columns of the data that are x, y, z, centers, radius, diameter, color, r, g or b;
            redshift: distances of celestial coordinates are c z / H0 of this column.
    """

    frame: int | None = setting(None, FRAME, default_text="the first")
    smoothing: int | None = setting(None, Integer(1, MAX_SMOOTHED), default_text="1")
    unwrap: bool | None = setting(None, Truth(), default_text="false")
    format: str | None = setting(None, Text(), default_text="by name and content")
    topology: str | PathLike[str] | None = setting(
        None,
        FILE_PATH,
        default_text="none",
    )
    arrays: Mapping[str, str] | None = setting(
        None, COLUMN_NAMES, default_text="by usual names", flag="--columns"
    )
