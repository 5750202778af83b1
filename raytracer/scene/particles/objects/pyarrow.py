"""Tables and record batches of pyarrow, one row per particle; Parquet and Feather files."""

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.files.access import reading
from raytracer.memory import require_room
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.naming import unit
from raytracer.scene.particles.objects.source import Entry, LibraryFile, ObjectSource
from raytracer.scene.particles.source import Column

MEMORY = 16  # bytes of memory per cell of a column while it is read
TEXT_BYTES = 64  # longest text of a column that is kept; the rest is cut off


class Source(ObjectSource):
    def entries(self) -> Mapping[str, Entry]:
        entries: dict[str, Entry] = {}
        for place, field in enumerate(self.schema):
            if (column := column_of(field.type)) is not None:
                column = column._replace(unit=unit(field.name))
                entries.setdefault(field.name, Entry(column, partial(self._column, place, column)))
        return entries

    @property
    def schema(self) -> Any:
        return self.value.schema

    def _column(self, place: int, column: Column) -> NDArray[Any]:
        return array_of(self.value.column(place), column)


class FileSource(LibraryFile, Source):
    """A file whose value is a `ParquetFile`, or the reader of a Feather file."""

    lacks_atoms = False

    def opened(self, frame: int) -> tuple[Any, int]:
        # Arrow's threads would read a Python file object through the interpreter: threads still
        # running when a damaged file has ended the command would abort the process.
        stream = library("pyarrow", self.name, "arrow").OSFile(self.file.name, "rb")
        if self._is_parquet:
            parquet = library("pyarrow.parquet", self.name, "arrow")
            return parquet.ParquetFile(stream, memory_map=False), 1
        return library("pyarrow", self.name, "arrow").ipc.open_file(stream), 1

    @property
    def _is_parquet(self) -> bool:
        return self.variant == ".parquet"

    @property
    def schema(self) -> Any:
        return self.value.schema_arrow if self._is_parquet else self.value.schema

    @cached_property
    def count(self) -> int | None:
        if self._is_parquet:
            return int(self.value.metadata.num_rows)
        batches = range(self.value.num_record_batches)
        return sum(int(self.value.get_batch(place).num_rows) for place in batches)

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        if self._is_parquet:
            require_room(self.name, MEMORY * int(self.count or 0) * max(len(names), 1))
            table = self.value.read(columns=list(names), use_threads=True)
        else:
            require_room(self.name, self.file.size)
            table = self.value.read_all().select(list(names))
        with reading(self.name, self.variant):
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
