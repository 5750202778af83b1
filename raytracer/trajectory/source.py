"""Sources of frames: a file, scenes made in Python, or one scene."""

import hashlib
import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from raytracer.config.errors import DataFileError, SceneError, UserError, quote
from raytracer.files.access import STANDARD_INPUT, is_file, open_file
from raytracer.model.animation import AnimationSettings
from raytracer.model.data_file import split_inner
from raytracer.model.left_out import LeftOut, count_left_out
from raytracer.model.scene import Scene
from raytracer.particles.frames import check_frame
from raytracer.particles.objects.registry import is_sequence
from raytracer.particles.series import find_series
from raytracer.scene_files.load import (
    FILES,
    check_parts,
    find_moving_sets,
    is_scene,
    load_scene,
    read_table,
)
from raytracer.scene_files.source import SCENE_SUFFIXES, InputSource

SAMPLES = 64  # blocks of a file that identify its content, beside size and time of change
BLOCK = 1 << 12  # bytes of a block
MAX_TRIED = 64  # most frames that are tried on each side of an unreadable one
MAX_CHECKED = 16  # most files of which all are compared after each frame


class FrameSource(ABC):
    """Frames that can be loaded; `name` is for messages."""

    count: int
    name: str
    animation: AnimationSettings | None = None  # those of the scene

    @abstractmethod
    def load(self, frame: int, columns: Sequence[str] = ()) -> Scene:
        """Return a frame, counted from 0, with these columns of its file. Raises UserError: it
        cannot be read."""

    @property
    def files(self) -> Sequence[Path]:
        """The files that are read."""
        return ()

    @property
    def report(self) -> str:
        """What was left out of the frames that were loaded, or ""."""
        return ""

    def signature(self) -> str | None:
        """Return a text that changes with the frames; None if changes cannot be detected."""
        return None

    def check(self, frame: int) -> None:
        """Raise DataFileError if the file of a frame was replaced since `signature` was called
        first. A file may grow, as that of a simulation that runs."""
        return


class LiveSource(FrameSource):
    """A simulation that runs: its only frame is its latest state, which changes. `closed`: whether
    views of it are to end; `on_change`: any thread may call it."""

    count = 1
    closed: bool
    on_change: Callable[[], None]

    @abstractmethod
    def has_newer(self) -> bool:
        """Return whether there is a state after the one that was loaded last; if not, `on_change`
        is called once when there is, or when `closed` becomes true."""


