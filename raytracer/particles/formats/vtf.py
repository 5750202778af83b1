"""Trajectories of ESPResSo and VMD (.vtf): atoms, bonds, cell, and frames of coordinates."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import quote
from raytracer.model.particle_source import Box
from raytracer.particles.array_source import ArraySource, FrameContent, encode_texts
from raytracer.particles.cell import cell_from_sizes

MAX_ATOMS = 100_000_000
KEYS = {"a": "", "atom": "", "n": "name", "t": "type", "r": "radius", "q": "charge", "m": "mass",
        "resn": "resname", "res": "resid", "c": "chain"}  # fmt: skip
"""Properties by their short names."""

NUMBERS = ("radius", "charge", "mass")
_STEP = re.compile(r"(?:timestep|coordinates|t|c)?\s*(ordered|indexed|o|i)?\b\s*$")


class Source(ArraySource):
    memory = 30

    def __init__(self, file: Any, variant: str = "") -> None:
        super().__init__(file, variant)
        self.require_memory()
        self._atoms: dict[int, dict[str, str]] = {}
        self._default: dict[str, str] = {}
        self._pairs: list[tuple[int, int]] = []
        self._cells: list[Box | None] = []
        self._steps: list[list[list[str]]] = []
        cell: Box | None = None
        for number, (line, _) in enumerate(file.text_lines(), 1):
            text = line.split("#")[0].strip()
            word = text.split(None, 1)[0].lower() if text else ""
            try:
                if word in ("unitcell", "pbc", "p", "u"):
                    sizes = [float(size) for size in text.split()[1:]]
                    cell = cell_from_sizes(sizes + [90.0] * 3 * (len(sizes) == 3))
                    self._cells[-1:] = [cell] if self._steps else []
                elif word and _STEP.match(text.lower()):
                    self._steps.append([])
                    self._cells.append(cell)
                elif word in ("bond", "b"):
                    self._add_bonds(text.split(None, 1)[1])
                elif self._steps and text:
                    self._steps[-1].append(text.split())
                elif text:
                    self._add_atoms(text.removeprefix(word).split() if word in KEYS
                                    else text.split())  # fmt: skip
            except (ValueError, IndexError):
                wrong = f"line {number}: '{quote(text, 60)}' is not a line of a VTF file"
                raise self.error(wrong) from None

    def _add_atoms(self, words: list[str]) -> None:
        pairs = zip(words[1::2], words[2::2], strict=True)
        values = {KEYS.get(key.lower(), key.lower()): value for key, value in pairs}
        if words[0] == "default":
            self._default = values
            return
        for part in words[0].split(","):
            first, _, last = part.partition(":")
            for atom in range(int(first), min(int(last or first), MAX_ATOMS) + 1):
                self._atoms.setdefault(atom, {}).update(values)

    def _add_bonds(self, text: str) -> None:
        for part in text.replace(" ", "").split(","):
            first, last = (int(each) for each in part.replace("::", ":").split(":"))
            chain = range(first, last) if "::" in part else ()
            self._pairs += [(atom, atom + 1) for atom in chain] or [(first, last)]

    def read(self) -> FrameContent:
        if not self._steps:
            raise self.error("there are no coordinates (timestep)")
        rows = self._steps[self.frame]
        count = max([len(rows), *(atom + 1 for atom in self._atoms)])
        positions = np.full((count, 3), np.nan)
        for place, row in enumerate(rows):
            if len(row) not in (3, 4):
                raise self.error(f"'{quote(' '.join(row), 60)}' is not a line of coordinates")
            atom = int(row[0]) if len(row) == 4 else place
            positions[atom] = np.array(row[-3:], np.float64)
        ends = np.array(self._pairs, np.int64).reshape(-1, 2) if self._pairs else None
        columns = {"position": positions} | self._properties(count)
        cell = self._cells[self.frame]
        return FrameContent(columns, cell, bonds=lambda: (ends, {}), frames=len(self._steps))

    def _properties(self, count: int) -> dict[str, NDArray[Any]]:
        atoms = [self._default | self._atoms.get(atom, {}) for atom in range(count)]
        names = dict.fromkeys(name for atom in atoms for name in atom)
        columns: dict[str, NDArray[Any]] = {}
        for name in names:
            words = [atom.get(name, "") for atom in atoms]
            if name not in NUMBERS:
                columns[name] = encode_texts(words)
            elif all(words) or name != "radius":
                columns[name] = np.array([word or "nan" for word in words], np.float64)
        return columns

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of each part; without types atoms have the names of elements."""
        chosen = super().choose(names)
        if "label" not in chosen and "name" in self.columns:
            chosen["label"] = "name"
        return chosen
