"""Plot of the ratio to the fastest library over size, for sizes drawn at random."""

from __future__ import annotations

import math
from typing import Any

from raytracer.benchmark.presentation import origin
from raytracer.benchmark.random_sizes import rank, ratio, share
from raytracer.benchmark.record import Record, Result

COLORS = ("#1f5fa8", "#2a9d8f", "#d9622b", "#8a4fa3")
BARS = 40
MARGIN = 1.08  # factor between the outermost points and the frame
TICKS = (1, 1.5, 2, 3, 5, 7)  # and tenths, tens, ... of them, where the axis spans more than WIDE
WIDE, STEPS = 2.5, (0.02, 0.05, 0.1)  # else multiples of a step, MOST_TICKS at most
MOST_TICKS = 12
TILES = 4  # groups up to this number have colours of their own; more are shades


def draw(record: Record) -> Any:
    """Return a figure: above, every size as a point; beside it, the distribution of each operation.

    The ratio is the time of the fastest library by ours, or, without libraries, our speed as a
    share of the measured ceilings.
    """
    from raytracer.film.histogram import figure_class

    ops = list(dict.fromkeys(result["op"] for result in record["results"]))
    figure = figure_class()(figsize=(11, 4.8 * len(ops)), layout="constrained")
    grid = figure.subplots(len(ops), 2, squeeze=False, gridspec_kw={"width_ratios": [4, 1]})
    for (scatter, bars), op in zip(grid, ops, strict=True):
        _operation(scatter, bars, record, [r for r in record["results"] if r["op"] == op])
    figure.suptitle(origin(record), fontsize=9, color="#555555")
    return figure


def _operation(scatter: Any, bars: Any, record: Record, results: list[Result]) -> None:
    against_peer = any(ratio(result) for result in results)
    groups: dict[str, list[tuple[float, float]]] = {}
    by_flop = sum(r["work"]["flop"] for r in results) > 8 * sum(map(_moved, results))
    for result in results:
        value = ratio(result) if against_peer else share(result, record["device"])
        if value:
            size = result["work"]["flop"] if by_flop else _moved(result)
            groups.setdefault(result.get("group", ""), []).append((size, value))
    colors = _colors(len(groups))
    for (group, points), color in zip(
        sorted(groups.items(), key=lambda item: rank(item[0])), colors, strict=True
    ):
        mean = math.exp(math.fsum(math.log(value) for _, value in points) / len(points))
        label = f"{group}: {len(points)}, mean {mean:.2f}"
        scatter.scatter(*zip(*points, strict=True), s=16, color=color, label=label, alpha=0.85)
    values = [value for points in groups.values() for _, value in points]
    if not values:
        return
    low, high = min(*values, 1) / MARGIN, max(*values, 1) * MARGIN
    for axis in (scatter, bars):
        axis.set_yscale("log")  # twice as fast is as far from 1 as half as fast
        axis.set_ylim(low, high)
        axis.set_yticks(marks := ticks(low, high), [f"{mark:g}" for mark in marks])
        axis.set_yticks([], minor=True)
        axis.axhline(1, color="#444444", linewidth=0.9)
        axis.spines[["top", "right"]].set_visible(False)
        axis.grid(axis="y", color="#e4e4e4", linewidth=0.8)
        axis.set_axisbelow(True)
    scatter.set_xscale("log")
    scatter.set_xlabel("FLOP" if by_flop else "bytes moved")
    scatter.set_ylabel("speed by that of the library" if against_peer else "share of the ceiling")
    title = (
        f"{results[0]['op']}   {results[0]['dtype']}, {results[0]['input']}; {len(values)} sizes"
    )
    scatter.set_title(title, fontsize=10, loc="left")
    scatter.legend(fontsize=8, frameon=False, ncols=2 if len(groups) > TILES else 1)
    step = math.log(high / low) / BARS
    edges = [low * math.exp(step * number) for number in range(BARS + 1)]
    bars.hist(values, bins=edges, orientation="horizontal", color="#7fb0e0")
    bars.set_xlabel("sizes")


def ticks(low: float, high: float) -> list[float]:
    """Return round values between two others for a logarithmic axis, 1 among them if it is."""
    if high > WIDE * low:
        powers = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
        every = [round(each * 10.0**power, 12) for power in powers for each in TICKS]
        return [each for each in every if low <= each <= high]
    step = next((each for each in STEPS if (high - low) / each <= MOST_TICKS), STEPS[-1])
    first, last = math.ceil(low / step), math.floor(high / step)
    return [round(number * step, 12) for number in range(first, last + 1)]


def _colors(count: int) -> list[Any]:
    if count <= len(COLORS):
        return list(COLORS[:count])
    from matplotlib import colormaps

    return [colormaps["viridis"](index / (count - 1)) for index in range(count)]


def _moved(result: Result) -> float:
    return result["work"]["bytes_read"] + result["work"]["bytes_written"]
