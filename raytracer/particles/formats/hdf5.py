"""HDF5 files: snapshots of Gadget, AREPO, SWIFT and others, H5MD, MDTraj, and any group of arrays.

The group of particle columns is found by its coordinates. Of several, all are drawn together, or
the one that the user names, as in `snapshot.hdf5:PartType1`. Read by h5py.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from math import inf
from os import fstat
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile, load_json
from raytracer.model import particle_names as naming
from raytracer.model.particle_source import (
    NANOMETRE,
    Box,
    Column,
    FrameTime,
    ParticleSource,
    parse_time,
)
from raytracer.particles.array_source import (
    ArraySource,
    LazyColumn,
    encode_texts,
    find_coordinates,
    find_vectors,
    import_library,
    is_transposed,
)
from raytracer.particles.cell import box_from_cell, cell_from_sizes
from raytracer.particles.formats import hdf5_tables, openpmd
from raytracer.particles.frames import check_frame
from raytracer.particles.hdf5_members import (
    MAX_OBJECTS,
    find_external_members,
    find_member,
    is_group,
    list_members,
    read_unit,
    read_values,
    text_of,
)
from raytracer.particles.together import CombinedSource, SnapshotSource

MAX_DEPTH = 6  # most levels of nested groups that are searched
MAX_COLUMNS = 100  # columns from which a matrix is none of particles
MDTRAJ = "Pande"  # in the attribute `conventions` of files of MDTraj
MASSES = "Masses"  # name of the column of masses that Gadget's header states once for all
VALUE = "value"  # dataset of a quantity that is a group, as in H5MD; its first axis is time
OPENPMD = "openPMD"
_TYPE = re.compile(r"PartType\d+")
_STEP = re.compile(
    r"(?i)(.*?)(step|frame|time|snap|snapshot|iteration|iter|cycle|dump)[^a-z\d]*(\d+(?:\.\d+)?)(.*)"
)


def make_source(file: OpenFile, variant: str = "") -> ParticleSource:
    """Return the source of an HDF5 file for its convention.

    Args:
        file: the file.
        variant: path of a group, or of a dataset of coordinates, or "".
    """
    root = _open_root(file)
    if MDTRAJ in text_of(root.attrs.get("conventions", "")) and "coordinates" in root:
        return MDTrajSource(file, ["coordinates"], root)
    if variant and (target := find_member(root, variant)) is not None:
        if not is_group(target) and target.dtype.names:
            return hdf5_tables.Source(file, variant, target)
        return Source(file, [variant], root)
    if OPENPMD in root.attrs:
        steps = [{name: path for name, path in species.items() if variant in ("", name)}
                 for species in openpmd.find_steps(root)]  # fmt: skip
        if any(steps):
            return _step_source(file, root, [*filter(None, steps)])
    known = list(_walk_groups(root))
    groups = {group.name.strip("/") or "/": _find_arrays(group) for group in known}
    sets = _find_sets(groups)
    left = [name for group in known for name in find_external_members(group)]
    why = (
        f"{naming.quote_names(left)} in other files, which are not read: name these files"
        if left
        else ""
    )
    if variant:
        hint = f"; particles are in {naming.quote_names(list(sets))}" if sets else ""
        raise DataFileError(
            f"{file.source}: there is no group or dataset '{quote(variant)}' in this file, and "
            f"links to others are not followed{hint}"
        )
    if left and not sets:
        raise DataFileError(f"{file.source}: refers to {why}")
    if all(map(is_transposed, sets.values())) and hdf5_tables.contains_tables(root, MAX_DEPTH):
        return hdf5_tables.Source(file, "", root)
    if not sets:
        return _find_only_vectors(file, root, groups)
    in_time = [{name: name} for name in _sort_by_step(list(sets))]
    source = _step_source(file, root, in_time or [{name: name for name in sets}])
    if left:
        source.note(f"leaves out {why}")
    return source


def _step_source(file: OpenFile, root: Any, steps: list[dict[str, str]]) -> ParticleSource:
    """Return the source of the sets at each step, their paths by names."""
    if any(len(paths) > 1 for paths in steps):
        return CombinedSource(file, partial(_sources_at_frame, file, root, steps), len(steps))
    return Source(file, [path for paths in steps for path in paths.values()], root)


def _open_root(file: OpenFile) -> Any:
    """Return the root of a file."""
    module = import_library("h5py", file.source, "hdf5")
    if not fstat(file.file.fileno()).st_nlink:  # deleted: the library cannot open its path
        return module.File(file.file, "r")
    return module.File(file.name, "r", locking=False)


def _sources_at_frame(
    file: OpenFile, root: Any, steps: Sequence[Mapping[str, str]], frame: int
) -> dict[str, "Source"]:
    """Return the sources of sets at a frame; one without frames is the same in all of them."""
    paths = steps[frame % len(steps)]
    sources = {name: Source(file, [path], root) for name, path in paths.items()}
    for each in sources.values():
        if (each.frames or 1) > 1:
            each.go_to(check_frame(frame, each.frames or 1, each.name))
    return sources


def _sort_by_step(names: Sequence[str]) -> list[str]:
    """Return names that differ in the number of a step alone, in its order; else []. As of H5Part:
    Step#0, Step#1, ..."""
    found = [each for name in names if (each := _STEP.fullmatch(name))]
    if len(found) < len(names) or len({each.group(1, 2, 4) for each in found}) > 1:
        return []
    return [each[0] for each in sorted(found, key=lambda each: float(each[3]))]


