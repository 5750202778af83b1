"""Phong shading, hard shadows and mirrors, written out as the material's formula reads."""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from reference.hit import closest_hit, occluded
from reference.scene import Array, Light, RefScene, camera_rays, unit, vector

# Float64 rounding of a hit point, relative to the lengths it was computed from: what lies nearer
# to a surface than this lies on it.
SKIN = 1e-11


def _dot(a: Array, b: Array) -> Array:
    return np.asarray((a * b).sum(axis=-1))


def towards(light: Light, point: Array) -> tuple[Array, Array, Array]:
    """Unit direction to the light, its distance, and its linear RGB at each point."""
    color = np.asarray(light.color) * light.intensity
    if light.kind == "directional":
        to_light = np.broadcast_to(-unit(light.vector), point.shape)
        return to_light, np.full(len(point), np.inf), np.broadcast_to(color, point.shape)
    offset = vector(light.vector) - point
    distance = np.sqrt(_dot(offset, offset))
    power = 1 / distance**2 if light.inverse_square else np.ones(len(point))
    return offset / distance[:, None], distance, power[:, None] * color


def _local(
    scene: RefScene,
    point: Array,
    normal: Array,
    view: Array,
    hit: NDArray[np.int64],
    skin: Array,
    shadows: bool,
) -> Array:
    """Ambient, diffuse and specular radiance (P, 3); `view` points from the surface outwards.

    A mirror takes its share from the first two; the highlight is whole.
    """
    table = np.array(
        [[m.ambient, m.diffuse, m.specular, m.shininess, m.mirror] for m in scene.materials]
    )
    ambient, diffuse, specular, shininess, mirror = table[scene.material_id[hit]].T[:, :, None]
    albedo = scene.colors[hit] * (1 - mirror)
    radiance = ambient * np.asarray(scene.ambient) * albedo
    for light in scene.lights:
        to_light, distance, color = towards(light, point)
        cosine = _dot(normal, to_light)[:, None]
        mirrored = 2 * cosine * normal - to_light
        highlight = np.maximum(_dot(mirrored, view)[:, None], 0) ** shininess
        term = color * (diffuse * albedo * cosine + specular * highlight)
        lit = cosine[:, 0] > 0
        if shadows:
            blocked = occluded(scene.centers, scene.radii, point, to_light, distance, skin)
            lit &= ~blocked
        radiance = radiance + np.where(lit[:, None], term, 0)
    return np.asarray(radiance)


def _background(scene: RefScene, height: Array) -> Array:
    """Linear RGB at a height from 0 (bottom) to 1 (top)."""
    if scene.transparent:
        return np.zeros((len(height), 3))
    bottom, top = np.asarray(scene.bottom), np.asarray(scene.top)
    return np.asarray(bottom + (top - bottom) * height[:, None])


def _trace(
    scene: RefScene,
    origin: Array,
    direction: Array,
    sky: Array,
    bounces: int,
    shadows: bool,
    skin: Array,
) -> tuple[Array, NDArray[np.bool_]]:
    """Radiance (P, 3) and whether each ray met a sphere."""
    t, hit = closest_hit(scene.centers, scene.radii, origin, direction, skin)
    radiance = _background(scene, sky)
    met = np.flatnonzero(hit >= 0)
    if len(met) == 0:
        return radiance, hit >= 0
    hit_ids, ray = hit[met], direction[met]
    point = origin[met] + t[met, None] * ray
    center, radius = scene.centers[hit_ids], scene.radii[hit_ids]
    normal = unit(point - center)
    point = center + normal * radius[:, None]
    normal = np.where(_dot(normal, ray)[:, None] > 0, -normal, normal)
    sizes = np.abs(point).max(axis=1) + np.abs(center).max(axis=1) + radius + t[met]
    near = SKIN * sizes
    color = _local(scene, point, normal, -ray, hit_ids, near, shadows)
    mirror = np.array([m.mirror for m in scene.materials])[scene.material_id[hit_ids]]
    again = np.flatnonzero(mirror > 0) if bounces > 0 else np.zeros(0, np.int64)
    if len(again):
        reflected = ray - 2 * _dot(ray, normal)[:, None] * normal
        rise = (reflected @ unit(scene.world_up or scene.view.up) + 1) / 2
        seen, _ = _trace(
            scene, point[again], reflected[again], rise[again], bounces - 1, shadows, near[again]
        )
        color[again] += mirror[again, None] * seen
    radiance[met] = color
    return radiance, hit >= 0


def render(
    scene: RefScene,
    width: int,
    height: int,
    *,
    max_depth: int = 4,
    shadows: bool = True,
    offset: tuple[float, float] = (0.5, 0.5),
) -> Array:
    """Linear RGB and coverage, float64 (height, width, 4), one sample at `offset` in each pixel."""
    origin, direction = camera_rays(scene.view, width, height, offset)
    row = np.repeat(np.arange(height), width)
    sky = 1 - (row + offset[1]) / height
    radiance, covered = _trace(
        scene, origin, direction, sky, max_depth, shadows, np.zeros(len(origin))
    )
    alpha = covered if scene.transparent else np.ones(len(covered))
    return np.concatenate([radiance, alpha[:, None]], axis=1).reshape(height, width, 4)


def render_bounds(
    scene: RefScene,
    width: int,
    height: int,
    *,
    spread: float = 1 / 64,
    max_depth: int = 4,
    shadows: bool = True,
) -> tuple[Array, Array]:
    """Least and greatest value of each pixel over rays up to `spread` pixels from its centre.

    An edge (silhouette, shadow, terminator of a mirror image) is the one place where float32 may
    choose otherwise: there the bounds are wide, everywhere else they are tight.
    """
    shifts = [(0.0, 0.0), *product((-spread, spread), repeat=2)]
    pictures = [
        render(
            scene, width, height, max_depth=max_depth, shadows=shadows, offset=(0.5 + dx, 0.5 + dy)
        )
        for dx, dy in shifts
    ]
    return np.min(pictures, axis=0), np.max(pictures, axis=0)
