"""Data frames of pandas: one row per particle."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.naming import unit
from raytracer.scene.particles.objects.source import Entry, ObjectSource, texts_of
from raytracer.scene.particles.source import Column, kind_of


class Source(ObjectSource):
    def entries(self) -> Mapping[str, Entry]:
        entries: dict[str, Entry] = {}
        for place, label in enumerate(self.value.columns):
            name = label if isinstance(label, str) else str(label)
            series = self.value.iloc[:, place]
            kind = kind_of(series.dtype)
            if kind and kind != "text":
                entries.setdefault(name, Entry(Column(kind, (), unit(name)), _numbers(series)))
            elif _are_texts(series):
                entries.setdefault(name, texts_of(series))
        return entries


def _numbers(series: Any) -> Callable[[], NDArray[Any]]:
    """Return a function that reads a column of numbers; missing values are NaN."""

    def read() -> NDArray[Any]:
        missing = series.dtype.kind != "f" and series.hasnans
        array = series.to_numpy(dtype=float, na_value=np.nan) if missing else series.to_numpy()
        return np.asarray(array, None if array.dtype.kind != "O" else np.float64)

    return read


def _are_texts(series: Any) -> bool:
    """Whether a column holds texts, by its first value."""
    place = series.first_valid_index()
    if place is None:
        return False
    first = series.loc[place]
    return isinstance(first if not hasattr(first, "iloc") else first.iloc[0], str)
