"""Options of a run of the bench, and their validation."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from raytracer import variants
from raytracer.benchmark.operations.base import DISTRIBUTIONS, Op
from raytracer.errors import UserError, suggestion

MODES = ("cold", "hot", "sustained")


@dataclass(frozen=True)
class BenchOptions:
    """Options of a run, common to all benchmarks."""

    variant: tuple[str, ...] = ()
    axes: Mapping[str, list[int]] | None = None
    sizes: tuple[int, ...] = ()
    dtype: str | None = None
    distribution: str = "normal"
    mode: str = "cold"
    min_time: float = 0.5
    peers: bool = True
    user_kernel: Path | None = None
    ncu: bool = False
    scenes: tuple[str, ...] = ()


def check(options: BenchOptions) -> None:
    """Validate options that do not depend on the benchmark; raise UserError for invalid ones."""
    if options.mode not in MODES:
        raise UserError(f"mode {options.mode!r}; {suggestion(options.mode, MODES)}")
    if options.distribution not in DISTRIBUTIONS:
        raise UserError(
            f"input {options.distribution!r}; {suggestion(options.distribution, DISTRIBUTIONS)}"
        )
    if not 0 < options.min_time <= 3600:
        raise UserError(f"min-time {options.min_time}: give seconds, more than 0, at most 3600")


def select(op: Op, words: Sequence[str]) -> list[variants.Variant]:
    """Return variants of an operation.

    Args:
        op: the operation.
        words: labels, names or numbers; all variants if empty.

    Raises:
        UserError: a variant does not exist.
    """
    try:
        available = variants.discover(op.name)
    except variants.VariantError:
        if op.name in variants.operations():
            raise
        available = []
    if not words:
        return available
    selection = []
    for word in words:
        matches = [
            v for v in available if word in (v.label, v.name, str(v.number), f"{v.number:02d}")
        ]
        if not matches:
            hint = suggestion(word, [variant.label for variant in available])
            raise UserError(f"{op.name} has no variant {word!r}; {hint}")
        selection += matches
    return list(dict.fromkeys(selection))


def kernels_of(op: Op, options: BenchOptions, folder: Path) -> list[variants.Variant]:
    """Return the kernels to run, the user's kernel last.

    Args:
        op: the operation.
        options: of the run.
        folder: empty, for a copy of the user's kernel.
    """
    from raytracer.benchmark.user_kernel import adopt

    kernels = select(op, options.variant)
    return kernels + ([adopt(op, options.user_kernel, folder)] if options.user_kernel else [])


def dtype_of(op: Op, options: BenchOptions) -> str:
    """Return the data type to run; raise UserError if the operation does not support it."""
    if options.dtype is None:
        return op.dtypes[0]
    if options.dtype not in op.dtypes:
        raise UserError(
            f"{op.name} has no dtype {options.dtype!r}; {suggestion(options.dtype, op.dtypes)}"
        )
    return options.dtype


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """Create a temporary folder for the copy of a user's kernel."""
    return tempfile.TemporaryDirectory(prefix="raytracer-bench-")
