"""Sources: a scene, file or object to show, and how a frame of it is read."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from raytracer.arguments import text
from raytracer.errors import (
    DataFileError,
    SceneError,
    UserError,
    naming,
    nearest,
    shown,
)
from raytracer.fields import split
from raytracer.files.access import STANDARD_INPUT, is_path, path_of
from raytracer.scene.particles.data_file import DataFile, locate, may_be_series, split_inner
from raytracer.scene.source_settings import SourceSettings

SCENE_SUFFIXES = (".toml", ".json")

MESH_SUFFIXES = (".stl", ".obj", ".off")
"""Endings of files that hold nothing but a mesh; one in PLY is named by `--mesh`."""


@dataclass(frozen=True, eq=False)
class Source:
    """What to show, and how it is read.

    Args:
        scene: a Scene, a Path, or an object with particles.
        frame: frame of a trajectory, from 0, or from -1 backwards; None is the first one.
        ending: the ending that states the format, ".xyz"; "" decides by name and content.
        topology: a file with the atoms of a trajectory.
        arrays: names of arrays or columns by the parts of spheres that they are, of `PARTS`.
        further: other files of particles that are shown with the first.
        smoothing: number of frames over which positions are averaged.
        unwrap: whether periodic jumps are removed.
        counted: cached facts about its frames.
    """

    scene: Any
    frame: int | None = None
    ending: str = ""
    topology: Path | None = None
    arrays: Mapping[str, str] = field(default_factory=dict)
    further: tuple[Path, ...] = ()
    smoothing: int = 1
    unwrap: bool = False
    counted: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def taken(cls, scene: object, settings: Mapping[str, Any]) -> tuple[Source, dict[str, Any]]:
        """Return the source for a scene and the settings of a call, and the other settings."""
        own, others = split(settings, SourceSettings)
        return cls.of(scene, **own), others

    @classmethod
    def of(cls, scene: object, **settings: Any) -> Source:
        """Return the source for a scene and `SourceSettings`. Raises UserError."""
        if isinstance(scene, Source):
            return scene
        given = SourceSettings(**settings)
        frame, smoothing, unwrap = given.frame, given.smoothing or 1, bool(given.unwrap)
        moved = "smoothing" if smoothing > 1 else "unwrap" if unwrap else ""
        further: tuple[Path, ...] = ()
        if isinstance(scene, (list, tuple)) and scene and all(map(is_path, scene)):
            scene, *others = scene
            further = tuple(path_of(each, "scene") for each in others)
        if is_path(scene):
            path = path_of(scene, "scene")
            if moved and path == STANDARD_INPUT:
                raise UserError(f"{moved}: standard input is read only once: save it to a file")
            ending = "" if given.format is None else ending_of(given.format)
            atoms = None if given.topology is None else Path(given.topology)
            if atoms is not None:
                if atoms == STANDARD_INPUT:
                    raise SceneError("topology: cannot be standard input: give the path of a file")
                with naming("topology"):
                    _check_there(atoms)
            _check_there(path, frame)
            for each in further:
                _check_there(each)
            if further and (moved or atoms is not None or STANDARD_INPUT in (path, *further)):
                what = moved or ("topology" if atoms is not None else "-")
                raise UserError(f"{what}: is for one file; for several, write a scene file")
            return cls(path, frame, ending, atoms, given.arrays or {}, further, smoothing, unwrap)
        stated = [name for name in ("format", "topology", "arrays") if getattr(given, name)]
        if of_files := [*stated, *filter(None, [moved])]:
            raise UserError(f"{of_files[0]}: is for a file, but this scene is an object")
        if scene is None:
            raise SceneError("scene: is None: give a raytracer.Scene, a path or particles")
        return cls(scene, frame)

    @property
    def path(self) -> Path | None:
        """The file, a pattern or a folder; None for a scene or an object."""
        return self.scene if isinstance(self.scene, Path) else None

    def file(self, frame: int | None = None, name: str | None = None) -> DataFile:
        """Return the file of a frame; `name` is for messages. Raises DataFileError if missing."""
        return locate(self.scene, frame, name, self.ending, self.topology)

    def alone(self) -> list[Source]:
        """Return the sources of the files, one by one."""
        return [replace(self, scene=each, further=()) for each in (self.scene, *self.further)]

    @property
    def is_mesh(self) -> bool:
        """Whether the file is a triangle mesh, by its ending."""
        suffix = self.ending or split_inner(self.scene)[0].suffix.lower()
        return suffix in MESH_SUFFIXES

    def count_frames(self, name: str | None = None) -> int:
        """Return the number of frames, the largest of several files; `name` is for messages."""
        if self.further:
            return max(self.frames_of_files())
        if self.is_mesh and not may_be_series(self.scene, None):
            return 1
        from raytracer.scene.particles.read import frame_count

        return frame_count(self.scene, name, self.ending, self.topology)

    def frames_of_files(self) -> list[int]:
        """Return the number of frames of each file. Raises DataFileError: two have several, but
        not as many."""
        if "frames" not in self.counted:
            self.counted["frames"] = [each.count_frames() for each in self.alone()]
        counts: list[int] = self.counted["frames"]
        files = zip([self.scene, *self.further], counts, strict=True)
        first, *several = [each for each in files if each[1] > 1] or [(self.scene, 1)]
        for path, count in several:
            if count != first[1]:
                raise DataFileError(
                    f"{path}: has {count:,} frames, but {first[0]} has {first[1]:,}: show files "
                    "with as many frames, or with one"
                )
        return counts

    @property
    def is_moved(self) -> bool:
        """Whether smoothing or unwrapping moves particles."""
        return self.smoothing > 1 or self.unwrap


def ending_of(name: str) -> str:
    """Return a stated format as an ending: ".xyz" for "xyz". Raises DataFileError."""
    from raytracer.scene.particles.registry import stated

    ending = f".{text(name, 'format', UserError).lower().removeprefix('.')}"
    if ending in MESH_SUFFIXES:
        raise DataFileError(
            f"format: a mesh is known by the ending of its name: call the file NAME{ending}"
        )
    if ending not in SCENE_SUFFIXES:
        stated(ending)
    return ending


def _check_there(path: Path, frame: int | None = None) -> None:
    """Refuse a missing file, with the nearest name; a pattern needs matching files, a folder needs
    snapshots, or a requested frame."""
    if path == STANDARD_INPUT:
        return
    if may_be_series(path, frame) and locate(path, None if frame is None else 0).series:
        return
    path, _ = split_inner(path)
    if path == STANDARD_INPUT:
        return
    try:
        is_folder = path.is_dir()
        if not is_folder:
            path.stat()
    except FileNotFoundError:
        there = _scenes_in(path.parent)
        stems = {Path(name).stem: name for name in reversed(there)}  # scene files come last
        near = nearest(path.name, there) or stems.get(nearest(path.stem, stems) or "")
        hint = f"; did you mean '{shown(near)}'?" if near else ""
        raise SceneError(f"{path}: there is no such file{hint}") from None
    except (OSError, ValueError):
        return  # opening it reports the error
    if is_folder:
        names = _scenes_in(path)
        hint = f", for example {path / names[0]}" if names else ""
        raise SceneError(f"{path}: is a folder; name a file{hint}")


def _scenes_in(folder: Path) -> list[str]:
    """Return the names of renderable files in a folder, scene files first."""
    from raytracer.scene.particles.registry import SUFFIXES

    known = (*SCENE_SUFFIXES, *SUFFIXES)
    names: list[str] = []
    with suppress(OSError, ValueError):
        names = [p.name for p in folder.iterdir() if p.suffix.lower() in known and p.is_file()]
    return sorted(names, key=lambda name: (Path(name).suffix not in SCENE_SUFFIXES, name))
