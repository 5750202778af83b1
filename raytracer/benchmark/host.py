"""Timings of the NumPy implementations of operations, on the CPU."""

from __future__ import annotations

import time
from typing import Any

from raytracer.benchmark import record, timing
from raytracer.benchmark.operations.base import Axes, Op, relative_error
from raytracer.benchmark.record import Row
from raytracer.errors import UserError
from raytracer.memory import size_text
from raytracer.resources import available_memory


def fitting(op: Op, axes: dict[str, int], dtype: str) -> None:
    """Raise UserError if the arrays do not fit into the free memory of the host."""
    need, free = op.work(axes, dtype).bytes, available_memory()
    if free is not None and 2 * need > free:
        sizes = " ".join(f"{name}={size}" for name, size in axes.items())
        raise UserError(
            f"{op.name} at {sizes} needs about {size_text(2 * need)} of memory and "
            f"{size_text(free)} are free: give smaller sizes with --axis"
        )


def reduced(op: Op, axes: dict[str, int], dtype: str, bytes_at_most: float, flop: float) -> Any:
    """Halve the largest axes until bytes and FLOP of a call are below the limits."""
    axes = dict(axes)
    while True:
        work, largest = op.work(axes, dtype), max(axes.values())
        if (work.bytes <= bytes_at_most and work.flop <= flop) or largest < 2:
            return axes
        axes = {name: size // 2 if size == largest else size for name, size in axes.items()}


def row(op: Op, axes: Axes, dtype: str, distribution: str, min_time: float, seed: int) -> Row:
    """Check and time the NumPy implementation."""
    row = record.row("numpy", "NumPy on the CPU", "cpu")
    arrays = op.values(axes, dtype, distribution, seed)
    outputs = op.compute(arrays)
    for name, expected in op.reference(arrays).items():
        error = relative_error(outputs[name], expected)
        if not error <= op.tolerance(axes, dtype):
            row["status"], row["reason"] = "wrong", f"{name} is off by {error:.2g}"
            return row
    samples: list[float] = []
    begin = time.perf_counter()
    while not timing.settled(samples, time.perf_counter() - begin, min_time):
        start = time.perf_counter()
        op.compute(arrays)
        samples.append(time.perf_counter() - start)
    row["time"], row["samples"] = timing.statistics(samples), samples
    return row
