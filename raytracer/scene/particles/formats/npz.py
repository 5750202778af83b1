"""Archives of NumPy arrays (.npz): centres, radii and colours by array name."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.files.npz import Archive, Header, read_header
from raytracer.scene.particles import naming
from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.nested import are_frames, is_across
from raytracer.scene.particles.source import (
    Box,
    Column,
    Particles,
    Value,
    direction_of,
    kind_of,
    plain_value,
)


class Source(ColumnSource):
    noun = "array"
    places = "centers, or x, y and z"

    @cached_property
    def _headers(self) -> dict[str, Header]:
        """Headers of all arrays of plain values, by name."""
        headers: dict[str, Header] = {}
        with Archive(self.file) as archive:
            for name, entry in archive.members.items():
                with archive.stream(entry) as stream:
                    try:
                        headers[name] = read_header(stream, archive.label(name))
                    except DataFileError:
                        continue  # not an array, or Python objects
        return headers

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        """Shape of the centres; () without any."""
        name = naming.usual("centers", self._headers) or naming.usual("x", self._headers)
        name = name or self._alone
        return self._headers[name].shape if name is not None else ()

    @cached_property
    def _alone(self) -> str | None:
        """The only array of vectors, (N, 3) or (T, N, 3), that has no usual name, or None."""
        vectors = [name for name, each in self._headers.items()
                   if each.dtype.kind == "f" and not naming.is_other(name)
                   and (each.shape[1:] == (3,) or are_frames(each.shape)
                        or is_across(each.shape))]  # fmt: skip
        return vectors[0] if len(vectors) == 1 else None

    @property
    def _is_across(self) -> bool:
        """Whether the centres are (3, N): one row for each axis."""
        return is_across(self._shape)

    @property
    def _is_series(self) -> bool:
        """Whether the centres are (T, N, 3) or (T, N, 2), of several frames."""
        return are_frames(self._shape)

    @property
    def count(self) -> int | None:
        if not self._shape:
            return None
        return self._shape[-2 if self._is_series else -1 if self._is_across else 0]

    @property
    def frames(self) -> int | None:
        return self._shape[0] if self._is_series else 1

    @property
    def columns(self) -> Mapping[str, Column]:
        count = self.count
        shapes = {name: header.shape[:: -1 if self._is_turned(name) else 1][self._moves(name) :]
                  for name, header in self._headers.items()}  # fmt: skip
        return {
            name: Column(kind_of(self._headers[name].dtype), shape[1:])
            for name, shape in shapes.items()
            if shape and (count is None or shape[0] == count)
        }

    def _moves(self, name: str) -> bool:
        """Whether the first axis of an array is time."""
        header = self._headers.get(name)
        return self._is_series and header is not None and header.shape[:2] == self._shape[:2]

    def _is_turned(self, name: str) -> bool:
        """Whether the last axis of an array is that of the particles."""
        header = self._headers.get(name)
        shape = () if header is None else header.shape
        return self._is_across and len(shape) == 2 and shape[1] == self.count != shape[0]

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        with Archive(self.file) as archive:
            archive.require_room([name for name in names if not self._moves(name)])
            return {name: self._values(archive, name) for name in names}

    def _values(self, archive: Archive, name: str) -> NDArray[Any]:
        if self._moves(name):
            return archive.item(name, self.frame)
        values = archive.array(name)
        return np.ascontiguousarray(values.T) if self._is_turned(name) else values

    @property
    def box(self) -> Box | None:
        """The array `box`: three lengths, or three edges, (3, 3)."""
        values = self._few("box")
        if values is None or values.shape not in ((3,), (3, 3)):
            return None
        return cell_box(np.diag(values) if values.ndim == 1 else values)

    @property
    def gravity(self) -> Sequence[float] | None:
        values = self._few("gravity")
        return None if values is None else direction_of(values.tolist())

    def _few(self, name: str) -> NDArray[Any] | None:
        header = self._headers.get(name)
        if header is None or header.dtype.kind not in "iuf" or len(header.shape) not in (1, 2):
            return None
        with Archive(self.file) as archive:
            return archive.array(name) if max(header.shape) <= 3 else None

    @cached_property
    def names(self) -> list[str]:
        with Archive(self.file) as archive:
            return list(archive.members)

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        alone = self._alone
        if (
            alone
            and not any(map(self._usual, ("centers", "x")))
            and not {"centers", "x"} & {*names}
        ):
            names = {**names, "centers": alone}
            text = f"array '{shown(alone)}' is taken as the coordinates"
            self.notes.append(("", f"{self.name}: {text}"))
        chosen = super().choose(names)
        if "centers" not in chosen:
            self._guess_size(chosen)
        centers = self._headers.get(chosen.get("centers", chosen.get("x", "")))
        self._shape = () if centers is None else centers.shape
        return chosen

    # The sphere set checks types and shapes: one number or colour may be for all spheres.

    def _usual(self, part: str, *_: tuple[int, ...]) -> str | None:
        return naming.usual(part, self.names)

    def _require_shape(self, part: str, name: str) -> None:
        pass

    def _set_color(self, result: Particles, values: NDArray[Any], name: str) -> None:
        result.color = values

    def _label(self, taken: Collection[str]) -> str | None:
        return None

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the particle's row of every array; only that row is read of those
        that are not compressed, have no frames, and are not (3, N)."""
        with Archive(self.file) as archive:
            for name, column in self.columns.items():
                if name not in used and 0 not in column.shape:
                    is_plain = not (self._moves(name) or self._is_turned(name))
                    row = archive.item(name, index) if is_plain else (
                        self._values(archive, name)[index]
                    )  # fmt: skip
                    yield from _fields(name, row)


def _fields(name: str, values: NDArray[Any]) -> Iterator[tuple[str, Value]]:
    """Yield the value of an array, or of its named fields."""
    if values.dtype.names is None:
        # Dates, spans and complex numbers as text: JSON has no such types.
        kind = values.dtype.kind
        plain = values.astype(str if kind in "mMc" else float) if kind in "mMcf" else values
        yield name, plain_value(plain.tolist())
    else:
        for field in values.dtype.names:
            yield from _fields(f"{name}.{field}", values[field])
