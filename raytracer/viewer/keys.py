"""Held keys: actions that repeat while a key is down."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pyglet
from pyglet.window import key

from raytracer.viewer.controls import Control

TICK = 1.0 / 60.0  # seconds between two steps of a held key or the turntable
TAP = 0.04  # duration of a tap in seconds
SHIFTS = (key.LSHIFT, key.RSHIFT)


class HeldKeys:
    """The keys that are down, and a clock that repeats their actions."""

    def __init__(
        self,
        act: Callable[[Control, float], None],
        animate: Callable[[float], bool],
        reported: set[int],
    ) -> None:
        self.shift = False  # because wheel events have no modifiers
        self._act, self._animate, self._reported = act, animate, reported
        self._down: dict[int, Control] = {}
        self._ticking = False

    def press(self, symbol: int, control: Control | None) -> None:
        self.shift |= symbol in SHIFTS
        if control is not None:
            self._down[symbol] = control
            self._act(control, TAP)
            self.tick()

    def release(self, symbol: int, control: Control | None) -> None:
        self.shift &= symbol not in SHIFTS
        released = self._down.pop(symbol, None) or control
        # "+" is released as "=" if Shift goes up first: both keys have the same control.
        self._forget([key for key, other in self._down.items() if other is released])

    def release_all(self) -> None:
        """Release all keys, because another window gets their events."""
        self.shift = False
        self._forget([*self._down, *self._reported])

    def _forget(self, symbols: Iterable[int]) -> None:
        """Forget keys without a release event; pyglet would not report them again."""
        for symbol in symbols:
            self._down.pop(symbol, None)
            self._reported.discard(symbol)

    def tick(self) -> None:
        """Start the clock; it stops when nothing moves."""
        if not self._ticking:
            self._ticking = True
            pyglet.clock.schedule_interval(self._tick, TICK)

    def _tick(self, seconds: float) -> None:
        for control in tuple(self._down.values()):
            self._act(control, seconds)
        if not self._animate(seconds) and not self._down:
            self.stop()

    def stop(self) -> None:
        self._down.clear()
        self._ticking = False
        pyglet.clock.unschedule(self._tick)
