"""Text of a run at sizes drawn at random: statistics of each group, and the worst sizes."""

from __future__ import annotations

from raytracer.benchmark.presentation import seconds
from raytracer.benchmark.random_sizes import ratio, share
from raytracer.benchmark.record import Device, Record, Result

COLUMNS = (
    "operation", "group", "ratio to", "sizes", "mean", "worst", "10%", "median", "90%", "failed",
    "worst at",
)  # fmt: skip
WORST_COLUMNS = ("operation", "size", "kernel", "time", "fastest library", "ratio", "of ceiling")
WORST = 10  # sizes listed
MEASURES = {"peer": "library", "ceiling": "ceiling"}


def statistics(record: Record) -> list[list[str]]:
    """Return the cells of COLUMNS; the mean is geometric."""
    return [
        [
            f"{row['op']} {row['dtype']}",
            row["group"],
            MEASURES[row["measure"]],
            str(row["count"]),
            f"{row['geometric_mean']:.3f}",
            f"{row['worst']:.3f}",
            *(f"{value:.3f}" for value in row["quantiles"]),
            str(row["failed"]) if row["failed"] else "",
            " ".join(f"{name}={size}" for name, size in row["worst_axes"].items()),
        ]
        for row in record["random_sizes"]["statistics"]
    ]


def worst(record: Record) -> list[list[str]]:
    """Return the cells of WORST_COLUMNS for the sizes with the lowest ratios."""
    device = record["device"]
    rated = [(value, r) for r in record["results"] if (value := _value(r, device)) is not None]
    return [_cells(result, device) for _, result in sorted(rated, key=lambda pair: pair[0])[:WORST]]


def failures(record: Record) -> list[str]:
    """Return a line for each size at which a kernel failed or nothing was timed."""
    return [
        f"{result['op']} {_axes(result)}: {reason}"
        for result in record["results"]
        for reason in [
            result.get("failed", ""),
            *(f"{r['label']}: {r['status']}: {r['reason']}" for r in result["rows"] if r["reason"]),
        ]
        if reason
    ]


def _value(result: Result, device: Device) -> float | None:
    return ratio(result) or share(result, device)


def _cells(result: Result, device: Device) -> list[str]:
    timed = [row for row in result["rows"] if "time" in row]
    ours = min((r for r in timed if r["kind"] != "peer"), key=lambda r: r["time"]["median"])
    peers = sorted((r["time"]["median"], r["label"]) for r in timed if r["kind"] == "peer")
    value, ceiling = ratio(result), share(result, device)
    return [
        f"{result['op']} {result['dtype']}",
        _axes(result),
        ours["label"],
        seconds(ours["time"]["median"]),
        f"{peers[0][1]}: {seconds(peers[0][0])}" if peers else "",
        f"{value:.3f}" if value else "",
        f"{ceiling:.0%}" if ceiling else "",
    ]


def _axes(result: Result) -> str:
    return " ".join(f"{name}={size}" for name, size in result["axes"].items())
