"""Comparison of two records of one machine: faster, slower, the same, or unsure."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from raytracer.benchmark.record import Record, Times, validated
from raytracer.errors import fitted, shown
from raytracer.files.access import opened, parse_json, reading

SAME, FASTER, SLOWER, UNSURE = "SAME", "FASTER", "SLOWER", "UNSURE"
FLOOR = 0.01  # smallest relative change that counts
RECORD_BYTES = 1 << 26  # limit of a file; a full record has less than a megabyte
MAX_SAME_NOISE = 0.03  # with more noise no row is called the same


@dataclass(frozen=True)
class Change:
    """One row in both records."""

    where: str
    old: float  # median seconds
    new: float
    spread: float  # relative, of both medians
    verdict: str

    def __str__(self) -> str:
        return f"{self.verdict:<6} {self.new / self.old - 1:+7.1%} ±{self.spread:.1%}  {self.where}"


def compare(old: Record, new: Record) -> list[Change]:
    before = dict(_rows(old))
    return [change(where, before[where], time) for where, time in _rows(new) if where in before]


def change(where: str, old: Times, new: Times) -> Change:
    """Compare two statistics (see `timing.statistics`)."""
    # Half the interquartile range approximates the error of a median.
    spread = math.hypot(*(0.5 * (time["q3"] - time["q1"]) / time["median"] for time in (old, new)))
    difference = new["median"] / old["median"] - 1
    if abs(difference) > max(FLOOR, 2 * spread):
        verdict = SLOWER if difference > 0 else FASTER
    elif abs(difference) <= FLOOR and spread <= MAX_SAME_NOISE:
        verdict = SAME
    else:
        verdict = UNSURE
    return Change(where, old["median"], new["median"], spread, verdict)


def text(changes: list[Change], old: Record, new: Record) -> str:
    lines = [fitted(str(change)) for change in changes] or ["the records have no row in common"]
    devices = [record["device"].get("device") for record in (old, new)]
    if devices[0] != devices[1]:
        first, second = (shown(str(device)) for device in devices)
        lines.append(f"the records are of different devices: {first} and {second}")
    return "\n".join(lines) + "\n"


def read(path: Path) -> Record:
    """Read a saved record; raise DataFileError for an invalid file."""
    with opened(path) as file:
        text = file.read(RECORD_BYTES)
        with reading(file.source, "JSON"):
            content = parse_json(text.decode("utf-8"), file.source, "its results")
    return validated(content, str(path))


def _rows(record: Record) -> Iterator[tuple[str, Times]]:
    for result in record["results"]:
        axes = " ".join(f"{name}={size}" for name, size in result["axes"].items())
        heading = f"{result['op']} {axes} {result['dtype']} {result['input']} {result['mode']}"
        for row in result["rows"]:
            if row.get("time"):
                yield f"{heading} {row['label']}", row["time"]
