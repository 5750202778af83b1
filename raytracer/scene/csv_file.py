"""Particle tables in text: a line that names the columns, then one sphere a line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataFileError, SceneError, shown, suggestion
from ..files.access import OpenFile
from ..memory import has_room, require_room
from . import naming
from .arrays import distinct
from .colors import OPAQUE, parse_color
from .lines import aside, count_lines, pick_line
from .particles import Particles
from .sheet import Sheet, long_row, read_sheet, tally

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

HEADER = "it must name the columns: x,y,z[,radius][,r,g,b]"

COLOR_BYTES = 32
"""Longest text of a colour; the longest CSS name has 20 letters."""

# Compiled by `re` where something is wrong with a file.
_BAD_CELL = r"(?s)convert string '(.*)' to (\S+) at row (\d+), column (\d+)"
_DECIMAL_COMMA = r"\s*[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?\s*"


def read_csv(file: OpenFile, names: Mapping[str, str]) -> Particles:
    """Read the columns of coordinates, and those of radii, diameters and colours if there are such.

    Colours are 0..1, or 0..255 if any of their numbers is above 1; or one column of texts.

    Raises:
        DataFileError: no names, a missing column, a row that is too long or too short, or
            something that is no number.
    """
    source = file.source
    sheet = read_sheet(file)
    chosen, notes = _choose(sheet, names, source)
    text = chosen.get("color")
    wanted = [part for part in chosen if part != "color"]
    _require_room(file, sheet, chosen)
    numbers, words = _read(file, sheet, [chosen[p] for p in wanted], text)
    columns = {part: numbers[:, place] for place, part in enumerate(wanted)}
    result = Particles(source, numbers[:, :3], notes=notes)
    if "radius" in columns:
        result.radius = columns["radius"]
    elif "diameter" in columns:
        result.radius = columns["diameter"] * 0.5
    if words is not None and text is not None:
        result.color, result.color_id = text_palette(words, source, text, sheet.skip + 1)
    elif "r" in columns:
        result.color = _colors(numbers[:, -3:], source)
    size = chosen.get("radius") or chosen.get("diameter")
    result.names = {"centers": "x, y, z", "radius": size or "radius", "color": text or "r, g, b"}
    groups = {"centers": "xyz", "radius": ("radius", "diameter"), "color": ("r", "g", "b", "color")}
    result.columns = {
        name: tuple(chosen[part] for part in parts if part in chosen)
        for name, parts in groups.items()
    }
    return result


def _choose(
    sheet: Sheet, names: Mapping[str, str], source: str
) -> tuple[dict[str, str], list[tuple[str, str]]]:
    """Return the columns to read, x, y and z first and colours last, and what to warn of.

    Their parts are x, y, z, then radius or diameter, then r, g, b, or color for one of texts.
    """
    if "centers" in names:
        raise DataFileError(f"{source}: a .csv file has columns; leave out arrays.centers")
    parts = {"radii": "radius", "diameters": "diameter", "colors": "color"}
    told = {parts.get(part, part): name for part, name in names.items()}
    chosen: dict[str, str] = {}
    for part in ("x", "y", "z", *sorted(set(told) - set("xyz"))):
        column = _find(part, told.get(part), sheet, chosen) if sheet.named else None
        if column is None:
            raise _no_column(told.get(part) or part, sheet, source)
        chosen[part] = column
    notes: list[tuple[str, str]] = []
    if not {"radius", "diameter"} & set(chosen):
        _add(("radius",), sheet, chosen) or _add(("diameter",), sheet, chosen)
    _choose_colors(sheet, chosen, source)
    if not {"radius", "diameter"} & set(chosen):
        left = [column for column in sheet.columns if column not in chosen.values()]
        if found := naming.guess(left, source, "column"):
            chosen[found[0]] = found[1]
            notes.append(("radius", found[2]))
    line = f"{source}: line {sheet.line}"
    naming.require_one(chosen.values(), sheet.columns, line, "column", told.values())
    _note_unused(sheet, chosen, notes, source)
    order = ("x", "y", "z", "radius", "diameter", "r", "g", "b", "color")
    return {part: chosen[part] for part in order if part in chosen}, notes


def _find(part: str, told: str | None, sheet: Sheet, chosen: Mapping[str, str]) -> str | None:
    """Return the column of a part, by the name that it was given or by a usual one, or None."""
    if told is None:
        return naming.usual(part, [c for c in sheet.columns if c and c not in chosen.values()])
    lower = [column.lower() for column in sheet.columns]
    if told in sheet.columns:
        return told
    return sheet.columns[lower.index(told.lower())] if told.lower() in lower else None


def _add(parts: tuple[str, ...], sheet: Sheet, chosen: dict[str, str]) -> bool:
    """Choose columns with usual names if all of them are there; whether they are."""
    found = {part: _find(part, None, sheet, chosen) for part in parts if part not in chosen}
    columns = {part: column for part, column in found.items() if column is not None}
    if len(columns) == len(found):
        chosen.update(columns)
    return len(columns) == len(found)


def _choose_colors(sheet: Sheet, chosen: dict[str, str], source: str) -> None:
    """Choose r, g and b, or one column of texts."""
    if "color" in chosen or _add(("r", "g", "b"), sheet, chosen):
        return
    there = [part for part in "rgb" if part in chosen or _find(part, None, sheet, chosen)]
    if len(there) == 2 or set("rgb") & set(chosen):
        missing = next(part for part in "rgb" if part not in there)
        raise _no_column(missing, sheet, source)
    column = naming.usual("color", [c for c in sheet.columns if c not in chosen.values()])
    if column is not None and _is_text(sheet, column):
        chosen["color"] = column


def _note_unused(
    sheet: Sheet, chosen: Mapping[str, str], notes: list[tuple[str, str]], source: str
) -> None:
    """Note columns that sound like what was not found."""
    left = [column for column in sheet.columns if column and column not in chosen.values()]
    sizes = [] if {"radius", "diameter"} & set(chosen) else naming.sizes(left)
    colors = [] if {"r", "color"} & set(chosen) else naming.colors(left)
    if "r" in chosen and (alpha := [each for each in left if naming.plain(each) in naming.ALPHA]):
        notes.append(("color", f"{source}: {OPAQUE}: column '{shown(alpha[0])}' is ignored"))
    notes += naming.unused(source, "column", sizes, colors, 'r = "...", g = "...", b = "..."')


def _is_text(sheet: Sheet, column: str) -> bool:
    """Whether a column holds texts, by its first row."""
    cells = sheet.cells(sheet.first)
    place = sheet.columns.index(column)
    try:
        float(cells[place].replace(",", "."))
    except (ValueError, IndexError):
        return place < len(cells)
    return False


def _read(
    file: OpenFile, sheet: Sheet, numbers: list[str], text: str | None
) -> tuple[NDArray[np.float64], NDArray[np.bytes_] | None]:
    """Return the columns of numbers, (N, K), and that of texts, (N,)."""
    import numpy as np

    names = numbers if text is None else [*numbers, text]
    kinds = [("numbers", "f8", (len(numbers),)), ("text", f"S{COLOR_BYTES}")]
    options = {
        "dtype": np.dtype(float) if text is None else np.dtype(kinds),
        "delimiter": sheet.separator,
        "skiprows": sheet.skip,
        "usecols": [sheet.columns.index(name) for name in names],
        "ndmin": 2 if text is None else 1,
    }
    with aside(lambda: tally(file, sheet)) as counting:
        table = load_table(file, names, **options)
    counted = counting.result()
    usual = sheet.first.count(sheet.separator or " ") * len(table)
    if counted.separators != usual or counted.quotes or usual > _separators(sheet, len(table)):
        found = long_row(file, sheet)
        if found is not None:
            raise _too_long(found, sheet, file.source)
    if counted.quotes and pick_line(file, sheet.inked + len(table)) is not None:
        raise DataFileError(
            f"{file.source}: a cell in quotes goes over the end of its line; write it in one line"
        )
    if text is None:
        return table.reshape(-1, len(numbers)), None
    return table["numbers"].reshape(-1, len(numbers)), table["text"]


def _separators(sheet: Sheet, rows: int) -> int:
    """Return how many separators rows have that are as long as the line of names."""
    return (len(sheet.columns) - 1) * rows


def _too_long(found: tuple[int, int], sheet: Sheet, source: str) -> DataFileError:
    """Return the error for a row with more cells than there are names."""
    line, cells = found
    hint = "give each column a name"
    if sheet.separator == ",":
        hint += "; if these are decimal commas, write points, or semicolons between the columns"
    names = len(sheet.columns)
    return DataFileError(f"{source}: line {line} has {cells} values for {names} columns; {hint}")


def text_palette(
    words: NDArray[np.bytes_], source: str, column: str, line: int
) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Return the different colours of a column of texts, (K, 3) sRGB, and each row's index.

    Args:
        words: (N,), `COLOR_BYTES` each.
        source: the file.
        column: its name.
        line: of the first row in the file.

    Raises:
        DataFileError: a text is no colour, with the line it is on.
    """
    import numpy as np

    texts, ids = distinct(words, source)
    colors = []
    for index, text in enumerate(texts):
        try:
            colors.append(parse_color(text.strip(' "')))
        except SceneError as error:
            row = line + int(np.argmax(ids == index))
            raise DataFileError(
                f"{source}: line {row}, column '{shown(column)}': {error}"
            ) from None
    return np.array(colors, np.float64).reshape(-1, 3), ids


