"""The help of a window: keys and mouse in lines of a monospaced font."""

from __future__ import annotations

from itertools import zip_longest
from textwrap import wrap

from raytracer.viewer.controls import help_groups

COLUMN_GAP = 4  # letters between columns
WIDE = 60  # letters of a column, if the window has room for them
MIN_MEANING = 14  # least letters for the meaning of a key


def help_pages(columns: int, rows: int) -> list[list[str]]:
    """Return the lines of the help by page, at most `rows` of `columns` letters each."""
    beside = max((columns + COLUMN_GAP) // (WIDE + COLUMN_GAP), 1)
    wide = (columns + COLUMN_GAP) // beside - COLUMN_GAP
    filled = _flow([_block(*group, wide) for group in help_groups()], max(rows - 2, 2))
    pages = [filled[first : first + beside] for first in range(0, len(filled), beside)]
    lines = []
    for number, page in enumerate(pages, 1):
        end = f"{number} of {len(pages)}; H: {'next' if number < len(pages) else 'close'}"
        lines.append([*_beside(page, wide), "", end])
    return lines


def _block(heading: str, rows: list[tuple[str, str]], columns: int) -> list[str]:
    """Return the lines of a group, its keys at the left."""
    keys_wide = max(len(keys) for keys, _ in rows)
    lines = [heading]
    for keys, meaning in rows:
        first, *more = wrap(meaning, max(columns - keys_wide - 4, MIN_MEANING))
        lines += [f"  {keys:<{keys_wide}}  {first}", *(" " * (keys_wide + 4) + m for m in more)]
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
    gap = " " * COLUMN_GAP
    rows = zip_longest(*columns, fillvalue="")
    return [gap.join(f"{part:<{wide}}" for part in row).rstrip() for row in rows]
