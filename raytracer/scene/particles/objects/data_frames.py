"""Data frames of pandas and polars: one row per particle."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.naming import unit
from raytracer.scene.particles.objects.source import Entry, Frame, ObjectSource
from raytracer.scene.particles.source import Column, kind_of


class Source(ObjectSource):
    """A `DataFrame`, or a `LazyFrame` of polars, which is collected."""

    def take(self) -> Frame:
        table = self.value.collect() if hasattr(self.value, "collect") else self.value
        entries: dict[str, Entry] = {}
        for place, label in enumerate(table.columns):
            name, is_pandas = str(label), hasattr(table, "iloc")
            series = table.iloc[:, place] if is_pandas else table[label]
            like = series if is_pandas else series.head(0).to_numpy()  # of the same type
            column = Column(kind_of(like.dtype), like.shape[1:], unit(name))
            if column.kind in ("", "text") or str(series.dtype) == "Null":
                known = series.dropna() if is_pandas else series.drop_nulls()
                if isinstance(next(iter(known.head(1)), None), str):
                    entries.setdefault(name, Entry(Column("text", (), unit(name)), series.to_list))
            else:
                entries.setdefault(name, Entry(column, partial(_numbers, series)))
        return Frame(len(table), entries)


def _numbers(series: Any) -> NDArray[Any]:
    if getattr(series, "hasnans", False) and series.dtype.kind != "f":
        return np.asarray(series.to_numpy(dtype=float, na_value=np.nan))
    array = series.to_numpy()
    return np.asarray(array, None if array.dtype.kind != "O" else np.float64)
