"""Looks that are held over the frames of an animation: what follows from particles, decided once.

The radius of particles without one follows from their spacing, the colour of a type from its place
among the types, and the ends of a colour scale from the values. All would change from frame to
frame. Within `holding`, the first scene that is loaded decides, and the scenes after it take over
what it decided. Ranges and categories of colour scales are those of all scenes until `freeze`.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite
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
        is_frozen: whether scenes change nothing any more.
    """

    def __init__(self) -> None:
        self.is_complete = self.is_frozen = False
        self._values: dict[int, object] = {}
        self._open: set[int] = set()
        self._next = 0
        self._places: dict[str, int] = {}

    @property
    def is_open(self) -> bool:
        """Whether something is undecided, as the radius of a set that has no particles yet."""
        return len(self._open) > 0

    def value(self, compute: Callable[[], Value], decides: bool) -> Value:
        """Return what was computed at the same step of the first scene; else compute it now."""
        place, self._next = self._next, self._next + 1
        if place in self._values:
            return self._values[place]  # type: ignore[return-value]
        found = compute()
        # Frames may come in any order and on any machine: after `freeze` none of them decides.
        if decides and not self.is_frozen:
            self._values[place] = found
            self._open.discard(place)
        elif not decides:
            self._open.add(place)
        return found

    def range(self, compute: Callable[[], tuple[float, float]]) -> tuple[float, float]:
        """Return the ends of a scale: those of all scenes so far together."""
        place, self._next = self._next, self._next + 1
        known = self._values.get(place)
        if known is not None and self.is_frozen:
            return known  # type: ignore[return-value]
        low, high = compute()
        if known is not None:
            low, high = min(low, known[0]), max(high, known[1])  # type: ignore[index]
        if isfinite(low) and isfinite(high):
            self._values[place] = low, high
        return low, high

    def names(self, compute: Callable[[], list[str]]) -> list[str]:
        """Return the categories of a scale: those of all scenes so far, and then new ones."""
        place, self._next = self._next, self._next + 1
        known: list[str] = self._values.get(place, [])  # type: ignore[assignment]
        found = list(dict.fromkeys([*known, *compute()]))
        if not self.is_frozen:
            self._values[place] = found
        return found

    def freeze(self) -> None:
        """Hold the ranges and categories that were found."""
        self.is_frozen = True

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


def held_range(compute: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    """Return the ends of a scale, or those of the frames of an animation together."""
    held = _held.get()
    return compute() if held is None else held.range(compute)


def held_names(compute: Callable[[], list[str]]) -> list[str]:
    """Return the categories of a scale, or those of the frames of an animation together."""
    held = _held.get()
    return compute() if held is None else held.names(compute)


def held_places(names: Iterable[str]) -> dict[str, int]:
    """Return the place of each type, by name; those of an animation are the same in all frames."""
    held = _held.get()
    if held is None:
        return {name: place for place, name in enumerate(names)}
    return held.places(names)


def steps_so_far() -> int:
    """Return how many looks the scene of the block has taken."""
    held = _held.get()
    return 0 if held is None else held._next


def go_on_from(steps: int) -> None:
    """Go on after so many looks: several scenes of a block are each loaded from the first one."""
    held = _held.get()
    if held is not None:
        held._next = steps
