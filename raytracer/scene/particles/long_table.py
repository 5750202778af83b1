"""Trajectories in one table: a column numbers the frames, and identifiers recur in each of them.

Decided by repetition: a table in which each particle has its own time, or whose identifiers are
unique, as of a list of events, is no trajectory.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown
from raytracer.scene.particles import naming
from raytracer.scene.particles.selected import Selected
from raytracer.scene.particles.source import Moment, ParticleSource, moment_of

MIN_UNIQUE = 0.95  # share of the rows that no other row of the frame has the identifier of

_STEP = (
    r"(frame|step|timestep|time_step|time_index|time_point|timepoint)s?(_?(no|nr|number|index|id))?"
)
_TIME = r"(position_)?(t|time|times)(_(?P<unit>[fpnumµ]?s|sec|min|h))?"
_ID = (
    r"id|ids|index|label|nr|no|number|(particle|atom|track|cell|trajectory|traj|object|bead|spot|tree|"
    r"body|grain)_?(id|ids|number|no|nr|index|label)?"
)


def framed(source: ParticleSource) -> ParticleSource:
    """Return a table's source with its frames, if it is a trajectory; else the source itself."""
    if source.has_pieces or (source.frames or 1) > 1:
        return source
    names = [name for name, each in source.columns.items() if not each.shape]
    numbers = [name for name in names if source.columns[name].kind in ("number", "integer")]
    clocks = [*_named(numbers, _STEP), *_named(numbers, _TIME)]
    if not clocks:
        return source
    ids = _named([name for name in names if name not in clocks], _ID)
    values = source.load([*clocks, *ids])
    for clock in clocks:
        for each in ids:
            if _recur(values[clock], values[each]):
                return LongTable(source, clock, each, values[clock])
    times, _ = _numbered(values[clocks[0]])
    if 1 < len(times) <= len(values[clocks[0]]) / 2:
        name = shown(clocks[0])
        quoted = name if name.isidentifier() else f"`{name}`"
        source.notes.append(("", (
            f"{source.name}: rows with {len(times):,} values of '{name}' are shown together: for "
            f"one give --select '{quoted} == {times[0]}'"
        )))  # fmt: skip
    return source


def _named(names: Sequence[str], pattern: str) -> list[str]:
    """Return the names that match a pattern; T is a temperature."""
    return [name for name in names if re.fullmatch(pattern, naming.plain(name)) and name != "T"]


def _recur(clock: NDArray[Any], ids: NDArray[Any]) -> bool:
    """Whether identifiers recur at several times, but hardly within one."""
    known = clock == clock  # neither is missing
    if ids.dtype.kind == "f":
        known &= ids == ids
    times, at = _numbered(clock[known])
    count = len(at)
    if not 1 < len(times) <= count / 2:
        return False
    names, which = _numbered(ids[known])
    pairs = len(np.unique(at.astype(np.int64) * len(names) + which))
    return len(names) <= count / 2 and pairs >= MIN_UNIQUE * count


def _numbered(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct values, sorted, and the index of each row; without sorting if they are
    small integers."""
    is_small = len(values) > 0 and values.dtype.kind in "iuf" and bool(
        values.min() >= 0 and values.max() < 4 * len(values) and not np.any(values % 1)
    )  # fmt: skip
    if is_small:
        codes = values.astype(np.int64)
        is_there = np.bincount(codes) > 0
        return np.flatnonzero(is_there), (np.cumsum(is_there) - 1)[codes]
    return np.unique(values, return_inverse=True)


class LongTable(Selected):
    """The rows of one frame of a table.

    Args:
        table: the source of all rows.
        clock: its column that numbers the frames.
        identity: its column of identifiers.
        times: the values of the clock, (N,).
    """

    def __init__(
        self, table: ParticleSource, clock: str, identity: str, times: NDArray[Any]
    ) -> None:
        super().__init__(table)
        self._times = times
        self._values, _ = _numbered(times[times == times])
        self.notes.append(("", (
            f"{self.name}: rows with the same '{shown(clock)}' are a frame, since each "
            f"'{shown(identity)}' recurs; rename that column to draw all rows at once"
        )))  # fmt: skip
        if left := int(np.count_nonzero(times != times)):
            sentence = f"rows without a value of '{shown(clock)}' are left out: {left:,}"
            self.notes.append(("", f"{self.name}: {sentence}"))

    @cached_property
    def mask(self) -> NDArray[np.bool_]:
        mask: NDArray[np.bool_] = self._times == self._values[self.frame]
        return mask

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        vars(self).pop("mask", None)

    @property
    def frames(self) -> int | None:
        return len(self._values)

    @property
    def time(self) -> Moment | None:
        """The time of the frame: of a column of times, else of the clock, in steps."""
        for name in _named(list(self.columns), _TIME):
            values = self.load([name])[name]
            if values.dtype.kind in "iuf" and len(values) and (values == values[0]).all():
                suffix = re.fullmatch(_TIME, naming.plain(name))
                unit = self.columns[name].unit or (suffix and suffix["unit"]) or ""
                return moment_of(values[0], unit)
        return moment_of(self._values[self.frame], "steps")
