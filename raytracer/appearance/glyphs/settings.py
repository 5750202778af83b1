"""Settings of arrows, trails, contacts, ellipsoids, ribbons, polyhedra and isosurfaces."""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from math import inf
from typing import Any

from raytracer.appearance.coloring.style import StyleSettings, find_needed_columns
from raytracer.config.arguments import check_items
from raytracer.config.errors import SceneError, UserError, pluralize
from raytracer.config.field_types import (
    TEXT,
    FieldType,
    Integer,
    Number,
    Text,
    Truth,
    WordChoice,
)
from raytracer.config.fields import Defined, setting
from raytracer.model.bond_settings import LENGTH, LENGTHS, check_bond_lengths
from raytracer.model.colors import Color
from raytracer.model.key_types import ColorRule, ColorValue, Components, split_at_commas

ANCHORS = {"tail": 0.0, "center": 0.5, "tip": 1.0}
"""Points of an arrow that can be at its particle, as parts of its length."""


def _optional(kind: FieldType, default_text: str = "all") -> Any:
    return setting(None, kind, default_text=default_text)


SHARE = Number(0.0, 1.0)
PAIR = Components(2, "the names of two columns")


CENTER_PAIRS = FieldType(
    {str: TEXT, **LENGTHS.plain}, partial(check_bond_lengths, may_lack=True),
    noun="pairs of types such as Ti-O, or a table of their longest distances",
    metavar=LENGTHS.metavar,
)  # fmt: skip
"""Pairs of a central and a neighbouring type: "Ti-O", "Ti-O=2.4,Al-O", {Ti-O = 2.4}."""


def Several(item: FieldType, most: float, noun: str) -> FieldType:  # noqa: N802
    """A value or a list of at most some; "0.1,0.2" as a text."""

    def check(value: Any, name: str) -> tuple[Any, ...]:
        with suppress(UserError):
            return (item.checked(item.typed(value) if isinstance(value, str) else value, name),)
        if not isinstance(value, str):
            parts = check_items(value, name) if hasattr(value, "__iter__") else [value]
        else:
            parts = [item.typed(part) for part in split_at_commas(value)]
        if not 1 <= len(parts) <= most:
            raise SceneError(f"{name}: takes {noun}, not {pluralize(len(parts), 'value')}")
        return tuple(item.checked(each, name) for each in parts)

    listed = {"type": "array", "items": item.schema(), "minItems": 1}
    return FieldType({**item.plain, list: listed}, check, noun=noun)


LEVELS = Several(Number(), inf, "a number or a list of numbers")
SURFACE_COLORS = Several(ColorValue(), 2, "a colour, or two: of positive and of negative levels")


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class _Glyph(Defined):
    """Common fields of glyphs.

    Args:
        color: One colour, or colours by a value.
        particles: Opacity of the particles; 0 leaves them out.
        material: Name of their material.
    """

    particles: float | None = _optional(SHARE, "as they are")
    material: str = setting("default", Text())


@dataclass(frozen=True, repr=False, eq=False)
class Arrows(_Glyph, place="arrows"):
    """Arrows at particles, along a vector of their data.

    Args:
        vector: Column of the vectors, or their three components.
        scale: Length in scene units of an arrow of length 1.
        radius: Radius of the shafts in scene units; arrows shorter than two heads are thinner.
        anchor: Point of an arrow that is at its particle.
        every: Draw an arrow at every n-th particle.
        select: A condition on the particles that have arrows.
    """

    vector: str | tuple[str, str, str] = setting("velocity", Components())
    scale: float | None = _optional(LENGTH, "the longest is two mean distances of neighbours")
    radius: float | None = _optional(LENGTH, "1/28 of the longest arrow")
    color: Color | StyleSettings | None = setting(
        None, ColorRule(), default_text="the particle's; gold if all are the same"
    )
    anchor: str = setting("tail", WordChoice(ANCHORS, "anchor"))
    every: int = setting(1, Integer(1))
    select: str | None = _optional(Text())


@dataclass(frozen=True, repr=False, eq=False)
class Trails(_Glyph, place="trails"):
    """Paths of particles over the frames of their file, as tubes.

    Args:
        last: Number of frames before the shown one.
        radius: Radius of the tubes in scene units.
        every: Draw a trail of every n-th particle.
        select: A condition on the particles that have trails.
        step: Frames between two points.
    """

    last: int | None = _optional(Integer(1), "all frames, also later ones")
    radius: float | None = _optional(LENGTH, "1/20 of the mean distance of neighbours")
    color: Color | StyleSettings | None = setting(None, ColorRule(), default_text="the particle's")
    every: int = setting(1, Integer(1))
    select: str | None = _optional(Text())
    step: int = setting(1, Integer(1))


