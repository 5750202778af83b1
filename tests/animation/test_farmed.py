"""Animations by workers: the frames are those of one process, whatever happens to the workers."""

from __future__ import annotations

import os
import random
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from raytracer.animation import farmed
from raytracer.animation.shots import Renderer
from raytracer.cli import main
from raytracer.farm import crew as crews
from raytracer.farm.local import LocalCrew
from raytracer.trajectory.source import FileSource
from support.movies import assert_same_movie

SMALL: dict[str, Any] = {"width": 32, "height": 18, "samples": 1, "backend": "cpu"}
OPTIONS = ["--width", "32", "--height", "18", "--samples", "1", "--backend", "cpu"]
FRAMES = 24


@pytest.fixture
def trajectory(tmp_path: Path) -> Path:
    """Atoms that move apart; in every third frame there is one more."""
    text = ""
    for k in range(FRAMES):
        atoms = [("O", 0.0, 0.0), ("H", 1.0 + k, 0.3), ("H", -1.0 - k, 0.3)]
        atoms += [("N", 0.0, 2.0)] if k % 3 == 2 else []
        text += f"{len(atoms)}\n{k}\n" + "".join(f"{s} {x} {y} 0\n" for s, x, y in atoms)
    path = tmp_path / "water.xyz"
    path.write_text(text)
    return path


