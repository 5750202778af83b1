"""Tables and record batches of pyarrow, one row per particle; Parquet and Feather files."""

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model.quantities import objects_to_numbers
from raytracer.particles.array_source import (
    FrameContent,
    LazyColumn,
    LibraryFile,
    ObjectSource,
    import_library,
)
from raytracer.system.memory import require_room

MEMORY = 16  # bytes of memory per cell of a column while it is read
TEXT_BYTES = 64  # longest text of a column that is kept; the rest is cut off


class Source(ObjectSource):
    def read(self) -> FrameContent:
        table, entries = self.value, dict[str, LazyColumn]()
        rows = int(table.count_rows()) if hasattr(table, "count_rows") else len(table)
        for place, field in enumerate(table.schema):
            if (like := _empty_like(field.type)) is not None:
                entry = LazyColumn(
                    like.dtype, (rows, *like.shape[1:]), partial(self._column, place)
                )
                entries.setdefault(field.name, entry)
        return FrameContent(entries, rows=rows)

    def _column(self, place: int) -> NDArray[Any]:
        return to_array(self.value.column(place))


class FileSource(LibraryFile, Source):
    """A file as a dataset of pyarrow, of which only the needed columns are read."""

    lacks_atoms = False

    def open_frame(self, frame: int) -> tuple[Any, int]:
        form = self.variant[1:].replace("arrow", "feather")
        dataset = import_library("pyarrow.dataset", self.name, "arrow").dataset
        return dataset(self.file.name, format=form), 1

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        require_room(self.name, MEMORY * int(self.count or 0) * max(len(names), 1))
        table = self.value.to_table(columns=list(names))
        table.validate(full=True)
        columns = {name: to_array(table.column(name)) for name in names}
        if len({len(values) for values in columns.values()}) > 1:
            raise self.error("columns differ in length; are there empty cells?")
        return columns


def to_array(values: Any) -> NDArray[Any]:
    """Return the values of an array or chunked array of Arrow, (N, ...); texts as bytes."""
    like = _empty_like(values.type)
    if like is not None and like.dtype.kind == "S":
        words = [("" if text is None else str(text)).encode()[:TEXT_BYTES]
                 for text in values.to_pylist()]  # fmt: skip
        return np.array(words, f"S{TEXT_BYTES}")
    if like is not None and like.ndim > 1:
        values = values.combine_chunks() if hasattr(values, "combine_chunks") else values
        numbers = np.asarray(values.flatten().to_numpy(zero_copy_only=False))
        return numbers.reshape(-1, like.shape[1])
    return objects_to_numbers(np.asarray(values.to_numpy(zero_copy_only=False)))


def _empty_like(kind: Any) -> NDArray[Any] | None:
    """Return an empty array of the kind of an Arrow type, (0, ...); None if it is neither number
    nor text."""
    import pyarrow.types as types

    if types.is_fixed_size_list(kind):
        inner = _empty_like(kind.value_type)
        if inner is None or inner.ndim > 1:
            return None
        return np.empty((0, kind.list_size), inner.dtype)
    if types.is_dictionary(kind):
        inner = _empty_like(kind.value_type)
        return inner if inner is not None and inner.dtype.kind == "S" else None
    if types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind):
        return np.empty(0, "S")
    if types.is_timestamp(kind) or types.is_date(kind):
        return np.empty(0, "S")
    known = (types.is_floating, float), (types.is_integer, int), (types.is_boolean, bool)
    return next((np.empty(0, dtype) for is_kind, dtype in known if is_kind(kind)), None)
