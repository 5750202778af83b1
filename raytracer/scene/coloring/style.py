"""What is said about the particles of a set: colour by data, size, selection."""

from __future__ import annotations

from copy import copy
from dataclasses import MISSING, dataclass
from typing import TYPE_CHECKING

from raytracer.errors import SceneError, UserError
from raytracer.field_types import Choice, Integer, Number, Text, Truth
from raytracer.fields import Defined, Definition, definitions, setting
from raytracer.scene.bond_settings import BONDS, STYLES
from raytracer.scene.coloring.kinds import Map, Palette, Range
from raytracer.scene.kinds import ColorValue, Table
from raytracer.scene.periodic import REPLICATE

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any, TypedDict

    from raytracer.scene.coloring.kinds import Limit
    from raytracer.scene.colors import Color

    class StyleOverrides(TypedDict, total=False):
        """The settings as keyword arguments, for type checkers; None keeps the scene's."""

        color_by: str | None
        map: str | Sequence[Color] | Mapping[str, Color] | None
        range: str | tuple[Limit, Limit] | None
        color_scale: str | None
        color_steps: int | None
        color_threshold: float | None
        missing_color: Color | None
        color_label: str | None
        color_unit: str | None
        palette: str | Mapping[str, Color] | None
        select: str | None
        rest: float | None
        wrap: bool | None
        replicate: int | str | Sequence[int] | None
        style: str | None
        bonds: bool | str | float | Mapping[str, float] | None
        bond_radius: float | None
        bond_color: Color | Mapping[str, Any] | None
        bond_select: str | None
        bond_orders: bool | None


SCALES = ("linear", "log", "symlog", "symmetric", "discrete", "categorical")
"""Words for scales."""

MAX_STEPS = 256
"""Steps of a discrete scale."""


