"""Tables in Parquet and Feather (Arrow), with column names as in .csv. Read by pyarrow."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.files.access import reading
from raytracer.memory import require_room
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.naming import unit
from raytracer.scene.particles.source import Column

MEMORY = 16  # bytes of memory per cell of a column while it is read
TEXT_BYTES = 64  # longest text of a column that is kept; the rest is cut off


class Source(ColumnSource):
    """A .parquet or .feather file, according to the variant."""

    @cached_property
    def _schema(self) -> Any:
        if self.variant == "parquet":
            return self._parquet.schema_arrow
        return self._feather.schema

    @cached_property
    def _parquet(self) -> Any:
        module = library("pyarrow.parquet", self.name, "arrow")
        return module.ParquetFile(self._stream, memory_map=False)

    @cached_property
    def _feather(self) -> Any:
        return library("pyarrow", self.name, "arrow").ipc.open_file(self._stream)

    @cached_property
    def _stream(self) -> Any:
        """The file, opened by Arrow.

        Arrow's threads would read a Python file object through the interpreter: threads still
        running when a damaged file has ended the command would abort the process.
        """
        return library("pyarrow", self.name, "arrow").OSFile(self.file.name, "rb")

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        columns: dict[str, Column] = {}
        for each in self._schema:
            kind = column_of(each.type)
            if kind is not None and each.name not in columns:
                columns[each.name] = kind._replace(unit=unit(each.name))
        return columns

    @property
    def count(self) -> int | None:
        if self.variant == "parquet":
            return int(self._parquet.metadata.num_rows)
        batches = self._feather.num_record_batches
        return sum(int(self._feather.get_batch(place).num_rows) for place in range(batches))

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        if self.variant == "parquet":
            require_room(self.name, MEMORY * int(self.count or 0) * max(len(names), 1))
            table = self._parquet.read(columns=list(names), use_threads=True)
        else:
            require_room(self.name, self.file.size)
            table = self._feather.read_all().select(list(names))
        with reading(self.name, f".{self.variant}"):
            table.validate(full=True)
        columns: dict[str, NDArray[Any]] = {}
        for name in names:
            columns[name] = array_of(table.column(name), self.columns[name])
        lengths = {len(values) for values in columns.values()}
        if len(lengths) > 1:
            raise DataFileError(f"{self.name}: columns differ in length; are there empty cells?")
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
