"""Parts of animations, rendered by several processes: joined, they are the animation of one."""

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from raytracer.animation import frames
from raytracer.config.warning import collect_warnings
from support.movies import FRAMES, SMALL, assert_same_movie


@pytest.mark.parametrize("ending", ["gif", "mp4"])
def test_parts_in_any_order_make_the_movie_of_one_run(
    ending: str, trajectory: Path, tmp_path: Path
) -> None:
    """The exposure is metered in the first frame."""
    if ending == "mp4":
        pytest.importorskip("av")
    options = SMALL | {"tone": {"exposure": "auto"}, "look": "soft"}
    path, whole = tmp_path / f"a.{ending}", tmp_path / f"whole.{ending}"
    raytracer.animate(trajectory, **options).save(whole)
    done: list[tuple[int, int]] = []
    for part, rendered in (("3/3", 3), ("1/3", 2), ("2/3", 3)):
        animation = raytracer.animate(trajectory, **options)
        animation.save(path, part=part, progress=lambda *each: done.append(each))
        assert len(animation.seconds) == rendered  # 2 of 6, and the first one is metered
        assert not path.exists()
    assert done[-1] == (3, 3)
    joined = raytracer.animate(trajectory, **options)
    joined.save(path)
    assert joined.seconds == []
    assert_same_movie(path, whole)
    assert not (tmp_path / f"a.{ending}.frames").exists()
    one, other = (tmp_path / f"{name}.poster.png" for name in ("a", "whole"))
    np.testing.assert_array_equal(np.asarray(Pillow.open(one)), np.asarray(Pillow.open(other)))


@pytest.mark.parametrize("part", ["0/3", "4/3", "3", "1/0", 2])
def test_parts_that_there_are_not(part: Any, trajectory: Path, tmp_path: Path) -> None:
    with pytest.raises(raytracer.UserError, match="is not K/N with K from 1 to N"):
        raytracer.animate(trajectory, **SMALL).save(tmp_path / "a.gif", part=part)


def test_a_scene_in_memory_has_no_parts(tmp_path: Path) -> None:
    scene = raytracer.Scene.from_arrays([[0.0, 0, 0]], 0.7)
    animation = raytracer.animate(scene, turntable=90, duration=0.5, fps=8, **SMALL)
    with pytest.raises(raytracer.UserError, match="save the frames to a file"):
        animation.save(tmp_path / "a.gif", part="1/2")


def test_a_part_without_frames_leaves_no_folder(trajectory: Path, tmp_path: Path) -> None:
    raytracer.animate(trajectory, **SMALL).save(tmp_path / "a.gif", part="9/9")
    assert not (tmp_path / "a.gif.frames").exists()


