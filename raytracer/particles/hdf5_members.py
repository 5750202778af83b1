"""Groups and datasets of HDF5 files, without those in other files, which are not even opened."""

from contextlib import suppress
from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from raytracer.config.errors import quote

MAX_OBJECTS = 10_000  # most groups and datasets that are examined
MAX_LINKS = 16  # most soft links of a path that are followed
HARD, SOFT = 0, 1  # HDF5's numbers of links to objects and to paths of the same file
VIRTUAL = 3  # HDF5's number of the layout of virtual datasets, whose values are in others
HYPERSLABS = 2  # HDF5's number of selections by start, stride, count and block
UNLIMITED = (1 << 64) - 1  # HDF5's size of a dimension that grows


def find_member(group: Any, path: str) -> Any:
    """Return the group or dataset at a path of h5py, or None: others, and those of other files."""
    with suppress(KeyError, TypeError, RuntimeError, ValueError, OSError, AttributeError):
        names = path.split("/")
        target = group.file["/"] if path.startswith("/") else group
        names, links = names[::-1], 0
        while names:
            if (name := names.pop()) in ("", "."):
                continue
            key = name.encode("utf-8", "surrogateescape")
            kind = target.id.links.get_info(key).type
            if kind == SOFT and links < MAX_LINKS:
                links += 1
                further = target.id.links.get_val(key).decode("utf-8", "surrogateescape")
                target = group.file["/"] if further.startswith("/") else target
                names += further.split("/")[::-1]
            elif kind == HARD:
                target = target[name]
            else:  # of another file, or of a kind that a plugin defines
                return None
        has_values = hasattr(type(target), "shape") and not _grows_elsewhere(target)
        return target if is_group(target) or has_values else None
    return None


def find_external_members(group: Any) -> list[str]:
    """Return the paths of the members of a group that are links to other files, or grow there."""
    names = []
    for name in names_in(group):
        kind = group.id.links.get_info(name.encode("utf-8", "surrogateescape")).type
        if kind == HARD and hasattr(type(there := group[name]), "shape"):
            kind = HARD if not _grows_elsewhere(there) else None
        if kind not in (HARD, SOFT):
            names.append(f"{group.name}/{name}".strip("/"))
    return names


def _grows_elsewhere(dataset: Any) -> bool:
    """Whether HDF5 would open other files to know the shape of a virtual dataset."""
    stored = dataset.id.get_create_plist()
    if stored.get_layout() != VIRTUAL:
        return False
    spaces = (stored.get_virtual_vspace(each) for each in range(stored.get_virtual_count()))
    return any(UNLIMITED in numbers for each in spaces
               if each.get_select_type() == HYPERSLABS and each.is_regular_hyperslab()
               for numbers in each.get_regular_hyperslab())  # fmt: skip


def list_members(group: Any) -> dict[str, Any]:
    """Return the groups and datasets in a group by name, in the order of the library."""
    pairs = ((name, find_member(group, name)) for name in names_in(group))
    return {name: each for name, each in pairs if each is not None}


def names_in(group: Any) -> list[str]:
    return list(islice(group, MAX_OBJECTS))


def read_values(dataset: Any, frame: int | None = None) -> Any:
    """Return the values of a dataset of h5py, or of an item along its first axis, in the byte order
    of the machine. Raises ValueError: they are in other files, or there is no such frame."""
    stored = dataset.id.get_create_plist()
    name = quote(dataset.name.strip("/"))
    if stored.get_layout() == VIRTUAL or stored.get_external_count() > 0:
        raise ValueError(f"'{name}' is stored in other files, which are not read")
    if frame is not None and frame >= len(dataset):
        raise ValueError(f"'{name}' has {len(dataset)} frames, but no frame {frame}")
    place: Any = () if frame is None else frame
    try:
        values = np.asarray(dataset[place])
    except OSError:
        if not (compressed := _find_unknown_filter(stored)):
            raise
        if not _has_plugins():
            raise ValueError(
                f"'{name}' is compressed by {compressed}, which needs hdf5plugin: pip install "
                "hdf5plugin"
            ) from None
        values = np.asarray(dataset[place])
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _find_unknown_filter(layout: Any) -> str:
    """Return the name of a filter of a dataset that the library lacks, or ""."""
    from h5py import h5z  # late: it is there where a dataset is

    for row in range(layout.get_nfilters()):
        number, _, _, name = layout.get_filter(row)
        if not h5z.filter_avail(number):
            words = text_of(name).partition(";")[0].removeprefix("HDF5 ").removesuffix(" filter")
            return quote(words) or f"filter {number}"
    return ""


def _has_plugins() -> bool:
    """Load further filters (blosc, zstd, lz4, ...), if their package is installed."""
    try:
        import_module("hdf5plugin")
    except ImportError:
        return False
    return True


def is_group(value: Any) -> bool:
    return hasattr(type(value), "keys") and not hasattr(type(value), "shape")


def text_of(value: Any) -> str:
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def read_unit(dataset: Any) -> str:
    """Return the unit that an attribute states, or ""."""
    attributes = getattr(dataset, "attrs", {})
    name = next((name for name in ("unit", "units") if name in attributes), None)
    return "" if name is None else quote(text_of(attributes[name]), 20)
