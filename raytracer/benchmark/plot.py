"""Plots of a record: the time of each row, and a roofline; and of a comparison, its ratios."""

import io
import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from raytracer.benchmark.compare import TOLERANCE, ComparedRecords, Comparison, where
from raytracer.benchmark.record import Record, Result, Row, moved, read_record, validate_record
from raytracer.benchmark.report import arithmetic_rate, figures, kind, number, scaled, sizes
from raytracer.config.errors import OutputError, UserError, escape_controls
from raytracer.files import output
from raytracer.files.access import is_path

OURS, BEST, PEER, MINE = "#7fb0e0", "#1f5fa8", "#a7adb4", "#d9622b"
COLORS = {"peer": PEER, "mine": MINE}
VERDICTS = {"faster": "#2a8f4f", "slower": "#c8352b", "same": BEST, "undecided": PEER}
SERIES = ("#1f5fa8", "#d9622b", "#2a8f4f", "#8a4fa8", "#b08a1f", "#3a9fb0", "#c8352b", "#555555")
MARKERS = "osD^vPX*"
GRID, TEXT = "#e4e4e4", "#555555"
LOGARITHMIC = 20  # ratio of times above which their axis is logarithmic
ONE_COLUMN = 5  # panels; more stand in two columns
MAX_PANELS = 60
WIDTH, BAR, MARGIN, ROOF = 9.0, 0.3, 1.1, 4.6  # inches: of a panel, a bar, around bars, a roofline
DPI, MAX_PIXELS = 150, 1 << 16
LEGEND = 2  # columns
GAP = 0.042  # of the height of a roofline: between the labels of two points


@dataclass
class Panel:
    """Bars with one axis: the rows of a result, or the only rows of several results."""

    title: str
    labels: list[str]
    rows: list[Row]
    results: list[Result]


def plot_record(record: Record | str | Path, path: str | Path) -> list[str]:
    """Plot the time of each row of a record of the bench, and a roofline if ceilings were measured.

    Args:
        record: of `raytracer.bench`, or the path of one that was saved.
        path: of the picture, a .png.

    Returns:
        Sentences about what is not shown.

    Raises:
        UserError: the file is no record, or nothing was timed.
        OutputError: the picture cannot be written, or matplotlib is not installed.
    """
    path = check_plot(path)
    record = read_record(record) if is_path(record) else validate_record(record, "record")
    panels = list(_panels(record))
    if not panels:
        raise UserError("nothing was timed, so there is nothing to plot")
    roof, remarks = _on_roof(record)
    if len(panels) > MAX_PANELS:
        remarks.append(f"the plot shows the first {MAX_PANELS} of {len(panels)} panels")
        panels = panels[:MAX_PANELS]
    heights = [MARGIN + BAR * len(panel.rows) for panel in panels] + _roof_heights(roof)
    figure, axes = _figure(heights, _origin(record))
    for axis, panel in zip(axes, panels, strict=False):
        _draw_times(axis, panel, record)
    if roof:
        _draw_roofline(axes[-1], roof, record)
    _save(figure, path)
    return remarks


def plot_comparison(compared: ComparedRecords, path: str | Path) -> None:
    """Plot the ratios of `raytracer.compare_records` with their intervals; raises as
    `plot_record` does."""
    path = check_plot(path)
    groups = [list(rows) for _, rows in groupby(compared["rows"], lambda r: (r["op"], where(r)))]
    figure, axes = _figure(
        [MARGIN + BAR * len(rows) for rows in groups],
        "time of B / time of A, 95% intervals; grey: the same within 2%",
    )
    for axis, rows in zip(axes, groups, strict=True):
        _draw_ratios(axis, rows)
    _save(figure, path)


def check_plot(path: str | Path) -> Path:
    """Check that a plot can be written to a path, and return it. Raises OutputError."""
    path = output.check_picture(path)
    if find_spec("matplotlib") is None:
        raise OutputError(f"{path}: plots need matplotlib: pip install 'raytracer[plot]'")
    return path


