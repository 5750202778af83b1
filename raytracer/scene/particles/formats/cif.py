"""Structures in CIF: macromolecules (mmCIF) and crystals, whose cell is filled by their symmetry.

Parsed by gemmi. Of several models, and of several places of an atom, the first one is taken.
"""

from __future__ import annotations

import re
from functools import cached_property
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.integers import counted_values
from raytracer.scene.particles.loaded import LoadedSource, library, texts
from raytracer.scene.particles.source import Box

MEMORY = 30
"""Bytes of memory for each byte of the file while it is parsed."""

_TEXTS = {"element": "type_symbol", "name": "label_atom_id", "residue": "label_comp_id",
          "chain": "label_asym_id"}  # fmt: skip
_NUMBERS = {"residue_id": "auth_seq_id", "occupancy": "occupancy", "b_factor": "B_iso_or_equiv"}

ROUNDING = 1e-6
"""Part of an edge of the cell by which a coordinate on its far side is taken for one at 0."""


class Source(LoadedSource):
    """A .cif file."""

    @cached_property
    def _block(self) -> Any:
        """The first block that has atoms."""
        gemmi = library("gemmi", self.name, "md")
        require_room(self.name, MEMORY * self.file.size)
        content = self.file.read(self.file.size)
        if not re.search(rb"(?im)^\s*data_", content):
            content = b"data_\n" + content  # chemfiles writes no name of a block
        try:
            document = gemmi.cif.read_string(content)
        except (ValueError, RuntimeError) as problem:
            lines = str(problem).splitlines() or [""]
            what = lines[0].replace("string:", "line ")
            raise DataFileError(f"{self.name}: is not CIF ({what})") from None
        for block in document:
            if block.find_loop("_atom_site.Cartn_x") or block.find_loop("_atom_site_fract_x"):
                return block
        raise DataFileError(f"{self.name}: there are no atoms with coordinates (_atom_site)")

    @property
    def frames(self) -> int | None:
        models = self._block.find_loop("_atom_site.pdbx_PDB_model_num")
        return max(len(set(models)), 1)

    @property
    def box(self) -> Box | None:
        gemmi = library("gemmi", self.name, "md")
        values = []
        for name in ("length_a", "length_b", "length_c", "angle_alpha", "angle_beta",
                     "angle_gamma"):  # fmt: skip
            block = self._block
            text = block.find_value(f"_cell.{name}") or block.find_value(f"_cell_{name}")
            values.append(gemmi.cif.as_number(text) if text else 0.0)
        a, b, c, alpha, beta, gamma = values
        return cell_of((a, b, c), (alpha, beta, gamma))

    def read(self) -> dict[str, NDArray[Any]]:
        if self._block.find_loop("_atom_site.Cartn_x"):
            return self._molecule()
        return self._crystal()

    def _molecule(self) -> dict[str, NDArray[Any]]:
        """Return the atoms of the first model."""
        gemmi = library("gemmi", self.name, "md")
        block = self._block

        def column(name: str) -> list[str]:
            return list(block.find_loop(f"_atom_site.{name}"))

        def numbers(name: str) -> NDArray[Any]:
            return np.array([gemmi.cif.as_number(text) for text in column(name)], np.float64)

        axes = [numbers(f"Cartn_{axis}") for axis in "xyz"]
        if len({len(axis) for axis in axes}) != 1:
            raise DataFileError(f"{self.name}: coordinates lack one of _atom_site.Cartn_x, y and z")
        columns: dict[str, NDArray[Any]] = {"position": np.stack(axes, axis=1)}
        for name, key in _TEXTS.items():
            words = [gemmi.cif.as_string(text) for text in column(key)]
            if len(words) == len(axes[0]):
                columns[name] = texts(words)
        for name, key in _NUMBERS.items():
            values = numbers(key)
            if len(values) == len(axes[0]):
                columns[name] = counted_values(values) if name == "residue_id" else values
        kept = np.ones(len(axes[0]), bool)
        for key, plain in (("pdbx_PDB_model_num", ()), ("label_alt_id", (".", "?"))):
            words = column(key)
            if len(words) == len(kept):
                named = [word for word in words if word not in plain]
                first = {*plain, *named[:1]}
                kept &= np.fromiter((word in first for word in words), bool, len(words))
        return columns if kept.all() else {name: each[kept] for name, each in columns.items()}

    def _crystal(self) -> dict[str, NDArray[Any]]:
        """Return the atoms of one cell, by the symmetry of the crystal; all lie within it."""
        gemmi = library("gemmi", self.name, "md")
        crystal = gemmi.make_small_structure_from_block(self._block)
        if self.box is None:
            raise DataFileError(f"{self.name}: the cell has no lengths or angles (_cell_length_a)")
        sites = list(crystal.get_all_unit_cell_sites())
        for site in sites:
            inside = [part - floor(part + ROUNDING) for part in site.fract.tolist()]
            if inside != site.fract.tolist():
                site.fract = gemmi.Fractional(*inside)
        places = [site.orth(crystal.cell) for site in sites]
        position = np.array([(place.x, place.y, place.z) for place in places], np.float64)
        return {
            "label": texts([site.label for site in sites]),
            "element": texts([site.element.name for site in sites]),
            "occupancy": np.array([site.occ for site in sites], np.float64),
            "position": position.reshape(-1, 3),
        }
