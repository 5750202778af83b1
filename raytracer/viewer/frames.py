"""Frames: the source of a preview with its checked settings, and a thread that loads its frames."""

from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from raytracer.appearance.coloring import SETTINGS, STYLE
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.glyphs.make import particle_opacities
from raytracer.appearance.glyphs.ribbons import find_kept_atoms
from raytracer.backends.base import Device
from raytracer.config.arguments import check_function, check_truth
from raytracer.config.errors import ClosedError, DataFileError, UserError
from raytracer.config.fields import accept_settings, check_names
from raytracer.config.inferred import InferredDefaults, infer_defaults
from raytracer.config.tone_settings import ToneSettings
from raytracer.config.warning import collect_warnings
from raytracer.model.annotations import Annotations
from raytracer.model.scene import Scene
from raytracer.model.settings import AUTO, RenderSettings
from raytracer.model.source_settings import SourceSettings
from raytracer.rendering.following import with_color_rows
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import Notice, apply_overrides, load_source
from raytracer.rendering.view_settings import ViewSettings, check_shutter
from raytracer.scene_files.load import is_scene
from raytracer.scene_files.source import InputSource
from raytracer.system.resources import choose_thread_count
from raytracer.trajectory.source import LiveSource, open_frames
from raytracer.viewer import messages
from raytracer.viewer.content import (
    SHAPES,
    Content,
    Numbers,
    ParticleSelection,
    apply_content,
    color_on_device,
)
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import Message
from raytracer.viewer.selection_overlay import mark_primitives
from raytracer.viewer.watch import Watch

MORE_FRAMES = "the first is shown: for another one give --frame"  # useless beside a time line


