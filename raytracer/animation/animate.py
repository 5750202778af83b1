"""Animations: a trajectory, a moving camera, or both, as pictures or as a movie."""

import hashlib
import json
import re
import secrets
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, closing
from contextvars import copy_context
from dataclasses import asdict, replace
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

from raytracer._version import __version__
from raytracer.animation.frames import NUMBER, Movie, NumberedPictures
from raytracer.animation.shots import Plan, Renderer, Shot
from raytracer.appearance.coloring import STYLE
from raytracer.config.arguments import check_kind
from raytracer.config.errors import UserError, quote_value
from raytracer.config.fields import accept_settings, check_names, split_settings
from raytracer.config.tone_settings import ToneSettings
from raytracer.files import output
from raytracer.files.access import check_path, is_file, is_path
from raytracer.film.image import Image
from raytracer.model.animation import AnimationSettings
from raytracer.model.annotations import Annotations
from raytracer.model.settings import RenderSettings
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import VIEW_SETTINGS
from raytracer.scene_files.source import InputSource
from raytracer.system.progress import ProgressBar
from raytracer.trajectory.source import (
    FileSource,
    RepairedSource,
    open_frames,
    parse_frame_numbers,
    read_file_state,
)

STILL_SECONDS = 6.0

MAX_SHOTS = 1_000_000  # maximum number of frames of an animation
FrameCall = Callable[[int, int], None]  # called with the numbers of finished and of all frames


class Animation:
    """Frames that are rendered on demand.

    An animation has a length and is an iterable of pictures; `save` writes a movie.

    >>> for image in raytracer.animate("trajectory.gsd"):
    ...     print(image.statistics.covered)
    >>> raytracer.animate("scene.toml", turntable="8s").save("movie.mp4")
    """

    def __init__(self, plan: Plan) -> None:
        self._plan: Plan = check_kind(plan, "plan", Plan)
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
            closing(renderer.render_shots(self._plan.shots, None)) as images,
        ):
            yield from images

    def save(
        self,
        path: str | Path,
        *,
        resume: bool = True,
        part: str | None = None,
        progress: FrameCall | bool | None = None,
    ) -> Path:
        """Write a movie, a moving picture, or numbered pictures.

        The first frame is written first, as `NAME.poster.png` beside a movie. Finished frames are
        kept in the folder `NAME.frames` until the movie is complete: after an interruption the same
        call continues, and writes the same bytes.

        Args:
            path: `.mp4`, `.mov`, `.mkv`, `.webm` (PyAV, `pip install 'raytracer[video]'`), `.gif`,
                `.webp`; or numbered pictures, `frames/####.png` or `frames/####.exr`.
            resume: whether to use finished frames of an earlier run.
            part: "K/N" renders every N-th frame alone, from the K-th on, and keeps them where the
                call without it finds them. Processes and machines may render parts side by side.
            progress: called with the numbers of finished and of all frames. True shows a bar.

        Returns:
            The path.

        Raises:
            UserError: it cannot be written.
        """
        target, plan = check_path(path), self._plan
        first, step = (0, 1) if part is None else _parse_part(part, resume, plan)
        kind = NumberedPictures if NUMBER.search(target.name) else Movie
        files = kind(plan, target, _digest(plan), is_part=part is not None)
        files.check(output.OutputSet())
        shots = list(plan.shots[first::step])
        if not shots:
            return target
        with ExitStack() as stack:
            if isinstance(files, Movie):
                files.remake = self._make_remaker(stack)
            call = None if isinstance(progress, bool) else progress
            if progress is True:
                call = stack.enter_context(ProgressBar(show=True)).frames
            with files.writing(resume):
                self._write(files, shots, resume, call)
        return target

    def _make_remaker(self, stack: ExitStack) -> Callable[[int], Image]:
        """Return a function that renders single frames, with a renderer that a stack closes."""
        renderers: list[Renderer] = []

        def remake(index: int) -> Image:
            if not renderers:
                renderers.append(stack.enter_context(Renderer(self._plan, hashed=False)))
                if renderers[0].tone.automatic:
                    renderers[0].render_shot(self._plan.shots[0], None)
            image = renderers[0].render_shot(self._plan.shots[index], 8)
            self._plan.source.check(self._plan.shots[index].frame)
            return image

        return remake

    def _write(
        self, files: NumberedPictures, shots: list[Shot], resume: bool, progress: FrameCall | None
    ) -> None:
        """Render the missing frames, and pass all to a writing thread in order."""
        tell = progress or (lambda *_: None)
        missing = [shot for shot in shots if not (resume and files.has(shot.index))]
        with ExitStack() as stack:
            writer = ThreadPoolExecutor(1, "movie")
            stack.callback(writer.shutdown, cancel_futures=True)
            if missing:
                renderer = stack.enter_context(Renderer(self._plan, hashed=files.hashed))
                files.check(output.OutputSet())  # now that the scene's files are known
                self.seconds = renderer.seconds
                first = self._plan.shots[0]  # meters the exposure
                if renderer.tone.automatic and missing[0] is not first:
                    missing.insert(0, first)
                    if shots[0] is not first:
                        shots.insert(0, first)
                # Closed before the renderer, because it waits for the frame being read.
                bits = None if files.is_film else 8
                images = stack.enter_context(closing(renderer.render_shots(missing, bits)))
            unfinished = {shot.index for shot in missing}
            written: Future[None] | None = None
            for finished, shot in enumerate(shots):
                if shot.index in unfinished:
                    image = next(images)
                    self._plan.source.check(shot.frame)
                    task = partial(files.keep, shot.index, image)
                else:
                    task = partial(files.take, files.finished(shot.index))
                if written is not None:
                    written.result()
                    tell(finished, len(shots))
                # Warnings of the other thread are handled like those of this one.
                written = writer.submit(copy_context().run, task)
            if written is not None:
                written.result()
                tell(len(shots), len(shots))


