"""Rendering of the frames of an animation.

While one frame is rendered, a thread reads and packs the next one and builds its tree; compiled
code releases the interpreter.
"""

import hashlib
from collections import Counter
from collections.abc import Generator, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from contextvars import copy_context
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.animation.fit import fit
from raytracer.animation.path import CameraPath, CameraPose, find_followed_point, turn_about_target
from raytracer.annotations.texts import ShortNumber
from raytracer.backends.base import Device
from raytracer.config.errors import prefix_errors
from raytracer.config.inferred import InferredDefaults, infer_defaults
from raytracer.config.tone_settings import ToneSettings
from raytracer.config.warning import redirect_warnings, warn
from raytracer.film.film import Film, measure
from raytracer.film.image import Image
from raytracer.model.animation import AnimationSettings
from raytracer.model.annotations import Annotations
from raytracer.model.camera import Camera
from raytracer.model.motion import with_motion
from raytracer.model.scene import Scene
from raytracer.model.settings import AUTO
from raytracer.model.simulation_box import to_triple
from raytracer.packing.framing import NOTHING, Surroundings
from raytracer.packing.pack import add_boxes
from raytracer.particles.compressed import keep_decompressed
from raytracer.rendering.following import follow, prepare_in_place, with_color_rows
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import (
    NO_SPHERES,
    PreparedScene,
    apply_overrides,
    make_plan,
    prepare,
    reserved_room,
)
from raytracer.trajectory.source import FrameSource
from raytracer.trajectory.tracks import FrameKeys

MAX_EMPTY = 64  # most frames without particles before the one that determines the others
FIT_FRAMES = 12  # maximum number of frames that a camera is fitted to
FIT_DIRECTIONS = 12  # directions that a revolving camera is fitted to


@dataclass(frozen=True)
class Shot:
    index: int  # its number, from 0
    frame: int  # number of the frame of the trajectory that it shows
    time: float  # seconds from the start


@dataclass(frozen=True)
class Plan:
    """What the frames of an animation are made of."""

    source: FrameSource
    shots: Sequence[Shot]  # in order
    settings: AnimationSettings
    overrides: dict[str, Any]  # settings of the render by name; None keeps the scene's
    tone: ToneSettings | Mapping[str, Any] | None  # None: the scene's; a dictionary replaces some
    backend: str
    threads: int  # on the CPU; 0: all available cores
    duration: float  # seconds
    annotations: Annotations | Mapping[str, Any] | None = None


