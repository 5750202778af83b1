"""Two records of the bench, compared row by row.

Samples of one turn share clocks, caches and neighbours, so the turns are independent and not the
samples. The difference of the mean logarithms of their medians has the interval of Welch (1947),
widened by what one run of the same program differs from the next. No single run shows that: it is
taken as the scatter of the turns, whose disturbances may last for the run, and 0.3% at least.
"""

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

import numpy as np

from raytracer.benchmark.record import Record, Result, Row, read_record, validate_record
from raytracer.benchmark.report import FORMS, csv_text, escape, format_grid, scaled, sizes, to_json
from raytracer.config.arguments import check_word
from raytracer.config.errors import UserError
from raytracer.files.access import is_path

TOLERANCE = 0.02  # rows whose times differ by less are the same
RUN_NOISE = 0.003  # standard deviation of the time of one run of the same program, relative
TURNS = 8  # into which the samples of earlier records, which do not name theirs, are divided
BUSY = 1.5  # processes that run or wait, by threads of the CPU: others disturb the bench above it
NORMAL = 1.959964  # standard deviations on both sides that have 95% of a normal distribution

Verdict = Literal["faster", "slower", "same", "undecided"]
Interval = tuple[float, float]
COLUMNS = ("variant", "A", "B", "B / A", "95% interval", "B is")


class Comparison(TypedDict):
    """The times of a row in two records, A and B."""

    op: str
    axes: dict[str, int | str]
    dtype: str
    input: str
    mode: str
    label: str
    verdict: Verdict  # of B
    before: float  # seconds, median of A
    after: float
    ratio: float  # time of B / time of A, of the medians of the turns
    interval: Interval | None  # of the ratio, 95%; None: one has a single turn


class ComparedRecords(TypedDict):
    """The rows that two records have in common, and in sentences how the records differ."""

    rows: list[Comparison]
    remarks: list[str]


Key = tuple[str, str, str, str, str, str]


def compare_records(
    a: Record | str | Path, b: Record | str | Path, names: tuple[str, str] | None = None
) -> ComparedRecords:
    """Compare the times of two records of the bench.

    A row of B is "same" as that of A if the 95% interval of the ratio of their times lies within 2%
    of 1; "faster" or "slower" if the ratio differs from 1 by more than 2% and the interval does not
    contain 1; otherwise "undecided": longer runs (`min_time`) decide.

    Args:
        a: a record of `raytracer.bench`, or a path of one that was saved.
        b: another one.
        names: of the records in remarks; by default their paths, or A and B.

    Raises:
        UserError: a file is no record, or no row is in both.
    """
    given = [str(each) if is_path(each) else letter for each, letter in ((a, "A"), (b, "B"))]
    first, second = names or (given if given[0] != given[1] else ("A", "B"))
    records = [
        read_record(each) if is_path(each) else validate_record(each, name)
        for each, name in ((a, first), (b, second))
    ]
    one, two = (dict(_rows(each)) for each in records)
    busy = [name for name, each in zip((first, second), records, strict=True) if _is_busy(each)]
    rows = [_compare(*one[key], two[key][1], bool(busy)) for key in one if key in two]
    if not rows:
        having = (f"{name} has {_described(each)}" for name, each in ((first, one), (second, two)))
        raise UserError(f"the records have no timed row in common: {', '.join(having)}")
    remarks = [*_differences(records[0], records[1], first, second)]
    if busy:
        remarks.append(
            f"other programs ran during the bench of {' and '.join(busy)}: on a busy CPU all rows "
            "stay undecided"
        )
    for name, mine, others in ((first, one, two), (second, two, one)):
        if alone := [each for key, each in mine.items() if key not in others]:
            remarks.append(f"only {name} has {_listed(alone)}")
    return {"rows": rows, "remarks": remarks}


