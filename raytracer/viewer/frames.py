"""Frames: loaded one at a time by a thread, and put on the device with a content."""

from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from threading import RLock
from typing import Any

import numpy as np

from raytracer.backends.base import Device
from raytracer.errors import ClosedError, RaytracerError, UserError
from raytracer.following import with_rows
from raytracer.pipeline import Notice, load_source
from raytracer.scene.coloring import SETTINGS
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.glyphs.make import FADING
from raytracer.scene.glyphs.ribbons import atoms_kept
from raytracer.scene.inferred import InferredDefaults, inferring
from raytracer.scene.load import is_scene
from raytracer.scene.overrides import SceneOverrides, apply_overrides
from raytracer.scene.scene import Scene
from raytracer.settings import AUTO
from raytracer.trajectory.source import LiveSource, frames_of
from raytracer.viewer import messages
from raytracer.viewer.content import Applied, Chosen, Content, apply, colored_there
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.marks import marked
from raytracer.viewer.messages import Message
from raytracer.viewer.options import ViewOptions
from raytracer.viewer.watch import Watch
from raytracer.warning import collected

MORE_FRAMES = "the first is shown: for another one give --frame"  # useless beside a time line


class Frames:
    """The frames of a source; thread-safe."""

    def __init__(self, options: ViewOptions) -> None:
        self.options, self.source = options, options.source
        self.initial, path = self.source.frame, self.source.path
        self._given = dict(options.overrides)
        holds_particles = self.live or (path is not None and not is_scene(path))
        if self._given.get("ao_samples") is None and holds_particles:
            self._given["ao_samples"] = 1  # samples add up here; the first picture is faster
        self._overrides = {k: v for k, v in self._given.items() if k not in SETTINGS}
        self._lock = RLock()
        self._plain: tuple[int | None, Scene] | None = None  # the latest frame, as loaded
        self._inferred = InferredDefaults()  # of frames
        self._colors: tuple[dict[str, Any], InferredDefaults] = {}, InferredDefaults()  # of a style
        self._scale: ColorScale | None = None  # of this style
        self._first_style: dict[str, Any] = {}
        self._first_range: tuple[float, float] | None = None  # for the style of the call

    def first(self, notice: Notice | None, device: Device | None = None) -> LoadedScene:
        """Load the first frame, as `raytracer render` does.

        device: that is used already; None: that of the options.
        """
        options = self.options
        with self._lock, inferring(self._inferred):
            loaded = LoadedScene.load(
                self.source, self._given, device or options.backend, options.threads, notice,
                options.annotations,
            )  # fmt: skip
        loaded.job.warnings = [each for each in loaded.job.warnings if MORE_FRAMES not in each]
        style = {k: self._given[k] for k in SETTINGS if self._given.get(k) is not None}
        if not style:
            glyphs = (getattr(loaded.scene, name) for name in FADING)
            stated = any(each is not None and each.particles is not None for each in glyphs)
            if loaded.scene.shape is not None:  # of which some particles are ellipsoids
                with collected():  # the same warnings
                    loaded.plain = self._loaded(self.initial)
            elif not stated and loaded.scene.ribbons is None:
                self._plain = self.initial, loaded.scene
            loaded.content = Content(self.initial)
            return loaded
        condition, rest = style.pop("select", None), style.pop("rest", None)
        chosen = None if condition is None else Chosen(condition)
        hidden = ((chosen, True),) if chosen and not rest else ()
        faded = ((chosen, True, rest),) if chosen and rest else ()
        plan = loaded.job.plan
        drawn = {"legend": plan is not None and plan.annotations.legend is not None}
        loaded.content = Content(self.initial, style, hidden, faded, drawn=drawn)
        self._first_style = style
        scales = loaded.scene.color_scales
        if scales and scales[-1].kind != "categorical":
            self._first_range = scales[-1].low, scales[-1].high
        return loaded

    @property
    def live(self) -> LiveSource | None:
        """The simulation whose states are the frames; None of files and scenes."""
        return self.source.scene if isinstance(self.source.scene, LiveSource) else None

    def count(self) -> int:
        return frames_of(self.source).count

    def again(self, content: Content, like: LoadedScene, step: Notice | None = None) -> LoadedScene:
        """Reload files that have changed."""
        with self._lock:
            self._plain = None
            self.source = replace(self.source, counted={})
            if content == Content(self.initial):
                return self.first(step, like.job.device)
            return self.load(content, like, step)

    def load(self, content: Content, like: LoadedScene, step: Notice | None = None) -> LoadedScene:
        """Load a frame with a content on the device of another scene."""
        with self._lock, collected() as warnings:
            plain = self._loaded(content.frame)
            applied = self._applied(content, plain)
        scene, loaded = applied.scene, None
        if scene.render.brightness == AUTO:  # measured once: the light of all frames is the same
            render = scene.render.override(brightness=like.job.settings.brightness)
            scene = replace(scene, render=render)
        # Changes of annotations: the legend of a colour scale, unless it is off.
        drawn = {name: content.drawn[name] for name in ("legend", "box") if name in content.drawn}
        if content.style.get("color_by"):
            drawn.setdefault("legend", True)
        arrows = content.drawn.get("arrows")
        glyphs = {} if arrows is None else {"arrows": arrows or False}
        if self.live is not None:
            scene = with_rows(scene)
            loaded = like.followed(scene, SceneOverrides.of(glyphs, drawn or None))
        if loaded is None:
            loaded = LoadedScene.load(
                scene, glyphs, like.job.device, self.options.threads, step, drawn or None
            )
        numbers, selection = applied.numbers, applied.marked
        if scene.ribbons is not None and loaded.scene.count < scene.count:
            kept = np.concatenate(atoms_kept(replace(loaded.scene, spheres=scene.spheres)))
            numbers = np.flatnonzero(kept) if numbers is None else numbers[kept]
            selection = None if selection is None else selection[kept]
        if selection is not None:
            selection = marked(loaded.scene, applied.scene.spheres, selection)
        about = like.job.about["scene"] | {"digest": loaded.job.digest}
        job = replace(
            loaded.job, about=loaded.job.about | {"scene": about},
            warnings=[*warnings, *loaded.job.warnings],
        )  # fmt: skip
        return replace(
            loaded, path=like.path, content=content, numbers=numbers, plain=plain,
            selected=applied.selected, marked=selection, job=job,
        )  # fmt: skip

    def _loaded(self, frame: int | None) -> Scene:
        """Return a frame with its original colours and all particles; the latest is cached."""
        if self._plain is None or self._plain[0] != frame:
            with inferring(self._inferred):
                if self.source.path is not None:
                    scene = load_source(self.source, frame)
                else:
                    scene = frames_of(self.source).load(frame or 0)
            overrides = SceneOverrides.of(self._overrides, self.options.annotations)
            self._plain = frame, apply_overrides(scene, overrides)
        return self._plain[1]

    def _applied(self, content: Content, plain: Scene) -> Applied:
        """Apply a content to a frame; the range of its colours stays that of the first frame."""
        style = dict(content.style)
        if self._colors[0] != style:
            self._colors = style, InferredDefaults()
        if style.get("color_by") and style == self._first_style and "range" not in style:
            content = replace(content, style={**style, "range": self._first_range})
        inferred = self._colors[1]
        if inferred.is_frozen and (colored := colored_there(content, plain, self._scale)):
            return Applied(colored)
        with inferring(inferred):
            applied = apply(content, plain)
        inferred.freeze()
        self._scale = applied.scene.color_scales[-1] if applied.scene.color_scales else None
        return applied


