"""The environment for the kernels: an equirectangular map with the tree to sample it."""

from math import cos, hypot, radians, sin
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import UserError
from raytracer.model.environment import Environment
from raytracer.model.views import Vector
from raytracer.system.layout import struct_dtype
from raytracer.system.memory import require_room

MAX_ROWS = 1024  # of cells, half as many as columns: 5.7 per degree, 43 MiB
EVEN = 3.0  # maximum to mean luminance of an even sky, whose light paths find by chance

MAP = 64  # bytes of memory per cell during construction; 21 afterwards
PARTS = (-0.25, 0.25)  # of a cell: where the image is sampled beside a corner, along each side
LUMINANCE = np.array([0.2126, 0.7152, 0.0722])


def pack_environment(
    environment: Environment, up: Vector
) -> tuple[NDArray[np.void], dict[str, Any]]:
    """Return the map and its tree, structured (M,), `EnvironmentTexel`, and fields of `Frame`."""
    image = environment.equirectangular()
    if not np.isfinite(image).all():
        raise UserError("environment.intensity: is too large for 32-bit numbers; give less")
    size = count_map_rows(image)
    require_room("environment", MAP * 2 * size**2, "to be sampled")
    radiance = resample_equirectangular(image, size)
    del image
    luminance, density = radiance @ LUMINANCE, sampling_density(radiance)
    fields = {
        "map_x": sky_axis(up, environment.rotation),
        "map_size": size,
        "map_shadow": int(environment.shadow),
        "map_even": int(luminance.max() <= EVEN * (luminance * _corner_weights(radiance)).sum()),
        "environment_light": _irradiance_on_ground(radiance),
    }
    corners, half = density.size, (size**2 - 1) // 3
    sky = np.zeros(corners + 2 * half + 1, struct_dtype("EnvironmentTexel"))
    sky["radiance"][:corners] = radiance.reshape(-1, 3)
    sky["density"][:corners] = density.ravel()
    fill_quads(sky[corners:].view(struct_dtype("EnvironmentQuad")), _cells(density))
    return sky, fields


