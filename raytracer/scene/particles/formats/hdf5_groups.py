"""Snapshots in HDF5: Gadget, AREPO, SWIFT and others, H5MD, and any group of arrays.

The group of particle columns is found by its coordinates. Of several, all are drawn together, or
the one that the user names, as in `snapshot.hdf5:PartType1`. Read by h5py.
"""

import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import inf, prod
from os import fstat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles import naming
from raytracer.scene.particles.array_source import are_frames, is_across
from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.formats import hdf5_tables
from raytracer.scene.particles.hdf5_members import (
    MAX_OBJECTS,
    found_at,
    is_group,
    members,
    unit_of,
    values_of,
)
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.snapshot_parts import Snapshot
from raytracer.scene.particles.source import NANOMETRE, Box, Column, Moment, kind_of, moment_of

MAX_DEPTH = 6  # most levels of nested groups that are searched
MAX_COLUMNS = 100  # columns from which a matrix is none of particles
_TYPE = re.compile(r"PartType\d+")
MASSES = "Masses"  # name of the column of masses that Gadget's header states once for all
VALUE = "value"  # dataset of a quantity that is a group, as in H5MD; its first axis is time


class Member(NamedTuple):
    """A dataset of a group, with its name and shape, which are slow to ask of h5py."""

    name: str  # name in the group
    dataset: Any  # of h5py
    series: bool  # whether its first axis is time
    shape: tuple[int, ...]  # shape of the dataset
    turned: bool = False  # whether its last axis is that of the particles

    @property
    def row_shape(self) -> tuple[int, ...]:
        """Shape of the values of one frame, (N, ...)."""
        return self.shape[1:] if self.series else self.shape[:: -1 if self.turned else 1]


