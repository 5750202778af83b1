"""Watching files: what counts as a change, and what a broken one does."""

import os
from pathlib import Path
from typing import Any

import pytest

from raytracer.config.errors import SceneError
from raytracer.scene_files.source import InputSource
from raytracer.viewer.frames import FrameLoader, Frames
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import LoadReport, Message, RefusalReport
from raytracer.viewer.watch import Watch, read_stamp
from support.previews import wait_for


def look(watch: Watch) -> bool:
    """Look once; a change is taken as loaded."""
    if changed := watch.has_changed():
        watch.begin()
    return changed


def change(path: Path, text: str = "changed") -> None:
    """Write a file, later than it was by any clock."""
    at = path.stat().st_mtime_ns if path.exists() else 10**18
    path.write_text(text)
    os.utime(path, ns=(at + 10**9, at + 10**9))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    change(tmp_path / "scene.toml", "")
    return tmp_path / "scene.toml"


def test_a_file_that_an_editor_replaces_by_renaming(file: Path) -> None:
    """While it is missing nothing happens; when it is back, it has changed."""
    watch, other = Watch(file), file.with_name("other")
    for _ in range(3):
        file.rename(other)
        assert read_stamp(file) is None
        assert not look(watch)
        change(other)
        other.rename(file)
        assert look(watch)


def names(scene: Path, *files: Path) -> None:
    """Have a scene name these files."""
    change(scene, "".join(f'[[spheres]]\nfile = "{file.name}"\n' for file in files))


def test_files_that_a_change_names_are_watched_from_then_on(file: Path) -> None:
    """Also if they are not there yet."""
    watch = Watch(file)
    data, old, later = (file.with_name(f"{name}.csv") for name in ("data", "old", "later"))
    change(data)
    change(old)
    names(file, data, later)
    assert look(watch)
    assert not look(watch)
    for named in (data, later, later):
        change(named)
        assert look(watch)
        assert not look(watch)
    change(old)
    assert not look(watch)
    names(file)
    assert look(watch)
    change(data)
    assert not look(watch)


class Reloads:
    """A loader of a file, what it posts, and a scene that is shown."""

    def __init__(self, path: Path) -> None:
        self.posted: list[Message] = []
        self.shown = LoadedScene.load(InputSource(path), {}, "cpu", 2)
        self.watch = Watch(path)
        self.loader = FrameLoader(Frames(path, threads=2), self.posted.append)

    def again(self) -> Any:
        """Reload; gives the message."""
        self.loader.reload(self.watch, self.shown.content, self.shown)
        wait_for(lambda: not self.loader.is_busy("reload"), "the message")
        return next(
            (m for m in reversed(self.posted) if isinstance(m, (LoadReport, RefusalReport))), None
        )


@pytest.fixture
def points(tmp_path: Path) -> Path:
    path = tmp_path / "points.csv"
    path.write_text("x,y,z\n0,0,0\n1,1,1\n")
    return path


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (SceneError("scene.toml: is broken"), "scene.toml: is broken"),
        (MemoryError(), "cannot be loaded (not enough memory)"),
        (ZeroDivisionError("division\nby zero"), "(ZeroDivisionError division by zero)"),
    ],
)
def test_whatever_a_load_raises_is_one_sentence_and_the_next_change_is_tried(
    points: Path, monkeypatch: pytest.MonkeyPatch, error: Exception, said: str
) -> None:
    def fails(*_: object, **__: object) -> Any:
        raise error

    reloads, again = Reloads(points), Frames.load
    monkeypatch.setattr(Frames, "load", fails)
    message = reloads.again()
    assert isinstance(message, RefusalReport)
    assert message.reloaded
    assert said in message.sentence
    assert "\n" not in message.sentence
    monkeypatch.setattr(Frames, "load", again)
    assert isinstance(reloads.again(), LoadReport)
    reloads.loader.stop()


def test_a_change_while_it_is_loaded_is_not_lost(
    points: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    reloads, again = Reloads(points), Frames.load

    def meanwhile(*values: Any, **named: Any) -> LoadedScene:
        change(points, "x,y,z\n0,0,0\n1,1,1\n2,2,2\n")
        return again(*values, **named)

    monkeypatch.setattr(Frames, "load", meanwhile)
    assert isinstance(reloads.again(), LoadReport)
    assert reloads.watch.has_changed()
    reloads.loader.stop()


def test_topologies_and_paths_in_a_file_are_watched(tmp_path: Path) -> None:
    scene, atoms, data = (tmp_path / name for name in ("a.toml", "atoms.psf", "a.hdf5"))
    change(data, "")
    change(
        scene,
        '[[spheres]]\nfile = "a.hdf5:PartType1"\n[[spheres]]\nfile = "b.dcd"\n'
        'topology = "atoms.psf"\n',
    )
    assert list(Watch(scene)._seen) == [scene, data, tmp_path / "b.dcd", atoms]
    assert Watch(Path(f"{data}:PartType1"))._seen == {data: read_stamp(data)}


@pytest.mark.parametrize("name", ["snap_*.xyz", "snap_%d.xyz", "."])
def test_a_series_has_new_files_and_its_last_one_grows(tmp_path: Path, name: str) -> None:
    """As while a simulation writes a file for each frame."""

    def write(number: int, text: str) -> None:
        (tmp_path / f"snap_{number}.xyz").write_text(text)

    write(9, "1\n\nO 0 0 0\n")
    first = read_stamp(tmp_path / name)
    assert first is not None
    assert read_stamp(tmp_path / name) == first
    write(10, "1\n\nO 0 0")
    os.utime(tmp_path, ns=(1, first[0] + 1))  # a coarse clock may not have moved
    second = read_stamp(tmp_path / name)
    write(10, "1\n\nO 0 0 0\n")
    assert len({first, second, read_stamp(tmp_path / name)}) == 3
    assert read_stamp(tmp_path / "none_*.xyz") is None
