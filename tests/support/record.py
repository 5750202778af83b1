"""A record of a test run on a GPU: which kernels, on what, with what result."""

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any


def write_record(path: Path, stats: Mapping[str, Sequence[Any]], exit_status: int) -> None:
    """Write counts of outcomes, failures, the device and the digest of the kernels as JSON.

    stats: pytest's outcome name -> reports.
    """
    import raytracer
    from raytracer.benchmark.run import kernel_digest

    record: dict[str, Any] = {
        "what": "pytest -m gpu",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": raytracer.__version__,
        "kernel_digest": kernel_digest(),
        "devices": [d for d in raytracer.devices() if d["backend"] == "cuda"],
        "outcomes": {
            name: len(stats.get(name, ())) for name in ("passed", "failed", "error", "skipped")
        },
        "failures": [
            report.nodeid for name in ("failed", "error") for report in stats.get(name, ())
        ],
        "exit_status": exit_status,
    }
    path.write_text(json.dumps(record, indent=1, default=str) + "\n")