def sampling_density(radiance: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the density of samples at the corners of a map, (size + 1, 2 size + 1), mean 1:
    luminance times solid angle, or that of an even map if all is black."""
    luminance = radiance @ LUMINANCE
    sine = np.sin(_angles(radiance))[:, None]
    light = luminance * sine if (luminance[1:-1] > 0.0).any() else np.zeros_like(luminance) + sine
    return np.asarray(light / _cells(light).mean(), np.float32)


def _angles(corners: NDArray[Any]) -> NDArray[np.float64]:
    return np.linspace(0.0, np.pi, len(corners))


def _cells(corners: NDArray[Any]) -> NDArray[np.float64]:
    """Return the means over the cells of what is linear between their corners, (size, 2 size)."""
    rows = corners[:-1].astype(np.float64) + corners[1:]
    return np.asarray((rows[:, :-1] + rows[:, 1:]) / 4.0)


def fill_quads(quads: NDArray[np.void], cells: NDArray[np.float64]) -> None:
    """Write the probabilities of the halves of all blocks, and of the halves of the map, into
    quads, structured (2 (size**2 - 1) / 3 + 1,); cells: integrals of the density, (size, 2 size).
    """
    size = len(cells)
    half = len(quads) // 2
    parts = cells[:, :size], cells[:, size:]
    _fill_half(quads[:half], parts[0])
    _fill_half(quads[half : 2 * half], parts[1])
    quads["top"][-1] = _first_share(np.array([part.sum() for part in parts]))


def _fill_half(quads: NDArray[np.void], cells: NDArray[np.float64]) -> None:
    """Write the quads of a square, (size, size) cells, from the smallest blocks to the square."""
    end = len(quads)
    while len(cells) > 1:
        side = len(cells) // 2
        parts = cells.reshape(side, 2, side, 2).transpose(0, 2, 1, 3)[_tree_order(side)]
        of_level = quads[end - side**2 : end]
        of_level["top"] = _first_share(parts.sum(axis=2))
        of_level["left"] = _first_share(parts)
        end -= side**2
        cells = cells.reshape(side, 2, side, 2).sum(axis=(1, 3))


def _first_share(halves: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the first of two (..., 2) by their sum, a half if both are zero."""
    total = halves.sum(axis=-1)
    half = np.full(total.shape, 0.5)
    return np.asarray(np.divide(halves[..., 0], total, out=half, where=total > 0.0))


def _tree_order(side: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return rows and columns of the blocks of a level in the order of the tree, (side**2,)."""
    row = column = np.zeros(1, np.int64)
    for _ in range(side.bit_length() - 1):
        row = (2 * row[:, None] + (0, 0, 1, 1)).ravel()
        column = (2 * column[:, None] + (0, 1, 0, 1)).ravel()
    return row, column


def _corner_weights(radiance: NDArray[np.float32]) -> NDArray[np.float64]:
    """Return the share of the sphere that each corner stands for, (size + 1, 2 size + 1)."""
    edge = np.ones(radiance.shape[1])
    edge[[0, -1]] = 0.5  # the first and the last column are one
    share = np.sin(_angles(radiance))[:, None] * edge
    return np.asarray(share / share.sum())


def _irradiance_on_ground(radiance: NDArray[np.float32]) -> float:
    """Return the radiance of a white surface that faces up under a map: sum of its channels."""
    share = _corner_weights(radiance) * np.maximum(np.cos(_angles(radiance)), 0.0)[:, None]
    return float((radiance.sum(axis=-1) * share).sum() * 4.0)


def count_map_rows(image: NDArray[np.float32]) -> int:
    """Return the rows of cells: a power of two, at least as many as those of the image."""
    height, width = image.shape[:2]
    size = 64
    while size < MAX_ROWS and (size < height or 2 * size < width):
        size *= 2
    return size


def resample_equirectangular(image: NDArray[np.float32], size: int) -> NDArray[np.float32]:
    """Return an equirectangular image (h, w, 3 or 1), row 0 the zenith, at the corners of `size`
    rows of cells: linear RGB, float32 (size + 1, 2 size + 1, 3).

    The image is linear between the middles of its pixels, without an end around the horizon, and
    constant from the outermost middles to zenith and nadir. A corner has the mean of the image over
    a cell about it. Larger images are first reduced to means over solid angle, so that no bright
    pixel falls between corners.
    """
    height, width = image.shape[:2]
    image = shrink_image(image, min(height, size), min(width, 2 * size))
    height, width = image.shape[:2]
    rows = np.zeros((size + 1, *image.shape[1:]), np.float32)
    for part in PARTS:
        rows += _interpolate(
            image, np.clip(_pixel_coordinates(size, height, part), 0.0, height - 1.0), axis=0
        )
    corners = np.zeros((size + 1, 2 * size + 1, image.shape[2]), np.float32)
    rows = np.concatenate([rows[:, -1:], rows, rows[:, :1]], axis=1)
    for part in PARTS:
        corners += _interpolate(
            rows, _pixel_coordinates(2 * size, width, part) % width + 1.0, axis=1
        )
    corners /= len(PARTS) ** 2
    return np.ascontiguousarray(np.broadcast_to(corners, (*corners.shape[:2], 3)))


def _pixel_coordinates(cells: int, pixels: int, part: float) -> NDArray[np.float64]:
    """Return the coordinates of points beside corners, 0 in the middle of the first pixel."""
    return np.asarray((np.arange(cells + 1) + part) * (pixels / cells) - 0.5, np.float64)


def _interpolate(values: NDArray[np.float32], place: NDArray[np.float64], axis: int) -> Any:
    first = np.minimum(place.astype(np.int64), values.shape[axis] - 1)
    second = np.minimum(first + 1, values.shape[axis] - 1)
    part = (place - first).astype(np.float32).reshape(-1, *(1,) * (values.ndim - 1 - axis))
    low, high = values.take(first, axis), values.take(second, axis)
    high -= low
    high *= part
    high += low
    return high


def shrink_image(image: NDArray[np.float32], height: int, width: int) -> NDArray[np.float32]:
    """Return an equirectangular image with at most its rows and columns: means over solid angle."""
    rows, columns = image.shape[:2]
    if (rows, columns) == (height, width):
        return image
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


def sky_axis(up: Vector, rotation: float) -> Vector:
    """Return the direction of the middle of the image, unit; `rotation` in degrees about `up`."""
    ahead = (1.0, 0.0, 0.0) if abs(up[0]) < 0.9 else (0.0, 0.0, 1.0)
    along = sum(a * b for a, b in zip(ahead, up, strict=True))
    x, y, z = (a - along * b for a, b in zip(ahead, up, strict=True))
    x, y, z = (v / hypot(x, y, z) for v in (x, y, z))
    side = (up[1] * z - up[2] * y, up[2] * x - up[0] * z, up[0] * y - up[1] * x)
    c, s = cos(radians(rotation)), sin(radians(rotation))
    return (c * x + s * side[0], c * y + s * side[1], c * z + s * side[2])
