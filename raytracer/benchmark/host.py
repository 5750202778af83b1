"""Timings of the NumPy implementations of operations, on the CPU."""

from __future__ import annotations

from raytracer.benchmark import record, timing
from raytracer.benchmark.operations.base import Axes, Op, relative_error
from raytracer.benchmark.record import Row
from raytracer.errors import UserError
from raytracer.memory import size_text
from raytracer.resources import available_memory

MAX_BYTES, MAX_FLOP = 256 << 20, 2e9  # of the default sizes on a CPU


def require_memory(op: Op, axes: Axes, dtype: str) -> None:
    """Raise UserError if the arrays do not fit into the free memory of the host."""
    need, free = op.work(axes, dtype).bytes, available_memory()
    if free is not None and 2 * need > free:
        sizes = " ".join(f"{name}={size}" for name, size in axes.items())
        raise UserError(
            f"{op.name} at {sizes} needs about {size_text(2 * need)} of memory and "
            f"{size_text(free)} are free: give smaller sizes with --axis"
        )


def reduced(op: Op, axes: Axes, dtype: str) -> dict[str, int]:
    """Halve the largest axes until bytes and FLOP of a call are below the limits."""
    axes = dict(axes)
    while True:
        work, largest = op.work(axes, dtype), max(axes.values())
        if (work.bytes <= MAX_BYTES and work.flop <= MAX_FLOP) or largest < 2:
            return axes
        axes = {name: size // 2 if size == largest else size for name, size in axes.items()}


def row(op: Op, axes: Axes, dtype: str, distribution: str, min_time: float) -> Row:
    """Check and time the NumPy implementation."""
    label, title = "numpy", "NumPy on the CPU"
    arrays = op.values(axes, dtype, distribution, seed=1)
    outputs = op.compute(arrays)
    for name, expected in op.reference(arrays).items():
        error = relative_error(outputs[name], expected)
        if not error <= op.tolerance(axes, dtype):
            return record.row(label, title, "cpu", "wrong", f"{name} is off by {error:.2g}")
    return timing.row(label, timing.clocked(lambda: op.compute(arrays), min_time), title, "cpu")
