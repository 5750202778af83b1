"""Snapshots in HDF5: Gadget, AREPO, SWIFT and others, H5MD, and any group of arrays.

A group whose datasets are the columns of particles is found by its coordinates; where there are
several, the user names one, as in `snapshot.hdf5:PartType1`. Read by h5py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import inf, prod
from os import fstat
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile, is_file
from raytracer.memory import require_room
from raytracer.scene.particles import naming
from raytracer.scene.particles.hdf5_members import (
    HARD,
    MOST_OBJECTS,
    found_at,
    is_elsewhere,
    is_group,
    leaves_file,
    links_of,
    member,
    opened_member,
    unit_of,
)
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.snapshot_parts import Part, SnapshotParts
from raytracer.scene.particles.source import (
    Box,
    Column,
    Moment,
    Particles,
    ParticleSource,
    kind_of,
    moment_of,
    more_frames,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

DEPTH = 6
"""Most groups in each other that are looked into."""

MASSES = "Masses"
"""Name of the column of masses that the header of Gadget states once for all."""

MOST_PARTS = 10_000
"""Most files of a snapshot."""

NANOMETRE = 10.0
"""Angstrom."""

VALUE = "value"
"""Dataset of a quantity that is a group, as in H5MD; its first axis is time."""


class Member(NamedTuple):
    """A dataset of a group. Asking h5py for a name or a shape takes microseconds: it is done once.

    Args:
        name: in the group.
        dataset: of h5py.
        series: whether its first axis is time.
        shape: of the dataset.
    """

    name: str
    dataset: Any
    series: bool
    shape: tuple[int, ...]


def opened_source(file: OpenFile, variant: str = "") -> ParticleSource:
    """Return the source of an HDF5 file by the convention that it follows."""
    source = Source(file, variant)
    if "openPMD" in source.root.attrs:
        from raytracer.scene.particles.formats import openpmd

        if openpmd.is_openpmd(source.root, variant):
            return openpmd.Source(file, variant, source.root)
    others = source.other_parts()
    if others:
        return SnapshotParts(source, others)
    return source


class Source(Part):
    """An HDF5 file; the variant is the path of a group or of a dataset of coordinates in it."""

    noun = "dataset"
    joined = False

    @cached_property
    def root(self) -> Any:
        """The file of h5py."""
        module = library("h5py", self.name, "hdf5")
        if not fstat(self.file.file.fileno()).st_nlink:  # the library opens paths that exist alone
            return module.File(self.file.file, "r")
        return module.File(self.file.name, "r", locking=False)

    @cached_property
    def _group(self) -> Any:
        """The group of the particles."""
        if self.variant:
            return self._named_group()
        groups = list(self._candidates())
        if len(groups) == 1:
            return groups[0]
        if groups:
            names = [group.name.strip("/") for group in groups]
            raise DataFileError(
                f"{self.name}: holds several sets of particles ({naming.listed(names)}): name one "
                f"behind a colon, as in '{shown(self.file.path.name)}:{shown(names[0])}'"
            )
        raise DataFileError(
            f"{self.name}: no group has coordinates, (N, 3), by a usual name; name the dataset "
            f"behind a colon, as in '{shown(self.file.path.name)}:GROUP/DATASET'"
        )

    @cached_property
    def group_name(self) -> str:  # type: ignore[override]
        """Path of the group of the particles."""
        return str(self._group.name).strip("/")

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        found: dict[str, Column] = {}
        count = self.count
        for name, dataset, series, full in self._own:
            shape = full[1:] if series else full
            if shape[:1] == (count,) and len(shape) <= 3:
                found[name] = Column(kind_of(dataset.dtype), shape[1:], unit_of(dataset))
        if self._mass is not None and not {"masses", "mass"} & {each.lower() for each in found}:
            found[MASSES] = Column("number")
        if self._scale != 1.0 and self._centers in found:
            found[self._centers] = found[self._centers]._replace(unit="Å")
        return found

    @cached_property
    def _scale(self) -> float:
        """What lengths are multiplied by: nanometres of H5MD become angstrom, as of GROMACS."""
        if not is_group(found_at(self.root, "h5md")):
            return 1.0
        units = [unit_of(each.dataset) for each in self._own if each.name == self._centers]
        return NANOMETRE if units == ["nm"] else 1.0

    @cached_property
    def _mass(self) -> float | None:
        """The mass that all particles of a type of Gadget have, by its header, or None."""
        kind = self._group.name.rpartition("/")[2].removeprefix("PartType")
        if not kind.isdecimal():
            return None
        try:
            masses = self._header_numbers("MassTable")
        except DataFileError:
            return None
        mass = float(masses[int(kind)]) if int(kind) < len(masses) else 0.0
        return mass if 0.0 < mass < inf else None

    @cached_property
    def count(self) -> int | None:
        name = self._centers or naming.usual("x", [each.name for each in self._own])
        for each in self._own:
            if each.name == name:
                return int(each.shape[1 if each.series else 0])
        return None

    @cached_property
    def frames(self) -> int | None:
        series = [each.shape[0] for each in self._own if each.series]
        return int(series[0]) if series else 1

    @property
    def box(self) -> Box | None:
        import numpy as np

        sizes = self._header_numbers("BoxSize")
        if len(sizes) == 0:
            return self._h5md_box()
        if len(sizes) not in (1, 3) or not np.isfinite(sizes).all():
            raise DataFileError(
                f"{self.name}: Header: BoxSize is neither one number nor three, but "
                f"{shown(str(sizes.tolist()), 60)}"
            )
        x, y, z = np.broadcast_to(sizes, 3).tolist()
        return Box((0.0, 0.0, 0.0), ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)))

    def _h5md_box(self) -> Box | None:
        """Return the box of a group of H5MD: its edges are three numbers or rows of a matrix."""
        import numpy as np

        box = member(self._group, "box")
        edges = member(box, "edges") if is_group(box) else None
        if is_group(edges):
            edges = member(edges, VALUE)
            in_time = True
        else:
            in_time = False
        if edges is None or is_group(edges) or edges.dtype.kind not in "iuf":
            return None
        shape = edges.shape[1:] if in_time else edges.shape
        if shape not in ((3,), (3, 3)) or (in_time and not len(edges)):
            return None
        rows = np.asarray(edges[min(self.frame, len(edges) - 1)] if in_time else edges[()], float)
        matrix = self._scale * (np.diag(rows) if rows.ndim == 1 else rows)
        if not np.isfinite(matrix).all():
            return None
        a, b, c = (tuple(row) for row in matrix.tolist())
        said = box.attrs.get("boundary")
        words = [] if said is None else np.ravel(said).tolist()
        x, y, z = (
            (place >= len(words) or words[place] not in (b"none", "none")) for place in range(3)
        )
        return Box((0.0, 0.0, 0.0), (a, b, c), (x, y, z))

    @property
    def time(self) -> Moment | None:
        """The time of Gadget's header, or that of a frame of H5MD."""
        try:
            times = self._header_numbers("Time")
        except DataFileError:
            return None
        if len(times):
            return moment_of(times[0])
        for name, dataset, series, shape in self._own:
            if series and name == self._centers:
                clock = member(dataset.parent, "time")
                if clock is not None and not is_group(clock) and clock.shape == shape[:1]:
                    return moment_of(clock[self.frame], unit_of(clock))
        return None

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        import numpy as np

        there = {each.name: each for each in self._own}
        size = 0
        asked, names = names, [name for name in names if name in there]
        for name in names:
            each = there[name]
            rows = each.shape[1:] if each.series else each.shape
            size += each.dataset.dtype.itemsize * prod(rows)
        require_room(self.name, size)
        columns: dict[str, NDArray[Any]] = {}
        for name in names:
            _, dataset, series, _ = there[name]
            if is_elsewhere(dataset):
                raise DataFileError(
                    f"{self.name}: dataset '{shown(name)}' is stored in other files, which are "
                    "not read"
                )
            columns[name] = np.asarray(
                dataset[self._frame_in(dataset, name)] if series else dataset[()]
            )
        found = {
            name: array.astype(array.dtype.newbyteorder("="), copy=False)
            for name, array in columns.items()
        }
        if self._scale != 1.0 and self._centers in found:
            scale = found[self._centers].dtype.type(self._scale)
            found[self._centers] = found[self._centers] * scale
        if len(names) < len(asked):
            found[MASSES] = np.full(int(self.count or 0), self._mass)
        return {name: found[name] for name in asked}

    def _frame_in(self, dataset: Any, name: str) -> int:
        """Return the number of the frame in a dataset, which may have fewer frames than others."""
        if self.frame >= len(dataset):
            raise DataFileError(
                f"{self.name}: dataset '{shown(name)}' has {len(dataset)} frames, so none is frame "
                f"{self.frame}"
            )
        return self.frame

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        if self._centers is not None and not {"centers", *"xyz"} & set(names):
            names = {**names, "centers": self._centers}
        return super().choose(names)

    def particles(self, names: Mapping[str, str]) -> Particles:

        result = super().particles(names)
        if (self.frames or 1) > 1 and not self.is_chosen:
            result.notes.append(("", more_frames(self.name, self.frames)))
        if self._parts > 1 and not self.joined:
            result.notes.append(("", (
                f"{self.name}: is one of {self._parts} files of a snapshot, and not all of the "
                "others lie beside it: its particles alone are shown"
            )))  # fmt: skip
        return result

    @cached_property
    def _parts(self) -> int:
        """Number of files of the snapshot."""
        files = self._header_numbers("NumFilesPerSnapshot")
        return int(files[0]) if len(files) and 1 < files[0] < inf else 1

    def other_parts(self) -> list[Path]:
        """Return the other files of a snapshot of Gadget, NAME.0.hdf5 to NAME.9.hdf5, in order.

        Of a snapshot in one file, or where one of them is missing, there are none.
        """
        if self._parts <= 1 or self._parts > MOST_PARTS:
            return []
        path = self.file.path
        stem, dot, number = path.stem.rpartition(".")
        if not dot or not number.isdecimal():
            return []
        names = [path.with_name(f"{stem}.{part}{path.suffix}") for part in range(self._parts)]
        others = [name for name in names if name != path]
        return others if len(others) == self._parts - 1 and all(map(is_file, others)) else []

    def _header_numbers(self, name: str) -> NDArray[np.float64]:
        """Return the numbers of an attribute of the group Header; none if it is not there."""
        import numpy as np

        header = found_at(self.root, "Header")
        value = None if header is None else header.attrs.get(name)
        try:
            return np.ravel(np.zeros(0) if value is None else value).astype(np.float64)
        except (TypeError, ValueError):
            raise DataFileError(f"{self.name}: Header: {name} is no number") from None

    @cached_property
    def _centers(self) -> str | None:
        """The dataset of coordinates, or None where they are x, y and z."""
        if self.variant and not is_group(found_at(self.root, self.variant)):
            name = self.variant.strip("/").rpartition("/")[2]
            known = [each.name for each in self._own]
            return name if name in known else self.variant.strip("/").split("/")[-2]
        return _coordinates(self._own)

    def _named_group(self) -> Any:
        """Return the group that the user named, or that of the dataset."""
        found = found_at(self.root, self.variant)
        if found is None:
            if leaves_file(self.root, self.variant):
                raise DataFileError(
                    f"{self.name}: '{shown(self.variant)}' lies in another file (an external "
                    "link): name that file itself"
                )
            names = [group.name.strip("/") for group in self._candidates()]
            hint = f"; particles are in {naming.listed(names)}" if names else ""
            raise DataFileError(
                f"{self.name}: there is no group or dataset '{shown(self.variant)}'{hint}"
            )
        if is_group(found):
            return found
        parent = found.parent
        is_value = found.name.rpartition("/")[2] == VALUE and found.ndim == 3
        return parent.parent if is_value else parent

    def _candidates(self) -> Iterator[Any]:
        """Yield the groups that have coordinates."""
        from collections import deque

        pending, seen, looked = deque([(self.root, 0)]), set(), 0
        while pending:
            group, depth = pending.popleft()
            if group.id in seen:
                continue
            seen.add(group.id)
            if _coordinates(self._datasets(group)) or _has_axes(self._datasets(group)):
                yield group
            for inner in self._members(group).values():
                looked += 1
                if looked > MOST_OBJECTS:
                    return
                if depth < DEPTH and is_group(inner):
                    pending.append((inner, depth + 1))

    def _members(self, group: Any) -> dict[str, Any]:
        """Return the groups and datasets in a group by name; each group is looked into once."""
        known = self._known.get(group.name)
        if known is None:
            kinds = links_of(group)
            known = {
                name: opened_member(group, name) if kind == HARD else member(group, name)
                for name, kind in kinds.items()
            }
            self._known[group.name] = known
        return known

    @cached_property
    def _known(self) -> dict[str, dict[str, Any]]:
        """What `_members` found, by the names of groups."""
        return {}

    @cached_property
    def _own(self) -> list[Member]:
        """The datasets of the group of the particles."""
        return self._datasets(self._group)

    def _datasets(self, group: Any) -> list[Member]:
        """Return the datasets of a group."""
        known = self._listed.get(group.name)
        if known is None:
            known = self._listed[group.name] = self._list_datasets(group)
        return known

    @cached_property
    def _listed(self) -> dict[str, list[Member]]:
        """What `_datasets` found, by the names of groups."""
        return {}

    def _list_datasets(self, group: Any) -> list[Member]:
        found = []
        for name, each in self._members(group).items():
            if is_group(each):
                value = self._members(each).get(VALUE)
                shape = () if value is None or is_group(value) else value.shape or ()
                if len(shape) >= 2:
                    found.append(Member(name, value, True, shape))
            elif each is not None and (shape := each.shape):
                is_series = len(shape) == 3 and shape[2] == 3
                is_series = is_series and naming.usual("centers", [name]) is not None
                found.append(Member(name, each, is_series, shape))
        return found


def _coordinates(datasets: Sequence[Member]) -> str | None:
    """Return the dataset of coordinates, or None."""
    vectors = [
        each.name
        for each in datasets
        if each.shape[-1:] == (3,) and len(each.shape) == (3 if each.series else 2)
    ]
    return naming.usual("centers", vectors)


def _has_axes(datasets: Sequence[Member]) -> bool:
    """Whether there are coordinates in three datasets."""
    scalars = [each.name for each in datasets if len(each.shape) == 1 + each.series]
    return all(naming.usual(axis, scalars) for axis in "xyz")
