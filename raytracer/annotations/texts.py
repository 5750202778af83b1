"""Lines of text: title, time, frame."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from raytracer.annotations.sheet import Sheet
from raytracer.config.errors import SceneError, quote_value, suggest
from raytracer.drawing.fonts import measure_width, wrap_text
from raytracer.drawing.shapes import Text
from raytracer.model.annotations import TextLabel, parse_template
from raytracer.model.scene import Scene

LEADING = 1.25  # distance of lines, in font sizes

MAX_LETTERS = 1_000_000  # of a text with its values

ANCHORS = {"left": 0.0, "right": 1.0}


class ShortNumber(float):
    """A number that is written with at most six digits unless its format is stated."""

    def __format__(self, form: str) -> str:
        return super().__format__(form or "g")


def collect_values(scene: Scene) -> dict[str, Any]:
    """Return what texts may name in braces."""
    frames = (spheres.file.frame for spheres in scene.spheres if spheres.file is not None)
    time = next((each.time for each in scene.spheres if each.time is not None), None)
    times = {} if time is None else {"time": ShortNumber(time.value), "time_unit": time.unit}
    return {
        "title": scene.title,
        "file": Path(scene.source).name,
        "spheres": scene.count,
        "frame": next((frame for frame in frames if frame is not None), 0),
        **times,
    }


def draw(sheet: Sheet, label: TextLabel, values: Mapping[str, Any]) -> None:
    """Draw a text; values: for names in braces."""
    size, ink, halo = sheet.choose_pen(label)
    stated = fill_in(label.text, values).split("\n")
    lines = [part for line in stated for part in wrap_text(line, size, sheet.wide)]
    wide = max(measure_width(line, size) for line in lines)
    x, y = sheet.reserve(label.place, wide, (1.0 + LEADING * (len(lines) - 1)) * size)
    anchor = ANCHORS.get(label.place.rpartition("-")[2], 0.5)
    for row, line in enumerate(lines):
        baseline = y + (0.8 + LEADING * row) * size
        sheet.shapes.append(Text(line, x + anchor * wide, baseline, size, ink, anchor, halo))


def fill_in(text: str, values: Mapping[str, Any]) -> str:
    """Replace names in braces by their values. Raises SceneError: there is no such value, or it
    does not fit the format."""
    if "seconds" in values:  # of a movie
        values = {"time": values["seconds"], "time_unit": "s", **values}
    parts, length = list[str](), 0
    for letters, name, form in parse_template(text, "texts"):
        value = "" if name is None else format(_look_up(name, values), form)
        parts += (letters, value)
        length += len(letters) + len(value)
        if length > MAX_LETTERS:  # a long title, named many times
            raise SceneError(
                f"texts: {quote_value(text)} has more than {MAX_LETTERS:,} letters when its values "
                "are filled in: shorten it"
            )
    return "".join(parts)


def _look_up(name: str, values: Mapping[str, Any]) -> Any:
    if name in values:
        return values[name]
    hint = suggest(name, values)
    if name in ("time", "time_unit"):
        hint = "the file does not state the time of its frame"
    raise SceneError(f"texts: there is no value '{{{name}}}': {hint}")
