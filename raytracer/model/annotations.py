"""Annotations: what is drawn over a picture.

Sizes of text and lines are in points (1/72 inch). The `dpi` of the render settings gives the pixels
per point; without it the shorter side of the picture counts as 6 inches, so that a picture looks
the same at any resolution.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import MISSING, dataclass, replace
from string import Formatter
from typing import Any, Self

from raytracer.config.arguments import check_mapping, check_text
from raytracer.config.errors import SceneError, quote, quote_value, suggest
from raytracer.config.field_types import TEXT, FieldType, Number, Numbers, Text, Vector3, WordChoice
from raytracer.config.fields import Defined, check_fields, find_definitions, setting
from raytracer.model.colors import Color
from raytracer.model.key_types import ColorValue, PartChange, Tables, TableType
from raytracer.model.views import Triple

PLACES = (
    "top-left", "top", "top-right", "left", "right", "bottom-left", "bottom", "bottom-right",
)  # fmt: skip
"""Positions in the picture; annotations at the same position are placed side by side."""

IN_SCENE = ("origin", "box")  # places of axes that are arrows in the scene

AXIS_COLORS = ((0.84, 0.15, 0.16), (0.13, 0.59, 0.19), (0.16, 0.33, 0.85))

VALUES: Mapping[str, Any] = {
    "title": "", "file": "", "spheres": 0, "frame": 0, "time": 0.0, "time_unit": "", "seconds": 0.0,
}  # fmt: skip
"""What texts may name in braces, with a value of each type."""

MAX_WIDTH = 64  # letters of a number, and digits after its point

FORMAT = re.compile(
    r"(?:[^{}]?[<>=^])?[-+ ]?z?#?0?([0-9]{0,4})[,_]?(?:\.([0-9]{1,4}))?[a-bd-zA-Z%]?", re.DOTALL
)
"""Format specifications of Python without nested fields and without "c", a letter by its number;
groups: width and precision."""

CONTRAST = "black or white, in contrast to the background"


def _size_field(points: float) -> Any:
    return setting(points, Number(0.0, 1000.0, above=True), "Size of the text in points.")


def _place_field(word: str) -> Any:
    return setting(word, WordChoice(PLACES, "place"), "Position in the picture.")


def _length_field(default_text: str) -> Any:
    return setting(None, Number(0.0, above=True), default_text=default_text)


def parse_template(template: str, place: str) -> Iterator[tuple[str, str | None, str]]:
    """Yield the parts of a text with values in braces: letters, and the name and the format of the
    value after them, or None and "".

    Formats are checked here because those of Python reach attributes, items and with them every
    variable of the process, and produce texts of any length. Raises SceneError: there is no such
    value, or it does not fit the format.
    """
    try:
        for letters, name, form, conversion in Formatter().parse(template):
            if name is not None and name not in VALUES:
                hint = suggest(name, VALUES)
                raise SceneError(f"{place}: there is no value '{{{quote(name)}}}': {hint}")
            if name is not None:
                match = FORMAT.fullmatch(form or "")
                sizes = [int(each or 0) for each in match.groups()] if match else [MAX_WIDTH + 1]
                if conversion or max(sizes) > MAX_WIDTH:
                    raise ValueError
                format(VALUES[name], form or "")
            yield letters, name, form or ""
    except (ValueError, TypeError):
        raise SceneError(
            f"{place}: {quote_value(template)} cannot be filled in: write values as {{frame}} or "
            f"{{spheres:,}}, with a width and a precision of at most {MAX_WIDTH}, and braces as "
            "{{ or }}"
        ) from None


def check_template(value: Any, name: str) -> str:
    """Return a text whose values in braces exist and fit their formats."""
    template = check_text(value, name)
    for _ in parse_template(template, name):
        pass
    return template


@dataclass(frozen=True, repr=False, eq=False)
class Legend(Defined, place="legend"):
    """The colour scale of spheres coloured by a column: a bar with ticks, or categories.

    Args:
        label: Text beside the bar.
        length: Length of the colour bar as a fraction of the side it runs along.
        color: Colour of text and lines.
    """

    place: str = _place_field("right")
    label: str | None = setting(None, Text(), default_text="the column with its unit")
    size: float = _size_field(10.0)
    length: float = setting(0.5, Number(0.05, 0.9))
    color: Color | None = setting(None, ColorValue(), default_text=CONTRAST)


@dataclass(frozen=True, repr=False, eq=False)
class ScaleBar(Defined, place="scale_bar"):
    """A bar of known length.

    With a perspective camera its length is exact at the distance of the point looked at.

    Args:
        length: Length in scene units.
        unit: Unit behind the number. The default is that of the file, if it is known and `factor`
            is 1: Å for elements, or that of the columns of coordinates ("x [m]").
        factor: Size of a scene unit in `unit`: 0.1 for a scene in angstrom and the unit nm.
            `length` is then in `unit`.
        color: Colour of text and lines.
    """

    length: float | None = _length_field("a round number, about a fifth of the picture's width")
    unit: str | None = setting(None, Text(), default_text="that of the file")
    factor: float = setting(1.0, Number(0.0, above=True))
    place: str = _place_field("bottom-right")
    size: float = _size_field(10.0)
    color: Color | None = setting(None, ColorValue(), default_text=CONTRAST)


@dataclass(frozen=True, repr=False, eq=False)
class Axes(Defined, place="axes"):
    """The axes x (red), y (green) and z (blue) in the directions that the camera sees.

    With `origin` or `box` the axes are arrows in the scene, at its origin or at a corner of the
    box, and particles can hide them.

    Args:
        place: Position in the picture; origin and box put the axes into the scene.
        length: Length of an axis in points.
        labels: Names of the three axes, separated by spaces.
        extent: Length in scene units of an axis in the scene.
    """

    place: str = setting("bottom-left", WordChoice((*PLACES, *IN_SCENE), "place"))
    length: float = setting(30.0, Number(1.0, 1000.0))
    size: float = _size_field(10.0)
    labels: str = setting("x y z", Text())
    extent: float | None = _length_field(
        "a quarter of the box's shortest edge, or of the scene's extent"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.labels.split()) not in (0, 3):
            raise SceneError(
                f"axes.labels: {quote_value(self.labels)} is not three names with spaces between "
                'them, such as "x y z"'
            )


@dataclass(frozen=True, repr=False, eq=False)
class TextLabel(Defined, place="texts"):
    r"""Lines of text over the picture.

    {title}, {file}, {spheres} and {frame} are replaced by the title, the file name, the number of
    spheres and the frame number; {spheres:,} separates thousands. {time} and {time_unit} are the
    time of the frame in the file; in a movie {seconds} is the time since its start. Write {{ or }}
    for a brace. Formats are those of Python for text and numbers, with a width and a precision of
    at most 64.

    Args:
        text: The text. `\n` begins a new line.
        color: Colour of text and lines.
    """

    text: str = setting(MISSING, FieldType({str: TEXT}, check_template, noun="text", wording=""))
    place: str = _place_field("top")
    size: float = _size_field(14.0)
    color: Color | None = setting(None, ColorValue(), default_text=CONTRAST)


@dataclass(frozen=True, repr=False, eq=False)
class Labels(Defined, place="labels"):
    """A text at each sphere whose centre is visible: no other sphere covers it.

    A label that would overlap one nearer to the camera is left out.

    Args:
        by: Source of the text: a column of the particles, or "index", the number of the particle in
            its file (in the scene, without a file).
        color: Colour of the text.
    """

    by: str = setting("index", Text())
    size: float = _size_field(8.0)
    color: Color | None = setting(
        None, ColorValue(), default_text="black or white, in contrast to the sphere"
    )


@dataclass(frozen=True, repr=False, eq=False)
class SimulationBox(Defined, place="box"):
    """The edges of the simulation box: rods in the scene, or lines drawn over the picture.

    Rods are lit, cast shadows and are reflected, like the rest of the scene. Spheres in front of
    them hide lines.

    Args:
        edges: The three edge vectors in scene units.
        origin: The corner from which the edges start, in scene units.
        width: Width of lines in points.
        color: Colour of the edges.
        style: Rods in the scene, or lines over it.
        radius: Radius of rods in scene units.

    Raises:
        SceneError: a value is out of range, or the edges span no volume.
    """

    edges: tuple[Triple, Triple, Triple] | None = setting(
        None, Numbers(3, "three vectors", "", item=Vector3()), default_text="those of the file"
    )
    origin: Triple | None = setting(
        None, Vector3(), default_text="that of the file, or [0, 0, 0] where edges are given"
    )
    width: float = setting(1.0, Number(0.0, 100.0, above=True))
    color: Color | None = setting(
        None,
        ColorValue(),
        default_text="grey; of lines black or white; in contrast to the background",
    )
    style: str = setting("rods", WordChoice(("rods", "lines"), "style"))
    radius: float | None = _length_field("1/600 of the box's diagonal")


PLAIN_BOX = SimulationBox(style="lines", width=1.0)
"""The box of particle files without a scene. Whoever asks for a box gets a `SimulationBox` with
its own defaults instead."""


@dataclass(frozen=True, repr=False, eq=False)
class Outline(Defined, place="outline"):
    """A line around spheres, of constant width in the picture.

    Args:
        width: Width of the line in pixels.
        color: Colour of the line.
        at: Around each sphere, or only where spheres meet the background.
        step: Depth difference in scene units from which a sphere is outlined against another.
    """

    width: float = setting(1.5, Number(0.0, 32.0, above=True))
    color: Color = setting("black", ColorValue())
    at: str = setting("all", WordChoice(("all", "silhouette")))
    step: float = setting(0.0, Number(0.0))

    @property
    def needs_depth(self) -> bool:
        """Whether lines depend on depths, not only on which sphere is seen."""
        return self.at == "all" and self.step > 0.0


@dataclass(frozen=True, repr=False, eq=False)
class DepthCue(Defined, place="depth_cue"):
    """Fading into a colour with distance (depth cueing).

    Depths are distances from the camera along its view, in scene units.

    Args:
        color: Colour into which it fades.
        near: Depth at which it begins.
        far: Depth at which it is complete.
        strength: Fraction of the colour that is mixed in from `far` on.
    """

    color: Color | None = setting(None, ColorValue(), default_text="that of the background")
    near: float | None = setting(None, Number(0.0), default_text="that of the nearest point seen")
    far: float | None = setting(None, Number(0.0), default_text="that of the farthest point seen")
    strength: float = setting(0.7, Number(0.0, 1.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.near is not None and self.far is not None and self.near >= self.far:
            raise SceneError(
                f"depth_cue.far: {self.far:g} is not beyond near, {self.near:g}: give the "
                "smaller depth as near"
            )


class Annotation(PartChange):
    """One of the annotations; the option may be without a value."""

    def __init__(self, kind: type[Defined], first: str) -> None:
        metavar = f"[={first.upper()}|NAME=VALUE,...|off]"
        super().__init__(f"{__name__}:{kind.__name__}", first, metavar)

    def checked(self, value: Any, name: str) -> Any:
        return self.changed(None, self.parse_change(value, name))

    def parse_option(self, text: str, name: str) -> str:
        """Check the value of an option, which may change an annotation of the scene."""
        self.parse_change(text, name)
        return text


@dataclass(frozen=True, repr=False, eq=False)
class Annotations(Defined):
    """The annotations of a picture; None leaves one out.

    Args:
        legend: The scale of colours that follow a column.
        scale_bar: A bar of a known length.
        axes: A tripod of the axes, in a place of the picture or at the origin.
        texts: Title, time and other texts.
        labels: A text at each sphere.
        box: The simulation box as rods, or as lines over the picture.
        outline: Lines around spheres.
        depth_cue: Fading into a colour with the distance.

    Raises:
        SceneError: a part is of the wrong type.
    """

    legend: Legend | None = setting(None, Annotation(Legend, "place"))
    scale_bar: ScaleBar | None = setting(None, Annotation(ScaleBar, "length"))
    axes: Axes | None = setting(None, Annotation(Axes, "place"))
    texts: Sequence[TextLabel] = setting((), Tables(TableType.of(f"{__name__}:TextLabel")))
    labels: Labels | None = setting(None, Annotation(Labels, "by"))
    box: SimulationBox | None = setting(None, Annotation(SimulationBox, "style"))
    outline: Outline | None = setting(None, Annotation(Outline, "width"))
    depth_cue: DepthCue | None = setting(None, Annotation(DepthCue, "color"))

    def __bool__(self) -> bool:
        return any(self._values())

    @property
    def in_scene(self) -> bool:
        """Whether box or axes are solid objects in the scene."""
        if self.box is not None and self.box.style == "rods":
            return True
        return self.axes is not None and self.axes.place in IN_SCENE

    def changed(self, changes: Mapping[str, Any]) -> Self:
        """Return a copy with changes.

        Args:
            changes: by name: an annotation; None or False to leave it out; True for one with
                defaults if there is none yet; or fields to change, a mapping or a text such as
                "place=left,size=12". Texts given as "texts" are added to the existing ones.

        Raises:
            SceneError: the annotation or field does not exist, or a value is out of range.
        """
        known = find_definitions(Annotations)
        check_fields(check_mapping(changes, "annotations"), known, "annotations")
        made: dict[str, Any] = {}
        for name, value in changes.items():
            kind, now = known[name].kind, getattr(self, name)
            if not isinstance(kind, PartChange):
                made[name] = (*now, *value)
                continue
            now = None if now is PLAIN_BOX else now
            made[name] = kind.changed(now, kind.parse_change(value, name))
        return replace(self, **made)
