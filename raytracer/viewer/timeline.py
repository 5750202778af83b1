"""Time line: the frames of a trajectory, played, stepped and scrubbed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raytracer.arguments import real
from raytracer.errors import UserError
from raytracer.viewer.actions import action

if TYPE_CHECKING:
    from raytracer.viewer.viewer import Viewer

FRAME_RATE = 10.0
"""Frames in a second at speed 1; a frame that takes longer to load is waited for."""

SPEEDS = (0.1, 0.2, 0.5, 1.0, 2.0, 3.0, 6.0)
"""Speeds of the keys."""

LOOPS = ("loop", "bounce", "once")
"""What follows the last frame: the first one, the way back, or nothing."""


class TimeLine:
    """The frames of what is shown, and which of them is.

    Args:
        viewer: what shows them.
        frame: the one that was loaded first; None is that of the file.

    Attributes:
        count: number of frames; 1 until they are counted.
        playing: whether frames follow one another.
        speed: factor of `FRAME_RATE`.
        loop: one of `LOOPS`.
        follows: whether the last frame stays shown when new ones are written.
    """

    def __init__(self, viewer: Viewer, frame: int | None = None) -> None:
        self._viewer = viewer
        self._initial = frame
        self.count, self.playing, self.speed, self.loop = 1, False, 1.0, LOOPS[0]
        self.follows = False
        self._direction, self._waited = 1, 0.0

    @property
    def number(self) -> int:
        """Number of the frame that is shown or loaded, from 0."""
        frame = self._viewer.data.content.frame
        if frame is None:
            frame = self._initial or 0
        return frame + self.count if frame < 0 else frame

    def receive_count(self, count: int) -> None:
        """Note the number of frames; at the end of a growing file its new end is shown."""
        grew = count > self.count > 1
        was_last = self.number == self.count - 1
        self.count = max(count, 1)
        if grew:
            self._viewer.notify(f"{self.count:,} frames")
        if (grew and was_last and self.follows) or self.number >= self.count:
            self.frame(self.count - 1)

    @action()
    def frame(self, number: int) -> None:
        """Show a frame, from 0; numbers beyond the ends are those of the ends."""
        number = min(max(number, 0), self.count - 1)
        self.follows = self.count > 1 and number == self.count - 1
        if number != self.number:
            self._viewer.data.show_frame(number)

    @action()
    def step(self, count: int) -> None:
        """Go so many frames forward, or back where it is negative; playing ends."""
        self.playing = False
        if self.count == 1:
            self._viewer.notify("there is one frame")
            return
        self.frame(self.number + count)

    @action()
    def first_frame(self) -> None:
        """Show the first frame."""
        self.frame(0)

    @action()
    def last_frame(self) -> None:
        """Show the last frame; where a file grows, its new frames follow."""
        self.frame(self.count - 1)

    @action()
    def play(self, on: bool | None = None) -> None:
        """Play the frames, or pause; without an argument, the other of both."""
        if self.count == 1:
            self._viewer.notify("there is one frame")
            return
        self.playing = not self.playing if on is None else on
        self._waited = 0.0
        if self.playing and self.loop == "once" and self.number == self.count - 1:
            self.frame(0)

    @action()
    def set_speed(self, factor: float) -> None:
        """Play so many times as fast as 10 frames in a second."""
        self.speed = real(factor, "set-speed: factor", 0.01, 100.0, error=UserError)
        self._viewer.notify(f"at most {FRAME_RATE * self.speed:g} frames a second")

    @action()
    def faster(self) -> None:
        """Play at the next higher speed."""
        self.set_speed(next((each for each in SPEEDS if each > self.speed), SPEEDS[-1]))

    @action()
    def slower(self) -> None:
        """Play at the next lower speed."""
        self.set_speed(next((each for each in reversed(SPEEDS) if each < self.speed), SPEEDS[0]))

    @action()
    def next_loop(self) -> None:
        """After the last frame: begin again, go back, or stop."""
        self.loop = LOOPS[(LOOPS.index(self.loop) + 1) % len(LOOPS)]
        self._direction = 1
        self._viewer.notify(f"after the last frame: {WORDS[self.loop]}")

    def tick(self, seconds: float) -> None:
        """Play; a frame is asked for when the one before is there and its time is over."""
        if not self.playing:
            return
        self._waited += seconds
        if self._viewer.loader.busy or self._waited < 1.0 / (FRAME_RATE * self.speed):
            return
        self._waited = 0.0
        self.frame(self._next())

    def _next(self) -> int:
        """Return the number of the frame that follows."""
        following = self.number + self._direction
        if 0 <= following < self.count:
            return following
        if self.loop == "bounce":
            self._direction = -self._direction
            return self.number + self._direction
        if self.loop == "once":
            self.playing = False
            return self.number
        return 0


WORDS = {"loop": "begin again", "bounce": "go back", "once": "stop"}
"""The loops in messages."""
