"""Formatting of a record as a table, Markdown, CSV or JSON."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from math import floor, log10
from typing import Any, Literal

from raytracer.benchmark.record import Ceilings, Device, Record, Result, Row, moved
from raytracer.benchmark.statistics import MIN_SAMPLES
from raytracer.config.arguments import check_word
from raytracer.config.errors import escape_controls

COLUMNS = (
    "variant", "shows", "time", "noise", "runs", "FLOP/s", "GB/s", "of ceiling", "of peak",
    "x first", "x before", "x peer", "Msamples/s", "Mspheres/s", "Mrays/s", "bytes/sphere", "nodes",
    "title",
)  # fmt: skip
LEFT = ("variant", "title", "B is")  # columns that are aligned to the left
EXTRA = ("msamples", "mspheres", "mrays", "bytes_per_sphere", "nodes")  # of rows of the renderer
NUMBERS = re.compile(r"\[\n[-+.\deE,\s]*\]")  # a list in indented JSON; texts have no line breaks
FORMS = ("table", "markdown", "csv", "json")


def format_record(record: Record, form: str = "table") -> str:
    """Format a record of `raytracer.bench` as the command prints it.

    form: "table", "markdown", "csv" (a line for each row, all values as plain numbers in seconds,
    bytes and their ratios) or "json".
    """
    check_word(form, "format", FORMS, "format")
    if form == "json":
        return to_json(record)
    if form == "csv":
        return csv_text([line for each in record["results"] for line in _plain(each, record)])
    blocks = [_device_line(record)]
    for result in record["results"]:
        inputs = f"; {kind(result)} input, {result['mode']}" if result["work"]["bytes_read"] else ""
        blocks.append(f"{result['op']}: {sizes(result)}{inputs}")
        if result.get("failed"):
            blocks.append(f"not run: {result['failed']}")
        blocks.append(format_grid(COLUMNS, cells(result, record["device"]), form))
        blocks += ["\n".join(_remarks(result, record["device"])), result["note"]]
    return escape("\n\n".join(block for block in blocks if block) + "\n")


def to_json(values: Any) -> str:
    """Return JSON with a line for each value, and one for each list of numbers."""
    text = json.dumps(values, indent=1)
    return NUMBERS.sub(lambda found: " ".join(found[0].split()), text) + "\n"


def escape(text: str) -> str:
    """Return lines without control characters, which a record of somebody else may have."""
    return "\n".join(map(escape_controls, text.split("\n")))


def csv_text(lines: Sequence[Mapping[str, Any]]) -> str:
    """Return CSV with the columns of all lines (RFC 4180, but for line feeds)."""
    columns = dict.fromkeys(name for line in lines for name in line)
    file = io.StringIO()
    writer = csv.DictWriter(file, [*columns], lineterminator="\n")
    writer.writeheader()
    writer.writerows(lines)
    return file.getvalue()


def _plain(result: Result, record: Record) -> Iterator[dict[str, Any]]:
    """Yield the values of each row of a result by column, None for those that it has not."""
    for row in result["rows"]:
        rates = figures(row, result, record["device"])
        time: Mapping[str, Any] = row.get("time", {})
        yield {
            "device": record["device"].get("device", ""),
            **{name: result[name] for name in ("op", "dtype", "input", "mode")},
            **{name: row[name] for name in ("label", "kind", "status", "reason")},
            **{name: time.get(name) for name in ("median", "min", "q1", "q3", "noise", "count")},
            **result["work"],
            **{name: rates.get(name) for name in ("tflops", "gbps", "of_ceiling", "of_peak")},
            **{name: row.get(name) for name in EXTRA},
            **{name: (row.get("resources") or {}).get(name) for name in ("registers", "shared")},
            **result["axes"],
        }


def sizes(result: Result) -> str:
    return ", ".join(f"{name} {size}" for name, size in result["axes"].items())


def kind(result: Result) -> str:
    return f"{result['dtype']}, {result['input']}"


def figures(row: Row, result: Result, device: Device) -> dict[str, Any]:
    """Return TFLOP/s, GB/s, and the shares of the measured ceilings and of the data sheet that a
    row reaches; None if not applicable."""
    if not row.get("time"):
        return {}
    median, work = row["time"]["median"], result["work"]
    return {
        "tflops": work["flop"] / median * 1e-12,
        "gbps": moved(work) / median * 1e-9,
        "of_ceiling": _least_seconds(result, device.get("ceilings", {})) / median or None,
        "of_peak": _least_seconds(result, device.get("peak", {})) / median or None,
    }


def arithmetic_rate(dtype: str) -> Literal["fma_tflops", "mma_tflops"] | None:
    """Return which ceiling limits the arithmetic of a type; None if it is not measured."""
    if dtype.startswith("bfloat16"):
        return "mma_tflops"
    return "fma_tflops" if dtype == "float32" else None


def _least_seconds(result: Result, ceilings: Ceilings) -> float:
    """Return the least time that ceilings allow; 0 if they allow any."""
    work, rate = result["work"], arithmetic_rate(result["dtype"])
    if rate == "mma_tflops" and rate not in ceilings:
        return 0.0  # products of bfloat16 are limited by tensor cores, whose rate is not known
    limits = [0.0]
    if "copy_gbps" in ceilings:
        limits.append(moved(work) / ceilings["copy_gbps"] * 1e-9)
    if rate is not None and rate in ceilings:
        limits.append(work["flop"] / ceilings[rate] * 1e-12)
    return max(limits)


def cells(result: Result, device: Device) -> list[list[str]]:
    """Return the cells of COLUMNS for each row."""
    timed = [row for row in result["rows"] if "time" in row]
    peers = [row["time"]["median"] for row in timed if row["kind"] == "peer"]
    first = next((row["time"]["median"] for row in timed if row["kind"] != "peer"), None)
    lines, before = [], None
    for row in result["rows"]:
        line = {"variant": row["label"] + " (yours)" * (row["kind"] == "mine")}
        line |= {"shows": row.get("shows", ""), "title": row.get("title", "")}
        if "time" not in row:
            line["time"] = row["status"]
        else:
            median = row["time"]["median"]
            line |= _timed(row, result, device)
            if row["kind"] != "stage":
                ladder = "x before" if "shows" in row else "x first"
                line[ladder] = _ratio(before if "shows" in row else first, median)
                before = median
            line["x peer"] = _ratio(min(peers, default=None), median)
        lines.append([line.get(column, "") for column in COLUMNS])
    return lines


def _timed(row: Row, result: Result, device: Device) -> dict[str, str]:
    """Return the cells of a timed row that depend on no other row."""
    time, rates = row["time"], figures(row, result, device)
    return {
        "time": scaled(time["median"], "s"),
        "noise": f"{time['noise']:.1%}" if time["count"] > 1 else "",
        "runs": str(time["count"]),
        "FLOP/s": scaled(rates["tflops"] * 1e12, "") if result["work"]["flop"] else "",
        "GB/s": number(rates["gbps"] or None),
        "of ceiling": "" if rates["of_ceiling"] is None else f"{rates['of_ceiling']:.0%}",
        "of peak": "" if rates["of_peak"] is None else f"{rates['of_peak']:.0%}",
        "Msamples/s": number(row.get("msamples")),
        "Mspheres/s": number(row.get("mspheres")),
        "Mrays/s": number(row.get("mrays")),
        "bytes/sphere": number(row.get("bytes_per_sphere")),
        "nodes": number(row.get("nodes")),
    }


def scaled(value: float, unit: str) -> str:
    """Format a number with a decimal prefix, like 12.3 µs."""
    power = min(max(floor(log10(max(value, 1e-9)) / 3), -3), 4)
    return f"{value / 1000.0**power:.4g} {'nµm kMGT'[power + 3].strip()}{unit}"


def number(value: float | None) -> str:
    """Format a number with three digits or more; "" for None."""
    if value is None:
        return ""
    return f"{value:,.0f}" if value >= 1000 else f"{value:.3g}"


def _ratio(one: float | None, other: float) -> str:
    return f"{one / other:.2f}" if one else ""


def _device_line(record: Record) -> str:
    device = record["device"]
    words = [str(device.get("device", "?"))]
    if driver := device.get("driver"):
        words.append(f"driver {driver}")
    if record["backend"] == "cuda":
        words.append(record["compiler"])
    words += _rates(device.get("ceilings", {}), "copy")
    if peak := device.get("peak"):
        source = device.get("peak_source", "data sheet")
        words.append(f"peak by the {source}: {', '.join(_rates(peak, 'memory'))}")
    if "seed" in record:
        words.append(f"random sizes of seed {record['seed']}")
    return "; ".join([*words, record["date"]])


def _rates(ceilings: Ceilings, memory: str) -> list[str]:
    """Return the rates in words; memory: what moves the bytes."""
    words = []
    if "copy_gbps" in ceilings:
        words.append(f"{memory} {ceilings['copy_gbps']:,.0f} GB/s")
    if "fma_tflops" in ceilings:
        words.append(f"FP32 FMA {ceilings['fma_tflops']:.1f} TFLOP/s")
    if "mma_tflops" in ceilings:
        words.append(f"BF16 tensor cores {ceilings['mma_tflops']:.0f} TFLOP/s")
    return words


def _remarks(result: Result, device: Device) -> list[str]:
    lines = [
        f"{row['label']}: {row['status'].upper()}: {row['reason']}"
        for row in result["rows"]
        if row["status"] != "ok"
    ]
    timed = [row for row in result["rows"] if "time" in row]
    counts = [(row["label"], row["time"]["count"]) for row in timed]
    if few := [f"{label} {count}" for label, count in counts if count < MIN_SAMPLES]:
        lines.append(
            "few runs, so that medians are uncertain (a larger --min-time gives more): "
            + ", ".join(few)
        )
    for row in timed:
        share = figures(row, result, device)["of_ceiling"] or 0.0
        if share > 1.0 + row["time"]["noise"]:
            lines.append(
                f"{row['label']}: {share:.0%} of the ceiling: the ceilings are those of a copy and "
                "of a loop, which a cache or another order can exceed by some per cent"
            )
    lines += _clocks(timed)
    if result.get("input_sets") == 1:
        lines.append("the inputs are the same in all runs: memory has no room for two sets")
    if memory := result.get("memory_used"):
        lines.append(f"at most {memory / 1e9:.2f} GB of device memory in use, including libraries")
    return lines


def _clocks(rows: list[Row]) -> list[str]:
    """Return the lines about the clocks of the device while each row ran."""
    known = [(row["clock"], row["label"]) for row in rows if row.get("clock", {}).get("sm_mhz")]
    if not known:
        return []
    (low, slowest), (high, _) = (
        choose(known, key=lambda each: each[0]["sm_mhz"]) for choose in (min, max)
    )
    watts = max(clock.get("watts", 0) for clock, _ in known)
    line = f"SM clock under load {high['sm_mhz']} MHz, at most {watts} W"
    if low["sm_mhz"] < high["sm_mhz"]:
        line += f"; {low['sm_mhz']} MHz of {slowest}"
    reasons = dict.fromkeys(
        reason for clock, _ in known for reason in clock.get("held_back_by", ())
    )
    return [line, *([f"the GPU was throttled by: {', '.join(reasons)}"] if reasons else [])]


def format_grid(columns: tuple[str, ...], lines: list[list[str]], form: str) -> str:
    """Align the columns that are not empty; "" without lines."""
    if not lines:
        return ""
    kept = [i for i in range(len(columns)) if any(line[i] for line in lines)]
    table = [[line[i] for i in kept] for line in (columns, *lines)]
    sides = ["<" if columns[i] in LEFT else ">" for i in kept]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    padded = [
        [f"{word:{side}{width}}" for word, side, width in zip(line, sides, widths, strict=True)]
        for line in table
    ]
    if form != "markdown":
        return "\n".join("  ".join(line).rstrip() for line in padded)
    ends = {"<": "-", ">": ":"}
    rule = ["-" * (n - 1) + ends[side] for n, side in zip(widths, sides, strict=True)]
    return "\n".join(f"| {' | '.join(line)} |" for line in (padded[0], rule, *padded[1:]))