def in_folder(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_killed_workers_lose_nothing(trajectory: Path, tmp_path: Path) -> None:
    """The exposure is metered in the first frame, and each frame has noise of its own."""
    pytest.importorskip("av")
    options = SMALL | {"tone": {"exposure": "auto"}, "grain": "moving", "look": "soft"}
    whole = raytracer.animate(trajectory, **options).save(tmp_path / "whole.mp4")
    animation = raytracer.animate(trajectory, **options)
    with pytest.MonkeyPatch.context() as patch:
        made = _crews_seen(patch)
        victims = random.Random(5)

        def kill(done: int, total: int) -> None:
            if done in (3, 4, 11):
                running = list(made[0].processes.values())
                with suppress(ProcessLookupError):  # killed before, and not yet replaced
                    os.kill(victims.choice(running).pid, signal.SIGKILL)
                    killed.append(done)

        killed: list[int] = []
        path = animation.save(tmp_path / "a.mp4", workers=2, progress=kill)
    assert killed
    assert_same_movie(path, whole)
    assert in_folder(tmp_path) == [
        "a.mp4", "a.poster.png", "water.xyz", "whole.mp4", "whole.poster.png",
    ]  # fmt: skip
    one, other = (tmp_path / f"{name}.poster.png" for name in ("a", "whole"))
    with Pillow.open(one) as poster, Pillow.open(other) as wanted:
        np.testing.assert_array_equal(np.asarray(poster), np.asarray(wanted))
        assert poster.info.keys() == wanted.info.keys()


def _crews_seen(patch: pytest.MonkeyPatch) -> list[LocalCrew]:
    """Note every crew of local workers that is made."""
    made: list[LocalCrew] = []

    class Seen(LocalCrew):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    patch.setattr("raytracer.farm.local.LocalCrew", Seen)
    return made


def test_a_run_of_workers_goes_on_in_one_process(trajectory: Path, tmp_path: Path) -> None:
    def stop(done: int, total: int) -> None:
        if done == 5:
            raise KeyboardInterrupt

    path, whole = tmp_path / "a.gif", tmp_path / "b.gif"
    with pytest.raises(KeyboardInterrupt):
        raytracer.animate(trajectory, **SMALL).save(path, workers=2, progress=stop)
    finished = len(list((tmp_path / "a.gif.frames").glob("*.npz")))
    assert 5 <= finished <= FRAMES
    again = raytracer.animate(trajectory, **SMALL)
    again.save(path)
    assert len(again.seconds) <= FRAMES - finished
    raytracer.animate(trajectory, **SMALL).save(whole)
    assert_same_movie(path, whole)


@pytest.mark.slow
def test_numbered_pictures_of_workers(
    trajectory: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "out"
    arguments = ["animate", str(trajectory), "-o", f"{folder}/###.png", "--frames", ":5", *OPTIONS]
    assert main([*arguments, "--workers", "2"]) == 0
    said = capsys.readouterr()
    assert "5 frames, 0.167 s at 30 frames/s" in said.out
    assert said.err == ""
    assert in_folder(folder) == [f"{k:03d}.png" for k in range(5)]
    for k, image in enumerate(raytracer.animate(trajectory, frames=":5", **SMALL)):
        with Pillow.open(folder / f"{k:03d}.png") as picture:
            np.testing.assert_array_equal(np.asarray(picture), image.to_uint8())


class _HereCrew(crews.Crew):
    """One worker in this process, which makes each call twice."""

    size, backend = 1, "cpu"

    def share(self, shared: Any) -> Any:
        return shared

    def submit(self, call: Any, *arguments: Any) -> Any:
        from concurrent.futures import Future

        future: Future[Any] = Future()
        call(*arguments)
        future.set_result(call(*arguments))
        return future

    def close(self) -> None:
        pass


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raytracer.farm.local.LocalCrew", lambda *_: _HereCrew())


@pytest.mark.usefixtures("here")
def test_films_of_workers(trajectory: Path, tmp_path: Path) -> None:
    OpenEXR = pytest.importorskip("OpenEXR")  # noqa: N806
    animation = raytracer.animate(trajectory, frames=":3", **SMALL)
    animation.save(tmp_path / "#.exr", workers=1)
    for k, image in enumerate(animation):
        with OpenEXR.File(str(tmp_path / f"{k}.exr")) as file:
            mean = file.channels()["RGBA"].pixels
            np.testing.assert_array_equal(mean, image.film.mean())
    (tmp_path / "1.exr").unlink()
    animation.save(tmp_path / "#.exr")
    assert len(animation.seconds) == 1  # the others are taken as they are


@pytest.mark.usefixtures("here")
def test_a_finished_frame_is_not_rendered_again(trajectory: Path, tmp_path: Path) -> None:
    """As when a worker ends after it has written a frame, and before it says so."""
    animation = raytracer.animate(trajectory, frames=":4", **SMALL)
    animation.save(tmp_path / "a.gif", workers=1)
    assert animation.seconds == []


@pytest.mark.usefixtures("here")
def test_workers_without_the_folder_return_frames(
    trajectory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = farmed.ShotWorker.__init__

    def far(self: farmed.ShotWorker, order: farmed.Order) -> None:
        made(self, order)
        self.is_shared = False

    monkeypatch.setattr(farmed.ShotWorker, "__init__", far)
    animation = raytracer.animate(trajectory, frames=":4", **SMALL)
    animation.save(tmp_path / "a" / "##.png", workers=1)
    assert in_folder(tmp_path / "a") == ["00.png", "01.png", "02.png", "03.png"]
    one, other = (raytracer.animate(trajectory, frames=":4", **SMALL) for _ in range(2))
    one.save(tmp_path / "a.gif", workers=1)
    other.save(tmp_path / "b.gif")
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


@pytest.mark.usefixtures("here")
def test_workers_need_the_same_files(
    trajectory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent = FileSource.sent

    def other(self: Any) -> Any:
        made = sent(self)
        monkeypatch.setattr(made, "signature", iter("ab").__next__)
        return made

    monkeypatch.setattr(FileSource, "sent", other)
    with pytest.raises(raytracer.UserError, match="workers need the same files"):
        raytracer.animate(trajectory, **SMALL).save(tmp_path / "a.gif", workers=1)


def test_a_set_that_is_empty_at_first_has_one_radius(tmp_path: Path) -> None:
    """It follows from the spacing of the first frames, wherever and in which order they are."""
    rng = np.random.default_rng(1)
    frames = [np.zeros((0, 3)), *(rng.uniform(size=(30, 3)) * (1 + k) for k in range(3))]
    options = SMALL | {"fit_to": "first"}
    with raytracer.warning.collected():
        animation = raytracer.animate(frames, **options)
        shots = animation._plan.shots
        with Renderer(animation._plan) as renderer, Renderer(animation._plan) as other:
            radii = [renderer._load(shot.frame).spheres[0].radius for shot in shots[1:]]
            again = [other._load(shot.frame).spheres[0].radius for shot in reversed(shots[1:])]
    assert radii == again[::-1]
    assert len(set(radii)) == 1


def test_scenes_of_python(tmp_path: Path) -> None:
    scene = raytracer.Scene.from_arrays([[0.0, 0, 0], [2.0, 0, 0]], 0.7, ["red", "blue"])
    for name, workers in (("a.gif", 1), ("b.gif", None)):
        animation = raytracer.animate(scene, turntable=90, duration=0.5, fps=8, **SMALL)
        animation.save(tmp_path / name, workers=workers)
    assert (tmp_path / "a.gif").read_bytes() == (tmp_path / "b.gif").read_bytes()


def test_workers_refuse_a_transparent_picture_of_a_movie(tmp_path: Path) -> None:
    background = raytracer.Background(transparent=True)
    scene = raytracer.Scene.from_arrays([[0.0, 0, 0]], 0.7, background=background)
    animation = raytracer.animate(scene, turntable=90, duration=0.5, fps=8, **SMALL)
    for workers in (1, None):
        with pytest.raises(raytracer.UserError, match="a movie has no transparency"):
            animation.save(tmp_path / "a.mp4", workers=workers)
    assert not (tmp_path / "a.mp4").exists()
