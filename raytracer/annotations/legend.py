"""Legends: colour bars and lists of categories."""

from collections.abc import Iterator, Sequence
from math import ceil, floor, log10
from typing import NamedTuple

import numpy as np

from raytracer.annotations.sheet import Sheet
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.coloring.ticks import Tick
from raytracer.appearance.glyphs.shared import pick_rgb
from raytracer.config.errors import SceneError
from raytracer.drawing.fonts import CAP_HEIGHT, measure_width, shorten_text, typeset, wrap_text
from raytracer.drawing.shapes import RGB, Cells, Line, Text
from raytracer.model.annotations import Legend
from raytracer.model.particle_labels import find_element_symbols
from raytracer.model.scene import Scene
from raytracer.model.simulation_box import to_triple
from raytracer.model.sphere_set import SphereSet

BAR = 1.2  # width of a colour bar, in font sizes
TICK = 0.3  # length of a tick, in font sizes
SMALL_TICK = 0.18  # length of a tick without a number, in font sizes
GAP = 0.35  # distance between a tick and its number, in font sizes
ROW = 1.45  # distance of the rows of categories, in font sizes
MAX_DIGITS = 4  # of a number on a logarithmic scale that is written without exponent
MAX_DECADES = 12  # maximum number of powers of ten between which there are small ticks
MAX_CATEGORIES = 120  # maximum number of categories that are listed; the others are counted
LEADING = 1.25  # distance of the lines of a title, in font sizes
MAX_TITLE = 0.45  # width of a title that is wrapped beside the picture, as a part of the picture's
COLUMN_GAP = 1.2  # distance of the columns of categories, in font sizes

ACROSS = ("top", "bottom")  # places of legends along the picture's width

MAX_WIDTH, MAX_WIDTH_ACROSS = 0.3, 0.9
"""Maximum width of a list of categories with several columns, as a part of the picture's: at a
side, and at the top or bottom."""

MAX_HEIGHT = 0.3  # maximum height of a list at the top or bottom, as a part of the picture's


def find_scales(scene: Scene) -> tuple[ColorScale, ...]:
    """Return the colour scales of a scene, or the colours of its elements or types. Raises
    SceneError: it has neither."""
    scales = tuple(scene.color_scales) or tuple(_label_scales(scene.spheres))
    if not scales:
        raise SceneError(
            "legend: no spheres are coloured by a column, element or type: leave the legend "
            "out, or set --color-by"
        )
    return scales


def _label_scales(sets: Sequence[SphereSet]) -> Iterator[ColorScale]:
    """Yield one scale for all sets coloured by label, if there are any."""
    colors: dict[str, tuple[float, ...]] = {}
    are_elements = True
    for each in sets:
        spheres = each.cell or each
        labels = spheres.labels
        if labels is None or spheres.color_id is None or not spheres.count:
            continue
        symbols = find_element_symbols(labels)
        for place in np.unique(labels.ids).tolist():
            rows = np.flatnonzero(labels.ids == place)
            if np.ptp(spheres.color_id[rows]):  # colours that follow something else
                return
            rgb = np.clip(pick_rgb(spheres, rows[0], "srgb"), 0.0, 1.0)
            colors.setdefault(symbols[place] or labels.names[place], to_triple(rgb))
            are_elements &= symbols[place] is not None
    if colors:
        label = "element" if are_elements else "type"
        yield ColorScale(list(colors.values()), "categorical", label=label, names=tuple(colors))


