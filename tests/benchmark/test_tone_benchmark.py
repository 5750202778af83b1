"""`raytracer bench tone`, on a small film."""

from __future__ import annotations

import pytest

from raytracer.backends.cuda.compile import find_nvcc
from raytracer.benchmark import report, run, tone_benchmark, tone_film
from raytracer.benchmark.record import Record
from raytracer.film.tone_settings import CURVES

SIZE = (96, 64)
NO_NVCC = "film_histogram.cu needs nvcc, which is missing: install the CUDA toolkit"


def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A film that takes no time."""
    monkeypatch.setattr(tone_benchmark, "SIZE", SIZE)
    for function in (tone_film.film, tone_benchmark.on_host, tone_benchmark.on_device):
        defaults = tuple(SIZE if d == (3840, 2160) else d for d in function.__defaults__ or ())
        monkeypatch.setattr(function, "__defaults__", defaults)


def labels(record: Record) -> dict[str, list[str]]:
    """The rows of each result."""
    return {r["op"]: [row["label"] for row in r["rows"]] for r in record["results"]}


def test_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)
    record = run.bench("tone", backend="cpu", min_time=1e-3)
    assert labels(record) == {
        "tone histogram": ["on all cores"],
        "tone picture": ["one pass"],
        "tone whole": list(CURVES),
    }
    text = report.text(record, "table")
    assert "NumPy" not in text
    assert "GB/s" in text
    pixels = SIZE[0] * SIZE[1]
    whole = record["results"][2]["work"]
    assert (whole["bytes_read"], whole["bytes_written"]) == (32 * pixels, 4 * pixels)


@pytest.mark.gpu
def test_on_a_gpu_every_pass_is_checked(cuda: str, monkeypatch: pytest.MonkeyPatch) -> None:
    small(monkeypatch)
    record = run.bench("tone", backend=cuda, min_time=1e-3)
    found = labels(record)
    assert found["tone histogram"] == ["one kernel", "CUB over a transform iterator"]
    assert found["tone picture"] == ["three passes", "one pass"]
    assert found["tone whole"] == list(CURVES)
    rows = [row for result in record["results"] for row in result["rows"]]
    if find_nvcc() is None:  # NVRTC compiles no host code
        (library,) = (row for row in rows if row["kind"] == "peer")
        assert (library["status"], library["reason"]) == ("skipped", NO_NVCC)
        rows.remove(library)
    assert all(row["status"] == "ok" for row in rows), rows
    assert record["device"]["ceilings"]["copy_gbps"] > 0


def test_the_film_has_light_of_every_kind() -> None:
    statistics = tone_film.film((200, 100)).statistics()
    assert 0.85 < statistics.covered / statistics.pixels < 0.95
    assert statistics.stops > 8
