"""Parts of animations, rendered by several processes: joined, they are the animation of one."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from support.movies import SMALL, assert_same_movie


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


def test_a_part_ends_where_its_folder_is_gone(trajectory: Path, tmp_path: Path) -> None:
    """As after the command without a part has completed the movie."""
    folder = tmp_path / "a.gif.frames"

    def remove(done: int, _: int) -> None:
        while done == 1 and folder.exists():  # another thread may be writing the next frame
            shutil.rmtree(folder, ignore_errors=True)

    animation = raytracer.animate(trajectory, **SMALL)
    with pytest.raises(raytracer.RaytracerError, match=r"\.npz: cannot be written"):
        animation.save(tmp_path / "a.gif", part="1/2", progress=remove)
