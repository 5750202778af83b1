"""Session: an interactive view of a scene, without a window.

Desktop window, browser and notebook are front ends of a session: they pass it actions by name
(`Session.do`), and show its pictures (`Session.picture`) and state (`Session.state`). All of this
happens in one thread of the front end; a render thread and a loading thread call `wake` when there
is something new.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Event
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import RaytracerError, SceneError
from raytracer.film.tone_settings import ToneSettings
from raytracer.viewer import data_actions, messages, orbit_camera, picking
from raytracer.viewer import keep as keep  # for its actions
from raytracer.viewer import panel as panel
from raytracer.viewer.edits import Edits
from raytracer.viewer.frames import FrameLoader, Frames
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.marks import drawn_over
from raytracer.viewer.messages import Frame, Loaded, Message
from raytracer.viewer.options import ViewOptions
from raytracer.viewer.picking import MAX_PICKS, follow_picks
from raytracer.viewer.state import Clock, ViewerState
from raytracer.viewer.view_actions import fit_picked, receive_count
from raytracer.viewer.watch import CHECK_INTERVAL
from raytracer.viewer.worker import CPU_SLICE, GPU_SHARE, Worker


@dataclass(frozen=True, eq=False)
class Picture:
    pixels: NDArray[np.uint8]  # uint8 (h, w, 4), straight alpha, row 0 on top; owned by the caller
    # Width and height of the full picture; a draft has fewer pixels, to be stretched.
    size: tuple[int, int]
    samples: int  # per pixel so far
    of: int  # samples per pixel of the finished picture
    draft: bool  # whether a finer one replaces it soon
    finished: bool  # whether it has its full size and all samples
    opaque: bool  # whether its alpha may be ignored
    number: int  # counts the pictures of a session from 1
    stamp: float  # time of the action that it shows, `time.perf_counter`


class Session:
    """An interactive view of a scene; see `open`. Also a context manager."""

    def __init__(
        self,
        frames: Frames,
        loaded_scene: LoadedScene,
        size: tuple[int, int],
        wake: Callable[[], None] | None = None,
        say: Callable[[str], None] = print,
    ) -> None:
        options, device = frames.options, loaded_scene.job.device
        if device.can_interrupt:
            device.budget = CPU_SLICE
        self._rang, self._wake = Event(), wake
        self._pictures = 0
        self.watch, self._watched = options.watch, perf_counter()
        shares_gpu = frames.live is not None and device.has_own_memory
        self.worker = Worker(self._ring, options.adaptive, GPU_SHARE if shares_gpu else 1.0)
        try:
            loader = FrameLoader(frames, self.worker.post)
            tone = ToneSettings.of(options.tone, loaded_scene.job.tone)
            clock = Clock(frames.initial)
            self.viewer = ViewerState(loaded_scene, self.worker, size, loader, tone, say, clock)
        except BaseException:
            self.worker.stop()
            raise
        if frames.live is None:
            loader.count()
        else:
            frames.live.on_change = self._ring
            frames.live.on_change()  # for the end, if it came while the first state was loaded
        if loaded_scene.content.hidden:  # what is hidden is not there yet
            loader.show(loaded_scene.content, loaded_scene)

    @classmethod
    def open(
        cls,
        scene: object,
        *,
        size: tuple[int, int] | None = None,
        wake: Callable[[], None] | None = None,
        say: Callable[[str], None] = print,
        **settings: Any,
    ) -> Session:
        """Load a scene and start rendering it; `settings` as for `ViewOptions.of`."""
        if size is not None:
            settings |= {"width": size[0], "height": size[1]}
        frames = Frames(ViewOptions.of(scene, **settings))
        loaded_scene = frames.first(frames.options.notice)
        full = loaded_scene.job.settings
        try:
            return cls(frames, loaded_scene, (full.width, full.height), wake, say)
        except BaseException:
            loaded_scene.close()
            raise

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def do(self, name: str, /, *values: Any, **named: Any) -> Any:
        """Run an action; arguments and errors as for `ViewerState.do`."""
        return self.viewer.do(name, *values, **named)

    # Pictures

    def receive(self) -> None:
        """Handle the messages of other threads, ask for the state of a simulation, and reload the
        scene if its files have changed, which is checked every `CHECK_INTERVAL`."""
        while not self.worker.messages.empty():
            receive(self.viewer, self.worker.messages.get())
        self.viewer.follow()
        now, loader = perf_counter(), self.viewer.loader
        if self.watch is not None and now - self._watched >= CHECK_INTERVAL:
            self._watched = now
            if not loader.reloads and self.watch.changed():
                loader.reload(self.watch, self.viewer.content, self.viewer.loaded_scene)

    def picture(self, timeout: float = 0.0) -> Picture | None:
        """Handle messages, and return the latest picture if it is new."""
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
        with frame.request.loaded_scene.job.device.turn():
            pixels = frame.picture.to_host()
        pixels = drawn_over(pixels, frame.marks)
        self.worker.release(self.viewer.present(frame))
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
        """Return the state as JSON types, for display; the names are those of actions."""
        viewer, loaded = self.viewer, self.viewer.loaded_scene
        time, content, scales = viewer.time, viewer.content, loaded.scene.color_scales
        save_job = self.worker.save_job
        return {
            "name": loaded.name,
            "spheres": loaded.scene.count,
            "size": list(viewer.size),
            "samples": viewer.samples,
            "look": viewer.edited.render.look,
            "background": viewer.edits.background,
            "camera": {k: v for k, v in vars(viewer.camera).items() if v is not None},
            "notice": viewer.notice,
            "error": viewer.reload_error,
            "loading": viewer.loader.busy,
            "frame": {
                "number": viewer.frame_number, "count": time.count, "playing": time.playing,
                "speed": time.speed,
            },
            "color": {
                "by": content.style.get("color_by"),
                "low": scales[-1].low if scales else None,
                "high": scales[-1].high if scales else None,
                "columns": data_actions.columns(viewer),
            },
            "selection": {
                "count": data_actions.selected(viewer),
                "condition": content.selection.condition if content.selection else "",
            },
            "hidden": data_actions.hidden(viewer),
            "slice": None if content.slice is None else vars(content.slice),
            "picks": [
                {"id": each.number, "position": picking.center_of(viewer, each).tolist(),
                 "lines": each.lines}
                for each in picking.picked_spheres(viewer)
            ],
            "measure": ", ".join(picking.measures(viewer)),
            "keyframes": len(viewer.keyframes),
            "saving": save_job.fraction if save_job is not None else None,
        }  # fmt: skip

    # End

    def stop(self) -> bool:
        """End all threads; return whether they have ended, so that memory may be freed."""
        self.viewer.loader.stop(wait=False)
        stopped = self.worker.stop()
        self.viewer.loader.stop()
        return stopped

    def close(self) -> None:
        """End all threads and free all memory; may be called twice."""
        if self.stop():  # otherwise the render thread still uses the memory
            self.free()

    def free(self) -> None:
        if not isinstance(self.failure, RaytracerError):  # a lost GPU's memory is lost too
            queue = self.worker.messages
            unread = [queue.get() for _ in range(queue.qsize())]
            unshown = [each.loaded_scene for each in unread if isinstance(each, Loaded)]
            for loaded_scene in (*self.worker.loaded_scenes, *unshown):
                loaded_scene.close()


def receive(viewer: ViewerState, message: Message) -> None:
    """Handle a message of another thread."""
    match message:
        case messages.Picked():
            _receive_picked(viewer, message)
        case messages.Saved(path):
            viewer.say(str(path))
            viewer.notify(f"saved {path}")
        case messages.Refused(sentence, reloaded=True):
            viewer.reload_error = sentence
            viewer.notify("")  # an older message would seem to refer to this change
        case messages.Refused(sentence, content):
            if content is not None and content == viewer.content:
                viewer.content = viewer.loaded_scene.content
            viewer.notify(sentence)
        case messages.Loaded(loaded, reloaded):
            _receive_loaded(viewer, loaded, reloaded)
        case messages.Counted(count):
            receive_count(viewer, count)
        case messages.Failed(error):
            viewer.failure, viewer.closing = error, True


def _receive_picked(viewer: ViewerState, message: messages.Picked) -> None:
    """Take a pick, also of a scene that was replaced by other colours of the same frame."""
    pick, clicked, scene = message.pick, message.loaded_scene, viewer.loaded_scene
    if clicked is not scene and (
        pick is None
        or clicked.all_particles is not scene.all_particles
        or scene.id_of(pick.number) is None
    ):
        return
    others = viewer.picks if message.add else []
    if pick is not None:
        others = [each for each in others if each.number != pick.number]
        viewer.picks = [*others, pick][-MAX_PICKS:]
        if message.go:
            fit_picked(viewer)
        return
    before, viewer.picks = viewer.picked, others
    ended = f"; sphere {before.number:,} is no longer picked" if before and not others else ""
    viewer.notify(f"there is no sphere here{ended}")


def _receive_loaded(viewer: ViewerState, loaded: LoadedScene, reloaded: bool) -> None:
    """Show a scene; the camera stays, unless the changed file states another."""
    if not loaded.owns_memory and loaded.job.scene is not viewer.loaded_scene.job.scene:
        viewer.show(viewer.content)  # the memory that it shares is that of a replaced scene
        return
    old, viewer.loaded_scene = viewer.loaded_scene, loaded
    other_box = old.content.drawn.get("box") != loaded.content.drawn.get("box")
    if reloaded and old.scene.camera != loaded.scene.camera:
        viewer.view = viewer.initial_view()
    elif viewer.view.fits_all and (reloaded or other_box):
        viewer.view = viewer.showing_all(viewer.view)
    else:
        same = orbit_camera.rebased(viewer.view, old.buffers.space, loaded.buffers.space)
        viewer.view = loaded.giants.kept_out(same, same)
    if reloaded:
        viewer.reload_error, viewer.samples = "", loaded.job.settings.samples
        viewer.edits = _edits_after(viewer.edits, old, loaded)
        viewer.notify(f"{loaded.name} was reloaded")
    try:
        viewer.submit(viewer.pack())
    except SceneError:  # view or edits are invalid in the new scene
        viewer.edits, viewer.view = Edits(), viewer.initial_view()
        viewer.submit(viewer.pack())
    viewer.notify_of_scene()
    if reloaded and viewer.content != loaded.content:  # another one was requested meanwhile
        viewer.show(viewer.content)
    follow_picks(viewer, old)


def _edits_after(edits: Edits, old: LoadedScene, new: LoadedScene) -> Edits:
    """Return the edits; none if the changed file states another light, background or ground."""
    stated = [
        (scene.lights, scene.render.look, scene.render.integrator, scene.background, scene.ground)
        for scene in (old.scene, new.scene)
    ]
    return edits if stated[0] == stated[1] else Edits()
