"""One operation at one size in a record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from raytracer.benchmark.choice import Choice
from raytracer.benchmark.operations.base import Op, Work


def result(
    op: Op, axes: Mapping[str, int], dtype: str, choice: Choice, rows: list[dict[str, Any]]
) -> dict[str, Any]:
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
        "count": asdict(count) if (count := op.count(axes, dtype)) else None,
        "note": op.note,
        "rows": rows,
    }