@dataclass(frozen=True, repr=False, eq=False)
class Contacts(_Glyph, place="contacts"):
    """Contacts between particles; the thickness shows the force.

    Args:
        file: List of contacts: a local dump of LAMMPS, or a table with the ids of two particles in
            each row.
        ids: Columns with the ids of the two particles, as in their `id`.
        by: Column of the list, or expression, that sets the thickness; for touching particles
            overlap or length.
        radius: Radius of the thickest in scene units.
        least: Contacts thinner than this fraction of the thickest are left out.
        select: A condition on the contacts, over the columns of the list.
    """

    file: str | None = _optional(Text(), "the particles that touch")
    ids: tuple[str, str] | None = _optional(PAIR, "columns with usual names, else the first two")
    by: str | None = _optional(Text(), "force, else the third column; overlap")
    radius: float | None = _optional(LENGTH, "0.4 of the median radius of the particles")
    least: float = setting(0.02, SHARE)
    color: Color | StyleSettings | None = setting(
        None, ColorRule(), default_text="by the thickness, from sand to dark red"
    )
    select: str | None = _optional(Text())


@dataclass(frozen=True, repr=False, eq=False)
class Shape(Defined, place="shape"):
    """Particles as ellipsoids, if their data have axes.

    Args:
        kind: Shape of the particles.
        axes: Columns of their three axes.
        orientation: Columns of quaternions w, x, y, z.
        scale: Semi-axis per unit of the columns.
    """

    kind: str = setting("ellipsoid", WordChoice(("ellipsoid",), "shape"))
    axes: str | tuple[str, str, str] | None = _optional(
        Components(), "shapex, shapey, shapez; c_shape[1] to c_shape[3]; shape"
    )
    orientation: str | tuple[str, str, str, str] | None = _optional(
        Components(4), "quatw, quati, quatj, quatk; c_quat[1] to c_quat[4]; orientation"
    )
    scale: float | None = _optional(LENGTH, "1; 1/2 for the diameters of LAMMPS")


@dataclass(frozen=True, repr=False, eq=False)
class Ribbons(_Glyph, place="ribbons"):
    """Proteins and nucleic acids as ribbons: helices, strands with arrows, and tubes.

    Args:
        color: One colour, or colours by a value: structure, chain, residue, rainbow (along the
            chain), another column of the atoms CA, or atoms for the colours of these atoms.
        width: Factor on the widths, which are 2.6 angstrom for helices and 2.3 for strands.
        select: A condition on the atoms CA of the residues that have a ribbon.
        particles: Opacity of the atoms of these residues and of water; 0 leaves them out.
    """

    color: Color | StyleSettings | None = setting(None, ColorRule(), default_text="by structure")
    width: float = setting(1.0, LENGTH)
    select: str | None = _optional(Text())
    particles: float | None = _optional(SHARE, "0; with a molecule style 1")
    opacity: float = setting(1.0, SHARE, "Opacity of the ribbons.")


@dataclass(frozen=True, repr=False, eq=False)
class Polyhedra(_Glyph, place="polyhedra"):
    """Coordination polyhedra: the convex hulls of the neighbours of atoms.

    Args:
        pairs: Types of the central atom and of its neighbours, Ti-O, or a table of such pairs with
            the longest distance of each.
        color: One colour of the faces.
        edges: Radius of the edges in scene units; 0 leaves them out.
        edge_color: Colour of the edges.
    """

    pairs: str | Mapping[str, float] | None = _optional(CENTER_PAIRS, "none: they must be given")
    color: Color | None = setting(None, ColorValue(), default_text="that of the central atom")
    opacity: float = setting(0.6, SHARE, "Opacity of the faces.")
    edges: float | None = _optional(Number(0.0), "1/80 of the distance of the neighbours")
    edge_color: Color | None = setting(None, ColorValue(), default_text="that of the faces, darker")


@dataclass(frozen=True, repr=False, eq=False)
class Isosurface(_Glyph, place="isosurface"):
    """Surfaces on which the values of a grid are equal: electron densities, orbitals, potentials.

    Args:
        level: Value at the surface, or a list of values, in the units of the file.
        file: Gaussian cube file with the values.
        color: Colour of the surfaces, or two: of positive and of negative levels.
        periodic: Whether the grid is one period of a crystal.
    """

    level: float | tuple[float, ...] | None = _optional(
        LEVELS, "mean plus twice the standard deviation of the absolute values, of each sign"
    )
    file: str | None = _optional(Text(), "the file of the particles")
    color: Color | tuple[Color, Color] | None = setting(
        None, SURFACE_COLORS, default_text="blue; red for negative levels"
    )
    opacity: float = setting(0.6, SHARE, "Opacity of the surfaces.")
    periodic: bool | None = _optional(
        Truth(), "whether the values continue from the last plane to the first"
    )


def list_glyph_columns(glyphs: Iterable[Any]) -> list[str]:
    """Return the names of the columns that glyphs may need."""
    from raytracer.appearance.glyphs.backbone import COLUMNS
    from raytracer.appearance.glyphs.vectors import ellipsoid_columns, vector_columns

    names: list[str] = []
    for each in glyphs:
        if isinstance(each, Arrows):
            names += vector_columns(each.vector)
        if isinstance(each, Ribbons):
            names += COLUMNS
        if isinstance(each, (Arrows, Trails, Ribbons)):
            names += find_needed_columns(each.select)
            names += each.color.columns if isinstance(each.color, StyleSettings) else ()
        if isinstance(each, (Trails, Contacts)):
            names.append("id")
        if isinstance(each, Shape):
            names += ellipsoid_columns(each.axes, each.orientation)
    return names
