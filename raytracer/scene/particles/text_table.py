"""Text tables: columns of numbers and texts; errors name line and column."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, SceneError, shown
from raytracer.files.access import OpenFile
from raytracer.scene.arrays import distinct
from raytracer.scene.colors import parse_color
from raytracer.scene.particles.lines import count_lines, pick_line
from raytracer.scene.particles.regular_text import Rows, table_rows

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

COLOR_BYTES = 32
"""Longest text of a colour; the longest CSS name has 20 letters."""

# Compiled by `re` where something is wrong with a file.
_BAD_CELL = r"(?s)convert string '(.*)' to (\S+) at row (\d+), column (\d+)"
_DECIMAL_COMMA = r"\s*[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?\s*"

BLANK = frozenset({"", "NA", "N/A", "NULL", "null", "None"})
"""Cells without a value, as tables of other programs have them; `nan` is a number."""

_WHOLE = re.compile(r"[+-]?[0-9]+")


def read_columns(
    file: OpenFile,
    numbers: Mapping[str, int],
    texts: Mapping[str, int],
    width: int = COLOR_BYTES,
    optional: Container[str] = (),
    **options: Any,
) -> tuple[NDArray[np.float64], list[NDArray[np.bytes_]]]:
    """Read columns of a text file.

    Args:
        file: the open file.
        numbers: places of columns of numbers, from 0, by name.
        texts: the same of columns of texts.
        width: bytes of a text that are kept.
        optional: columns of numbers in which a cell without a value is NaN.
        **options: for `numpy.loadtxt`.

    Returns:
        The numbers, (N, K), and the texts, (N,) each.

    Raises:
        DataFileError: as `load_table`.
    """
    import numpy as np

    regular = None
    if "quotechar" not in options:  # the compiled parser knows none
        regular = _regular(file, list(numbers.values()), list(texts.values()), width, options)
    if regular is not None:
        return regular.numbers, regular.texts
    kinds: list[Any] = [("numbers", "f8", (len(numbers),))] if numbers else []
    kinds += [(f"text{place}", f"S{width}") for place in range(len(texts))]
    table = load_table(
        file,
        [*numbers, *texts],
        dtype=np.dtype(kinds) if texts else np.dtype(float),
        usecols=[*numbers.values(), *texts.values()],
        ndmin=1 if texts else 2,
        optional=optional,
        **options,
    )
    if not texts:
        return table.reshape(-1, len(numbers)), []
    values = table["numbers"] if numbers else np.empty((len(table), 0))
    words = [table[f"text{place}"] for place in range(len(texts))]
    return values.reshape(len(table), len(numbers)), words


def _regular(
    file: OpenFile, numbers: list[int], texts: list[int], width: int, options: Mapping[str, Any]
) -> Rows | None:
    """Return what the compiled parser reads, or None; arguments as for `read_columns`."""
    file.require_short_lines()
    most = options.get("max_rows")
    return table_rows(
        file, numbers, dict.fromkeys(texts, width), options.get("delimiter"), options["skiprows"],
        count_lines(file) if most is None else most,
    )  # fmt: skip


def load_table(
    file: OpenFile, names: list[str], optional: Container[str] = (), **options: Any
) -> NDArray[Any]:
    """Read columns of a text file by `numpy.loadtxt`, with its complaints made readable.

    Where cells are not separated by commas, numbers may have decimal commas.

    Args:
        file: the open file.
        names: the columns read, in order, for messages.
        optional: columns of numbers in which a cell without a value is NaN.
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
    if cell.strip() in BLANK:
        places = [p for name, p in zip(names, options["usecols"], strict=True) if name in optional]
        options = options | {"converters": dict.fromkeys(places, _number_or_nan), "quotechar": '"'}
        try:
            return _loaded(file.name, **options)
        except ValueError as error:
            problem = error
    commas = options.get("delimiter") != "," and re.fullmatch(_DECIMAL_COMMA, cell.replace('"', ""))
    try:
        if commas:
            return _loaded(_with_points(file), **options | {"quotechar": quote})
        if quote:
            return _loaded(file.name, **options | {"quotechar": quote})
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
        table: NDArray[Any] = np.loadtxt(text, encoding="utf-8", **{"comments": None} | options)
        return table


def _number_or_nan(cell: str) -> float:
    """Return a number, NaN of a cell without a value. Raises ValueError for other texts."""
    text = cell.strip()
    return float("nan") if text in BLANK else float(text)


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


def number(text: str) -> int | float | str:
    """Return a text as the number that it is, or as it is."""
    try:
        if _WHOLE.fullmatch(text):
            return int(text)
        return text if "_" in text else float(text)  # Python takes 1_000 for a number
    except ValueError:
        return text


def line_at(file: OpenFile, index: int) -> str:
    """Return a line by its number among those that are not blank. Raises IndexError."""
    line = pick_line(file, index)
    if line is None:
        raise IndexError(f"there is no line {index}")
    return line
