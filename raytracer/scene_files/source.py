"""Sources: a scene, file or object to show, and how a frame of it is read."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from raytracer.config.arguments import check_text
from raytracer.config.errors import DataFileError, SceneError, UserError
from raytracer.config.fields import split_settings
from raytracer.files.access import STANDARD_INPUT, check_path, is_path, require_file
from raytracer.model.data_file import DataFile, split_inner
from raytracer.model.source_settings import SourceSettings
from raytracer.particles.locate import locate_frame, may_be_series

SCENE_SUFFIXES = (".toml", ".json")

MESH_SUFFIXES = (".stl", ".obj", ".off")
"""Endings of files that hold nothing but a mesh; one in PLY is named by `--mesh`."""


@dataclass(frozen=True, eq=False)
class InputSource:
    """What to show, and how it is read; see `SourceSettings`."""

    scene: Any  # a Scene, a Path, or an object with particles
    frame: int | None = None
    ending: str = ""  # that states the format, ".xyz"; "" decides by name and content
    topology: Path | None = None
    arrays: Mapping[str, str] = field(default_factory=dict)
    further: tuple[Path, ...] = ()  # other files of particles that are shown with the first
    smoothing: int = 1
    unwrap: bool = False
    counted: dict[str, Any] = field(default_factory=dict, repr=False)  # facts about its frames

    @classmethod
    def from_call(
        cls, scene: object, settings: Mapping[str, Any]
    ) -> "tuple[InputSource, dict[str, Any]]":
        """Return the source for a scene and the settings of a call, and the other settings."""
        own, others = split_settings(settings, SourceSettings)
        return cls.of(scene, **own), others

    @classmethod
    def of(cls, scene: object, **settings: Any) -> "InputSource":
        """Return the source for a scene and `SourceSettings`. Raises UserError."""
        if isinstance(scene, InputSource):
            return scene
        given = SourceSettings(**settings)
        moved = "smoothing" if (given.smoothing or 1) > 1 else "unwrap" if given.unwrap else ""
        are_several = isinstance(scene, (list, tuple)) and scene and all(map(is_path, scene))
        if not are_several and not is_path(scene):
            stated = [name for name in ("format", "topology", "arrays") if getattr(given, name)]
            if of_files := [*stated, *filter(None, [moved])]:
                raise UserError(f"{of_files[0]}: is for a file, but this scene is an object")
            if scene is None:
                raise SceneError("scene: is None: give a raytracer.Scene, a path or particles")
            return cls(scene, given.frame)
        names: Any = scene if are_several else [scene]
        path, *further = paths = [check_path(each, "scene") for each in names]
        topology = None if given.topology is None else Path(given.topology)
        if moved and STANDARD_INPUT in paths:
            raise UserError(f"{moved}: standard input is read only once: save it to a file")
        if further and (moved or topology is not None or STANDARD_INPUT in paths):
            what = moved or ("-" if topology is None else "topology")
            raise UserError(f"{what}: is for one file; for several, write a scene file")
        if topology is not None:
            require_file(topology, f"topology: {topology}", SceneError)
        for each in paths:
            _require_files(each, None if further else given.frame)
        return cls(
            path, given.frame, "" if given.format is None else parse_ending(given.format), topology,
            given.arrays or {}, tuple(further), given.smoothing or 1, bool(given.unwrap),
        )  # fmt: skip

    @property
    def path(self) -> Path | None:
        """The file, a pattern or a folder; None for a scene or an object."""
        return self.scene if isinstance(self.scene, Path) else None

    def file(self, frame: int | None = None, name: str | None = None) -> DataFile:
        """Return the file of a frame; `name` is for messages. Raises DataFileError if missing."""
        return locate_frame(self.scene, frame, name, self.ending, self.topology)

    def split_files(self) -> list["InputSource"]:
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
            return max(self.count_file_frames())
        if self.is_mesh and not may_be_series(self.scene, None):
            return 1
        from raytracer.particles.read import count_frames

        return count_frames(self.scene, name, self.ending, self.topology)

    def count_file_frames(self) -> list[int]:
        """Return the number of frames of each file. Raises DataFileError: two have several, but
        not as many."""
        if "frames" not in self.counted:
            self.counted["frames"] = [each.count_frames() for each in self.split_files()]
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


def parse_ending(name: str) -> str:
    """Return a stated format as an ending: ".xyz" for "xyz". Raises DataFileError."""
    from raytracer.particles.registry import find_stated

    ending = f".{check_text(name, 'format').lower().removeprefix('.')}"
    if ending in MESH_SUFFIXES:
        raise DataFileError(
            f"format: a mesh is known by the ending of its name: call the file NAME{ending}"
        )
    if ending not in SCENE_SUFFIXES:
        find_stated(ending)
    return ending


def _require_files(path: Path, frame: int | None) -> None:
    """Refuse a missing file; a pattern needs matching files, a folder snapshots or a frame."""
    file = locate_frame(path, None if frame is None else 0)
    if not file.series and file.path != STANDARD_INPUT:
        require_file(file.path, str(file.path), SceneError)
