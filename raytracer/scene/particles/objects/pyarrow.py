"""Tables and record batches of pyarrow, one row per particle; Parquet and Feather files."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.naming import unit
from raytracer.scene.particles.objects.source import Entry, Frame, LibraryFile, ObjectSource
from raytracer.scene.particles.source import Column

MEMORY = 16  # bytes of memory per cell of a column while it is read
TEXT_BYTES = 64  # longest text of a column that is kept; the rest is cut off


class Source(ObjectSource):
    def take(self) -> Frame:
        entries: dict[str, Entry] = {}
        for place, field in enumerate(self.value.schema):
            if (column := column_of(field.type)) is not None:
                column = column._replace(unit=unit(field.name))
                entries.setdefault(field.name, Entry(column, partial(self._column, place, column)))
        return Frame(self.rows(), entries)

    def rows(self) -> int:
        return len(self.value)

    def _column(self, place: int, column: Column) -> NDArray[Any]:
        return array_of(self.value.column(place), column)


class FileSource(LibraryFile, Source):
    """A file as a dataset of pyarrow, of which only the needed columns are read."""

    lacks_atoms = False

    def opened(self, frame: int) -> tuple[Any, int]:
        form = self.variant[1:].replace("arrow", "feather")
        dataset = library("pyarrow.dataset", self.name, "arrow").dataset
        return dataset(self.file.name, format=form), 1

    def rows(self) -> int:
        return int(self.value.count_rows())

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        require_room(self.name, MEMORY * int(self.count or 0) * max(len(names), 1))
        table = self.value.to_table(columns=list(names))
        table.validate(full=True)
        columns = {name: array_of(table.column(name), self.columns[name]) for name in names}
        if len({len(values) for values in columns.values()}) > 1:
            raise self.error("columns differ in length; are there empty cells?")
        return columns


def array_of(values: Any, column: Column) -> NDArray[Any]:
    """Return the values of an Arrow column, (N, ...); texts as bytes.

    Args:
        values: an array or chunked array of pyarrow.
        column: `column_of` its type.
    """
    if column.kind == "text":
        words = [("" if text is None else str(text)).encode()[:TEXT_BYTES]
                 for text in values.to_pylist()]  # fmt: skip
        return np.array(words, f"S{TEXT_BYTES}")
    if column.shape:
        flat = values.combine_chunks() if hasattr(values, "combine_chunks") else values
        numbers = np.asarray(flat.flatten().to_numpy(zero_copy_only=False))
        return numbers.reshape(-1, *column.shape)
    if hasattr(values, "chunks"):
        return np.asarray(values.to_numpy())
    return np.asarray(values.to_numpy(zero_copy_only=False))


def column_of(kind: Any) -> Column | None:
    """Return the column of an Arrow type; None if it is neither number nor text."""
    import pyarrow.types as types

    if types.is_fixed_size_list(kind):
        inner = column_of(kind.value_type)
        return None if inner is None or inner.shape else inner._replace(shape=(kind.list_size,))
    if types.is_dictionary(kind):
        inner = column_of(kind.value_type)
        return inner if inner is not None and inner.kind == "text" else None
    if types.is_floating(kind):
        return Column("number")
    if types.is_integer(kind):
        return Column("integer")
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return Column("text")
    return Column("truth value") if types.is_boolean(kind) else None
