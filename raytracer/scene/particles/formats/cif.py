"""Structures in CIF: macromolecules (mmCIF), and crystals, whose symmetry fills the cell.

Parsed by gemmi. Of several models, and of alternate locations of an atom, the first is used.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.loaded import LoadedSource, library, texts
from raytracer.scene.particles.secondary_structure import Stretch, add_structure
from raytracer.scene.particles.source import Box
from raytracer.scene.particles.text_table import counted_values

_TEXTS = {"element": "type_symbol", "name": "label_atom_id", "residue": "label_comp_id",
          "chain": "label_asym_id"}  # fmt: skip
_NUMBERS = {"residue_id": "auth_seq_id", "occupancy": "occupancy", "b_factor": "B_iso_or_equiv"}

STRETCHES = (
    ("_struct_conf.", "conf_type_id", {"HELX": 1, "STRN": 2}),
    ("_struct_sheet_range.", "sheet_id", {"": 2}),
)
"""Categories of secondary structure: the column with the type, and starts of its values with their
indices in `NAMES`."""

ROUNDING = 1e-6  # fraction of the cell edge within which a coordinate at its end counts as 0


class Source(LoadedSource):
    memory = 30

    @cached_property
    def _block(self) -> Any:
        gemmi = library("gemmi", self.name, "md")
        content = self.content()
        if not re.search(rb"(?im)^\s*data_", content):
            content = b"data_\n" + content  # chemfiles omits the name of the block
        try:
            document = gemmi.cif.read_string(content)
        except (ValueError, RuntimeError) as problem:
            lines = str(problem).splitlines() or [""]
            what = lines[0].replace("string:", "line ")
            raise self.error(f"is not CIF ({what})") from None
        for block in document:
            if block.find_loop("_atom_site.Cartn_x") or block.find_loop("_atom_site_fract_x"):
                return block
        raise self.error("there are no atoms with coordinates (_atom_site)")

    @property
    def frames(self) -> int | None:
        models = self._block.find_loop("_atom_site.pdbx_PDB_model_num")
        return max(len(set(models)), 1)

    @property
    def box(self) -> Box | None:
        gemmi = library("gemmi", self.name, "md")
        find, names = self._block.find_value, [f"length_{edge}" for edge in "abc"]
        names += [f"angle_{angle}" for angle in ("alpha", "beta", "gamma")]
        found = [find(f"_cell.{name}") or find(f"_cell_{name}") for name in names]
        return cell_of(gemmi.cif.as_number(text) if text else 0.0 for text in found)

    def read(self) -> dict[str, NDArray[Any]]:
        if self._block.find_loop("_atom_site.Cartn_x"):
            return self._molecule()
        return self._crystal()

    def _molecule(self) -> dict[str, NDArray[Any]]:
        gemmi = library("gemmi", self.name, "md")
        block = self._block

        def column(name: str) -> list[str]:
            return list(block.find_loop(f"_atom_site.{name}"))

        def numbers(name: str) -> NDArray[Any]:
            return np.array([gemmi.cif.as_number(text) for text in column(name)], np.float64)

        axes = [numbers(f"Cartn_{axis}") for axis in "xyz"]
        if len({len(axis) for axis in axes}) != 1:
            raise self.error("coordinates lack one of _atom_site.Cartn_x, y and z")
        columns: dict[str, NDArray[Any]] = {"position": np.stack(axes, axis=1)}
        for name, key in _TEXTS.items():
            words = [gemmi.cif.as_string(text) for text in column(key)]
            if len(words) == len(axes[0]):
                columns[name] = texts(words)
        for name, key in _NUMBERS.items():
            values = numbers(key)
            if len(values) == len(axes[0]):
                columns[name] = counted_values(values) if name == "residue_id" else values
        add_structure(columns, self._stretches())
        kept = np.ones(len(axes[0]), bool)
        for key, plain in (("pdbx_PDB_model_num", ()), ("label_alt_id", (".", "?"))):
            words = column(key)
            if len(words) == len(kept):
                named = [word for word in words if word not in plain]
                first = {*plain, *named[:1]}
                kept &= np.fromiter((word in first for word in words), bool, len(words))
        return columns if kept.all() else {name: each[kept] for name, each in columns.items()}

    def _stretches(self) -> Iterator[Stretch]:
        """Yield the helices and strands that the file states."""
        as_string = library("gemmi", self.name, "md").cif.as_string
        for category, column, kinds in STRETCHES:
            tags = [column, "beg_label_asym_id", "beg_auth_seq_id", "end_auth_seq_id"]
            for name, chain, first, last in self._block.find(category, tags):
                kind = next((k for start, k in kinds.items() if name.startswith(start)), 0)
                if kind and first.lstrip("-").isdecimal() and last.lstrip("-").isdecimal():
                    yield Stretch(kind, as_string(chain).encode(), int(first), int(last))

    def _crystal(self) -> dict[str, NDArray[Any]]:
        """Return the atoms of one cell, generated by the symmetry of the crystal."""
        gemmi = library("gemmi", self.name, "md")
        crystal = gemmi.make_small_structure_from_block(self._block)
        if self.box is None:
            raise self.error("the cell has no lengths or angles (_cell_length_a)")
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
