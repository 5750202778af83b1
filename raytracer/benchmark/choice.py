"""What a run of the bench was asked for, and whether it makes sense."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from raytracer import variants
from raytracer.benchmark.operations.base import DISTRIBUTIONS, Op
from raytracer.errors import UserError, suggestion

if TYPE_CHECKING:
    from raytracer.benchmark.gpu import Source

MODES = ("cold", "hot", "sustained")


@dataclass(frozen=True)
class Choice:
    """What a run was asked for, the same for all operations."""

    variant: tuple[str, ...] = ()
    axes: Mapping[str, list[int]] | None = None
    sizes: tuple[int, ...] = ()
    dtype: str | None = None
    distribution: str = "normal"
    mode: str = "cold"
    min_time: float = 0.5
    peers: bool = True
    mine: Path | None = None
    ncu: bool = False
    scenes: tuple[str, ...] = ()


def check(choice: Choice) -> None:
    """Raise UserError for what makes no sense, whatever is timed."""
    if choice.mode not in MODES:
        raise UserError(f"mode {choice.mode!r}; {suggestion(choice.mode, MODES)}")
    if choice.distribution not in DISTRIBUTIONS:
        raise UserError(
            f"input {choice.distribution!r}; {suggestion(choice.distribution, DISTRIBUTIONS)}"
        )
    if not 0 < choice.min_time <= 3600:
        raise UserError(f"min-time {choice.min_time}: give seconds, more than 0, at most 3600")


def select(op: Op, wanted: Sequence[str]) -> list[variants.Variant]:
    """The variants of an operation by label, name or number; all if none is wanted.

    Raises UserError for one that does not exist.
    """
    try:
        known = variants.discover(op.name)
    except variants.VariantError:
        if op.name in variants.operations():
            raise
        known = []
    if not wanted:
        return known
    found = []
    for word in wanted:
        same = [v for v in known if word in (v.label, v.name, str(v.number), f"{v.number:02d}")]
        if not same:
            hint = suggestion(word, [variant.label for variant in known])
            raise UserError(f"{op.name} has no variant {word!r}; {hint}")
        found += same
    return list(dict.fromkeys(found))


def sources(op: Op, choice: Choice, folder: Path) -> list[Source]:
    """The variants to run, the user's own last. folder: for a copy of the user's file."""
    from raytracer.benchmark.gpu import Source
    from raytracer.benchmark.with_file import adopt

    found = [Source(variant) for variant in select(op, choice.variant)]
    if choice.mine is not None:
        found.append(Source(adopt(op, choice.mine, folder), folder, mine=True))
    return found


def dtype_of(op: Op, choice: Choice) -> str:
    """The type to run; raises UserError if the operation has it not."""
    if choice.dtype is None:
        return op.dtypes[0]
    if choice.dtype not in op.dtypes:
        raise UserError(
            f"{op.name} has no dtype {choice.dtype!r}; {suggestion(choice.dtype, op.dtypes)}"
        )
    return choice.dtype


def temporary_folder() -> tempfile.TemporaryDirectory[str]:
    """A folder for the copy of a user's kernel."""
    return tempfile.TemporaryDirectory(prefix="raytracer-bench-")
