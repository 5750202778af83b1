"""Recording: a movie, or numbered pictures, of the states of a simulation."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from raytracer.animation.encoder import CONTAINERS, VideoWriter, check_movie, no_transparency
from raytracer.animation.frames import NUMBER, numbered
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
        self._count = 0

    def image(self, scene: Scene) -> Image:
        """Return the picture of the next state."""
        self._latest.scene = scene
        if self._renderer is None:
            self._renderer = Renderer(self._plan, hashed=False, in_place=True)
        index, self._count = self._count, self._count + 1
        return self._renderer.image(Shot(index, index, index / self._plan.settings.fps), None)

    def close(self) -> None:
        """Release the device's memory."""
        if self._renderer is not None:
            self._renderer.close()


def check_record(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse files that cannot be written. Raises UserError."""
    if NUMBER.search(path.name):
        if path.suffix.lower() != ".png":
            raise OutputError(f"{path}: numbered pictures of a simulation end in .png")
        output.check_file(numbered(path, 0, 1))
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
    failures = list[UserError]()
    images = _images(scenes, path, Pictures(settings, fps), failures)
    if NUMBER.search(path.name):
        for index, image in enumerate(images):
            image.save(numbered(path, index, 1))
    else:
        with output.replacing(path) as file:
            video = VideoWriter(file, path, fps, None, AnimationSettings().quality)
            for image in images:
                if image.transparent:
                    raise no_transparency(path)
                video.add(np.ascontiguousarray(image.to_uint8()))
            video.close()
    if failures:
        raise failures[0]


def _images(
    scenes: Iterator[Scene], path: Path, pictures: Pictures, failures: list[UserError]
) -> Iterator[Image]:
    """Yield the pictures of scenes up to the first, but one, that cannot be rendered."""
    count = 0
    try:
        for scene in scenes:
            image = pictures.image(scene)
            yield image
            count += 1
    except RaytracerError as error:
        if not count:
            raise
        reason = "; ".join(error.sentences)
        failures.append(UserError(f"{path}: ends after {counted(count, 'frame')}: {reason}"))
    finally:
        pictures.close()
