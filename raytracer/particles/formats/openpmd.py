"""Particles of openPMD in HDF5: the records of a species at an iteration, in SI units.

A record is a dataset, a group of datasets (its components x, y and z), or constant: a group with
the attributes `value` and `shape`. Stored values times `unitSI` are in SI units; the position of a
particle is the sum of `position` and `positionOffset`.
"""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model.particle_source import FrameTime, parse_time
from raytracer.particles.array_source import LazyColumn
from raytracer.particles.hdf5_members import (
    find_member,
    is_group,
    list_members,
    names_in,
    read_values,
    text_of,
)

POSITION, OFFSET = "position", "positionOffset"
UNITS = ("m", "kg", "s", "A", "K", "mol", "cd")  # units of the powers in `unitDimension`
AXES = "xyz"
MAX_RECORDS = 1_000  # most records of a species that are columns


def find_steps(root: Any) -> list[dict[str, str]]:
    """Return the paths of the species at each iteration with some, by their names."""
    path = text_of(root.attrs.get("particlesPath", "particles/")).strip("/")
    data = find_member(root, "data")
    numbers = sorted(filter(str.isdecimal, names_in(data) if is_group(data) else ()), key=int)
    paths = (f"data/{number}/{path}" for number in numbers)
    groups = {path: group for path in paths if is_group(group := find_member(root, path))}
    return [{name: f"{path}/{name}" for name in known} for path, group in groups.items()
            if (known := list_members(group))]  # fmt: skip


def find_records(species: Any) -> dict[str, LazyColumn]:
    """Return the records of a group of h5py that is a species, by name."""
    stored = dict(list(list_members(species).items())[:MAX_RECORDS])
    components = {name: _find_components(each) for name, each in stored.items()}
    offset = components.pop(OFFSET, {})
    known: dict[str, LazyColumn] = {}
    for name, parts in components.items():
        if set(parts) != set(AXES) and not (name == POSITION and parts and set(parts) < set(AXES)):
            known |= {f"{name}_{key}" if key else name: each for key, each in parts.items()}
            continue
        every = [*parts.items(), *(offset.items() if name == POSITION else ())]
        shape = (*next(iter(parts.values())).shape, 3)
        axes = [(AXES.index(key), each) for key, each in every if key in AXES]
        read = partial(_stack_components, shape, axes)
        known[name] = LazyColumn(np.dtype(float), shape, read, _find_unit(stored[name]))
    return known


def _stack_components(
    shape: tuple[int, ...], parts: list[tuple[int, LazyColumn]]
) -> NDArray[np.float64]:
    """Return the sum of components, each with the number of its axis, (N, 3)."""
    values = np.zeros(shape)
    for axis, each in parts:
        values[:, axis] += each.read()
    return values


def time_of(iteration: Any) -> FrameTime | None:
    stated = iteration.attrs
    time, unit = parse_time(stated.get("time")), parse_time(stated.get("timeUnitSI", 1.0))
    return None if time is None or unit is None else FrameTime(time.value * unit.value, "s")


def _find_components(record: Any) -> dict[str, LazyColumn]:
    """Return the components of a record by name; "" for a scalar."""
    inner = {"": record}
    if is_group(record) and "value" not in record.attrs:
        inner = list_members(record)
    known = {key: _read_component(each, _find_unit(record)) for key, each in inner.items()}
    return {key: each for key, each in known.items() if each is not None}


def _read_component(stored: Any, unit: str) -> LazyColumn | None:
    """Return a dataset, or the group of a constant one, in SI units, (N,)."""
    factor, attributes = parse_time(stored.attrs.get("unitSI", 1.0)), stored.attrs
    if factor is None or (is_group(stored) and not {"value", "shape"} <= set(attributes)):
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

    def read() -> NDArray[Any]:
        values = np.full(rows, value) if is_group(stored) else read_values(stored)
        return values if factor.value == 1.0 else values * np.float64(factor.value)

    return LazyColumn(dtype if factor.value == 1.0 else np.dtype(float), (rows,), read, unit)


def _find_unit(record: Any) -> str:
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
