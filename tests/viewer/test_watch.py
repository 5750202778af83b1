"""Watching files: what counts as a change, and what a broken one does."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raytracer.errors import SceneError
from raytracer.viewer.stage import Stage, require_file
from raytracer.viewer.watch import Watch, stamp
from support.previews import PATIENCE, balls, stage_of


class Told:
    """What a watch said, and what its next load does."""

    def __init__(self, *files: Path) -> None:
        self.files = list(files)
        self.loaded: list[Any] = []
        self.broken: list[str] = []
        self.error: Exception | None = None
        self.meanwhile: Callable[[], object] = lambda: None
        self.watch = Watch(files, self.load, self.loaded.append, self.broken.append)

    def load(self) -> Any:
        """A stage, or the error."""
        self.meanwhile()
        if self.error is not None:
            raise self.error
        return SimpleNamespace(files=lambda: list(self.files))

    def look(self) -> bool:
        """Look once, and wait for what comes of it."""
        found = self.watch.look(0.25)
        self.watch.join(PATIENCE)
        return found


def change(path: Path, text: str = "changed") -> None:
    """Write a file, later than it was by any clock."""
    at = path.stat().st_mtime_ns if path.exists() else 10**18
    path.write_text(text)
    os.utime(path, ns=(at + 10**9, at + 10**9))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    change(tmp_path / "scene.toml", "")
    return tmp_path / "scene.toml"


def test_nothing_is_loaded_while_nothing_changes(file: Path) -> None:
    told = Told(file)
    assert not told.look()
    assert not told.look()
    assert (told.loaded, told.broken) == ([], [])


def test_each_change_is_loaded_once(file: Path) -> None:
    told = Told(file)
    for count in (1, 2, 3):
        change(file)
        assert told.look()
        assert not told.look()
        assert len(told.loaded) == count


def test_another_size_within_the_same_tick_of_the_clock_is_a_change(file: Path) -> None:
    told = Told(file)
    at = file.stat().st_mtime_ns
    file.write_text("longer")
    os.utime(file, ns=(at, at))
    assert told.look()


def test_a_file_that_an_editor_replaces_by_renaming(file: Path) -> None:
    """While it is missing nothing happens; when it is back, it is loaded."""
    told = Told(file)
    other = file.with_name("other")
    file.rename(other)
    assert not told.look()
    assert stamp(file) is None
    change(other)
    other.rename(file)
    assert told.look()
    assert len(told.loaded) == 1


def test_a_file_that_comes_back_unchanged_is_not_loaded(file: Path) -> None:
    told = Told(file)
    file.rename(file.with_name("other"))
    assert not told.look()
    file.with_name("other").rename(file)
    assert not told.look()


def test_a_file_that_was_missing_at_first(tmp_path: Path) -> None:
    told = Told(tmp_path / "later.toml")
    assert not told.look()
    change(tmp_path / "later.toml")
    assert told.look()


def test_a_broken_file_says_its_sentence_and_the_next_change_is_tried(file: Path) -> None:
    told = Told(file)
    told.error = SceneError("scene.toml: is broken")
    change(file)
    assert told.look()
    assert (told.loaded, told.broken) == ([], ["scene.toml: is broken"])
    assert not told.look(), "not again and again"
    told.error = None
    change(file)
    assert told.look()
    assert len(told.loaded) == 1


def test_files_that_a_change_names_are_watched_from_then_on(file: Path) -> None:
    told = Told(file)
    data, old = file.with_name("data.csv"), file.with_name("old.csv")
    change(data)
    change(old)
    told.files = [file, data]
    change(file)
    assert told.look()
    assert not told.look()
    change(data)
    assert told.look()
    change(old)
    assert not told.look()
    told.files = [file]
    change(file)
    assert told.look()
    change(data)
    assert not told.look()


def test_a_change_while_it_is_loaded_is_not_lost(file: Path) -> None:
    """Neither of the same files nor where the scene has new ones by then."""
    data = file.with_name("data.csv")
    change(data)
    for files in ([file], [file, data], [file]):
        told = Told(file)
        told.files = files
        told.meanwhile = lambda: change(file)
        change(file)
        assert told.look()
        told.meanwhile = lambda: None
        assert told.look()
        assert len(told.loaded) == 2
        assert not told.look()


def test_one_load_at_a_time(file: Path) -> None:
    from threading import Event

    told, go = Told(file), Event()
    told.meanwhile = lambda: go.wait(PATIENCE)
    change(file)
    assert told.watch.look()
    change(file)
    assert not told.watch.look()
    go.set()
    told.watch.join(PATIENCE)
    assert told.look()
    assert len(told.loaded) == 2


def test_real_scenes_name_their_files(tmp_path: Path) -> None:
    data = tmp_path / "points.csv"
    data.write_text("x,y,z\n0,0,0\n1,1,1\n")
    scene = tmp_path / "scene.toml"
    scene.write_text(
        '[[spheres]]\nfile = "points.csv"\nradius = 0.3\n'
        '[[spheres]]\nfile = "points.csv"\nradius = 0.1\n[spheres.transform]\nscale = 2.0\n'
    )
    stage = stage_of(scene)
    assert stage.files() == [scene, data]
    assert stage_of(data).files() == [data]
    assert stage_of(balls()).files() == []
    loaded: list[Stage] = []
    watch = Watch(stage.files(), lambda: stage_of(scene), loaded.append, pytest.fail)
    change(data, "x,y,z\n0,0,0\n1,1,1\n2,2,2\n")
    assert watch.look()
    watch.join(PATIENCE)
    assert loaded[0].buffers.count == 6
    data.unlink()
    assert stage.files() == [scene]


def test_a_scene_made_in_python_cannot_be_watched(tmp_path: Path) -> None:
    from raytracer.errors import DataFileError

    with pytest.raises(DataFileError, match="no file to watch"):
        require_file(balls())
    require_file(tmp_path)
    require_file("scene.toml")
