"""Legends: colour bars and lists of categories."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import asinh, log10
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations import ticks
from raytracer.annotations.drawing import Cells, Line, Text
from raytracer.annotations.fonts import CAP_HEIGHT, width

if TYPE_CHECKING:
    from raytracer.annotations.settings import Legend
    from raytracer.annotations.sheet import Sheet

BAR = 1.2
"""Width of a colour bar, in font sizes."""

TICK = 0.3
"""Length of a tick, in font sizes."""

GAP = 0.35
"""Distance between a tick and its number, in font sizes."""

ROW = 1.45
"""Distance of the rows of categories, in font sizes."""

MOST_CATEGORIES = 40
"""Most categories that are listed; the others are counted."""


@dataclass(frozen=True, eq=False)
class Scale:
    """What colours mean.

    Args:
        label: what is shown.
        unit: of the numbers, or "".
        kind: "linear", "log", "symlog" (linear around zero), "discrete" (bands of one colour) or
            "categories".
        low, high: numbers at both ends of the bar.
        linear_below: of symlog, the number up to which the scale is linear.
        colors: uint8 (K, 3), sRGB, from low to high; of discrete scales one for each band.
        categories: names and their colours, uint8 triples.
        values: numbers of the ticks; None takes round ones.
    """

    label: str = ""
    unit: str = ""
    kind: str = "linear"
    low: float = 0.0
    high: float = 1.0
    linear_below: float = 1.0
    colors: NDArray[np.uint8] = field(default_factory=lambda: np.zeros((0, 3), np.uint8))
    categories: tuple[tuple[str, tuple[int, int, int]], ...] = ()
    values: tuple[float, ...] | None = None

    @property
    def ticks(self) -> ticks.Ticks:
        """The ticks of the bar."""
        if self.values is not None:
            return ticks.Ticks(list(self.values), [ticks.number(value) for value in self.values])
        if self.kind == "log":
            return ticks.logarithmic(self.low, self.high)
        if self.kind == "symlog":
            return ticks.symmetric(self.low, self.high, self.linear_below)
        return ticks.linear(self.low, self.high)

    def place(self, value: float) -> float:
        """Return where a number is on the bar, 0 at its low end and 1 at its high end."""
        low, here, high = (self._warped(number) for number in (self.low, value, self.high))
        return (here - low) / (high - low) if high != low else 0.5

    def _warped(self, value: float) -> float:
        if self.kind == "log":
            return log10(value)
        if self.kind == "symlog":
            return asinh(value / self.linear_below)
        return value

    def text(self, label: str | None, exponent: int = 0) -> str:
        """Return label, exponent and unit as one line.

        Args:
            label: instead of its own; None for its own with the unit.
            exponent: of ten that all numbers are to be multiplied by.
        """
        name = self.label if label is None else label
        power = f"10{str(exponent).translate(_RAISED)}" if exponent else ""
        unit = " ".join(part for part in (power, self.unit if label is None else "") if part)
        return f"{name} ({unit})" if unit and name else name or unit


_RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


def draw(sheet: Sheet, legend: Legend, scale: Scale) -> None:
    """Draw the legend of a scale."""
    if scale.kind == "categories":
        _draw_categories(sheet, legend, scale)
    elif legend.place in ("top", "bottom"):
        _draw_across(sheet, legend, scale)
    else:
        _draw_upright(sheet, legend, scale)


def _bar(scale: Scale, length: int) -> NDArray[np.uint8]:
    """Return the colours of a bar's pixels from its low end, uint8 (length, 3)."""
    index = (np.arange(length) * 2 + 1) * len(scale.colors) // (2 * length)
    colors: NDArray[np.uint8] = scale.colors[index]
    return colors