@pytest.mark.parametrize("tries", [1, 3])
def test_a_folder_that_another_command_removes_is_made_again(
    tries: int, trajectory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between making the folder and writing the frame, and while it is written."""
    folder = tmp_path / "a.gif.frames"
    left = {"before": tries, "while": tries}
    create, savez = frames._create, np.savez

    def create_in_vain(path: Path) -> None:
        create(path)
        if path == folder and left["before"]:
            left["before"] -= 1
            shutil.rmtree(folder)

    def save_in_vain(file: Any, **arrays: Any) -> None:
        savez(file, **arrays)
        if left["while"]:
            left["while"] -= 1
            shutil.rmtree(folder)

    monkeypatch.setattr(frames, "_create", create_in_vain)
    monkeypatch.setattr(np, "savez", save_in_vain)
    raytracer.animate(trajectory, **SMALL).save(tmp_path / "a.gif", part="1/2")
    assert left == {"before": 0, "while": 0}
    assert len(list(folder.glob("*.npz"))) == 3


@pytest.mark.parametrize("ending", ["gif", "mp4"])
@pytest.mark.parametrize("done", [0, 3, 6])
def test_two_commands_that_write_one_movie(
    ending: str, done: int, trajectory: Path, tmp_path: Path
) -> None:
    """The second one completes it, and removes its frames, while the first one needs them."""
    if ending == "mp4":
        pytest.importorskip("av")
    options = SMALL | {"tone": {"exposure": "auto"}}
    path, whole = tmp_path / f"a.{ending}", tmp_path / f"whole.{ending}"
    raytracer.animate(trajectory, **options).save(whole)
    for part in range(done):
        raytracer.animate(trajectory, **options).save(path, part=f"{part + 1}/6")

    def complete(finished: int, _: int) -> None:
        if finished == 2:
            raytracer.animate(trajectory, **options).save(path)
            assert_same_movie(path, whole)
            path.unlink()

    raytracer.animate(trajectory, **options).save(path, progress=complete)
    assert_same_movie(path, whole)
    assert not (tmp_path / f"a.{ending}.frames").exists()


def test_processes_that_write_parts_and_movies_side_by_side(
    trajectory: Path, tmp_path: Path
) -> None:
    """More parts than frames, and two commands without a part."""
    program = [sys.executable, "-m", "raytracer", "animate", str(trajectory), "-o", "a.gif"]
    options = ["--size", "32x18", "--samples", "1", "--backend", "cpu", "--quiet"]
    parts = [["--part", f"{k}/9"] for k in (7, 2)]
    running = [
        subprocess.Popen([*program, *options, *each], cwd=tmp_path, stderr=subprocess.PIPE)
        for each in [*parts, [], []]
    ]
    ended = [(each.communicate()[1], each.returncode) for each in running]
    assert ended == [(b"", 0)] * 4
    raytracer.animate(trajectory, **SMALL).save(tmp_path / "whole.gif")
    assert_same_movie(tmp_path / "a.gif", tmp_path / "whole.gif")


def moved(trajectory: Path, upto: int) -> str:
    """The same number of frames and bytes, with other places."""
    return trajectory.read_text().replace("0.3 0\n", "0.7 0\n", upto)


def replace(path: Path, text: str) -> None:
    """Write a file whose size and time of change stay."""
    status = path.stat()
    path.write_text(text)
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size


@pytest.mark.parametrize("suffix", ["a.gif", "a_##.png"])
@pytest.mark.parametrize("is_series", [False, True])
def test_an_input_that_is_replaced_while_the_movie_is_made(
    suffix: str, is_series: bool, trajectory: Path, tmp_path: Path
) -> None:
    scene: Any = trajectory
    if is_series:
        (tmp_path / "in").mkdir()
        for k in range(20):
            shutil.copy(trajectory, tmp_path / "in" / f"s_{k:02d}.xyz")
        scene = str(tmp_path / "in" / "s_*.xyz")

    def other(done: int, _: int) -> None:
        if done == 2:
            for path in (tmp_path / "in").iterdir() if is_series else [trajectory]:
                path.with_suffix(".new").write_text(moved(path, 9))
                path.with_suffix(".new").replace(path)

    with (
        collect_warnings(),
        pytest.raises(raytracer.UserError, match="was replaced while the movie"),
    ):
        raytracer.animate(scene, **SMALL).save(tmp_path / suffix, progress=other)
    assert not (tmp_path / "a.gif").exists()


def test_an_input_that_grows_is_the_same(trajectory: Path, tmp_path: Path) -> None:
    text = trajectory.read_text()
    raytracer.animate(trajectory, **SMALL).save(tmp_path / "whole.gif")

    def grow(*_: int) -> None:
        with trajectory.open("a") as file:
            file.write(text[: len(text) // 2])

    with collect_warnings():
        raytracer.animate(trajectory, **SMALL).save(tmp_path / "a.gif", progress=grow)
    assert_same_movie(tmp_path / "a.gif", tmp_path / "whole.gif")


@pytest.mark.parametrize("how", ["data", "scene", "option", "map"])
def test_frames_of_a_replaced_input_are_not_taken(
    how: str, trajectory: Path, tmp_path: Path
) -> None:
    """Though size and time of change are the same: of data, and of an image of the environment."""
    scene, options, other = trajectory, dict(SMALL), trajectory
    if how != "data":
        other = tmp_path / "sky.png"
        Pillow.new("RGB", (8, 4), "white").save(other)
    if how == "scene":
        scene = tmp_path / "a.toml"
        scene.write_text('[environment]\nimage = "sky.png"\n[[spheres]]\nfile = "water.xyz"\n')
    if how == "option":
        options["environment"] = str(other)
    if how == "map":
        options["environment"] = raytracer.Environment(image=str(other))
    raytracer.animate(scene, **options).save(tmp_path / "a.gif", part="1/2")
    joined = raytracer.animate(scene, **options)
    if how == "data":
        replace(other, moved(trajectory, 9))
    else:
        size = other.stat()
        Pillow.new("RGB", (8, 4), "red").save(other)
        os.utime(other, ns=(size.st_atime_ns, size.st_mtime_ns))
    joined.save(tmp_path / "a.gif")
    assert len(joined.seconds) == FRAMES


@pytest.mark.parametrize("resume", [True, False])
def test_no_input_is_removed(resume: bool, tmp_path: Path) -> None:
    """Also one in the folder of the frames with the name of a frame."""
    folder = tmp_path / "a.gif.frames"
    folder.mkdir()
    path = folder / "000000-0123456789abcdef.npz"
    positions = np.random.default_rng(1).uniform(size=(3, 4, 3))
    np.savez(path, positions=positions, radii=np.full(4, 0.2))
    before = path.read_bytes()
    raytracer.animate(path, **SMALL).save(tmp_path / "a.gif", resume=resume)
    with collect_warnings():
        series = raytracer.animate(folder / "0000*.npz", turntable=9, fps=2, duration=1, **SMALL)
        series.save(tmp_path / "a.gif", resume=resume)
    assert path.read_bytes() == before
    assert list(folder.iterdir()) == [path]


def test_a_part_keeps_the_frames_of_others(trajectory: Path, tmp_path: Path) -> None:
    animation = raytracer.animate(trajectory, **SMALL)
    with pytest.raises(raytracer.UserError, match="frames of other parts would be removed"):
        animation.save(tmp_path / "a.gif", part="1/3", resume=False)
    assert not list(tmp_path.glob("a.gif*"))
