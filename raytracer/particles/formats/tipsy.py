"""Snapshots of Tipsy, of PKDGRAV, Gasoline and ChaNGa, in either byte order."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.particles.array_source import ArraySource

HEAD_BYTES = 32  # time, numbers of particles, dimensions, of gas, dark matter and stars, padding
_COMMON = "mass x y z vx vy vz"
ROWS = {
    "gas": f"{_COMMON} density temperature softening metals potential",
    "dark": f"{_COMMON} softening potential",
    "star": f"{_COMMON} metals formation_time softening potential",
}
"""Numbers (float32) of a particle of each type, in the order of the file."""


def _bytes(counts: list[int]) -> int:
    sizes = zip(counts, ROWS.values(), strict=True)
    return sum(count * 4 * len(row.split()) for count, row in sizes)


def find_byte_order(head: bytes, size: int) -> str:
    """Return the byte order of a file of a size, "" if it is of another format."""
    if len(head) < HEAD_BYTES:
        return ""
    for order in "><":
        total, dimensions, *counts = np.frombuffer(head[8:28], f"{order}i4").tolist()
        left = size - _bytes(counts)
        # Without padding, the mass of a particle follows: with it, the last number is cut off.
        fits = left == HEAD_BYTES or (left == HEAD_BYTES - 4 and any(head[28:32]))
        if dimensions == 3 and min(counts) >= 0 and sum(counts) == total > 0 and fits:
            return order
    return ""


class Source(ArraySource):
    memory = 3

    def read(self) -> dict[str, NDArray[Any]]:
        data = self.content()
        order = find_byte_order(data, len(data))
        if not order:
            raise self.error("is damaged, or not a snapshot of Tipsy")
        counts = np.frombuffer(data[16:28], f"{order}i4").tolist()
        names = dict.fromkeys(" ".join(ROWS.values()).split())
        rows = sum(counts)
        columns: dict[str, NDArray[Any]] = {
            name: np.full(rows, np.nan, np.float32) for name in names
        }
        place, first = len(data) - _bytes(counts), 0
        for count, row in zip(counts, ROWS.values(), strict=True):
            fields = row.split()
            size = count * 4 * len(fields)
            numbers = np.frombuffer(data[place : place + size], f"{order}f4")
            block = numbers.reshape(count, len(fields))
            for name, values in zip(fields, block.T, strict=True):
                columns[name][first : first + count] = values
            place, first = place + size, first + count
        return columns | {"type": np.repeat(np.array(list(ROWS), "S4"), counts)}
