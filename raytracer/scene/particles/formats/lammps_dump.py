"""Dump files of LAMMPS: the first frame, with coordinates of any style in any box.

A frame is a list of sections, each with a line "ITEM: ..." before it; the section ATOMS, of local
dumps ENTRIES, names its columns. Coordinates are plain (x), unwrapped (xu), scaled by the box (xs)
or both (xsu).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.integers import whole
from raytracer.scene.particles.lines import COUNT_BYTES, count_code, has_ink, has_lines, lacks_end
from raytracer.scene.particles.source import (
    Box,
    Column,
    Moment,
    Particles,
    Value,
    moment_of,
    more_frames,
)
from raytracer.scene.particles.text_table import line_at, number, read_columns

if TYPE_CHECKING:
    from collections.abc import Container

    import numpy as np
    from numpy.typing import NDArray

HEAD_LINES = 64
"""Most lines before the atoms; LAMMPS writes 9 to 13."""

POSITION = "position"
"""Name of the column of coordinates in the file's unit of length, whatever their style."""

STYLES = (
    (("x", "y", "z"), False),
    (("xu", "yu", "zu"), False),
    (("xs", "ys", "zs"), True),
    (("xsu", "ysu", "zsu"), True),
)
"""Styles of coordinates, the likeliest first, and whether they are scaled by the box."""

INTEGERS = frozenset(("id", "mol", "proc", "procp1", "type", "ix", "iy", "iz"))
"""Columns that hold integers; a type may also be a text."""

TEXT_BYTES = 32
"""Longest text of a column that is kept."""

_START = b"ITEM: TIMESTEP"

_BEFORE = 256
"""Bytes before the time step of a frame in which its time and its units are."""

_HEAD = (
    rb"NUMBER OF (?:ATOMS|ENTRIES)[^\n]*\n\s*(\d{1,18})\s(?s:.*?)"
    rb"ITEM: (?:ATOMS|ENTRIES)[^\n]*\n"
)

UNITS = {"real": "fs", "electron": "fs", "metal": "ps", "si": "s", "cgs": "s", "micro": "µs",
         "nano": "ns"}  # fmt: skip
"""Units of time of the styles of units."""

_LOCAL = {"NUMBER OF ENTRIES": "NUMBER OF ATOMS", "ENTRIES": "ATOMS"}
"""Sections of a local dump, of pairs or bonds, by those of a dump of atoms."""


