"""Particles of openPMD in HDF5: the records of a species at an iteration, in SI units.

A record is a dataset, a group of datasets (its components x, y and z), or constant: a group with
the attributes `value` and `shape`. Stored values times `unitSI` are in SI units; the position of a
particle is the sum of `position` and `positionOffset`.
"""

from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown, suggestion
from raytracer.files.access import OpenFile
from raytracer.scene.particles import naming
from raytracer.scene.particles.hdf5_members import (
    Member,
    MemberSource,
    found_at,
    is_group,
    members,
    names_in,
    text_of,
    values_of,
)
from raytracer.scene.particles.source import Moment, ParticleSource, moment_of
from raytracer.scene.particles.together import Together

POSITION, OFFSET = "position", "positionOffset"
UNITS = ("m", "kg", "s", "A", "K", "mol", "cd")  # units of the powers in `unitDimension`
AXES = "xyz"
MAX_RECORDS = 1_000  # most records of a species that are columns


class Component(NamedTuple):
    """A component of a record."""

    stored: Any  # the dataset, or the group of a constant one
    dtype: np.dtype[Any]  # type of the stored values
    rows: int  # number of particles
    unit: float  # factor to SI units

    def values(self, source: str) -> NDArray[Any]:
        """Return the values in SI units, (N,); unchanged if the factor is 1."""
        if is_group(self.stored):
            values = np.broadcast_to(np.asarray(self.stored.attrs["value"]).reshape(()), self.rows)
        else:
            values = values_of(self.stored, source)
        return values if self.unit == 1.0 else values * np.float64(self.unit)


def is_openpmd(root: Any, inner: str) -> bool:
    """Whether a path in an HDF5 file leads to particles of openPMD.

    Args:
        root: of h5py.
        inner: name of a species, its path, or "".
    """
    if "openPMD" not in root.attrs or not is_group(found_at(root, "data")):
        return False
    parts = inner.strip("/").split("/")
    return len(parts) == 1 or (len(parts) == 4 and parts[0] == "data" and parts[3] != "")


def opened_source(file: OpenFile, variant: str, root: Any) -> ParticleSource:
    """Return the source of a species, or of all of an iteration if the variant names none."""
    first = Source(file, "", root)

    def species(frame: int) -> dict[str, Source]:
        first.go_to(frame)
        sources = {name: Source(file, name, root) for name in first.species}
        for each in sources.values():
            each.go_to(frame)
        return sources

    for frame in range(0 if variant else first.frames):
        first.go_to(frame)
        if len(first.species) > 1:
            return Together(file, species)
    return Source(file, variant, root)


