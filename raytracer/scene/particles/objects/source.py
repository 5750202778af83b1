"""Sources that are objects of other packages: their arrays as columns."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.errors import DataFileError, shown
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.source import Column, kind_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Entry(NamedTuple):
    """A column of an object, and the function that gives its values, (N, ...)."""

    column: Column
    read: Callable[[], Any]


class ObjectSource(ColumnSource):
    """An object that holds particles. Values are read when they are asked for, without a copy
    where the package gives its own array.

    Args:
        value: the object.
        name: what messages call it.
    """

    def __init__(self, value: Any, name: str) -> None:
        self.value = value
        self.name = name
        self.variant = ""
        self.frame = 0
        self.is_chosen = False
        self.notes = []

    @abstractmethod
    def entries(self) -> Mapping[str, Entry]:
        """Return the columns by name."""

    @cached_property
    def _entries(self) -> Mapping[str, Entry]:
        return self.entries()

    @property
    def columns(self) -> Mapping[str, Column]:
        return {name: entry.column for name, entry in self._entries.items()}

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return {name: self._values(name) for name in names}

    def _values(self, name: str) -> NDArray[Any]:
        """Return a column as an array: numbers in native order, texts as bytes."""
        import numpy as np

        column, read = self._entries[name]
        given = read()
        if column.kind == "text":
            return given if getattr(given, "dtype", np.dtype("O")).kind == "S" else encoded(given)
        values = np.asarray(given)
        if values.dtype.kind not in "iufbS":
            raise DataFileError(f"{self.name}: {self.noun} '{shown(name)}' holds no numbers")
        return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


def held(array: Any) -> Entry | None:
    """Return the entry of an array that the object holds; None if it is none of numbers or texts.

    Args:
        array: (N, ...).
    """
    kind = kind_of(array.dtype)
    if not kind or array.ndim < 1:
        return None
    return Entry(Column(kind, tuple(array.shape[1:])), lambda: array)


def entries_of(arrays: Mapping[str, Any], count: int) -> dict[str, Entry]:
    """Return the entries of those arrays that have a value for each of `count` particles."""
    import numpy as np

    found: dict[str, Entry] = {}
    for name, value in arrays.items():
        entry = held(np.asarray(value))
        if entry is not None and np.shape(value)[:1] == (count,):
            found[str(name)] = entry
    return found


def encoded(values: Any) -> NDArray[Any]:
    """Return texts as an array of bytes, (N,); what is missing is empty.

    Args:
        values: texts or objects, (N,).
    """
    from raytracer.scene.particles.loaded import texts

    return texts(["" if value is None or value != value else str(value) for value in values])
