"""Looks that are held over the frames of an animation: what follows from particles, decided once.

The radius of particles without one follows from their spacing, and the colour of a type from its
place among the types. Both would change from frame to frame. Within `holding`, the first scene that
is loaded decides, and the scenes after it take over what it decided.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Value = TypeVar("Value")

FIRST_PLACE = 16
"""Place of the first type that no frame before had: behind those that are told apart best."""

PLACES = 1 << 12
"""Places of such types, which follow from their names alone: frames may come in any order."""


class Held:
    """What the first scene of an animation decided.

    Attributes:
        is_complete: whether the first scene was loaded.
    """

    def __init__(self) -> None:
        self.is_complete = False
        self._values: dict[int, object] = {}
        self._next = 0
        self._places: dict[str, int] = {}

    def value(self, compute: Callable[[], Value], decides: bool) -> Value:
        """Return what was computed at the same step of the first scene; else compute it now."""
        place, self._next = self._next, self._next + 1
        if place in self._values:
            return self._values[place]  # type: ignore[return-value]
        found = compute()
        if decides:
            self._values[place] = found
        return found

    def places(self, names: Iterable[str]) -> dict[str, int]:
        """Return the place of each type among all types.

        Args:
            names: of the types of a frame, in their order.
        """
        for name in names:
            if name in self._places:
                continue
            number = zlib.crc32(name.encode()) % PLACES
            self._places[name] = FIRST_PLACE + number if self.is_complete else len(self._places)
        return self._places


_held: ContextVar[Held | None] = ContextVar("held", default=None)


@contextmanager
def holding(held: Held) -> Iterator[None]:
    """Load one scene in the block with the look that is held."""
    held._next = 0
    token = _held.set(held)
    try:
        yield
        held.is_complete = True
    finally:
        _held.reset(token)


def held_value(compute: Callable[[], Value], decides: bool = True) -> Value:
    """Return what `compute` returns, or what it returned for the first scene of an animation.

    decides: whether other scenes may take the value over, as not that of a set without particles.
    """
    held = _held.get()
    return compute() if held is None else held.value(compute, decides)


def held_places(names: Iterable[str]) -> dict[str, int]:
    """Return the place of each type, by name; those of an animation are the same in all frames."""
    held = _held.get()
    if held is None:
        return {name: place for place, name in enumerate(names)}
    return held.places(names)
