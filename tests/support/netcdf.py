"""NetCDF files of the classic formats, written by hand: as AMBER and LAMMPS store trajectories."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

TYPES = {"i1": 1, "S1": 2, "i2": 3, "i4": 4, "f4": 5, "f8": 6, "u1": 7, "u2": 8, "u4": 9, "i8": 10,
         "u8": 11}  # fmt: skip

Variables = dict[str, tuple[tuple[str, ...], NDArray[Any], dict[str, Any]]]


def netcdf(version: int, sizes: dict[str, int], variables: Variables, records: int = 0) -> bytes:
    """Return a file of CDF-1, CDF-2 or CDF-5.

    Args:
        version: 1, 2 or 5.
        sizes: of the dimensions; 0 is the unlimited one.
        variables: dimensions, values and attributes by name.
        records: number of records that the header says.
    """
    wide = ">q" if version == 5 else ">i"
    places = {name: place for place, name in enumerate(sizes)}

    def number(value: int) -> bytes:
        return struct.pack(wide, value)

    def filled(data: bytes) -> bytes:
        return data + bytes(-len(data) % 4)

    def text(word: str) -> bytes:
        return number(len(word)) + filled(word.encode())

    def attributes(given: dict[str, Any]) -> bytes:
        parts = []
        for name, value in given.items():
            data = value.encode() if isinstance(value, str) else np.array(value, ">f4").tobytes()
            kind, count = (2, len(data)) if isinstance(value, str) else (5, len(data) // 4)
            parts.append(text(name) + struct.pack(">i", kind) + number(count) + filled(data))
        return struct.pack(">i", 12 if parts else 0) + number(len(parts)) + b"".join(parts)

    def of_record(dimensions: tuple[str, ...]) -> bool:
        return bool(dimensions) and sizes[dimensions[0]] == 0

    def big(values: NDArray[Any]) -> bytes:
        array = np.asarray(values)
        return np.array(array, array.dtype.newbyteorder(">")).tobytes()

    def header(starts: dict[str, int]) -> bytes:
        listed = [text(name) + number(size) for name, size in sizes.items()]
        described = []
        for name, (dimensions, values, given) in variables.items():
            rows = values[:1] if of_record(dimensions) else values
            begin = struct.pack(">i" if version == 1 else ">q", starts.get(name, 0))
            described.append(
                text(name) + number(len(dimensions))
                + b"".join(number(places[each]) for each in dimensions) + attributes(given)
                + struct.pack(">i", TYPES[values.dtype.str[1:]]) + number(rows.nbytes) + begin
            )  # fmt: skip
        return b"".join([
            b"CDF", bytes([version]), number(records), struct.pack(">i", 10), number(len(listed)),
            *listed, attributes({"Conventions": "AMBER"}),
            struct.pack(">i", 11), number(len(described)), *described,
        ])  # fmt: skip

    starts, body = {}, b""
    place = len(header({}))
    fixed = {name: each for name, each in variables.items() if not of_record(each[0])}
    moving = {name: each for name, each in variables.items() if of_record(each[0])}
    for name, (_, values, _) in fixed.items():
        starts[name] = place + len(body)
        body += filled(big(values))
    offset = place + len(body)
    for name, (_, values, _) in moving.items():
        starts[name] = offset
        offset += len(filled(big(values[0])))
    alone = len(moving) == 1
    for record in range(records):
        for _, values, _ in moving.values():
            body += big(values[record]) if alone else filled(big(values[record]))
    return header(starts) + body


def trajectory(points: NDArray[Any], version: int = 2) -> bytes:
    """Return two frames of atoms, the second one moved by 1, with types, velocities and a cell.

    points: (N, 3).
    """
    count = len(points)
    cell: tuple[tuple[str, ...], NDArray[Any], dict[str, Any]] = (
        FRAME_CELL,
        np.tile([10.0, 11.0, 12.0], (2, 1)),
        {},
    )
    variables: Variables = {
        "spatial": (("spatial",), np.array([b"x", b"y", b"z"], "S1"), {}),
        "time": (("frame",), np.array([1.0, 2.5], "f4"), {"units": "picosecond"}),
        "coordinates": (FRAME_ATOM, np.stack([points, points + 1.0]), {"units": "angstrom"}),
        "type": (FRAME_ATOM[:2], np.tile(np.arange(count) % 3, (2, 1)).astype("i2"), {}),
        "velocities": (FRAME_ATOM, np.stack([points, points]).astype("f4"), {"scale_factor": 20.0}),
        "cell_lengths": cell,
        "cell_angles": (FRAME_CELL, np.full((2, 3), 90.0), {"units": "degree"}),
    }
    sizes = {"frame": 0, "atom": count, "spatial": 3, "cell": 3}
    return netcdf(version, sizes, variables, 2)


FRAME_ATOM = ("frame", "atom", "spatial")
FRAME_CELL = ("frame", "cell")
