"""Scale bars: a line of a known length."""

from math import floor, log10

from raytracer.annotations.sheet import Sheet
from raytracer.config.errors import SceneError
from raytracer.drawing.fonts import measure_width, typeset
from raytracer.drawing.shapes import Line, Text
from raytracer.model.annotations import ScaleBar

SHARE = 0.2  # longest bar whose length was not given, as a part of the picture's width
MIN_LENGTH = 1.0  # minimum length of a bar in pixels
THICK = 0.22  # width of the bar, in font sizes


def draw(sheet: Sheet, bar: ScaleBar, pixels_per_unit: float) -> None:
    """Draw a scale bar; pixels_per_unit: pixels per scene unit."""
    size, ink, halo = sheet.choose_pen(bar)
    per_unit = pixels_per_unit / bar.factor
    length = round_down(SHARE * sheet.width / per_unit) if bar.length is None else bar.length
    long = length * per_unit
    if not MIN_LENGTH <= long <= sheet.width:
        raise SceneError(
            f"scale_bar.length: {length:g} is {long:.3g} pixels long, in a picture of width "
            f"{sheet.width}: leave it out for a length that fits"
        )
    text = f"{typeset(f'{length:.6g}')} {bar.unit or ''}".strip()
    wide = max(long, measure_width(text, size))
    thick = max(round(THICK * size), 1)
    x, y = sheet.reserve(bar.place, wide, 1.3 * size + thick)
    left, top = round(x + (wide - long) / 2.0), round(y + 1.3 * size)
    ends = (left, top + thick / 2.0), (left + long, top + thick / 2.0)
    if halo is not None:
        rim = 2.0 * max(round(0.06 * size), 1)
        wider = (left - rim / 2.0, ends[0][1]), (left + long + rim / 2.0, ends[1][1])
        sheet.shapes.append(Line(wider, thick + rim, halo, square=True))
    sheet.shapes.append(Line(ends, float(thick), ink, square=True))
    center = left + long / 2.0
    sheet.shapes.append(Text(text, center, top - 0.42 * size, size, ink, 0.5, halo))


def round_down(value: float) -> float:
    """Return the largest 1, 2 or 5 times a power of ten that is at most a positive number."""
    power = 10.0 ** floor(log10(value))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= value * (1.0 + 1e-9))
