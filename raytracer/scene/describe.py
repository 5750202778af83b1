"""Description of one sphere: its place, material and row of the data file."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from raytracer.arguments import whole
from raytracer.errors import SceneError, escaped, shown
from raytracer.scene.colors import RGB, linear_to_srgb
from raytracer.scene.materials import AnyMaterial
from raytracer.scene.particles.read import read_row
from raytracer.scene.particles.source import Value
from raytracer.scene.transform import Vector

if TYPE_CHECKING:
    from raytracer.scene.scene import Scene, SolidSet, SphereSet
    from raytracer.scene.solids import ConeSet, EllipsoidSet

MOST_VALUES = 12
"""Most values of the data file among the lines for people."""

MOST_NUMBERS = 9
"""Most numbers of one value that are shown: a tensor of 3 x 3."""

MOST_LETTERS = 60
"""Longest text that is shown whole."""


@dataclass(frozen=True)
class SphereInfo:
    """What is known of one sphere.

    Args:
        id: its number in the order of the sets, from 0.
        set_index: of the sphere set in `Scene.spheres`.
        row: in that set, from 0; of a data file that of the particle, also where others are hidden.
        position: centre, scene units.
        radius: scene units.
        color: sRGB, 0..1.
        material_name: "default", its name in the scene, or "own" where it has none.
        material: the material itself.
        source: the data file, as messages name it, or "".
        values: what else the data file says of the particle, by array, property or column.
        note: why there are no values, where they should be, or "".
    """

    id: int
    set_index: int
    row: int
    position: Vector
    radius: float
    color: RGB
    material_name: str
    material: AnyMaterial
    source: str = ""
    values: dict[str, Value] = field(default_factory=dict)
    note: str = ""

    def lines(self) -> list[str]:
        """Return short lines for people; numbers have six significant digits."""
        shown = [
            f"sphere {self.id:,}",
            f"position {_text(self.position)}",
            f"radius {_text(self.radius)}",
            f"material {_text(self.material_name)}",
        ]
        values = [f"{_text(name)} {_text(value)}" for name, value in self.values.items()]
        shown += values[:MOST_VALUES]
        if len(values) > MOST_VALUES:
            shown.append(f"… {len(values) - MOST_VALUES} more")
        return [*shown, escaped(self.note)] if self.note else shown


@dataclass(frozen=True)
class CapsuleInfo(SphereInfo):
    """What is known of one capsule or cone: `position` is its middle.

    `set_index` is that in `Scene.capsules`, or in `Scene.cones`.

    Args:
        start, end: of its segment, scene units.
        end_radius: of a cone, whose `radius` is that at its start, scene units; None of a capsule.
    """

    start: Vector = (0.0, 0.0, 0.0)
    end: Vector = (0.0, 0.0, 0.0)
    end_radius: float | None = None

    def lines(self) -> list[str]:
        """Return short lines for people; numbers have six significant digits."""
        radius = _text(self.radius)
        is_cone = self.end_radius is not None
        radii = f"radii {radius} and {_text(self.end_radius or 0.0)}"
        return [
            f"{'cone' if is_cone else 'capsule'} {self.id:,}",
            f"from {_text(self.start)}",
            f"to {_text(self.end)}",
            radii if is_cone else f"radius {radius}",
            f"material {_text(self.material_name)}",
        ]


@dataclass(frozen=True)
class EllipsoidInfo(SphereInfo):
    """What is known of one ellipsoid: `radius` is its largest semi-axis.

    `set_index` is that in `Scene.ellipsoids`.

    Args:
        semi_axes: scene units.
        orientation: quaternion w, x, y, z, in the own units of the set.
    """

    semi_axes: Vector = (0.0, 0.0, 0.0)
    orientation: tuple[float, float, float, float] = (1.0, 0.0, 0.0, 0.0)

    def lines(self) -> list[str]:
        """Return short lines for people; numbers have six significant digits."""
        return [
            f"ellipsoid {self.id:,}",
            f"position {_text(self.position)}",
            f"semi-axes {_text(self.semi_axes)}",
            f"quaternion {_text(self.orientation)}",
            f"material {_text(self.material_name)}",
        ]


def describe(scene: Scene, prim_id: int) -> SphereInfo:
    """Return all that is known of one sphere or solid; its row of the data file is read now.

    Args:
        scene: what was packed.
        prim_id: its number in the order of packing, all sets one after another, then those of
            capsules, cones and ellipsoids; `FirstHit.id`.

    Raises:
        SceneError: there is no such sphere.
    """
    prim_id = whole(prim_id, "prim_id")
    row = prim_id - scene.count
    kinds: tuple[Sequence[SolidSet], ...] = (scene.capsules, scene.cones, scene.ellipsoids)
    for sets in kinds if row >= 0 else ():
        for index, solids in enumerate(sets):
            if row < solids.count:
                return _solid(scene, solids, index, prim_id, row)
            row -= solids.count
    set_index, row = _find(scene, prim_id)
    spheres = scene.spheres[set_index]
    file_row = row if spheres.rows is None else int(spheres.rows[row])
    values, note = _look_up(spheres, file_row)
    return SphereInfo(
        id=prim_id,
        set_index=set_index,
        row=file_row,
        position=_position(spheres, row),
        radius=_radius(spheres, row),
        color=_color(spheres, row),
        material_name=_material_name(scene, spheres),
        material=scene.material_of(spheres),
        source=spheres.source,
        values=values,
        note=note,
    )


def _solid(scene: Scene, solids: SolidSet, set_index: int, prim_id: int, row: int) -> SphereInfo:
    """Return all that is known of a capsule, a cone or an ellipsoid, in that row of its set."""
    position, scale = _position(solids.start, row), solids.transform.scale
    shared: dict[str, Any] = {
        "id": prim_id,
        "set_index": set_index,
        "row": row,
        "radius": _radius(solids.start, row),
        "color": _color(solids.start, row),
        "material_name": _material_name(scene, solids.start),
        "material": scene.material_of(solids),
    }
    if solids.noun == "ellipsoid":
        axes, turn = (
            rows[row if len(rows) > 1 else 0].tolist()
            for rows in (
                cast("EllipsoidSet", solids).semi_axes,
                cast("EllipsoidSet", solids).orientation,
            )
        )
        size = tuple(scale * axis for axis in axes)
        return EllipsoidInfo(**shared, position=position, semi_axes=size, orientation=tuple(turn))
    end = _position(solids.balls[1], row)
    x, y, z = (0.5 * (a + b) for a, b in zip(position, end, strict=True))
    if solids.noun == "cone":
        first, last = (
            scale * float(radius if radius.ndim == 0 else radius[row])
            for radius in cast("ConeSet", solids).radii
        )
        shared |= {"radius": first, "end_radius": last}
    return CapsuleInfo(**shared, position=(x, y, z), start=position, end=end)


def _find(scene: Scene, prim_id: int) -> tuple[int, int]:
    """Return the set of a sphere, and its row there."""
    first = 0
    for place, spheres in enumerate(scene.spheres):
        if first <= prim_id < first + spheres.count:
            return place, prim_id - first
        first += spheres.count
    last = first + scene.solid_count - 1
    there = f"they go from 0 to {last:,}" if last >= 0 else "the scene has no spheres"
    raise SceneError(f"there is no sphere {prim_id:,}; {there}")


def _position(spheres: SphereSet, row: int) -> Vector:
    """Return a centre in scene space, summed in the order of `placing`."""
    center = spheres.centers[row].tolist()
    linear, move = spheres.transform.linear().tolist(), spheres.transform.translate
    x, y, z = (
        sum(a * c for a, c in zip(linear[axis], center, strict=True)) + float(move[axis])
        for axis in range(3)
    )
    return (x, y, z)


def _radius(spheres: SphereSet, row: int) -> float:
    """Return a radius in scene units."""
    radius = spheres.radius if isinstance(spheres.radius, float) else spheres.radius[row]
    return float(radius) * spheres.transform.scale


def _color(spheres: SphereSet, row: int) -> RGB:
    """Return a colour in sRGB."""
    if spheres.color_id is not None:
        row = int(spheres.color_id[row])
    color = spheres.color[row if len(spheres.color) > 1 else 0]
    parts = color / 255.0 if color.dtype.kind == "u" else color
    linear = spheres.color_space == "linear"
    red, green, blue = (linear_to_srgb(parts) if linear else parts).tolist()
    return (red, green, blue)


def _material_name(scene: Scene, spheres: SphereSet) -> str:
    """Return the name of a set's material."""
    if isinstance(spheres.material, str):
        return spheres.material
    known = (name for name, one in scene.materials.items() if one is spheres.material)
    return next(known, "own")


def _look_up(spheres: SphereSet, row: int) -> tuple[dict[str, Value], str]:
    """Return what else the data file says of a particle, or a sentence why that is not known."""
    if spheres.file is None:
        return {}, ""
    problem = spheres.file.problem()
    if not problem:
        try:
            return read_row(spheres.file, row, spheres.total), ""
        except Exception as error:  # whatever a damaged file brings: the rest is known all the same
            reason = shown(str(error) or type(error).__name__, 200)
            problem = f"can no longer be read ({reason})"
    return {}, f"{spheres.source} {problem}"


def _text(value: Value) -> str:
    """Return a value for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        parts = list(_flat(value))
        shown = ", ".join(_text(part) for part in parts[:MOST_NUMBERS])
        return shown if len(parts) <= MOST_NUMBERS else f"{shown}, … {len(parts)} in all"
    if isinstance(value, str):
        line = escaped(" ".join(value[: 20 * MOST_LETTERS].split()))
        return line if len(line) <= MOST_LETTERS else line[: MOST_LETTERS - 1] + "…"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _flat(value: Value) -> list[Value]:
    """Return the parts of tuples in tuples, one after another."""
    if not isinstance(value, tuple):
        return [value]
    return [part for item in value for part in _flat(item)]
