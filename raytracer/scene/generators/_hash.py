"""The integer hash behind all random numbers of the generators: pcg3d.

It maps three 32-bit words to three by multiplication, addition and shifts modulo 2^32: M. Jarzynski
and M. Olano, "Hash Functions for GPU Rendering", J. Computer Graphics Techniques 9(3), 2020. The
words are (index of the sphere, stream, seed): numbers do not depend on the order of calls, so any
block of a scene can be made alone.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Words = NDArray[np.uint32]
Reals = NDArray[np.float64]

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
