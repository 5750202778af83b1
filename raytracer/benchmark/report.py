"""A record as a table, Markdown, CSV or JSON."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from raytracer.benchmark import ncu
from raytracer.benchmark.record import DataSheet, Device, OtherCount, Rays, Record, Result, Row

KINDS = ("primary", "shadow", "reflection")  # of rays
FORMATS = ("table", "markdown", "csv", "json")
COLUMNS = (
    "variant", "time", "noise", "runs", "FLOP/s", "GB/s", "of ceiling", "of sheet", "x first",
    "x peer", "FLOP/s (*)", "GB/s (*)", "title",
)  # fmt: skip
RENDER_COLUMNS = (
    "what", "shows", "time", "noise", "runs", "x before", "Mrays/s", "primary", "shadow",
    "reflection", "Mspheres/s", "bytes a sphere", "upload", "title",
)  # fmt: skip


def text(record: Record, form: str) -> str:
    """The record in one of FORMATS."""
    if form == "json":
        return json.dumps(record, indent=1) + "\n"
    if form == "csv":
        return _csv(record)
    blocks = [device_line(record)]
    for result in record["results"]:
        blocks.append(_heading(result))
        if result.get("failed"):
            blocks.append(f"not run: {result['failed']}")
        blocks.append(_grid(*_filled(*rows(result, record["device"])), form))
        if counted := [cell for row in result["rows"] if row.get("ncu") for cell in ncu.cells(row)]:
            blocks.append(_grid(ncu.COLUMNS, counted, form))
        blocks += _remarks(result)
    if record["backend"] == "cpu" and any(_is_ladder(r) for r in record["results"]):
        blocks.append(cpu_line(record))
    return "\n\n".join(block for block in blocks if block) + "\n"


def device_line(record: Record) -> str:
    """What it ran on, in one line."""
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


def _is_ladder(result: Result) -> bool:
    """Whether kernels of a ladder were timed, which on the CPU only NumPy can stand for."""
    return result["op"] not in ("render", "preview") and not result["op"].startswith("tone ")


def cpu_line(record: Record) -> str:
    """What is missing without a GPU."""
    ops = list(dict.fromkeys(r["op"] for r in record["results"] if _is_ladder(r)))
    line = (
        "NumPy on the CPU, timed by itself: it is the only CPU form there is so far. The kernels "
        f"of {', '.join(ops)} need an NVIDIA GPU"
    )
    return f"{line}: {record['why_no_gpu']}" if record["why_no_gpu"] else f"{line}."


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
    known = {name: sheet[name] for name in ("float32", "float64", "bfloat16")}
    return known.get(dtype)


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


def _heading(result: Result) -> str:
    axes = ", ".join(f"{name} {size}" for name, size in result["axes"].items())
    if result["op"] in ("render", "preview"):
        return f"{result['op']}: {axes}"
    kind = f"{result['dtype']}, {result['input']} input, {result['mode']}"
    return f"{result['op']}: {axes}; {kind}"


def _remarks(result: Result) -> list[str]:
    lines = [
        f"{row['label']}: {row['status'].upper()}: {row['reason']}"
        for row in result["rows"]
        if row["status"] != "ok"
    ]
    clock = result.get("clock") or {}
    if clock.get("sm_mhz"):
        lines.append(f"SM clock under load {clock['sm_mhz']} MHz, {clock.get('watts', '?')} W")
    if "gpu_percent" in clock:
        busy = f"kernels ran {clock['gpu_percent']}% of the time, the memory was busy"
        lines.append(f"{busy} {clock['memory_percent']}%")
    if used := result.get("memory_used"):
        lines.append(f"at most {used / 1e9:.2f} GB of device memory in use, libraries' included")
    if clock.get("held_back_by"):
        lines.append(f"the GPU was held back by: {', '.join(clock['held_back_by'])}")
    if count := result.get("count"):
        lines.append(
            f"(*) counted as in tables that circulate: {count['label']}, "
            f"{count['bytes'] * 1e-9:.4g} GB and {count['flop'] * 1e-9:.4g} GFLOP"
        )
    return [*(["\n".join(lines)] if lines else []), result["note"]]


def rows(result: Result, device: Device) -> tuple[tuple[str, ...], list[list[str]]]:
    """Column names and cells of one result."""
    if result["op"] == "render":
        return RENDER_COLUMNS, _render_rows(result["rows"])
    timed = [row for row in result["rows"] if row.get("time")]
    first = next((r["time"]["median"] for r in timed if r["kind"] != "peer"), None)
    peers = [row["time"]["median"] for row in timed if row["kind"] == "peer"]
    best = min(peers) if peers else None
    return COLUMNS, [_cells(row, result, device, first, best) for row in result["rows"]]


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
    found = figures(row, result, device)
    return [
        row["label"] + (" (yours)" if row["kind"] == "mine" else ""),
        seconds(time["median"]),
        f"{time['noise']:.1%}",
        str(time["count"]),
        _rate(found["tflops"]) if result["work"]["flop"] else "",
        _number(found["gbps"]) if found["gbps"] else "",
        _percent(found["of_ceiling"]),
        _percent(found["of_sheet"]),
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


def _grid(columns: tuple[str, ...], cells: list[list[str]], form: str) -> str:
    left = {0, len(columns) - 1} if columns[-1] in ("title", ncu.COLUMNS[-1]) else {0}
    widths = [max(map(len, column)) for column in zip(columns, *cells, strict=True)]

    def line(words: tuple[str, ...] | list[str]) -> str:
        padded = [
            word.ljust(width) if place in left else word.rjust(width)
            for place, (word, width) in enumerate(zip(words, widths, strict=True))
        ]
        return f"| {' | '.join(padded)} |" if form == "markdown" else "  ".join(padded).rstrip()

    rule = [("-" * w if i in left else "-" * (w - 1) + ":") for i, w in enumerate(widths)]
    head = [line(columns)]
    if form == "markdown":
        head.append(f"| {' | '.join(rule)} |")
    return "\n".join([*head, *map(line, cells)])


def _filled(
    columns: tuple[str, ...], cells: list[list[str]]
) -> tuple[tuple[str, ...], list[list[str]]]:
    """Without the columns that are empty in every row."""
    kept = [place for place in range(len(columns)) if any(row[place] for row in cells)]
    return tuple(columns[place] for place in kept), [[row[i] for i in kept] for row in cells]


def _csv(record: Record) -> str:
    """One line a row, plain numbers in SI units."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = ["median", "min", "q1", "q3", "noise", "count"]
    about = ["op", "axes", "dtype", "input", "mode", "label", "kind", "status"]
    shares = ["tflops", "gbps", "of_ceiling", "of_sheet", "mrays", *(f"mrays_{k}" for k in KINDS)]
    writer.writerow([*about, *names, *shares, "reason"])
    for result in record["results"]:
        axes = " ".join(f"{name}={size}" for name, size in result["axes"].items())
        for row in result["rows"]:
            found = figures(row, result, record["device"]) | {"mrays": row.get("mrays")}
            found |= {f"mrays_{k}": rate for k, rate in row.get("mrays_by_kind", {}).items()}
            time: dict[str, Any] = {**row["time"]} if "time" in row else {}
            cells = [result["op"], axes, result["dtype"], result["input"], result["mode"]]
            cells += [row["label"], row["kind"], row["status"]]
            figured = [*map(time.get, names), *map(found.get, shares)]
            writer.writerow([*cells, *figured, row.get("reason", "")])
    return out.getvalue()
