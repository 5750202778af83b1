"""Particles of openPMD in HDF5: the records of a species at an iteration, in SI units.

A record is a dataset, a group of datasets (its components x, y and z), or constant: a group with
the attributes `value` and `shape`. Stored values times `unitSI` are in SI units; the position of a
particle is the sum of `position` and `positionOffset`.
"""

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown, suggestion
from raytracer.files.access import OpenFile
from raytracer.scene.particles import naming
from raytracer.scene.particles.array_source import ArraySource
from raytracer.scene.particles.hdf5_members import (
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
    dtype: np.dtype[Any]  # type of the values
    shape: tuple[int, ...]  # (N,)
    factor: float  # to SI units

    def values(self, source: str) -> NDArray[Any]:
        """Return the values in SI units, (N,); unchanged if the factor is 1."""
        if is_group(self.stored):
            stored = np.broadcast_to(np.ravel(self.stored.attrs["value"]), self.shape)
        else:
            stored = values_of(self.stored, source)
        return stored if self.factor == 1.0 else stored * np.float64(self.factor)


class Vectors(NamedTuple):
    """A record with the components x, y and z, and those of an offset that is added."""

    parts: list[tuple[int, Component]]  # with the number of the axis
    shape: tuple[int, ...]  # (N, 3)
    dtype: np.dtype[Any] = np.dtype(float)

    def values(self, source: str) -> NDArray[np.float64]:
        values = np.zeros(self.shape)
        for axis, each in self.parts:
            values[:, axis] += each.values(source)
        return values


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

    for frame in range(0 if variant else first.frames or 0):
        first.go_to(frame)
        if len(first.species) > 1:
            return Together(file, species)
    return Source(file, variant, root)


class Source(ArraySource):
    """A file of openPMD; the variant is the name of a species or its path."""

    noun = "record"
    of_frame = (*ArraySource.of_frame, "stored")

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
    def frames(self) -> int | None:
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
    def _records(self) -> dict[str, Any]:
        """The records of the species, as they are stored."""
        species, where = self.species, f"iteration {self._iterations[self.frame]}"
        if not species:
            raise self.error(f"has no particles at {where}")
        name = self._name or next(iter(species))
        if not is_group(species.get(name)):
            raise self.error(f"there is no species '{shown(name)}'; {suggestion(name, species)}")
        return dict(list(members(species[name]).items())[:MAX_RECORDS])

    @cached_property
    def stored(self) -> dict[str, Component | Vectors]:
        records = {name: _components(each) for name, each in self._records.items()}
        if not records.get(POSITION) or not set(records[POSITION]) <= set(AXES):
            raise self.error("has no record 'position' with the components x, y, z")
        offset = records.pop(OFFSET, {})
        known: dict[str, Component | Vectors] = {}
        for name, parts in records.items():
            if name != POSITION and set(parts) != set(AXES):
                known |= {f"{name}_{key}" if key else name: each for key, each in parts.items()}
                continue
            every = [*parts.items(), *(offset.items() if name == POSITION else ())]
            (rows,) = next(iter(parts.values())).shape
            axes = [(AXES.index(key), each) for key, each in every if key in AXES]
            known[name] = Vectors(axes, (rows, 3))
        return known

    def unit(self, name: str) -> str:
        return _unit(self._records.get(name) or self._records[name.rpartition("_")[0]])

    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        return self.stored[name].values(self.name)

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
    if not is_numeric or dtype.kind not in "iufb":
        return None
    return Component(stored, dtype if unit.value == 1.0 else np.dtype(float), (rows,), unit.value)


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
