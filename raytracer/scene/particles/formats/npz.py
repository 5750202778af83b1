"""Archives of NumPy arrays (.npz): centres, radii and colours by the names of the arrays."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import IO, TYPE_CHECKING, Any
from zipfile import ZIP_STORED

from raytracer.errors import DataFileError, shown, suggestion
from raytracer.files.npz import Archive, Header, read_header, require_bytes
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

if TYPE_CHECKING:
    from numpy.typing import NDArray


ROW_BYTES = 1 << 26
"""Most bytes of an array that are read, or unpacked, for the value of one particle."""


class Source(ParticleSource):
    """An .npz file."""

    @cached_property
    def _headers(self) -> dict[str, Header]:
        """The headers of all arrays of plain values, by name."""
        headers: dict[str, Header] = {}
        with Archive(self.file) as archive:
            for name, entry in archive.members.items():
                with archive.stream(entry) as stream:
                    try:
                        headers[name] = read_header(stream, archive.label(name))
                    except DataFileError:
                        continue  # no array, or one of Python objects
        return headers

    @property
    def count(self) -> int | None:
        """Length of the centres; None if no array is known as such."""
        shape = self._shape
        return shape[-2 if _is_series(shape) else 0] if shape else None

    @property
    def frames(self) -> int | None:
        """Length of the first axis of centres (T, N, 3); 1 for others."""
        return self._shape[0] if _is_series(self._shape) else 1

    @property
    def columns(self) -> Mapping[str, Column]:
        count = self.count
        shapes = {name: self._shape_now(header) for name, header in self._headers.items()}
        return {
            name: Column(kind_of(self._headers[name].dtype), shape[1:])
            for name, shape in shapes.items()
            if shape and (count is None or shape[0] == count)
        }

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        with Archive(self.file) as archive:
            archive.require_room([name for name in names if not self._moves(name)])
            return {name: self._array(archive, name) for name in names}

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        """The shape of the centres; () if no array is known as such."""
        headers = self._headers
        name = naming.usual("centers", headers) or naming.usual("x", headers)
        return headers[name].shape if name is not None else ()

    def _moves(self, name: str) -> bool:
        """Whether the first axis of an array is time."""
        if not _is_series(self._shape):
            return False
        header = self._headers.get(name)
        return header is not None and self._shape_now(header) != header.shape

    def _header(self, archive: Archive, name: str) -> Header:
        """Return the header of one array."""
        with archive.stream(archive.members[name]) as stream:
            return read_header(stream, archive.label(name))

    def _shape_now(self, header: Header) -> tuple[int, ...]:
        """Return the shape of an array in one frame."""
        series = _is_series(self._shape) and header.shape[:2] == self._shape[:2]
        return header.shape[1:] if series else header.shape

    def _array(self, archive: Archive, name: str) -> NDArray[Any]:
        """Return an array, of one whose first axis is time the frame."""
        return archive.item(name, self.frame) if self._moves(name) else archive.array(name)

    @property
    def box(self) -> Box | None:
        """The array `box`: three lengths, or three edges, (3, 3)."""
        import numpy as np

        values = self._few("box")
        if values is None or values.shape not in ((3,), (3, 3)):
            return None
        return cell_box(np.diag(values) if values.ndim == 1 else values)

    @property
    def gravity(self) -> Sequence[float] | None:
        values = self._few("gravity")
        return None if values is None else direction_of(values.tolist())

    def _few(self, name: str) -> NDArray[Any] | None:
        """Return an array of a few numbers, or None if there is none of that name."""
        with Archive(self.file) as archive:
            if name not in archive.members or name not in self._headers:
                return None
            header = self._headers[name]
            if header.dtype.kind not in "iuf" or not 1 <= len(header.shape) <= 2:
                return None
            return archive.array(name) if max(header.shape) <= 3 else None

    def particles(self, names: Mapping[str, str]) -> Particles:
        with Archive(self.file) as archive:
            known = list(archive.members)
            chosen = _choose(names, known, self.name)
            notes = _guessed(chosen, known, self.name)
            naming.require_one(chosen.values(), known, self.name, "array", names.values())
            self._shape = self._header(archive, chosen.get("centers", chosen.get("x", ""))).shape
            archive.require_room([name for name in chosen.values() if not self._moves(name)])
            arrays = {part: self._array(archive, name) for part, name in chosen.items()}
        if (self.frames or 1) > 1 and not self.is_chosen:
            notes.append(("", more_frames(self.name, self.frames)))
        notes += _unused(chosen, known, self.name)
        return _assembled(self.name, chosen, arrays, notes)

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the row of every array whose first axis is the particles'.

        Only the row itself is read of uncompressed arrays; compressed ones are read up to it. What
        takes more than `ROW_BYTES` is not read, and its value says so.
        """
        with Archive(self.file) as archive:
            for name, entry in archive.members.items():
                if name in used:
                    continue  # it may be compressed, and long to read
                with archive.stream(entry) as stream:
                    is_packed = entry.compress_type != ZIP_STORED
                    seek = partial(archive.seek, entry, stream)
                    label = archive.label(name)
                    values = _array_row(
                        stream, seek, index, count, label, is_packed, entry.file_size
                    )
                if isinstance(values, str):
                    yield name, values
                elif values is not None:
                    yield from _fields(name, values)


