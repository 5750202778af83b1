"""What a generator is, and the arrays that it gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from raytracer.memory import require_room

# Spheres in one block of a pointwise generator: 2^18 spheres are a few MB, which stay in cache.
BLOCK = 1 << 18
# Bytes of a sphere: centre and radius as float32, colour as uint8.
SPHERE = 19
# What the allocator keeps of arrays that are given back, at most; larger ones it returns at once.
KEPT = 24 << 20
FEWER = "use fewer, or a machine with more memory"


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


# Spheres begin to end of `count` in all, from the seed: a function of the index alone.
Block = Callable[[int, int, int, int], Part]
Build = Callable[[int, int], list[Part]]
Symbols = Callable[[int, int], list[str]]


@dataclass(frozen=True)
class Generator:
    """A named generator; it has `build` (all at once) or `block` (any range alone)."""

    summary: str
    count: int
    seed: int = 1
    build: Build | None = None
    block: Block | None = None
    # Chemical elements, in the order of the spheres, for .xyz files.
    symbols: Symbols | None = None
    # The size for a count, where it grows with the count (atoms keep theirs).
    extent: Callable[[int], float] | None = None
    # Bytes per sphere at the peak of `build` or `block`: tracemalloc's figure and 2%.
    memory: int = 0
    # How many spheres `build` makes for a count, where that differs by more than 1%.
    made: Callable[[int], int] | None = None

    def peak(self, count: int, whole: bool = True) -> int:
        """Bytes of memory that it takes to make the spheres.

        whole: all in memory, not block after block.
        """
        if self.build is not None:
            arrays = self.memory * (self.made(count) if self.made else count)
            return arrays + min(arrays // 4, KEPT)
        # A block is given back when the next one is complete.
        blocks = min(count, BLOCK) * self.memory + min(max(count - BLOCK, 0), BLOCK) * SPHERE
        return blocks + (SPHERE * count if whole else 0)

    def require_room(self, count: int, whole: bool = True) -> None:
        """Refuse more spheres than memory has room for; arguments as for `peak`.

        Raises MemoryNeedError.
        """
        require_room(f"{count:,} spheres", self.peak(count, whole), "to be made", FEWER)

    def parts(self, count: int, seed: int) -> list[Part]:
        """All spheres in memory, a list of parts with different materials.

        Raises MemoryNeedError if they will not fit.
        """
        self.require_room(count)
        if self.build is not None:
            return self.build(count, seed)
        return [_gather(self.blocks(count, seed), count)]

    def blocks(self, count: int, seed: int) -> Iterator[Part]:
        """The spheres of a pointwise generator, BLOCK of them at a time."""
        if self.block is None:
            raise TypeError("this generator makes all of its spheres at once")
        for begin in range(0, count, BLOCK):
            yield self.block(begin, min(begin + BLOCK, count), count, seed)


def part(name: str, centers: NDArray[np.float64], radii: object, colors: object) -> Part:
    """Cast to the types of a Part; one radius or one colour serves all spheres."""
    n = len(centers)
    radius = np.empty(n, np.float32)
    radius[:] = np.asarray(radii, np.float64)
    color = np.empty((n, 3), np.uint8)
    color[:] = np.asarray(colors, np.uint8)
    return Part(name, centers.astype(np.float32), radius, color)


def join(parts: list[Part], name: str = "") -> Part:
    """All parts in one."""
    return Part(
        name or parts[0].name,
        np.concatenate([p.centers for p in parts]),
        np.concatenate([p.radii for p in parts]),
        np.concatenate([p.colors for p in parts]),
    )


def _gather(blocks: Iterator[Part], count: int) -> Part:
    """The blocks in one part, without holding them twice."""
    whole = Part(
        "default",
        np.empty((count, 3), np.float32),
        np.empty(count, np.float32),
        np.empty((count, 3), np.uint8),
    )
    begin = 0
    for block in blocks:
        end = begin + block.count
        whole.centers[begin:end] = block.centers
        whole.radii[begin:end] = block.radii
        whole.colors[begin:end] = block.colors
        begin = end
    return whole
