"""Lines of text: title, time, frame."""

from __future__ import annotations

from collections.abc import Mapping
from string import Formatter
from typing import Any

from raytracer.annotations.sheet import Sheet
from raytracer.drawing.fonts import width
from raytracer.drawing.shapes import Text
from raytracer.errors import SceneError, shown, shown_value, suggestion
from raytracer.scene.annotations import TextLabel

LEADING = 1.25  # distance of lines, in font sizes

ANCHORS = {"left": 0.0, "right": 1.0}


class Short(float):
    """A number that is written with at most six digits unless its format is stated."""

    def __format__(self, form: str) -> str:
        return super().__format__(form or "g")


def draw(sheet: Sheet, label: TextLabel, values: Mapping[str, Any]) -> None:
    """Draw a text; values: for names in braces."""
    size, ink = sheet.letters(label.size, "texts"), sheet.ink(label.color, label.place)
    lines = filled(label.text, values).split("\n")
    wide = max(width(line, size) for line in lines)
    x, y = sheet.take(label.place, wide, (1.0 + LEADING * (len(lines) - 1)) * size)
    side = label.place.rpartition("-")[2]
    anchor = ANCHORS.get(side, 0.5)
    for row, line in enumerate(lines):
        baseline = y + (0.8 + LEADING * row) * size
        sheet.drawing.add(
            Text(line, x + anchor * wide, baseline, size, ink, anchor, sheet.halo(ink))
        )


def filled(text: str, values: Mapping[str, Any]) -> str:
    """Replace names in braces by their values. Raises SceneError: there is no such value, or it
    does not fit the format."""
    parts = []
    if "seconds" in values:  # of a movie
        values = {"time": values["seconds"], "time_unit": "s", **values}
    try:
        for before, name, form, conversion in Formatter().parse(text):
            parts.append(before)
            if name is None:
                continue
            if name not in values:
                if name in ("time", "time_unit"):
                    raise SceneError(
                        f"texts: there is no '{{{name}}}': the file does not state the time of "
                        "its frame"
                    )
                hint = suggestion(name, values)
                raise SceneError(f"texts: there is no value '{{{shown(name)}}}'; {hint}")
            if conversion:
                raise ValueError("conversions are not supported")
            parts.append(format(values[name], form or ""))
    except ValueError:
        raise SceneError(
            f"texts: {shown_value(text)} cannot be filled in: write values as {{frame}} or "
            "{spheres:,}, and braces as {{ or }}"
        ) from None
    return "".join(parts)