class Source(ColumnSource):
    """A dump file in text."""

    has_pieces = True

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._lines = file.lines(HEAD_LINES)
        self._sections = self._find_sections()
        self._atoms = self._read_count()
        self._names = self._sections["ATOMS"][0].split()
        self._skip = self._sections["ATOMS"][1]
        if not self._names:
            raise DataFileError(f"{self.name}: line {self._skip}: the section names no columns")
        for name in self._names:
            if self._names.count(name) > 1:
                raise DataFileError(
                    f"{self.name}: line {self._skip}: the column '{shown(name)}' stands there twice"
                )

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        found: dict[str, Column] = {}
        if self._style is not None:
            found[POSITION] = Column("number", (3,))
        cells = self._lines[self._skip].split() if self._skip < len(self._lines) else []
        for place, name in enumerate(self._names):
            value = number(cells[place]) if place < len(cells) else 0.0
            kind = "text" if isinstance(value, str) else "number"
            found[name] = Column("integer" if kind == "number" and name in INTEGERS else kind)
        return found

    @property
    def time(self) -> Moment | None:
        """The time where the dump has it (`dump_modify time yes`), otherwise the step."""
        said = {
            name: self._lines[self._sections[name][1]]
            for name in ("TIME", "UNITS", "TIMESTEP")
            if name in self._sections and self._sections[name][1] < len(self._lines)
        }
        if "TIME" in said:
            return moment_of(said["TIME"], UNITS.get(said.get("UNITS", "").strip(), ""))
        return moment_of(said.get("TIMESTEP"), "steps")

    @property
    def count(self) -> int | None:
        return self._atoms

    @cached_property
    def frames(self) -> int | None:
        """Number of whole frames; counting them reads the whole file once."""
        return len(self.frame_starts()) - 1

    def frame_starts(self) -> Sequence[int]:
        from raytracer.scene.particles.lines import starts_with

        found = [self._head_before(place) for place in starts_with(self.file, _START)]
        if len(found) < 2:
            return [0, self.file.size]
        return [0, *found[1:], *([self.file.size] if self._is_whole(found[-1]) else [])]

    def _head_before(self, place: int) -> int:
        """Return where a frame begins that has its time step there: time and units go before."""
        before = min(place, _BEFORE)
        text = os.pread(self.file.file.fileno(), before, place - before)
        while found := re.search(rb"(?:\A|(?<=\n))ITEM: (?:TIME|UNITS)\r?\n[^\n]*\n\Z", text):
            text = text[: found.start()]
        return place - before + len(text)

    def _is_whole(self, start: int) -> bool:
        """Whether the frame that begins there, the last one, has as many atoms as it says."""
        total, said, place = 0, 0, start
        while piece := os.pread(self.file.file.fileno(), COUNT_BYTES, place):
            if place == start:
                found = re.search(_HEAD, piece)
                if not found:
                    return False
                said, piece = int(found[1]), piece[found.end() :]
            total += count_code(piece, "\n")
            place = self.file.size if not piece else place + COUNT_BYTES
        return total + lacks_end(self.file) >= said

    @cached_property
    def box(self) -> Box | None:
        for title, start in self._sections.values():
            if self._lines[start - 1].startswith("ITEM: BOX BOUNDS"):
                return self._read_box(title.split(), start)
        return None

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        raw = dict.fromkeys(name for name in names if name != POSITION)
        style = self._style
        if POSITION in names and style is not None:
            raw |= dict.fromkeys(style[0])
        columns = self._read(list(raw))
        if POSITION in names and style is not None:
            columns[POSITION] = self._positions(columns, *style)
        return {name: columns[name] for name in names}

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        style = self._style
        if result.columns["centers"] == (POSITION,) and style is not None:
            result.columns["centers"] = (POSITION, *style[0])
        if has_lines(self.file, self._skip + self._atoms):
            result.notes += [("", note) for note in self._following()]
        return result

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the cells of a line."""
        inked = sum(has_ink(line.encode()) for line in self._lines[: self._skip])
        cells = line_at(self.file, inked + index).split()
        for name, cell in zip(self._names, cells, strict=False):
            yield name, number(cell)

    @property
    def _style(self) -> tuple[tuple[str, str, str], bool] | None:
        """The columns of coordinates and whether they are scaled, or None."""
        for names, scaled in STYLES:
            if all(name in self._names for name in names):
                return names, scaled
        return None

    def _find_sections(self) -> dict[str, tuple[str, int]]:
        """Return what follows the name in each title, and the number of the line after it."""
        found: dict[str, tuple[str, int]] = {}
        for place, line in enumerate(self._lines):
            if not line.startswith("ITEM:"):
                continue
            names = ("TIMESTEP", "UNITS", "TIME", "NUMBER OF ATOMS", "BOX BOUNDS", "ATOMS", *_LOCAL)
            for name in names:
                title = line[5:].strip()
                if title == name or title.startswith(f"{name} "):
                    found.setdefault(_LOCAL.get(name, name), (title.removeprefix(name), place + 1))
                    break
            if "ATOMS" in found:
                break
        for name in ("NUMBER OF ATOMS", "ATOMS"):
            if name not in found:
                raise DataFileError(
                    f"{self.name}: there is no line 'ITEM: {name}'; is it a dump of atoms, whole?"
                )
        return found

    def _read_count(self) -> int:
        line = self._sections["NUMBER OF ATOMS"][1]
        text = self._lines[line].strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= 18):
            raise DataFileError(
                f"{self.name}: line {line + 1}: '{shown(text, 40)}' is not the number of atoms"
            )
        return int(text)

    def _read_box(self, title: list[str], start: int) -> Box:
        """Return the box from the three lines after its title.

        Bounds of a triclinic box are those of the box around it; a general one has its edges.
        """
        rows = [self._numbers(start + axis) for axis in range(3)]
        widths = {len(row) for row in rows}
        periodic = _periodic(title)
        if title[:2] == ["abc", "origin"] and widths == {4}:
            a, b, c = ((row[0], row[1], row[2]) for row in rows)
            return Box((rows[0][3], rows[1][3], rows[2][3]), (a, b, c), periodic)
        if widths not in ({2}, {3}):
            raise DataFileError(
                f"{self.name}: line {start + 1}: a box has two or three numbers in each of three "
                "lines"
            )
        (xl, xh, *rest), (yl, yh, *more), (zl, zh, *most) = rows
        xy, xz, yz = (*rest, *more, *most) if rest else (0.0, 0.0, 0.0)
        xl, xh = xl - min(0.0, xy, xz, xy + xz), xh - max(0.0, xy, xz, xy + xz)
        yl, yh = yl - min(0.0, yz), yh - max(0.0, yz)
        edges = ((xh - xl, 0.0, 0.0), (xy, yh - yl, 0.0), (xz, yz, zh - zl))
        return Box((xl, yl, zl), edges, periodic)

    def _numbers(self, line: int) -> list[float]:
        """Return the numbers on a line of the head, counted from 0."""
        try:
            return [float(word) for word in self._lines[line].split()]
        except ValueError:
            raise DataFileError(
                f"{self.name}: line {line + 1}: '{shown(self._lines[line].strip(), 40)}' is not a "
                "line of numbers"
            ) from None

    def _read(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns as they stand in the file."""
        import numpy as np

        kinds = {name: self.columns[name].kind for name in names}
        texts = {n: self._names.index(n) for n, kind in kinds.items() if kind == "text"}
        numbers = {n: self._names.index(n) for n in names if n not in texts}
        if not self._atoms or not names:
            empty = np.zeros((0, len(numbers)))
            words = [np.zeros(0, f"S{TEXT_BYTES}") for _ in texts]
            return self._named(numbers, texts, empty, words)
        # A line has a letter or more for each column, and one after it. The head may say too many.
        most = min(self._atoms, self.file.size // (2 * len(self._names)) + 1)
        require_room(self.name, most * (8 * len(numbers) + TEXT_BYTES * len(texts)))
        table, words = read_columns(
            self.file, numbers, texts, TEXT_BYTES, skiprows=self._skip, max_rows=most
        )
        if len(table) != self._atoms:
            raise DataFileError(
                f"{self.name}: line {self._sections['NUMBER OF ATOMS'][1] + 1} says "
                f"{self._atoms} atoms, but there are {len(table)}; is it cut short?"
            )
        return self._named(numbers, texts, table, words)

    def _named(
        self,
        numbers: Mapping[str, int],
        texts: Mapping[str, int],
        table: NDArray[np.float64],
        words: Sequence[NDArray[np.bytes_]],
    ) -> dict[str, NDArray[Any]]:
        """Return columns by name, integers as such."""
        import numpy as np

        found: dict[str, NDArray[Any]] = dict(zip(texts, words, strict=True))
        for place, name in enumerate(numbers):
            column = table[:, place]
            is_whole = self.columns[name].kind == "integer" and bool(np.all(column % 1 == 0))
            found[name] = whole(column, self.name, name) if is_whole else column
        return found

    def _positions(
        self, columns: Mapping[str, NDArray[Any]], names: Sequence[str], scaled: bool
    ) -> NDArray[np.float64]:
        """Return coordinates in the file's unit of length, (N, 3)."""
        import numpy as np

        from raytracer.scene.particles.columns import stacked

        values = stacked([columns[name] for name in names])
        if not scaled:
            return values
        box = self.box
        if box is None:
            raise DataFileError(
                f"{self.name}: coordinates are scaled, but there is no line 'ITEM: BOX BOUNDS'"
            )
        edges = np.array(box.edges)
        places = np.empty(values.shape)
        # Column by column: the same sums for every particle, and no product of matrices.
        for axis in range(3):
            total = np.full(len(values), box.origin[axis])
            for edge in range(3):
                if edges[edge, axis]:
                    total += values[:, edge] * edges[edge, axis]
            places[:, axis] = total
        return places

    def _following(self) -> Iterator[str]:
        """Yield what to warn of if a file goes on after its first frame."""
        from raytracer.scene.particles.lines import pick_line

        inked = sum(has_ink(line.encode()) for line in self._lines[: self._skip])
        line = pick_line(self.file, inked + self._atoms)
        if line is None:
            return
        if line.startswith("ITEM:"):
            yield more_frames(self.name)
        else:
            yield (
                f"{self.name}: {self._atoms} atoms are announced, but more lines follow, which are "
                f"left out, the first of them '{shown(line.strip())}'"
            )


def _periodic(title: Sequence[str]) -> tuple[bool, bool, bool]:
    """Return along which edges a box repeats itself: "pp" in the words of its title."""
    kinds = [word for word in title if len(word) == 2 and set(word) <= set("pfsm")]
    if len(kinds) != 3:
        return True, True, True
    a, b, c = (word == "pp" for word in kinds)
    return a, b, c