def _require_room(file: OpenFile, sheet: Sheet, chosen: Mapping[str, str]) -> None:
    """Refuse a table that will not fit. Its rows are counted if the shortest ones would not.

    chosen: columns by part. Colours are read once more as 0..1, diameters as radii.
    """
    row = 8 * len(chosen)
    if "color" in chosen:
        row += COLOR_BYTES + 4
    if "r" in chosen:
        row += 24
    if "diameter" in chosen:
        row += 8
    # A separator or a line's end after each cell, and something in those that are read.
    most = file.size // (len(sheet.columns) + len(chosen)) + 1
    if not has_room(most * row):
        require_room(file.source, count_lines(file) * row)


def _no_column(name: str, sheet: Sheet, source: str) -> DataFileError:
    """Return the error for a column that is not there."""
    if not any(sheet.columns):
        return DataFileError(f"{source}: line {sheet.line} is empty; {HEADER}")
    if not sheet.named:
        return DataFileError(f"{source}: line {sheet.line} holds numbers; {HEADER}")
    hint = suggestion(name, sheet.columns)
    return DataFileError(f"{source}: there is no column '{shown(name)}'; {hint}")


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

    Where cells are not separated by commas, numbers may have decimal commas.

    Args:
        file: the open file.
        names: the columns read, in order, for messages.
        **options: for `numpy.loadtxt`.

    Raises:
        DataFileError: something is no number, or a line is too short or too long.
    """
    file.require_short_lines()
    try:
        return _loaded(file.name, **options)
    except UnicodeDecodeError:
        raise file.not_text() from None
    except ValueError as error:
        problem = error
    # What slows reading down is tried only where it is needed.
    cell = _cell_of(problem)
    quote = '"' if '"' in cell else None
    commas = options.get("delimiter") != "," and re.fullmatch(_DECIMAL_COMMA, cell.replace('"', ""))
    try:
        if commas:
            return _loaded(_with_points(file), quotechar=quote, **options)
        if quote:
            return _loaded(file.name, quotechar=quote, **options)
    except ValueError as error:
        problem = error
    skip, places = int(options["skiprows"]), options["usecols"]
    raise _readable(str(problem), file.source, names, skip, places) from None


def _loaded(text: str | Iterable[str], **options: Any) -> NDArray[Any]:
    """Return a table. Raises ValueError."""
    import warnings

    import numpy as np

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a table without rows is no mistake
        table: NDArray[Any] = np.loadtxt(text, comments=None, encoding="utf-8", **options)
        return table


def _cell_of(problem: ValueError) -> str:
    """Return the cell that `numpy.loadtxt` could not convert, or ""."""
    found = re.search(_BAD_CELL, str(problem))
    return found[1] if found else ""


def _with_points(file: OpenFile) -> Iterator[str]:
    """Yield the lines of a text with decimal points for commas."""
    with Path(file.name).open(encoding="utf-8") as text:
        for line in text:
            yield line.replace(",", ".")


def _readable(
    text: str, source: str, names: list[str], skip: int, places: list[int]
) -> DataFileError:
    """Turn a message of `numpy.loadtxt` into one that names line and column.

    Its row counts data lines: from 0 where a text is no number, from 1 where columns are missing.
    """
    found = re.search(_BAD_CELL, text)
    if found:
        line = int(found[3]) + 1 + skip
        place = int(found[4]) - 1
        name = names[places.index(place)] if place in places else str(place + 1)
        kind = "written in ASCII" if "S" in found[2] else "a number"
        what = f"'{shown(found[1])}' is not {kind}" if found[1].strip() else "there is no value"
        return DataFileError(f"{source}: line {line}, column '{shown(name)}': {what}")
    found = re.search(r"at row (\d+)", text)
    if found and "column" in text:
        line = int(found[1]) + skip
        return DataFileError(f"{source}: line {line}: too few columns for {', '.join(names)}")
    return DataFileError(f"{source}: is not a table of numbers ({text})")