def format_comparison(compared: ComparedRecords, form: str = "table") -> str:
    """Format what `compare_records` returns: "table", "markdown", "csv" or "json"."""
    check_word(form, "format", FORMS, "format")
    if form == "json":
        return to_json(compared)
    if form == "csv":
        return _as_csv(compared["rows"])
    blocks, parts = list[str](), dict[str, list[list[str]]]()
    for row in compared["rows"]:
        title = f"{row['op']}: {where(row)}"
        parts.setdefault(title, []).append(_cells(row))
    for title, lines in parts.items():
        blocks += [title, format_grid(COLUMNS, lines, form)]
    blocks.append("\n".join([_counted(compared["rows"]), *compared["remarks"]]))
    return escape("\n\n".join(blocks) + "\n")


def _as_csv(rows: list[Comparison]) -> str:
    lines = []
    for row in rows:
        line: dict[str, Any] = {k: v for k, v in row.items() if k not in ("axes", "interval")}
        line |= row["axes"]
        line["low"], line["high"] = row["interval"] or (None, None)
        lines.append(line)
    return csv_text(lines)


def _cells(row: Comparison) -> list[str]:
    times = scaled(row["before"], "s"), scaled(row["after"], "s")
    interval = "unknown: one turn"
    if row["interval"]:
        interval = "{:.3f} to {:.3f}".format(*row["interval"])
    return [row["label"], *times, f"{row['ratio']:.3f}", interval, row["verdict"]]


def _counted(rows: list[Comparison]) -> str:
    verdicts = [row["verdict"] for row in rows]
    counts = (f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts))
    line = f"{', '.join(counts)}; same: within {TOLERANCE:.0%} of each other"
    if "undecided" in verdicts:
        line += "; undecided: a larger --min-time of both can decide"
    return line


def _rows(record: Record) -> Iterator[tuple[Key, tuple[Result, Row]]]:
    """Yield the timed rows of a record with what must agree in another one."""
    for result in record["results"]:
        axes = ", ".join(f"{name}={size}" for name, size in sorted(result["axes"].items()))
        for row in result["rows"]:
            if row["status"] == "ok" and row.get("samples") and "time" in row:
                key = result["op"], axes, result["dtype"], result["input"], result["mode"]
                yield (*key, row["label"]), (result, row)


def _is_busy(record: Record) -> bool:
    """Whether other programs competed for the CPU that was timed, for longer than a turn."""
    return record["load_average"] > BUSY * record["device"].get("threads", math.inf)


def _compare(result: Result, before: Row, after: Row, is_busy: bool) -> Comparison:
    ratio, interval = ratio_interval(_turns(before), _turns(after))
    return {
        "op": result["op"], "axes": result["axes"], "dtype": result["dtype"],
        "input": result["input"], "mode": result["mode"], "label": before["label"],
        "verdict": "undecided" if is_busy else judge(ratio, interval),
        "before": before["time"]["median"], "after": after["time"]["median"],
        "ratio": ratio, "interval": interval,
    }  # fmt: skip


def judge(ratio: float, interval: Interval | None) -> Verdict:
    """Return the verdict for a ratio of times with its interval."""
    (low, high), most = interval or (0.0, math.inf), 1 + TOLERANCE
    if 1 / most <= low and high <= most:
        return "same"
    if low > 1 and ratio > most:
        return "slower"
    return "faster" if high < 1 and ratio < 1 / most else "undecided"


def _turns(row: Row) -> list[list[float]]:
    """Return the samples of each turn."""
    samples, counts = row["samples"], row.get("groups")
    if not counts or sum(counts) != len(samples) or min(counts) < 1:
        parts = np.array_split(samples, min(TURNS, len(samples)))
        return [part.tolist() for part in parts]
    ends = np.cumsum(counts)[:-1]
    return [part.tolist() for part in np.split(np.asarray(samples), ends)]


