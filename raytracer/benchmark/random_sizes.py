"""Sizes drawn at random, and statistics of the ratio to the fastest library over them.

Sizes are log-uniform. One half has multiples of 64, a quarter multiples of 8, and a quarter any
numbers, of which every third is beside a power of two; an eighth as many again are thin: at least
one axis has 1 to 255. Sizes of elements are grouped by their number of points instead.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raytracer.benchmark.operations.base import Op
from raytracer.errors import UserError

if TYPE_CHECKING:
    from numpy.random import Generator

    from raytracer.benchmark.record import Device, Result, SizeStatistics

Ranges = Mapping[str, tuple[int, int]]

MAX_COUNT = 10_000
SMALL = 64  # the greatest sizes on a GPU by those on a CPU
THIN = 255  # largest size of a thin axis
GROUPS = (("multiples of 64", 64, 2), ("multiples of 8", 8, 1), ("any", 1, 1))  # step, share
QUANTILES = (0.1, 0.5, 0.9)
_REQUEST = re.compile(r"random:(\d{1,9})")


@dataclass(frozen=True)
class Drawn:
    """One size: all axes, and the group that it is reported in."""

    axes: dict[str, int]
    group: str


def parse_request(text: str) -> int:
    """Return COUNT of "random:COUNT"; raise UserError for other text."""
    match = _REQUEST.fullmatch(text.strip())
    count = int(match[1]) if match else 0
    if not 1 <= count <= MAX_COUNT:
        raise UserError(f"sizes {text!r}: write random:COUNT, with a count from 1 to {MAX_COUNT}")
    return count


def draw(op: Op, count: int, seed: int, small: bool = False) -> list[Drawn]:
    """Draw sizes of an operation, reproducible by the arguments.

    Args:
        op: the operation.
        count: of sizes, without the thin ones.
        seed: of the generator.
        small: whether they are for a CPU: the greatest are a 64th of those for a GPU.

    Raises:
        UserError: the operation has no ranges for random sizes.
    """
    import numpy as np

    if not op.random_axes:
        raise UserError(f"{op.name} has no random sizes: give sizes by --axis")
    generator = np.random.default_rng([seed, *op.name.encode()])
    ranges = {
        name: (least, max(most // SMALL, min(4 * least, most)) if small else most)
        for name, (least, most) in op.random_axes.items()
    }
    if op.grouped_by:
        return [_grouped(op, ranges, generator) for _ in range(count)]
    shares = sum(share for *_, share in GROUPS)
    counts = [count * share // shares for *_, share in GROUPS]
    counts[0] += count - sum(counts)
    sizes = [
        _aligned(op, ranges, name, step, generator)
        for (name, step, _), number in zip(GROUPS, counts, strict=True)
        for _ in range(number)
    ]
    return sizes + [_thin(op, ranges, generator) for _ in range(-(-count // 8))]


def _log_uniform(least: int, most: int, generator: Generator) -> int:
    return min(most, int(math.exp(generator.uniform(math.log(least), math.log(most + 1)))))


def _aligned(op: Op, ranges: Ranges, group: str, step: int, generator: Generator) -> Drawn:
    axes = dict(op.axes)
    for name, (least, most) in ranges.items():
        size = max(_log_uniform(least, most, generator) // step * step, -(-least // step) * step)
        if step == 1 and generator.random() < 1 / 3:  # beside a power of two
            size = 2 ** round(math.log2(size)) + int(generator.choice([-1, 1]))
        axes[name] = min(max(size, least), most)
    return Drawn(axes, group)


def _thin(op: Op, ranges: Ranges, generator: Generator) -> Drawn:
    axes = _aligned(op, ranges, "thin", 1, generator).axes
    names = list(ranges)
    thin = generator.choice(names, int(generator.integers(1, max(len(names), 2))), replace=False)
    for name in thin:
        axes[str(name)] = _log_uniform(1, THIN, generator)
    return Drawn(axes, "thin")


def _grouped(op: Op, ranges: Ranges, generator: Generator) -> Drawn:
    """Draw the grouping axis uniformly; the others so that the work stays within their range."""
    name = op.grouped_by
    least, most = op.random_axes[name]  # of n, on a CPU as well
    axes = {**op.axes, name: int(generator.integers(least, most + 1))}
    for other, (low, high) in ranges.items():
        if other != name:
            axes[other] = _log_uniform(low, max(low, high // axes[name] ** 3), generator)
    return Drawn(axes, f"{name} = {axes[name]}")


def ratio(result: Result) -> float | None:
    """Return the time of the fastest library by our own; None where one is missing."""
    ours, peers = _times(result)
    return min(peers) / ours if ours and peers else None


def share(result: Result, device: Device) -> float | None:
    """Return our speed as a share of the measured ceilings; None without them."""
    from raytracer.benchmark.presentation import figures

    rows = [row for row in result["rows"] if row["kind"] != "peer" and row.get("time")]
    best = min(rows, key=lambda row: row["time"]["median"], default=None)
    return figures(best, result, device).get("of_ceiling") if best else None


def _times(result: Result) -> tuple[float, list[float]]:
    timed = [row for row in result["rows"] if "time" in row]
    ours = [row["time"]["median"] for row in timed if row["kind"] != "peer"]
    return min(ours, default=0.0), [r["time"]["median"] for r in timed if r["kind"] == "peer"]


def statistics(results: Sequence[Result], device: Device) -> list[SizeStatistics]:
    """Return the statistics of every operation and group, in the order in which they were drawn."""
    groups: dict[tuple[str, str], list[Result]] = {}
    ops = [result["op"] for result in results]
    for result in results:
        if "group" in result:
            groups.setdefault((result["op"], result["group"]), []).append(result)
    order = sorted(groups, key=lambda key: (ops.index(key[0]), rank(key[1])))
    return [row for op, group in order for row in _of_group(op, group, groups[op, group], device)]


def rank(group: str) -> int:
    """Order groups by the number of points in their name; others as they were drawn."""
    word = group.rpartition("= ")[2]
    return int(word) if word.isdecimal() else 0


def _of_group(
    op: str, group: str, results: list[Result], device: Device
) -> Iterator[SizeStatistics]:
    failed = sum(not _times(result)[0] for result in results)
    measured = {
        "peer": [(ratio(result), result) for result in results],
        "ceiling": [(share(result, device), result) for result in results],
    }
    for measure in ("peer", "ceiling"):
        pairs = [(value, result) for value, result in measured[measure] if value]
        if not pairs:
            continue
        values = sorted(value for value, _ in pairs)
        worst = min(pairs, key=lambda pair: pair[0])[1]
        yield {
            "op": op,
            "dtype": results[0]["dtype"],
            "group": group,
            "measure": "peer" if measure == "peer" else "ceiling",
            "count": len(values),
            "failed": failed,
            "geometric_mean": math.exp(math.fsum(map(math.log, values)) / len(values)),
            "worst": values[0],
            "worst_axes": worst["axes"],
            "quantiles": [_quantile(values, q) for q in QUANTILES],
        }


def _quantile(values: list[float], q: float) -> float:
    """Return a quantile of sorted values, interpolated between neighbours."""
    place = q * (len(values) - 1)
    below = int(place)
    above = min(below + 1, len(values) - 1)
    return values[below] + (place - below) * (values[above] - values[below])
