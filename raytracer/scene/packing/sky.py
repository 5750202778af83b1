"""The environment for the kernels: an octahedral map with the table to sample it."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, hypot, radians, sin
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import UserError
from raytracer.layout import dtype
from raytracer.memory import require_room
from raytracer.scene.packing.emitters import alias_table

if TYPE_CHECKING:
    from raytracer.scene.environment import Environment
    from raytracer.scene.transform import Vector

MAX_SIDE = 1024  # most texels per side: 2 per degree, 32 MB
EVEN = 3.0  # maximum to mean luminance of an even sky, whose light paths find by chance

BLOCK_ROWS = 64

MAP = 96  # bytes of memory per texel during construction; 32 afterwards
PER_TEXEL = 2  # image samples along each side of a texel, which takes their mean


def pack_sky(environment: Environment, up: Vector) -> tuple[NDArray[np.void], dict[str, Any]]:
    """Return the texels by rows, structured (M,), `EnvironmentTexel`, and the fields of `Frame`.

    Raises:
        UserError: the image cannot be read, or is too bright for float32.
    """
    image = environment.equirectangular()
    if not np.isfinite(image).all():
        raise UserError("environment.intensity: is too large for 32-bit numbers; give less")
    size = side_of(image)
    require_room("environment", MAP * size**2, "to be sampled")
    radiance, weight = octahedral(image, size)
    light = _light_on_ground(radiance if size >= 64 else octahedral(image, 64)[0])
    del image
    total = float(weight.sum())
    share = weight.ravel() / total if total > 0.0 else np.full(size * size, 1.0 / size**2)
    del weight
    fields = {
        "map_x": sky_x(up, environment.rotation),
        "map_size": size,
        "map_visible": int(environment.visible),
        "map_shadow": int(environment.shadow),
        "map_even": int(is_even(share.reshape(size, size))),
        "environment_light": light,
    }
    threshold, alias = alias_table(share)
    texels = np.zeros(size * size, dtype("EnvironmentTexel"))
    texels["radiance"] = radiance.reshape(-1, 3)
    texels["share"] = share * size**2
    texels["threshold"], texels["alias"] = threshold, alias
    return texels, fields


def is_even(share: NDArray[np.float64]) -> bool:
    """Return whether no part of a sky is much brighter than its mean, by shares (size, size)."""
    angle = _texels(len(share))[1] ** -3.0
    return bool((share * angle.sum() / angle).max() <= EVEN)


def _light_on_ground(radiance: NDArray[np.float32]) -> float:
    """Return the radiance of a white surface that faces up under a map: sum of its channels."""
    height, distance = _texels(len(radiance))
    angle = distance**-3.0
    share = angle * np.maximum(height, 0.0) / angle.sum()  # fraction of the sphere
    return float((radiance.sum(axis=-1) * share).sum() * 4.0)


def side_of(image: NDArray[np.float32]) -> int:
    """Return the texels per side: a power of two with about as many texels as the image."""
    height, width = image.shape[:2]
    if width == 1:
        return 2 if height == 1 else 256
    size = 64
    while size < MAX_SIDE and size * size < height * width:
        size *= 2
    return size


def octahedral(image: NDArray[np.float32], size: int) -> tuple[Any, NDArray[np.float64]]:
    """Return the octahedral map of an equirectangular image, and the light of each texel.

    E. Praun, H. Hoppe, "Spherical Parametrization and Remeshing", ACM TOG 22(3), 2003.

    Args:
        image: linear RGB, float32 (h, w, 3); row 0 is the zenith.
        size: texels of a side.

    Returns:
        linear RGB, float32 (size, size, 3); luminance times solid angle, (size, size).
    """
    radiance = np.empty((size, size, 3), np.float32)
    luminance = np.empty((size, size))
    for rows in _blocks(size):
        mean = np.zeros((rows.stop - rows.start, size, 3))
        for row in range(PER_TEXEL):
            for column in range(PER_TEXEL):
                across, down = ((part + 0.5) / PER_TEXEL for part in (column, row))
                mean += look_up(image, _directions(size, rows, across, down)[0])
        mean /= PER_TEXEL**2
        radiance[rows] = mean
        luminance[rows] = mean @ np.array([0.2126, 0.7152, 0.0722])
    # Rendering interpolates between texel centres: the mean over a texel contains an eighth of
    # each neighbour.
    light = np.pad(luminance, 1, mode="edge")
    light = (light[:-2] + 6.0 * light[1:-1] + light[2:]) / 8.0
    light = (light[:, :-2] + 6.0 * light[:, 1:-1] + light[:, 2:]) / 8.0
    return radiance, light / _texels(size)[1] ** 3


def _blocks(size: int) -> Iterator[slice]:
    """Yield the rows of a map in blocks, which bounds the memory."""
    for start in range(0, size, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, size))


def _texels(size: int) -> tuple[Any, Any]:
    """Return height and distance (see `directions`) of all texel centres, (size, size)."""
    height, distance = np.empty((2, size, size))
    for rows in _blocks(size):
        direction, distance[rows] = _directions(size, rows)
        height[rows] = direction[..., 2]
    return height, distance


def _directions(size: int, rows: slice, across: float = 0.5, down: float = 0.5) -> tuple[Any, Any]:
    """Return `directions` for one point of each texel of some rows."""
    u = (np.arange(size) + across) / size
    return directions(*np.meshgrid(u, (np.arange(rows.start, rows.stop) + down) / size))


def directions(u: NDArray[np.float64], v: NDArray[np.float64]) -> tuple[Any, Any]:
    """Return the directions (..., 3), z up, of points of the map, and the distances of the
    octahedron's points from its centre."""
    x, y = 2.0 * u - 1.0, 2.0 * v - 1.0
    z = 1.0 - np.abs(x) - np.abs(y)
    x, y = (
        np.where(z < 0, np.copysign(1.0 - np.abs(y), x), x),
        np.where(z < 0, np.copysign(1.0 - np.abs(x), y), y),
    )
    point = np.stack([x, y, z], axis=-1)
    distance = np.sqrt((point**2).sum(axis=-1))
    return point / distance[..., None], distance


