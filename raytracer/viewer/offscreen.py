"""Offscreen runs: simulated drag events for tests and measurements."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from pyglet.window import mouse

from raytracer.viewer.messages import Frame, Size

if TYPE_CHECKING:
    from raytracer.viewer.window import PreviewWindow

DRAG = 7.0  # pixels per event


class Player:
    """Sends a drag event when the frame of the previous event is on the screen.

    After the last event it waits for the finished picture and closes the window.
    """

    def __init__(self, window: PreviewWindow, frames: int) -> None:
        self.latency: list[float] = []
        self.traced: list[Size] = []
        self.rest = 0.0
        self._left = frames
        self._window = window
        self._sent = 0.0  # time of the last event; 0 before the first
        window.on_shown = self._shown

    def _shown(self, frame: Frame) -> None:
        now = self._window.shown[-1]
        if frame.request.stamp < self._sent:
            return  # for an earlier event
        if self._sent and len(self.latency) < self._left:
            self.latency.append(now - self._sent)
            self.traced.append(frame.size)
        full = frame.size == frame.request.size
        if len(self.latency) < self._left:
            if self._sent or full:  # start from a picture of full size
                self._drag()
            return
        if not self.rest and full:
            self.rest = now - self._sent if self._sent else 0.0
        if frame.finished:
            self._window.viewer.do("close")
            self._window.paint()

    def _drag(self) -> None:
        self._sent = perf_counter()
        width, height = self._window.width, self._window.height
        place = width // 2, height // 2
        self._window.dispatch_event("on_mouse_drag", *place, DRAG, 0.0, mouse.LEFT, 0)
