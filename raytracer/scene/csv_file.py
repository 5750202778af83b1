"""Particle tables in text: a header line that names the columns, then one sphere a line."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..door import OpenFile
from ..errors import DataFileError, shown, suggestion
from ..memory import require_room
from .particles import Particles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEADER = "it must name the columns: x,y,z[,radius][,r,g,b]"
SEPARATORS = (",", ";", "\t")


def read_csv(file: OpenFile, names: Mapping[str, str], _: Any) -> Particles:
    """Read the columns x, y, z, and radius and r, g, b where there are such.

    Colours are 0..1, or 0..255 if any of their numbers is above 1.

    Raises:
        DataFileError: no header, a missing column, or something that is no number.
    """
    source = file.source
    header, first = file.lines(2)
    separator, columns = split_header(header)
    own = {"radius": names.get("radii", "radius")}
    own |= {part: names.get(part, part) for part in "xyzrgb"}
    places = {part: _place(name, columns) for part, name in own.items()}
    for part in "xyz":
        if places[part] is None:
            raise _no_column(own[part], columns, source)
    for part in names:
        key = "radius" if part == "radii" else part
        if key in ("centers", "colors"):
            raise DataFileError(f"{source}: a .csv file has columns; leave out arrays.{part}")
        if places[key] is None:
            raise _no_column(own[key], columns, source)
    wanted = [p for p in ("x", "y", "z", "radius", "r", "g", "b") if places[p] is not None]
    colored = sum(p in wanted for p in "rgb")
    if colored not in (0, 3):
        missing = next(p for p in "rgb" if p not in wanted)
        raise _no_column(own[missing], columns, source)
    _require_room(file, first, len(wanted))
    table = load_table(
        file,
        [own[p] for p in wanted],
        dtype=float,
        delimiter=separator,
        skiprows=1,
        usecols=[places[p] for p in wanted],
        ndmin=2,
    ).reshape(-1, len(wanted))
    radius = table[:, 3] if "radius" in wanted else None
    color = _colors(table[:, -3:], source) if colored else None
    used = {"centers": "x, y, z", "radius": own["radius"], "color": "r, g, b"}
    there = {part: columns[place] for part, place in places.items() if place is not None}
    groups = {"centers": "xyz", "radius": ("radius",), "color": "rgb"}
    taken = {name: tuple(there[p] for p in parts if p in there) for name, parts in groups.items()}
    return Particles(source, table[:, :3], radius, color, names=used, columns=taken)


def split_header(header: str) -> tuple[str, list[str]]:
    """Return the separator of a table and the names of its columns."""
    separator = max(SEPARATORS, key=header.count)
    return separator, [c.strip().strip('"') for c in header.lstrip("#").split(separator)]


def _require_room(file: OpenFile, line: str, columns: int) -> None:
    """Refuse a table that will not fit; its lines are as long as this one, or not even twice."""
    if line:
        require_room(file.source, file.size // (2 * len(line)) * columns * 8)


def _place(name: str, columns: list[str]) -> int | None:
    """Return where a column is, in any case of letters, or None."""
    lower = [c.lower() for c in columns]
    if name in columns:
        return columns.index(name)
    return lower.index(name.lower()) if name.lower() in lower else None


def _no_column(name: str, columns: list[str], source: str) -> DataFileError:
    """Return the error for a column that is not there."""
    if not any(columns):
        return DataFileError(f"{source}: line 1 is empty; {HEADER}")
    try:
        [float(c) for c in columns]
    except ValueError:
        return DataFileError(f"{source}: there is no column '{name}'; {suggestion(name, columns)}")
    return DataFileError(f"{source}: line 1 holds numbers; {HEADER}")


def _colors(values: NDArray[np.float64], source: str) -> NDArray[np.float64]:
    """Return colours in 0..1."""
    import numpy as np

    if len(values) == 0 or not np.nanmax(values) > 1.0:
        return values
    if np.nanmax(values) > 255.0 or np.nanmin(values) < 0.0:
        raise DataFileError(f"{source}: columns r, g, b: colours go from 0 to 1 or from 0 to 255")
    return values / 255.0


def load_table(file: OpenFile, names: list[str], **options: Any) -> NDArray[Any]:
    """Read columns of a text file by `numpy.loadtxt`, with its complaints made readable.

    Args:
        file: the open file.
        names: the columns read, in order, for messages.
        **options: for `numpy.loadtxt`.

    Raises:
        DataFileError: something is no number, or a line is too short or too long.
    """
    import warnings

    import numpy as np

    file.require_short_lines()
    skip = int(options["skiprows"])
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a table without rows is no mistake
            table: NDArray[Any] = np.loadtxt(file.name, comments=None, encoding="utf-8", **options)
            return table
    except UnicodeDecodeError:
        raise file.not_text() from None
    except ValueError as error:
        raise _readable(str(error), file.source, names, skip, options["usecols"]) from None


def _readable(
    text: str, source: str, names: list[str], skip: int, places: list[int]
) -> DataFileError:
    """Turn a message of `numpy.loadtxt` into one that names line and column.

    Its row counts data lines: from 0 where a text is no number, from 1 where columns are missing.
    """
    found = re.search(r"convert string '(.*)' to \S+ at row (\d+), column (\d+)", text, re.S)
    if found:
        line = int(found[2]) + 1 + skip
        place = int(found[3]) - 1
        name = names[places.index(place)] if place in places else str(place + 1)
        what = f"'{shown(found[1])}' is not a number" if found[1].strip() else "there is no value"
        return DataFileError(f"{source}: line {line}, column '{name}': {what}")
    found = re.search(r"at row (\d+)", text)
    if found and "column" in text:
        line = int(found[1]) + skip
        return DataFileError(f"{source}: line {line}: too few columns for {', '.join(names)}")
    return DataFileError(f"{source}: is not a table of numbers ({text})")
