"""Watching files: what counts as a change, and what a broken one does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.errors import DataFileError, SceneError
from raytracer.pipeline import Notice
from raytracer.scene.source import Source
from raytracer.viewer.loaded_scene import LoadedScene, require_file
from raytracer.viewer.messages import Broken, Loaded
from raytracer.viewer.watch import MAX_ABSENCE, Watch, stamp, stamps
from support.previews import PATIENCE, balls


class Told:
    """What a watch of a file said, and what its next load does."""

    def __init__(self, path: Path) -> None:
        self.loaded: list[Any] = []
        self.broken: list[str] = []
        self.closed = 0
        self.error: BaseException | None = None
        self.meanwhile: Callable[[], object] = lambda: None
        self.watch = Watch(path, self.load)

    def load(self, step: Notice) -> Any:
        """A scene, or the error; one step before, one after what happens meanwhile."""
        step("reading")
        self.meanwhile()
        if self.error is not None:
            raise self.error
        step("building")
        return self

    def close(self) -> None:
        """Of the scene."""
        self.closed += 1

    def tell(self, message: Loaded | Broken) -> None:
        """Take a message."""
        if isinstance(message, Loaded):
            self.loaded.append(message.loaded_scene)
        else:
            self.broken.append(message.sentence)

    def begin(self) -> bool:
        """Check once."""
        return self.watch.check(0.25, self.tell)

    def look(self) -> bool:
        """Check once, and wait for the result."""
        found = self.begin()
        self.watch.join(PATIENCE)
        return found

    def look_in_vain(self) -> bool:
        """Check as often as a file may be missing; returns whether nothing was loaded."""
        return not any(self.look() for _ in range(MAX_ABSENCE))


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
    for _ in range(3):
        file.rename(other)
        assert stamp(file) is None
        assert told.look_in_vain()
        change(other)
        other.rename(file)
        assert told.look()
    assert (len(told.loaded), told.broken) == (3, [])


def test_a_file_that_comes_back_unchanged_is_not_loaded(file: Path) -> None:
    told = Told(file)
    for _ in range(3):
        file.rename(file.with_name("other"))
        assert told.look_in_vain()
        file.with_name("other").rename(file)
        assert not told.look()


def test_a_file_that_stays_away_is_told_of_once(file: Path) -> None:
    told = Told(file)
    file.rename(file.with_name("other"))
    told.error = SceneError("scene.toml: there is no such file")
    assert told.look_in_vain()
    assert told.look()
    assert told.broken == ["scene.toml: there is no such file"]
    assert told.look_in_vain()
    assert not told.look()
    file.with_name("other").rename(file)
    told.error = None
    assert told.look()
    assert len(told.loaded) == 1


def test_a_file_that_was_missing_at_first(tmp_path: Path) -> None:
    told = Told(tmp_path / "later.toml")
    assert not told.look()
    change(tmp_path / "later.toml")
    assert told.look()


def test_a_change_before_the_first_look_counts(file: Path) -> None:
    """The scene is loaded for the first time meanwhile."""
    told = Told(file)
    change(file)
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


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "there is not enough memory"),
        (ZeroDivisionError("division\nby zero"), "(ZeroDivisionError division by zero)"),
        (RecursionError(), "cannot be loaded (RecursionError)"),
    ],
)
def test_whatever_a_load_raises_is_one_sentence(file: Path, error: Exception, said: str) -> None:
    told = Told(file)
    told.error = error
    change(file)
    assert told.look()
    assert len(told.broken) == 1
    assert told.broken[0].startswith(f"{file}: ")
    assert said in told.broken[0]
    assert "\n" not in told.broken[0]
    told.error = None
    change(file)
    assert told.look()
    assert len(told.loaded) == 1


def names(scene: Path, *files: Path) -> None:
    """Have a scene name these files."""
    change(scene, "".join(f'[[spheres]]\nfile = "{file.name}"\n' for file in files))


@pytest.mark.parametrize("error", [None, SceneError("scene.toml: is broken")])
def test_files_that_a_change_names_are_watched_from_then_on(
    file: Path, error: SceneError | None
) -> None:
    """Also if it is wrong, and if they are not there yet."""
    told = Told(file)
    data, old, later = (file.with_name(f"{name}.csv") for name in ("data", "old", "later"))
    change(data)
    change(old)
    told.error = error
    names(file, data, later)
    assert told.look()
    assert not told.look()
    for named in (data, later, later):
        change(named)
        assert told.look()
        assert not told.look()
    change(old)
    assert not told.look()
    names(file)
    assert told.look()
    change(data)
    assert not told.look()


def test_a_named_file_goes_away_with_its_name(file: Path) -> None:
    """The scene is loaded, though one of the files of before never comes back."""
    data = file.with_name("data.csv")
    change(data)
    names(file, data)
    told = Told(file)
    data.rename(file.with_name("other.csv"))
    names(file, file.with_name("other.csv"))
    assert told.look_in_vain()
    assert told.look()
    assert not told.look()
    change(file.with_name("other.csv"))
    assert told.look()


@pytest.mark.parametrize(
    "text",
    [
        "not TOML", "spheres = 3", "spheres = [1, {}]", '[spheres]\nfile = "a.csv"',
        "[[spheres]]\nfile = 3", '[[spheres]]\nfile = "a\\u0000b.csv"', "x = " + "[" * 5000, "",
    ],
    ids=["TOML", "number", "array", "table", "file", "zero", "deep", "empty"],
)  # fmt: skip
def test_a_scene_that_names_nothing_that_can_be_watched(file: Path, text: str) -> None:
    told = Told(file)
    change(file, text)
    assert told.look()
    assert not told.look()
    change(file, "")
    assert told.look()
    assert list(stamps(file)) == [file]


def test_a_change_while_it_is_loaded_is_not_lost(file: Path) -> None:
    """Neither of the scene nor of a file that it named before or names now."""
    data, new = file.with_name("data.csv"), file.with_name("new.csv")
    change(data)
    change(new)
    for changed in (file, data, new):
        names(file, data)
        told = Told(file)
        told.meanwhile = lambda changed=changed: change(changed)  # type: ignore[misc]
        names(file, data, new)
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
    assert told.begin()
    change(file)
    assert not told.begin()
    go.set()
    told.watch.join(PATIENCE)
    assert told.look()
    assert len(told.loaded) == 2


def test_a_load_is_given_up_at_its_next_step(file: Path) -> None:
    told = Told(file)
    told.meanwhile = told.watch.cancel
    change(file)
    assert told.look()
    assert (told.loaded, told.broken, told.closed) == ([], [], 0)


def test_what_came_of_a_load_that_was_given_up_is_closed(file: Path) -> None:
    told = Told(file)
    load = told.watch._load

    def late(step: Notice) -> LoadedScene:
        loaded_scene = load(step)
        told.watch.cancel()
        return loaded_scene

    told.watch._load = late
    change(file)
    assert told.look()
    assert (told.loaded, told.broken, told.closed) == ([], [], 1)


# Python ends while the hierarchy is built. A thread that asks for the interpreter after its end is
# ended there, which compiled code does not survive: so the end takes until the build is done.
ENDS = """
import sys, threading, time
from pathlib import Path
from raytracer.backends import cpu
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.watch import Watch

