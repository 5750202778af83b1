"""Recording: a movie, or numbered pictures, of the states of a simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from typing import Any, BinaryIO, Protocol

import numpy as np

from raytracer.animation.encoder import CONTAINERS, VideoWriter, check_movie, no_transparency
from raytracer.animation.frames import NUMBER, NumberedPictures
from raytracer.animation.shots import Plan, Renderer, Shot
from raytracer.errors import OutputError, RaytracerError, UserError, counted
from raytracer.files import output
from raytracer.film.image import Image
from raytracer.scene.animation import AnimationSettings
from raytracer.scene.scene import Scene
from raytracer.trajectory.source import FrameSource


class Latest(FrameSource):
    """The scene of one state after another, as the only frame."""

    count, name = 1, "simulation"

    def __init__(self) -> None:
        self.scene = Scene()

    def load(self, frame: int, columns: Sequence[str] = ()) -> Scene:
        return self.scene


class Pictures:
    """Renders states for files; the first one decides about camera, colour scales and exposure.

    Args:
        settings: those of `raytracer.live` for what is shown.
        fps: frames in a second.
    """

    def __init__(self, settings: Mapping[str, Any], fps: float) -> None:
        given = dict(settings)
        known = ("tone", "backend", "threads", "annotations")
        tone, backend, threads, annotations = (given.pop(name) for name in known)
        self._latest = Latest()
        self._plan = Plan(
            self._latest, [Shot(0, 0, 0.0)], AnimationSettings(fps=fps), given, tone, backend,
            threads, 1.0 / fps, annotations,
        )  # fmt: skip
        self._renderer: Renderer | None = None

    def image(self, scene: Scene, index: int) -> Image:
        """Return the picture of a state; index: of the picture, from 0."""
        self._latest.scene = scene
        if self._renderer is None:
            self._renderer = Renderer(self._plan, hashed=False, in_place=True)
        return self._renderer.image(Shot(index, index, index / self._plan.settings.fps), None)

    def close(self) -> None:
        """Release the device's memory."""
        if self._renderer is not None:
            self._renderer.close()


class Writer(Protocol):
    """What pictures are written to."""

    def add(self, image: Image) -> None:
        """Write the next picture."""

    def finish(self) -> None:
        """Complete the files."""


class _Movie:
    def __init__(self, file: BinaryIO, path: Path, fps: float) -> None:
        self._file, self._path, self._fps = file, path, fps
        self._video: VideoWriter | None = None

    def add(self, image: Image) -> None:
        if image.transparent:
            raise no_transparency(self._path)
        pixels = np.ascontiguousarray(image.to_uint8())
        if self._video is None:
            height, width, _ = pixels.shape
            quality = AnimationSettings().quality
            self._video = VideoWriter(
                self._file, self._path, (width, height), self._fps, None, quality
            )
        self._video.add(pixels)

    def finish(self) -> None:
        if self._video is None:
            raise OutputError(f"{self._path}: not written, because no points were logged")
        self._video.close()


class _Numbered:
    def __init__(self, path: Path) -> None:
        self._files, self._index = NumberedPictures(path, "", 1), 0

    def add(self, image: Image) -> None:
        image.save(self._files.path(self._index))
        self._index += 1

    def finish(self) -> None:
        """Each picture is complete already."""


def check_record(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse files that cannot be written. Raises UserError."""
    if NUMBER.search(path.name):
        if path.suffix.lower() != ".png":
            raise OutputError(f"{path}: numbered pictures of a simulation end in .png")
        output.check_file(NumberedPictures(path, "", 1).path(0))
        return
    if path.suffix.lower() not in CONTAINERS:
        raise OutputError(
            f"{path}: a movie of a simulation ends in {', '.join(CONTAINERS)}; numbered pictures "
            "are named as 'frames/####.png'"
        )
    check_movie(path, None, bool(settings.get("transparent")))
    output.check_file(path)


def record(scenes: Iterator[Scene], path: Path, settings: Mapping[str, Any], fps: float) -> None:
    """Write the pictures of scenes.

    Raises:
        UserError: a picture cannot be rendered, before which the files end, or cannot be written.
    """
    pictures = Pictures(settings, fps)
    failure: UserError | None = None
    with ExitStack() as stack:
        stack.callback(pictures.close)
        writer: Writer
        if NUMBER.search(path.name):
            writer = _Numbered(path)
        else:
            writer = _Movie(stack.enter_context(output.replacing(path)), path, fps)
        for index in count():
            try:
                if (scene := next(scenes, None)) is None:
                    break
                image = pictures.image(scene, index)
            except RaytracerError as error:
                if index == 0:
                    raise
                reason = "; ".join(error.sentences)
                failure = UserError(f"{path}: ends after {counted(index, 'frame')}: {reason}")
                break
            writer.add(image)
        writer.finish()
    if failure is not None:
        raise failure
