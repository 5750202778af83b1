"""Tables of particles in nested data: JSON, YAML, MATLAB, HDF5.

A table is a list of records or rows, or columns by name, in any of the orientations of pandas. The
first with coordinates is used, from the outside inwards.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.scene.particles import naming
from raytracer.scene.particles.loaded import LoadedSource, texts

MAX_DEPTH = 8  # most levels that are searched
MAX_INNER = 1000  # most values of a level that are searched
MAX_VALUES = 10_000  # most values that are searched
BOHR = 0.529177210903  # angstrom

Columns = dict[str, NDArray[Any]]


class NestedSource(LoadedSource):
    """A source whose file holds nested data."""

    def found(self, value: Any) -> Columns:
        """Return the columns of the first table with coordinates, each (N,) or (N, K).

        Args:
            value: dictionaries, lists, arrays, numbers and texts.

        Raises:
            DataFileError: there is none; the message lists the columns of the first table.
        """
        pending, first = deque([(value, 0)]), None
        unnamed: Columns = {}
        for _ in range(MAX_VALUES):  # aliases of YAML can nest without end
            if not pending:
                break
            inner, depth = pending.popleft()
            for table in _tables(inner):
                columns = _of_one_length(table)
                if not columns or not (naming.usual("centers", columns) or _has_axes(columns)):
                    first = first or list(columns) or None
                elif columns.keys() != set("xyz") and not any(
                    name.startswith("column ") for name in columns
                ):
                    return columns
                else:
                    unnamed = unnamed or columns
            if depth < MAX_DEPTH and isinstance(inner, (Mapping, list)):
                parts = inner.values() if isinstance(inner, Mapping) else inner
                pending += [(each, depth + 1) for each in list(parts)[:MAX_INNER]
                            if isinstance(each, (Mapping, list, np.ndarray))]  # fmt: skip
        if unnamed:
            self._tell_of_rows(unnamed)
            return unnamed
        held = f"; it holds {naming.listed(first)}: " if first else ": "
        raise DataFileError(
            f"{self.name}: there are no {naming.plural(self.noun)} x, y and z{held}name them, as "
            "in --columns x=NAME,y=NAME,z=NAME"
        )

    def _tell_of_rows(self, columns: Columns) -> None:
        others = naming.listed([name for name in columns if name not in tuple("xyz")])
        if not others:
            return
        self.notes.append(("", (
            f"{self.name}: the columns have no names: the first three of numbers are taken as x, y "
            f"and z, and the others are {others}: to choose, give --columns x=NAME,radius=NAME"
        )))  # fmt: skip


def _tables(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the columns that a value may be, by name."""
    if isinstance(value, np.ndarray):
        yield from _of_array(value)
    elif isinstance(value, list) and value:
        if all(isinstance(row, Mapping) for row in value):
            if any(isinstance(each, Mapping) for each in value[0].values()):
                value = [_flat(row) for row in value]
            if any(isinstance(each, np.ndarray) for each in value[0].values()):
                return  # several tables
            names = dict.fromkeys(name for row in value[:MAX_INNER] for name in row)
            yield {str(name): [row.get(name) for row in value] for name in names}
        elif all(isinstance(row, list) and len(row) == len(value[0]) for row in value):
            yield _of_rows([list(column) for column in zip(*value, strict=True)])
    elif isinstance(value, Mapping) and value:
        yield from _of_mapping(value)


def _of_mapping(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    names = value.get("columns", value.get("keywords", value.get("fields")))
    rows = value.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == len(names) for row in rows
    ):  # fmt: skip
        yield {str(name): list(column) for name, column in zip(names, zip(*rows, strict=True),
               strict=True)}  # fmt: skip
    if all(isinstance(each, Mapping) for each in value.values()):
        columns = {str(name): list(each.values()) for name, each in value.items()}
        if _has_axes(columns):
            yield columns
        else:
            yield from _tables(list(value.values()))
    if {"symbols", "geometry"} <= value.keys():  # of QCSchema, in bohr
        flat = _array(value["geometry"])
        if flat is not None and flat.size == 3 * len(value["symbols"]):
            yield {"element": value["symbols"], "position": BOHR * flat.reshape(-1, 3)}
    yield value


def _flat(row: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a record with the entries of its inner ones."""
    inner = (each for each in row.values() if isinstance(each, Mapping))
    parts: dict[str, Any] = {name: value for each in inner for name, value in each.items()}
    return parts | dict(row)


def _of_array(value: NDArray[Any] | None) -> Iterator[Mapping[str, Any]]:
    """Yield the columns of records, or of rows of at least three numbers, of which the first are
    the coordinates."""
    if value is None:
        return
    if value.dtype.names and value.ndim == 1:
        yield {name: value[name] for name in value.dtype.names}
    elif value.ndim == 2 and value.dtype.kind in "iuf" and value.shape[1] >= 3:
        yield _of_rows(list(value.T))


def _of_rows(columns: list[Any]) -> Mapping[str, Any]:
    """Return columns by name: the first three of numbers are x, y and z."""
    arrays = [_array(column) for column in columns]
    numbers = [place for place, each in enumerate(arrays)
               if each is not None and each.dtype.kind in "iuf" and each.ndim == 1]  # fmt: skip
    names = {place: axis for axis, place in zip("xyz", numbers, strict=False)}
    return {names.get(place, f"column {place + 1}"): column for place, column in enumerate(columns)}


def _of_one_length(table: Mapping[str, Any]) -> Columns:
    """Return the columns of a table that are arrays, and as long as its coordinates."""
    arrays = {name: array for name, each in table.items() if (array := _array(each)) is not None
              and array.ndim}  # fmt: skip
    place = naming.usual("centers", arrays) or naming.usual("x", arrays)
    if place is None:
        return {name: array for name, array in arrays.items() if array.dtype.kind != "V"}
    centers = arrays[place]
    if naming.usual("centers", [place]):
        if centers.ndim == 2 and centers.shape[0] == 3 != centers.shape[1]:  # of MATLAB
            centers = arrays[place] = centers.T
        if centers.ndim != 2 or centers.shape[1] != 3:
            return {}
    return {name: array for name, array in arrays.items() if len(array) == len(centers)}


def _array(value: Any) -> NDArray[Any] | None:
    """Return values as an array of numbers or texts, None if they are neither; null is NaN."""
    if isinstance(value, np.ndarray):
        array = value.squeeze() if value.ndim == 2 and 1 in value.shape else value
        if array.dtype.kind in "iufbSV":
            return array.astype(array.dtype.newbyteorder("="), copy=False)
        value = array.tolist()
    if not isinstance(value, list) or not value:
        return None
    plain = [_plain(each) for each in value]
    if any(isinstance(inner, (list, Mapping)) for each in plain if isinstance(each, list)
           for inner in each[:1]):  # fmt: skip
        return None  # deeper than positions
    if any(isinstance(each, str) for each in plain):
        is_texts = all(isinstance(each, str) or each is None for each in plain)
        return texts([each or "" for each in plain]) if is_texts else None
    try:
        array = np.array([np.nan if each is None else each for each in plain])
    except (ValueError, TypeError, OverflowError):
        return None
    return array if array.dtype.kind in "iufb" else None


def _plain(value: Any) -> Any:
    """Return the value of a record: a species of pymatgen is its element."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        return value[0].get("element", value[0])
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value


def _has_axes(names: Mapping[str, Any]) -> bool:
    return all(naming.usual(axis, names) for axis in "xyz")
