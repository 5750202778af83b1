"""Groups and datasets of HDF5 files, without those that links fetch from other files."""

from __future__ import annotations

from typing import Any

from raytracer.errors import shown

MOST_OBJECTS = 10_000
"""Most groups and datasets that are looked at."""

MOST_LINKS = 16
"""Most soft links that lead to one object."""

VIRTUAL = 3
"""Layout of datasets whose values are those of others, as HDF5 numbers it."""

HARD, _SOFT = 0, 1
"""Kinds of links in HDF5; those of others lead out of the file."""


class _OtherFile(Exception):  # noqa: N818 - the caller decides whether it is an error
    """A link leads to another file."""


def member(group: Any, name: str, links: int = MOST_LINKS) -> Any:
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


def found_at(group: Any, path: str) -> Any:
    """Return what a path leads to from a group, or None; see `member`."""
    try:
        return _walked(group, path, MOST_LINKS)
    except _OtherFile:
        return None


def leaves_file(group: Any, path: str) -> bool:
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
            found = _followed(found, name, links) if is_group(found) else None
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
    if kind != HARD:
        raise _OtherFile
    return opened_member(group, name)


def opened_member(group: Any, name: str) -> Any:
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


def links_of(group: Any) -> dict[str, int]:
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


def is_elsewhere(dataset: Any) -> bool:
    """Whether the values of a dataset are in other files."""
    stored = dataset.id.get_create_plist()
    return bool(stored.get_layout() == VIRTUAL or stored.get_external_count() > 0)


def is_group(value: Any) -> bool:
    """Whether an object of h5py is a group."""
    return hasattr(type(value), "keys") and not hasattr(type(value), "shape")


def unit_of(dataset: Any) -> str:
    """Return the unit that an attribute states, or ""."""
    for name in ("unit", "units"):
        if name in dataset.attrs:
            text = dataset.attrs[name]
            text = text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text)
            return shown(text, 20)
    return ""
