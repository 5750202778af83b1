"""What a generator is, and the arrays that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raytracer.memory import require_room

# Spheres in one block of a pointwise generator: 2^18 spheres are a few MB, which stay in cache.
BLOCK = 1 << 18
# Bytes of a sphere: centre and radius as float32, colour as uint8.
SPHERE = 19
# What the allocator keeps of arrays that are given back, at most; larger ones it returns at once.
KEPT = 24 << 20


@dataclass(frozen=True)
class Part:
    """Spheres that share a material.

    name: the part's name, also that of its material in the example scene
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
        """The number of spheres."""
        return len(self.radii)


@dataclass(frozen=True)
class Generator:
    """A named generator; it has `build` (all at once) or `block` (any range alone).

    summary, count, seed: what it makes, and its own count and seed
    build: count and seed to the parts of a scene
    block: begin, end, count and seed to spheres begin to end, a function of the index alone
    symbols: count and seed to chemical elements, in the order of the spheres, for .xyz files
    extent: the size for a count, where it grows with the count (atoms keep theirs)
    memory: bytes per sphere at the peak of `build` or `block`: tracemalloc's figure and 2%
    made: how many spheres `build` makes for a count, where that differs by more than 1%
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
        """Bytes of memory to make the spheres, all in memory (whole) or block after block."""
        if self.build is not None:
            arrays = self.memory * self.made(count)
            return arrays + min(arrays // 4, KEPT)
        # A block is given back when the next one is complete.
        blocks = min(count, BLOCK) * self.memory + min(max(count - BLOCK, 0), BLOCK) * SPHERE
        return blocks + (SPHERE * count if whole else 0)

    def require_room(self, count: int, whole: bool = True) -> None:
        """Raise MemoryNeedError if spheres will not fit; arguments as for `peak`."""
        remedy = "use fewer, or a machine with more memory"
        require_room(f"{count:,} spheres", self.peak(count, whole), "to be made", remedy)

    def parts(self, count: int, seed: int) -> list[Part]:
        """All spheres in memory, a list of parts with different materials.

        Raises MemoryNeedError if they will not fit.
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
        """The spheres of a pointwise generator, BLOCK of them at a time."""
        if self.block is None:
            raise TypeError("this generator makes all of its spheres at once")
        for begin in range(0, count, BLOCK):
            yield self.block(begin, min(begin + BLOCK, count), count, seed)


def part(name: str, centers: NDArray[np.float64], radii: ArrayLike, colors: ArrayLike) -> Part:
    """Cast to the types of a Part; one radius or one colour serves all spheres."""
    radius, color = np.empty(len(centers), np.float32), np.empty(centers.shape, np.uint8)
    radius[:] = np.asarray(radii, np.float64)
    color[:] = np.asarray(colors, np.uint8)
    return Part(name, centers.astype(np.float32), radius, color)


def join(parts: list[Part]) -> Part:
    """All parts in one."""
    return Part(
        parts[0].name,
        np.concatenate([p.centers for p in parts]),
        np.concatenate([p.radii for p in parts]),
        np.concatenate([p.colors for p in parts]),
    )
