"""Legends: colour bars and lists of categories."""

from __future__ import annotations

from math import ceil, floor, log10
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from raytracer.drawing.fonts import CAP_HEIGHT, typeset, width
from raytracer.drawing.shapes import RGB, Cells, Line, Text

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.annotations.sheet import Sheet
    from raytracer.scene.annotations import Legend
    from raytracer.scene.coloring.scale import ColorScale

BAR = 1.2
"""Width of a colour bar, in font sizes."""

TICK = 0.3
"""Length of a tick, in font sizes."""

SMALL_TICK = 0.18
"""Length of a tick without a number, in font sizes."""

GAP = 0.35
"""Distance between a tick and its number, in font sizes."""

ROW = 1.45
"""Distance of the rows of categories, in font sizes."""

PLAIN_LETTERS = 4
"""Longest number on a logarithmic scale that is written without an exponent."""

MOST_DECADES = 12
"""Most powers of ten between which there are small ticks."""

MOST_CATEGORIES = 40
"""Most categories that are listed; the others are counted."""


class Mark(NamedTuple):
    """A tick of a colour bar.

    Args:
        position: 0 at the low end of the bar, 1 at the high end.
        text: beside it, "" for a small one.
    """

    position: float
    text: str


def marks_of(scale: ColorScale) -> list[Mark]:
    """Return the ticks of a scale; a logarithmic one has small ticks between powers of ten."""
    powers_of_ten = scale.kind in ("log", "symlog")
    large = [
        Mark(tick.position, typeset(_own_text(tick.value) if powers_of_ten else tick.text))
        for tick in scale.ticks()
    ]
    if scale.kind != "log":
        return large
    powers = range(floor(log10(scale.low)), ceil(log10(scale.high)) + 1)
    if len(powers) > MOST_DECADES:
        return large
    values = [digit * 10.0**power for power in powers for digit in range(1, 10)]
    inside = [value for value in values if scale.low <= value <= scale.high]
    taken = [mark.position for mark in large]
    small = [float(place) for place in scale.positions(inside)]
    return large + [
        Mark(place, "") for place in small if all(abs(place - other) > 1e-9 for other in taken)
    ]


def _own_text(value: float) -> str:
    """Return a number as short as it can be written: 0.1, 100, 1e4."""
    text = f"{value:.0e}"
    plain = f"{value:g}"
    return text if float(text) == value and len(plain.lstrip("-")) > PLAIN_LETTERS else plain


def draw(sheet: Sheet, legend: Legend, scale: ColorScale) -> None:
    """Draw the legend of a scale."""
    if scale.is_categorical:
        _draw_categories(sheet, legend, scale)
    elif legend.place in ("top", "bottom"):
        _draw_across(sheet, legend, scale)
    else:
        _draw_upright(sheet, legend, scale)


def _title(legend: Legend, scale: ColorScale) -> str:
    return scale.title if legend.label is None else legend.label


def _draw_upright(sheet: Sheet, legend: Legend, scale: ColorScale) -> None:
    """Draw a bar with its low end at the bottom, numbers on its right and the label above it."""
    size, ink = sheet.letters(legend.size, "legend"), sheet.ink(legend.color)
    marks, title = marks_of(scale), _title(legend, scale)
    thick, length = max(round(BAR * size), 1), max(round(legend.length * sheet.height), 1)
    numbers = max((width(mark.text, size) for mark in marks), default=0.0)
    side = thick + (TICK + GAP) * size + numbers
    above = 1.6 * size if title else 0.0
    wide = max(side, width(title, size))
    x, y = sheet.take(legend.place, wide, length + above)
    left, top = round(x + (wide - side if "right" in legend.place else 0.0)), round(y + above)
    colors = scale.srgb_table(length)[::-1, None]
    sheet.drawing.add(Cells(left, top, np.repeat(colors, thick, axis=1)))
    right = left + thick
    line = _frame(sheet, (left, top, right, top + length), ink, size)
    halo = sheet.halo(ink)
    for mark in marks:
        at = top + length * (1.0 - mark.position)
        reach = right + (TICK if mark.text else SMALL_TICK) * size
        sheet.drawing.add(Line(((right, at), (reach, at)), line, ink, square=True))
        place = right + (TICK + GAP) * size, at + CAP_HEIGHT * size / 2.0
        sheet.drawing.add(Text(mark.text, *place, size, ink, halo=halo))
    if title:
        at_right = "right" in legend.place and width(title, size) > side
        anchor = (x + wide, 1.0) if at_right else (left, 0.0)
        sheet.drawing.add(Text(title, anchor[0], top - 0.75 * size, size, ink, anchor[1], halo))