def _draw_upright(sheet: Sheet, legend: Legend, scale: Scale) -> None:
    """Draw a bar with its low end at the bottom, numbers on its right and the label above it."""
    size, ink = legend.size * sheet.point, sheet.ink(legend.color)
    marks = scale.ticks
    thick, length = max(round(BAR * size), 1), max(round(legend.length * sheet.height), 1)
    numbers = max((width(label, size) for label in marks.labels), default=0.0)
    title = scale.text(legend.label, marks.exponent)
    side = thick + (TICK + GAP) * size + numbers
    above = 1.6 * size if title else 0.0
    wide = max(side, width(title, size))
    x, y = sheet.take(legend.place, wide, length + above)
    left, top = round(x + (wide - side if "right" in legend.place else 0.0)), round(y + above)
    sheet.drawing.add(Cells(left, top, np.repeat(_bar(scale, length)[::-1, None], thick, axis=1)))
    right = left + thick
    line, halo = _frame(sheet, (left, top, right, top + length), ink, size)
    for value, label in zip(marks.values, marks.labels, strict=True):
        at = top + length * (1.0 - scale.place(value))
        reach = TICK * size * (1.0 if label else 0.6)
        sheet.drawing.add(Line(((right, at), (right + reach, at)), line, ink, square=True))
        place = right + (TICK + GAP) * size, at + CAP_HEIGHT * size / 2.0
        sheet.drawing.add(Text(label, *place, size, ink, halo=halo))
    if title:
        at_right = "right" in legend.place and width(title, size) > side
        anchor = (x + wide, 1.0) if at_right else (left, 0.0)
        sheet.drawing.add(Text(title, anchor[0], top - 0.75 * size, size, ink, anchor[1], halo))


def _draw_across(sheet: Sheet, legend: Legend, scale: Scale) -> None:
    """Draw a bar with its low end on the left, numbers below it and the label above it."""
    size, ink = legend.size * sheet.point, sheet.ink(legend.color)
    marks = scale.ticks
    thick, length = max(round(BAR * size), 1), max(round(legend.length * sheet.width), 1)
    title = scale.text(legend.label, marks.exponent)
    above, below = (1.5 * size if title else 0.0), (TICK + 1.2) * size
    x, y = sheet.take(legend.place, length, above + thick + below)
    left, top = round(x), round(y + above)
    sheet.drawing.add(Cells(left, top, np.repeat(_bar(scale, length)[None], thick, axis=0)))
    bottom = top + thick
    line, halo = _frame(sheet, (left, top, left + length, bottom), ink, size)
    for value, label in zip(marks.values, marks.labels, strict=True):
        at = left + length * scale.place(value)
        reach = TICK * size * (1.0 if label else 0.6)
        sheet.drawing.add(Line(((at, bottom), (at, bottom + reach)), line, ink, square=True))
        baseline = bottom + (TICK + 0.2 + CAP_HEIGHT) * size
        sheet.drawing.add(Text(label, at, baseline, size, ink, 0.5, halo))
    if title:
        middle = left + length / 2.0, top - 0.5 * size
        sheet.drawing.add(Text(title, *middle, size, ink, 0.5, halo))


def _frame(sheet, box, ink, size):  # type: ignore[no-untyped-def]
    """Draw a thin line around a bar; returns its width and the colour of halos."""
    left, top, right, bottom = box
    line = max(round(0.06 * size), 1)
    half = line / 2.0
    corners = (
        (left - half, top - half), (right + half, top - half),
        (right + half, bottom + half), (left - half, bottom + half), (left - half, top - half),
    )  # fmt: skip
    sheet.drawing.add(Line(corners, float(line), ink))
    return float(line), sheet.halo(ink)


def _draw_categories(sheet: Sheet, legend: Legend, scale: Scale) -> None:
    """Draw a patch of colour and a name for each category, in columns of what fits."""
    size, ink = legend.size * sheet.point, sheet.ink(legend.color)
    listed = scale.categories[:MOST_CATEGORIES]
    more = len(scale.categories) - len(listed)
    title = scale.text(legend.label)
    rows = len(listed) + (1 if more else 0) + (1 if title else 0)
    patch = max(round(size), 1)
    names = [name for name, _ in listed] + ([f"and {more} more"] if more else [])
    side = patch + 0.5 * size + max((width(name, size) for name in names), default=0.0)
    wide = max(side, width(title, size))
    x, y = sheet.take(legend.place, wide, rows * ROW * size)
    left, top = round(x), y
    halo = sheet.halo(ink)
    if title:
        sheet.drawing.add(Text(title, left, top + size, size, ink, halo=halo))
        top += ROW * size
    for row, name in enumerate(names):
        upper = round(top + row * ROW * size)
        baseline = upper + patch / 2.0 + CAP_HEIGHT * size / 2.0
        sheet.drawing.add(Text(name, left + patch + 0.5 * size, baseline, size, ink, halo=halo))
        if row < len(listed):
            color = np.array(listed[row][1], np.uint8)
            sheet.drawing.add(Cells(left, upper, np.tile(color, (patch, patch, 1))))
            _frame(sheet, (left, upper, left + patch, upper + patch), ink, size)
