"""`raytracer bench tone`, on a small film."""

import pytest

from raytracer.benchmark import report, run
from raytracer.benchmark.record import Record
from raytracer.film.tone_settings import CURVES

AXES = {"width": 96, "height": 64}


def labels(record: Record) -> dict[str, list[str]]:
    """The rows of each result."""
    return {r["op"]: [row["label"] for row in r["rows"]] for r in record["results"]}


def test_on_the_cpu() -> None:
    record = run.bench("tone", backend="cpu", min_time=1e-3, axes=AXES)
    assert labels(record) == {
        "tone histogram": ["on all cores"],
        "tone picture": ["one pass"],
        "tone whole": list(CURVES),
    }
    text = report.text(record, "table")
    assert "NumPy" not in text
    assert "GB/s" in text
    pixels = 96 * 64
    whole = record["results"][2]["work"]
    assert (whole["bytes_read"], whole["bytes_written"]) == (32 * pixels, 4 * pixels)


@pytest.mark.gpu
def test_on_a_gpu_every_pass_is_checked(cuda: str) -> None:
    record = run.bench("tone", backend=cuda, min_time=1e-3, axes=AXES)
    found = labels(record)
    assert found["tone histogram"] == ["one kernel"]
    assert found["tone picture"] == ["three passes", "one pass"]
    assert found["tone whole"] == list(CURVES)
    rows = [row for result in record["results"] for row in result["rows"]]
    assert all(row["status"] == "ok" for row in rows), rows
    assert record["device"]["ceilings"]["copy_gbps"] > 0
