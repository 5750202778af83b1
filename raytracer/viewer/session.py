"""Session: a scene that is looked at, without a window.

The desktop window, a browser and a notebook are front ends of a session: they hand it actions by
name (`Session.do`), show its pictures (`Session.picture`) and its state (`Session.state`). All of
that happens in one thread of the front end; a render thread and a thread that loads frames work
beside it and call `wake` when there is something to fetch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from threading import Event
from time import perf_counter
from typing import TYPE_CHECKING, Any

from raytracer.errors import RaytracerError
from raytracer.fields import check_names, takes
from raytracer.film.tone_settings import ToneSettings
from raytracer.scene.coloring import STYLE
from raytracer.scene.source import Source
from raytracer.scene.view_settings import ViewSettings
from raytracer.scene.views import VIEWS
from raytracer.settings import RenderSettings
from raytracer.viewer import edits
from raytracer.viewer.content import center_of
from raytracer.viewer.copier import Copier
from raytracer.viewer.data import MAPS
from raytracer.viewer.frames import Frames
from raytracer.viewer.loaded_scene import LoadedScene, require_file
from raytracer.viewer.marks import drawn_over
from raytracer.viewer.messages import Loaded, Opened, Shown
from raytracer.viewer.timeline import LOOPS
from raytracer.viewer.viewer import Viewer, all_actions
from raytracer.viewer.watch import CHECK_INTERVAL, Watch, stamps
from raytracer.viewer.worker import CPU_SLICE, Worker

if TYPE_CHECKING:
    from os import PathLike
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from raytracer.pipeline import Notice
    from raytracer.scene.annotations import Annotations
    from raytracer.viewer.messages import Frame, Message
    from raytracer.viewer.watch import Stamps


@dataclass(frozen=True, eq=False)
class Picture:
    """A picture of a session.

    Args:
        pixels: uint8 (h, w, 4), straight alpha, row 0 on top; the caller's own.
        size: width and height of the full picture; a draft has fewer pixels, to be stretched.
        samples: per pixel so far.
        of: samples per pixel of the finished picture.
        draft: whether it is replaced by a finer one soon.
        finished: whether it has its full size and all samples.
        opaque: whether its alpha may be ignored.
        number: counts the pictures of a session from 1.
        stamp: time of the action that it shows, `time.perf_counter`.
    """

    pixels: NDArray[np.uint8]
    size: tuple[int, int]
    samples: int
    of: int
    draft: bool
    finished: bool
    opaque: bool
    number: int
    stamp: float


class Session:
    """A scene that is looked at; see `open`. It is a context manager too.

    Args:
        loaded_scene: the scene; the session closes it.
        size: width and height of the picture in pixels.
        tone: initial exposure and curve; None takes the scene's.
        adaptive: False renders at full size even during interaction.
        wake: called by other threads when there is a picture or a message to fetch.
        say: called with each line to be printed.
        frames: the frames of what is shown; None: the scene is the only one.
        file: the scene is loaded again when this file, or one that it names, changes; or None.
        stamped: of these files when loading began; None is now.

    Attributes:
        viewer: the state, and the methods behind the actions.
        worker: the render thread.

    Raises:
        SceneError: the scene cannot be packed.
    """

    def __init__(
        self,
        loaded_scene: LoadedScene,
        size: tuple[int, int],
        tone: ToneSettings | None = None,
        adaptive: bool = True,
        wake: Callable[[], None] | None = None,
        say: Callable[[str], None] = print,
        frames: Frames | None = None,
        file: Path | None = None,
        stamped: Stamps | None = None,
    ) -> None:
        device = loaded_scene.job.device
        if device.can_interrupt:
            device.budget = CPU_SLICE
        self._rang, self._wake = Event(), wake
        self._pictures = 0
        self._copier: Copier | None = None
        self._watch = None
        if file is not None:
            also = None if frames is None else frames.source.topology
            self._watch = Watch(file, self._again, stamped, also)
        self._watched = perf_counter()
        self.worker = Worker(self._ring, adaptive)
        try:
            self.viewer = Viewer(loaded_scene, self.worker, size, tone, say, frames)
        except BaseException:
            self.worker.stop()
            raise
        self.viewer.on_opened = self._watch_other
        if frames is not None:
            self.viewer.loader.count()
            if loaded_scene.content.hidden:  # what is hidden is not there yet
                self.viewer.loader.show(loaded_scene.content, loaded_scene)

    def _watch_other(self, path: Path) -> None:
        """Watch another file instead, if the one before was watched."""
        if self._watch is not None:
            self._watch.cancel()
            self._watch = Watch(path, self._again)

    def _again(self, step: Notice) -> LoadedScene:
        """Load the scene again, in the thread of `Watch`; the frames are counted again too."""
        self.viewer.loader.count()
        viewer = self.viewer
        return viewer.loader.frames.again(viewer.data.content, viewer.loaded_scene, step)

    @classmethod
    @takes(ViewSettings, STYLE)
    def open(
        cls,
        scene: object,
        *,
        size: tuple[int, int] | None = None,
        frame: int | None = None,
        format: str | None = None,  # noqa: A002
        topology: str | PathLike[str] | None = None,
        smoothing: int | None = None,
        unwrap: bool | None = None,
        backend: str = "auto",
        samples: int | None = None,
        look: str | None = None,
        integrator: str | None = None,
        ao_samples: int | None = None,
        ao_distance: float | None = None,
        denoise: bool | None = None,
        light: Any = None,
        placement: str | None = None,
        threads: int = 0,
        tone: ToneSettings | Mapping[str, Any] | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
        watch: bool = False,
        adaptive: bool = True,
        wake: Callable[[], None] | None = None,
        notice: Notice | None = None,
        say: Callable[[str], None] = print,
        **view_settings: Any,
    ) -> Session:
        """Load a scene and begin to render it.

        Args:
            scene: a Scene, the path of a scene or particle file, or an object that holds particles.
            size: width and height of the picture in pixels; None takes the scene's.
            wake: called by other threads when there is a picture or a message to fetch.
            frame, format, topology, smoothing, unwrap, backend, samples, look, integrator,
                ao_samples, ao_distance, denoise, light, placement, threads, tone, annotations,
                watch, adaptive, notice, say: as for `preview`.
            **view_settings: settings of view and colours, as for `preview`.

        Raises:
            UserError: the scene or an argument cannot be shown.
        """
        check_names(cls.open, view_settings)
        width, height = size or (None, None)
        overrides: dict[str, Any] = {
            "width": width, "height": height, "samples": samples, "look": look,
            "integrator": integrator, "ao_samples": ao_samples, "ao_distance": ao_distance,
            "light": light, "placement": placement, "denoise": denoise,
        }  # fmt: skip
        ToneSettings.of(tone)  # a mistake is said before anything is loaded
        RenderSettings().override(**overrides)
        source = Source.of(
            scene, frame=frame, format=format, topology=topology, smoothing=smoothing, unwrap=unwrap
        )
        file = require_file(source) if watch else None
        stamped = stamps(file, source.topology) if file is not None else None
        frames = Frames(source, overrides | view_settings, threads, annotations)
        loaded_scene = frames.first(backend, notice)
        settings = loaded_scene.job.settings
        try:
            return cls(
                loaded_scene, (settings.width, settings.height),
                ToneSettings.of(tone, loaded_scene.job.tone), adaptive, wake, say, frames, file,
                stamped,
            )  # fmt: skip
        except BaseException:
            loaded_scene.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Actions

    def do(self, name: str, /, *values: Any, **named: Any) -> Any:
        """Run an action; arguments and errors as for `Viewer.do`."""
        return self.viewer.do(name, *values, **named)

    @staticmethod
    def actions() -> list[dict[str, Any]]:
        """Return name, help and arguments of every action, as JSON types."""
        return [each.about() for each in all_actions().values()]

    def resize(self, width: int, height: int) -> None:
        """Render at another size, in pixels."""
        self.viewer.resize(width, height)

    @property
    def moving(self) -> bool:
        """Whether something changes by itself, so that `tick` has to be called."""
        return self.viewer.moving

    def tick(self, seconds: float) -> bool:
        """Advance what moves by itself; returns whether anything still does."""
        self.viewer.tick(seconds)
        return self.moving

    # Pictures

    def receive(self) -> None:
        """Handle the messages of other threads, and look for changed files."""
        while not self.worker.messages.empty():
            self.viewer.receive(self.worker.messages.get())
        self.check_files()

    @property
    def watches(self) -> bool:
        """Whether the files of the scene are looked at."""
        return self._watch is not None

    def check_files(self) -> None:
        """Load the scene again if its files have changed, at most every `CHECK_INTERVAL`."""
        now = perf_counter()
        if self._watch is not None and now - self._watched >= CHECK_INTERVAL:
            self._watched = now
            self._watch.check(0.0, self.worker.post)

    def picture(self, timeout: float = 0.0) -> Picture | None:
        """Handle messages, and return the latest picture if it was not returned before.

        Args:
            timeout: seconds to wait for one.
        """
        end = perf_counter() + timeout
        while True:
            self._rang.clear()
            self.receive()
            frame = None if self.failure is not None else self.worker.take()
            if frame is not None:
                return self._copied(frame)
            left = end - perf_counter()
            if left <= 0.0 or self.failure is not None:
                return None
            self._rang.wait(min(left, CHECK_INTERVAL))

    def _copied(self, frame: Frame) -> Picture:
        """Return a frame as a picture of its own, and give the frame back."""
        if self._copier is None:
            self._copier = Copier(frame.request.loaded_scene.job.device)
        pixels = drawn_over(self._copier.copied(frame.picture), frame.marks)
        before, self.viewer.frame = self.viewer.frame, frame
        self.worker.release(before)
        self._pictures += 1
        return Picture(
            pixels, frame.request.size, frame.samples, frame.request.samples, frame.draft,
            frame.finished, not frame.transparent, self._pictures, frame.request.stamp,
        )  # fmt: skip

    def _ring(self) -> None:
        self._rang.set()
        if self._wake is not None:
            self._wake()

    # State

    @property
    def failure(self) -> BaseException | None:
        """Why rendering ended, or None."""
        return self.viewer.failure

    def state(self) -> dict[str, Any]:
        """Return the state as JSON types, to be shown; the names are those of actions."""
        viewer, loaded = self.viewer, self.viewer.loaded_scene
        data, time, content = viewer.data, viewer.time, viewer.data.content
        save_job = self.worker.save_job
        return {
            "name": loaded.name,
            "spheres": loaded.scene.count,
            "size": list(viewer.size),
            "samples": viewer.samples,
            "device": str(loaded.job.about["backend"]["device"]),
            "look": viewer.edits.look_of(loaded.scene),
            "looks": viewer.looks,
            "background": edits.BACKGROUND_NAMES[viewer.edits.background],
            "backgrounds": list(edits.BACKGROUND_NAMES),
            "shadow_catcher": viewer.shadow_catcher,
            "priority": viewer.priority,
            "exposure": viewer.tone.exposure,
            "tone": viewer.tone.tone,
            "projection": viewer.view.pose.kind,
            "camera": {k: v for k, v in vars(viewer.camera).items() if v is not None},
            "turning": viewer.turning,
            "notice": viewer.notice,
            "error": viewer.reload_error,
            "loading": viewer.loader.busy,
            "frame": {
                "number": time.number, "count": time.count, "playing": time.playing,
                "speed": time.speed, "loop": time.loop, "loops": list(LOOPS),
            },
            "color": self._color(),
            "solids": self._solids(),
            "selection": {
                "count": data.selected,
                "condition": content.selection.condition if content.selection else "",
            },
            "hidden": data.hidden,
            "slice": self._slice(),
            "picks": self._picks(),
            "measure": ", ".join(data.measures()),
            "views": [*VIEWS, *viewer.views.names],
            "keyframes": viewer.keys.count,
            "menu": {
                "number": viewer.menu.number, "items": [e.about() for e in viewer.menu.items]
            },
            "can_undo": viewer.history.can_undo,
            "can_redo": viewer.history.can_redo,
            "saving": save_job.fraction if save_job is not None else None,
        }  # fmt: skip

    def _color(self) -> dict[str, Any]:
        """Return what colours follow."""
        from raytracer.scene.coloring.style import SCALES

        data, scales = self.viewer.data, self.viewer.loaded_scene.scene.color_scales
        style = data.style
        return {
            "by": style.get("color_by"),
            "map": style.get("map"),
            "range": style.get("range"),
            "scale": style.get("color_scale"),
            "scales": list(SCALES),
            "columns": data.columns,
            "maps": list(MAPS),
            "low": scales[-1].low if scales else None,
            "high": scales[-1].high if scales else None,
            "legend": data.has_legend,
        }

    def _solids(self) -> dict[str, Any]:
        """Return what is made of the data: bonds, arrows, trails, contacts, ellipsoids, box."""
        from raytracer.scene.bond_settings import STYLES

        data = self.viewer.data
        return {
            "style": data.style.get("style"),
            "styles": list(STYLES),
            "bonds": data.style.get("bonds"),
            "has_bonds": data.has_bonds,
            "arrows": data.arrows,
            "vectors": data.vectors,
            "trails": data.trails,
            "trail_lengths": data.trail_lengths,
            "contacts": data.contacts,
            "kinds_of_contacts": data.kinds_of_contacts,
            "shape": data.shape,
            "shapes": data.shapes,
            "box": data.has_box,
            "knows_box": data.knows_box,
        }

    def _slice(self) -> dict[str, Any] | None:
        """Return the slice and where it is on its axis."""
        now = self.viewer.data.content.slice
        if now is None:
            return None
        low, high = self.viewer.data.slice_extent()
        value = low + now.position * (high - low)
        return vars(now) | {"low": low, "high": high, "value": value}

    def _picks(self) -> list[dict[str, Any]]:
        """Return the picks that are shown, and what is known of them."""
        data, loaded = self.viewer.data, self.viewer.loaded_scene
        found = []
        for number in data.picks:
            prim_id = loaded.id_of(number)
            if prim_id is not None:
                position = center_of(loaded.scene, prim_id).tolist()
                lines = data.lines_of(number)
                found.append({"id": number, "position": position, "lines": lines})
        return found

    # End

    def stop(self) -> bool:
        """End all threads; returns whether they have ended, and memory may be freed."""
        if self._watch is not None:
            self._watch.cancel()
        if sentence := self.viewer.keys.stop():
            self.viewer._say(sentence)
        stopped = self.worker.stop()
        self.viewer.loader.stop()
        if self._watch is not None:
            self._watch.join()
        return stopped

    def close(self) -> None:
        """End all threads and free all memory; a second call does no harm."""
        if self.stop():  # else the render thread still uses the memory
            self.free()

    def free(self) -> None:
        """Free all memory after the threads have ended."""
        if self._copier is not None:
            self._copier.close()
        if not isinstance(self.failure, RaytracerError):  # the memory of a lost GPU is lost too
            for loaded_scene in (*self.worker.loaded_scenes, *self._unshown()):
                loaded_scene.close()

    def _unshown(self) -> list[LoadedScene]:
        """Return scenes that were loaded and not shown any more."""
        queue = self.worker.messages
        messages: list[Message] = [queue.get() for _ in range(queue.qsize())]
        return [each.loaded_scene for each in messages if isinstance(each, (Loaded, Shown, Opened))]
