"""Parts of a generated scene, random numbers and colours (sRGB).

Random numbers are those of pcg3d, which maps three 32-bit words to three by multiplication,
addition and shifts modulo 2^32: M. Jarzynski and M. Olano, "Hash Functions for GPU Rendering", J.
Computer Graphics Techniques 9(3), 2020. The words are (index of the sphere, stream, seed): numbers
do not depend on the order of calls, so any block of a scene can be made alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

Words = NDArray[np.uint32]
Reals = NDArray[np.float64]

# Bytes per sphere: centre and radius as float32, colour as uint8.
SPHERE = 19


@dataclass(frozen=True)
class Part:
    """Spheres that share a material.

    name: name of the part, and of its material in the example scene
    centers: (N, 3) float32, scene units
    radii: (N,) float32, scene units
    colors: (N, 3) uint8, sRGB
    """

    name: str
    centers: NDArray[np.float32]
    radii: NDArray[np.float32]
    colors: NDArray[np.uint8]


def part(name: str, centers: NDArray[np.float64], radii: ArrayLike, colors: ArrayLike) -> Part:
    """Make a Part from arrays of any type; one radius or colour may serve all spheres."""
    radius, color = np.empty(len(centers), np.float32), np.empty(centers.shape, np.uint8)
    radius[:] = np.asarray(radii, np.float64)
    color[:] = np.asarray(colors, np.uint8)
    return Part(name, centers.astype(np.float32), radius, color)


def join(parts: list[Part]) -> Part:
    if len(parts) == 1:
        return parts[0]
    centers, radii, colors = zip(*((p.centers, p.radii, p.colors) for p in parts), strict=True)
    return Part(parts[0].name, *map(np.concatenate, (centers, radii, colors)))


# Linear congruential step of Numerical Recipes (Knuth), the start of pcg3d.
MULTIPLIER = 1664525
INCREMENT = 1013904223
# Half a step keeps uniform numbers off 0 and 1, where logarithms diverge.
STEP = 2.0**-32


def pcg3d(x: ArrayLike, y: ArrayLike, z: ArrayLike) -> tuple[Words, Words, Words]:
    """Hash three words into three.

    x, y, z: uint32 arrays (or integers below 2^32) that broadcast together
    returns: three uint32 arrays of the common shape
    """
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


def uniforms(index: ArrayLike, stream: int, seed: int) -> tuple[Reals, Reals, Reals]:
    """Return three independent numbers per index, strictly between 0 and 1.

    index: uint32 (N,); stream: distinguishes uses; seed: below 2^32
    returns: three float64 arrays (N,)
    """
    a, b, c = ((w.astype(np.float64) + 0.5) * STEP for w in pcg3d(index, stream, seed))
    return a, b, c


def normals(index: ArrayLike, stream: int, seed: int) -> tuple[Reals, Reals]:
    """Return two independent standard normal numbers per index (Box-Muller), float64 (N,)."""
    u, v, _ = uniforms(index, stream, seed)
    length = np.sqrt(-2.0 * np.log(u))
    angle = 2.0 * np.pi * v
    return length * np.cos(angle), length * np.sin(angle)


def directions(u: Reals, v: Reals) -> Reals:
    """Return uniform unit vectors, float64 (N, 3), from two uniform numbers (N,)."""
    up = 2.0 * u - 1.0
    level = np.sqrt(1.0 - up * up)
    angle = 2.0 * np.pi * v
    return np.stack([level * np.cos(angle), up, level * np.sin(angle)], axis=1)


def indices(begin: int, end: int) -> Words:
    return np.arange(begin, end, dtype=np.uint32)


# Black-body colours by temperature in kelvin: the usual chromaticities of stars, with both ends
# desaturated. Interpolation is linear in log temperature.
STARS = (
    (2600.0, "#ffab73"), (3600.0, "#ffc596"), (4800.0, "#ffdcbc"), (5900.0, "#fff3e6"),
    (7300.0, "#f4f3ff"), (10000.0, "#cfdcff"), (20000.0, "#a4c0ff"), (40000.0, "#8fb2ff"),
)  # fmt: skip


def rgb(text: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(text[1:])
    return red, green, blue


def ramp(value: ArrayLike, stops: Sequence[tuple[float, str]]) -> NDArray[np.uint8]:
    """Return colours along a piecewise linear ramp.

    value: (N,); stops: (position, "#rrggbb") in ascending order; values beyond the ends are clipped
    returns: (N, 3) uint8
    """
    at = np.asarray(value, np.float64)
    positions = [p for p, _ in stops]
    channels = np.array([rgb(c) for _, c in stops], np.float64)
    out = np.empty((*at.shape, 3), np.uint8)
    for i in range(3):
        out[..., i] = np.interp(at, positions, channels[:, i]) + 0.5
    return out


def star_color(kelvin: ArrayLike) -> NDArray[np.uint8]:
    """Return the colours of stars, (N, 3) uint8, for temperatures (N,)."""
    return ramp(np.log(kelvin), [(float(np.log(t)), c) for t, c in STARS])