class Source(ColumnSource):
    """An HDF5 file; the variant is the path of a group, or of a dataset of coordinates."""

    noun = "dataset"

    @cached_property
    def root(self) -> Any:
        module = library("h5py", self.name, "hdf5")
        if not fstat(self.file.file.fileno()).st_nlink:  # deleted: the library cannot open its path
            return module.File(self.file.file, "r")
        return module.File(self.file.name, "r", locking=False)

    def has_matrix(self) -> bool:
        """Whether there are rows of more than three numbers, but no coordinates with a name."""
        if self._candidates():
            return False
        shapes = [each.shape for each in self._floats]
        return any(len(shape) == 2 and 3 < shape[1] < MAX_COLUMNS for shape in shapes)

    def only_vectors(self) -> str:
        """Return the path of the only dataset (N, 3) or (T, N, 3) of numbers, "" if there are none
        or others, or coordinates with a usual name."""
        if self._candidates():
            return ""
        found = [
            each.dataset.name.strip("/") for each in self._floats
            if not each.series and (each.shape[-1:] == (3,) or is_across(each.shape))
            and len(each.shape) in (2, 3) and not naming.is_other(each.name)
        ]  # fmt: skip
        return found[0] if len(found) == 1 else ""

    def sets(self) -> list[str]:
        """Return the paths of the groups with particles; beside those of Gadget's types there are
        none, but cells of SWIFT."""
        names = [group.name.strip("/") or "/" for group in self._candidates()]
        types = [name for name in names if _TYPE.fullmatch(name)]
        return types or names

    def tables(self) -> Any:
        """Return the group in which a table is, or None if there are arrays of coordinates."""
        if self.variant:
            named = found_at(self.root, self.variant)
            is_table = named is not None and not is_group(named) and named.dtype.names
            return named if is_table else None
        if self._candidates(across=False):
            return None
        return self.root if hdf5_tables.are_in(self.root, MAX_DEPTH) else None

    @cached_property
    def _group(self) -> Any:
        if self.variant:
            return self._named_group()
        if names := self.sets():
            return found_at(self.root, names[0])
        raise self.error(
            "no group has coordinates (N, 3) with a usual name; append the dataset after a colon, "
            f"as in '{shown(self.file.path.name)}:GROUP/DATASET'"
        )

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        columns: dict[str, Column] = {}
        for each in self._members:
            if each.row_shape[:1] == (self._rows,) and len(each.row_shape) <= 3:
                kind, unit = kind_of(each.dataset.dtype), unit_of(each.dataset)
                columns[each.name] = Column(kind, each.row_shape[1:], unit)
        if self._mass is not None and not {"masses", "mass"} & {name.lower() for name in columns}:
            columns[MASSES] = Column("number")
        if self._scale != 1.0 and self._centers in columns:
            columns[self._centers] = columns[self._centers]._replace(unit="Å")
        return columns

    @cached_property
    def _scale(self) -> float:
        """Factor of lengths: nanometres in H5MD become angstrom, as for GROMACS."""
        if not is_group(found_at(self.root, "h5md")):
            return 1.0
        units = [unit_of(each.dataset) for each in self._members if each.name == self._centers]
        return NANOMETRE if units == ["nm"] else 1.0

    @property
    def length(self) -> float:
        return self._scale

    @cached_property
    def _mass(self) -> float | None:
        """The common mass of all particles of a Gadget type, from the header, or None."""
        kind = self._group.name.rpartition("/")[2].removeprefix("PartType")
        if not kind.isdecimal():
            return None
        try:
            masses = self._header_numbers("MassTable")
        except DataFileError:
            return None
        mass = float(masses[int(kind)]) if int(kind) < len(masses) else 0.0
        return mass if 0.0 < mass < inf else None

    @property
    def count(self) -> int | None:
        return self._rows

    @cached_property
    def _rows(self) -> int | None:
        name = self._centers or naming.usual("x", [each.name for each in self._members])
        counts = (each.row_shape[0] for each in self._members if each.name == name)
        return next(counts, None)

    @cached_property
    def frames(self) -> int | None:
        series = [each.shape[0] for each in self._members if each.series]
        return int(series[0]) if series else 1

    @property
    def box(self) -> Box | None:
        sizes = self._header_numbers("BoxSize")
        if len(sizes) == 0:
            return self._h5md_box()
        if len(sizes) not in (1, 3) or not np.isfinite(sizes).all():
            raise self.error(
                "Header: BoxSize is neither one number nor three, but "
                f"{shown(str(sizes.tolist()), 60)}"
            )
        return cell_box(np.diag(np.broadcast_to(sizes, 3)))

    def _h5md_box(self) -> Box | None:
        """Return the box of an H5MD group: three lengths, or the rows of a matrix."""
        edges, in_time = found_at(self._group, "box/edges"), False
        if is_group(edges):
            edges, in_time = found_at(edges, VALUE), True
        if edges is None or is_group(edges) or edges.dtype.kind not in "iuf":
            return None
        shape = edges.shape[1:] if in_time else edges.shape
        if shape not in ((3,), (3, 3)) or (in_time and not len(edges)):
            return None
        rows = np.asarray(edges[min(self.frame, len(edges) - 1)] if in_time else edges[()], float)
        boundary = found_at(self._group, "box").attrs.get("boundary", ("periodic",) * 3)
        periodic = [word not in (b"none", "none") for word in np.ravel(boundary).tolist()]
        matrix = self._scale * (np.diag(rows) if rows.ndim == 1 else rows)
        return cell_box(matrix, [*periodic, True, True, True][:3])

    @property
    def time(self) -> Moment | None:
        """The time in Gadget's header, or of a frame in H5MD."""
        try:
            times = self._header_numbers("Time")
        except DataFileError:
            return None
        if len(times):
            return moment_of(times[0])
        for name, dataset, series, shape, _ in self._members:
            if series and name == self._centers:
                clock = found_at(dataset.parent, "time")
                if clock is not None and not is_group(clock) and clock.shape == shape[:1]:
                    return moment_of(clock[self.frame], unit_of(clock))
        return None

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        there = {each.name: each for each in self._members}
        stored = [there[name] for name in names if name in there]
        require_room(
            self.name, sum(each.dataset.dtype.itemsize * prod(each.row_shape) for each in stored)
        )
        columns: dict[str, NDArray[Any]] = {
            each.name: values_of(each.dataset, self.name, self.frame if each.series else None)
            for each in stored
        }
        columns |= {each.name: np.ascontiguousarray(columns[each.name].T) for each in stored
                    if each.turned}  # fmt: skip
        if self._scale != 1.0 and self._centers in columns:
            scale = columns[self._centers].dtype.type(self._scale)
            columns[self._centers] = columns[self._centers] * scale
        if len(stored) < len(names):
            columns[MASSES] = np.full(int(self._rows or 0), self._mass)
        return {name: columns[name] for name in names}

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        if self._centers is not None and not {"centers", *"xyz"} & set(names):
            names = {**names, "centers": self._centers}
        return super().choose(names)

    @cached_property
    def stated(self) -> int:
        """Number of files of a Gadget snapshot."""
        files = self._header_numbers("NumFilesPerSnapshot")
        return int(files[0]) if len(files) and 1 < files[0] < inf else 1

    def _header_numbers(self, name: str) -> NDArray[np.float64]:
        """Return the numbers of a header attribute; none if it is missing."""
        header = found_at(self.root, "Header")
        value = None if header is None else header.attrs.get(name)
        try:
            return np.ravel(np.zeros(0) if value is None else value).astype(np.float64)
        except (TypeError, ValueError):
            raise self.error(f"Header: {name} is not a number") from None

    @cached_property
    def _centers(self) -> str | None:
        """The dataset of coordinates, or None if they are x, y and z."""
        if self.variant and not is_group(found_at(self.root, self.variant)):
            name = self.variant.strip("/").rpartition("/")[2]
            known = [each.name for each in self._members]
            return name if name in known else self.variant.strip("/").split("/")[-2]
        return _coordinates(self._members)

    def _named_group(self) -> Any:
        """Return the group that the user named, or the group of the named dataset."""
        target = found_at(self.root, self.variant)
        if target is None:
            names = self.sets()
            hint = f"; particles are in {naming.listed(names)}" if names else ""
            raise self.error(
                f"there is no group or dataset '{shown(self.variant)}' in this file, and links to "
                f"others are not followed{hint}"
            )
        if is_group(target):
            return target
        parent = target.parent
        is_value = target.name.rpartition("/")[2] == VALUE and target.ndim == 3
        return parent.parent if is_value else parent

    def _candidates(self, across: bool = True) -> list[Any]:
        """Return the groups with coordinates; those of (3, N) count only if `across`."""
        known = [(group, [each for each in datasets if across or not each.turned])
                 for group, datasets in self._datasets]  # fmt: skip
        return [group for group, each in known if _coordinates(each) or _has_axes(each)]

    @property
    def _floats(self) -> Iterator[Member]:
        """The datasets of floating-point numbers in all groups."""
        return (each for _, datasets in self._datasets for each in datasets
                if each.dataset.dtype.kind == "f")  # fmt: skip

    @cached_property
    def _datasets(self) -> list[tuple[Any, list[Member]]]:
        """The groups of the file, and the datasets of each."""
        return [(group, _datasets(members(group))) for group in self._groups()]

    def _groups(self) -> Iterator[Any]:
        """Yield the groups of the file, the outer before the inner."""
        pending, seen, looked = deque([(self.root, 0)]), set(), 0
        while pending:
            group, depth = pending.popleft()
            if group.id in seen:
                continue
            seen.add(group.id)
            yield group
            for inner in _links_last(group):
                looked += 1
                if looked > MAX_OBJECTS:
                    return
                if depth < MAX_DEPTH and is_group(inner):
                    pending.append((inner, depth + 1))

    @cached_property
    def _members(self) -> list[Member]:
        return _datasets(members(self._group), self.variant.strip("/").rpartition("/")[2])