def find_ticks(scale: ColorScale) -> list[Tick]:
    """Return the ticks of a scale; a logarithmic one has small ticks without a text between powers
    of ten."""
    if scale.dates:
        return scale.ticks()
    powers_of_ten = scale.kind in ("log", "symlog")
    large = [
        tick._replace(text=typeset(_power_text(tick) if powers_of_ten else tick.text))
        for tick in scale.ticks()
    ]
    if scale.kind != "log":
        return large
    powers = range(floor(log10(scale.low)), ceil(log10(scale.high)) + 1)
    if len(powers) > MAX_DECADES:
        return large
    values = [digit * 10.0**power for power in powers for digit in range(1, 10)]
    inside = [value for value in values if scale.low <= value <= scale.high]
    small = (Tick(*each, "") for each in zip(inside, scale.positions(inside).tolist(), strict=True))
    return large + [
        tick for tick in small if all(abs(tick.position - each.position) > 1e-9 for each in large)
    ]


def _power_text(tick: Tick) -> str:
    """Return the shorter of 10000 and 1e4, if it is the value."""
    power, plain = f"{tick.value:.0e}", f"{tick.value:g}"
    if float(power) == tick.value and len(plain.lstrip("-")) > MAX_DIGITS:
        return power
    return plain if float(plain) == tick.value else tick.text


def draw(sheet: Sheet, legend: Legend, scale: ColorScale) -> None:
    title = scale.title if legend.label is None else legend.label
    (_draw_categories if scale.is_categorical else _draw_bar)(sheet, legend, scale, title)


def _title_lines(sheet: Sheet, title: str, size: float, across: bool) -> list[str]:
    """Return a title in lines; one that fits between the margins is not wrapped."""
    if not title or measure_width(title, size) <= sheet.wide:
        return [title] if title else []
    return wrap_text(title, size, sheet.wide if across else MAX_TITLE * sheet.width)


def _draw_bar(sheet: Sheet, legend: Legend, scale: ColorScale, title: str) -> None:
    """Draw a bar with ticks and numbers on its right, or at the top and bottom below it."""
    size, ink, halo = sheet.choose_pen(legend)
    marks, across = find_ticks(scale), legend.place in ACROSS
    thick = max(round(BAR * size), 1)
    length = max(round(legend.length * (sheet.width if across else sheet.height)), 1)
    numbers = max((measure_width(mark.text, size) for mark in marks), default=0.0)
    side = length if across else thick + (TICK + GAP) * size + numbers
    titles = _title_lines(sheet, title, size, across)
    wide = side if across else max(side, *(measure_width(line, size) for line in titles), 0.0)
    above = ((1.5 if across else 1.6) + LEADING * (len(titles) - 1)) * size if titles else 0.0
    high = above + thick + (TICK + 1.2) * size if across else length + above
    x, y = sheet.reserve(legend.place, wide, high)
    left, top = round(x + (wide - side if "right" in legend.place else 0.0)), round(y + above)
    bar = np.repeat(scale.srgb_table(length)[None], thick, axis=0)
    bar = bar if across else np.ascontiguousarray(bar.swapaxes(0, 1)[::-1])
    sheet.shapes.append(Cells(left, top, bar))
    right, bottom = left + bar.shape[1], top + bar.shape[0]
    line = _frame(sheet, (left, top, right, bottom), ink, size)
    for mark in marks:
        reach = (TICK if mark.text else SMALL_TICK) * size
        if across:
            at = left + length * mark.position
            ends = (at, bottom), (at, bottom + reach)
            place = at, bottom + (TICK + 0.2 + CAP_HEIGHT) * size
        else:
            at = top + length * (1.0 - mark.position)
            ends = (right, at), (right + reach, at)
            place = right + (TICK + GAP) * size, at + CAP_HEIGHT * size / 2.0
        sheet.shapes.append(Line(ends, line, ink, square=True))
        sheet.shapes.append(Text(mark.text, *place, size, ink, 0.5 * across, halo))
    start, anchor = (left + length / 2.0, 0.5) if across else (left, 0.0)
    if "right" in legend.place and wide > side:
        start, anchor = x + wide, 1.0
    for row, text in enumerate(titles, 1 - len(titles)):
        baseline = top - ((0.5 if across else 0.75) - LEADING * row) * size
        sheet.shapes.append(Text(text, start, baseline, size, ink, anchor, halo))


