"""Groups and datasets of HDF5 files, without those in other files."""

from importlib import import_module
from itertools import islice
from typing import Any

import numpy as np

from raytracer.errors import shown

MAX_OBJECTS = 10_000  # most groups and datasets that are examined
VIRTUAL = 3  # HDF5's number of the layout of virtual datasets, whose values are in others


def found_at(group: Any, path: str) -> Any:
    """Return the group or dataset at a path of h5py, or None: others, and those of other files."""
    try:
        target = group[path]
    except (KeyError, TypeError, RuntimeError):  # also a link in a circle, or of an unknown type
        return None
    inside = getattr(target.file, "filename", None) == group.file.filename
    return target if inside and (is_group(target) or hasattr(target, "shape")) else None


def members(group: Any) -> dict[str, Any]:
    """Return the groups and datasets in a group by name, in the order of the library."""
    pairs = ((name, found_at(group, name)) for name in names_in(group))
    return {name: each for name, each in pairs if each is not None}


def names_in(group: Any) -> list[str]:
    return list(islice(group, MAX_OBJECTS))


def values_of(dataset: Any, frame: int | None = None) -> Any:
    """Return the values of a dataset of h5py, or of an item along its first axis, in the byte order
    of the machine. Raises ValueError: they are in other files, or there is no such frame."""
    stored = dataset.id.get_create_plist()
    name = shown(dataset.name.strip("/"))
    if stored.get_layout() == VIRTUAL or stored.get_external_count() > 0:
        raise ValueError(f"'{name}' is stored in other files, which are not read")
    if frame is not None and frame >= len(dataset):
        raise ValueError(f"'{name}' has {len(dataset)} frames, but no frame {frame}")
    place: Any = () if frame is None else frame
    try:
        values = np.asarray(dataset[place])
    except OSError:
        if not (compressed := _unknown_filter(stored)):
            raise
        if not _has_plugins():
            raise ValueError(
                f"'{name}' is compressed by {compressed}, which needs hdf5plugin: pip install "
                "hdf5plugin"
            ) from None
        values = np.asarray(dataset[place])
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _unknown_filter(layout: Any) -> str:
    """Return the name of a filter of a dataset that the library lacks, or ""."""
    from h5py import h5z  # late: it is there where a dataset is

    for row in range(layout.get_nfilters()):
        number, _, _, name = layout.get_filter(row)
        if not h5z.filter_avail(number):
            words = text_of(name).partition(";")[0].removeprefix("HDF5 ").removesuffix(" filter")
            return shown(words) or f"filter {number}"
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


def unit_of(dataset: Any) -> str:
    """Return the unit that an attribute states, or ""."""
    attributes = getattr(dataset, "attrs", {})
    name = next((name for name in ("unit", "units") if name in attributes), None)
    return "" if name is None else shown(text_of(attributes[name]), 20)