path, build = Path(sys.argv[1]), cpu.build_bvh
building, built = threading.Event(), threading.Event()

class Last:
    def __del__(self, sleep=time.sleep):
        if not built.is_set():
            sleep(5)

def started(*arguments):
    building.set()
    found = build(*arguments)
    built.set()
    return found

cpu.build_bvh = started
watch = Watch(path, lambda step: LoadedScene.load(path, {}, "cpu", 1, step))
path.touch()
assert watch.check(0.25, lambda message: None)
sys.last_value = Last()  # what is deleted first at the end
assert building.wait(60)
"""


def test_the_end_of_python_waits_for_a_load(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    path = tmp_path / "many.npz"
    np.savez(path, centers=rng.normal(size=(600_000, 3)), radii=np.full(600_000, 0.01))
    os.utime(path, ns=(10**18, 10**18))
    paths = [str(Path(raytracer.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    done = subprocess.run(
        [sys.executable, "-c", ENDS, str(path)], text=True, capture_output=True, timeout=120.0,
        check=False, env=os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_real_scenes_name_their_files(tmp_path: Path) -> None:
    data = tmp_path / "points.csv"
    data.write_text("x,y,z\n0,0,0\n1,1,1\n")
    scene = tmp_path / "scene.toml"
    scene.write_text(
        '[[spheres]]\nfile = "points.csv"\nradius = 0.3\n'
        '[[spheres]]\nfile = "points.csv"\nradius = 0.1\n[spheres.transform]\nscale = 2.0\n'
    )
    assert list(stamps(scene)) == [scene, data]
    assert list(stamps(data)) == [data]
    messages: list[Loaded | Broken] = []
    steps: list[str] = []

    def load(step: Notice) -> LoadedScene:
        def notice(text: str) -> None:
            steps.append(text)
            step(text)

        return LoadedScene.load(scene, {}, "cpu", 2, notice)

    watch = Watch(scene, load)
    for text, count in (("2,2,2\n", 6), ("2,2,oops\n", None), ("2,2,2\n3,3,3\n", 8)):
        change(data, "x,y,z\n0,0,0\n1,1,1\n" + text)
        assert watch.check(0.25, messages.append)
        watch.join(PATIENCE)
        message = messages.pop()
        found = message.loaded_scene.buffers.count if isinstance(message, Loaded) else None
        assert found == count
    assert len(steps) > 6, "between which a load can be given up"
    assert messages == []


def test_a_damaged_archive_is_told_of(tmp_path: Path) -> None:
    data = tmp_path / "points.npz"
    np.savez_compressed(data, centers=np.random.default_rng(1).normal(size=(500, 3)))
    good = data.read_bytes()
    watch = Watch(data, lambda step: LoadedScene.load(data, {}, "cpu", 2, step))
    for at in (200, 500, 2000, len(good) - 40):
        messages: list[Loaded | Broken] = []
        data.write_bytes(good[:at] + b"\xff" * 30 + good[at + 30 :])
        os.utime(data, ns=(10**18 + at, 10**18 + at))
        assert watch.check(0.25, messages.append)
        watch.join(PATIENCE)
        (message,) = messages
        assert isinstance(message, Broken)
        assert "points.npz" in message.sentence


def test_a_scene_made_in_python_cannot_be_watched(tmp_path: Path) -> None:
    with pytest.raises(DataFileError, match="no file to watch"):
        require_file(Source(balls()))
    assert require_file(Source(tmp_path)) == tmp_path


def test_topologies_and_paths_in_a_file_are_watched(tmp_path: Path) -> None:
    scene, atoms, data = (tmp_path / name for name in ("a.toml", "atoms.psf", "a.hdf5"))
    change(data, "")
    change(
        scene,
        '[[spheres]]\nfile = "a.hdf5:PartType1"\n[[spheres]]\nfile = "b.dcd"\n'
        'topology = "atoms.psf"\n',
    )
    assert list(stamps(scene)) == [scene, data, tmp_path / "b.dcd", atoms]
    assert stamps(Path(f"{data}:PartType1")) == {data: stamp(data)}


@pytest.mark.parametrize("name", ["snap_*.xyz", "snap_%d.xyz", "."])
def test_a_series_has_new_files_and_its_last_one_grows(tmp_path: Path, name: str) -> None:
    """As while a simulation writes a file for each frame."""

    def write(number: int, text: str) -> None:
        (tmp_path / f"snap_{number}.xyz").write_text(text)

    write(9, "1\n\nO 0 0 0\n")
    first = stamp(tmp_path / name)
    assert first is not None
    assert stamp(tmp_path / name) == first
    write(10, "1\n\nO 0 0")
    os.utime(tmp_path, ns=(1, first[0] + 1))  # a coarse clock may not have moved
    second = stamp(tmp_path / name)
    write(10, "1\n\nO 0 0 0\n")
    assert len({first, second, stamp(tmp_path / name)}) == 3
    assert stamp(tmp_path / "none_*.xyz") is None
