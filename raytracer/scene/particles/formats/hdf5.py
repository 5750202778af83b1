"""Snapshots in HDF5: Gadget, AREPO, SWIFT and others, H5MD, and any group of arrays.

A group whose datasets are the columns of particles is found by its coordinates; where there are
several, the user names one, as in `snapshot.hdf5:PartType1`. Read by h5py.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown
from raytracer.files.npz import empty_bytes
from raytracer.files.pieces import Stretch, read_stretches
from raytracer.memory import require_room
from raytracer.scene.particles import naming
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.source import Box, Column, Particles, kind_of, more_frames

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_OBJECTS = 10_000
"""Most groups and datasets that are looked at."""

DEPTH = 6
"""Most groups in each other that are looked into."""

MOST_LINKS = 16
"""Most soft links that lead to one object."""

VALUE = "value"
"""Dataset of a quantity that is a group, as in H5MD; its first axis is time."""


class Source(ColumnSource):
    """An HDF5 file; the variant is the path of a group or of a dataset of coordinates in it."""

    noun = "dataset"

    @cached_property
    def _file(self) -> Any:
        module = library("h5py", self.name, "hdf5")
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
    def columns(self) -> Mapping[str, Column]:
        found: dict[str, Column] = {}
        count = self.count
        for name, dataset, series in self._datasets(self._group):
            shape = dataset.shape[1:] if series else dataset.shape
            if shape[:1] == (count,) and len(shape) <= 3:
                found[name] = Column(kind_of(dataset.dtype), shape[1:], _unit(dataset))
        return found

    @cached_property
    def count(self) -> int | None:
        name = self._centers or naming.usual(
            "x", [name for name, *_ in self._datasets(self._group)]
        )
        for each, dataset, series in self._datasets(self._group):
            if each == name:
                return int(dataset.shape[1 if series else 0])
        return None

    @cached_property
    def frames(self) -> int | None:
        series = [dataset.shape[0] for _, dataset, series in self._datasets(self._group) if series]
        return int(series[0]) if series else 1

    @property
    def box(self) -> Box | None:
        import numpy as np

        sizes = self._header_numbers("BoxSize")
        if len(sizes) == 0:
            return None
        if len(sizes) not in (1, 3) or not np.isfinite(sizes).all():
            raise DataFileError(
                f"{self.name}: Header: BoxSize is neither one number nor three, but "
                f"{shown(str(sizes.tolist()), 60)}"
            )
        x, y, z = np.broadcast_to(sizes, 3).tolist()
        return Box((0.0, 0.0, 0.0), ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)))

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        import numpy as np

        there = {name: (dataset, series) for name, dataset, series in self._datasets(self._group)}
        size = 0
        for name in names:
            dataset, series = there[name]
            size += int(dataset.nbytes) // (max(dataset.shape[0], 1) if series else 1)
        require_room(self.name, size)
        columns: dict[str, NDArray[Any]] = {}
        stretches: list[Stretch] = []
        for name in names:
            dataset, series = there[name]
            if _is_elsewhere(dataset):
                raise DataFileError(
                    f"{self.name}: dataset '{shown(name)}' is stored in other files, which are "
                    "not read"
                )
            offset = None if series else self._offset(dataset)
            if offset is None:
                array = np.asarray(
                    dataset[self._frame_in(dataset, name)] if series else dataset[()]
                )
            else:
                target = empty_bytes(dataset.dtype.itemsize * prod(dataset.shape))
                stretches.append(Stretch(offset, target))
                array = target.view(dataset.dtype).reshape(dataset.shape)
            columns[name] = array
        if not read_stretches(self.file.file.fileno(), stretches):
            raise DataFileError(f"{self.name}: is cut short")
        return {
            name: array.astype(array.dtype.newbyteorder("="), copy=False)
            for name, array in columns.items()
        }

    def _offset(self, dataset: Any) -> int | None:
        """Return where the values of a dataset lie in the file, if they do in one piece, or None.

        They are then read without the library, on several threads.
        """
        from h5py import h5d, h5t

        offset, dtype = dataset.id.get_offset(), dataset.dtype
        if offset is None or dtype.kind not in "iuf":
            return None
        # Behind a user block, HDF5 gives a place also to values that were never written.
        if dataset.id.get_space_status() != h5d.SPACE_STATUS_ALLOCATED:
            return None
        if offset + dtype.itemsize * prod(dataset.shape) > self.file.size:
            return None  # the library says what is wrong
        is_plain = dataset.id.get_type().equal(h5t.py_create(dtype))
        return int(offset) if is_plain else None  # others have fewer bits than their bytes

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
        import numpy as np

        result = super().particles(names)
        if (self.frames or 1) > 1 and not self.is_chosen:
            result.notes.append(("", more_frames(self.name, self.frames)))
        files = self._header_numbers("NumFilesPerSnapshot")
        if len(files) and 1 < files[0] < np.inf:
            result.notes.append(("", (
                f"{self.name}: is one of {int(files[0])} files of a snapshot; name the others "
                "as further sets of a scene file"
            )))  # fmt: skip
        return result

    def _header_numbers(self, name: str) -> NDArray[np.float64]:
        """Return the numbers of an attribute of the group Header; none if it is not there."""
        import numpy as np

        header = _found(self._file, "Header")
        value = None if header is None else header.attrs.get(name)
        try:
            return np.ravel(np.zeros(0) if value is None else value).astype(np.float64)
        except (TypeError, ValueError):
            raise DataFileError(f"{self.name}: Header: {name} is no number") from None

    @cached_property
    def _centers(self) -> str | None:
        """The dataset of coordinates, or None where they are x, y and z."""
        if self.variant and not _is_group(_found(self._file, self.variant)):
            name = self.variant.strip("/").rpartition("/")[2]
            known = [each for each, *_ in self._datasets(self._group)]
            return name if name in known else self.variant.strip("/").split("/")[-2]
        return _coordinates(self._datasets(self._group))

    def _named_group(self) -> Any:
        """Return the group that the user named, or that of the dataset."""
        found = _found(self._file, self.variant)
        if found is None:
            if _leaves_file(self._file, self.variant):
                raise DataFileError(
                    f"{self.name}: '{shown(self.variant)}' lies in another file (an external "
                    "link): name that file itself"
                )
            names = [group.name.strip("/") for group in self._candidates()]
            hint = f"; particles are in {naming.listed(names)}" if names else ""
            raise DataFileError(
                f"{self.name}: there is no group or dataset '{shown(self.variant)}'{hint}"
            )
        if _is_group(found):
            return found
        parent = found.parent
        is_value = found.name.rpartition("/")[2] == VALUE and found.ndim == 3
        return parent.parent if is_value else parent

    def _candidates(self) -> Iterator[Any]:
        """Yield the groups that have coordinates."""
        from collections import deque

        pending, seen, looked = deque([(self._file, 0)]), set(), 0
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
                if depth < DEPTH and _is_group(inner):
                    pending.append((inner, depth + 1))

    def _members(self, group: Any) -> dict[str, Any]:
        """Return the groups and datasets in a group by name; each group is looked into once."""
        known = self._known.get(group.name)
        if known is None:
            kinds = _links(group)
            known = {
                name: _opened(group, name) if kind == _HARD else _member(group, name)
                for name, kind in kinds.items()
            }
            self._known[group.name] = known
        return known

    @cached_property
    def _known(self) -> dict[str, dict[str, Any]]:
        """What `_members` found, by the names of groups."""
        return {}

    def _datasets(self, group: Any) -> list[tuple[str, Any, bool]]:
        """Return the datasets of a group: name, dataset, and whether its first axis is time."""
        known = self._listed.get(group.name)
        if known is None:
            known = self._listed[group.name] = self._list_datasets(group)
        return known

    @cached_property
    def _listed(self) -> dict[str, list[tuple[str, Any, bool]]]:
        """What `_datasets` found, by the names of groups."""
        return {}

    def _list_datasets(self, group: Any) -> list[tuple[str, Any, bool]]:
        found = []
        for name, member in self._members(group).items():
            if _is_group(member):
                value = self._members(member).get(VALUE)
                if value is not None and not _is_group(value) and len(value.shape or ()) >= 2:
                    found.append((name, value, True))
            elif member is not None and member.shape:
                shape = member.shape
                found.append((name, member, len(shape) == 3 and shape[2] == 3
                              and naming.usual("centers", [name]) is not None))  # fmt: skip
        return found


VIRTUAL = 3
"""Layout of datasets whose values are those of others, as HDF5 numbers it."""

_HARD, _SOFT = 0, 1
"""Kinds of links in HDF5; those of others lead out of the file."""


class _OtherFile(Exception):  # noqa: N818 - the caller decides whether it is an error
    """A link leads to another file."""


def _member(group: Any, name: str, links: int = MOST_LINKS) -> Any:
    """Return a group or a dataset of a group, or None for what lies in another file or is broken.

    The library follows links into other files by itself, so that each link is looked at here.

    Args:
        group: of h5py.
        name: of a member, not a path.
        links: soft links that may still be followed.
    """
    try:
        return _followed(group, name, links)
    except _OtherFile:
        return None


def _found(group: Any, path: str) -> Any:
    """Return what a path leads to from a group, or None; see `_member`."""
    try:
        return _walked(group, path, MOST_LINKS)
    except _OtherFile:
        return None


def _leaves_file(group: Any, path: str) -> bool:
    """Whether a path leads to another file."""
    try:
        _walked(group, path, MOST_LINKS)
    except _OtherFile:
        return True
    return False


def _walked(group: Any, path: str, links: int) -> Any:
    """Return what a path leads to, one member after another."""
    found = group.file if path.startswith("/") else group
    for name in path.split("/"):
        if name not in ("", "."):
            found = _followed(found, name, links) if _is_group(found) else None
    return found


def _followed(group: Any, name: str, links: int) -> Any:
    """Return a member of a group. Raises _OtherFile."""
    try:
        kind = group.id.links.get_info(name.encode("utf-8", "surrogateescape")).type
    except (KeyError, RuntimeError):  # there is none
        return None
    if kind == _SOFT:
        path = group.get(name, getlink=True).path
        return _walked(group, path, links - 1) if links > 0 else None
    if kind != _HARD:
        raise _OtherFile
    return _opened(group, name)


def _opened(group: Any, name: str) -> Any:
    """Return the group or the dataset that a hard link leads to, or None of others.

    `Group.get` asks for the file and its mode each time, which takes most of its time.
    """
    from h5py import Dataset, Group, h5i, h5o

    try:
        found = h5o.open(group.id, name.encode("utf-8", "surrogateescape"))
    except KeyError:
        return None
    made = {h5i.GROUP: Group, h5i.DATASET: Dataset}.get(h5i.get_type(found))
    return None if made is None else made(found)


def _links(group: Any) -> dict[str, int]:
    """Return the kinds of the links in a group by name, in the order of the library."""
    from h5py import h5, h5p

    found: dict[str, int] = {}

    def note(name: bytes, link: Any) -> bool:
        found[name.decode("utf-8", "surrogateescape")] = link.type
        return len(found) >= MOST_OBJECTS

    order = group.id.get_create_plist().get_link_creation_order() & h5p.CRT_ORDER_TRACKED
    index = h5.INDEX_CRT_ORDER if order else h5.INDEX_NAME
    group.id.links.iterate(note, info=True, idx_type=index)
    return found


def _is_elsewhere(dataset: Any) -> bool:
    """Whether the values of a dataset are in other files."""
    stored = dataset.id.get_create_plist()
    return bool(stored.get_layout() == VIRTUAL or stored.get_external_count() > 0)


def _is_group(value: Any) -> bool:
    """Whether an object of h5py is a group."""
    return hasattr(value, "keys") and not hasattr(value, "shape")


def _coordinates(datasets: Sequence[tuple[str, Any, bool]]) -> str | None:
    """Return the dataset of coordinates, or None."""
    vectors = [
        name
        for name, dataset, series in datasets
        if dataset.shape[-1:] == (3,) and len(dataset.shape) == (3 if series else 2)
    ]
    return naming.usual("centers", vectors)


def _has_axes(datasets: Sequence[tuple[str, Any, bool]]) -> bool:
    """Whether there are coordinates in three datasets."""
    scalars = [name for name, dataset, series in datasets if dataset.ndim == 1 + series]
    return all(naming.usual(axis, scalars) for axis in "xyz")


def _unit(dataset: Any) -> str:
    """Return the unit that an attribute states, or ""."""
    for name in ("unit", "units"):
        if name in dataset.attrs:
            text = dataset.attrs[name]
            text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
            return shown(text, 20)
    return ""
