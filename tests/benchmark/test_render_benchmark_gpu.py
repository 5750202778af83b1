"""Every rung of the render ladder on a GPU: its pictures are the CPU's on every example scene."""

from dataclasses import replace
from typing import Any

import pytest

from raytracer.benchmark import render_benchmark
from raytracer.benchmark.benchmark import BenchOptions
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.record import Row
from raytracer.benchmark.render_benchmark import Ladder, rungs
from raytracer.benchmark.run import find
from raytracer.model.scene import Scene
from raytracer.packing.buffers import build_bvh
from raytracer.packing.pack import pack
from support.project import to_project
from support.scenes import random_scene

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

SIZE = (161, 91)  # no multiple of a tile


def run_ladder(scene: Scene, chosen: Any) -> list[Row]:
    """The rows of some rungs on a scene, timed for a moment."""
    buffers = pack(scene, scene.render.override(width=SIZE[0], height=SIZE[1], samples=1))
    tree = build_bvh(buffers)
    return Ladder(buffers, tree, SIZE, SIZE).run(chosen, 1e-6, lambda _: None)


@pytest.mark.parametrize("name", render_benchmark.SCENES)
def test_pictures_of_all_rungs_are_those_of_the_cpu(name: str) -> None:
    axes = {"width": [SIZE[0]], "height": [SIZE[1]]}
    options = BenchOptions(axes=axes, min_time=1e-6, scenes=(name,))
    with Session() as session:
        (found,) = find("render").run(session, options, lambda _: None)
    ladder = [row for row in found["rows"] if row["kind"] == "variant"]
    assert len(ladder) == len(rungs("cuda"))
    assert {row["status"] for row in ladder} <= {"ok", "skipped"}, ladder
    skipped = [row for row in ladder if row["status"] == "skipped"]
    assert all("from the correct picture" in row["reason"] for row in skipped)
    timed = [row for row in ladder if row["status"] == "ok"]
    assert timed
    assert all(row["msamples"] > 0 and row["time"]["median"] > 0 for row in timed)


@pytest.mark.parametrize("count", [0, 1, 5, 3000, 3329])
def test_small_and_awkward_scenes(count: int) -> None:
    rows = run_ladder(to_project(random_scene(7, count, mirror=True)), rungs("cuda"))
    assert [row["status"] for row in rows] == ["ok"] * len(rows), rows


def test_wrong_picture_is_shown_and_not_timed() -> None:
    (flat,) = rungs("cuda", ["04"])
    (row,) = run_ladder(to_project(random_scene(8, 40)), [replace(flat, level="shadows")])
    assert row["status"] == "wrong"
    assert "differ" in row["reason"]
    assert "time" not in row


@pytest.mark.parametrize("variant", ["09", "13"])
def test_profiled_frame_is_one_launch(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from raytracer.backends.cuda.kernel import RenderKernel

    launches: list[Any] = []
    launch = RenderKernel.render

    def counted(self: RenderKernel, arguments: Any, group: Any) -> float:
        launches.append(group)
        return launch(self, arguments, group) + 10.0  # so slow that a render would cut its frames

    monkeypatch.setattr(RenderKernel, "render", counted)
    options = BenchOptions((variant,), {"width": [641], "height": [361]}, scenes=("weekend",))
    assert len(find("render").profile(options)) == 1
    assert len(launches) == 2  # to warm up, and between the marks
