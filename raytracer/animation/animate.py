"""Animations: a trajectory, a moving camera, or both, as pictures or as a movie."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from contextvars import copy_context
from dataclasses import asdict, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any, BinaryIO

from raytracer._version import __version__
from raytracer.animation.encoder import (
    PICTURES,
    Pixels,
    VideoWriter,
    check_movie,
    even,
    write_picture,
)
from raytracer.animation.frames import NUMBER, FrameFiles, MovieFrames, NumberedPictures
from raytracer.animation.shots import Plan, Renderer, Shot
from raytracer.errors import OutputError, UserError, shown, shown_value, suggestion
from raytracer.fields import definitions
from raytracer.files import output
from raytracer.files.access import is_path, path_of
from raytracer.film.image import Image
from raytracer.film.tone_settings import ToneSettings
from raytracer.scene.animation import AnimationSettings
from raytracer.scene.annotations import Annotations
from raytracer.scene.coloring.style import StyleSettings
from raytracer.scene.source import Source
from raytracer.scene.view_settings import ViewSettings
from raytracer.settings import RenderSettings
from raytracer.trajectory.source import chosen_frames, frames_of
from raytracer.warning import warn

STILL_SECONDS = 6.0

MAX_SHOTS = 1_000_000  # maximum number of frames of an animation
MAX_WAITING = 1  # most rendered frames that wait to be written while another one is rendered
FrameCall = Callable[[int, int], None]  # called with the numbers of finished and of all frames


class Animation:
    """Frames that are rendered on demand.

    An animation has a length and is an iterable of pictures; `save` writes a movie.

    >>> for image in raytracer.animate("trajectory.gsd"):
    ...     print(image.statistics.covered)
    >>> raytracer.animate("scene.toml", turntable="8s").save("movie.mp4")
    """

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self.settings = plan.settings
        self.seconds: list[float] = []

    def __len__(self) -> int:
        return len(self._plan.shots)

    def __repr__(self) -> str:
        return f"<Animation: {len(self)} frames, {self.duration:g} s>"

    @property
    def duration(self) -> float:
        """Duration of the animation in seconds."""
        return self._plan.duration

    def __iter__(self) -> Iterator[Image]:
        """Render the frames in order; the next one is read meanwhile."""
        with (
            Renderer(self._plan) as renderer,
            closing(renderer.images(self._plan.shots, None)) as images,
        ):
            for _, image in images:
                yield image

    def save(
        self,
        path: str | Path,
        *,
        poster: bool = True,
        resume: bool = True,
        part: str | None = None,
        progress: FrameCall | None = None,
    ) -> Path:
        """Write a movie, a moving picture, or numbered pictures.

        The first frame is written first, as `NAME.poster.png` beside a movie. Finished frames are
        kept in the folder `NAME.frames` until the movie is complete: after an interruption the same
        call continues, and writes the same bytes.

        Args:
            path: `.mp4`, `.mov`, `.mkv`, `.webm` (PyAV, `pip install 'raytracer[video]'`), `.gif`,
                `.webp`; or numbered pictures, `frames/####.png` or `frames/####.exr`.
            poster: whether to write the first frame beside a movie.
            resume: whether to use finished frames of an earlier run.
            part: "K/N" renders every N-th frame alone, from the K-th on, and keeps them where the
                call without it finds them. Processes and machines may render parts side by side.
            progress: called with the numbers of finished and of all frames.

        Returns:
            The path.

        Raises:
            UserError: it cannot be written.
        """
        target = path_of(path)
        kind = _Pictures if NUMBER.search(target.name) else _Movie
        job = kind(self._plan, target, poster, resume, part, progress)
        with job.outputs:
            job.run(self)
        return target


def animate(
    scene: object,
    *,
    backend: str = "auto",
    threads: int = 0,
    tone: ToneSettings | Mapping[str, Any] | None = None,
    annotations: Annotations | Mapping[str, Any] | None = None,
    format: str | None = None,  # noqa: A002
    topology: str | PathLike[str] | None = None,
    arrays: Mapping[str, str] | None = None,
    **settings: Any,
) -> Animation:
    """Return an animation of a trajectory, a scene with a moving camera, or both.

    Args:
        scene: the path of a scene or particle file, of a series of files (`snap_*.h5`) or a folder
            of them; a `Scene`; a sequence with a `Scene`, or an object for `Scene.from_object`, per
            frame; an array (T, N, 3).
        backend: "auto", "cpu", "cuda", "cuda:1", or "cuda:0,1"; see `render`.
        threads: threads on the CPU; 0 uses all cores available to the process.
        tone: exposure and curve, as for `render`; automatic exposure is metered in the first frame.
        annotations: annotations of the pictures; see `render`. In texts {frame} is the number of
            the trajectory's frame, {seconds} the time since the start, and {time} the time in the
            file, or {seconds} without one.
        format: the ending that states the format of a file; see `load`.
        topology: a file with the atoms of a trajectory; see `load`.
        arrays: names of columns of a particle file by the parts of spheres that they are; see
            `load`.
        **settings: those of `AnimationSettings` (`frames`, `fps`, `turntable`, `keyframes`, ...)
            and of `render` (`width`, `samples`, `view`, `background`, ...); None takes the scene's.

    Raises:
        UserError: the scene or an argument cannot be rendered.
        TypeError: there is no argument of that name.
    """
    first = 0 if is_path(scene) else None  # a folder may be a series
    source = frames_of(
        Source.of(scene, frame=first, format=format, topology=topology, arrays=arrays)
    )
    animated = definitions(AnimationSettings)
    known = {name for kind in (RenderSettings, ViewSettings, StyleSettings)
             for name in definitions(kind)}  # fmt: skip
    for name in settings:
        if name not in animated and name not in known:
            raise TypeError(
                f"animate() got an unexpected keyword argument '{shown(name)}'; "
                f"{suggestion(name, [*animated, *known])}"
            )
    changes = {
        name: value for name, value in settings.items() if name in animated and value is not None
    }
    overrides = {name: value for name, value in settings.items() if name in known}
    moves = replace(source.animation or AnimationSettings(), **changes)
    frames = chosen_frames(moves.frames, source.count, source.name)
    if moves.smoothing > 1 or moves.unwrap:
        from raytracer.trajectory.tracks import TrackedSource

        source = TrackedSource(source, frames, moves.smoothing, moves.unwrap)
    shots, duration = _shots(frames, moves, source.name)
    return Animation(
        Plan(source, shots, moves, overrides, tone, backend, threads, duration, annotations)
    )


def _shots(frames: list[int], settings: AnimationSettings, name: str) -> tuple[list[Shot], float]:
    seconds = settings.duration
    if len(frames) == 1 and not settings.moves and settings.duration is None:
        raise UserError(
            f"{name}: there is only one frame, and the camera does not move: give a trajectory, or "
            "a motion of the camera such as turntable 8s"
        )
    if seconds is None and len(frames) == 1:
        turn = settings.turn.seconds if settings.turn is not None else None
        last = settings.keyframes[-1].time if settings.keyframes else 0.0
        seconds = max(turn or 0.0, last) or STILL_SECONDS
    count = len(frames) if seconds is None else max(round(seconds * settings.fps), 1)
    if count > MAX_SHOTS:
        raise UserError(
            f"{name}: the animation has {count:,} frames; at most {MAX_SHOTS:,} are possible"
        )
    chosen = [frames[index * len(frames) // count] for index in range(count)]
    shots = [Shot(index, frame, index / settings.fps) for index, frame in enumerate(chosen)]
    return shots, count / settings.fps


def _part(part: str, resume: bool, plan: Plan) -> tuple[int, int]:
    """Return the index of the first frame of a part, and the step to the next one."""
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", part) if isinstance(part, str) else None
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UserError(f"part: {shown_value(part)} is not K/N with K from 1 to N, as in 3/8")
    if not resume:
        raise UserError("part: frames of other parts would be removed: leave out --fresh")
    if plan.source.signature() is None:
        raise UserError(
            f"part: {plan.source.name} cannot be compared with what other processes render: save "
            "the frames to a file"
        )
    return int(match[1]) - 1, int(match[2])


def _digest(plan: Plan) -> str:
    """Return a hash of all that frames depend on, 16 digits; unique if something is unknown."""
    signature = plan.source.signature()
    if signature is None:
        return secrets.token_hex(8)
    movie = ("quality", "codec")
    settings = {name: value for name, value in asdict(plan.settings).items() if name not in movie}
    known = [
        __version__, signature, settings, plan.overrides, repr(plan.tone), plan.backend,
        repr(plan.annotations), [asdict(shot) for shot in plan.shots],
    ]  # fmt: skip
    text = json.dumps(known, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


class _Job:
    """One call of `Animation.save`: frames from an earlier run, or rendered, in order."""

    frames: FrameFiles
    hashed = True
    """Whether pictures have a digest of their content."""

    def __init__(
        self, plan: Plan, target: Path, poster: bool, resume: bool, part: str | None,
        progress: FrameCall | None,
    ) -> None:  # fmt: skip
        self.plan, self.target, self.resume, self.progress = plan, target, resume, progress
        self.is_part, self.has_poster = part is not None, poster
        self.first, step = (0, 1) if part is None else _part(part, resume, plan)
        self.shots = list(plan.shots[self.first :: step])
        self.digest = _digest(plan)
        self.finished = 0
        self.outputs = output.OutputSet()
        self.check()

    def check(self) -> None:
        """Refuse files that cannot be written."""
        raise NotImplementedError

    def run(self, animation: Animation) -> None:
        raise NotImplementedError

    def begin(self, width: int, height: int) -> None:
        """Warn about frames of this size."""

    def keep(self, shot: Shot, image: Image, exposure: float | None) -> None:
        """Write a rendered frame; on the writing thread."""
        raise NotImplementedError

    def take(self, shot: Shot) -> None:
        """Use a frame of an earlier run; on the writing thread."""

    def render(self, animation: Animation, bits: int | None) -> None:
        """Render the missing frames, and pass all to a writing thread in order."""
        shots = self.shots
        missing = [shot for shot in shots if not (self.resume and self.frames.has(shot.index))]
        with ExitStack() as stack:
            writer = ThreadPoolExecutor(1, "movie")
            stack.callback(writer.shutdown, cancel_futures=True)
            waiting: deque[Future[None]] = deque()
            tasks: Iterator[Callable[[], None]] = iter(())
            if missing:
                renderer = stack.enter_context(Renderer(self.plan, hashed=self.hashed))
                if self.resume and renderer.tone.automatic:
                    renderer.exposure = self.frames.exposure()
                    if renderer.exposure is None and missing[0].index > 0:  # it meters the exposure
                        shots.insert(0, self.plan.shots[0])
                        missing.insert(0, shots[0])
                self.begin(renderer.settings.width, renderer.settings.height)
                # Closed before the renderer, because it waits for the frame being read.
                tasks = stack.enter_context(
                    closing(self._render(animation, renderer, missing, bits))
                )
            unfinished = {shot.index for shot in missing}
            for shot in shots:
                task = next(tasks) if shot.index in unfinished else partial(self.take, shot)
                # Warnings of the other thread are handled like those of this one.
                waiting.append(writer.submit(copy_context().run, task))
                if len(waiting) > MAX_WAITING:
                    self._finish(waiting.popleft())
            while waiting:
                self._finish(waiting.popleft())

    def _render(
        self, animation: Animation, renderer: Renderer, shots: list[Shot], bits: int | None
    ) -> Generator[Callable[[], None]]:
        """Render shots, and yield a function that writes each."""
        animation.seconds = renderer.seconds
        with closing(renderer.images(shots, bits)) as images:
            for shot, image in images:
                yield partial(self.keep, shot, image, renderer.exposure)

    def _finish(self, task: Future[None]) -> None:
        task.result()
        self.finished += 1
        if self.progress is not None:
            self.progress(self.finished, len(self.shots))


class _Movie(_Job):
    """A movie or a moving picture, with the folder of its finished frames."""

    hashed = False  # the poster has one
    frames: MovieFrames
    _video: VideoWriter | None = None
    _file: BinaryIO | None = None

    def check(self) -> None:
        target, plan = self.target, self.plan
        check_movie(target, plan.settings.codec, bool(plan.overrides.get("transparent")))
        output.check_file(self.outputs.writes(target, "the movie"))
        self.poster = target.with_suffix(".poster.png") if self.has_poster else None
        if self.poster is not None:
            output.check_picture(self.outputs.writes(self.poster, "the poster"))
        self.is_picture = target.suffix.lower() in PICTURES

    def run(self, animation: Animation) -> None:
        count, settings = len(self.plan.shots), self.plan.settings
        self.frames = MovieFrames(
            self.target, self.digest, count, opaque=not self.is_picture, fresh=not self.resume
        )
        if self.is_part:
            self.render(animation, 8)
            self.frames.remove_folder_if_empty()
            return
        try:
            with output.replacing(self.target) as self._file:
                self.render(animation, 8)
                if self._video is not None:
                    self._video.close()
                else:
                    write_picture(
                        self._file, self.target, self.frames.read, count, settings.fps,
                        settings.quality,
                    )  # fmt: skip
        except BaseException:
            if self.plan.source.signature() is None:
                self.frames.remove()
            self.frames.remove_folder_if_empty()
            raise
        self.frames.remove()

    def begin(self, width: int, height: int) -> None:
        size = even((width, height))
        if not self.is_picture and size != (width, height):
            warn(
                f"{self.target}: a movie needs even width and height: its last row or column is "
                f"doubled, to {size[0]}x{size[1]} pixels"
            )

    def keep(self, shot: Shot, image: Image, exposure: float | None) -> None:
        pixels = self.frames.pixels_of(image)
        if shot.index == 0 and self.poster is not None:
            image.save(self.poster)
        self.frames.write(shot.index, pixels, exposure)
        self._encode(pixels)

    def take(self, shot: Shot) -> None:
        if not (self.is_picture or self.is_part):
            self._encode(self.frames.read(shot.index))

    def _encode(self, pixels: Pixels) -> None:
        if self.is_picture or self.is_part:
            return
        if self._video is None:
            assert self._file is not None
            height, width, _ = pixels.shape
            settings = self.plan.settings
            self._video = VideoWriter(
                self._file, self.target, (width, height), settings.fps, settings.codec,
                settings.quality,
            )  # fmt: skip
        self._video.add(pixels)


class _Pictures(_Job):
    frames: NumberedPictures

    def check(self) -> None:
        target, plan = self.target, self.plan
        suffix = target.suffix.lower()
        if suffix not in (".png", ".exr"):
            raise OutputError(f"{target}: numbered pictures end in .png or .exr")
        if plan.settings.codec is not None:
            raise UserError(f"{target}: numbered pictures have no codec: leave --codec out")
        try:
            target.parent.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"{target.parent}: cannot be created ({error.strerror})") from None
        if suffix == ".exr":
            from raytracer.film import film_file

            film_file.check_target(target.with_name("0.exr"))
        self.frames = NumberedPictures(target, self.digest, len(plan.shots))
        output.check_file(self.frames.path(0))
        for shot in plan.shots:
            self.outputs.writes(self.frames.path(shot.index), "the pictures")

    def run(self, animation: Animation) -> None:
        self.render(animation, None if self.frames.is_film else 8)

    def keep(self, shot: Shot, image: Image, exposure: float | None) -> None:
        self.frames.save(shot.index, image, exposure)
