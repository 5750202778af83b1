"""Data frames of polars: one row per particle."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from raytracer.scene.particles.naming import unit
from raytracer.scene.particles.objects.source import Entry, ObjectSource
from raytracer.scene.particles.source import Column


class Source(ObjectSource):
    """A `DataFrame`, or a `LazyFrame`, which is collected."""

    @cached_property
    def _table(self) -> Any:
        return self.value.collect() if hasattr(self.value, "collect") else self.value

    @property
    def count(self) -> int | None:
        return int(self._table.height)

    def entries(self) -> Mapping[str, Entry]:
        entries: dict[str, Entry] = {}
        for name, kind in self._table.schema.items():
            column = _column_of(kind)
            if column is not None:
                series = self._table.get_column(name)
                read = series.to_list if column.kind == "text" else series.to_numpy
                entries[name] = Entry(column._replace(unit=unit(name)), read)
        return entries


def _column_of(kind: Any) -> Column | None:
    """Return the column of a polars type; None if it is neither number nor text."""
    if kind.is_integer():
        return Column("integer")
    if kind.is_float():
        return Column("number")
    name = type(kind).__name__ if not isinstance(kind, type) else kind.__name__
    if name == "Array" and len(kind.shape) == 1:
        inner = _column_of(kind.inner)
        return None if inner is None or inner.kind == "text" else inner._replace(shape=kind.shape)
    known = {"String": "text", "Categorical": "text", "Enum": "text", "Boolean": "truth value"}
    return Column(known[name]) if name in known else None