def look_up(image: NDArray[np.float32], direction: Any) -> Any:
    """Return the radiance of directions (..., 3), interpolated between pixel centres."""
    height, width = image.shape[:2]
    latitude = np.arccos(np.clip(direction[..., 2], -1.0, 1.0)) / np.pi
    # Seen from inside: the right half of the image is on the side of -y.
    longitude = 0.5 - np.arctan2(direction[..., 1], direction[..., 0]) / (2.0 * np.pi)
    y = np.clip(latitude * height - 0.5, 0.0, height - 1.0)
    x = longitude * width - 0.5
    y0, x0 = np.floor(y).astype(np.int64), np.floor(x).astype(np.int64)
    down, across = (y - y0)[..., None], (x - x0)[..., None]
    y1, columns = np.minimum(y0 + 1, height - 1), (x0 % width, (x0 + 1) % width)
    upper, lower = (
        image[rows, columns[0]] * (1.0 - across) + image[rows, columns[1]] * across
        for rows in (y0, y1)
    )
    return upper * (1.0 - down) + lower * down


def sky_x(up: Vector, rotation: float) -> Vector:
    """Return the direction of the middle of the image, unit; `rotation` in degrees about `up`."""
    ahead = (1.0, 0.0, 0.0) if abs(up[0]) < 0.9 else (0.0, 0.0, 1.0)
    along = sum(a * b for a, b in zip(ahead, up, strict=True))
    x, y, z = (a - along * b for a, b in zip(ahead, up, strict=True))
    length = hypot(x, y, z)
    x, y, z = x / length, y / length, z / length
    side = (up[1] * z - up[2] * y, up[2] * x - up[0] * z, up[0] * y - up[1] * x)
    c, s = cos(radians(rotation)), sin(radians(rotation))
    return (c * x + s * side[0], c * y + s * side[1], c * z + s * side[2])
