"""`raytracer bench build`, `live` and `tone`: spheres, what is reported."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.benchmark import report, run
from raytracer.benchmark.record import Record
from raytracer.benchmark.sphere_kinds import KINDS, spheres
from raytracer.commands.cli import main
from raytracer.config.tone_settings import CURVES
from raytracer.packing.buffers import Bvh

kinds = pytest.mark.parametrize("kind", KINDS)


def tree_of(centers: NDArray[Any], radii: NDArray[Any]) -> Bvh:
    from raytracer import _core

    return Bvh(*_core.build_bvh((*np.ascontiguousarray(centers.T), radii), 2))


@kinds
@pytest.mark.parametrize("count", [1, 2, 1000, 1001])
def test_spheres_are_finite_and_the_same_in_every_run(kind: str, count: int) -> None:
    centers, radii = spheres(kind, count)
    assert (centers.shape, radii.shape) == ((count, 3), (count,))
    assert centers.dtype == radii.dtype == np.float32
    assert np.isfinite(centers).all()
    assert (radii > 0).all()
    again = spheres(kind, count)
    assert (again[0] == centers).all()
    assert (again[1] == radii).all()


def rows_of(record: Any, op: str) -> dict[str, Any]:
    (result,) = (each for each in record["results"] if each["op"] == op)
    return {row["label"]: row for row in result["rows"]}


def test_the_command_builds_and_refits(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--scene", "web", "--size", "500", "--min-time", "0.001", "--backend", "cpu"]
    saved = tmp_path / "build.json"
    assert main(["bench", "build", *words, "--save", str(saved)]) == 0
    table = capsys.readouterr().out
    assert "build refit: scene web, spheres 500" in table
    made = json.loads(saved.read_text())
    tree = tree_of(*spheres("web", 500))
    built = rows_of(made, "build")["build"]
    assert built["nodes"] == len(tree.nodes)
    assert built["bytes_per_sphere"] == tree.nbytes / 500
    assert built["mspheres"] == pytest.approx(500e-6 / built["time"]["median"])
    assert rows_of(made, "build refit")["refit"]["status"] == "ok"


def test_the_command_renders_what_moves(capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--scene", "uniform", "--size", "40,80", "--axis", "width=32", "--axis", "height=24"]
    words += ["--min-time", "0.001", "--backend", "cpu", "--format", "json"]
    assert main(["bench", "live", *words]) == 0
    made = json.loads(capsys.readouterr().out)
    assert [(result["op"], result["axes"]) for result in made["results"]] == [
        ("live", {"scene": "uniform", "spheres": count, "width": 32, "height": 24})
        for count in (40, 80)
    ]
    labels = ["scene made anew", "small steps", "rebuilt", "picture"]
    for live in made["results"]:
        assert [row["label"] for row in live["rows"]] == labels
        assert all(row["time"]["median"] > 0 for row in live["rows"])


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["build", "live"])
def test_it_runs_on_a_gpu(cuda: str, name: str) -> None:
    made = raytracer.bench(name, scene="overlap", size=3000, backend=cuda, min_time=1e-3)
    rows = [row for result in made["results"] for row in result["rows"]]
    assert all(row["nodes"] > 3000 / 64 for row in rows if row["label"] == "build")
    assert {row["status"] for row in rows} <= {"ok", "skipped"}
    assert any(row["status"] == "ok" for row in rows)


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
    text = report.format_record(record, "table")
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