class Steps(Source):
    """Groups of which each is a frame, as of H5Part: Step#0, Step#1, ..., in this order."""

    of_frame = ("_group", "_members", "_centers", "_rows", "_mass", "_scale", "columns")

    def __init__(self, file: OpenFile, names: Sequence[str]) -> None:
        super().__init__(file)
        self._names = names

    def sets(self) -> list[str]:
        return [self._names[self.frame]]

    @property
    def frames(self) -> int | None:
        return len(self._names)


class Parts(Snapshot, Source):
    """A file of Gadget, of whose snapshot there may be several."""

    def part(self, file: OpenFile) -> Source | None:
        group = str(self._group.name).strip("/")
        part = Source(file, group)
        return None if found_at(part.root, group) is None else part


def _links_last(group: Any) -> list[Any]:
    """Return the members of a group, first those that are not soft links to others."""
    known = members(group)
    links = {name for name in known if hasattr(group.get(name, getlink=True), "path")}
    return [known[name] for name in sorted(known, key=links.__contains__)]


def _datasets(known: Mapping[str, Any], named: str = "") -> list[Member]:
    """Return the datasets of a group; `named` is one that the user says to be coordinates."""
    datasets = []
    for name, each in known.items():
        if is_group(each):
            value = found_at(each, VALUE)
            shape = () if value is None or is_group(value) else value.shape or ()
            if len(shape) >= 2:
                datasets.append(Member(name, value, True, shape))
        elif shape := each.shape:
            is_series = are_frames(shape)
            is_series &= name == named or naming.usual("centers", [name]) is not None
            datasets.append(Member(name, each, is_series, shape))
    if _coordinates(datasets):
        return datasets
    across = {each.name: each.shape[1] for each in datasets if is_across(each.shape)}
    count = across.get(named) or across.get(naming.usual("centers", across) or "")
    return [each._replace(turned=not each.series and each.shape[1:] == (count,) != each.shape[:1])
            for each in datasets]  # fmt: skip


def _coordinates(datasets: Sequence[Member]) -> str | None:
    vectors = ([each.name for each in datasets if each.row_shape[1:] == (width,)]
               for width in (3, 2))  # fmt: skip
    return next((name for each in vectors if (name := naming.usual("centers", each))), None)


def _has_axes(datasets: Sequence[Member]) -> bool:
    scalars = [each.name for each in datasets if len(each.shape) == 1 + each.series]
    return naming.has_axes(scalars)