class FileSource(FrameSource):
    """A scene or particle file, or a series of files. Raises UserError: there is no such file, or
    it is invalid."""

    def __init__(self, source: InputSource) -> None:
        self._source, self.name = source, str(source.scene)
        self._data: list[Path] = []
        self._states: dict[Path, FileState] = {}
        self.count = self._count(source.scene)

    def load(self, frame: int, columns: Sequence[str] = ()) -> Scene:
        return load_scene(self._source, frame if self.count > 1 else None, columns)

    def signature(self) -> str | None:
        if self._source.scene == STANDARD_INPUT:
            return None
        names = self._source.arrays
        state = hashlib.sha256(f"{self._source.ending}{names or ''}".encode())
        files = self.files
        for file in files:
            now = read_file_state(file, max(SAMPLES // len(files), 2))
            self._states.setdefault(file, now)
            text = f"{file.absolute()}\0{now}\0"
            state.update(text.encode("utf-8", "surrogateescape"))
        return state.hexdigest()

    @property
    def files(self) -> Sequence[Path]:
        paths = (split_inner(path)[0] for path in (self._source.scene, *self._data))
        return [path for path in dict.fromkeys(paths) if is_file(path)]  # no patterns and folders

    def check(self, frame: int) -> None:
        known = list(self._states)
        if len(known) > MAX_CHECKED:  # a series
            known = known[frame : frame + 2]
        for path in known:
            if not self._states[path].is_beginning_of(path):
                raise DataFileError(
                    f"{path}: was replaced while the movie was made, so finished frames show the "
                    "file before: run the command again"
                )

    def _count(self, path: Path) -> int:
        """Return the number of frames, and remember which files they are read from."""
        ending, topology = self._source.ending, self._source.topology
        suffix = ending or path.suffix.lower()
        if suffix not in SCENE_SUFFIXES or not (ending or is_scene(path)):
            self._data = [*_list_files(path), *([] if topology is None else [topology])]
            self._data += [file for each in self._source.further for file in _list_files(each)]
            return self._source.count_frames()
        with open_file(path, error=SceneError) as file:
            parts = check_parts(read_table(file, suffix), str(path))
        self.animation = parts.get("animation")
        named = [getattr(parts.get(part), key, None) for part, key in FILES.items()]
        named += [each.get("file") for each in parts.get("meshes", ())]
        self._data += [path.parent / name for name in named if name is not None]
        return self._count_in(parts, path.parent)

    def _count_in(self, values: dict[str, Any], folder: Path) -> int:
        """Return the common number of frames of a scene's data files that have several."""
        sets = values.get("spheres", ())
        for each in sets:
            for key in ("file", "topology"):
                if each.get(key) is not None:
                    self._data += _list_files(folder / each[key])
        several = {each["file"]: count for each, count in find_moving_sets(sets, folder)}
        if len(set(several.values())) > 1:
            listed = ", ".join(f"{quote(name)} {count:,}" for name, count in several.items())
            raise SceneError(
                f"{self.name}: its files have different numbers of frames ({listed}): set "
                "frame = NUMBER in the sets that stand still"
            )
        return next(iter(several.values()), 1)


class FileState(NamedTuple):
    """What identifies the content of a file."""

    size: int  # bytes
    modified: int  # nanoseconds
    digest: str  # of a few blocks
    samples: int  # number of blocks

    def is_beginning_of(self, path: Path) -> bool:
        """Whether the file at a path is this one, or begins like it."""
        try:
            is_long = path.stat().st_size >= self.size
            return is_long and _hash_samples(path, self.size, self.samples) == self.digest
        except OSError:
            return self.size < 0


def read_file_state(path: Path, samples: int = 0) -> FileState:
    """Return the state of a file; missing ones have a state, too. samples: blocks that are read, 0
    is the usual number."""
    samples = samples or SAMPLES
    try:
        status = path.stat()
        digest = _hash_samples(path, status.st_size, samples)
    except OSError:
        return FileState(-1, 0, "", samples)
    return FileState(status.st_size, status.st_mtime_ns, digest, samples)


def _hash_samples(path: Path, size: int, samples: int) -> str:
    """Return a hash of some blocks of the first bytes of a file, evenly spread."""
    state = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        last = max(size - BLOCK, 0)
        for place in dict.fromkeys(last * k // (samples - 1) for k in range(samples)):
            state.update(os.pread(file.fileno(), min(BLOCK, size - place), place))
    return state.hexdigest()


def _list_files(path: Path) -> list[Path]:
    series = find_series(path)
    return [path] if series is None else series.files


class RepairedSource(FrameSource):
    """Frames of a file, of which some may be unreadable: in their places are others next to them,
    so that the time line stays."""

    def __init__(self, source: FrameSource) -> None:
        self.count, self.name, self.animation = source.count, source.name, source.animation
        self._source, self.left_out = source, LeftOut()
        self._instead: dict[int, int] = {}  # frames that are shown in place of others

    files = property(lambda self: self._source.files)

    def signature(self) -> str | None:
        return self._source.signature()

    def check(self, frame: int) -> None:
        self._source.check(frame)

    @property
    def report(self) -> str:
        return self.left_out.sentence(self.name, self.count)

    def load(self, frame: int, columns: Sequence[str] = ()) -> Scene:
        try:
            return self._load(self._instead.get(frame, frame), columns)
        except (DataFileError, SceneError) as error:
            before = range(frame - 1, max(frame - MAX_TRIED, 0) - 1, -1)
            after = range(frame + 1, min(frame + MAX_TRIED, self.count - 1) + 1)
            for other in dict.fromkeys(self._instead.get(each, each) for each in (*before, *after)):
                with suppress(DataFileError, SceneError):
                    scene = self._load(other, columns)
                    self._instead[frame] = other
                    start, why = f"{self.name}: frame {frame}: ", error.sentences[0]
                    self.left_out.unreadable[frame] = why.removeprefix(start)
                    return scene
            raise

    def _load(self, frame: int, columns: Sequence[str]) -> Scene:
        with count_left_out(self.left_out, frame):
            return self._source.load(frame, columns)


class SceneSource(FrameSource):
    """A scene for each frame, or an object that `Scene.from_object` accepts."""

    def __init__(self, scenes: Sequence[Any]) -> None:
        self._scenes = scenes
        self.name = "the scenes"
        self.count = len(scenes)
        if isinstance(scenes, (list, tuple)) and isinstance(scenes[0], Scene):
            self.animation = scenes[0].animation

    def load(self, frame: int, columns: Sequence[str] = ()) -> Scene:
        made = self._scenes[frame]
        return made if isinstance(made, Scene) else Scene.from_object(made)


def open_frames(source: InputSource) -> FrameSource:
    """Return the frames of a file, of a sequence of scenes, or of an array (T, N, 3). Raises
    UserError: it has none, or they cannot be counted."""
    value = source.scene
    if isinstance(value, FrameSource):
        return value
    if isinstance(value, Path):
        return FileSource(source)
    if isinstance(value, (list, tuple)) or getattr(value, "ndim", 0) == 3 or is_sequence(value):
        if len(value) == 0:
            raise UserError("scene: has no frames")
        return SceneSource(value)
    return SceneSource([value])


def parse_frame_numbers(text: str | None, count: int, name: str) -> list[int]:
    """Return the chosen frame numbers: "START:END:STEP" as in Python, or one number; None is all.

    name: of the file, for messages. Raises UserError: the text is invalid, or chooses no frame.
    """
    if text is None:
        return list(range(count))
    parts = text.strip().split(":")
    try:
        numbers = [int(part) if part.strip() else None for part in parts]
    except ValueError:
        numbers = []
    if not 1 <= len(numbers) <= 3 or numbers == [None] or (len(numbers) == 3 and numbers[2] == 0):
        raise UserError(
            f"frames: '{quote(text, 40)}' is not START:END:STEP, such as 0:500:5 or ::10, or the "
            "number of a frame"
        )
    if len(numbers) == 1 and numbers[0] is not None:
        return [check_frame(numbers[0], count, name)]
    frames = list(range(count))[slice(*numbers)]
    if not frames:
        there = "1 frame" if count == 1 else f"{count:,} frames, 0 to {count - 1:,}"
        raise DataFileError(f"{name}: there is no frame in {quote(text, 40)}: it has {there}")
    return frames
