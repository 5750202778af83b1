"""The environment for the kernels: an octahedral map with the tree to sample it."""

from __future__ import annotations

from collections.abc import Iterator
from math import cos, hypot, isqrt, radians, sin
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import UserError
from raytracer.layout import dtype
from raytracer.memory import require_room

if TYPE_CHECKING:
    from raytracer.scene.environment import Environment
    from raytracer.scene.transform import Vector

MAX_SIDE = 1024  # most cells per side: 2 per degree, 21 MiB
EVEN = 3.0  # maximum to mean luminance of an even sky, whose light paths find by chance

BLOCK_ROWS = 64

MAP = 96  # bytes of memory per cell during construction; 21 afterwards
PER_CELL = 2  # image samples along each side of a cell about a corner, which has their mean
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def pack_sky(environment: Environment, up: Vector) -> tuple[NDArray[np.void], dict[str, Any]]:
    """Return the map and its tree, structured (M,), `EnvironmentTexel`, and the fields of `Frame`.

    Raises:
        UserError: the image cannot be read, or is too bright for float32.
    """
    image = environment.equirectangular()
    if not np.isfinite(image).all():
        raise UserError("environment.intensity: is too large for 32-bit numbers; give less")
    size = side_of(image)
    require_room("environment", MAP * size**2, "to be sampled")
    radiance = octahedral(image, size)
    light = _light_on_ground(radiance if size >= 64 else octahedral(image, 64))
    del image
    density = sampling_density(radiance)
    fields = {
        "map_x": sky_x(up, environment.rotation),
        "map_size": size,
        "map_visible": int(environment.visible),
        "map_shadow": int(environment.shadow),
        "map_even": int(is_even(radiance)),
        "environment_light": light,
    }
    corners = (size + 1) ** 2
    sky = np.zeros(corners + (size**2 - 1) // 3, dtype("EnvironmentTexel"))
    sky["radiance"][:corners] = radiance.reshape(-1, 3)
    sky["density"][:corners] = density.ravel()
    _fill_quads(sky[corners:].view(dtype("EnvironmentQuad")), _cells(density))
    return sky, fields


def sampling_density(radiance: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the density of samples at the corners of a map, (size + 1, size + 1), mean 1.

    It is luminance times solid angle, or that of an even map if all is black.
    """
    luminance = radiance @ LUMINANCE
    angle = _corners(len(radiance) - 1)[1] ** -3.0
    light = luminance * angle if luminance.any() else angle
    return np.asarray(light / _cells(light).mean(), np.float32)


def _cells(corners: NDArray[Any]) -> NDArray[np.float64]:
    """Return the means over the cells of what is linear between their corners, (size, size)."""
    rows = corners[:-1].astype(np.float64) + corners[1:]
    return np.asarray((rows[:, :-1] + rows[:, 1:]) / 4.0)


def _fill_quads(quads: NDArray[np.void], cells: NDArray[np.float64]) -> None:
    """Write the probabilities of halves of all blocks, from the smallest to the whole map.

    Args:
        quads: structured ((size**2 - 1) / 3,), `EnvironmentQuad`.
        cells: sums of the density, (size, size).
    """
    end = len(quads)
    while len(cells) > 1:
        side = len(cells) // 2
        parts = cells.reshape(side, 2, side, 2).transpose(0, 2, 1, 3)[_in_tree(side)]
        rows = parts.sum(axis=2)
        of_level = quads[end - side**2 : end]
        of_level["top"] = _share(rows)
        of_level["left"] = _share(parts)
        end -= side**2
        cells = cells.reshape(side, 2, side, 2).sum(axis=(1, 3))


def _share(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first of two (..., 2) by their sum, a half if both are zero."""
    total = halves.sum(axis=-1)
    half = np.full(total.shape, 0.5)
    return np.asarray(np.divide(halves[..., 0], total, out=half, where=total > 0.0))


def _in_tree(side: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of the blocks of a level in the order of the tree, (side**2,)."""
    row = column = np.zeros(1, np.int64)
    for _ in range(side.bit_length() - 1):
        row = (2 * row[:, None] + (0, 0, 1, 1)).ravel()
        column = (2 * column[:, None] + (0, 1, 0, 1)).ravel()
    return row, column


def is_even(radiance: NDArray[np.float32]) -> bool:
    """Return whether no part of a map is much brighter than its mean."""
    luminance, weight = radiance @ LUMINANCE, _weights(len(radiance) - 1)
    return bool(luminance.max() <= EVEN * (luminance * weight).sum())


def _weights(size: int) -> NDArray[np.float64]:
    """Return the share of the sphere that each corner stands for, (size + 1, size + 1)."""
    edge = np.ones(size + 1)
    edge[[0, -1]] = 0.5  # a corner on an edge of the map occurs twice
    angle = _corners(size)[1] ** -3.0 * edge * edge[:, None]
    return np.asarray(angle / angle.sum())


def _light_on_ground(radiance: NDArray[np.float32]) -> float:
    """Return the radiance of a white surface that faces up under a map: sum of its channels."""
    size = len(radiance) - 1
    share = _weights(size) * np.maximum(_corners(size)[0], 0.0)
    return float((radiance.sum(axis=-1) * share).sum() * 4.0)


def side_of(image: NDArray[np.float32]) -> int:
    """Return the cells per side: a power of two, about as many cells as the image has pixels."""
    height, width = image.shape[:2]
    if width == 1:
        return 16 if height == 1 else 256
    size = 64
    while size < MAX_SIDE and size * size < height * width:
        size *= 2
    return size


def reduced(image: NDArray[np.float32], height: int) -> NDArray[np.float32]:
    """Return an equirectangular image with fewer rows: means over solid angle."""
    rows, columns = image.shape[:2]
    width = max(1, round(columns * height / rows))
    band = -np.cos(np.pi * np.arange(rows + 1) / rows)
    edges = -np.cos(np.pi * np.arange(height + 1) / height)
    place = np.arange(width + 1) * (columns / width)
    whole = np.minimum(place.astype(np.int64), columns - 1)
    part = (place - whole)[:, None]
    smaller = np.empty((height, width, image.shape[2]), np.float32)
    for y in range(height):
        first, last = y * rows // height, -(-(y + 1) * rows // height)
        share = np.diff(np.clip(band[first : last + 1], edges[y], edges[y + 1]))
        row = np.tensordot(share / share.sum(), image[first:last], 1)
        before = np.concatenate([np.zeros_like(row[:1]), np.cumsum(row, axis=0)])
        smaller[y] = np.diff(before[whole] + part * row[whole], axis=0) * (width / columns)
    return smaller


def octahedral(image: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """Return the octahedral map of an equirectangular image.

    E. Praun, H. Hoppe, "Spherical Parametrization and Remeshing", ACM TOG 22(3), 2003. An image
    with more pixels than the map has cells is reduced before, so that samples miss no bright one.

    Args:
        image: linear RGB, float32 (h, w, 3); row 0 is the zenith.
        size: cells of a side.

    Returns:
        linear RGB at the corners of the cells, float32 (size + 1, size + 1, 3).
    """
    if image.shape[0] * image.shape[1] > size**2:
        image = reduced(image, min(len(image), isqrt(size**2 // 2)))
    radiance = np.empty((size + 1, size + 1, 3), np.float32)
    for rows in _blocks(size + 1):
        mean = np.zeros((rows.stop - rows.start, size + 1, 3))
        for row in range(PER_CELL):
            for column in range(PER_CELL):
                across, down = ((part + 0.5) / PER_CELL - 0.5 for part in (column, row))
                mean += look_up(image, _directions(size, rows, across, down)[0])
        radiance[rows] = mean / PER_CELL**2
    return radiance


def _blocks(count: int) -> Iterator[slice]:
    """Yield rows of a map in blocks, which bounds the memory."""
    for start in range(0, count, BLOCK_ROWS):
        yield slice(start, min(start + BLOCK_ROWS, count))


def _corners(size: int) -> tuple[Any, Any]:
    """Return height and distance (see `directions`) of all corners, (size + 1, size + 1)."""
    height, distance = np.empty((2, size + 1, size + 1))
    for rows in _blocks(size + 1):
        direction, distance[rows] = _directions(size, rows)
        height[rows] = direction[..., 2]
    return height, distance


def _directions(size: int, rows: slice, across: float = 0.0, down: float = 0.0) -> tuple[Any, Any]:
    """Return `directions` for one point beside each corner of some rows; offsets in cells."""
    u = (np.arange(size + 1) + across) / size
    return directions(*np.meshgrid(u, (np.arange(rows.start, rows.stop) + down) / size))


def directions(u: NDArray[np.float64], v: NDArray[np.float64]) -> tuple[Any, Any]:
    """Return the directions (..., 3), z up, of points of the map, and the distances of the
    octahedron's points from its centre.

    Points beyond an edge lie on the other half of that edge, where the map is joined to itself.
    """
    x, y = 2.0 * u - 1.0, 2.0 * v - 1.0
    for _ in range(2):  # beyond both edges in turn
        beyond = np.abs(x) > 1.0
        x, y = np.where(beyond, np.copysign(2.0, x) - x, x), np.where(beyond, -y, y)
        x, y = y, x
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
