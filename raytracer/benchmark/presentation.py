"""Presentation of results: headings, tables, bars."""

from __future__ import annotations

import re
from typing import Any

from raytracer.benchmark.record import DataSheet, Device, Rays, Record, Result, Row

KINDS = ("primary", "shadow", "reflection")  # of rays
COLUMNS = (
    "variant", "time", "noise", "runs", "FLOP/s", "GB/s", "of ceiling", "of sheet", "x first",
    "x peer", "title",
)  # fmt: skip
RENDER_COLUMNS = (
    "what", "shows", "time", "noise", "runs", "x before", "Mrays/s", "primary", "shadow",
    "reflection", "Mspheres/s", "bytes/sphere", "upload", "title",
)  # fmt: skip


_TOOLKIT = re.compile(r"\bcuda_(\d+\.\d+)")  # in the last line of `nvcc --version`


def origin(record: Record) -> str:
    """Return device, toolkit and date of a record in one line, for plots."""
    words = [record["device"].get("device", "")]
    if record.get("backend") != "cpu":
        found = _TOOLKIT.search(record.get("compiler", ""))
        words.append(f"CUDA {found[1]}" if found else record.get("compiler", ""))
    return " · ".join(word for word in (*words, record["date"][:10]) if word)


class Presentation:
    """Presentation of results whose rows have times and bytes."""

    numpy_on_cpu = False  # whether NumPy replaces kernels without a GPU
    logarithmic = False  # whether the axis of bars may be logarithmic

    def heading(self, result: Result) -> str:
        """Return the line above the table."""
        return f"{result['op']}: {sizes(result)}; {kind(result)} input, {result['mode']}"

    def table(self, result: Result, device: Device) -> tuple[tuple[str, ...], list[list[str]]]:
        """Return column names and cells."""
        timed = [row for row in result["rows"] if "time" in row]
        first = next((r["time"]["median"] for r in timed if r["kind"] != "peer"), None)
        peers = [row["time"]["median"] for row in timed if row["kind"] == "peer"]
        best = min(peers) if peers else None
        return COLUMNS, [_cells(row, result, device, first, best) for row in result["rows"]]

    def bars(self, rows: list[Row], result: Result, device: Device) -> tuple[list[float], str]:
        """Return the values of timed rows, and their unit."""
        rates, work = [figures(row, result, device) for row in rows], result["work"]
        intensity = work["flop"] / max(work["bytes_read"] + work["bytes_written"], 1)
        if intensity > 8:
            return [each["tflops"] for each in rates], "TFLOP/s"
        return [each["gbps"] for each in rates], "GB/s"

    def details(self, result: Result) -> str:
        """Return the text beside the name above the bars."""
        return f"{sizes(result)}; {kind(result)}"


class OperationPresentation(Presentation):
    """Presentation of the kernels of an operation."""

    numpy_on_cpu = True


class PreviewPresentation(Presentation):
    """Presentation of frames of the window."""

    def heading(self, result: Result) -> str:
        """Return the sizes alone."""
        return f"{result['op']}: {sizes(result)}"


class RenderPresentation(PreviewPresentation):
    """Presentation of render kernels, by rays."""

    logarithmic = True

    def table(self, result: Result, device: Device) -> tuple[tuple[str, ...], list[list[str]]]:
        """Return cells of the kernels, then of the stages on the host."""
        return RENDER_COLUMNS, _render_rows(result["rows"])

    def bars(self, rows: list[Row], result: Result, device: Device) -> tuple[list[float], str]:
        """Return the rate of all rays."""
        return [row.get("mrays", 0.0) for row in rows], "Mrays/s"

    def details(self, result: Result) -> str:
        """Return scene and sizes."""
        return sizes(result)


def sizes(result: Result) -> str:
    """Format the axes."""
    return ", ".join(f"{name} {size}" for name, size in result["axes"].items())


def kind(result: Result) -> str:
    """Format data type and distribution."""
    return f"{result['dtype']}, {result['input']}"


