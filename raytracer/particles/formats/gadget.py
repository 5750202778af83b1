"""Snapshots of Gadget-2 in binary, formats 1 and 2, in either byte order, float32 or float64.

A snapshot consists of records of Fortran: a header of 256 bytes, then positions, velocities,
identifiers and masses of all particles by type, then quantities of the gas. In format 2 a record
with its name precedes each.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.files.access import OpenFile
from raytracer.model.particle_source import Box, Column, FrameTime, Notes, parse_time
from raytracer.particles.cell import box_from_cell
from raytracer.particles.together import SnapshotSource
from raytracer.system.memory import require_room

HEADER = [("counts", "i4", 6), ("masses", "f8", 6), ("time", "f8"), ("redshift", "f8"),
          ("flags", "i4", 2), ("total", "i4", 6), ("cooling", "i4"), ("files", "i4"),
          ("size", "f8")]  # fmt: skip
HEAD_BYTES = 256
SPECIES = np.array(("gas", "halo", "disk", "bulge", "stars", "boundary"), "S8")
BLOCKS = {"POS": ("position", 3), "VEL": ("velocity", 3), "ID": ("id", 1), "MASS": ("mass", 1),
          "U": ("internal_energy", 1), "RHO": ("density", 1), "HSML": ("smoothing_length", 1),
          "POT": ("potential", 1), "ACCE": ("acceleration", 3)}  # fmt: skip
"""Column and numbers of a particle, by the name of a block; format 1, which does not name them, has
them in this order."""

OF_GAS = ("U", "RHO", "HSML")  # blocks that files without gas do not have


class Block(NamedTuple):
    start: int  # offset of its first byte
    dtype: np.dtype[Any]
    shape: tuple[int, ...]


class Source(SnapshotSource):
    """A snapshot: the particles of all its files, NAME.0, NAME.1, ...; the rest is of this one."""

    noun = "block"
    optional = frozenset(BLOCKS[name][0] for name in OF_GAS)  # which files without gas lack
    rows: int

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        first = int.from_bytes(self._bytes(0, 4), "little")
        self._order = "<" if first in (8, HEAD_BYTES) else ">"
        start = 20 if self._number(0) == 8 else 4
        if self._number(start - 4) != HEAD_BYTES:
            raise self.error("is damaged, or not a snapshot of Gadget")
        dtype = np.dtype([(name, f"{self._order}{kind}", *shape) for name, kind, *shape in HEADER])
        self._head = np.frombuffer(self._bytes(start, dtype.itemsize), dtype)[0]
        self._counts = np.asarray(self._head["counts"], np.int64)
        self.rows, self.stated = int(self._counts.sum()), int(self._head["files"])
        if (self._counts < 0).any() or 12 * self.rows > file.size:
            raise self.error(f"is incomplete or damaged: its header states {self.rows:,} particles")
        # whether the particles of a type have masses of their own
        self._with_mass = (self._head["masses"] == 0.0) & (self._counts > 0)
        self._blocks = self._find_blocks(start + HEAD_BYTES + 4, is_named=start == 20)

    def _bytes(self, start: int, size: int) -> bytes:
        self.file.file.seek(start)
        data = self.file.file.read(size)
        if len(data) < size:
            raise self.error("is incomplete")
        return data

    def _number(self, start: int) -> int:
        return int(np.frombuffer(self._bytes(start, 4), f"{self._order}u4")[0])

    def _find_blocks(self, place: int, is_named: bool) -> dict[str, Block]:
        """Return the blocks by column; `place` is the offset of the first."""
        blocks: dict[str, Block] = {}
        absent = {"MASS": not self._with_mass.any()} | dict.fromkeys(OF_GAS, not self._counts[0])
        order = iter([name for name in BLOCKS if not absent.get(name)])
        float_bytes = 4
        while place + 8 <= self.file.size:
            if is_named:
                name = self._bytes(place + 4, 4).decode("latin-1").strip()
                place += 16
            else:
                name = next(order, "")
            size = self._number(place)
            if place + size + 8 > self.file.size:
                raise self.error("is incomplete: it ends within a block")
            column, width = BLOCKS.get(name, (name.lower(), 1))
            if name == "POS" and self.rows:
                float_bytes = size // (3 * self.rows)
            if name and (block := self._block(name, place + 4, size, width, float_bytes)):
                blocks[column] = block
            place += size + 8
        return blocks

    def _block(
        self, name: str, start: int, size: int, width: int, float_bytes: int
    ) -> Block | None:
        """Return a block, if it has a number, or a vector, of as many particles as may have one."""
        count = int(self._counts[self._with_mass].sum()) if name == "MASS" else self.rows
        # The number of bytes of a float is that of the positions, if it fits: float64 of the gas
        # may take as many bytes as float32 of all.
        kind, likely = ("u", 4) if name == "ID" else ("f", float_bytes)
        for each in sorted((4, 8), key=lambda each: each != likely):
            for rows in (count, int(self._counts[0])):
                if rows and size == rows * width * each:
                    shape = (rows, width) if width > 1 else (rows,)
                    return Block(start, np.dtype(f"{self._order}{kind}{each}"), shape)
        return None

    def part(self, file: OpenFile) -> SnapshotSource | None:
        part = Source(file)
        return part if part.rows else None

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        kinds = {name: Column("integer" if block.dtype.kind == "u" else "number", block.shape[1:])
                 for name, block in self._blocks.items()}  # fmt: skip
        return kinds | {"mass": Column("number"), "species": Column("text")}

    def load_own(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        require_room(self.name, 24 * self.rows * max(len(names), 1))
        return {name: self._column(name) for name in names}

    def _column(self, name: str) -> NDArray[Any]:
        if name == "species":
            return np.repeat(SPECIES, self._counts)
        values: NDArray[Any] = np.zeros((0,))
        if (block := self._blocks.get(name)) is not None:
            size = block.dtype.itemsize * int(np.prod(block.shape))
            raw = np.frombuffer(self._bytes(block.start, size), block.dtype).reshape(block.shape)
            values = raw.astype(raw.dtype.newbyteorder("="), copy=False)
        if name == "mass":
            masses = np.repeat(self._head["masses"].astype(np.float64), self._counts)
            own = np.repeat(self._with_mass, self._counts)
            masses[own] = values if len(values) == np.count_nonzero(own) else np.nan
            return masses
        if len(values) < self.rows:  # of the gas alone
            padded = np.full((self.rows, *values.shape[1:]), np.nan)
            padded[: len(values)] = values
            return padded
        return values

    def labels(self, name: str, values: NDArray[Any]) -> Any:
        return super().labels(name, values)._replace(meaning="types")

    @property
    def box(self) -> Box | None:
        size = float(self._head["size"])
        return box_from_cell(np.diag([size] * 3)) if size > 0.0 else None

    @property
    def time(self) -> FrameTime | None:
        return parse_time(self._head["time"])

    def _describe_unused(self, chosen: Any) -> Notes:
        return []