def ratio_interval(
    before: list[list[float]], after: list[list[float]]
) -> tuple[float, Interval | None]:
    """Return the ratio of the times of two runs, after / before, and its 95% interval.

    before, after: seconds, the samples of each turn. Of a single turn the noise is unknown, and so
    is the interval.
    """
    logs = [np.log([np.median(turn) for turn in turns]) for turns in (before, after)]
    ratio = float(np.exp(logs[1].mean() - logs[0].mean()))
    if min(map(len, logs)) < 2:
        return ratio, None
    squares = [each.var(ddof=1) / len(each) for each in logs]
    among = sum(square**2 / (len(each) - 1) for square, each in zip(squares, logs, strict=True))
    freedom = int(sum(squares) ** 2 / among) if among else len(logs[0]) + len(logs[1]) - 2
    within = student(max(1, freedom)) * math.sqrt(sum(squares))
    # What disturbs a turn may last: the whole run is then as uncertain as one turn.
    runs = [max(RUN_NOISE, float(each.std(ddof=1))) for each in logs]
    half = math.hypot(within, NORMAL * math.hypot(*runs))
    return ratio, (ratio * math.exp(-half), ratio * math.exp(half))


def student(freedom: int) -> float:
    """Return the two-sided 95% quantile of Student's t distribution.

    From three degrees of freedom on by the expansion of Cornish and Fisher (Abramowitz and Stegun,
    26.7.5), to a part in 200.
    """
    if freedom < 3:
        return (12.7062, 4.30265)[freedom - 1]
    z, n = NORMAL, float(freedom)
    return (
        z
        + (z**3 + z) / (4 * n)
        + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * n**2)
        + (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * n**3)
        + (79 * z**9 + 776 * z**7 + 1482 * z**5 - 1920 * z**3 - 945 * z) / (92160 * n**4)
    )


def _differences(a: Record, b: Record, first: str, second: str) -> Iterator[str]:
    """Yield a sentence for each difference of the records that affects times."""
    facts: Mapping[str, tuple[object, object]] = {
        "device": (a["device"].get("device", "?"), b["device"].get("device", "?")),
        "driver": (a["device"].get("driver", ""), b["device"].get("driver", "")),
        "compiler": (a["compiler"], b["compiler"]),
        "sources of the CUDA kernels (digest)": (a["kernel_digest"], b["kernel_digest"]),
        **{
            f"version of {name}": (a["versions"].get(name, ""), b["versions"].get(name, ""))
            for name in {**a["versions"], **b["versions"]}
        },
    }
    for name, (one, two) in facts.items():
        if one != two:
            yield f"the {name} differs: {one or 'none'} in {first}, {two or 'none'} in {second}"
    for op in dict.fromkeys(result["op"] for result in a["results"]):
        one, two = (
            {f"{sizes(result)}; {result['dtype']}, {result['input']}, {result['mode']}": None
             for result in record["results"] if result["op"] == op}
            for record in (a, b)
        )  # fmt: skip
        if two and one.keys() != two.keys():
            words = [" and ".join(each) for each in (one, two)]
            yield (
                f"{op} was measured at {words[0]} in {first}, and at {words[1]} in {second}: only "
                "rows of the same sizes, type, input and mode are compared"
            )


def where(of: Result | Comparison) -> str:
    axes = ", ".join(f"{name} {size}" for name, size in of["axes"].items())
    return f"{axes}; {of['dtype']}, {of['input']}, {of['mode']}"


def _listed(alone: list[tuple[Result, Row]]) -> str:
    parts = dict[str, list[str]]()
    for result, row in alone:
        parts.setdefault(f"{result['op']} ({where(result)})", []).append(row["label"])
    return "; ".join(f"{op}: {', '.join(labels)}" for op, labels in parts.items())


def _described(rows: Mapping[Key, tuple[Result, Row]]) -> str:
    """Return what a record has been measured, without its rows."""
    names = dict.fromkeys(f"{result['op']} ({where(result)})" for result, _ in rows.values())
    return ", ".join([*names][:4]) + (" and others" if len(names) > 4 else "") or "no times"
