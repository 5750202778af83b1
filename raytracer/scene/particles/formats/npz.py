"""Archives of NumPy arrays (.npz): centres, radii and colours by array name."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any
from zipfile import ZIP_STORED

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown, suggestion
from raytracer.files.npz import Archive, Header, read_header
from raytracer.memory import size_text
from raytracer.scene.arrays import Where, floats
from raytracer.scene.particles import naming
from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.source import (
    Box,
    Column,
    Notes,
    Particles,
    ParticleSource,
    Value,
    direction_of,
    kind_of,
    more_frames,
    plain_value,
)

ROW_BYTES = 1 << 26  # maximum bytes of an array that are read for the values of one particle

PARTS = {"centers": "centers", "radii": "radius", "diameters": "diameter", "colors": "color"}
"""Parts of a sphere by the keys of `arrays` in a scene file."""


class Source(ParticleSource):
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
        return self._headers[name].shape if name is not None else ()

    @property
    def _is_series(self) -> bool:
        """Whether the centres are (T, N, 3), of several frames."""
        return len(self._shape) == 3 and self._shape[2] == 3 and self._shape[0] > 0

    @property
    def count(self) -> int | None:
        return self._shape[-2 if self._is_series else 0] if self._shape else None

    @property
    def frames(self) -> int | None:
        return self._shape[0] if self._is_series else 1

    @property
    def columns(self) -> Mapping[str, Column]:
        count = self.count
        shapes = {name: header.shape[self._moves(name) :] for name, header in self._headers.items()}
        return {
            name: Column(kind_of(self._headers[name].dtype), shape[1:])
            for name, shape in shapes.items()
            if shape and (count is None or shape[0] == count)
        }

    def _moves(self, name: str) -> bool:
        """Whether the first axis of an array is time."""
        header = self._headers.get(name)
        return self._is_series and header is not None and header.shape[:2] == self._shape[:2]

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        with Archive(self.file) as archive:
            archive.require_room([name for name in names if not self._moves(name)])
            return {
                name: archive.item(name, self.frame) if self._moves(name) else archive.array(name)
                for name in names
            }

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

    def particles(self, names: Mapping[str, str]) -> Particles:
        with Archive(self.file) as archive:
            known = list(archive.members)
            chosen, notes = _choose(names, known, self.name)
            naming.require_one(chosen.values(), known, self.name, "array", names.values())
            centers = chosen.get("centers", chosen.get("x", ""))
            with archive.stream(archive.members[centers]) as stream:
                self._shape = read_header(stream, archive.label(centers)).shape
        arrays = self.load(list(dict.fromkeys(chosen.values())))
        if self._is_series and self._shape[0] > 1 and not self.is_chosen:
            notes.append(("", more_frames(self.name, self.frames)))
        notes += _unused(chosen, known, self.name)
        values = {part: arrays[name] for part, name in chosen.items()}
        return _assembled(self.name, chosen, values, notes)

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the particle's row of every array.

        Only the row is read of uncompressed arrays; compressed ones are read up to it. A row that
        needs more than `ROW_BYTES` is not read, and its value says so.
        """
        with Archive(self.file) as archive:
            for name, entry in archive.members.items():
                header = self._headers.get(name)
                if name in used or header is None or header.shape[:1] != (count,):
                    continue
                size, is_packed = header.nbytes // count, entry.compress_type != ZIP_STORED
                if is_packed:
                    size = header.nbytes if header.fortran_order else (index + 1) * size
                if size > ROW_BYTES:
                    end = " would be decompressed" if is_packed else ""
                    yield name, f"not read: {size_text(size)}{end}"
                elif size:
                    yield from _fields(name, archive.item(name, index))


def _choose(
    names: Mapping[str, str], known: list[str], source: str
) -> tuple[dict[str, str], Notes]:
    """Return the arrays to read: centers, or x, y and z; radius or diameter; color; with warnings.

    Raises:
        DataFileError: there are no centres, or a named array is missing.
    """
    chosen: dict[str, str] = {}
    for key, name in names.items():
        if key not in PARTS:
            raise DataFileError(
                f"{source}: an .npz file has arrays, not columns; leave out arrays.{key}"
            )
        if name not in known:
            hint = suggestion(name, known)
            raise DataFileError(f"{source}: there is no array named '{shown(name)}'; {hint}")
        chosen[PARTS[key]] = name
    for part in PARTS.values():
        is_sized = part in ("radius", "diameter") and {"radius", "diameter"} & set(chosen)
        name = naming.usual(part, known) or ""
        if name and part not in chosen and not is_sized:
            chosen[part] = name
    if "centers" in chosen:
        return chosen, []
    axes = {axis: naming.usual(axis, known) or "" for axis in "xyz"}
    if not all(axes.values()):
        listed = naming.listed(known) or "nothing"
        raise DataFileError(
            f"{source}: there is no array named 'centers'; it holds {listed} "
            '(in a scene file, set arrays = {centers = "..."})'
        )
    chosen |= axes
    if not {"radius", "diameter"} & set(chosen):
        guess = naming.guess(set(known) - set(chosen.values()), source, "array")
        if guess is not None:
            return chosen | {guess[0]: guess[1]}, [("radius", guess[2])]
    return chosen, []


def _unused(chosen: Mapping[str, str], known: list[str], source: str) -> Notes:
    """Return warnings about arrays whose names suggest a missing part."""
    left = [name for name in known if name not in chosen.values()]
    sizes = [] if {"radius", "diameter"} & set(chosen) else naming.sizes(left)
    colors = [] if "color" in chosen else naming.colors(left)
    way = f'colors = "{colors[0]}"' if colors else ""
    return naming.unused(source, "array", sizes, colors, way)


def _assembled(
    source: str, chosen: Mapping[str, str], arrays: Mapping[str, NDArray[Any]], notes: Notes
) -> Particles:
    names = {part: name for part, name in chosen.items() if part not in "xyz"}
    if "diameter" in names:
        names["radius"] = names.pop("diameter")
    columns: dict[str, tuple[str, ...]] = {part: (name,) for part, name in names.items()}
    radius = arrays.get("radius")
    if "diameter" in arrays:
        radius = floats(arrays["diameter"], "radius", Where(source, names)) * 0.5
    if "centers" in arrays:
        centers = arrays["centers"]
    else:
        axes = [floats(arrays[axis], axis, Where(source)).ravel() for axis in "xyz"]
        if len({len(axis) for axis in axes}) > 1:
            sizes = ", ".join(f"{len(axis)}" for axis in axes)
            raise DataFileError(f"{source}: arrays x, y and z differ in length ({sizes})")
        centers = np.stack(axes, axis=1)
        names["centers"] = "x, y, z"
        columns["centers"] = tuple(chosen[axis] for axis in "xyz")
    return Particles(
        source, centers, radius, arrays.get("color"), names=names, columns=columns, notes=notes
    )


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
