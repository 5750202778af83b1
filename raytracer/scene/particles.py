"""Particle files: arrays of centres, radii and colours, as they stand in the file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataFileError, shown, suggestion
from ..files.access import OpenFile, opened, reading
from . import naming
from .arrays import Where, check_centers, floats
from .data_file import DataFile
from .elements import Element, symbol_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from .labels import Labels

BEAD = 0.75
"""Radius of a label that is no element among elements, in angstrom: that of carbon."""

SUFFIXES = (".npz", ".npy", ".csv", ".xyz", ".extxyz")
"""Endings of the particle files that can be read."""

Reader = Callable[[OpenFile, Mapping[str, str]], "Particles"]


FEWEST, LOOKED_AT = 10, 1000
"""Spheres from which on a guess about a column is made, and rows that it is made from."""


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
        labels: of coordinate files; `read` makes radii and colours of them where there are none.
        notes: what to warn of, with "radius" or "color" if it does not matter where the scene file
            says that part, otherwise with "".
    """

    source: str
    centers: NDArray[Any]
    radius: NDArray[Any] | None = None
    color: NDArray[Any] | None = None
    color_id: NDArray[Any] | None = None
    names: dict[str, str] = field(default_factory=dict)
    columns: dict[str, tuple[str, ...]] = field(default_factory=dict)
    file: DataFile | None = None
    labels: Labels | None = None
    notes: list[tuple[str, str]] = field(default_factory=list)


def read(
    path: Path,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Element] | None = None,
    source: str | None = None,
    meaning: str | None = None,
) -> Particles:
    """Read a particle file by the ending of its name.

    Args:
        path: .npz, .npy, .csv, .xyz or .extxyz.
        names: the file's own names of "centers", "radii", "colors" (.npz, extended .xyz) or of
            "x", "y", "z", "radii", "r", "g", "b" (.csv); "diameters" of all three.
        elements: own radii and colours for .xyz.
        source: what to call the file in messages; the path if None.
        meaning: "elements" or "types": what the labels of an .xyz file are; None decides by them.

    Raises:
        DataFileError: there is no such file, or it does not hold spheres.
    """
    source = source or str(path)
    with opened(path, source) as file:
        return read_open(file, path.suffix.lower(), names, elements, meaning)


def read_open(
    file: OpenFile,
    suffix: str,
    names: Mapping[str, str] | None = None,
    elements: Mapping[str, Element] | None = None,
    meaning: str | None = None,
) -> Particles:
    """Read an open particle file; `suffix` says what it is, otherwise as `read`."""
    reader = _reader(suffix, file.source)
    with reading(file.source, suffix):
        result = reader(file, names or {})
    if result.labels is not None and (result.radius is None or result.color is None):
        _look_up(result, result.labels, elements or {}, meaning)
    if not file.is_standard_input:
        result.file = DataFile.of(file)
    return result


def _look_up(
    result: Particles, labels: Labels, elements: Mapping[str, Element], meaning: str | None
) -> None:
    """Fill in radii and colours that the file does not say, by its labels."""
    import numpy as np

    from .labels import looks

    found = looks(labels, elements, meaning, result.source)
    parts = [part for part in ("radius", "color") if getattr(result, part) is None]
    if found.assumed:
        # Without "radius" and "color" in the scene file, one of the two at least is looked up.
        result.notes.append(("+".join(parts), found.assumed))
    if result.radius is None:
        radii = found.radii
        if np.isnan(radii).any():
            known = not np.isnan(radii).all() and any(map(symbol_of, labels.names))
            radii = np.where(np.isnan(radii), BEAD if known else spaced(result), radii)
        result.radius = radii[labels.ids]
        result.names["radius"] = "species"
    if result.color is None:
        result.color, result.color_id = found.colors, labels.ids


def spaced(result: Particles) -> float:
    """Return the radius of particles that have none of their own, from their mean spacing.

    Raises:
        DataFileError: the centres are none.
    """
    from .spacing import default_radius

    return default_radius(check_centers(result.centers, Where(result.source, result.names)))


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
    from .foreign import unread, way_out

    known, way = ", ".join(SUFFIXES), way_out(Path(source))
    raise DataFileError(
        f"{source}: {unread(suffix)}; supported are {known}" + (f"; {way}" if way else "")
    )


def _read_npy(file: OpenFile, names: Mapping[str, str]) -> Particles:
    """Read (N, 3) centres, or (N, 4) centres and radii."""
    from ..files.npz import read_npy

    if names:
        raise DataFileError(f"{file.source}: an .npy file has no names; leave out arrays")
    array = read_npy(file)
    if array.ndim != 2 or array.shape[1] not in (3, 4):
        raise DataFileError(
            f"{file.source}: has shape {array.shape}; it must be (N, 3), or (N, 4) with radii"
            f"{_remedy(array)}"
        )
    radius = array[:, 3] if array.shape[1] == 4 else None
    own = {"centers": "columns 0 to 2", "radius": "column 3"}
    result = Particles(file.source, array[:, :3], radius, names=own)
    if _is_no_radius(array):
        result.notes.append(("radius", (
            f"{file.source}: column 3 is taken as the radius, but each sphere is then larger than "
            "the region of all centres: if it is another quantity, save columns 0 to 2 alone, or "
            "say radius = ... in a scene file"
        )))  # fmt: skip
    return result


def _is_no_radius(array: NDArray[Any]) -> bool:
    """Whether the fourth column is rather a mass or a number: each sphere would hold all centres.

    array: (N, 3) or (N, 4), of which a few rows are looked at.
    """
    import numpy as np

    if array.shape[1] != 4 or len(array) < FEWEST or array.dtype.kind not in "iuf":
        return False
    rows = np.asarray(array[:: max(len(array) // LOOKED_AT, 1)], np.float64)
    sides = np.ptp(rows[:, :3], axis=0)
    return bool(rows[:, 3].min() > float(np.hypot.reduce(sides)) > 0.0)


def _remedy(array: NDArray[Any]) -> str:
    """Return what to do with an array of another shape, for the end of a sentence, or ""."""
    if array.dtype.names:
        fields = naming.listed(array.dtype.names)
        return f": it has the fields {fields}; save them by their names with numpy.savez"
    if array.ndim == 3:
        return ": save one frame of it"
    if array.ndim == 2 and array.shape[0] in (3, 4):
        return ": save its transpose"
    if array.ndim == 2 and array.shape[1] > 4:
        return ": save only these columns"
    return ""


def _read_npz(file: OpenFile, names: Mapping[str, str]) -> Particles:
    """Read named arrays."""
    from ..files.npz import Archive

    with Archive(file) as archive:
        known = list(archive.members)
        chosen = _choose(names, known, file.source)
        notes = _guessed(chosen, known, file.source)
        naming.require_one(chosen.values(), known, file.source, "array", names.values())
        archive.require_room(list(chosen.values()))
        arrays = {part: archive.array(name) for part, name in chosen.items()}
    notes += _unused(chosen, known, file.source)
    return _assembled(file.source, chosen, arrays, notes)


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


def _guessed(chosen: dict[str, str], known: list[str], source: str) -> list[tuple[str, str]]:
    """Choose an array of one letter as radius or diameter beside x, y and z; return the warning."""
    if "x" in chosen and not {"radius", "diameter"} & set(chosen):
        found = naming.guess(set(known) - set(chosen.values()), source, "array")
        if found is not None:
            chosen[found[0]] = found[1]
            return [("radius", found[2])]
    return []


def _unused(chosen: Mapping[str, str], known: list[str], source: str) -> list[tuple[str, str]]:
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
    notes: list[tuple[str, str]],
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
