"""Description of one sphere: its position, material, and values of the data file or of arrays."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.config.arguments import check_whole
from raytracer.config.errors import SceneError, escape_controls, quote
from raytracer.model.colors import RGB, linear_to_srgb
from raytracer.model.materials import AnyMaterial
from raytracer.model.particle_source import Value, plain_value
from raytracer.model.render_space import transform_rows
from raytracer.model.sphere_set import SphereSet
from raytracer.model.views import Vector
from raytracer.particles.read import read_row

if TYPE_CHECKING:
    from raytracer.model.scene import Scene

MAX_VALUES = 12

MAX_NUMBERS = 9  # most numbers of one value in `lines`: a 3 x 3 tensor
MAX_LETTERS = 60  # longest text that is not shortened


@dataclass(frozen=True)
class SphereInfo:
    """Description of one sphere, capsule, cone, ellipsoid or triangle.

    Args:
        id: index in the order of the sets, from 0.
        set_index: index of the set in `Scene.spheres`, `Scene.capsules`, `Scene.meshes`, ...
        row: index in that set, from 0; for a data file the row of the particle, hidden ones
            counted.
        position: centre, scene units; of capsules and cones the midpoint.
        radius: scene units; of a cone the larger one, of an ellipsoid the largest semi-axis; of a
            triangle 0.
        color: sRGB, 0..1.
        material_name: "default", the name in the scene, or "own" if it has none.
        material: the material.
        noun: "sphere", "capsule", "cone", "ellipsoid" or "triangle".
        source: the data file, as messages name it, or "".
        values: other values of the particle, by column of the data file or of arrays.
        note: why values are missing, or "".
    """

    id: int
    set_index: int
    row: int
    position: Vector
    radius: float
    color: RGB
    material_name: str
    material: AnyMaterial
    noun: str
    source: str = ""
    values: dict[str, Value] = field(default_factory=dict)
    note: str = ""

    def lines(self) -> list[str]:
        """Return short lines for display; numbers have six significant digits."""
        values = [
            f"{_format_value(name)} {_format_value(value)}" for name, value in self.values.items()
        ]
        more = [f"… {len(values) - MAX_VALUES} more"] if len(values) > MAX_VALUES else []
        return [
            f"{self.noun} {self.id:,}",
            f"position {_format_value(self.position)}",
            *([f"radius {_format_value(self.radius)}"] if self.radius else []),
            f"material {_format_value(self.material_name)}",
            *values[:MAX_VALUES],
            *more,
            *([escape_controls(self.note)] if self.note else []),
        ]


def describe(scene: "Scene", prim_id: int) -> SphereInfo:
    """Describe one sphere or solid; its row of the data file is read now."""
    row = prim_id = check_whole(prim_id, "prim_id")
    groups: tuple[Any, ...] = (
        scene.spheres, scene.capsules, scene.cones, scene.ellipsoids, scene.meshes
    )  # fmt: skip
    for sets in groups:
        for index, each in enumerate(sets):
            if 0 <= row < each.count:
                if sets is scene.spheres and each.cell is not None:  # without the other images
                    each, row = each.taken(np.array([row])), 0
                return _describe_row(scene, each, index, prim_id, row)
            row -= each.count
    last = scene.count + scene.solid_count - 1
    there = f"numbers go from 0 to {last:,}" if last >= 0 else "the scene has no spheres"
    raise SceneError(f"there is no sphere {prim_id:,}; {there}")


def _describe_row(scene: "Scene", each: Any, set_index: int, prim_id: int, row: int) -> SphereInfo:
    is_solid = hasattr(each, "start")
    balls: SphereSet = each.start if is_solid else each
    ends = [find_position(ball, row) for ball in (balls, getattr(each, "end", balls))]
    x, y, z = (0.5 * (a + b) for a, b in zip(*ends, strict=True))
    radius = 0.0
    if each.noun != "triangle":
        sizes = [each.radius, each.end_radius] if each.noun == "cone" else [balls.radius]
        radius = balls.transform.scale * max(float(_value_at(size, row)) for size in sizes)
    color, values, note, source = _find_color(balls, row), dict[str, Value](), "", ""
    if not is_solid:
        number, row = row, row if balls.rows is None else int(balls.rows[row])
        values, note = _look_up(balls, row) if balls.file else (_known_values(balls, number), "")
        source = balls.source
    name = balls.material
    if not isinstance(name, str):
        name = next((known for known, one in scene.materials.items() if one is name), "own")
    return SphereInfo(
        prim_id, set_index, row, (x, y, z), radius, color, name,
        scene.material_of(each), each.noun, source, values, note,
    )  # fmt: skip


def _value_at(numbers: Any, row: int) -> Any:
    return numbers if isinstance(numbers, float) else numbers[row]


def find_position(spheres: SphereSet, row: int) -> Vector:
    """Return a centre in scene space."""
    linear, move = spheres.transform.linear(), spheres.transform.translate
    x, y, z = transform_rows(spheres.centers[row][None], linear, move)[0].tolist()
    return (x, y, z)


def _find_color(spheres: SphereSet, row: int) -> RGB:
    if spheres.color_id is not None:
        row = int(spheres.color_id[row])
    color = spheres.color[row if len(spheres.color) > 1 else 0]
    parts = color / 255.0 if color.dtype.kind == "u" else color
    linear = spheres.color_space == "linear"
    red, green, blue = (linear_to_srgb(parts) if linear else parts).tolist()
    return (red, green, blue)


def _look_up(spheres: SphereSet, row: int) -> tuple[dict[str, Value], str]:
    """Return the values of the data file for a particle, or a sentence why they are missing."""
    assert spheres.file is not None
    problem = spheres.file.problem()
    if not problem:
        try:
            return read_row(spheres.file, row, spheres.data.total), ""
        except Exception as error:  # a damaged file; the rest is still known
            reason = quote(str(error) or type(error).__name__, 200)
            problem = f"can no longer be read ({reason})"
    return {}, f"{spheres.source} {problem}"


def _known_values(spheres: SphereSet, row: int) -> dict[str, Value]:
    values: dict[str, Value] = {}
    for name in spheres.columns.others:
        try:
            value = spheres.columns[name][row].tolist()
        except SceneError:  # neither numbers nor texts
            continue
        values[name] = plain_value(value)
    return values


def _format_value(value: Value) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        parts = np.array(value, object).ravel().tolist()
        shown = ", ".join(_format_value(part) for part in parts[:MAX_NUMBERS])
        return shown if len(parts) <= MAX_NUMBERS else f"{shown}, … {len(parts)} in all"
    if isinstance(value, str):
        line = escape_controls(" ".join(value[: 20 * MAX_LETTERS].split()))
        return line if len(line) <= MAX_LETTERS else line[: MAX_LETTERS - 1] + "…"
    return f"{value:.6g}" if isinstance(value, float) else str(value)
