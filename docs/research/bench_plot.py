"""Draw a record of `raytracer bench --save`: bars for each result, and one roofline for all.

python docs/research/bench_plot.py matmul.json matmul.png
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from raytracer.benchmark.record import Device, Record, Result, Row
from raytracer.benchmark.report import figures, kind, number, sizes

OURS, BEST, PEER, MINE = "#7fb0e0", "#1f5fa8", "#a7adb4", "#d9622b"
GRID = "#e4e4e4"
MAX_ROWS = 5  # plots in one column, before a second column is used
LOGARITHMIC = 50  # ratio of bars of render kernels above which their axis is logarithmic
COLORS = {"peer": PEER, "mine": MINE}


def draw(record: Record, path: str) -> None:
    """Draw a record: bars for each result, and one roofline for all."""
    results = [r for r in record["results"] if any(row.get("time") for row in r["rows"])]
    with_roof = "copy_gbps" in record["device"].get("ceilings", {}) and any(
        result["work"]["flop"] and not result["dtype"].startswith("bfloat16") for result in results
    )
    count = len(results) + with_roof
    columns = 1 if count <= MAX_ROWS else 2
    lines = -(-count // columns)
    figure = plt.figure(figsize=(9 * columns, 3.6 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for unused in axes[count:]:
        unused.set_axis_off()
    for axis, result in zip(axes, results, strict=False):
        _bars(axis, result, record["device"])
    if with_roof:
        _roofline(axes[count - 1], results, record["device"])
    words = [record["device"].get("device", "")]
    if record["backend"] != "cpu":
        # Earlier records have the last line of `nvcc --version`, with the toolkit.
        toolkit = re.search(r"\bcuda_(\d+\.\d+)", record["compiler"])
        words.append(f"CUDA {toolkit[1]}" if toolkit else record["compiler"])
    origin = " · ".join(word for word in (*words, record["date"][:10]) if word)
    figure.suptitle(origin, fontsize=9, color="#555555")
    figure.savefig(path, dpi=150)


def _values(rows: list[Row], result: Result, device: Device) -> tuple[list[float], str]:
    if any("msamples" in row for row in rows):
        return [row.get("msamples", 0.0) for row in rows], "Msamples/s"
    if any("mspheres" in row for row in rows):
        return [row.get("mspheres", 0.0) for row in rows], "Mspheres/s"
    rates, work = [figures(row, result, device) for row in rows], result["work"]
    if work["flop"] > 8 * max(work["bytes_read"] + work["bytes_written"], 1):
        return [each["tflops"] for each in rates], "TFLOP/s"
    return [each["gbps"] for each in rates], "GB/s"


def _bars(axis: Any, result: Result, device: Device) -> None:
    rows = [row for row in result["rows"] if row.get("time") and row["kind"] != "stage"]
    values, unit = _values(rows, result, device)
    labels = [row["label"].replace("_", " ") for row in rows]
    bars = axis.barh(labels, values, color=_colors(rows, values), height=0.72)
    axis.bar_label(bars, [number(value) for value in values], padding=3, fontsize=9)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(axis="y", length=0)
    axis.set_axisbelow(True)
    axis.grid(axis="x", color=GRID, linewidth=0.8)
    peers = [v for row, v in zip(rows, values, strict=True) if row["kind"] == "peer"]
    if peers:
        axis.axvline(max(peers), color=PEER, linestyle=":", linewidth=1.2, zorder=0)
    axis.invert_yaxis()
    if unit == "Msamples/s" and max(values) > LOGARITHMIC * min(values):
        axis.set_xscale("log")
    axis.margins(x=0.12)
    details = sizes(result) if "scene" in result["axes"] else f"{sizes(result)}; {kind(result)}"
    axis.set_title(f"{result['op']}   {details}", fontsize=10, loc="left")
    axis.set_xlabel(unit)
    if unit == "GB/s" and (copy := device.get("ceilings", {}).get("copy_gbps")):
        axis.axvline(copy, color="black", linestyle="--", linewidth=1)
        axis.text(copy, -0.6, "copy", ha="right", fontsize=8)


def _colors(rows: list[Row], values: list[float]) -> list[str]:
    """Return colours: variants light, the best one dark, libraries grey, user kernels orange."""
    ours = [v for row, v in zip(rows, values, strict=True) if row["kind"] not in COLORS]
    best = max(ours, default=0.0)
    return [
        COLORS.get(row["kind"], BEST if value == best else OURS)
        for row, value in zip(rows, values, strict=True)
    ]


def _roofline(axis: Any, results: list[Result], device: Device) -> None:
    """Draw TFLOP/s over FLOP per byte, both logarithmic, below the measured ceilings."""
    ceilings = device["ceilings"]
    across = np.logspace(-2, 4, 200)
    slope = across * ceilings["copy_gbps"] * 1e-3
    top = ceilings.get("fma_tflops")
    axis.plot(across, np.minimum(slope, top) if top else slope, color="black", linewidth=1.2)
    for result in results:
        _points(axis, result, device)
    axis.set(xscale="log", yscale="log", xlabel="FLOP per byte", ylabel="TFLOP/s")
    axis.spines[["top", "right"]].set_visible(False)
    axis.grid(color=GRID, linewidth=0.8)
    axis.set_axisbelow(True)
    title = "Roofline   measured copy and FP32 multiply-adds"
    axis.set_title(title, fontsize=10, loc="left")


def _points(axis: Any, result: Result, device: Device) -> None:
    work = result["work"]
    moved = work["bytes_read"] + work["bytes_written"]
    rows = [row for row in result["rows"] if row.get("time")]
    if not work["flop"] or not moved or not rows:
        return
    values = [figures(row, result, device)["tflops"] for row in rows]
    colors = _colors(rows, values)
    axis.scatter([work["flop"] / moved] * len(rows), values, c=colors, s=22, zorder=3)
    best = colors.index(BEST) if BEST in colors else 0
    words = f"{result['op']}: {rows[best]['label'].replace('_', ' ')}  "
    axis.text(work["flop"] / moved, values[best], words, fontsize=8, va="center", ha="right")


if __name__ == "__main__":
    draw(json.loads(Path(sys.argv[1]).read_text()), sys.argv[2])