def _draw_across(sheet: Sheet, legend: Legend, scale: ColorScale) -> None:
    """Draw a bar with its low end on the left, numbers below it and the label above it."""
    size, ink = sheet.letters(legend.size, "legend"), sheet.ink(legend.color)
    title = _title(legend, scale)
    thick, length = max(round(BAR * size), 1), max(round(legend.length * sheet.width), 1)
    above, below = (1.5 * size if title else 0.0), (TICK + 1.2) * size
    x, y = sheet.take(legend.place, length, above + thick + below)
    left, top = round(x), round(y + above)
    sheet.drawing.add(Cells(left, top, np.repeat(scale.srgb_table(length)[None], thick, axis=0)))
    bottom = top + thick
    line = _frame(sheet, (left, top, left + length, bottom), ink, size)
    halo = sheet.halo(ink)
    for mark in marks_of(scale):
        at = left + length * mark.position
        reach = bottom + (TICK if mark.text else SMALL_TICK) * size
        sheet.drawing.add(Line(((at, bottom), (at, reach)), line, ink, square=True))
        baseline = bottom + (TICK + 0.2 + CAP_HEIGHT) * size
        sheet.drawing.add(Text(mark.text, at, baseline, size, ink, 0.5, halo))
    if title:
        middle = left + length / 2.0, top - 0.5 * size
        sheet.drawing.add(Text(title, *middle, size, ink, 0.5, halo))


def _frame(sheet: Sheet, box: tuple[int, int, int, int], ink: RGB, size: float) -> float:
    """Draw a thin line around whole pixels x0, y0, x1, y1; returns its width."""
    left, top, right, bottom = box
    line = float(max(round(0.06 * size), 1))
    half = line / 2.0
    corners = (
        (left - half, top - half), (right + half, top - half),
        (right + half, bottom + half), (left - half, bottom + half), (left - half, top - half),
    )  # fmt: skip
    sheet.drawing.add(Line(corners, line, ink))
    return line


def _draw_categories(sheet: Sheet, legend: Legend, scale: ColorScale) -> None:
    """Draw a patch of colour and a name for each category."""
    size, ink = sheet.letters(legend.size, "legend"), sheet.ink(legend.color)
    known, title = scale.categories(), _title(legend, scale)
    listed = known[:MOST_CATEGORIES]
    more = [f"and {len(known) - len(listed)} more"] if len(known) > len(listed) else []
    names = [name for name, _ in listed] + more
    patch = max(round(size), 1)
    side = patch + 0.5 * size + max((width(name, size) for name in names), default=0.0)
    wide = max(side, width(title, size))
    x, y = sheet.take(legend.place, wide, (len(names) + bool(title)) * ROW * size)
    left, halo = round(x), sheet.halo(ink)
    if title:
        sheet.drawing.add(Text(title, left, y + size, size, ink, halo=halo))
        y += ROW * size
    for row, name in enumerate(names):
        upper = round(y + row * ROW * size)
        baseline = upper + (patch + CAP_HEIGHT * size) / 2.0
        sheet.drawing.add(Text(name, left + patch + 0.5 * size, baseline, size, ink, halo=halo))
        if row < len(listed):
            sheet.drawing.add(Cells(left, upper, _patch(listed[row][1], patch)))
            _frame(sheet, (left, upper, left + patch, upper + patch), ink, size)


def _patch(color: RGB, side: int) -> NDArray[np.uint8]:
    """Return a square of one colour, uint8 (side, side, 3)."""
    return np.tile(np.rint(255.0 * np.array(color)).astype(np.uint8), (side, side, 1))