class Frames:
    """The frames of a source, with the checked settings of a view; thread-safe."""

    @accept_settings(SourceSettings, RenderSettings, ViewSettings, STYLE)
    def __init__(
        self,
        scene: object,
        *,
        caller: str = "preview",
        backend: str = "auto",
        threads: int = 0,
        tone: ToneSettings | Mapping[str, Any] | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
        watch: bool = False,
        adaptive: bool = True,
        notice: Notice | None = None,
        **settings: Any,
    ) -> None:
        """Check the arguments of a call of `caller`, which are those of `raytracer.preview`. Raises
        UserError, and TypeError for an argument that it does not have."""
        for name, value in (("watch", watch), ("adaptive", adaptive)):
            check_truth(value, name)
        check_function(notice, "notice")
        choose_thread_count(threads)
        ToneSettings.of(tone)
        check_names(Frames.__init__, settings, caller)
        self.source, self.overrides = InputSource.from_call(scene, settings)
        SceneOverrides.of(self.overrides)  # checks them
        check_shutter(self.overrides)
        path = self.source.path
        if watch and path is None:
            raise DataFileError("watch: a scene made in Python has no file to watch: give its path")
        topology = self.source.topology
        also = [*self.source.further, *([topology] if topology else [])]
        self.watch = Watch(path, also) if watch and path else None  # reloads changed files
        self.backend, self.threads, self.tone = backend, threads, tone
        self.annotations, self.adaptive, self.notice = annotations, adaptive, notice
        self.initial = self.source.frame
        holds_particles = self.live or (path is not None and not is_scene(path))
        if self.overrides.get("ao_samples") is None and holds_particles:
            self.overrides["ao_samples"] = 1  # samples add up here; the first picture is faster
        self._lock = RLock()
        self._plain: tuple[int | None, Scene] | None = None  # the latest frame, as loaded
        self._inferred = InferredDefaults()  # of frames
        self._colors: tuple[dict[str, Any], InferredDefaults] = {}, InferredDefaults()  # of a style
        self._scale: ColorScale | None = None  # of this style

    def load_first(self, notice: Notice | None, device: Device | None = None) -> LoadedScene:
        """Load the first frame, as `raytracer render` does; device None: that of the settings."""
        with self._lock, infer_defaults(self._inferred):
            loaded = LoadedScene.load(
                self.source, self.overrides, device or self.backend, self.threads, notice,
                self.annotations,
            )  # fmt: skip
        loaded.job.warnings = [each for each in loaded.job.warnings if MORE_FRAMES not in each]
        scene, plan = loaded.scene, loaded.job.plan
        style = {k: self.overrides[k] for k in SETTINGS if self.overrides.get(k) is not None}
        if not style:
            if scene.shape is not None:  # of which some particles are ellipsoids
                with collect_warnings():  # the same warnings
                    loaded.plain = self._load_plain_scene(self.initial)
            elif scene.ribbons is None and not particle_opacities(scene):
                self._plain = self.initial, scene
            loaded.content = Content(self.initial)
            return loaded
        condition, rest = style.pop("select", None), style.pop("rest", None)
        chosen = None if condition is None else ParticleSelection(condition)
        hidden = ((chosen, True),) if chosen and not rest else ()
        faded = ((chosen, True, rest),) if chosen and rest else ()
        legend = plan is not None and plan.annotations.legend is not None
        scale = scene.color_scales[-1] if style.get("color_by") and scene.color_scales else None
        if scale is not None and scale.kind != "categorical":  # the same for all frames
            style.setdefault("range", (scale.low, scale.high))
        loaded.content = Content(self.initial, style | {"legend": legend}, hidden, faded)
        return loaded

    @property
    def live(self) -> LiveSource | None:
        """The simulation whose states are the frames; None of files and scenes."""
        return self.source.scene if isinstance(self.source.scene, LiveSource) else None

    def load(
        self, content: Content, like: LoadedScene, step: Notice | None = None, anew: bool = False
    ) -> LoadedScene:
        """Load a frame with a content on the device of another scene; anew: of changed files."""
        with self._lock, collect_warnings() as warnings:
            if anew:
                self._plain, self.source = None, replace(self.source, counted={})
                if content == Content(self.initial):
                    return self.load_first(step, like.job.device)
            plain = self._load_plain_scene(content.frame)
            scene, numbers = self._apply_content(content, plain)
        if scene.render.brightness == AUTO:  # measured once: the light of all frames is the same
            render = scene.render.override(brightness=like.job.settings.brightness)
            scene = replace(scene, render=render)
        # Changes of annotations: the legend of a colour scale, unless it is off.
        settings = content.settings
        drawn = {k: each for k, each in settings.items() if k in ("legend", "box")}
        if settings.get("color_by"):
            drawn.setdefault("legend", True)
        glyphs = {name: settings[name] or False for name in SHAPES if name in settings}
        loaded = None
        if self.live is not None:
            scene = with_color_rows(scene)
            loaded = like.prepare_in_place(scene, SceneOverrides.of(glyphs, drawn or None))
        loaded = loaded or LoadedScene.load(
            scene, glyphs, like.job.device, self.threads, step, drawn or None
        )
        if loaded.scene.ribbons is not None and loaded.scene.count < scene.count:
            kept = np.concatenate(find_kept_atoms(replace(loaded.scene, spheres=scene.spheres)))
            numbers = np.flatnonzero(kept) if numbers is None else numbers[kept]
        chosen, marks = content.selection, None
        selection = None if chosen is None else chosen.make_mask(plain)
        if selection is not None:
            shown = selection if numbers is None else selection[numbers]
            marks = mark_primitives(loaded.scene, scene.spheres, shown)
        about = like.job.about["scene"] | {"digest": loaded.job.digest}
        job = replace(
            loaded.job, about=loaded.job.about | {"scene": about},
            warnings=[*warnings, *loaded.job.warnings],
        )  # fmt: skip
        return replace(
            loaded, path=like.path, content=content, numbers=numbers, plain=plain, marked=marks,
            selected=0 if selection is None else int(np.count_nonzero(selection)), job=job,
        )  # fmt: skip

    def _load_plain_scene(self, frame: int | None) -> Scene:
        """Return a frame with its original colours and all particles; the latest is cached."""
        if self._plain is None or self._plain[0] != frame:
            with infer_defaults(self._inferred):
                if self.source.path is not None:
                    scene = load_source(self.source, frame)
                else:
                    scene = open_frames(self.source).load(frame or 0)
            others = {k: v for k, v in self.overrides.items() if k not in SETTINGS}
            overrides = SceneOverrides.of(others, self.annotations)
            self._plain = frame, apply_overrides(scene, overrides)
        return self._plain[1]

    def _apply_content(self, content: Content, plain: Scene) -> tuple[Scene, Numbers | None]:
        """Apply a content to a frame; the range of its colours stays that of the first frame."""
        style = content.style
        if self._colors[0] != style:
            self._colors = style, InferredDefaults()
        inferred = self._colors[1]
        if inferred.is_frozen and (colored := color_on_device(content, plain, self._scale)):
            return colored, None
        with infer_defaults(inferred):
            scene, numbers = apply_content(content, plain)
        inferred.is_frozen = True
        self._scale = scene.color_scales[-1] if scene.color_scales else None
        return scene, numbers


