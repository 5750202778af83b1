"""Frames of a trajectory that are smoothed or unwrapped, one at a time, outside of a movie."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from raytracer.arguments import whole
from raytracer.errors import UserError
from raytracer.files.access import STANDARD_INPUT, is_path, path_of
from raytracer.scene.animation import AnimationSettings
from raytracer.scene.particles.frames import checked
from raytracer.trajectory.source import source_of
from raytracer.trajectory.tracks import TrackedSource

if TYPE_CHECKING:
    from os import PathLike

    from raytracer.scene.scene import Scene


class Motion:
    """Loads frames whose particles are moved as a movie of all frames would.

    Args:
        smoothing: number of frames of which positions are the mean.
        unwrap: whether particles go on where they leave a periodic box, from the first frame on.
        topology: a file with the atoms of the trajectory; see `raytracer.load`.

    Raises:
        UserError: a value is out of range.
    """

    def __init__(
        self, smoothing: int, unwrap: bool, topology: str | PathLike[str] | None = None
    ) -> None:
        self._topology = topology
        self._settings = AnimationSettings(smoothing=smoothing, unwrap=unwrap)
        self._source: tuple[object, TrackedSource] | None = None  # and what it is of

    @classmethod
    def of(
        cls,
        smoothing: int | None,
        unwrap: bool | None,
        topology: str | PathLike[str] | None = None,
    ) -> Motion | None:
        """Return what loads the frames; None if they stay as they are. Raises UserError."""
        frames = 1 if smoothing is None else smoothing
        motion = cls(frames, False if unwrap is None else unwrap, topology)
        settings = motion._settings
        return motion if settings.smoothing > 1 or settings.unwrap else None

    def load(self, scene: object, frame: int | None, columns: Sequence[str] = ()) -> Scene:
        """Return a frame.

        Args:
            scene: the path of a scene or particle file.
            frame: from 0, or from -1 backwards; None is the first one.
            columns: to read from the file with the spheres.

        Raises:
            UserError: it is no file, or its particles cannot be followed over frames.
        """
        name = "smoothing" if self._settings.smoothing > 1 else "unwrap"
        if not is_path(scene):
            raise UserError(f"{name}: goes with the path of a file; this scene has no frames")
        if path_of(scene, "scene") == STANDARD_INPUT:
            raise UserError(f"{name}: standard input is read only once: save it to a file")
        number = 0 if frame is None else whole(frame, "frame", error=UserError)
        source = self._tracked(scene)
        return source.load(checked(number, source.count, source.name), columns)

    def forget(self) -> None:
        """Look at the file anew: it has changed."""
        self._source = None

    def _tracked(self, scene: object) -> TrackedSource:
        """Return the frames of a file, which are counted once."""
        if self._source is None or self._source[0] != scene:
            source = source_of(scene, topology=self._topology)
            ends = 0, source.count - 1
            settings = self._settings
            moved = TrackedSource(source, ends, settings.smoothing, settings.unwrap)
            self._source = scene, moved
        return self._source[1]
