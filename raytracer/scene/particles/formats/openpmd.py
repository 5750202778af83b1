"""Particles of openPMD in HDF5: the records of a species at an iteration, in SI units.

A record is a dataset, a group of datasets (its components x, y and z), or constant: a group with
the attributes `value` and `shape`. Stored values times `unitSI` are in SI units; the position of a
particle is the sum of `position` and `positionOffset`.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown, suggestion
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles import naming
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.hdf5_members import (
    found_at,
    is_group,
    members,
    names_in,
    text_of,
    values_of,
)
from raytracer.scene.particles.source import Column, Moment, ParticleSource, kind_of, moment_of
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
            values = np.full(self.rows, self.stored.attrs["value"], self.dtype)
        else:
            values = values_of(self.stored, source)
        return values if self.unit == 1.0 else values * np.float64(self.unit)


def is_openpmd(file: Any, inner: str) -> bool:
    """Whether a path in an HDF5 file leads to particles of openPMD.

    Args:
        file: of h5py.
        inner: name of a species, its path, or "".
    """
    if "openPMD" not in file.attrs or not is_group(found_at(file, "data")):
        return False
    parts = inner.strip("/").split("/")
    return len(parts) == 1 or (len(parts) == 4 and parts[0] == "data" and parts[3] != "")


def opened_source(file: OpenFile, variant: str, opened: Any) -> ParticleSource:
    """Return the source of a species, or of all of an iteration if the variant names none."""
    first = Source(file, "", opened)

    def species(frame: int) -> dict[str, Source]:
        sources = {name: Source(file, name, opened) for name in first.species_at(frame)}
        for each in sources.values():
            each.go_to(frame)
        return sources

    for frame in range(0 if variant else first.frames or 0):
        if len(first.species_at(frame, may_be_none=True)) > 1:
            return Together(file, species)
    return Source(file, variant, opened)


class Source(ColumnSource):
    """A file of openPMD; the variant is the name of a species or its path."""

    noun = "record"

    def __init__(self, file: OpenFile, variant: str, opened: Any) -> None:
        super().__init__(file, variant)
        self._file = opened
        parts = variant.strip("/").split("/")
        self._species_name = parts[-1]
        self._stated = parts[1] if len(parts) == 4 else None

    @cached_property
    def _iterations(self) -> list[str]:
        names = names_in(found_at(self._file, "data"))
        numbers = sorted((name for name in names if name.isdecimal()), key=int)
        if self._stated is not None:
            if self._stated not in numbers:
                raise self.error(
                    f"there is no iteration {shown(self._stated)}; it holds "
                    f"{naming.listed(numbers)}"
                )
            return [self._stated]
        if not numbers:
            raise self.error("has no iterations of openPMD")
        return numbers

    def _iteration(self, frame: int) -> Any:
        return found_at(self._file, f"data/{self._iterations[frame]}")

    def _particles_at(self, frame: int) -> Any:
        """Return the group of the species at an iteration, or None."""
        path = text_of(self._file.attrs.get("particlesPath", "particles/")).strip("/")
        iteration = self._iteration(frame)
        particles = found_at(iteration, path) if is_group(iteration) else None
        return particles if is_group(particles) else None

    def species_at(self, frame: int, may_be_none: bool = False) -> list[str]:
        """Return the names of the species at an iteration. Raises DataFileError without any."""
        particles = self._particles_at(frame)
        names = [] if particles is None else names_in(particles)
        if not names and not may_be_none:
            where = f"iteration {self._iterations[frame]}"
            raise self.error(f"has no particles at {where}")
        return names

    @cached_property
    def _species(self) -> Any:
        wanted, names = self._species_name, self.species_at(self.frame)
        if wanted and wanted not in names:
            raise self.error(f"there is no species '{shown(wanted)}'; {suggestion(wanted, names)}")
        species = found_at(self._particles_at(self.frame), wanted or names[0])
        if not is_group(species):
            raise self.error(f"{shown(wanted or names[0])} is not a species")
        return species

    @cached_property
    def _records(self) -> dict[str, dict[str, Component]]:
        """Components of each record, by the names of both; a scalar's is ""."""
        records = {}
        for name in names_in(self._species)[:MAX_RECORDS]:
            record = found_at(self._species, name)
            inner = {"": record}
            if is_group(record) and "value" not in record.attrs:
                inner = members(record)
            parts = {key: _component(each) for key, each in inner.items()}
            if known := {key: each for key, each in parts.items() if each is not None}:
                records[name] = known
        return records

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        columns: dict[str, Column] = {}
        for name, parts in self._records.items():
            unit = _unit(found_at(self._species, name))
            if name == OFFSET or any(each.rows != self.count for each in parts.values()):
                continue
            if name == POSITION or set(parts) == set(AXES):
                columns[name] = Column("number", (3,), unit)
                continue
            for key, each in parts.items():
                kind = "number" if each.unit != 1.0 else kind_of(each.dtype)
                columns[f"{name}_{key}" if key else name] = Column(kind, (), unit)
        return columns

    @cached_property
    def count(self) -> int | None:
        parts = self._records.get(POSITION, {})
        if not parts or not set(parts) <= set(AXES):
            raise self.error(
                f"the species {shown(self._species.name)} has no record 'position' with the "
                "components x, y, z"
            )
        counts = {each.rows for each in parts.values()}
        if len(counts) > 1:
            raise self.error("the components of 'position' differ in length")
        return counts.pop()

    @property
    def frames(self) -> int | None:
        return len(self._iterations)

    @property
    def time(self) -> Moment | None:
        stated = self._iteration(self.frame).attrs
        time, unit = moment_of(stated.get("time")), moment_of(stated.get("timeUnitSI", 1.0))
        return None if time is None or unit is None else Moment(time.value * unit.value, "s")

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        cells = sum(prod(self.columns[name].shape) for name in names)
        require_room(self.name, 16 * int(self.count or 0) * max(cells, 1))
        return {name: self._values(name) for name in names}

    def _values(self, name: str) -> NDArray[Any]:
        parts = self._records.get(name)
        if parts is None:
            record, _, key = name.rpartition("_")
            return self._records[record][key].values(self.name)
        if "" in parts:
            return parts[""].values(self.name)
        values = np.zeros((int(self.count or 0), 3))
        for axis, key in enumerate(AXES):
            if key in parts:
                values[:, axis] = parts[key].values(self.name)
            offset = self._records.get(OFFSET, {}).get(key) if name == POSITION else None
            if offset is not None:
                if offset.rows != self.count:
                    raise self.error(
                        f"{OFFSET}/{key} has {offset.rows:,} values for {self.count:,} particles"
                    )
                values[:, axis] += offset.values(self.name)
        return values


def _component(stored: Any) -> Component | None:
    if stored is None:
        return None
    unit = moment_of(stored.attrs.get("unitSI", 1.0))
    if unit is None:
        return None
    if not is_group(stored):
        is_numeric = len(stored.shape or ()) == 1 and stored.dtype.kind in "iufb"
        return Component(stored, stored.dtype, stored.shape[0], unit.value) if is_numeric else None
    if "value" not in stored.attrs or "shape" not in stored.attrs:
        return None
    value, shape = np.asarray(stored.attrs["value"]), np.ravel(stored.attrs["shape"])
    if value.size != 1 or value.dtype.kind not in "iufb" or shape.dtype.kind not in "iu":
        return None
    return Component(stored, value.dtype, int(shape.prod()), unit.value)


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