def _figure(heights: Sequence[float], title: str) -> tuple[Any, list[Any]]:
    """Return a figure with axes of some heights in inches, in their order in one or two columns."""
    from matplotlib.figure import Figure

    columns = 1 if len(heights) <= ONE_COLUMN else 2
    lines = [heights[i : i + columns] for i in range(0, len(heights), columns)]
    tallest = [max(line) for line in lines]
    dpi = min(DPI, int(MAX_PIXELS / (sum(tallest) + 0.5)))
    figure = Figure((WIDTH * columns, sum(tallest) + 0.5), dpi, layout="constrained")
    grid = figure.add_gridspec(len(lines), columns, height_ratios=tallest)
    axes = [figure.add_subplot(grid[i // columns, i % columns]) for i in range(len(heights))]
    figure.suptitle(_plain(title), fontsize=9, color=TEXT)
    return figure, axes


def _save(figure: Any, path: Path) -> None:
    data = io.BytesIO()
    figure.savefig(data, format="png")
    output.write(path, data.getvalue())


def _plain(text: str) -> str:
    """Return text as it is drawn: without control characters and formulas."""
    return escape_controls(text).replace("$", r"\$")


def _origin(record: Record) -> str:
    words = [record["device"].get("device", "")]
    if record["backend"] != "cpu":
        # Earlier records have the last line of `nvcc --version`, with the toolkit.
        toolkit = re.search(r"\bcuda_(\d+\.\d+)", record["compiler"])
        words.append(f"CUDA {toolkit[1]}" if toolkit else record["compiler"])
    return " · ".join(word for word in (*words, record["date"][:10]) if word)


def _timed(result: Result) -> list[Row]:
    return [row for row in result["rows"] if "time" in row and row["kind"] != "stage"]


def _panels(record: Record) -> Iterator[Panel]:
    """Yield the panels of a record; results of one operation with a single row share one."""
    groups = dict[tuple[str, bool], list[Result]]()
    for result in record["results"]:
        if rows := _timed(result):
            groups.setdefault((result["op"], len(rows) == 1), []).append(result)
    for (op, is_single), group in groups.items():
        if is_single and len(group) > 1:
            rows = [_timed(result)[0] for result in group]
            yield Panel(op, [sizes(result) for result in group], rows, group)
            continue
        for result in group:
            rows = _timed(result)
            labels = [row["label"].replace("_", " ") for row in rows]
            details = sizes(result) if "scene" in result["axes"] else (
                f"{sizes(result)}; {kind(result)}, {result['mode']}"
            )  # fmt: skip
            yield Panel(f"{op}   {details}", labels, rows, [result] * len(rows))


def _draw_times(axis: Any, panel: Panel, record: Record) -> None:
    """Draw bars of the medians, with the quartiles, and the rates beside them."""
    times = [row["time"] for row in panel.rows]
    medians = [time["median"] for time in times]
    unit, factor = _unit(max(medians))
    places = range(len(medians))
    is_ladder = panel.results[0] is panel.results[-1]
    colors = _colors(panel.rows) if is_ladder else [OURS] * len(medians)
    axis.barh(places, [factor * each for each in medians], color=colors, height=0.7)
    for place, time in zip(places, times, strict=True):
        ends = [factor * time["q1"], factor * time["q3"]]
        axis.plot(ends, [place, place], color="#222222", linewidth=1.4, solid_capstyle="butt")
    span = max(medians) / min(medians)
    if span > LOGARITHMIC:
        axis.set_xscale("log")
        low = 0.5 * factor * min(medians)
        axis.set_xlim(low, low * (2 * span) ** 1.4)
        axis.xaxis.set_major_formatter("{x:g}")
    else:
        axis.set_xlim(0, 1.4 * factor * max(time["q3"] for time in times))
    for place, time, row, result in zip(places, times, panel.rows, panel.results, strict=True):
        end = factor * max(time["median"], time["q3"])
        axis.annotate(
            _words(row, result, record), (end, place), (5, 0), textcoords="offset points",
            va="center", fontsize=8, annotation_clip=False,
        )  # fmt: skip
    _dress(axis, panel.title, [_plain(label) for label in panel.labels])
    axis.set_xlabel(f"time ({unit}), median and quartiles")


def _unit(seconds: float) -> tuple[str, float]:
    """Return the unit of an axis up to some seconds, and what seconds are multiplied by."""
    power = min(max(math.floor(math.log10(seconds) / 3), -3), 0)
    return {0: "s", -1: "ms", -2: "µs", -3: "ns"}[power], 1000.0**-power


def _words(row: Row, result: Result, record: Record) -> str:
    """Return time, rate and share of the ceiling of a row."""
    rates, work = figures(row, result, record["device"]), result["work"]
    words = [scaled(row["time"]["median"], "s")]
    rates_of_rows = {"msamples": "Msamples/s", "mspheres": "Mspheres/s", "mrays": "Mrays/s"}
    for name, unit in rates_of_rows.items():
        words += [f"{number(row[name])} {unit}"] if name in row else []  # type: ignore[literal-required]
    if work["flop"] > 8 * moved(work):
        words.append(f"{number(rates['tflops'])} TFLOP/s")
    elif moved(work):
        words.append(f"{number(rates['gbps'])} GB/s")
    if rates["of_ceiling"]:
        words.append(f"{rates['of_ceiling']:.0%} of ceiling")
    return " · ".join(words)


def _colors(rows: Sequence[Row]) -> list[str]:
    """Return colours: variants light, the best one dark, libraries grey, user kernels orange."""
    ours = [row["time"]["median"] for row in rows if row["kind"] not in COLORS]
    best = min(ours, default=0.0)
    return [
        COLORS.get(row["kind"], BEST if row["time"]["median"] == best else OURS) for row in rows
    ]


def _dress(axis: Any, title: str, labels: Sequence[str]) -> None:
    axis.set_yticks(range(len(labels)), labels, fontsize=9)
    axis.tick_params(axis="y", length=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_axisbelow(True)
    axis.grid(axis="x", color=GRID, linewidth=0.8)
    axis.set_ylim(len(labels) - 0.4, -0.6)
    axis.set_title(_plain(title), fontsize=10, loc="left")


def _draw_ratios(axis: Any, rows: Sequence[Comparison]) -> None:
    axis.axvspan(1 / (1 + TOLERANCE), 1 + TOLERANCE, color="#eeeeee", zorder=0)
    axis.axvline(1.0, color="#888888", linewidth=0.8, zorder=0)
    ends = [1.0 - 2 * TOLERANCE, 1.0 + 2 * TOLERANCE]
    for place, row in enumerate(rows):
        color, interval = VERDICTS[row["verdict"]], row["interval"] or (row["ratio"],) * 2
        axis.plot(interval, [place, place], color=color, linewidth=2)
        axis.plot([row["ratio"]], [place], "o", color=color, markersize=6)
        ends += [row["ratio"], *interval]
        axis.annotate(
            f"{row['ratio']:.3f} {row['verdict']}", (max(row["ratio"], interval[1]), place), (7, 0),
            textcoords="offset points", va="center", fontsize=8, color=color,
        )  # fmt: skip
    low, high = min(ends), max(ends)
    if high > 4 * low:
        axis.set_xscale("log")
        axis.set_xlim(low / 1.1, high * (high / low) ** 0.3)
    else:
        axis.set_xlim(low - 0.05 * (high - low), high + 0.3 * (high - low))
    labels = [_plain(row["label"].replace("_", " ")) for row in rows]
    _dress(axis, f"{rows[0]['op']}   {where(rows[0])}", labels)
    axis.set_xlabel("time of B / time of A")


def _on_roof(record: Record) -> tuple[list[Result], list[str]]:
    """Return the results that a roofline shows, and in sentences why others are not shown."""
    worked = [result for result in record["results"] if _timed(result) and result["work"]["flop"]]
    if "copy_gbps" not in record["device"].get("ceilings", {}):
        return [], ["the plot has no roofline: the ceilings are measured on a GPU"]
    if not worked:
        return [], [
            "the plot has no roofline: nothing that was timed counts floating-point operations"
        ]
    rates = [arithmetic_rate(result["dtype"]) for result in worked]
    shown = "fma_tflops" if "fma_tflops" in rates else rates[0]
    kept = [result for result, rate in zip(worked, rates, strict=True) if rate == shown]
    if len(kept) == len(worked):
        return worked, []
    others = dict.fromkeys(f"{r['op']} ({r['dtype']})" for r in worked if r not in kept)
    ceiling = f"its ceiling is that of {kept[0]['dtype']}"
    return kept, [f"the roofline leaves out {', '.join(others)}: {ceiling}"]


def _draw_roofline(axis: Any, results: Sequence[Result], record: Record) -> None:
    """Draw FLOP/s over FLOP per byte, both logarithmic, below the measured ceilings."""
    ceilings = record["device"]["ceilings"]
    slope = ceilings["copy_gbps"] * 1e-3  # TFLOP/s at one FLOP per byte
    rate = arithmetic_rate(results[0]["dtype"])
    top = ceilings.get(rate, math.inf) if rate else math.inf
    drawn = [_points(result, record) for result in results]
    points = [(x, y) for x, values in drawn for y in values]
    ridge = top / slope
    least = min(min(x for x, _ in points) / 4, ridge / 30)  # room for the name of the slope
    most = max(*(x for x, _ in points), ridge if math.isfinite(ridge) else 0.0) * 8
    across = np.geomspace(least, most, 400)
    roof = np.minimum(across * slope, top)
    axis.plot(across, roof, color="#222222", linewidth=1.4, zorder=2)
    low = min(*(y for _, y in points), float(roof[0])) / 2
    axis.set(xscale="log", yscale="log", xlim=(least, most), ylim=(low, 3 * float(roof.max())))
    words = f"copy {number(ceilings['copy_gbps'])} GB/s"
    knee = min(ridge, most)
    middle = math.sqrt(least * knee)
    place = middle / 1.1, middle * slope * 1.1
    axis.text(*place, words, fontsize=8, color=TEXT, ha="right", va="bottom")
    if math.isfinite(top):
        what = "FP32 multiply-adds" if rate == "fma_tflops" else "BF16 tensor cores"
        words = f"{what} {top:,.1f} TFLOP/s"
        axis.text(most / 1.1, 1.1 * top, words, fontsize=8, color=TEXT, ha="right", va="bottom")
    if len(results) == 1:
        _draw_named_points(axis, results[0], record)
    else:
        _draw_series(axis, results, record)
    axis.set_xlabel("arithmetic intensity (FLOP per byte)")
    axis.set_ylabel("TFLOP/s")
    axis.yaxis.set_major_formatter("{x:g}")
    axis.xaxis.set_major_formatter("{x:g}")
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(color=GRID, linewidth=0.8)
    axis.set_axisbelow(True)
    axis.set_title("Roofline   ceilings measured in the same run", fontsize=10, loc="left")


def _roof_heights(results: Sequence[Result]) -> list[float]:
    """Return the height of a roofline in inches, with its legend; none without results."""
    lines = -(-len(results) // LEGEND) if len(results) > 1 else 0
    return [ROOF + 0.2 * lines] if results else []


def _points(result: Result, record: Record) -> tuple[float, list[float]]:
    """Return the FLOP per byte of a result, and the TFLOP/s of its rows."""
    values = [figures(row, result, record["device"])["tflops"] for row in _timed(result)]
    return result["work"]["flop"] / moved(result["work"]), values


def _draw_named_points(axis: Any, result: Result, record: Record) -> None:
    """Draw the rows of one result with their names, which keep a distance from each other."""
    x, values = _points(result, record)
    rows = _timed(result)
    axis.scatter([x] * len(rows), values, c=_colors(rows), s=26, zorder=3)
    low, high = (math.log10(each) for each in axis.get_ylim())
    line = {"arrowstyle": "-", "color": "#bbbbbb", "linewidth": 0.7, "relpos": (0, 0.5)}
    order = sorted(range(len(rows)), key=lambda i: -values[i])
    heights = push_down([math.log10(values[i]) for i in order], GAP * (high - low))
    axis.set_ylim(10 ** min(low, heights[-1] - GAP * (high - low)), 10**high)
    for i, height in zip(order, heights, strict=True):
        name = _plain(rows[i]["label"].replace("_", " "))
        axis.annotate(
            name, (x, values[i]), (x * 1.35, 10**height), fontsize=8, va="center",
            arrowprops=line,
        )  # fmt: skip


def _draw_series(axis: Any, results: Sequence[Result], record: Record) -> None:
    """Draw several results, each with its colour and sign, named in a legend."""
    for i, result in enumerate(results):
        x, values = _points(result, record)
        color, marker = SERIES[i % len(SERIES)], MARKERS[i // len(SERIES) % len(MARKERS)]
        label = _plain(f"{result['op']}, {sizes(result)}, {kind(result)}")
        axis.scatter([x] * len(values), values, c=color, marker=marker, s=24, label=label, zorder=3)
    axis.legend(
        fontsize=8, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncols=LEGEND, frameon=False
    )


def push_down(heights: Sequence[float], gap: float) -> list[float]:
    """Return falling heights, moved down where that is needed to be at least `gap` apart: below the
    roof there is room for their names."""
    moved_heights = list[float]()
    for height in heights:
        above = moved_heights[-1] if moved_heights else math.inf
        moved_heights.append(min(height, above - gap))
    return moved_heights