def figures(row: Row, result: Result, device: Device) -> dict[str, Any]:
    """Return TFLOP/s, GB/s and shares of the ceilings of a row; None if not applicable."""
    if not row.get("time"):
        return {}
    median, work = row["time"]["median"], result["work"]
    moved = row.get("bytes", work["bytes_read"] + work["bytes_written"])
    measured, sheet = device.get("ceilings", {}), device.get("data_sheet")
    fma = measured.get("fma_tflops") if result["dtype"] == "float32" else None
    return {
        "tflops": work["flop"] / median * 1e-12,
        "gbps": moved / median * 1e-9,
        "of_ceiling": _share(median, moved, work["flop"], measured.get("copy_gbps"), fma),
        "of_sheet": _share(
            median, moved, work["flop"], sheet["memory"], peak(sheet, result["dtype"])
        )
        if sheet and row.get("kind") != "copy"
        else None,
    }  # fmt: skip


def peak(sheet: DataSheet, dtype: str) -> float | None:
    """Return the peak of a type by the data sheet, in TFLOP/s; None if unknown."""
    peaks = {name: sheet[name] for name in ("float32", "float64", "bfloat16")}
    return peaks.get(dtype)


def _share(
    median: float, moved: float, flop: float, gbps: float | None, tflops: float | None
) -> float | None:
    """Return the minimum time by the ceilings as a share of the median."""
    least = [moved / gbps * 1e-9] if gbps else []
    least += [flop / tflops * 1e-12] if tflops else []
    return max(least) / median if least and max(least) > 0.0 else None


def seconds(value: float) -> str:
    """Format a time, like 12.3 µs."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.4g} {unit}"
    return f"{value / 1e-9:.4g} ns"


def _cells(
    row: Row,
    result: Result,
    device: Device,
    first: float | None,
    peer: float | None,
) -> list[str]:
    time = row.get("time")
    if not time:
        return [row["label"], row["status"], *[""] * (len(COLUMNS) - 3), row.get("title", "")]
    rates = figures(row, result, device)
    return [
        row["label"] + (" (yours)" if row["kind"] == "mine" else ""),
        seconds(time["median"]),
        f"{time['noise']:.1%}",
        str(time["count"]),
        _rate(rates["tflops"]) if result["work"]["flop"] else "",
        _number(rates["gbps"]) if rates["gbps"] else "",
        _percent(rates["of_ceiling"]),
        _percent(rates["of_sheet"]),
        f"{first / time['median']:.2f}" if first else "",
        f"{peer / time['median']:.2f}" if peer else "",
        row.get("title", ""),
    ]


def _render_rows(rows: list[Row]) -> list[list[str]]:
    """Return cells of the kernels, then of the stages on the host."""
    cells, before = [], None
    for row in rows:
        cells.append(_render_cells(row, before))
        if row.get("time") and row["kind"] != "stage":
            before = row["time"]["median"]
    return cells


def _render_cells(row: Row, before: float | None) -> list[str]:
    shows, title = row.get("shows", ""), row.get("title", "")
    if not row.get("time"):
        return [row["label"], shows, row["status"], *[""] * (len(RENDER_COLUMNS) - 4), title]
    time, rates = row["time"], row.get("mrays_by_kind", Rays())
    return [
        row["label"],
        shows,
        seconds(time["median"]),
        f"{time['noise']:.1%}" if time["count"] > 1 else "",
        str(time["count"]),
        f"{before / time['median']:.2f}" if before and row["kind"] != "stage" else "",
        *(_number_of(row.get("mrays")), *map(_number_of, _by_kind(rates))),
        _number_of(row.get("mspheres")),
        _number_of(row.get("bytes_per_sphere")),
        seconds(row["upload"]["median"]) if "upload" in row else "",
        title,
    ]


def _by_kind(rates: Rays) -> tuple[float | None, ...]:
    """Return rates in the order of KINDS."""
    return rates.get("primary"), rates.get("shadow"), rates.get("reflection")


def _number_of(value: float | None) -> str:
    return "" if value is None else _number(value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _rate(tflops: float) -> str:
    """Format a rate, like 51.2 T or 346 G."""
    return f"{tflops:.3g} T" if tflops >= 1 else f"{tflops * 1e3:.3g} G"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"
