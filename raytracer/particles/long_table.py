"""Trajectories in one table: a column numbers the frames, and identifiers recur in each of them.

Decided by repetition: a table in which each particle has its own time, or whose identifiers are
unique, as of a list of events, is no trajectory.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import quote
from raytracer.model import particle_names as naming
from raytracer.model.particle_source import FrameTime, ParticleSource, forward_property, parse_time
from raytracer.particles.celestial import CelestialSource
from raytracer.particles.columns import NUMBERS, ColumnSource

KEPT_BYTES = 1 << 30  # most bytes of a table that are kept for its other frames
MAX_KEPT = 2  # tables that are kept: those of two files that are shown together
MIN_UNIQUE = 0.95  # share of the rows that no other row of the frame has the identifier of

_STEP = (
    r"(frame|step|timestep|time_step|time_index|time_point|timepoint)s?(_?(no|nr|number|index|id))?"
)
_TIME = r"(position_)?(t|time|times)(_(?P<unit>[fpnumµ]?s|sec|min|h))?"
_ID = (
    r"id|ids|index|label|nr|no|number|(particle|atom|track|cell|trajectory|traj|object|bead|spot|tree|"
    r"body|grain)_?(id|ids|number|no|nr|index|label)?"
)


class FrameRows:
    """Which rows of a table are a frame, and what was read of all rows.

    Args:
        clock: name of the column that numbers the frames.
        identity: name of the column of identifiers.
        columns: these two, and others, (N,).
    """

    def __init__(self, clock: str, identity: str, columns: dict[str, NDArray[Any]]) -> None:
        self.clock, self.identity, self.columns = clock, identity, columns
        times = columns[clock]
        known = np.flatnonzero(times == times)
        self.total, self.left_out = len(times), len(times) - len(known)
        self.times, frames = _number_values(times[known])
        order = known[np.argsort(frames, kind="stable")]
        self.rows = np.split(order, np.cumsum(np.bincount(frames))[:-1])  # of each frame, ascending

    def keep(self, columns: dict[str, NDArray[Any]]) -> bool:
        """Keep the columns that are used, if they are not too large; return whether they are."""
        if fits := sum(each.nbytes for each in columns.values()) + 8 * self.total <= KEPT_BYTES:
            self.columns = columns
        return fits


_kept: dict[Any, FrameRows] = {}
"""The last tables by their states, so that another frame of one costs only its rows."""


def split_by_time(source: ParticleSource, state: Any = None) -> ParticleSource:
    """Return a table's source with its frames, if it is a trajectory; else the source itself.

    `state` identifies the file and how it is read; None if it cannot be read again.
    """
    if isinstance(source, CelestialSource):  # its positions are those of all rows
        return source
    if (known := _kept.get(state)) is not None:
        return LongTable(source, known)
    names = [name for name, each in source.columns.items() if not each.shape]
    numbers = [name for name in names if source.columns[name].kind in NUMBERS]
    clocks = [*_find_matching_names(numbers, _STEP), *_find_matching_names(numbers, _TIME)]
    if not clocks:
        return source
    ids = _find_matching_names([name for name in names if name not in clocks], _ID)
    values = source.load([*clocks, *ids])
    pairs = ((clock, each) for clock in clocks for each in ids)
    if pair := next(
        (pair for pair in pairs if _do_ids_recur(*(values[name] for name in pair))), None
    ):
        made = FrameRows(*pair, values)
        if state is not None and made.keep(values):
            _kept[state] = made
            while len(_kept) > MAX_KEPT:
                del _kept[next(iter(_kept))]
        return LongTable(source, made)
    times, _ = _number_values(values[clocks[0]])
    if 1 < len(times) <= len(values[clocks[0]]) / 2:
        name = quote(clocks[0])
        quoted = name if name.isidentifier() else f"`{name}`"
        source.note(
            f"rows with {len(times):,} values of '{name}' are shown together: for one give "
            f"--select '{quoted} == {times[0]}'"
        )
    return source


def _find_matching_names(names: Sequence[str], pattern: str) -> list[str]:
    """Return the names that match a pattern; T is a temperature."""
    return [
        name for name in names if re.fullmatch(pattern, naming.normalize_name(name)) and name != "T"
    ]


def _do_ids_recur(clock: NDArray[Any], ids: NDArray[Any]) -> bool:
    """Whether identifiers recur at several times, but hardly within one."""
    known = clock == clock  # neither is missing
    if ids.dtype.kind == "f":
        known &= ids == ids
    times, at = _number_values(clock[known])
    count = len(at)
    if not 1 < len(times) <= count / 2:
        return False
    names, which = _number_values(ids[known])
    pairs = len(np.unique(at.astype(np.int64) * len(names) + which))
    return len(names) <= count / 2 and pairs >= MIN_UNIQUE * count


def _number_values(values: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
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


class LongTable(ColumnSource):
    """The rows of one frame of a table.

    Args:
        table: the source of all rows.
        trajectory: which rows are a frame.
    """

    columns = forward_property("table", "columns")
    box = forward_property("table", "box")
    length = forward_property("table", "length")

    def __init__(self, table: ParticleSource, trajectory: FrameRows) -> None:
        super().__init__(table.file, table.variant)
        self.table, self._of = table, trajectory
        self.format, self.notes = table.format, table.notes
        clock, identity = quote(trajectory.clock), quote(trajectory.identity)
        self.note(
            f"rows with the same '{clock}' are a frame, since each '{identity}' recurs; rename "
            "that column to draw all rows at once"
        )
        if left := trajectory.left_out:
            self.note(f"rows without a value of '{clock}' are left out: {left:,}")

    @property
    def count(self) -> int | None:
        return len(self._of.rows[self.frame])

    @property
    def frames(self) -> int | None:
        return len(self._of.times)

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        columns, rows = self._of.columns, self._of.rows[self.frame]
        if missing := [name for name in names if name not in columns]:
            columns = {**columns, **self.table.load(missing)}
            self._of.keep(columns)
        of_rows = {name: columns[name].shape[:1] == (self._of.total,) for name in names}
        return {name: columns[name][rows] if of_rows[name] else columns[name] for name in names}

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        table = self.table
        return table.choose(names) if isinstance(table, ColumnSource) else super().choose(names)

    @property
    def time(self) -> FrameTime | None:
        """The time of the frame: of a column of times, else of the clock, in steps."""
        for name in _find_matching_names(list(self.columns), _TIME):
            values = self.load([name])[name]
            if values.dtype.kind in "iuf" and len(values) and (values == values[0]).all():
                suffix = re.fullmatch(_TIME, naming.normalize_name(name))
                return parse_time(
                    values[0], self.columns[name].unit or (suffix and suffix["unit"]) or ""
                )
        return parse_time(self._of.times[self.frame], "steps")
