"""Particle files: arrays of centres, radii and colours, as they stand in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..door import OpenFile, opened, reading
from ..errors import DataFileError, shown, suggestion
from .data_file import DataFile
from .elements import Element

if TYPE_CHECKING:
    from numpy.typing import NDArray

SUFFIXES = (".npz", ".npy", ".csv", ".xyz", ".extxyz")
"""Endings of the particle files that can be read."""

MOST_LISTED = 12
"""Most names of arrays that a message lists."""

Reader = Callable[[OpenFile, Mapping[str, str], Mapping[str, Element]], "Particles"]

_NPZ_NAMES = {
    "centers": ("centers",),
    "radius": ("radii", "radius"),
    "color": ("colors", "color"),
}


@dataclass
class Particles:
    """What a particle file holds; centres and radii are checked later, by the sphere set.

    Args:
        source: the file, as messages call it.
        centers: (N, 3), the file's length unit.
        radius: one or (N,), the file's length unit; None if the file has none.
        color: (N, 3), or a palette (K, 3) with `color_id`; uint8 or 0..1; None if there is none.
        color_id: integers (N,) or None.
        names: the file's own names of "centers", "radius" and "color", for messages.
        columns: the arrays, properties or columns of the file that hold these.
        file: the file itself.
    """

    source: str
    centers: NDArray[Any]
    radius: NDArray[Any] | None = None
    color: NDArray[Any] | None = None
    color_id: NDArray[Any] | None = None
    names: dict[str, str] = field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    file: DataFile | None = None


def read(
    path: Path,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Element] | None = None,
    source: str | None = None,
) -> Particles:
    """Read a particle file by the ending of its name.

    Args:
        path: .npz, .npy, .csv, .xyz or .extxyz.
        names: the file's own names of "centers", "radii", "colors" (.npz, extended .xyz) or of
            "x", "y", "z", "radii", "r", "g", "b" (.csv).
        elements: own radii and colours for .xyz.
        source: what to call the file in messages; the path if None.

    Raises:
        DataFileError: there is no such file, or it does not hold spheres.
    """
    source = source or str(path)
    with opened(path, source) as file:
        return read_open(file, path.suffix.lower(), names, elements)


def read_open(
    file: OpenFile,
    suffix: str,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Element] | None = None,
) -> Particles:
    """Read an open particle file; `suffix` says what it is, otherwise as `read`."""
    reader = _reader(suffix, file.source)
    with reading(file.source, suffix):
        result = reader(file, names or {}, elements or {})
    if not file.is_standard_input:
        result.file = DataFile.of(file)
    return result


def _reader(suffix: str, source: str) -> Reader:
    """Return the function that reads files of this ending."""
    if suffix == ".npz":
        return _read_npz
    if suffix == ".npy":
        return _read_npy
    if suffix == ".csv":
        from .csv_file import read_csv

        return read_csv
    if suffix in (".xyz", ".extxyz"):
        from .xyz_file import read_xyz

        return read_xyz
    known = ", ".join(SUFFIXES)
    raise DataFileError(
        f"{source}: files ending in '{shown(suffix)}' cannot be read; known are {known}"
    )


def _read_npy(file: OpenFile, names: Mapping[str, str], _: Any) -> Particles:
    """Read (N, 3) centres, or (N, 4) centres and radii."""
    from ..npz import read_npy

    if names:
        raise DataFileError(f"{file.source}: an .npy file has no names; leave out arrays")
    array = read_npy(file)
    if array.ndim != 2 or array.shape[1] not in (3, 4):
        raise DataFileError(
            f"{file.source}: has shape {array.shape}; it must be (N, 3), or (N, 4) with radii"
        )
    radius = array[:, 3] if array.shape[1] == 4 else None
    own = {"centers": "columns 0 to 2", "radius": "column 3"}
    return Particles(file.source, array[:, :3], radius, names=own)


def _read_npz(file: OpenFile, names: Mapping[str, str], _: Any) -> Particles:
    """Read named arrays."""
    from ..npz import Archive

    source = file.source
    given = {"centers": names.get("centers"), "radius": names.get("radii")}
    given["color"] = names.get("colors")
    foreign = sorted(set(names) - {"centers", "radii", "colors"})
    if foreign:
        raise DataFileError(
            f"{source}: an .npz file has arrays, not columns; leave out arrays.{foreign[0]}"
        )
    with Archive(file) as archive:
        chosen = {}
        for part, usual in _NPZ_NAMES.items():
            name = _choose(part, given[part], usual, list(archive.members), source)
            if name is not None:
                chosen[part] = name
        archive.require_room(list(chosen.values()))
        arrays = {part: archive.array(name) for part, name in chosen.items()}
        archive.verify()
    return Particles(
        source,
        arrays["centers"],
        arrays.get("radius"),
        arrays.get("color"),
        names=chosen,
        columns={part: (name,) for part, name in chosen.items()},
    )


def _choose(
    part: str, given: str | None, usual: tuple[str, ...], known: list[str], source: str
) -> str | None:
    """Return the array to read for a part: the given name, or the first usual one there is."""
    if given is not None:
        if given not in known:
            hint = suggestion(given, known)
            raise DataFileError(f"{source}: there is no array named '{shown(given)}'; {hint}")
        return given
    found = next((name for name in usual if name in known), None)
    if found is None and part == "centers":
        listed = ", ".join(f"'{shown(k)}'" for k in known[:MOST_LISTED]) or "nothing"
        if len(known) > MOST_LISTED:
            listed += f" and {len(known) - MOST_LISTED:,} more"
        raise DataFileError(
            f"{source}: there is no array named 'centers'; it holds {listed} "
            '(in a scene file, say arrays = {centers = "..."})'
        )
    return found
