"""Summary of a particle file: columns with their ranges, frames, periodic box."""

from collections.abc import Iterable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.columns import Columns
from raytracer.config.errors import DataFileError, MemoryNeedError, quote
from raytracer.config.warning import warn
from raytracer.files.access import open_file
from raytracer.model.data_file import DataFile
from raytracer.model.particle_source import Column, ParticleSource
from raytracer.particles.frames import find_frames
from raytracer.particles.hdf5_members import text_of
from raytracer.particles.read import open_frame, open_source

MAX_TEXTS = 8  # most distinct texts of a column that are listed
MAX_COLUMNS = 200  # most columns that are read for their ranges


def summarize_file(file: DataFile, whole: bool = True) -> dict[str, Any]:
    """Return a description of a particle file, as JSON types. Raises DataFileError: the file can no
    longer be read.

    Args:
        file: of a sphere set; it is read again.
        whole: False reads only start and headers: without ranges and bonds, and without the numbers
            of particles and frames if they need the whole file.

    Returns:
        "format", "particles", "frames", "positions" (their unit, if converted), "further files"
        (names), "time", "box" (origin, edges, and which edges are periodic unless all are), "bonds"
        (number), and "columns": name, type, unit and range of each.
    """
    with open_file(file.path, file.name) as stream:
        frames: int | None = len(file.series)
        if not frames:
            with open_frame(file._replace(frame=None), stream) as source:
                is_known = whole or not source.has_pieces
                frames = find_frames(source, stream)[0] if is_known else None
        with open_source(file, stream) as source:
            return _summarize_source(source, file, frames, whole)


def _summarize_source(
    source: ParticleSource, file: DataFile, frames: int | None, whole: bool
) -> dict[str, Any]:
    columns = dict(source.columns)
    ranges, rows = _find_ranges(source, list(columns)[:MAX_COLUMNS]) if whole else ({}, None)
    count, box, time = source.count, source.box, source.time
    bonds = source.bonds if whole else None
    shape: dict[str, Any] = {}
    if box is not None:
        shape = {"origin": list(box.origin), "edges": [list(edge) for edge in box.edges]}
        shape |= {} if all(box.periodic) else {"periodic": list(box.periodic)}
    unit = f"Å, converted from {file.converted} for the radii of elements"
    summary = {
        "format": source.format,
        "particles": rows if count is None else count,
        "frames": frames,
        "positions": unit if file.converted else None,
        "box": shape or None,
        "further files": [path.name for path in source.further_files] or None,
        "time": None if time is None else f"{time.value:.9g} {time.unit}".rstrip(),
        "bonds": None if bonds is None else len(bonds),
        "columns": [
            _describe_column(name, column) | ranges.get(name, {})
            for name, column in columns.items()
        ],
    }
    return {key: value for key, value in summary.items() if value is not None}


def describe_derived(columns: Columns) -> list[dict[str, Any]]:
    """Describe the columns derived from those of a file: name, type, unit and range."""
    described = []
    for name, column in columns.derived.items():
        about = _describe_column(name, column)
        with suppress(DataFileError):  # of a column of the file, which was told
            about |= _find_range(columns[name])
        described.append(about)
    return described


def _describe_column(name: str, column: Column) -> dict[str, Any]:
    sizes = " x ".join(map(str, column.shape))
    kind = f"{sizes} {column.kind}s" if sizes else column.kind
    return {"name": name, "type": kind} | ({"unit": column.unit} if column.unit else {})


def _find_ranges(source: ParticleSource, names: list[str]) -> tuple[dict[str, dict[str, Any]], int]:
    """Return the ranges of columns by name, and the number of rows.

    All columns are read together if they fit into memory, otherwise one after another, without
    those that cannot be read, with a warning.
    """
    try:
        groups: Iterable[dict[str, NDArray[Any]]] = [source.load(names)]
    except MemoryNeedError:
        groups = (source.load([name]) for name in names)
    except DataFileError:
        groups = _find_readable(source, names)
    columns = ((name, len(values), _find_range(values)) for group in groups
               for name, values in group.items())  # fmt: skip
    known = [*columns]
    return {name: each for name, _, each in known}, known[-1][1] if known else 0


def _find_readable(source: ParticleSource, names: list[str]) -> list[dict[str, NDArray[Any]]]:
    """Return columns that can be read. Raises DataFileError: none can."""
    groups, problems = list[dict[str, NDArray[Any]]](), list[DataFileError]()
    for name in names:
        try:
            groups.append(source.load([name]))
        except DataFileError as error:
            problems.append(error)
    if not groups:
        raise problems[0]
    for problem in problems:
        warn(f"{problem.sentences[0]}; without its range")
    return groups


def _find_range(values: NDArray[Any]) -> dict[str, Any]:
    if not values.size:
        return {}
    if values.dtype.kind in "SU":
        known = np.unique(values)
        texts = [quote(text_of(each)) for each in known[:MAX_TEXTS]]
        return {"values": len(known), "texts": texts}
    if values.dtype.kind not in "iuf":
        return {}
    with np.errstate(invalid="ignore"):
        low, high = np.fmin.reduce(values, axis=None), np.fmax.reduce(values, axis=None)
    return {"low": low.item(), "high": high.item()}
