"""Parts of a generated scene, random numbers and colours (sRGB).

Random numbers are those of pcg3d, which maps three 32-bit words to three by multiplication,
addition and shifts modulo 2^32: M. Jarzynski and M. Olano, "Hash Functions for GPU Rendering", J.
Computer Graphics Techniques 9(3), 2020. The words are (index of the sphere, stream, seed): numbers
do not depend on the order of calls, so any block of a scene can be made alone.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

Words = NDArray[np.uint32]
Reals = NDArray[np.float64]

# Bytes per sphere: centre and radius as float32, colour as uint8.
SPHERE = 19


class GeneratedPart(NamedTuple):
    """Spheres that share a material, whose name it has in the example scene."""

    name: str
    centers: NDArray[np.float32]  # (N, 3), scene units
    radii: NDArray[np.float32]  # (N,)
    colors: NDArray[np.uint8]  # (N, 3), sRGB


def make_part(
    name: str, centers: NDArray[np.float64], radii: ArrayLike, colors: ArrayLike
) -> GeneratedPart:
    """Make a Part from arrays of any type; one radius or colour may serve all spheres."""
    radius, color = np.empty(len(centers), np.float32), np.empty(centers.shape, np.uint8)
    radius[:] = np.asarray(radii, np.float64)
    color[:] = np.asarray(colors, np.uint8)
    return GeneratedPart(name, centers.astype(np.float32), radius, color)


def join_parts(parts: list[GeneratedPart]) -> GeneratedPart:
    name, *_ = parts[0]
    arrays = zip(*(each[1:] for each in parts), strict=True)
    return parts[0] if len(parts) == 1 else GeneratedPart(name, *map(np.concatenate, arrays))


# Linear congruential step of Numerical Recipes (Knuth), the start of pcg3d.
MULTIPLIER = 1664525
INCREMENT = 1013904223
# Half a step keeps uniform numbers off 0 and 1, where logarithms diverge.
STEP = 2.0**-32


def hash_pcg3d(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> tuple[Words, Words, Words]:
    """Hash three words, uint32 arrays (or integers below 2^32) that broadcast together, into three
    of the common shape."""
    a, b, c = np.broadcast_arrays(*(np.atleast_1d(np.asarray(v, np.uint32)) for v in (x, y, z)))
    multiplier, increment = np.uint32(MULTIPLIER), np.uint32(INCREMENT)
    a, b, c = (v * multiplier + increment for v in (a, b, c))
    shift = np.uint32(16)
    for last in (False, True):
        # In sequence: each line uses the result of the line before.
        a += b * c
        b += c * a
        c += a * b
        if not last:
            a ^= a >> shift
            b ^= b >> shift
            c ^= c >> shift
    return a, b, c


def draw_uniforms(index: ArrayLike, stream: int, seed: int) -> tuple[Reals, Reals, Reals]:
    """Return three independent numbers per index, uint32 (N,), strictly between 0 and 1, float64
    (N,); stream: distinguishes uses; seed: below 2^32."""
    a, b, c = ((w.astype(np.float64) + 0.5) * STEP for w in hash_pcg3d(index, stream, seed))
    return a, b, c


def draw_normals(index: ArrayLike, stream: int, seed: int) -> tuple[Reals, Reals]:
    """Return two independent standard normal numbers per index (Box-Muller), float64 (N,)."""
    u, v, _ = draw_uniforms(index, stream, seed)
    length = np.sqrt(-2.0 * np.log(u))
    angle = 2.0 * np.pi * v
    return length * np.cos(angle), length * np.sin(angle)


def parse_rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(text[1:])
    return red, green, blue


def interpolate_colors(values: Reals, stops: Sequence[tuple[float, str]]) -> NDArray[np.uint8]:
    """Return colours, (N, 3) uint8, along a piecewise linear ramp at values (N,); stops: ascending
    positions and "#rrggbb"; values beyond the ends are clipped."""
    positions, colors = zip(*stops, strict=True)
    channels = np.array([parse_rgb(color) for color in colors], np.float64).T
    at = [np.interp(values, positions, channel) + 0.5 for channel in channels]
    return np.stack(at, axis=-1).astype(np.uint8)
