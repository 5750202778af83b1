"""Summary of a particle file: its columns with their ranges, its frames and its periodic box."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, MemoryNeedError, shown
from raytracer.files.access import OpenFile, opened
from raytracer.scene.particles.data_file import DataFile
from raytracer.scene.particles.read import atom_count, source_of
from raytracer.scene.particles.source import Column
from raytracer.warning import warn

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from raytracer.scene.columns import Columns
    from raytracer.scene.particles.source import ParticleSource

MOST_TEXTS = 8
"""Most different texts of a column that are listed."""

MOST_COLUMNS = 200
"""Most columns that are read for their ranges."""


def summary(file: DataFile, whole: bool = True) -> dict[str, Any]:
    """Return what a particle file holds, as JSON types.

    Args:
        file: of a sphere set; it is read again.
        whole: False reads its start and its headers alone: there are no ranges and no bonds, and
            particles and frames are left out where only reading all of it tells.

    Returns:
        "format", "particles", "frames", "positions" (their unit, where they were converted),
        "further files" (names of those that are read too), "time", "box" (origin, edges, and of
        one that is open somewhere which edges are periodic), "bonds" (their number), and "columns":
        of each its name, type, unit and range.

    Raises:
        DataFileError: the file cannot be read any more.
    """
    with opened(file.path) as stream:
        stream.ending = file.ending
        frames = file.series or _frame_count(stream, file, whole)
        return _summary(stream, file, frames, whole)


def _frame_count(stream: OpenFile, file: DataFile, whole: bool) -> int | None:
    """Return the number of frames of a file; None where only reading all of it tells."""
    from raytracer.scene.particles.frames import frames_of

    if file.topology is not None:
        stream.atoms = partial(atom_count, file.topology)
    with source_of(stream, inner=file.inner) as source:
        if not whole:
            return None if source.has_pieces else source.frames
        try:
            return frames_of(source, stream).count
        except DataFileError as error:  # the first frame is sound: it is what is shown
            warn(f"{error}; only the first frame is counted")
            return 1


def _summary(stream: OpenFile, file: DataFile, frames: int | None, whole: bool) -> dict[str, Any]:
    """Return what the frame holds that was read."""
    with source_of(stream, inner=file.inner, frame=file.frame, topology=file.topology) as source:
        columns = dict(source.columns)
        ranges, rows = _ranges(source, list(columns)[:MOST_COLUMNS]) if whole else ({}, None)
        count, box, bonds = source.count, source.box, source.bonds if whole else None
        found: dict[str, Any] = {"format": source.format}
        if (particles := rows if count is None else count) is not None:
            found["particles"] = particles
        if frames is not None:
            found["frames"] = frames
        if file.converted:
            found["positions"] = f"Å, converted from {file.converted} for the radii of elements"
        if box is not None:
            found["box"] = {"origin": list(box.origin), "edges": [list(edge) for edge in box.edges]}
            if not all(box.periodic):
                found["box"]["periodic"] = list(box.periodic)
        if source.further_files:
            found["further files"] = [path.name for path in source.further_files]
        if (time := source.time) is not None:
            found["time"] = f"{time.value:.9g} {time.unit}".rstrip()
        if bonds is not None:
            found["bonds"] = len(bonds)
        found["columns"] = [
            {"name": name} | _typed(column) | ranges.get(name, {})
            for name, column in columns.items()
        ]
    return found


def derived(columns: Columns) -> list[dict[str, Any]]:
    """Return what is derived from the columns of a file: of each its name, type, unit and range.

    Args:
        columns: of the sphere set.
    """
    return [
        {"name": name} | _typed(column) | _range(columns[name])
        for name, column in columns.derived.items()
    ]


def _typed(column: Column) -> dict[str, Any]:
    """Return type and unit of a column."""
    sizes = " x ".join(map(str, column.shape))
    kind = f"{sizes} {column.kind}s" if sizes else column.kind
    return {"type": kind} | ({"unit": column.unit} if column.unit else {})


def _ranges(source: ParticleSource, names: list[str]) -> tuple[dict[str, dict[str, Any]], int]:
    """Return the ranges of columns by name, and the number of rows.

    All columns are read at once where memory has room for them, otherwise one after another.
    """
    found: dict[str, dict[str, Any]] = {}
    count = 0
    for group in _groups(source, names):
        for name, values in group.items():
            count = len(values)
            found[name] = _range(values)
    return found, count


def _groups(source: ParticleSource, names: list[str]) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield columns, as many at a time as there is memory for."""
    try:
        group = source.load(names)
    except MemoryNeedError:
        for name in names:
            yield source.load([name])
    else:
        yield group


def _range(values: NDArray[Any]) -> dict[str, Any]:
    """Return least and greatest value of a column, or its different texts."""
    import numpy as np

    if not values.size:
        return {}
    if values.dtype.kind in "SU":
        known = np.unique(values)
        texts = [shown(_text(each)) for each in known[:MOST_TEXTS]]
        return {"values": len(known), "texts": texts}
    if values.dtype.kind not in "iuf":
        return {}
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    return {"low": low.item(), "high": high.item()}


def _text(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
