"""The help of a window: keys and mouse in lines of a monospaced font."""

from __future__ import annotations

from textwrap import wrap

from raytracer.viewer.controls import help_groups

MIN_MEANING = 14  # least letters for the meaning of a key


def help_pages(columns: int, rows: int) -> list[list[str]]:
    """Return the lines of the help by page, at most `rows` of `columns` letters each."""
    lines = [line for group in help_groups() for line in ("", *_block(*group, columns))][1:]
    height = max(rows - 2, 1)
    pages = [lines[first : first + height] for first in range(0, len(lines), height)]
    count = len(pages)
    ends = (f"{n} of {count}; H: {'next' if n < count else 'close'}" for n in range(1, count + 1))
    return [[*page, "", end] for page, end in zip(pages, ends, strict=True)]


def _block(heading: str, rows: list[tuple[str, str]], columns: int) -> list[str]:
    """Return the lines of a group, its keys at the left."""
    keys_wide = max(len(keys) for keys, _ in rows)
    lines = [heading]
    for keys, meaning in rows:
        first, *more = wrap(meaning, max(columns - keys_wide - 4, MIN_MEANING))
        lines += [f"  {keys:<{keys_wide}}  {first}", *(" " * (keys_wide + 4) + m for m in more)]
    return lines
