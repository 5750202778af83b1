"""`--watch`: an edited scene is shown, a broken one is told of over the last good picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from support.display import Display
from support.remote import Remote
from support.window_scene import SCENE, SIZE, rendered, write_balls

Open = Callable[..., Remote]


@pytest.fixture
def watched(open_window: Open) -> Remote:
    remote = open_window("--watch")
    remote.rest()
    return remote


def edit(scene: Path, text: str) -> None:
    """As editors do: a new file takes the old one's name."""
    new = scene.with_name("new.tmp")
    new.write_text(text)
    new.replace(scene)


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return tmp_path / "balls.toml"


def test_an_edited_scene_is_shown_with_the_camera_of_before(watched: Remote, scene: Path) -> None:
    watched.ask("act", "orbit", 0.4, 0.1)
    before = watched.rest()
    edit(scene, SCENE.replace("crimson", "gold"))
    after = watched.until(lambda s: s.notice == "balls.toml was reloaded" and s.rest, "the edit")
    for name in ("position", "look_at", "vertical_fov"):
        assert getattr(after.camera, name) == pytest.approx(getattr(before.camera, name))
    printed = scene.with_name("printed.toml")
    printed.write_text(scene.read_text() + "\n" + str(watched.ask("toml")))
    shown = watched.shot()
    assert (shown != rendered(printed)).any(axis=-1).mean() < 0.002


def test_a_camera_that_was_edited_is_taken(watched: Remote, scene: Path) -> None:
    watched.ask("act", "orbit", 0.4, 0.1)
    edit(scene, SCENE + "\n[camera]\nposition = [0, 0, 9]\nlook_at = [0, 0, 0]\n")
    watched.until(lambda s: s.camera.position == pytest.approx((0, 0, 9)) and s.rest, "the camera")
    np.testing.assert_array_equal(watched.shot(), rendered(scene))


def test_an_edited_data_file_is_shown(watched: Remote, scene: Path) -> None:
    before = watched.shot()
    write_balls(scene.parent, factor=1.5)
    watched.until(lambda s: "reloaded" in s.notice and s.rest, "the data")
    shown = watched.shot()
    assert (shown != before).any()
    np.testing.assert_array_equal(shown, rendered(scene))


def test_a_broken_edit_leaves_the_last_good_picture(
    watched: Remote, scene: Path, display: Display
) -> None:
    good = watched.shot()
    edit(scene, SCENE.replace("radii = [0.8, 0.5]", "radii = [0.8, -0.5]"))
    state = watched.until(lambda s: s.reload_error, "the error")
    assert "balls.toml" in state.reload_error
    assert "radi" in state.reload_error
    assert "\n" not in state.reload_error.strip()
    assert state.spheres == 5
    np.testing.assert_array_equal(watched.shot(), good)
    watched.ask("put", {"overlay": False})
    text = (watched.shot(text=True) != good).any(axis=-1)
    assert text[SIZE[1] // 2 :].any()
    # The picture goes on being a window that one can turn.
    watched.ask("act", "orbit", 0.5, 0.0)
    watched.rest()
    assert (watched.shot() != good).any()
    edit(scene, SCENE.replace("crimson", "gold"))
    state = watched.until(lambda s: not s.reload_error and s.rest, "the good edit")
    assert "reloaded" in state.notice


def test_a_file_that_is_missing_for_a_moment_is_waited_for(watched: Remote, scene: Path) -> None:
    scene.unlink()
    edit(scene, SCENE.replace("[1.5, 0.9, -0.5]]", "[1.5, 0.9, -0.5], [0, 2, 0]]").replace(
        "radii = [0.8, 0.5]", "radius = 0.5").replace(
        'colors = ["crimson", "steelblue"]', 'color = "gold"'))  # fmt: skip
    watched.until(lambda s: s.spheres == 6 and s.rest and not s.reload_error, "the sixth sphere")
    np.testing.assert_array_equal(watched.shot(), rendered(scene))


def test_a_data_file_that_was_renamed(watched: Remote, scene: Path) -> None:
    """It never comes back: the scene names the other one by then."""
    (scene.parent / "balls.npz").rename(scene.parent / "other.npz")
    edit(scene, SCENE.replace("balls.npz", "other.npz").replace("crimson", "gold"))
    watched.until(lambda s: "reloaded" in s.notice and s.rest and not s.reload_error, "the edit")
    np.testing.assert_array_equal(watched.shot(), rendered(scene))


def test_a_data_file_that_is_gone_is_told_of_and_comes_back(watched: Remote, scene: Path) -> None:
    data = scene.parent / "balls.npz"
    data.rename(scene.parent / "other.npz")
    state = watched.until(lambda s: s.reload_error, "the error")
    assert "balls.npz: there is no such file" in state.reload_error
    assert state.spheres == 5
    (scene.parent / "other.npz").rename(data)
    watched.until(lambda s: not s.reload_error and s.rest, "the file")


@pytest.mark.parametrize("there", [True, False])
def test_a_data_file_that_is_mended_after_the_edit_that_names_it(
    watched: Remote, scene: Path, there: bool
) -> None:
    """Also one that is written after it was named."""
    good = (scene.parent / "balls.npz").read_bytes()
    data = scene.parent / "other.npz"
    if there:
        data.write_bytes(good[:200])
    edit(scene, SCENE.replace("balls.npz", "other.npz").replace("crimson", "gold"))
    state = watched.until(lambda s: s.reload_error, "the error")
    assert "other.npz" in state.reload_error
    data.write_bytes(good)
    watched.until(lambda s: not s.reload_error and s.rest, "the file")
    np.testing.assert_array_equal(watched.shot(), rendered(scene))


def test_without_watch_an_edit_changes_nothing(window: Remote, scene: Path) -> None:
    assert window.ask("watches") is False
