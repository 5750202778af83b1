"""Defaults inferred from the first frame of an animation and used for all frames.

The radius of particles without one follows from their spacing, the colour of a type from its place
among the types, and the ends of a colour scale from the values; all would change from frame to
frame. Within `infer_defaults`, the first loaded scene sets each default, by name, and later scenes
use it; the order of requests does not matter. Ranges and categories of colour scales cover all
scenes until they are frozen.
"""

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from math import isfinite

FIRST_PLACE = 16
"""Place of the first type that appears after the first frame: behind the most distinct colours."""

LATER_PLACES = 1 << 12
"""Number of places of such types, chosen by hash of the name: frames may come in any order."""


class InferredDefaults:
    """Defaults of an animation, by name."""

    def __init__(self) -> None:
        self.is_complete = False  # whether the first scene was loaded
        self.is_frozen = False  # whether later scenes change neither ranges nor categories
        self._radii: dict[str, float] = {}
        self._ranges: dict[str, tuple[float, float]] = {}
        self._truths: dict[str, bool] = {}
        self._names: dict[str, list[str]] = {}
        self._places: dict[str, int] = {}
        self._open: set[str] = set()

    @property
    def is_open(self) -> bool:
        """Whether a default is undecided, such as the radius of a set without particles so far."""
        return bool(self._open)

    def radius(self, compute: Callable[[], float], decides: bool) -> float:
        """Return the radius of the particles of a set without one; undecided without particles."""
        key = _set.get()
        if key is None:
            return compute()
        if key in self._radii:
            return self._radii[key]
        radius = compute()
        # Frames may come in any order and on any machine: none may decide once it is frozen.
        if decides and not self.is_frozen:
            self._radii[key] = radius
            self._open.discard(key)
        elif not decides:
            self._open.add(key)
        return radius

    def range(self, key: str, compute: Callable[[], tuple[float, float]]) -> tuple[float, float]:
        """Return the ends of a scale over all scenes so far."""
        key = f"{_set.get() or ''} {key}"
        known = self._ranges.get(key)
        if known is not None and self.is_frozen:
            return known
        low, high = compute()
        if known is not None:
            low, high = min(low, known[0]), max(high, known[1])
        if isfinite(low) and isfinite(high):
            self._ranges[key] = low, high
        return low, high

    def truth(self, key: str, compute: Callable[[], bool], decides: bool = True) -> bool:
        """Return whether something is so in the first scene that decides."""
        if key in self._truths:
            return self._truths[key]
        truth = compute()
        if decides:
            self._truths[key] = truth
        return truth

    def names(self, key: str, compute: Callable[[], list[str]]) -> list[str]:
        """Return the categories of a scale: known ones first, then new ones."""
        key = f"{_set.get() or ''} {key}"
        names = list(dict.fromkeys([*self._names.get(key, []), *compute()]))
        if not self.is_frozen:
            self._names[key] = names
        return names

    def rank_types(
        self, names: Iterable[str], known: Sequence[str] | None = None
    ) -> dict[str, int]:
        """Return the place of each type among all types. known: those of the file; None: there is
        no file, so that the types of the first scene come first."""
        if known is not None:
            places = {name: place for place, name in enumerate(known)}
            return {name: places.get(name, _later_place(name)) for name in names}
        for name in names:
            if name not in self._places:
                place = _later_place(name) if self.is_complete else len(self._places)
                self._places[name] = place
        return self._places


def _later_place(name: str) -> int:
    return FIRST_PLACE + zlib.crc32(name.encode()) % LATER_PLACES


_defaults: ContextVar[InferredDefaults | None] = ContextVar("defaults", default=None)
_set: ContextVar[str | None] = ContextVar("set", default=None)


@contextmanager
def infer_defaults(defaults: InferredDefaults) -> Iterator[None]:
    """Load one scene in the block with these defaults."""
    token = _defaults.set(defaults)
    try:
        yield
        defaults.is_complete = True
    finally:
        _defaults.reset(token)


@contextmanager
def name_set(name: str) -> Iterator[None]:
    """Make one set of the scene in the block; `name` is its path in the scene, "spheres[0]"."""
    token = _set.set(name)
    try:
        yield
    finally:
        _set.reset(token)


def current_defaults() -> InferredDefaults:
    """Return the defaults of an animation in the making, or else those of one scene."""
    return _defaults.get() or InferredDefaults()
