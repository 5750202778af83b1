"""A stand-in for the window beside a render thread, and backends that are slow or broken."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from threading import Event
from typing import Any

import numpy as np
from numpy.typing import NDArray

import raytracer
from raytracer.backends.base import CpuDevice, CpuFilm, DeviceScene, HostPicture
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import Film
from raytracer.packing.view import View
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.content import Edits
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import Frame, Message, RenderRequest
from raytracer.viewer.worker import Worker
from support.previews import PATIENCE, first_camera, wait_for

SIZE = (64, 48)
PLAIN = ToneSettings()


class Window:
    """Takes frames as the real one does: the one before goes back when the next is shown."""

    def __init__(self, adaptive: bool = True) -> None:
        self.woken = Event()
        self.shown: list[Frame] = []
        self.messages: list[Message] = []
        self.worker = Worker(self.woken.set, adaptive)
        self._held: Frame | None = None
        self._seen: NDArray[np.uint8] | None = None

    def look(self) -> Frame | None:
        """Take what there is; nothing was painted over what is on the screen."""
        self.woken.clear()
        while not self.worker.messages.empty():
            self.messages.append(self.worker.messages.get())
        frame = self.worker.take_frame()
        if frame is None:
            return None
        if self._held is not None:
            assert self._seen is not None
            np.testing.assert_array_equal(self._held.picture.pixels, self._seen)
        seen = frame.picture.pixels.copy()
        assert frame.picture.size == frame.size
        self.shown.append(frame)
        before, self._held, self._seen = self._held, frame, seen
        self.worker.release(before)
        return frame

    def finish(self, request: RenderRequest) -> Frame:
        def finished() -> Frame | None:
            self.woken.wait(0.05)
            frame = self.look()
            assert not self.worker_failed(), self.messages
            return frame if frame and frame.finished and frame.request is request else None

        found: Frame = wait_for(finished, "the finished picture")
        return found

    def receive(self, kind: type[Any]) -> Any:
        """Wait for a message of a kind; what else comes is kept."""

        def heard() -> Any:
            self.woken.wait(0.05)
            self.look()
            return next((m for m in self.messages if isinstance(m, kind)), None)

        found = wait_for(heard, kind.__name__)
        self.messages.remove(found)
        return found

    def worker_failed(self) -> bool:
        return not self.worker._thread.is_alive()


class Gate(CpuDevice):
    """A CPU whose passes can be held up; what a caller raises from progress leaves them.

    Samples are on the film already when `after` is set.
    """

    def __init__(self) -> None:
        super().__init__(2)
        self.entered, self.open = Event(), Event()
        self.open.set()
        self.passes: list[tuple[int, int]] = []  # first sample and count of each
        self.pictures = 0
        self.left = 0
        self.after = False
        self.error: BaseException | None = None

    def film(self, host: Film) -> GateFilm:
        return GateFilm(self, host)

    def picture(self) -> HostPicture:
        self.pictures += 1
        return super().picture()


class GateFilm(CpuFilm):
    """A film of a gate."""

    def __init__(self, gate: Gate, host: Film) -> None:
        super().__init__(gate, host)
        self._gate = gate

    def _accumulate(
        self, scene: DeviceScene, view: View, progress: Callable[[float], None] | None, *_: Any
    ) -> float:
        """Wait at the gate, then render."""
        gate = self._gate
        if gate.error is not None:
            raise gate.error
        gate.passes.append((view.first_sample, view.samples))
        seconds = super()._accumulate(scene, view, progress, None) if gate.after else 0.0
        gate.entered.set()
        try:
            end = PATIENCE
            while not gate.open.wait(0.002):
                assert progress is not None
                progress(0.0)
                end -= 0.002
                assert end > 0.0, "the gate stayed shut"
            return seconds or super()._accumulate(scene, view, progress, None)
        except BaseException:
            gate.left += 1
            raise


def gated(scene: Any, **overrides: Any) -> tuple[LoadedScene, Gate]:
    """A loaded scene whose device is a `Gate`."""
    loaded_scene = LoadedScene.load(scene, overrides, "cpu", threads=2)
    gate = Gate()
    loaded_scene.job.device = gate
    return loaded_scene, gate


def request_of(
    loaded_scene: LoadedScene,
    turn: float = 0.0,
    samples: int = 8,
    tone: ToneSettings = PLAIN,
    size: tuple[int, int] = SIZE,
) -> RenderRequest:
    """A request for the scene's camera, turned by an angle."""
    camera, around = loaded_scene.scene.camera, loaded_scene.reserved_room(size)
    view = moves.make_initial_view(camera, loaded_scene.buffers, size[0] / size[1], around)
    view = moves.orbit(view, turn, 0.0) if turn else view
    settings = loaded_scene.job.settings.override(width=size[0], height=size[1], samples=samples)
    packed = loaded_scene.pack_view(view, size, Edits())
    return RenderRequest(
        loaded_scene, replace(loaded_scene.job, view=packed, settings=settings), tone
    )


def assert_rendered(
    frame: Frame, samples: int = 8, tone: ToneSettings = PLAIN, size: tuple[int, int] = SIZE
) -> None:
    """The picture of the first camera is `render`'s, bit for bit."""
    scene = frame.request.loaded_scene.scene
    image = raytracer.render(
        scene, camera=first_camera(scene, size), backend="cpu", width=size[0], height=size[1],
        samples=samples, tone=tone,
    )  # fmt: skip
    np.testing.assert_array_equal(frame.picture.pixels, image.pixels(8))
    assert frame.samples == samples
