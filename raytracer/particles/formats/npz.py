"""Archives of NumPy arrays (.npz): centres, radii and colours by array name."""

from collections.abc import Collection, Container, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, quote
from raytracer.files.npz import Archive, Header, read_header
from raytracer.model import particle_names as naming
from raytracer.model.particle_source import Box, Particles, Value, parse_direction, plain_value
from raytracer.particles.array_source import ArraySource, find_vectors
from raytracer.particles.cell import box_from_cell


class Source(ArraySource):
    noun = "array"
    places = "centers, or x, y and z"

    @cached_property
    def _archive(self) -> Archive:
        return Archive(self.file)

    @cached_property
    def stored(self) -> dict[str, Header]:
        """Headers of all arrays of plain values, by name."""
        headers: dict[str, Header] = {}
        for name, entry in self._archive.members.items():
            with self._archive.stream(entry) as stream, suppress(DataFileError):
                headers[name] = read_header(stream, self._archive.label(name))
        return headers  # without others than arrays, and Python objects

    @cached_property
    def centers(self) -> str | None:
        return super().centers or self._alone

    @cached_property
    def _alone(self) -> str | None:
        """The only array of vectors, (N, 3) or (T, N, 3), if there are no usual names, or None."""
        alone = find_vectors(self.stored)
        is_usual = any(map(self._find_usual, ("centers", "x")))
        return alone[0] if len(alone) == 1 and not is_usual else None

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        self._archive.require_room([name for name in names if not self.moves(name)])
        return {name: self.orient(name) for name in names}

    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        return self._archive.array(name, frame)

    @property
    def box(self) -> Box | None:
        """The array `box`: three lengths, or three edges, (3, 3)."""
        values = self._few("box")
        if values is None or values.shape not in ((3,), (3, 3)):
            return None
        return box_from_cell(np.diag(values) if values.ndim == 1 else values)

    @property
    def gravity(self) -> Sequence[float] | None:
        values = self._few("gravity")
        return None if values is None else parse_direction(values.tolist())

    def _few(self, name: str) -> NDArray[Any] | None:
        header = self.stored.get(name)
        if header is None or header.dtype.kind not in "iuf" or len(header.shape) not in (1, 2):
            return None
        return self._archive.array(name) if max(header.shape) <= 3 else None

    @property
    def names(self) -> list[str]:
        return list(self._archive.members)

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        if (alone := self._alone) and {"centers", "x"}.isdisjoint(names):
            names = {**names, "centers": alone}
            self.note(f"array '{quote(alone)}' is taken as the coordinates")
        chosen = super().choose(names)
        if "centers" not in chosen:
            self._guess_size(chosen)
        self._shape = self.shape_of(chosen.get("centers", chosen.get("x", "")))
        return chosen

    # The sphere set checks types and shapes: one number or colour may be for all spheres.

    def _find_usual(self, part: str, *_: tuple[int, ...]) -> str | None:
        return naming.find_usual_name(part, self.names)

    def _require_shape(self, part: str, name: str) -> None:
        pass

    def _set_color(self, result: Particles, values: NDArray[Any], name: str) -> None:
        result.color = values

    def _label(self, taken: Collection[str]) -> str | None:
        return None

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the particle's row of every array; only that row is read of those
        that are not compressed, have no frames, and are not (3, N)."""
        for name, column in self.columns.items():
            if name not in used and 0 not in column.shape:
                is_plain = not (self.moves(name) or self.is_turned(name))
                row = self.values(name, index) if is_plain else self.orient(name)[index]
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
