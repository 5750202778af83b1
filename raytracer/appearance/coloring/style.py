"""Style of a set's particles: colour by data, size, selection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import MISSING, dataclass

from raytracer.appearance.coloring import KEYS
from raytracer.appearance.coloring.scale_types import MAP, PALETTE, RANGE, Limit
from raytracer.config.errors import SceneError, UserError
from raytracer.config.field_types import Integer, Number, Text, Truth, WordChoice
from raytracer.config.fields import Defined, Definition, find_definitions, setting
from raytracer.model.bond_settings import BONDS, STYLES
from raytracer.model.colors import Color
from raytracer.model.key_types import REPLICATE, ColorRule, ColorValue, TableType

SCALES = ("linear", "log", "symlog", "symmetric", "discrete", "categorical")
MAX_STEPS = 256


@dataclass(frozen=True, repr=False, eq=False)
class StyleSettings(Defined):
    """Colours of particles by their data, selection and images; None keeps the scene's.

    Args:
        color_by: Column or expression to colour by: speed, sqrt(vx**2 + vy**2).
        map: Colour map: viridis, magma, coolwarm, ..., reversed by _r behind its name, or colours
            from the low end to the high end.
        range: Values at the ends of the map.
        color_scale: Mapping from values to colours; symmetric is linear with zero in the middle.
        color_steps: Number of colours of a discrete scale.
        color_threshold: A symlog scale is linear between minus this value and this value.
        missing_color: Colour of particles without a value.
        color_label: Name of the values in a legend.
        color_unit: Unit in a legend.
        palette: Colours of elements: jmol, cpk, vesta, or a table of colours by label.
        select: Show only the particles that fulfil a condition: type == 'O' and z > 3, every 10,
            random 0.1.
        rest: Opacity of the other particles, which are faded instead of hidden.
        wrap: Move particles into the periodic box first.
        replicate: Number of copies of the periodic box along each edge: [2, 2, 1] shows four.
        style: Drawing style of atoms: balls and sticks, sticks, touching balls, or lines.
        bonds: Bonds between particles: from the file, or by distance and covalent radii; or the
            longest distance, for all or by pair of types.
        bond_radius: Radius of bonds.
        bond_color: One colour for all bonds, or colours by their length, order or type.
        bond_select: Show only the bonds that fulfil a condition on their length, order, type, and
            columns of both atoms as in type1 and type2: length < 1.5 and order == 2.
        bond_orders: Show double and triple bonds as parallel sticks if orders are known.

    Raises:
        UserError: a value is of the wrong type or out of range.
    """

    color_by: str | None = setting(None, Text())
    map: str | Sequence[Color] | Mapping[str, Color] | None = setting(
        None, MAP, default_text="viridis; for categories the colours of elements, or tab10"
    )
    range: tuple[Limit, Limit] | None = setting(None, RANGE, default_text="the ends of the data")
    color_scale: str | None = setting(
        None, WordChoice(SCALES, "scale"), default_text="linear; categorical for texts and types"
    )
    color_steps: int | None = setting(None, Integer(1, MAX_STEPS), default_text="5")
    color_threshold: float | None = setting(
        None, Number(0.0, above=True), default_text="1/1000 of the larger end"
    )
    missing_color: Color | None = setting(None, ColorValue(), default_text="#888888")
    color_label: str | None = setting(None, Text(), default_text="the column")
    color_unit: str | None = setting(None, Text(), default_text="the unit of the column")
    palette: str | Mapping[str, Color] | None = setting(None, PALETTE, default_text="jmol")
    select: str | None = setting(None, Text(), default_text="all")

    rest: float | None = setting(None, Number(0.0, 1.0), default_text="hidden")
    wrap: bool | None = setting(None, Truth(), default_text="false")
    replicate: tuple[int, int, int] | None = setting(None, REPLICATE, default_text="one")

    style: str | None = setting(
        None, WordChoice(tuple(STYLES), "style"), default_text="plain spheres"
    )
    bonds: str | float | Mapping[str, float] | None = setting(
        None, BONDS, default_text="as the style says"
    )
    bond_radius: float | None = setting(
        None, Number(0.0, above=True), default_text="as the style says"
    )
    bond_color: Color | StyleSettings | None = setting(
        None, ColorRule(), default_text="the colours of the two atoms"
    )
    bond_select: str | None = setting(None, Text(), default_text="all")
    bond_orders: bool | None = setting(None, Truth(), default_text="true")

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [name for name in KEYS.values() if getattr(self, name) is not None]
        if given and self.color_by is None:
            raise UserError(
                f"{given[0]}: needs color_by (--color-by), the column or expression to colour by"
            )
        if self.rest is not None and self.select is None:
            raise UserError("rest: needs select (--select), a condition on the particles to show")
        if self.palette is not None and self.map is not None:
            raise UserError("palette: is for elements and map for other values; give one of them")

    @property
    def columns(self) -> list[str]:
        return find_needed_columns(self.color_by, self.select)


def _key(name: str, required: bool) -> Definition:
    key = copy(find_definitions(StyleSettings)[name])
    if required:
        key.default, key.default_text = MISSING, ""
    return key


COLOR_BY = TableType(
    "ColorBy",
    "Colours by a column of the particles.",
    {key: _key(name, required=key == "by") for key, name in KEYS.items()},
    lambda **given: StyleSettings(**{KEYS[key]: each for key, each in given.items()}),
)
"""The table `color` of a set in a scene file."""


@dataclass(frozen=True)
class SetStyle:
    """The style of one set's particles; radius, opacity: expressions, or None. place: position in
    the scene file, for messages, "" for arguments; table: name of the colour table."""

    settings: StyleSettings
    radius: str | None = None
    place: str = ""
    opacity: str | None = None
    table: str = "color"

    def named(self, setting: str) -> str:
        """Return the name of a setting for messages."""
        if not self.place and self.table == "color":
            return setting
        keys = {name: f"{self.table}.{key}" for key, name in KEYS.items()}
        return f"{self.place}.{keys.get(setting, setting)}".removeprefix(".")

    def wrong(self, setting: str, problem: str) -> SceneError:
        return SceneError(f"{self.named(setting)}: {problem}")

    @property
    def columns(self) -> list[str]:
        return [*self.settings.columns, *find_needed_columns(self.radius, self.opacity)]


def find_needed_columns(*texts: str | None) -> list[str]:
    from raytracer.appearance.coloring.expression import find_column_names

    return list(dict.fromkeys(name for text in texts if text for name in find_column_names(text)))