@accept_settings(AnimationSettings, RenderSettings, VIEW_SETTINGS, STYLE)
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
    check_names(animate, settings)
    first = 0 if is_path(scene) else None  # a folder may be a series
    source = open_frames(
        InputSource.of(scene, frame=first, format=format, topology=topology, arrays=arrays)
    )
    changes, overrides = split_settings(settings, AnimationSettings)
    moves = replace(source.animation or AnimationSettings(), **changes)
    frames = parse_frame_numbers(moves.frames, source.count, source.name)
    if isinstance(source, FileSource) and source.count > 1:
        source = RepairedSource(source)
    if moves.smoothing > 1 or moves.unwrap:
        from raytracer.trajectory.tracks import TrackedSource

        source = TrackedSource(source, frames, moves.smoothing, moves.unwrap)
    shots, duration = _make_shots(frames, moves, source.name)
    return Animation(
        Plan(source, shots, moves, overrides, tone, backend, threads, duration, annotations)
    )


def _make_shots(
    frames: list[int], settings: AnimationSettings, name: str
) -> tuple[list[Shot], float]:
    seconds = settings.duration
    if len(frames) == 1 and not settings.moves and settings.duration is None:
        raise UserError(
            f"{name}: there is only one frame, and the camera does not move: give a trajectory, or "
            "a motion of the camera such as turntable 8s"
        )
    if seconds is None and len(frames) == 1:
        last = settings.keyframes[-1].time if settings.keyframes else 0.0
        seconds = max(settings.turn.seconds or 0.0, last) or STILL_SECONDS
    count = len(frames) if seconds is None else max(round(seconds * settings.fps), 1)
    if count > MAX_SHOTS:
        raise UserError(
            f"{name}: the animation has {count:,} frames; at most {MAX_SHOTS:,} are possible"
        )
    chosen = [frames[index * len(frames) // count] for index in range(count)]
    shots = [Shot(index, frame, index / settings.fps) for index, frame in enumerate(chosen)]
    return shots, count / settings.fps


def _parse_part(part: str, resume: bool, plan: Plan) -> tuple[int, int]:
    """Return the index of the first frame of a part, and the step to the next one."""
    match = re.fullmatch(r"(\d{1,9})/(\d{1,9})", part) if isinstance(part, str) else None
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UserError(f"part: {quote_value(part)} is not K/N with K from 1 to N, as in 3/8")
    if not resume:
        raise UserError("part: frames of other parts would be removed: leave out --fresh")
    if plan.source.signature() is None:
        raise UserError(
            f"part: {plan.source.name} cannot be compared with what other processes render: save "
            "the frames to a file"
        )
    return int(match[1]) - 1, int(match[2])


def _find_files(settings: Mapping[str, Any]) -> list[Path]:
    """Return the files that settings name, such as the image of an environment: whole texts, or
    what is before a comma, as in hopper.stl,opacity=0.3."""
    values = [item for value in settings.values()
              for item in (value if isinstance(value, (list, tuple)) else [value])]  # fmt: skip
    values += [getattr(value, name, None) for value in values for name in ("image", "file")]
    texts = [text for value in values if is_path(value)
             for text in (str(value), str(value).partition(",")[0])]  # fmt: skip
    return [Path(text) for text in dict.fromkeys(texts) if is_file(text)]


def _digest(plan: Plan) -> str:
    """Return a hash of all that frames depend on, 16 digits; unique if something is unknown."""
    signature = plan.source.signature()
    if signature is None:
        return secrets.token_hex(8)
    movie = ("quality", "codec")
    settings = {name: value for name, value in asdict(plan.settings).items() if name not in movie}
    view = SceneOverrides.of(plan.overrides).view  # with the camera of a file that it names
    known = [
        __version__, signature, settings, plan.overrides, repr(view), repr(plan.tone),
        plan.backend, repr(plan.annotations), [asdict(shot) for shot in plan.shots],
        [read_file_state(path) for path in _find_files(plan.overrides)],
    ]  # fmt: skip
    text = json.dumps(known, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
