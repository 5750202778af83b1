"""Layout of text in a window, in letters and lines of a monospaced font."""

from __future__ import annotations

import re
from collections.abc import Iterable
from textwrap import wrap

from raytracer.viewer.controls import help_groups

COLUMN_GAP, ROW_GAP = 4, 2  # letters between panels, and lines between them
MAX_COLUMNS, MIN_COLUMN = 3, 44  # of the help, and letters of a column beside another one
MIN_LINE = 14  # letters of the shortest line of an explanation beside its key


def help_pages(columns: int, rows: int) -> list[list[str]]:
    """Return the lines of the help by page, keys and mouse under their headings."""
    columns, rows = max(columns, 1), max(rows, 2 * ROW_GAP)
    widest = _width([line for block in _blocks(1000) for line in block])
    most = min(max((columns + COLUMN_GAP) // (MIN_COLUMN + COLUMN_GAP), 1), MAX_COLUMNS)
    for beside in range(1, most + 1):
        wide = min((columns + COLUMN_GAP) // beside - COLUMN_GAP, widest)
        blocks = _blocks(wide)
        for height in range(min(8, rows), rows + 1):  # the lowest, for columns of equal height
            if len(filled := _flow(blocks, height)) <= beside:
                return [_beside(filled, wide)]
    filled = _flow(blocks, rows - ROW_GAP)
    pages = [filled[first : first + most] for first in range(0, len(filled), most)]
    lines = []
    for number, page in enumerate(pages, 1):
        end = f"page {number} of {len(pages)}; H: {'next' if page is not pages[-1] else 'close'}"
        if len(end) > columns:
            end = f"{number} of {len(pages)}; H"
        lines.append([*_beside(page, wide), "", end])
    return lines


def heads_in(text: str, heads: Iterable[str]) -> list[tuple[int, int]]:
    """Return the positions of headings in a text, which may have several columns."""
    words = "|".join(map(re.escape, heads))
    pattern = rf"(?:(?<=^)|(?<=\s{{{COLUMN_GAP}}}))({words})(?=\s\s|$)"
    return [match.span() for match in re.finditer(pattern, text, re.MULTILINE)]


def broken(text: str, columns: int) -> list[str]:
    """Break lines between words, or within longer words, at a number of letters."""
    lines = (wrap(line, columns) or [""] for line in text.split("\n"))
    return [part for parts in lines for part in parts]


def fitted(lines: list[str], columns: int, rows: int) -> list[str]:
    """Cut a text to a number of letters and lines."""
    if len(lines) > rows:
        lines = [*lines[: rows - 1], f"… {len(lines) - rows + 1} more"]
    return [line if len(line) <= columns else line[: columns - 1] + "…" for line in lines]


def _blocks(columns: int) -> list[list[str]]:
    """Return the lines of every group, at most `columns` letters wide unless a key is wider."""
    return [[heading, *_rows(rows, columns)] for heading, rows in help_groups()]


def _rows(rows: list[tuple[str, str]], columns: int) -> list[str]:
    wide = max(len(keys) for keys, _ in rows)
    room = columns - wide - 4
    lines = []
    for keys, meaning in rows:
        if room >= MIN_LINE:
            first, *more = wrap(meaning, room)
            lines += [f"  {keys:<{wide}}  {first}", *(" " * (wide + 4) + line for line in more)]
        else:  # keys above their meaning
            lines += [f"  {keys}", *(f"    {line}" for line in wrap(meaning, max(columns - 4, 1)))]
    return lines


def _flow(blocks: list[list[str]], height: int) -> list[list[str]]:
    """Fill columns of a height; only a block higher than a column is broken."""
    columns: list[list[str]] = [[]]
    for block in blocks:
        lines = ["", *block] if columns[-1] else block
        if len(columns[-1]) + len(lines) > height and columns[-1]:
            columns.append([])
            lines = block
        columns[-1] += lines[:height]
        columns += [lines[first : first + height] for first in range(height, len(lines), height)]
    return columns


def _beside(columns: list[list[str]], wide: int) -> list[str]:
    high = max(map(len, columns))
    filled = [column + [""] * (high - len(column)) for column in columns]
    gap = " " * COLUMN_GAP
    return [
        gap.join(f"{part:<{wide}}" for part in line).rstrip() for line in zip(*filled, strict=True)
    ]


def _width(lines: list[str]) -> int:
    return max(map(len, lines), default=0)
