"""A user who drags without end: drives the window's own loop for tests and measurements."""

from __future__ import annotations

from time import perf_counter
from typing import TYPE_CHECKING

from pyglet.window import mouse

if TYPE_CHECKING:
    from raytracer.viewer.messages import Frame, Size
    from raytracer.viewer.window import PreviewWindow

DRAG = 7.0  # pixels an event


class Player:
    """Drags by one step as soon as the step before is on the screen, and then rests.

    frames: how many steps.
    Afterwards: `latency`, seconds from each event to the fence after its picture; `traced`, the
    size of each; `rest`, seconds from the last event to the first picture of full size.
    """

    def __init__(self, window: PreviewWindow, frames: int) -> None:
        self.latency: list[float] = []
        self.traced: list[Size] = []
        self.rest = 0.0
        self._left = frames
        self._window = window
        self._since = 0.0  # when the last event was; 0 before the first
        window.on_shown = self._shown

    def _shown(self, frame: Frame) -> None:
        """Take the time, and give the next event."""
        now = self._window.shown[-1]
        if frame.request.stamp < self._since:
            return  # more of what was before the event
        if self._since and len(self.latency) < self._left:
            self.latency.append(now - self._since)
            self.traced.append(frame.size)
        full = frame.size == frame.request.size
        if len(self.latency) < self._left:
            if self._since or full:  # begin from a picture at rest
                self._drag()
            return
        if not self.rest and full:
            self.rest = now - self._since if self._since else 0.0
        if frame.finished:
            self._window.viewer.close()
            self._window.paint()

    def _drag(self) -> None:
        self._since = perf_counter()
        width, height = self._window.width, self._window.height
        place = width // 2, height // 2
        self._window.dispatch_event("on_mouse_drag", *place, DRAG, 0.0, mouse.LEFT, 0)