def _is_series(shape: tuple[int, ...]) -> bool:
    """Whether the shape of centres is (T, N, 3): that of several frames."""
    return len(shape) == 3 and shape[2] == 3 and shape[0] > 0


def _choose(names: Mapping[str, str], known: list[str], source: str) -> dict[str, str]:
    """Return the arrays to read: centers, or x, y and z; radius or diameter; color.

    Raises:
        DataFileError: no array is the centres, or one that was named is not there.
    """
    parts = {"centers": "centers", "radii": "radius", "diameters": "diameter", "colors": "color"}
    chosen: dict[str, str] = {}
    for key, name in names.items():
        if key not in parts:
            raise DataFileError(
                f"{source}: an .npz file has arrays, not columns; leave out arrays.{key}"
            )
        if name not in known:
            hint = suggestion(name, known)
            raise DataFileError(f"{source}: there is no array named '{shown(name)}'; {hint}")
        chosen[parts[key]] = name
    for part in ("centers", "radius", "diameter", "color"):
        sized = part in ("radius", "diameter") and {"radius", "diameter"} & set(chosen)
        found = naming.usual(part, known)
        if part not in chosen and found is not None and not sized:
            chosen[part] = found
    if "centers" not in chosen:
        axes = {axis: naming.usual(axis, known) for axis in "xyz"}
        if None in axes.values():
            listed = naming.listed(known) or "nothing"
            raise DataFileError(
                f"{source}: there is no array named 'centers'; it holds {listed} "
                '(in a scene file, say arrays = {centers = "..."})'
            )
        chosen |= {axis: name for axis, name in axes.items() if name is not None}
    return chosen


def _guessed(chosen: dict[str, str], known: list[str], source: str) -> Notes:
    """Choose an array of one letter as radius or diameter beside x, y and z; return the warning."""
    if "x" in chosen and not {"radius", "diameter"} & set(chosen):
        found = naming.guess(set(known) - set(chosen.values()), source, "array")
        if found is not None:
            chosen[found[0]] = found[1]
            return [("radius", found[2])]
    return []


def _unused(chosen: Mapping[str, str], known: list[str], source: str) -> Notes:
    """Return what to warn of: arrays that sound like what was not found."""
    left = [name for name in known if name not in chosen.values()]
    sizes = [] if {"radius", "diameter"} & set(chosen) else naming.sizes(left)
    colors = [] if "color" in chosen else naming.colors(left)
    way = f'colors = "{colors[0]}"' if colors else ""
    return naming.unused(source, "array", sizes, colors, way)


def _assembled(
    source: str,
    chosen: Mapping[str, str],
    arrays: Mapping[str, NDArray[Any]],
    notes: Notes,
) -> Particles:
    """Return the particles of an archive."""
    import numpy as np

    names = {part: name for part, name in chosen.items() if part not in "xyz"}
    if "diameter" in names:
        names["radius"] = names.pop("diameter")
    columns: dict[str, tuple[str, ...]] = {part: (name,) for part, name in names.items()}
    where = Where(source, names)
    radius = arrays.get("radius")
    if "diameter" in arrays:
        radius = floats(arrays["diameter"], "radius", where) * 0.5
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


def _array_row(
    stream: IO[bytes],
    seek: Callable[[int], IO[bytes]],
    row: int,
    count: int,
    label: str,
    is_packed: bool,
    there: int,
) -> NDArray[Any] | str | None:
    """Return `array[row]` of an array (count, ...), or None if it is something else.

    Args:
        stream: of the array, at its header.
        seek: returns where the bytes from a place of the array on are read.
        row, count: of the particle, and of all.
        label: what messages call the array.
        is_packed: whether what is before the row has to be unpacked.
        there: bytes of the member.

    Returns:
        A text where that takes too long.
    """
    from math import prod

    import numpy as np

    try:
        header = read_header(stream, label)
    except DataFileError:
        return None  # no array, or one of Python objects
    shape, by_column, dtype = header.shape, header.fortran_order, header.dtype
    length = prod(shape[1:])
    if shape[:1] != (count,) or length * dtype.itemsize == 0:
        return None
    start = stream.tell()
    require_bytes(header, there - start, label)
    # In Fortran order the row's numbers lie apart, each among those of the other rows.
    pieces, step = (length, count) if by_column else (1, 0)
    size = length // pieces * dtype.itemsize
    last = (pieces - 1) * step * dtype.itemsize + (row + 1) * size
    if (needed := last if is_packed else length * dtype.itemsize) > ROW_BYTES:
        return f"not read: {size_text(needed)}{' would be unpacked' if is_packed else ''}"
    data = bytearray()
    for piece in range(pieces):
        data += seek(start + row * size + piece * step * dtype.itemsize).read(size)
    return np.frombuffer(data, dtype).reshape(shape[1:], order="F" if by_column else "C")


def _fields(name: str, values: NDArray[Any]) -> Iterator[tuple[str, Value]]:
    """Yield the value of an array, or those of its named fields."""
    if values.dtype.names is None:
        # Dates, spans and complex numbers as NumPy writes them: JSON has no such types.
        kind = values.dtype.kind
        shown = values.astype(str if kind in "mMc" else float) if kind in "mMcf" else values
        yield name, plain_value(shown.tolist())
    else:
        for field in values.dtype.names:
            yield from _fields(f"{name}.{field}", values[field])