def _find_only_vectors(file: OpenFile, root: Any, groups: Mapping[str, Any]) -> ParticleSource:
    """Return the source of a file without usual names: its only vectors (N, 3) or (T, N, 3), or
    rows of numbers."""
    arrays = {each.name.strip("/"): each for group in groups.values() for each in group.values()
              if not isinstance(each, LazyColumn)}  # fmt: skip
    if len(alone := find_vectors(arrays)) == 1:
        source = Source(file, alone, root)
        source.note(f"'{quote(alone[0])}' is taken as the coordinates")
        return source
    if any(each.dtype.kind == "f" and len(each.shape) == 2 and 3 < each.shape[1] < MAX_COLUMNS
           for each in arrays.values()):  # fmt: skip
        return hdf5_tables.Source(file, "", root)
    raise DataFileError(
        f"{file.source}: no group has coordinates (N, 3) with a usual name; append the dataset "
        f"after a colon, as in '{quote(file.path.name)}:GROUP/DATASET'"
    )


class Source(SnapshotSource, ArraySource):
    """A group, or a dataset of coordinates, by its path; several paths are those of the frames."""

    noun = "dataset"
    rows = ArraySource.rows
    of_frame = (*ArraySource.of_frame, "_target", "_group", "stored", "columns", "length")

    def __init__(self, file: OpenFile, paths: Sequence[str], root: Any) -> None:
        super().__init__(file)
        self._paths, self._root = paths, root

    @property
    def _path(self) -> str:
        return self._paths[self.frame if len(self._paths) > 1 else 0].strip("/")

    @cached_property
    def _target(self) -> Any:
        return find_member(self._root, self._path or "/")

    @cached_property
    def _group(self) -> Any:
        if is_group(self._target):
            return self._target
        parent = self._target.parent
        is_value = self._target.name.rpartition("/")[2] == VALUE and self._target.ndim == 3
        return parent.parent if is_value else parent

    @cached_property
    def stored(self) -> dict[str, Any]:
        return _find_arrays(self._group)

    @cached_property
    def centers(self) -> str | None:
        """The dataset of coordinates, or None if they are x, y and z."""
        if is_group(self._target):
            return super().centers
        _, _, name = self._path.rpartition("/")
        return name if name in self.stored else self._path.split("/")[-2]

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        known = dict(super().columns)
        if self._mass and not {"masses", "mass"} & {name.lower() for name in known}:
            known[MASSES] = Column("number")
        return known

    def unit(self, name: str) -> str:
        stored = self.stored[name]
        return "Å" if self._is_scaled(name) else getattr(stored, "unit", "") or read_unit(stored)

    def _is_scaled(self, name: str) -> bool:
        return name == self.centers and self.length != 1.0

    def load_own(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        columns = ArraySource.load(self, [name for name in names if name in self.stored])
        return {name: columns[name] if name in columns else np.full(self.rows or 0, self._mass)
                for name in names}  # fmt: skip

    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        stored = self.stored[name]
        if isinstance(stored, (LazyColumn, np.ndarray)):
            return super().values(name, frame)
        try:
            values: NDArray[Any] = read_values(stored, frame)
        except ValueError as problem:
            raise self.error(str(problem)) from None
        return values * values.dtype.type(self.length) if self._is_scaled(name) else values

    @cached_property
    def length(self) -> float:
        """Nanometres in H5MD become angstrom, as for GROMACS."""
        known = is_group(find_member(self._root, "h5md")) and self.stored.get(self.centers or "")
        return NANOMETRE if known and read_unit(known) == "nm" else 1.0

    @property
    def _mass(self) -> float:
        """The common mass of all particles of a Gadget type, from the header, or 0."""
        kind = self._group.name.rpartition("/")[2].removeprefix("PartType")
        masses = self._header("MassTable")
        mass = masses[int(kind)] if kind.isdecimal() and int(kind) < len(masses) else 0.0
        return mass if 0.0 < mass < inf else 0.0

    @property
    def frames(self) -> int | None:
        return len(self._paths) if len(self._paths) > 1 else super().frames

    @property
    def box(self) -> Box | None:
        """The box of Gadget's header, or of an H5MD group: three lengths, or rows of a matrix."""
        if len(sizes := self._header("BoxSize")) in (1, 3):
            return box_from_cell(np.diag(np.broadcast_to(sizes, 3)))
        box, edges = find_member(self._group, "box"), find_member(self._group, "box/edges")
        if edges is None:
            return None
        stored = find_member(edges, VALUE) if is_group(edges) else edges
        rows = np.asarray(stored[min(self.frame, len(stored) - 1)] if is_group(edges)
                          else stored[()], float)  # fmt: skip
        if rows.shape not in ((3,), (3, 3)):
            return None
        boundary = box.attrs.get("boundary", ("periodic",) * 3)
        periodic = [word not in (b"none", "none") for word in np.ravel(boundary).tolist()]
        matrix = self.length * (np.diag(rows) if rows.ndim == 1 else rows)
        return box_from_cell(matrix, [*periodic, True, True, True][:3])

    @property
    def time(self) -> FrameTime | None:
        """The time in Gadget's header, of an iteration of openPMD, or of a frame in H5MD."""
        if OPENPMD in self._root.attrs:
            return openpmd.time_of(
                find_member(self._root, "/".join(self._path.split("/")[:2]) or "/")
            )
        if times := self._header("Time"):
            return parse_time(times[0])
        centers = self.stored.get(self.centers or "")
        clock: Any = None if centers is None else find_member(centers.parent, "time")
        if centers is None or not self.moves(str(self.centers)) or (
            getattr(clock, "shape", ()) != centers.shape[:1]
        ):  # fmt: skip
            return None
        return parse_time(clock[self.frame], read_unit(clock))

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        if self.centers is not None and not {"centers", *"xyz"} & set(names):
            names = {**names, "centers": self.centers}
        return super().choose(names)

    @cached_property
    def stated(self) -> int:  # type: ignore[override]
        files = self._header("NumFilesPerSnapshot")
        return int(files[0]) if files and 1 < files[0] < inf else 1

    def part(self, file: OpenFile) -> SnapshotSource | None:
        part = Source(file, [str(self._group.name)], _open_root(file))
        part.stated = 1
        return part if part._target is not None else None

    def _header(self, name: str) -> list[float]:
        """Return the numbers of an attribute of Gadget's header; none if it has none."""
        header = find_member(self._root, "Header")
        with suppress(TypeError, ValueError, AttributeError, KeyError):
            return [float(each) for each in np.ravel(header.attrs[name])]
        return []


class MDTrajSource(Source):
    """A file of MDTraj: coordinates in nanometres, cells, and the atoms in JSON."""

    length = NANOMETRE

    @cached_property
    def stored(self) -> dict[str, Any]:
        """The coordinates, and elements, names and residues if the topology is of these atoms."""
        topology = find_member(self._root, "topology")
        document = {}
        if topology is not None:
            document = load_json(text_of(topology[0]), f"{self.name}: topology")
        rows = [
            (atom["index"], atom.get("element", ""), atom.get("name", ""), residue.get("name", ""))
            for chain in document.get("chains", ())
            for residue in chain["residues"]
            for atom in residue["atoms"]
        ]
        if len(rows) != self._target.shape[1]:
            return {self._path: self._target}
        _, *columns = zip(*sorted(rows), strict=True)
        names = ("element", "name", "residue")
        return {
            self._path: self._target,
            **dict(zip(names, map(encode_texts, columns), strict=True)),
        }

    def _read_frame_values(self, name: str) -> Any:
        values = find_member(self._root, name)
        return None if values is None or self.frame >= len(values) else values[self.frame]

    @property
    def box(self) -> Box | None:
        lengths, angles = (
            self._read_frame_values("cell_lengths"),
            self._read_frame_values("cell_angles"),
        )
        if lengths is None or angles is None:
            return None
        return cell_from_sizes([*(NANOMETRE * float(each) for each in lengths), *angles])

    @property
    def time(self) -> FrameTime | None:
        return parse_time(self._read_frame_values("time"), "ps")


def _walk_groups(root: Any) -> Iterator[Any]:
    """Yield the groups of a file, the outer before the inner."""
    pending, seen, looked = deque([(root, 0)]), set(), 0
    while pending:
        group, depth = pending.popleft()
        if group.id in seen:
            continue
        seen.add(group.id)
        yield group
        for inner in _sort_links_last(group):
            looked += 1
            if looked > MAX_OBJECTS:
                return
            if depth < MAX_DEPTH and is_group(inner):
                pending.append((inner, depth + 1))


def _sort_links_last(group: Any) -> list[Any]:
    """Return the members of a group, first those that are not soft links to others."""
    known = list_members(group)
    links = {name for name in known if hasattr(group.get(name, getlink=True), "path")}
    return [known[name] for name in sorted(known, key=links.__contains__)]


def _find_arrays(group: Any) -> dict[str, Any]:
    """Return the datasets of a group by name; of a group of H5MD its values."""
    if OPENPMD in group.file.attrs:
        return dict(openpmd.find_records(group))
    arrays = {}
    for name, each in list_members(group).items():
        value = find_member(each, VALUE) if is_group(each) else each
        shape = getattr(value, "shape", None) or ()  # None of an empty one
        if len(shape) > is_group(each):
            arrays[name] = value
    return arrays


def _find_sets(groups: Mapping[str, Mapping[str, Any]]) -> dict[str, tuple[int, ...]]:
    """Return the paths of the groups with particles, and the shapes of their coordinates; beside
    those of Gadget's types there are none, but cells of SWIFT."""
    sets: dict[str, tuple[int, ...]] = {}
    for path, arrays in groups.items():
        flat = [name for name, each in arrays.items() if len(each.shape) == 1]
        if name := find_coordinates(arrays):
            sets[path] = arrays[name].shape
        elif naming.has_axes(flat):
            sets[path] = ()
    return {path: shape for path, shape in sets.items() if _TYPE.fullmatch(path)} or sets
