"""Kernels as their headers describe them."""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from importlib.resources.abc import Traversable
from pathlib import Path

from raytracer.errors import RaytracerError, suggestion

PRODUCT = "cuda"  # folder of kernels/ with the production kernels
LADDERS = "ladders"  # folder of kernels/ with a folder for each operation

_FUNCTIONS = {"ceil": math.ceil, "floor": math.floor, "max": max, "min": min}
_ARCHITECTURE = re.compile(r"(?:sm|compute)_(\d+)([af]?)")


class VariantError(RaytracerError):
    """The file name or the header of a variant is invalid."""


@dataclass(frozen=True)
class MapRequest:
    """A tensor map of a variant: the boxes of a matrix that the copy engine (TMA) transfers."""

    array: str  # an input or output of the operation
    rows: int  # of a box
    cols: int
    swizzle: int = 0  # bytes of a row within which 16-byte pieces are permuted: 0, 32, 64 or 128


@dataclass(frozen=True)
class Best:
    """Sizes at which a variant is the fastest (`best:`)."""

    axis: str
    sizes: tuple[int, ...]
    dtype: str = ""  # "": all types

    def applies(self, axes: Mapping[str, int], dtype: str) -> bool:
        return self.dtype in ("", dtype) and axes.get(self.axis) in self.sizes


@dataclass(frozen=True)
class Launch:
    """Launch configuration of a variant for one set of sizes."""

    grid: tuple[int, int, int]
    shared: int  # dynamic shared memory in bytes
    block: tuple[int, int, int]


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A production kernel: `kernels/cuda/NAME.cu`."""

    name: str
    title: str
    idea: str
    block: tuple[int, int, int]
    needs: tuple[str, ...]  # architectures: "sm_90a", or "sm_80+" for that and all later ones
    source: str
    path: Traversable
    grid: str = ""
    shared: str = "0"
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
    def threads(self) -> int:
        return math.prod(self.block)

    @cached_property
    def code(self) -> str:
        return self.path.read_text(encoding="utf-8")

    def admits(self, arch: str) -> bool:
        """Whether it can be compiled for `arch`, like "sm_80" or "sm_90a"."""
        own = split_architecture(arch)
        pairs = [(need, split_architecture(need.removesuffix("+"))) for need in self.needs]
        return any(p == own or (need.endswith("+") and p[0] <= own[0]) for need, p in pairs)

    def launch(self, axes: Mapping[str, int], multiprocessors: int) -> Launch:
        """Evaluate grid, block and shared memory for sizes by name. Raises VariantError."""
        names = {**axes, "sm": multiprocessors, "block": self.threads}
        if not self.grid:
            raise VariantError(
                f"{self.place}: the header lacks a value for 'grid'; add `// grid: …`"
            )
        try:
            texts = self.grid, self.shared, self.used or str(self.threads)
            grid, shared, used = (whole_numbers(text, names) for text in texts)
        except VariantError as error:
            raise VariantError(f"{self.place}: {error}") from error
        numbers = len(shared) == len(used) == 1 and len(grid) <= 3
        if not numbers or min(*grid, *shared) < 0 or not 1 <= used[0] <= self.threads:
            raise VariantError(
                f"{self.place}: grid {grid} with shared {shared} and threads {used} of a block of "
                f"{self.threads} is not a valid launch"
            )
        x, y, z = (max(size, 1) for size in (*grid, 1, 1)[:3])
        return Launch((x, y, z), shared[0], (used[0], 1, 1) if self.used else self.block)


@dataclass(frozen=True, kw_only=True)
class Variant(Kernel):
    """One implementation of an operation: `kernels/ladders/OP/NN_name.cu`."""

    op: str
    number: int
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


def whole_numbers(text: str, names: Mapping[str, int]) -> tuple[int, ...]:
    """Evaluate expressions that are separated by commas; division of sizes is exact.

    text: like "ceil(n / 128), ceil(m / 128)", of + - * / //, ceil, floor, min and max. Raises
    VariantError for other text, and where a value is not a whole number.
    """
    if not re.fullmatch(r"[\w\s+\-*/(),]+", text):
        raise VariantError(f"{text!r} is not understood here")
    for name in re.findall(r"[^\W\d]\w*", text):
        if name not in (*names, *_FUNCTIONS):
            raise VariantError(f"{name!r} has no value; {suggestion(name, sorted(names))}")
    known = _FUNCTIONS | {name: Fraction(value) for name, value in names.items()}
    try:
        values = [Fraction(v) for v in eval(f"({text},)", {"__builtins__": {}}, known)]
    except ZeroDivisionError:
        raise VariantError(f"{text!r} divides by zero") from None
    except (SyntaxError, TypeError):
        raise VariantError(f"{text!r} is not understood here") from None
    for value in values:
        if value.denominator != 1:
            raise VariantError(f"{text!r} gives {value}, not a whole number: use ceil( )")
    return tuple(map(int, values))


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
