"""Lines of text: title, time, frame."""

from collections.abc import Mapping
from pathlib import Path
from string import Formatter
from typing import Any

from raytracer.annotations.sheet import Sheet
from raytracer.drawing.fonts import width, wrapped
from raytracer.drawing.shapes import Text
from raytracer.errors import SceneError, shown, shown_value, suggestion
from raytracer.scene.annotations import TextLabel
from raytracer.scene.scene import Scene

LEADING = 1.25  # distance of lines, in font sizes

ANCHORS = {"left": 0.0, "right": 1.0}


class Short(float):
    """A number that is written with at most six digits unless its format is stated."""

    def __format__(self, form: str) -> str:
        return super().__format__(form or "g")


def values_of(scene: Scene) -> dict[str, Any]:
    """Return what texts may name in braces."""
    frames = (spheres.file.frame for spheres in scene.spheres if spheres.file is not None)
    time = next((each.time for each in scene.spheres if each.time is not None), None)
    times = {} if time is None else {"time": Short(time.value), "time_unit": time.unit}
    return {
        "title": scene.title,
        "file": Path(scene.source).name,
        "spheres": scene.count,
        "frame": next((frame for frame in frames if frame is not None), 0),
        **times,
    }


def draw(sheet: Sheet, label: TextLabel, values: Mapping[str, Any]) -> None:
    """Draw a text; values: for names in braces."""
    size, ink, halo = sheet.pen(label)
    stated = filled(label.text, values).split("\n")
    lines = [part for line in stated for part in wrapped(line, size, sheet.wide)]
    wide = max(width(line, size) for line in lines)
    x, y = sheet.take(label.place, wide, (1.0 + LEADING * (len(lines) - 1)) * size)
    anchor = ANCHORS.get(label.place.rpartition("-")[2], 0.5)
    for row, line in enumerate(lines):
        baseline = y + (0.8 + LEADING * row) * size
        sheet.shapes.append(Text(line, x + anchor * wide, baseline, size, ink, anchor, halo))


def filled(text: str, values: Mapping[str, Any]) -> str:
    """Replace names in braces by their values. Raises SceneError: there is no such value, or it
    does not fit the format."""
    if "seconds" in values:  # of a movie
        values = {"time": values["seconds"], "time_unit": "s", **values}
    try:
        names = [name for _, name, *_ in Formatter().parse(text) if name is not None]
        if lacking := [name for name in names if name not in values]:
            name, hint = lacking[0], suggestion(lacking[0], values)
            if name in ("time", "time_unit"):
                hint = "the file does not state the time of its frame"
            raise SceneError(f"texts: there is no value '{{{shown(name)}}}': {hint}")
        return text.format_map(values)
    except (ValueError, TypeError):
        raise SceneError(
            f"texts: {shown_value(text)} cannot be filled in: write values as {{frame}} or "
            "{spheres:,}, and braces as {{ or }}"
        ) from None
