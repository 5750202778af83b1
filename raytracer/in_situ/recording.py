"""Recording: a movie, or numbered pictures, of the states of a simulation."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

from raytracer.animation.encoder import CONTAINERS, VideoWriter, check_movie, make_frame
from raytracer.animation.frames import NUMBER, numbered_path
from raytracer.animation.shots import Plan, Renderer, Shot
from raytracer.config.errors import OutputError, RaytracerError, UserError, pluralize
from raytracer.files import output
from raytracer.film.image import Image
from raytracer.in_situ.feed import TITLE
from raytracer.model.animation import AnimationSettings
from raytracer.model.scene import Scene
from raytracer.trajectory.source import FrameSource


class PictureRecorder(FrameSource):
    """Renders states for files, each as the next frame; the first one decides about camera, colour
    scales and exposure. settings: those of `raytracer.live` for what is shown."""

    count, name, _scene = 1, TITLE, Scene()

    def __init__(self, settings: Mapping[str, Any], fps: float) -> None:
        given = dict(settings)
        known = ("tone", "backend", "threads", "annotations")
        tone, backend, threads, annotations = (given.pop(name) for name in known)
        self._plan = Plan(
            self, [Shot(0, 0, 0.0)], AnimationSettings(fps=fps), given, tone, backend, threads,
            1.0 / fps, annotations,
        )  # fmt: skip
        self._renderer: Renderer | None = None
        self._next = 0

    def load(self, frame: int, columns: Sequence[str] = ()) -> Scene:
        return self._scene

    def render_image(self, scene: Scene) -> Image:
        """Return the picture of the next state."""
        self._scene = scene
        if self._renderer is None:
            self._renderer = Renderer(self._plan, hashed=False, in_place=True)
        index, self._next = self._next, self._next + 1
        return self._renderer.render_shot(Shot(index, index, index / self._plan.settings.fps), None)

    def close(self) -> None:
        """Release the device's memory."""
        if self._renderer is not None:
            self._renderer.close()


def check_record(path: Path, settings: Mapping[str, Any]) -> None:
    """Refuse files that cannot be written. Raises UserError."""
    is_numbered = NUMBER.search(path.name)
    if path.suffix.lower() not in ((".png",) if is_numbered else CONTAINERS):
        raise OutputError(
            f"{path}: a movie of a simulation ends in {', '.join(CONTAINERS)}; numbered pictures "
            "are named as 'frames/####.png'"
        )
    if not is_numbered:
        check_movie(path, None, bool(settings.get("transparent")))
    output.check_file(numbered_path(path, 0, 1))


def record(scenes: Iterator[Scene], path: Path, settings: Mapping[str, Any], fps: float) -> None:
    """Write the pictures of scenes. Raises UserError: one cannot be rendered, before which the
    files end, or written."""
    count, failure = 0, None
    with closing(PictureRecorder(settings, fps)) as pictures, ExitStack() as stack:
        video = None
        if not NUMBER.search(path.name):
            file = stack.enter_context(output.replace_file(path))
            video = VideoWriter(file, path, fps, None, AnimationSettings().quality)
        try:
            for scene in scenes:
                image = pictures.render_image(scene)
                if video is None:
                    image.save(numbered_path(path, count, 1))
                else:
                    video.add(make_frame(image, path))
                count += 1
        except RaytracerError as error:
            if not count:
                raise
            reason = "; ".join(error.sentences)
            failure = UserError(f"{path}: ends after {pluralize(count, 'frame')}: {reason}")
        if video is not None:
            video.close()
    if failure is not None:
        raise failure