@dataclass(frozen=True, repr=False, eq=False)
class StyleSettings(Defined, error=UserError):
    """Colours of particles by their data, selection and images; None keeps the scene's.

    Args:
        color_by: Column or expression that the colours follow: speed, sqrt(vx**2 + vy**2).
        map: Colour map: viridis, magma, coolwarm, ..., reversed with _r behind its name, or colours
            from the low end to the high end.
        range: Values at the ends of the map.
        color_scale: How values become colours; symmetric is linear with zero in the middle.
        color_steps: Number of colours of a discrete scale.
        color_threshold: A symlog scale is linear between minus this value and this value.
        missing_color: Colour of particles without a value.
        color_label: What a legend calls the values.
        color_unit: Unit in a legend.
        palette: Colours of elements: jmol, cpk, vesta, or a table of colours by label.
        select: Show only the particles that fulfil a condition: type == 'O' and z > 3, every 10,
            random 0.1, connected to id == 7.
        rest: Opacity of the particles that the condition does not choose, which are faded instead
            of hidden.
        wrap: Move particles into the periodic box, before anything else is done with them.
        replicate: Number of boxes along each edge of the periodic box: [2, 2, 1] shows four.
        style: How atoms are drawn: as balls and sticks, sticks alone, touching balls, or lines.
        bonds: Bonds between particles: those of the file, or by distance and covalent radii; or the
            longest distance, for all or by pairs of types.
        bond_radius: Radius of bonds.
        bond_color: One colour for all bonds, or colours that follow their length, order or type.
        bond_select: Show only the bonds that fulfil a condition on their length, order, type, and
            columns of both atoms as in type1 and type2: length < 1.5 and order == 2.
        bond_orders: Show double and triple bonds as parallel sticks, where orders are known.

    Raises:
        UserError: a value is of the wrong kind or out of range.
    """

    color_by: str | None = setting(None, Text())
    map: str | Sequence[Color] | Mapping[str, Color] | None = setting(
        None, Map(), default_text="viridis; of categories the colours of elements, or tab10"
    )
    range: tuple[Limit, Limit] | None = setting(None, Range(), default_text="the ends of the data")
    color_scale: str | None = setting(
        None, Choice(SCALES, "scale"), default_text="linear; categorical of texts and types"
    )
    color_steps: int | None = setting(None, Integer(1, MAX_STEPS), default_text="5")
    color_threshold: float | None = setting(
        None, Number(0.0, above=True), default_text="1/1000 of the larger end"
    )
    missing_color: Color | None = setting(None, ColorValue(), default_text="#888888")
    color_label: str | None = setting(None, Text(), default_text="the column")
    color_unit: str | None = setting(None, Text(), default_text="that of the column")
    palette: str | Mapping[str, Color] | None = setting(None, Palette(), default_text="jmol")
    select: str | None = setting(None, Text(), default_text="all")

    rest: float | None = setting(None, Number(0.0, 1.0), default_text="hidden")
    wrap: bool | None = setting(None, Truth(), default_text="false")
    replicate: tuple[int, int, int] | None = setting(None, REPLICATE, default_text="one")

    style: str | None = setting(
        None, Choice(tuple(STYLES), "style"), default_text="atoms as they are"
    )
    bonds: str | float | Mapping[str, float] | None = setting(
        None, BONDS, default_text="those of the style"
    )
    bond_radius: float | None = setting(
        None, Number(0.0, above=True), default_text="that of the style"
    )
    bond_color: Color | StyleSettings | None = setting(
        None,
        "raytracer.scene.coloring.rule:COLOR_RULE",
        default_text="that of the atoms at each end",
    )
    bond_select: str | None = setting(None, Text(), default_text="all")
    bond_orders: bool | None = setting(None, Truth(), default_text="true")

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in KEYS.values() if getattr(self, name) is not None]
        if given and self.color_by is None:
            raise UserError(
                f"{given[0]}: goes with color_by, the column or expression that colours follow"
            )
        if self.rest is not None and self.select is None:
            raise UserError("rest: goes with select, the condition that chooses the others")
        if self.palette is not None and self.map is not None:
            raise UserError("palette: is for elements and map for other values; give one of them")

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are needed."""
        return columns_in(self.color_by, self.select)


KEYS = {
    "by": "color_by",
    "map": "map",
    "range": "range",
    "scale": "color_scale",
    "steps": "color_steps",
    "threshold": "color_threshold",
    "missing": "missing_color",
    "label": "color_label",
    "unit": "color_unit",
}
"""Names of settings by the keys of the table `color` in a scene file."""


def _key(name: str, required: bool) -> Definition:
    """Return the definition of a key of the table `color`."""
    key = copy(definitions(StyleSettings)[name])
    if required:
        key.default, key.default_text = MISSING, ""
    return key


COLOR_BY = Table(
    "ColorBy",
    "Colours that follow a column of the particles.",
    {key: _key(name, required=key == "by") for key, name in KEYS.items()},
)
"""The table `color` of a set in a scene file."""


PALETTE = definitions(StyleSettings)["palette"].kind
"""The kind of the key `palette` in a scene file."""


@dataclass(frozen=True)
class SetStyle:
    """The style of the particles of one set.

    Args:
        settings: colour and selection.
        radius, opacity: expressions; None keeps those of the set.
        place: of the set in a scene file, for messages: "spheres[0]"; "" for arguments.
        table: name of the table of the colours.
    """

    settings: StyleSettings
    radius: str | None = None
    place: str = ""
    opacity: str | None = None
    table: str = "color"

    def named(self, setting: str) -> str:
        """Return what messages call a setting."""
        if not self.place and self.table == "color":
            return setting
        keys = {name: f"{self.table}.{key}" for key, name in KEYS.items()}
        return f"{self.place}.{keys.get(setting, setting)}".removeprefix(".")

    def wrong(self, setting: str, problem: str) -> SceneError:
        """Return an error about a setting."""
        return SceneError(f"{self.named(setting)}: {problem}")

    @property
    def columns(self) -> list[str]:
        """Names of the columns that are needed."""
        return [*self.settings.columns, *columns_in(self.radius, self.opacity)]


def columns_in(*texts: str | None) -> list[str]:
    """Return the names of the columns in some expressions."""
    from raytracer.scene.coloring.expression import names_in

    return list(dict.fromkeys(name for text in texts if text for name in names_in(text)))