def _frame(sheet: Sheet, box: tuple[int, int, int, int], ink: RGB, size: float) -> float:
    """Draw a thin line around whole pixels x0, y0, x1, y1; return its width."""
    left, top, right, bottom = box
    line = float(max(round(0.06 * size), 1))
    half = line / 2.0
    corners = (
        (left - half, top - half), (right + half, top - half),
        (right + half, bottom + half), (left - half, bottom + half), (left - half, top - half),
    )  # fmt: skip
    sheet.shapes.append(Line(corners, line, ink))
    return line


class _Table(NamedTuple):
    columns: list[list[str]]  # names
    widths: list[float]  # of the columns, pixels
    width: float  # of all with the gaps between them


def _table(names: list[str], size: float, room: tuple[float, float], across: bool) -> _Table:
    """Arrange names in columns within a room; the last one may state how many are missing."""
    most = max(int(room[1] / (ROW * size)), 1)
    if across:
        tables = (_columns(names, size, rows) for rows in range(1, most))
        if (fits := next((each for each in tables if each.width <= room[0]), None)) is not None:
            return fits
    shown = min(len(names), MAX_CATEGORIES)
    while True:
        missing = len(names) - shown
        listed = [*names[:shown], f"+ {missing:,} more"] if missing else names
        table = _columns(listed, size, most)
        if table.width <= room[0] or len(table.columns) == 1:
            return table
        shown -= 1


def _columns(names: list[str], size: float, most: int) -> _Table:
    """Arrange names in as few columns as possible, each of at most `most` rows."""
    rows = ceil(len(names) / max(ceil(len(names) / most), 1))
    columns = [names[start : start + rows] for start in range(0, len(names), rows)]
    widths = [1.5 * size + max(measure_width(name, size) for name in each) for each in columns]
    return _Table(columns, widths, sum(widths) + COLUMN_GAP * size * (len(widths) - 1))


def _draw_categories(sheet: Sheet, legend: Legend, scale: ColorScale, title: str) -> None:
    size, ink, halo = sheet.choose_pen(legend)
    known: dict[str, RGB] = {}
    for place, (name, rgb) in enumerate(scale.categories(), 1):
        short = shorten_text(name, size, sheet.wide - 1.5 * size)
        if short in known:
            short = f"{shorten_text(name, size, sheet.wide - 4.5 * size)} {place}"
        known[short] = rgb
    patch = max(round(size), 1)
    high, wide = sheet.free_height(legend.place), MAX_WIDTH
    if across := legend.place in ACROSS:
        high, wide = min(high, MAX_HEIGHT * sheet.height), MAX_WIDTH_ACROSS
    titles = _title_lines(sheet, title, size, across)
    room = wide * sheet.width, high - len(titles) * ROW * size
    table = _table(list(known), size, room, across)
    rows = len(table.columns[0]) + len(titles)
    widths = (table.width, *(measure_width(line, size) for line in titles))
    x, y = sheet.reserve(legend.place, max(widths), rows * ROW * size)
    left = round(x)
    for line in titles:
        sheet.shapes.append(Text(line, left, y + size, size, ink, halo=halo))
        y += ROW * size
    for names, column in zip(table.columns, table.widths, strict=True):
        for row, name in enumerate(names):
            upper = round(y + row * ROW * size)
            baseline = upper + (patch + CAP_HEIGHT * size) / 2.0
            start = left + (1.5 * size if name in known else 0.0)
            sheet.shapes.append(Text(name, start, baseline, size, ink, halo=halo))
            if name in known:
                color = np.rint(255.0 * np.array(known[name])).astype(np.uint8)
                sheet.shapes.append(Cells(left, upper, np.tile(color, (patch, patch, 1))))
                _frame(sheet, (left, upper, left + patch, upper + patch), ink, size)
        left = round(left + column + COLUMN_GAP * size)