class Source(MemberSource):
    """A file of openPMD; the variant is the name of a species or its path."""

    noun = "record"

    def __init__(self, file: OpenFile, variant: str, root: Any) -> None:
        super().__init__(file, variant)
        self._root = root
        parts = variant.strip("/").split("/")
        known = [name for name in names_in(found_at(root, "data")) if name.isdecimal()]
        self._name, stated = parts[-1], parts[1:2]  # as in data/100/particles/ions
        self._iterations = sorted(set(stated or known) & set(known), key=int)
        if not self._iterations:
            which = shown(stated[0]) if stated else "of openPMD"
            raise self.error(
                f"there is no iteration {which}; it holds {naming.listed(known) or 'none'}"
            )

    @property
    def frames(self) -> int:
        return len(self._iterations)

    @property
    def _iteration(self) -> Any:
        return found_at(self._root, f"data/{self._iterations[self.frame]}")

    @property
    def species(self) -> Mapping[str, Any]:
        """The species at the iteration, by name."""
        path = text_of(self._root.attrs.get("particlesPath", "particles/")).strip("/")
        particles = found_at(self._iteration, path) if is_group(self._iteration) else None
        return members(particles) if is_group(particles) else {}

    @cached_property
    def members(self) -> dict[str, Member]:
        species, where = self.species, f"iteration {self._iterations[self.frame]}"
        if not species:
            raise self.error(f"has no particles at {where}")
        name = self._name or next(iter(species))
        if not is_group(species.get(name)):
            raise self.error(f"there is no species '{shown(name)}'; {suggestion(name, species)}")
        stored = dict(list(members(species[name]).items())[:MAX_RECORDS])
        records = {name: _components(each) for name, each in stored.items()}
        if not records.get(POSITION) or not set(records[POSITION]) <= set(AXES):
            raise self.error(
                f"the species {shown(name)} has no record 'position' with the components x, y, z"
            )
        offset = records.pop(OFFSET, {})
        known: dict[str, Member] = {}
        for name, parts in records.items():
            unit = _unit(stored[name])
            if name == POSITION or set(parts) == set(AXES):
                rows = next(iter(parts.values())).rows
                read = partial(self._vectors, parts, offset if name == POSITION else {})
                known[name] = Member(np.dtype(float), (rows, 3), read, unit)
                continue
            for key, each in parts.items():
                dtype = each.dtype if each.unit == 1.0 else np.dtype(float)
                known[f"{name}_{key}" if key else name] = Member(
                    dtype, (each.rows,), partial(self._scalars, each), unit
                )
        return known

    def _scalars(self, component: Component, _: int) -> NDArray[Any]:
        return component.values(self.name)

    def _vectors(
        self, parts: Mapping[str, Component], offset: Mapping[str, Component], _: int
    ) -> NDArray[np.float64]:
        """Return the components of a record, and those of an offset added, (N, 3)."""
        values = np.zeros((next(iter(parts.values())).rows, 3))
        for axis, key in enumerate(AXES):
            for each in (parts.get(key), offset.get(key)):
                if each is not None:
                    values[:, axis] += each.values(self.name)
        return values

    @cached_property
    def rows(self) -> int | None:  # type: ignore[override]
        return self.members[POSITION].shape[0]

    @property
    def time(self) -> Moment | None:
        stated = self._iteration.attrs
        time, unit = moment_of(stated.get("time")), moment_of(stated.get("timeUnitSI", 1.0))
        return None if time is None or unit is None else Moment(time.value * unit.value, "s")


def _components(record: Any) -> dict[str, Component]:
    """Return the components of a record by name; "" for a scalar."""
    inner = {"": record}
    if is_group(record) and "value" not in record.attrs:
        inner = members(record)
    known = {key: _component(each) for key, each in inner.items()}
    return {key: each for key, each in known.items() if each is not None}


def _component(stored: Any) -> Component | None:
    unit, attributes = moment_of(stored.attrs.get("unitSI", 1.0)), stored.attrs
    if unit is None or (is_group(stored) and not {"value", "shape"} <= set(attributes)):
        return None
    if is_group(stored):
        value, shape = np.asarray(attributes["value"]), np.ravel(attributes["shape"])
        is_numeric = value.size == 1 and shape.dtype.kind in "iu"
        dtype, rows = value.dtype, int(shape.prod()) if is_numeric else 0
    else:
        is_numeric = len(stored.shape or ()) == 1
        dtype, rows = stored.dtype, stored.shape[0] if is_numeric else 0
    is_numeric &= dtype.kind in "iufb"
    return Component(stored, dtype, rows, unit.value) if is_numeric else None


def _unit(record: Any) -> str:
    """Return the SI unit of a record from its powers of the base units, or ""."""
    powers = np.ravel(record.attrs.get("unitDimension", np.zeros(0)))
    if powers.dtype.kind not in "iuf" or len(powers) != len(UNITS):
        return ""
    by_unit = dict(zip(UNITS, powers.tolist(), strict=True))
    by_unit = {"kg": by_unit.pop("kg"), **by_unit}  # the usual order: kg m s^-1
    words = [
        unit if power == 1 else f"{unit}^{power:g}" for unit, power in by_unit.items() if power
    ]
    return " ".join(words)
