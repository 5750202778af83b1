"""Number of rays of a picture by kind, derived from films of two probes.

Each probe is rendered with one sample per pixel for each depth. In the first, all surfaces emit
light and mirrors reflect half of it, so that the difference of two depths identifies mirrors. In
the second, each light has its own colour channel, so that a channel changed by a bounce is a light
that the surface faces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from raytracer.benchmark.render_levels import expose
from raytracer.film.film import Film

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.backends.base import Device
    from raytracer.buffers import Bvh, SceneBuffers

CHANNELS = 3
HALF = 0.5


@dataclass(frozen=True)
class Rays:
    """Rays of one sample per pixel.

    Attributes:
        primary: number of pixels.
        hit: pixels that show a sphere.
        shadow: for each bounce, pairs of a surface and a light that it faces. A shadow ray is cast
            for each of them, except on surfaces seen from inside that shadow themselves.
        reflection: for each bounce, mirrored rays that start there.
    """

    primary: int
    hit: int
    shadow: tuple[int, ...]
    reflection: tuple[int, ...]


def count(buffers: SceneBuffers, tree: Bvh, device: Device) -> Rays:
    """Count the rays of a view with lights (`render_levels.view`), up to its maximum depth."""
    films = list(_glow(buffers, tree, device))
    hit = int((films[0][..., 0] > 0).sum())
    added = [films[0], *(b - a for a, b in pairwise(films))]
    mirrors = [int((part[..., 0] == HALF ** (k + 1)).sum()) for k, part in enumerate(added)]
    facing = [0] * len(films)
    lights = buffers.view.light_count
    for first in range(0, lights, CHANNELS):
        for depth, faced in enumerate(_facing(buffers, tree, device, first, len(films))):
            facing[depth] += faced
    return Rays(films[0].shape[0] * films[0].shape[1], hit, tuple(facing), tuple(mirrors[:-1]))


def _glow(buffers: SceneBuffers, tree: Bvh, device: Device) -> list[NDArray[np.float32]]:
    """Render the first probe at depths 0, 1, …: white emission, mirrors that reflect half."""
    probe = _probe(buffers, buffers.lights[:0], ambient=1.0, diffuse=0.0)
    depths = buffers.view.max_depth
    return _films(probe, tree, device, depths if probe.view.mirrors else 0)


def _facing(buffers: SceneBuffers, tree: Bvh, device: Device, first: int, depths: int) -> list[int]:
    """Count, for each depth, pairs of a surface and a light it faces, for lights first, +1, +2."""
    import numpy as np

    lights = buffers.lights[first : first + CHANNELS].copy()
    lights["color"] = np.eye(CHANNELS, dtype=np.float32)[: len(lights)]
    lights["falloff"] = 0
    probe = _probe(buffers, lights, ambient=0.0, diffuse=1.0)
    films = [sums[..., :CHANNELS] for sums in _films(probe, tree, device, depths - 1)]
    changed = [films[0] != 0, *(a != b for a, b in pairwise(films))]
    return [int(each.sum()) for each in changed]


def _probe(
    buffers: SceneBuffers, lights: NDArray[np.void], ambient: float, diffuse: float
) -> SceneBuffers:
    """Return the scene with white spheres, without shadows and background."""
    import numpy as np

    materials = buffers.materials.copy()
    phong = materials["phong"]
    phong["ambient"], phong["diffuse"], phong["specular"] = ambient, diffuse, 0.0
    phong["mirror"] = np.where(phong["mirror"] > 0, HALF, 0.0)
    view = buffers.view.with_materials(materials).with_lights(lights, ambient)
    view = view.with_one_color().through_centers().with_shadows(False).with_samples(0, 1)
    white = np.ones((1, 3), np.float32)
    nothing = np.zeros(0, np.int32)
    probe = buffers.seen(view.without_background())
    return replace(probe, color=white, color_id=nothing)


def _films(
    probe: SceneBuffers, tree: Bvh, device: Device, deepest: int
) -> list[NDArray[np.float32]]:
    """Render depths 0 to `deepest`; return the sums (h, w, 4) of each."""
    films = []
    with device.film(Film.blank(*probe.view.size)) as film, device.scene(probe, tree) as scene:
        for depth in range(deepest + 1):
            expose(film, scene, probe.view.with_depth(depth))
            films.append(film.to_host().sums.copy())
    return films
