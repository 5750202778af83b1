"""How a result of the bench looks: its heading, its table, its bars."""

from __future__ import annotations

from typing import Any

from raytracer.benchmark.record import DataSheet, Device, OtherCount, Rays, Result, Row

KINDS = ("primary", "shadow", "reflection")  # of rays
COLUMNS = (
    "variant", "time", "noise", "runs", "FLOP/s", "GB/s", "of ceiling", "of sheet", "x first",
    "x peer", "FLOP/s (*)", "GB/s (*)", "title",
)  # fmt: skip
RENDER_COLUMNS = (
    "what", "shows", "time", "noise", "runs", "x before", "Mrays/s", "primary", "shadow",
    "reflection", "Mspheres/s", "bytes a sphere", "upload", "title",
)  # fmt: skip


class Presentation:
    """How results look whose rows say nothing but their times and what they move."""

    numpy_on_cpu = False  # whether NumPy stands for kernels where there is no GPU
    logarithmic = False  # whether bars of very different lengths get a logarithmic axis

    def heading(self, result: Result) -> str:
        """The line over the table."""
        return f"{result['op']}: {sizes(result)}; {kind(result)} input, {result['mode']}"

    def table(self, result: Result, device: Device) -> tuple[tuple[str, ...], list[list[str]]]:
        """Column names and cells."""
        timed = [row for row in result["rows"] if "time" in row]
        first = next((r["time"]["median"] for r in timed if r["kind"] != "peer"), None)
        peers = [row["time"]["median"] for row in timed if row["kind"] == "peer"]
        best = min(peers) if peers else None
        return COLUMNS, [_cells(row, result, device, first, best) for row in result["rows"]]

    def bars(self, rows: list[Row], result: Result, device: Device) -> tuple[list[float], str]:
        """The lengths of the bars of rows that were timed, and their unit."""
        rates, work = [figures(row, result, device) for row in rows], result["work"]
        intensity = work["flop"] / max(work["bytes_read"] + work["bytes_written"], 1)
        if intensity > 8:
            return [each["tflops"] for each in rates], "TFLOP/s"
        return [each["gbps"] for each in rates], "GB/s"

    def details(self, result: Result) -> str:
        """What stands beside the name over the bars."""
        return f"{sizes(result)}; {kind(result)}"


class OperationPresentation(Presentation):
    """Kernels of a ladder."""

    numpy_on_cpu = True


class PreviewPresentation(Presentation):
    """Frames of the window."""

    def heading(self, result: Result) -> str:
        """Sizes alone."""
        return f"{result['op']}: {sizes(result)}"


class RenderPresentation(PreviewPresentation):
    """Rungs of the render ladder, by the rays that they trace."""

    logarithmic = True

    def table(self, result: Result, device: Device) -> tuple[tuple[str, ...], list[list[str]]]:
        """Cells of the rungs, then of the stages on the host."""
        return RENDER_COLUMNS, _render_rows(result["rows"])

    def bars(self, rows: list[Row], result: Result, device: Device) -> tuple[list[float], str]:
        """All rays by the time."""
        return [row.get("mrays", 0.0) for row in rows], "Mrays/s"

    def details(self, result: Result) -> str:
        """Scene and sizes."""
        return sizes(result)


def sizes(result: Result) -> str:
    """The axes for people."""
    return ", ".join(f"{name} {size}" for name, size in result["axes"].items())


def kind(result: Result) -> str:
    """Type and distribution of the values."""
    return f"{result['dtype']}, {result['input']}"


def figures(row: Row, result: Result, device: Device) -> dict[str, Any]:
    """GFLOP/s, GB/s and shares of the ceilings of one row; None where it makes no sense."""
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
    """What the maker says of a type, in TFLOP/s; None where nothing is said."""
    peaks = {name: sheet[name] for name in ("float32", "float64", "bfloat16")}
    return peaks.get(dtype)


def _share(
    median: float, moved: float, flop: float, gbps: float | None, tflops: float | None
) -> float | None:
    """The least time that the ceilings allow, as a share of the time taken."""
    least = [moved / gbps * 1e-9] if gbps else []
    least += [flop / tflops * 1e-12] if tflops else []
    return max(least) / median if least and max(least) > 0.0 else None


def seconds(value: float) -> str:
    """A time for people: 12.3 µs."""
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
        *_counted(result.get("count"), time["median"]),
        row.get("title", ""),
    ]


def _counted(count: OtherCount | None, median: float) -> tuple[str, str]:
    """FLOP/s and GB/s by the other count."""
    if not count:
        return "", ""
    return _rate(count["flop"] / median * 1e-12), _number(count["bytes"] / median * 1e-9)


def _render_rows(rows: list[Row]) -> list[list[str]]:
    """Cells of the rungs, then of the stages on the host."""
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
    """In the order of KINDS."""
    return rates.get("primary"), rates.get("shadow"), rates.get("reflection")


def _number_of(value: float | None) -> str:
    return "" if value is None else _number(value)


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _rate(tflops: float) -> str:
    """51.2 T, or 346 G where that is less than 1 T."""
    return f"{tflops:.3g} T" if tflops >= 1 else f"{tflops * 1e3:.3g} G"


def _percent(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"
