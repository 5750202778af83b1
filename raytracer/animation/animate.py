"""Animations: a trajectory, a moving camera, or both, as pictures or as a movie."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterator, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack, closing
from contextvars import copy_context
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from raytracer._version import __version__
from raytracer.animation.movie import (
    CONTAINERS,
    PICTURES,
    MovieWriter,
    VideoWriter,
    check_movie,
    warn_of_size,
    write_picture,
)
from raytracer.animation.numbered import NUMBER, NumberedPictures
from raytracer.animation.shots import Plan, Renderer, Shot, on_threads
from raytracer.animation.store import FrameStore
from raytracer.errors import OutputError, UserError
from raytracer.farm.choice import check_crew, crew_of
from raytracer.files import output
from raytracer.files.access import is_path, path_of
from raytracer.film import png
from raytracer.film.image import Image
from raytracer.film.tone_settings import ToneSettings
from raytracer.scene.animation import AnimationSettings
from raytracer.scene.source import Source
from raytracer.trajectory.source import chosen_frames, frames_of

if TYPE_CHECKING:
    from os import PathLike

    from raytracer.animation.farmed import Keeper, Rendered
    from raytracer.farm.crew import Crew
    from raytracer.scene.annotations import Annotations
    from raytracer.trajectory.source import FrameSource

STILL_SECONDS = 6.0
"""Seconds of the animation of a scene that stands still, where nothing says how long it is."""

MOST_SHOTS = 1_000_000
"""Most frames of an animation."""

WAITING = 1
"""Most rendered frames that wait to be written while another one is rendered."""

Pixels = NDArray[np.uint8]

FrameCall = Callable[[int, int], None]
"""Called with the number of finished frames, and that of all frames."""


class Animation:
    """Frames that are rendered when they are asked for.

    It has a length and gives pictures in a loop; `save` writes a movie.

    >>> for image in raytracer.animate("trajectory.gsd"):
    ...     print(image.statistics.covered)
    >>> raytracer.animate("scene.toml", turntable="8s").save("movie.mp4")

    Args:
        source: the frames that are read.
        settings: of the animation.
        overrides: settings of view and render by name; None keeps the scene's.
        tone: exposure and curve.
        backend: by name.
        threads: on the CPU.
        annotations: what is drawn over the pictures.
    """

    def __init__(
        self,
        source: FrameSource,
        settings: AnimationSettings,
        overrides: dict[str, Any],
        tone: ToneSettings | Mapping[str, Any] | None = None,
        backend: str = "auto",
        threads: int = 0,
        annotations: Annotations | Mapping[str, Any] | None = None,
    ) -> None:
        self.settings = settings
        frames = chosen_frames(settings.frames, source.count, source.name)
        if settings.smoothing > 1 or settings.unwrap:
            from raytracer.trajectory.tracks import TrackedSource

            source = TrackedSource(source, frames, settings.smoothing, settings.unwrap)
        shots, duration = _shots(frames, settings, source.name)
        self._plan = Plan(
            source, shots, settings, overrides, tone, backend, threads, duration, annotations
        )
        self.seconds: list[float] = []

    def __len__(self) -> int:
        return len(self._plan.shots)

    def __repr__(self) -> str:
        return f"<Animation: {len(self)} frames, {self.duration:g} s>"

    @property
    def duration(self) -> float:
        """Seconds of the animation."""
        return self._plan.duration

    def __iter__(self) -> Iterator[Image]:
        """Render the frames, one after another; the next one is read meanwhile."""
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
        workers: int | None = None,
        farm: str | None = None,
        progress: FrameCall | None = None,
    ) -> Path:
        """Write a movie, a moving picture, or numbered pictures.

        The first frame is written first, as `NAME.poster.png` beside a movie. Finished frames are
        kept in the folder `NAME.frames` until the movie is complete: where a run was ended, the
        same call goes on, and writes the same bytes.

        Args:
            path: `.mp4`, `.mov`, `.mkv`, `.webm` (PyAV, `pip install 'raytracer[video]'`), `.gif`,
                `.webp`; or numbered pictures, `frames/####.png` or `frames/####.exr`.
            poster: whether to write the first frame beside a movie.
            resume: whether to take finished frames of an earlier run.
            workers: processes of this machine that render, a GPU or a share of the cores each;
                None renders in this process.
            farm: address of the scheduler of a Dask cluster whose workers render, as
                "tcp://node17:8786" (`pip install 'raytracer[farm]'`).
            progress: called with the numbers of finished and of all frames.

        Returns:
            The path.

        Raises:
            UserError: it cannot be written.
        """
        target = path_of(path)
        check_crew(workers, farm)
        job: _Job
        if NUMBER.search(target.name):
            job = _Pictures(self._plan, target, resume, progress)
        else:
            job = _Movie(self._plan, target, poster, resume, progress)
        if workers is not None or farm is not None:
            job.crew = partial(crew_of, workers, farm, self._plan.backend, self._plan.threads)
            if farm is None:
                self._plan.source.sent()
                job.plan = replace(job.plan, threads=0)  # each worker has its share
        with output.claimed(target), job.outputs:
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
    **settings: Any,
) -> Animation:
    """Return an animation of a trajectory, of a scene whose camera moves, or of both.

    Args:
        scene: the path of a scene or particle file, of a series of files (`snap_*.h5`) or a folder
            of them; a `Scene`; a sequence with a `Scene`, or what `Scene.from_object` takes, for
            each frame; an array (T, N, 3).
        backend: "auto", "cpu", "cuda", or "cuda:1"; see `render`.
        threads: threads on the CPU; 0 takes every core that the process may use.
        tone: exposure and curve, as for `render`; an automatic exposure is metered in the first
            frame.
        annotations: what is drawn over the pictures; see `render`. In texts {frame} is the number
            of the trajectory's frame, {seconds} those from the start, and {time} the time of the
            file, or {seconds} where it states none.
        format: the ending that says the format of a file; see `load`.
        topology: a file with the atoms of a trajectory; see `load`.
        **settings: those of `AnimationSettings` (`frames`, `fps`, `turntable`, `keyframes`, ...)
            and those of `render` (`width`, `samples`, `view`, `background`, ...); what is None is
            that of the scene.

    Raises:
        UserError: the scene or an argument cannot be rendered.
        TypeError: there is no argument of that name.
    """
    from raytracer.fields import definitions
    from raytracer.scene.coloring.style import StyleSettings
    from raytracer.scene.view_settings import ViewSettings
    from raytracer.settings import RenderSettings

    first = 0 if is_path(scene) else None  # of a folder that is a series
    source = frames_of(Source.of(scene, frame=first, format=format, topology=topology))
    own = definitions(AnimationSettings)
    known = {name for kind in (RenderSettings, ViewSettings, StyleSettings)
             for name in definitions(kind)}  # fmt: skip
    for name in settings:
        if name not in own and name not in known:
            from raytracer.errors import shown, suggestion

            raise TypeError(
                f"animate() got an unexpected keyword argument '{shown(name)}'; "
                f"{suggestion(name, [*own, *known])}"
            )
    said = {name: value for name, value in settings.items() if name in own and value is not None}
    overrides = {name: value for name, value in settings.items() if name in known}
    base = source.animation or AnimationSettings()
    return Animation(source, replace(base, **said), overrides, tone, backend, threads, annotations)


def _shots(frames: list[int], settings: AnimationSettings, name: str) -> tuple[list[Shot], float]:
    """Return what is shown, and the duration in seconds."""
    seconds = settings.duration
    if len(frames) == 1 and not settings.moves and settings.duration is None:
        raise UserError(
            f"{name}: is one frame and the camera stands still, so nothing moves: say for example "
            "--turntable 8s, or give a trajectory"
        )
    if seconds is None and len(frames) == 1:
        turn = settings.turn
        seconds = turn.seconds if turn is not None else None
        if settings.keyframes:
            seconds = max(seconds or 0.0, settings.keyframes[-1].time)
        seconds = seconds or STILL_SECONDS
    count = len(frames) if seconds is None else max(round(seconds * settings.fps), 1)
    if count > MOST_SHOTS:
        raise UserError(f"{name}: the animation has {count:,} frames; at most {MOST_SHOTS:,}")
    chosen = [frames[index * len(frames) // count] for index in range(count)]
    shots = [Shot(index, frame, index / settings.fps) for index, frame in enumerate(chosen)]
    return shots, count / settings.fps


def _digest(plan: Plan) -> str:
    """Return a hash of all that frames depend on, 16 digits; that of nothing known is unique."""
    signature = plan.source.signature()
    if signature is None:
        import secrets

        return secrets.token_hex(8)
    movie = ("quality", "codec")
    settings = {name: value for name, value in asdict(plan.settings).items() if name not in movie}
    known = [
        __version__, signature, settings, plan.overrides, repr(plan.tone), plan.backend,
        repr(plan.annotations), [asdict(shot) for shot in plan.shots],
    ]  # fmt: skip
    text = json.dumps(known, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def poster_of(movie: Path) -> Path:
    """Return the path of the first frame beside a movie: NAME.poster.png.

    Beside another movie of that name, with another ending, it is NAME.gif.poster.png.
    """
    others = {*CONTAINERS, *PICTURES} - {movie.suffix.lower()}
    own, shared = posters_of(movie)
    return own if any(movie.with_suffix(ending).exists() for ending in others) else shared


def posters_of(movie: Path) -> tuple[Path, Path]:
    """Return where the first frame of a movie may be, the likelier place first."""
    return movie.with_name(f"{movie.name}.poster.png"), movie.with_suffix(".poster.png")


class _Job:
    """One call of `Animation.save`: which frames are finished, and the others rendered."""

    crew: Callable[[], AbstractContextManager[Crew]] | None = None
    hashed = True
    """Whether frames say by a digest what they are of."""

    def __init__(self, plan: Plan, target: Path, resume: bool, progress: FrameCall | None) -> None:
        self.plan, self.target, self.resume, self.progress = plan, target, resume, progress
        self.digest = _digest(plan)
        self.done = 0
        self.outputs = output.OutputSet()

    @property
    def keeper(self) -> Keeper:
        """Where finished frames are."""
        raise NotImplementedError

    def run(self, animation: Animation) -> None:
        """Render and write."""
        raise NotImplementedError

    def begin(self, renderer: Renderer) -> None:
        """Look at what will be rendered."""

    def keep(self, shot: Shot, image: Image, exposure: float | None) -> None:
        """Write a frame that was rendered here; on a thread of its own."""
        self.keeper.save(shot.index, image, exposure)

    def take(self, shot: Shot, done: Rendered | None = None) -> None:
        """Use a frame that lies where it belongs; on the same thread.

        done: what a worker said of it; None if an earlier run rendered it.
        """

    def render(self, animation: Animation, bits: int | None) -> None:
        """Render all frames that are not finished, and pass all on in their order."""
        shots = self.plan.shots
        missing = [shot for shot in shots if not (self.resume and self.keeper.has(shot.index))]
        unfinished = {shot.index for shot in missing}
        with ExitStack() as stack:
            writer = stack.enter_context(on_threads("movie"))
            waiting: list[Future[None]] = []
            given: Iterator[Callable[[], None]] = iter(())
            if missing:
                exposure = self.keeper.exposure() if self.resume else None
                renderer = stack.enter_context(Renderer(self.plan, exposure, hashed=self.hashed))
                self.begin(renderer)
                # Closed before the renderer: it waits for the frame that is being read.
                way = self._here if self.crew is None else self._by_crew
                given = stack.enter_context(closing(way(animation, renderer, missing, bits)))
            for shot in shots:
                use = next(given) if shot.index in unfinished else partial(self.take, shot)
                # Warnings of the other thread go where those of this one go.
                waiting.append(writer.submit(copy_context().run, use))
                while len(waiting) > WAITING:
                    self._finish(waiting.pop(0))
            for each in waiting:
                self._finish(each)

    def _here(
        self, animation: Animation, renderer: Renderer, shots: list[Shot], bits: int | None
    ) -> Generator[Callable[[], None]]:
        """Render shots in this process, and yield what writes each."""
        animation.seconds = renderer.seconds
        with closing(renderer.images(shots, bits)) as images:
            for shot, image in images:
                yield partial(self._keep_here, renderer, shot, image, renderer.exposure)

    def _keep_here(
        self, renderer: Renderer, shot: Shot, image: Image, exposure: float | None
    ) -> None:
        """Write a frame that was rendered here, and give its memory back."""
        self.keep(shot, image, exposure)
        renderer.release(image)

    def _by_crew(
        self, animation: Animation, renderer: Renderer, shots: list[Shot], bits: int | None
    ) -> Generator[Callable[[], None]]:
        """Let workers render shots, and yield what takes each."""
        from raytracer.animation.farmed import rendered_by

        assert self.crew is not None
        animation.seconds = []
        with (
            self.crew() as crew,
            closing(rendered_by(crew, renderer, self.keeper, shots, bits)) as finished,
        ):
            for shot, done in finished:
                for sentence in done.warnings:
                    renderer.warn(sentence)
                if done.seconds is not None:
                    animation.seconds.append(done.seconds)
                yield partial(self.take, shot, done)

    def _finish(self, task: Future[None]) -> None:
        task.result()
        self.done += 1
        if self.progress is not None:
            self.progress(self.done, len(self.plan.shots))


class _Movie(_Job):
    """A movie or a moving picture, with the folder of its finished frames."""

    hashed = False  # the poster does

    def __init__(
        self, plan: Plan, target: Path, poster: bool, resume: bool, progress: FrameCall | None
    ) -> None:
        super().__init__(plan, target, resume, progress)
        check_movie(target, plan.settings.codec, bool(plan.overrides.get("transparent")))
        output.check_file(self.outputs.writes(target, "the movie"))
        self.poster = poster_of(target) if poster else None
        if self.poster is not None:
            output.check_picture(self.outputs.writes(self.poster, "the poster"))
        self.is_picture = target.suffix.lower() in PICTURES
        self._known = plan.source.signature() is not None
        self._video: MovieWriter | None = None
        self._file: BinaryIO | None = None

    @property
    def keeper(self) -> FrameStore:
        return self.store

    def run(self, animation: Animation) -> None:
        self.store = self._store()
        if not self.resume:
            self.store.remove()
            self.store = self._store()
        try:
            with output.replacing(self.target) as self._file:
                self.render(animation, 8)
                if self._video is not None:
                    self._video.close()
                else:
                    settings = self.plan.settings
                    write_picture(
                        self._file, self.target, self.store, len(self.plan.shots), settings.fps,
                        settings.quality,
                    )  # fmt: skip
        except BaseException:
            if not self._known:
                self.store.remove()
            self.store.discard_if_empty()
            raise
        self.store.remove()

    def _store(self) -> FrameStore:
        """Return the folder of finished frames; it is made."""
        count = len(self.plan.shots)
        return FrameStore(self.target, self.digest, count, opaque=not self.is_picture)

    def begin(self, renderer: Renderer) -> None:
        warn_of_size(self.target, (renderer.settings.width, renderer.settings.height))

    def keep(self, shot: Shot, image: Image, exposure: float | None) -> None:
        frame = self.store.frame_of(image)
        if shot.index == 0:
            if exposure is not None:
                self.store.note({"exposure": exposure})
            if self.poster is not None:
                image.save(self.poster)
        self.store.write(shot.index, frame)
        self._encode(frame)

    def take(self, shot: Shot, done: Rendered | None = None) -> None:
        if done is not None and shot.index == 0:
            if done.exposure is not None:
                self.store.note({"exposure": done.exposure})
            if self.poster is not None:
                text = {"Software": f"raytracer {__version__}"}
                text |= {"raytracer": json.dumps(done.metadata)} if done.metadata else {}
                output.write(self.poster, png.encode(self.store.read(0), text))
        if not self.is_picture:
            self._encode(self.store.read(shot.index))

    def _encode(self, frame: Pixels) -> None:
        """Add a frame to the movie."""
        if self.is_picture:
            return
        if self._video is None:
            assert self._file is not None
            height, width, _ = frame.shape
            settings = self.plan.settings
            self._video = VideoWriter(
                self._file, self.target, (width, height), settings.fps, settings.codec,
                settings.quality,
            )  # fmt: skip
        self._video.add(frame)


class _Pictures(_Job):
    """Numbered pictures: PNG, or films as OpenEXR."""

    def __init__(self, plan: Plan, target: Path, resume: bool, progress: FrameCall | None) -> None:
        super().__init__(plan, target, resume, progress)
        suffix = target.suffix.lower()
        if suffix not in (".png", ".exr"):
            raise OutputError(f"{target}: numbered pictures end in .png or .exr")
        if plan.settings.codec is not None:
            raise UserError(f"{target}: numbered pictures have no codec: leave --codec out")
        folder = target.parent
        if not folder.exists():
            try:
                folder.mkdir()
            except OSError as error:
                raise OutputError(f"{folder}: cannot be made ({error.strerror})") from None
        if suffix == ".exr":
            from raytracer.film import film_file

            film_file.check_target(target.with_name("0.exr"), False)
        self.pictures = NumberedPictures(target, self.digest, len(plan.shots))
        output.check_file(self.pictures.path(0))
        for shot in plan.shots:
            self.outputs.writes(self.pictures.path(shot.index), "the pictures")

    @property
    def keeper(self) -> NumberedPictures:
        return self.pictures

    def run(self, animation: Animation) -> None:
        self.render(animation, None if self.pictures.is_film else 8)
