"""`--watch`: an edited scene is shown, a broken one is told of over the last good picture."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from support.display import Display
from support.remote import Remote
from support.window_scene import SCENE, SIZE

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
