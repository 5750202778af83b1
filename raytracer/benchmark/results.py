"""One operation at one size in a record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from raytracer.benchmark.choice import Choice
from raytracer.benchmark.operations.base import Op, Work
from raytracer.benchmark.record import Device, OtherCount, Result, Row


def result(op: Op, axes: Mapping[str, int], dtype: str, choice: Choice, rows: list[Row]) -> Result:
    """One operation at one size, as JSON types."""
    work: Work = op.work(axes, dtype)
    return {
        "op": op.name,
        "axes": dict(axes),
        "dtype": dtype,
        "input": choice.distribution,
        "mode": choice.mode,
        "work": {
            "flop": work.flop,
            "bytes_read": work.bytes_read,
            "bytes_written": work.bytes_written,
        },
        "count": _count(op, axes, dtype),
        "note": op.note,
        "rows": rows,
    }


def _count(op: Op, axes: Mapping[str, int], dtype: str) -> OtherCount | None:
    if (count := op.count(axes, dtype)) is None:
        return None
    return {"label": count.label, "flop": count.flop, "bytes": count.bytes}


def device_of(backend: Any) -> Device:
    """What a backend says of itself, but the memory that happens to be free."""
    about = {key: value for key, value in backend.describe().items() if key != "memory_free"}
    return cast(Device, {"name": backend.name} | about)
