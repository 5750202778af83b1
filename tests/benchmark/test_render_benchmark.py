"""The render ladder without a GPU: its rungs, its pictures, its reports."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.backends.base import CpuDevice, CpuScene
from raytracer.backends.kernel_sources import discover_variants
from raytracer.benchmark import render_benchmark, run
from raytracer.benchmark.render_benchmark import Ladder, Rung, rungs
from raytracer.commands.cli import main
from raytracer.config.errors import BackendError, UserError
from raytracer.packing.buffers import build_bvh
from raytracer.packing.pack import pack
from reference import RefScene
from support.project import to_project
from support.scenes import KEY, LAMP, random_scene

SIZE = (48, 32)


def ladder_of(scene: RefScene, checked: tuple[int, int] = SIZE) -> Ladder:
    ours = to_project(scene)
    buffers = pack(ours, ours.render.override(width=SIZE[0], height=SIZE[1], samples=1))
    return Ladder(buffers, build_bvh(buffers), SIZE, checked)


def test_every_variant_is_a_rung_and_the_last_one_is_complete() -> None:
    found = rungs("cuda")
    assert [rung.label for rung in found] == [
        variant.label for variant in discover_variants("render")
    ]
    assert {rung.layout for rung in found} == set(render_benchmark.LAYOUTS)
    assert {rung.level for rung in found} == set(render_benchmark.LEVELS)
    levels = [list(render_benchmark.LEVELS).index(rung.level) for rung in found]
    assert levels == sorted(levels)
    assert found[-1].level == "samples"


def test_layouts_hold_the_same_spheres() -> None:
    ladder = ladder_of(random_scene(1, 37))
    buffers, tree = ladder.buffers, ladder.arranged("")
    soa, aos, binary, plain = (ladder.arranged(name) for name in ("soa", "aos", "binary", "list"))
    assert sorted(binary.order.tolist()) == sorted(tree.order.tolist())
    assert (soa.spheres == tree.spheres.T).all()
    assert soa.spheres.flags.c_contiguous
    assert (aos.spheres[:, :4] == tree.spheres).all()
    assert (aos.spheres[:, 4:] == buffers.color[tree.order]).all()
    assert plain.spheres is tree.spheres
    assert plain.nodes.size == soa.nodes.size == aos.nodes.size == 0
    with pytest.raises(UserError, match="layout 'sao'; did you mean"):
        ladder.arranged("sao")


def test_levels_show_more_and_more() -> None:
    scene = random_scene(5, 60, mirror=True).but(lights=(KEY, LAMP))
    ladder = ladder_of(scene)
    films = {level: ladder.reference(level) for level in render_benchmark.LEVELS}
    flat = films["flat"].sums[films["flat"].sums[..., 3] > 0]
    assert flat.size
    for level, film in films.items():
        assert render_benchmark.difference(film, films[level]) == ""
    names = list(films)
    for before, level in pairwise(names):
        assert "differ from the CPU's" in render_benchmark.difference(films[level], films[before])
    assert films["samples"].samples == render_benchmark.SAMPLES
    assert films["samples"].mean() == pytest.approx(films["mirrors"].mean(), abs=1.5)


def test_last_level_is_the_picture_of_render() -> None:
    scene = random_scene(6, 40, mirror=True)
    size: Any = {"width": SIZE[0], "height": SIZE[1], "samples": render_benchmark.SAMPLES}
    wanted = raytracer.render(to_project(scene), backend="cpu", **size)
    assert ladder_of(scene).reference("samples").sums.tobytes() == wanted.film.sums.tobytes()


def test_pictures_that_are_wrong_are_told() -> None:
    good = ladder_of(random_scene(5, 60)).reference("phong")
    bad = good.copy()
    bad.sums[7, 3, 1] = np.nan
    assert "not finite" in render_benchmark.difference(bad, good)
    bad.sums[...] = good.sums
    bad.sums[7:9, 3] += 0.5
    assert "2 of 1536 pixels differ from the CPU's, first 3,7" in render_benchmark.difference(
        bad, good
    )
    bad.sums[...] = good.sums
    bad.sums[..., :3] *= np.float32(1.006)
    assert "on average" in render_benchmark.difference(bad, good)


# a run of the ladder, with a rung that runs on the CPU


class StandScene(CpuScene):
    """A scene with a kernel."""

    def describe(self, view: Any) -> dict[str, Any]:
        """Return the resources of the kernel."""
        return {"registers": 32}


def raced(mode: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """The row of a stand-in for 10_antialiasing, a linear list: wrong, slow, or at fault."""
    expose = render_benchmark.expose

    def spoiled(film: Any, scene: Any, view: Any) -> float:
        seconds = expose(film, scene, view)
        if mode == "fault" and isinstance(scene, StandScene):
            raise BackendError("CUDA: it broke")
        if mode == "wrong" and isinstance(scene, StandScene):
            film.host.sums[:9] = 0.0
        return 100.0 if mode == "slow" else seconds

    (rung,) = rungs("cuda", ["10"])
    ladder, stand = ladder_of(random_scene(5, 60, mirror=True), (33, 21)), CpuDevice()
    tree = ladder.arranged("")
    monkeypatch.setattr(stand, "scene", lambda seen, _: StandScene(seen, tree, stand.threads))
    monkeypatch.setattr(Rung, "device", lambda of: stand if of.variant else CpuDevice())
    monkeypatch.setattr(render_benchmark, "expose", spoiled)
    (row,) = ladder.run([rung], 0.001, lambda _: None)
    return dict(row)


@pytest.mark.parametrize(
    ("mode", "status", "reason"),
    [
        ("right", "ok", ""),
        ("wrong", "wrong", "pixels differ from the CPU's"),
        ("slow", "skipped", "a frame would take about 2.2e+02 s"),
        ("fault", "failed", "CUDA: it broke"),
    ],
)
def test_right_rungs_are_timed_and_others_are_shown(
    mode: str, status: str, reason: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = raced(mode, monkeypatch)
    assert row["status"] == status
    assert reason in row["reason"]
    assert ("time" in row) == (status == "ok")
    if status == "ok":
        assert row["msamples"] == pytest.approx(1e-6 * 4 * 1536 / row["time"]["median"])
        assert row["resources"] == {"registers": 32, "shared": 0, "threads": 128}
        assert row["bytes_per_sphere"] == 20  # four numbers and the order


def test_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "explain_missing", lambda *_: "there is no GPU in this test")
    saved = tmp_path / "render.json"
    size = ["--axis", "width=32", "--axis", "height=24"]
    words = ["bench", "render", "--scene", "weekend", "--scene", "three_balls", *size]
    assert main([*words, "--min-time", "0.001", "--save", str(saved)]) == 0
    capsys.readouterr()
    kept = json.loads(saved.read_text(encoding="utf-8"))
    assert [result["axes"]["scene"] for result in kept["results"]] == ["three_balls", "weekend"]
    assert kept["device"]["device"] == CpuDevice().describe()["device"]
    assert main(["bench", "render", "--list"]) == 0
    assert "13_packet" in capsys.readouterr().out