class FrameLoader:
    """A thread that loads frames in order and posts messages; a content replaces those waiting."""

    def __init__(self, frames: Frames, post: Callable[[Message], None]) -> None:
        self.frames = frames
        self._post = post
        self._content: Content | None = None  # of the latest request
        self._futures: dict[str, Future[None]] = {}  # of the latest requests, by kind
        self._stopped = False
        # Python waits for its thread, which must not be in compiled code when it ends.
        self._executor = ThreadPoolExecutor(1, "frames")

    def is_busy(self, kind: str) -> bool:
        """Whether something requested is not done: to "show" a content, or to "reload" files."""
        return kind in self._futures and not self._futures[kind].done()

    def show(self, content: Content, like: LoadedScene) -> None:
        """Load a content instead of the previous request; posts `LoadReport` or `RefusalReport`."""
        self._content = content
        self.request("show", self._load_content, content, like)

    def reload(self, watch: Watch, content: Content, like: LoadedScene) -> None:
        """Reload a content from changed files; posts `LoadReport` or `RefusalReport`."""
        self.request("reload", self._load_content, content, like, watch)
        self.count()

    def count(self) -> None:
        """Count the frames; posts `CountReport`."""
        self.request("count", self._count_frames)

    def request(self, kind: str, perform: Callable[..., Message | None], *values: Any) -> None:
        """Call a function in the thread and post the message that it returns."""
        with suppress(RuntimeError):  # it was stopped
            self._futures[kind] = self._executor.submit(self._perform, perform, *values)

    def stop(self, wait: bool = True) -> None:
        self._stopped = True
        self._executor.shutdown(wait, cancel_futures=True)

    def _perform(self, perform: Callable[..., Message | None], *values: Any) -> None:
        try:
            message = None if self._stopped else perform(*values)
        except Exception as error:  # of which the pool would say nothing
            message = messages.RefusalReport(
                messages.format_error(error, "the view: a request failed")
            )
        if message is not None:
            self._post(message)

    def _count_frames(self) -> Message | None:
        try:
            return messages.CountReport(open_frames(self.frames.source).count)
        except UserError:
            return None  # errors are reported when a frame is shown

    def _load_content(
        self, content: Content, like: LoadedScene, watch: Watch | None = None
    ) -> Message | None:
        def step(_: str) -> None:
            if self._stopped:
                raise ClosedError

        if watch is not None:
            watch.begin()
        elif content is not self._content:
            return None
        try:
            loaded = self.frames.load(content, like, step, anew=watch is not None)
        except Exception as error:
            if self._stopped:
                return None
            what = watch.path if watch else "what was asked for"
            sentence = messages.format_error(error, f"{what}: cannot be loaded")
            return messages.RefusalReport(sentence, content, reloaded=watch is not None)
        wanted = self._content or content  # may differ in frame or slice only
        if self._stopped or not (
            watch or replace(content, frame=wanted.frame, slice=wanted.slice) == wanted
        ):
            loaded.close()
            return None
        return messages.LoadReport(loaded, watch is not None)
