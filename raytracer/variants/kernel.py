"""Kernels as their headers describe them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib.resources.abc import Traversable
from math import prod
from pathlib import Path

from raytracer.errors import RaytracerError
from raytracer.variants.arithmetic import ExpressionError, whole_numbers

PRODUCT = "cuda"  # folder of kernels/ with the production kernels
CAPSULES = "render_capsules"  # the production kernel of scenes with capsules
LADDERS = "ladders"  # folder of kernels/ with a folder for each operation

_ARCHITECTURE = re.compile(r"(?:sm|compute)_(\d+)([af]?)")


class VariantError(RaytracerError):
    """The file name or the header of a variant is invalid."""


@dataclass(frozen=True)
class Requirement:
    """One entry of a `needs:` line."""

    capability: int  # compute capability times ten: 80, 90, 120
    suffix: str  # "a" or "f" for features of one architecture, else ""
    and_later: bool

    def admits(self, arch: str) -> bool:
        """Whether the file can be compiled for `arch`, like "sm_90a"."""
        capability, suffix = split_architecture(arch)
        if self.and_later:
            return capability >= self.capability
        return (capability, suffix) == (self.capability, self.suffix)

    def __str__(self) -> str:
        return f"sm_{self.capability}{self.suffix}{'+' if self.and_later else ''}"


@dataclass(frozen=True)
class MapRequest:
    """A tensor map of a variant: the boxes of a matrix that the copy engine (TMA) transfers."""

    array: str  # an input or output of the operation
    rows: int  # of a box
    cols: int
    swizzle: int = 0  # bytes of a row within which 16-byte pieces are permuted: 0, 32, 64 or 128
    name: str = ""  # distinguishes two maps of one array

    @property
    def constant(self) -> str:
        """The name of the map in the kernel's constant memory."""
        return f"c_map_{self.name or self.array}"


@dataclass(frozen=True)
class Best:
    """Sizes at which a variant is the fastest (`best:`)."""

    axis: str = ""  # "": all sizes
    sizes: tuple[int, ...] = ()
    dtype: str = ""  # "": all types

    def applies(self, axes: Mapping[str, int], dtype: str) -> bool:
        return self.dtype in ("", dtype) and (not self.axis or axes.get(self.axis) in self.sizes)


@dataclass(frozen=True)
class Launch:
    """Launch configuration of a variant for one set of sizes."""

    grid: tuple[int, int, int]
    shared: int  # dynamic shared memory in bytes
    scratch: int = 0  # device memory that the steps share, in bytes
    block: tuple[int, int, int] | None = None  # if it depends on the sizes


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A production kernel: `kernels/cuda/NAME.cu`."""

    name: str
    title: str
    idea: str
    block: tuple[int, int, int]
    needs: tuple[Requirement, ...]
    source: str
    path: Traversable
    grid: str = ""
    shared: str = "0"
    scratch: str = "0"
    used: str = ""  # threads of a block that depend on the sizes, at most those of `block`
    flags: tuple[str, ...] = ()  # options for nvcc

    @property
    def label(self) -> str:
        """The name in records and on the command line."""
        return self.name

    @property
    def place(self) -> str:
        return f"kernels/{PRODUCT}/{self.path.name}"

    @property
    def translation_unit(self) -> Path:
        return Path(str(self.path))

    @property
    def reads_solids(self) -> bool:
        """Whether a render kernel reads records of capsules, for scenes of spheres too."""
        return self.name == CAPSULES

    @property
    def threads(self) -> int:
        return prod(self.block)

    @cached_property
    def code(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def admits(self, arch: str) -> bool:
        """Whether it can be compiled for `arch`, like "sm_80" or "sm_90a"."""
        return any(requirement.admits(arch) for requirement in self.needs)

    def launch(self, axes: Mapping[str, int], multiprocessors: int) -> Launch:
        """Evaluate grid, shared and scratch memory for sizes by name. Raises VariantError."""
        names = {**axes, "sm": multiprocessors, "block": self.threads}
        if not self.grid:
            raise VariantError(
                f"{self.place}: the header lacks a value for 'grid'; add `// grid: …`"
            )
        try:
            sizes = whole_numbers(self.grid, names)
            shared = whole_numbers(self.shared, names)
            scratch = whole_numbers(self.scratch, names)
            used = whole_numbers(self.used, names) if self.used else ()
        except ExpressionError as error:
            raise VariantError(f"{self.place}: {error}") from error
        memory = (*shared, *scratch)
        if len(sizes) > 3 or len(memory) != 2 or min(*sizes, *memory) < 0:
            raise VariantError(
                f"{self.place}: grid {sizes} with shared {shared} and scratch {scratch} "
                "is not a valid launch"
            )
        if used and not (len(used) == 1 and 1 <= used[0] <= self.threads):
            raise VariantError(f"{self.place}: threads {used} of a block of {self.threads}")
        x, y, z = (max(size, 1) for size in (*sizes, 1, 1)[:3])
        return Launch((x, y, z), *memory, block=(used[0], 1, 1) if used else None)


@dataclass(frozen=True, kw_only=True)
class Variant(Kernel):
    """One implementation of an operation: `kernels/ladders/OP/NN_name.cu`."""

    op: str
    number: int
    steps: str = "1"
    constant: str = ""
    alignment: str = ""  # "any": arrays may begin anywhere
    maps: tuple[MapRequest, ...] = ()
    sizes: str = ""  # "any": raytracer.benchmark.products chooses compilation and grid
    best: tuple[Best, ...] = ()
    dtypes: str = ""
    layout: str = ""
    shows: str = ""
    product: Kernel | None = None  # the production kernel that it is
    folder: Path | None = None  # of the kernels among which a user's own is compiled

    @property
    def label(self) -> str:
        """Number and name as in the file name, like "05_warp_tiles"."""
        return f"{self.number:02d}_{self.name}"

    @property
    def place(self) -> str:
        return f"kernels/{LADDERS}/{Path(str(self.path)).parent.name}/{self.path.name}"

    @property
    def translation_unit(self) -> Path:
        return self.product.translation_unit if self.product else super().translation_unit

    def supports(self, dtype: str) -> bool:
        """Whether it computes with a type of the operation; by default with all of them."""
        return not self.dtypes or dtype in self.dtypes.split()

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of the entry functions, in launch order."""
        return (self.op, *(f"{self.op}_{step}" for step in range(2, int(self.steps) + 1)))


def preferred(variants: Sequence[Variant], axes: Mapping[str, int], dtype: str) -> list[Variant]:
    """Order variants: those that are the fastest ones at these sizes, then from the last on."""
    later = sorted(variants, key=lambda each: each.number, reverse=True)
    return sorted(later, key=lambda v: not any(best.applies(axes, dtype) for best in v.best))


def split_architecture(arch: str) -> tuple[int, str]:
    """Split an architecture like "sm_90a" into compute capability and suffix: (90, "a")."""
    match = _ARCHITECTURE.fullmatch(arch)
    if match is None:
        raise VariantError(f"{arch!r} is not a GPU architecture: write it like sm_80 or sm_90a")
    return int(match[1]), match[2]
