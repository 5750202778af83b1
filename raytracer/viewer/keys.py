"""Keys that act for as long as they are down, and the clock that this takes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING

import pyglet
from pyglet.window import key

if TYPE_CHECKING:
    from raytracer.viewer.controls import Control

TICK = 1.0 / 60.0  # seconds between two steps of a held key or the turntable
TAP = 0.04  # seconds that a tap on a held key counts for
SHIFTS = (key.LSHIFT, key.RSHIFT)


class HeldKeys:
    """What is down, and the ticking meanwhile.

    act: does what a control stands for, so many seconds long.
    go_on: the same for what moves without a key; says whether anything goes on moving.
    reported: keys that pyglet believes to be down, on systems where it keeps such a set.
    """

    def __init__(
        self,
        act: Callable[[Control, float], None],
        go_on: Callable[[float], bool],
        reported: set[int],
    ) -> None:
        self.shift = False  # events of the wheel do not tell
        self._act, self._go_on, self._reported = act, go_on, reported
        self._down: dict[int, Control] = {}
        self._ticking = False

    def press(self, symbol: int, control: Control | None) -> None:
        """A key goes down. control: what it does while it is held, if anything."""
        self.shift |= symbol in SHIFTS
        if control is not None:
            self._down[symbol] = control
            self._act(control, TAP)
            self.tick()

    def release(self, symbol: int, control: Control | None) -> None:
        """A key goes up. control: the one of this key without modifiers."""
        self.shift &= symbol not in SHIFTS
        ended = self._down.pop(symbol, None) or control
        # "+" comes back as "=" if Shift is let go first: the control is known by either.
        self._forget([held for held, other in self._down.items() if other is ended])

    def leave(self) -> None:
        """Another window gets the keys now, and their releases."""
        self.shift = False
        self._forget([*self._down, *self._reported])

    def _forget(self, symbols: Iterable[int]) -> None:
        """Let go keys whose release does not come; pyglet would never report them again."""
        for symbol in symbols:
            self._down.pop(symbol, None)
            self._reported.discard(symbol)

    def tick(self) -> None:
        """Tick from now on, until nothing moves any more."""
        if not self._ticking:
            self._ticking = True
            pyglet.clock.schedule_interval(self._tick, TICK)

    def _tick(self, seconds: float) -> None:
        for control in tuple(self._down.values()):
            self._act(control, seconds)
        if not self._go_on(seconds) and not self._down:
            self._rest()

    def stop(self) -> None:
        """Let everything go, for good."""
        self._down.clear()
        self._rest()

    def _rest(self) -> None:
        self._ticking = False
        pyglet.clock.unschedule(self._tick)
