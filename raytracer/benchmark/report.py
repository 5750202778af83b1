"""Formatting of a record as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from raytracer.benchmark import ncu
from raytracer.benchmark.presentation import KINDS, figures
from raytracer.benchmark.record import Record, Result
from raytracer.benchmark.registry import presentation

FORMATS = ("table", "markdown", "csv", "json")


def text(record: Record, form: str) -> str:
    """Format a record in one of FORMATS."""
    if form == "json":
        return json.dumps(record, indent=1) + "\n"
    if form == "csv":
        return _csv(record)
    blocks = [device_line(record)]
    for result in record["results"]:
        look = presentation(result["op"])
        blocks.append(look.heading(result))
        if result.get("failed"):
            blocks.append(f"not run: {result['failed']}")
        blocks.append(_grid(*_filled(*look.table(result, record["device"])), form))
        if counter_cells := [
            cell for row in result["rows"] if row.get("ncu") for cell in ncu.cells(row)
        ]:
            blocks.append(_grid(ncu.COLUMNS, counter_cells, form))
        blocks += _remarks(result)
    if record["backend"] == "cpu":
        blocks.append(cpu_line(record))
    return "\n\n".join(block for block in blocks if block) + "\n"


def device_line(record: Record) -> str:
    """Format the device in one line."""
    device = record["device"]
    words = [str(device.get("device", "?"))]
    if driver := device.get("driver"):
        words.append(f"driver {driver}")
    if record["backend"] == "cuda":
        words.append(record["compiler"])
    ceilings = device.get("ceilings", {})
    if "copy_gbps" in ceilings:
        words.append(f"copy {ceilings['copy_gbps']:,.0f} GB/s")
    if "fma_tflops" in ceilings:
        words.append(f"FP32 FMA {ceilings['fma_tflops']:.1f} TFLOP/s")
    return "; ".join([*words, record["date"]])


def cpu_line(record: Record) -> str:
    """Format a remark on kernels that need a GPU; "" if there are none."""
    every = dict.fromkeys(result["op"] for result in record["results"])
    ops = [op for op in every if presentation(op).numpy_on_cpu]
    if not ops:
        return ""
    line = f"NumPy on the CPU. The kernels of {', '.join(ops)} need an NVIDIA GPU"
    return f"{line}: {record['why_no_gpu']}" if record["why_no_gpu"] else f"{line}."


def _compilers(result: Result) -> list[str]:
    """Return a line for each compiler of kernels; names of kernels if there are several."""
    made: dict[str, list[str]] = {}
    for row in result["rows"]:
        if compiler := row.get("resources", {}).get("compiler"):
            made.setdefault(compiler, []).append(row["label"])
    return [
        f"{'kernels' if len(made) == 1 else ', '.join(labels)} compiled by {compiler}"
        for compiler, labels in made.items()
    ]


def _remarks(result: Result) -> list[str]:
    lines = [
        f"{row['label']}: {row['status'].upper()}: {row['reason']}"
        for row in result["rows"]
        if row["status"] != "ok"
    ]
    lines += _compilers(result)
    clock = result.get("clock") or {}
    if clock.get("sm_mhz"):
        lines.append(f"SM clock under load {clock['sm_mhz']} MHz, {clock.get('watts', '?')} W")
    if "gpu_percent" in clock:
        busy = f"kernels ran {clock['gpu_percent']}% of the time, the memory was busy"
        lines.append(f"{busy} {clock['memory_percent']}%")
    if memory := result.get("memory_used"):
        lines.append(f"at most {memory / 1e9:.2f} GB of device memory in use, including libraries")
    if clock.get("held_back_by"):
        lines.append(f"the GPU was throttled by: {', '.join(clock['held_back_by'])}")
    return [*(["\n".join(lines)] if lines else []), result["note"]]


def _grid(columns: tuple[str, ...], cells: list[list[str]], form: str) -> str:
    left_aligned = {0, len(columns) - 1} if columns[-1] in ("title", ncu.COLUMNS[-1]) else {0}
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]

    def line(words: tuple[str, ...] | list[str]) -> str:
        padded = [
            word.ljust(width) if column in left_aligned else word.rjust(width)
            for column, (word, width) in enumerate(zip(words, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |" if form == "markdown" else "  ".join(padded).rstrip()

    rule = [("-" * w if i in left_aligned else "-" * (w - 1) + ":") for i, w in enumerate(widths)]
    head = [line(columns)]
    if form == "markdown":
        head.append(f"| {' | '.join(rule)} |")
    return "\n".join([*head, *map(line, cells)])


def _filled(
    columns: tuple[str, ...], cells: list[list[str]]
) -> tuple[tuple[str, ...], list[list[str]]]:
    """Remove columns that are empty in every row."""
    columns_kept = [column for column in range(len(columns)) if any(row[column] for row in cells)]
    return tuple(columns[column] for column in columns_kept), [
        [row[i] for i in columns_kept] for row in cells
    ]


def _csv(record: Record) -> str:
    """Format one line per row, with numbers in SI units."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = ["median", "min", "q1", "q3", "noise", "count"]
    identity = ["op", "axes", "dtype", "input", "mode", "label", "kind", "status"]
    shares = ["tflops", "gbps", "of_ceiling", "of_sheet", "mrays", *(f"mrays_{k}" for k in KINDS)]
    writer.writerow([*identity, *names, *shares, "reason"])
    for result in record["results"]:
        axes = " ".join(f"{name}={size}" for name, size in result["axes"].items())
        for row in result["rows"]:
            rates = figures(row, result, record["device"]) | {"mrays": row.get("mrays")}
            rates |= {f"mrays_{k}": rate for k, rate in row.get("mrays_by_kind", {}).items()}
            time: dict[str, Any] = {**row["time"]} if "time" in row else {}
            cells = [result["op"], axes, result["dtype"], result["input"], result["mode"]]
            cells += [row["label"], row["kind"], row["status"]]
            figured = [*map(time.get, names), *map(rates.get, shares)]
            writer.writerow([*cells, *figured, row.get("reason", "")])
    return out.getvalue()
