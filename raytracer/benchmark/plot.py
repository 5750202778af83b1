"""The roofline and the ladders as a picture; needs the extra `plot` (Matplotlib)."""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from raytracer import output
from raytracer.benchmark.report import figures
from raytracer.errors import UserError

OURS, PEER, MINE = "#2a6fbb", "#9aa0a6", "#d9622b"
TALLEST = 5  # pictures above each other, before they stand side by side
LOGARITHMIC = 50  # bars of more different lengths could not be told from nothing
COLORS = {"peer": PEER, "mine": MINE}


def check(path: Path) -> None:
    """Make sure that a plot can be drawn and written; raises UserError."""
    if find_spec("matplotlib") is None:
        raise UserError("--plot needs Matplotlib: pip install 'raytracer[plot]'")
    output.check_picture(path)


def draw(record: dict[str, Any], path: Path) -> None:
    """Draw a record: each operation's ladder as bars, and one roofline for all."""
    import io

    from matplotlib.figure import Figure

    results = [r for r in record["results"] if any(row.get("time") for row in r["rows"])]
    if not results:
        raise UserError("nothing was timed: there is nothing to plot")
    with_roof = "copy_gbps" in record["device"].get("ceilings", {}) and any(
        result["work"]["flop"] for result in results
    )
    count = len(results) + with_roof
    columns = 1 if count <= TALLEST else 2
    lines = -(-count // columns)
    figure = Figure(figsize=(9 * columns, 3.6 * lines), layout="constrained")
    axes = figure.subplots(lines, columns, squeeze=False).ravel()
    for unused in axes[count:]:
        unused.set_axis_off()
    axes = axes[:count]
    for axis, result in zip(axes, results, strict=False):
        _bars(axis, result, record["device"])
    if with_roof:
        _roofline(axes[-1], results, record["device"])
    figure.suptitle(str(record["device"]["device"]))
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=150)
    output.write(path, buffer.getvalue())


def _bars(axis: Any, result: dict[str, Any], device: dict[str, Any]) -> None:
    rows = [row for row in result["rows"] if row.get("time") and row["kind"] != "stage"]
    found = [figures(row, result, device) for row in rows]
    work = result["work"]
    intensity = work["flop"] / max(work["bytes_read"] + work["bytes_written"], 1)
    if result["op"] == "render":
        values, unit = [row.get("mrays", 0.0) for row in rows], "Mrays/s"
    elif intensity > 8:
        values, unit = [each["tflops"] for each in found], "TFLOP/s"
    else:
        values, unit = [each["gbps"] for each in found], "GB/s"
    labels = [row["label"] for row in rows]
    bars = axis.barh(labels, values, color=[COLORS.get(row["kind"], OURS) for row in rows])
    axis.bar_label(bars, [_short(value) for value in values], padding=3)
    axis.invert_yaxis()
    if result["op"] == "render" and max(values) > LOGARITHMIC * min(values):
        axis.set_xscale("log")
    axis.margins(x=0.12)
    sizes = ", ".join(f"{name} {size}" for name, size in result["axes"].items())
    axis.set_title(f"{result['op']} ({sizes}; {result['dtype']}, {result['input']})", fontsize=10)
    axis.set_xlabel(unit)
    if unit == "GB/s" and (copy := device.get("ceilings", {}).get("copy_gbps")):
        axis.axvline(copy, color="black", linestyle="--", linewidth=1)
        axis.text(copy, -0.6, "copy", ha="right", fontsize=8)


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _roofline(axis: Any, results: list[dict[str, Any]], device: dict[str, Any]) -> None:
    """FLOP a byte against TFLOP/s, both logarithmic, under the measured ceilings."""
    import numpy as np

    ceilings = device["ceilings"]
    across = np.logspace(-2, 4, 200)
    roof = across * ceilings["copy_gbps"] * 1e-3
    top = ceilings.get("fma_tflops")
    axis.plot(across, np.minimum(roof, top) if top else roof, color="black", linewidth=1)
    for result in results:
        work = result["work"]
        moved = work["bytes_read"] + work["bytes_written"]
        if not work["flop"] or not moved:
            continue
        for row in result["rows"]:
            if row.get("time"):
                tflops = figures(row, result, device)["tflops"]
                color = COLORS.get(row["kind"], OURS)
                axis.plot(work["flop"] / moved, tflops, "o", color=color, markersize=4)
        axis.text(work["flop"] / moved, tflops * 1.3, result["op"], fontsize=8, ha="center")
    axis.set(xscale="log", yscale="log", xlabel="FLOP a byte", ylabel="TFLOP/s")
    axis.set_title("Roofline: measured copy and FP32 multiply-adds", fontsize=10)
