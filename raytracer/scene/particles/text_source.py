"""Particles in the rows of a text: the common part of XYZ, LAMMPS files and tables."""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.lines import first_line_from
from raytracer.scene.particles.source import Column, Particles, more_frames
from raytracer.scene.particles.text_table import Kind, Layout, read_rows, whole


class TextSource(ColumnSource):
    """A text with a row of cells per particle.

    Attributes:
        layout: layout of the rows, with all columns.
        atoms: number of rows that the text states, or None.
        announced: start of the message about it, "line 1 states".
        integers: columns that hold integers.
        next_frame: regular expression of the line after the last row if another frame begins; "" if
            files have one frame.
    """

    layout: Layout
    atoms: int | None = None
    announced = ""
    integers: ClassVar[frozenset[str]] = frozenset()
    next_frame: ClassVar[str] = ""

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        columns = {}
        for name, cell in self.layout.cells.items():
            kind = "integer" if name in self.integers else "number"
            columns[name] = Column("text" if cell.kind == Kind.TEXT else kind)
        return columns

    @property
    def count(self) -> int | None:
        return self.atoms

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return self.load_rows(self.layout, names)

    def load_rows(self, layout: Layout, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns of all rows of a layout; integers as such if all values are whole."""
        rows = read_rows(self.file, layout, names, self.atoms)
        if self.atoms is not None and rows.length != self.atoms:
            raise self.error(
                f"{self.announced} {self.atoms} atoms, but there are {rows.length}: the file is "
                "incomplete"
            )
        self._end, self._most = rows.end, rows.most
        return {name: self._whole(name, values) for name, values in rows.columns.items()}

    def _whole(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        is_whole = self.columns[name].kind == "integer" and bool(np.all(values % 1 == 0))
        return whole(values, self.name, name) if is_whole else values

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if self.next_frame and (line := first_line_from(self.file, self._end).strip()):
            note = more_frames(self.name)
            if not re.match(self.next_frame, line):
                note = (
                    f"{self.name}: {self.announced} {self.atoms} atoms; further lines are ignored, "
                    f"the first is '{shown(line)}'"
                )
            result.notes.append(("", note))
        return result
