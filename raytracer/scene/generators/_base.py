"""The interface of a generator, and the arrays that it returns."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raytracer.memory import require_room

# Spheres per block of a pointwise generator: a few MB, which stay in cache.
BLOCK = 1 << 18
# Bytes per sphere: centre and radius as float32, colour as uint8.
SPHERE = 19
# Most bytes of freed arrays that the allocator keeps; it returns larger arrays at once.
MAX_KEPT = 24 << 20


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

    @property
    def count(self) -> int:
        return len(self.radii)


@dataclass(frozen=True)
class Generator:
    """A named generator; it has `build` (all at once) or `block` (any range alone).

    summary: what it makes
    count, seed: default values
    build: count and seed to the parts of a scene
    block: begin, end, count and seed to spheres begin to end, a function of the index alone
    symbols: count and seed to chemical elements, in the order of the spheres, for .xyz files
    extent: the size for a count, if it grows with the count (atoms keep their size)
    memory: bytes per sphere at the peak of `build` or `block`: measured by tracemalloc, plus 2%
    made: number of spheres that `build` makes for a count, if it differs by more than 1%
    """

    summary: str
    count: int
    seed: int = 1
    build: Callable[[int, int], list[Part]] | None = None
    block: Callable[[int, int, int, int], Part] | None = None
    symbols: Callable[[int, int], list[str]] | None = None
    extent: Callable[[int], float] | None = None
    memory: int = 0
    made: Callable[[int], int] = lambda count: count

    def peak(self, count: int, whole: bool = True) -> int:
        """Return the bytes of memory to make the spheres, all at once (whole) or block by block."""
        if self.build is not None:
            arrays = self.memory * self.made(count)
            return arrays + min(arrays // 4, MAX_KEPT)
        # A block is freed once the next one is complete.
        blocks = min(count, BLOCK) * self.memory + min(max(count - BLOCK, 0), BLOCK) * SPHERE
        return blocks + (SPHERE * count if whole else 0)

    def require_room(self, count: int, whole: bool = True) -> None:
        """Raise MemoryNeedError if the spheres do not fit; arguments as for `peak`."""
        remedy = "use fewer spheres, or a machine with more memory"
        require_room(f"{count:,} spheres", self.peak(count, whole), "to be made", remedy)

    def parts(self, count: int, seed: int) -> list[Part]:
        """Return all spheres as parts with different materials.

        Raises MemoryNeedError if they do not fit into memory.
        """
        self.require_room(count)
        if self.build is not None:
            return self.build(count, seed)
        whole = Part(
            "default",
            np.empty((count, 3), np.float32),
            np.empty(count, np.float32),
            np.empty((count, 3), np.uint8),
        )
        begin = 0
        for block in self.blocks(count, seed):
            rows = slice(begin, begin + block.count)
            whole.centers[rows], whole.radii[rows] = block.centers, block.radii
            whole.colors[rows] = block.colors
            begin = rows.stop
        return [whole]

    def blocks(self, count: int, seed: int) -> Iterator[Part]:
        """Yield the spheres of a pointwise generator, BLOCK at a time."""
        if self.block is None:
            raise TypeError("this generator makes all of its spheres at once")
        for begin in range(0, count, BLOCK):
            yield self.block(begin, min(begin + BLOCK, count), count, seed)


def part(name: str, centers: NDArray[np.float64], radii: ArrayLike, colors: ArrayLike) -> Part:
    """Make a Part from arrays of any type; one radius or colour may serve all spheres."""
    radius, color = np.empty(len(centers), np.float32), np.empty(centers.shape, np.uint8)
    radius[:] = np.asarray(radii, np.float64)
    color[:] = np.asarray(colors, np.uint8)
    return Part(name, centers.astype(np.float32), radius, color)


def join(parts: list[Part]) -> Part:
    return Part(
        parts[0].name,
        np.concatenate([p.centers for p in parts]),
        np.concatenate([p.radii for p in parts]),
        np.concatenate([p.colors for p in parts]),
    )