class Renderer:
    """Renders shots; also a context manager.

    The first frame determines for all: defaults inferred from particles, the camera,
    measured brightness, and a metered exposure.

    hashed: whether pictures have a digest; the first shot's always does. in_place: whether the
    spheres of a shot take the places of those before where they can, without a digest.
    """

    def __init__(self, plan: Plan, hashed: bool = True, in_place: bool = False) -> None:
        self._overrides = SceneOverrides.of(plan.overrides, plan.annotations)
        # The reading thread has its own context variables.
        self._context, self._kept = copy_context(), ExitStack()
        for block in (keep_decompressed(), redirect_warnings(self._collect_warning)):
            self._context.run(self._kept.enter_context, block)
        self.plan = plan
        self.hashed, self.in_place = hashed, in_place
        self.seconds: list[float] = []
        self._device: Device | None = None
        self._job: PreparedScene | None = None  # of the frame that was read last
        self._frame: int | None = None
        self._points: dict[int, NDArray[np.float64]] = {}  # that the camera follows, by frame
        self._warnings: dict[str, str] = {}  # those told, and those to be told, by what they say
        self._told = 0
        self._frame_keys = FrameKeys(plan.source)
        self._uses = Counter(shot.frame for shot in plan.shots)
        self._inferred = InferredDefaults()
        try:
            self._context.run(self._prepare_from_first)
        except BaseException:
            self._context.run(self._kept.close)
            raise
        self._pass_warnings()

    def _prepare_from_first(self) -> None:
        """Take from the first frame what is the same for all."""
        plan = self.plan
        frames = dict.fromkeys(shot.frame for shot in plan.shots)
        for number in [*frames][:MAX_EMPTY]:  # the first with particles
            first = self._load(number)
            if not first.spheres or any(spheres.count for spheres in first.spheres):
                break
        settings = first.render
        camera = first.camera or Camera()
        origin = self._origin = self._point(first, number)
        start = self._fit_camera(first, camera, settings.width / settings.height)
        if origin is not None:
            start = replace(CameraPose.of(start), target=origin).camera(start)
        self._path = CameraPath(start, plan.settings, len(plan.shots), plan.duration)
        if settings.brightness == AUTO:
            first = replace(first, camera=self._path.at(0, plan.shots[0].time))
            backend = "cpu" if plan.backend == "cpu" else "auto"  # parts may have other devices
            options: dict[str, Any] = {"hashed": False, "blurs": False}
            with prepare(first, backend=backend, threads=plan.threads, **options) as job:
                settings = job.settings
        self.settings, self.tone = settings, ToneSettings.of(plan.tone, first.tone)

    def render_shots(self, shots: Sequence[Shot], bits: int | None) -> Generator[Image]:
        """Yield the pictures of shots, in order; the next one is prepared meanwhile. bits: 8
        develops on the device, without the film; None keeps the film."""
        with ThreadPoolExecutor(1, "frames") as reader:
            ahead = reader.submit(self._context.run, self._prepare, shots[0])
            for shot, after in zip_longest(shots, shots[1:]):
                job = ahead.result()
                if after is not None:
                    ahead = reader.submit(self._context.run, self._prepare, after)
                yield self._render(job, bits)
                if after is None or after.frame != shot.frame:
                    job.scene.close()

    def render_shot(self, shot: Shot, bits: int | None) -> Image:
        """Return the picture of one shot, as `render_shots`; the spheres are kept for its frame."""
        before = self._job
        job = self._context.run(self._prepare, shot)
        if before is not None and before.scene is not job.scene:
            before.scene.close()
        return self._render(job, bits)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        self._context.run(self._kept.close)
        if self._job is not None:
            self._job.scene.close()
        if report := self.plan.source.report:
            warn(report)

    def _collect_warning(self, sentence: str) -> None:
        """Take a warning, unless an earlier one differs only in the number of the frame, or the
        report of the source tells it."""
        if sentence == NO_SPHERES and self.plan.source.report:
            return
        source, _, rest = sentence.partition(": frame ")
        self._warnings.setdefault(source + rest.partition(": ")[2], sentence)

    def _pass_warnings(self) -> None:
        """Pass new warnings on, in the caller's thread."""
        new = [*self._warnings.values()][self._told :]
        self._told += len(new)
        for sentence in new:
            warn(sentence)

    def _load(self, frame: int, moves: bool = False) -> Scene:
        """Read a frame and apply the settings of the call; `moves`: with its motion."""
        source, columns = self.plan.source, self._overrides.columns
        with infer_defaults(self._inferred):
            scene = apply_overrides(source.load(frame, columns), self._overrides)
            if moves and scene.camera is not None and scene.camera.shutter:
                self._frame_keys.frame = frame
                scene = with_motion(scene, self._frame_keys.from_frames)
        if columns:  # they are not needed again
            for spheres in scene.spheres:
                spheres.release_columns()
        return scene

    def _fit_camera(self, first: Scene, camera: Camera, aspect: float) -> Camera:
        """Return the camera for several frames, which also determine colour ranges."""
        frames = list(dict.fromkeys(shot.frame for shot in self.plan.shots))
        last = len(frames) - 1
        few = min(FIT_FRAMES, len(frames))
        others = [frames[round(k * last / max(few - 1, 1))] for k in range(1, few)]
        if not camera.fit and not first.color_scales and not self._inferred.is_open:
            others = []

        shots = {shot.frame: shot for shot in reversed(self.plan.shots)}

        def scenes() -> Iterator[tuple[Scene, NDArray[np.float64] | None, Surroundings]]:
            for place, frame in enumerate([frames[0], *others]):
                scene = self._load(frame) if place else first
                if place and scene.spheres and not any(each.count for each in scene.spheres):
                    continue
                if camera.fit or not place:
                    around = NOTHING
                    if camera.fit:
                        plan, size = make_plan(scene, _values(shots[frame])), scene.render
                        with prefix_errors(scene.source):
                            around = reserved_room(plan, size.width, size.height)
                            around = add_boxes(scene, around)
                    yield scene, self._point(scene, frame), around

        rest = scenes()
        fitted = fit(rest, camera, self._directions, aspect)
        for _ in rest:
            pass
        self._inferred.is_frozen = True
        return fitted

    def _directions(self, camera: Camera) -> list[NDArray[np.float64]]:
        """Return the directions of a fitted camera: all around if it revolves."""
        backward = np.array(camera.backward(), np.float64)
        settings = self.plan.settings
        if (settings.turntable is None and settings.orbit is None) or settings.keyframes:
            return [backward]
        up = np.array(camera.upward, np.float64)
        stand = CameraPose(np.zeros(3), backward, up / np.linalg.norm(up), 1.0)
        azimuth, elevation = settings.orbit or (0.0, 0.0)
        azimuth += settings.turn.degrees
        shares = [k / FIT_DIRECTIONS for k in range(FIT_DIRECTIONS + 1)]
        return [
            turn_about_target(stand, azimuth * share, elevation * share).offset for share in shares
        ]

    def _point(self, scene: Scene, frame: int) -> NDArray[np.float64] | None:
        follow = self.plan.settings.follow
        if follow is None:
            return None
        if frame not in self._points:
            self._points[frame] = find_followed_point(scene, follow)
        return self._points[frame]

    def _camera(self, shot: Shot, scene: Scene) -> Camera:
        point = self._point(scene, shot.frame)
        moved = None if point is None or self._origin is None else point - self._origin
        return self._path.at(shot.index, shot.time, moved)

    def _prepare(self, shot: Shot) -> PreparedScene:
        """Read and pack a shot and build its tree, or only move the camera."""
        job = self._job
        if job is not None and job.kept is not None and self._frame == shot.frame:
            return self._with_moved_camera(job, shot)
        scene = self._load(shot.frame, moves=True)
        scene = replace(scene, camera=self._camera(shot, scene))
        stated = {"brightness": self.settings.brightness}
        if self.in_place:
            scene = with_color_rows(scene)
            moved = job and prepare_in_place(job, scene, SceneOverrides.of(stated), _values(shot))
            if job and job.kept and moved and moved.kept:
                follow(job.scene, job.kept[1], job.kept[0], moved.kept[0])
                self._job = moved
                return moved
        self._job = prepare(
            scene,
            stated,
            backend=self._device or self.plan.backend,
            threads=self.plan.threads,
            keep=self.in_place or self._uses[shot.frame] > 1,
            values=_values(shot),
            hashed=self.hashed or shot.index == 0,
            blurs=False,  # the scene has its motion
        )
        self._frame = shot.frame
        self._device = self._job.device
        return self._job

    def _with_moved_camera(self, job: PreparedScene, shot: Shot) -> PreparedScene:
        assert job.kept is not None
        camera = self._camera(shot, job.kept[0])
        seen = job.with_camera(camera)
        state = hashlib.blake2b(digest_size=16)
        for array in (seen.view.camera, seen.view.lights, seen.view.frame):
            state.update(array.tobytes())
        about = job.about["scene"] | {"digest": f"{job.digest}-{state.hexdigest()}"}
        plan = job.plan
        if plan is not None:  # texts have the frame, and a scale bar depends on the camera
            target = to_triple(camera.look_at or (0.0, 0.0, 0.0))
            plan = replace(plan, values=plan.values | _values(shot), target=target)
        return replace(
            seen, plan=plan, frames=[], about=seen.about | {"scene": about},
            timings=dict(job.timings),
        )  # fmt: skip

    def _render(self, job: PreparedScene, bits: int | None) -> Image:
        self._pass_warnings()
        settings = job.settings
        if not job.device.has_own_memory:
            bits = None  # developed by the thread that uses the picture
        with job.device.film(Film.blank(settings.width, settings.height)) as on_device:
            if self.tone.automatic:  # metered in the first frame
                image = job.render(on_device)
                stops = self.tone.stops(measure(image.film, self.tone, job.threads))
                self.tone = replace(self.tone, exposure=stops)
                image = replace(image, settings=self.tone)
            else:
                image = job.render(on_device, tone=self.tone, bits=bits, keep_film=bits is None)
        self.seconds.append(job.frames[-1])
        return image


def _values(shot: Shot) -> dict[str, Any]:
    return {"frame": shot.frame, "seconds": ShortNumber(shot.time)}