def _sentence(error: Exception, what: object) -> str:
    if isinstance(error, RaytracerError):
        return str(error)
    if isinstance(error, MemoryError):
        return f"{what}: there is not enough memory to load it"
    text = " ".join([type(error).__name__, *str(error).split()])
    return f"{what}: cannot be loaded ({text})"


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

    @property
    def busy(self) -> bool:
        """Whether a requested content is not loaded yet."""
        return "show" in self._futures and not self._futures["show"].done()

    @property
    def reloads(self) -> bool:
        """Whether files are being reloaded, from the request to its message."""
        return "reload" in self._futures and not self._futures["reload"].done()

    def show(self, content: Content, like: LoadedScene) -> None:
        """Load a content instead of the previous request; posts `Loaded` or `Refused`."""
        self._content = content
        self.request("show", self._loaded, content, like)

    def reload(self, watch: Watch, content: Content, like: LoadedScene) -> None:
        """Reload a content from changed files; posts `Loaded` or `Refused`."""
        self.request("reload", self._reloaded, watch, content, like)
        self.count()

    def count(self) -> None:
        """Count the frames; posts `Counted`."""
        self.request("count", self._counted)

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
        except Exception as error:  # a defect, of which the pool would say nothing
            message = messages.Failed(error)
        if message is not None:
            self._post(message)

    def _counted(self) -> Message | None:
        try:
            return messages.Counted(self.frames.count())
        except UserError:
            return None  # errors are reported when a frame is shown

    def _reloaded(self, watch: Watch, content: Content, like: LoadedScene) -> Message | None:
        def step(_: str) -> None:
            if self._stopped:
                raise ClosedError

        watch.begin()
        try:
            loaded = self.frames.again(content, like, step)
        except Exception as error:
            why = _sentence(error, watch.path)
            return None if self._stopped else messages.Refused(why, reloaded=True)
        return self._unless_late(loaded, reloaded=True)

    def _loaded(self, content: Content, like: LoadedScene) -> Message | None:
        if content is not self._content:
            return None
        try:
            loaded = self.frames.load(content, like)
        except Exception as error:
            return messages.Refused(_sentence(error, "what was asked for"), content)
        wanted = self._content  # may differ in frame or slice only
        if replace(content, frame=wanted.frame, slice=wanted.slice) == wanted:
            return self._unless_late(loaded)
        loaded.close()
        return None

    def _unless_late(self, loaded: LoadedScene, reloaded: bool = False) -> Message | None:
        if not self._stopped:
            return messages.Loaded(loaded, reloaded)
        loaded.close()
        return None
