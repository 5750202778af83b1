"""Structures in CIF: macromolecules (mmCIF), and crystals, whose symmetry fills the cell.

Parsed by gemmi. Models are frames, and so are blocks of atoms.
"""

import re
from collections.abc import Iterator
from functools import cached_property
from math import floor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model import particle_names as naming
from raytracer.model.particle_source import Box
from raytracer.particles.array_source import ArraySource, FrameContent, encode_texts, import_library
from raytracer.particles.cell import cell_from_sizes
from raytracer.particles.molecules import (
    FIRST_SHOWN,
    Stretch,
    add_structure,
    fill_blank_elements,
    find_first_locations,
)
from raytracer.particles.text_table import to_whole_if_exact

_TEXTS = {"element": "type_symbol", "name": "label_atom_id", "residue": "label_comp_id",
          "chain": "label_asym_id"}  # fmt: skip
AXES = ("Cartn_x", "Cartn_y", "Cartn_z")
_NUMBERS = {"residue_id": "auth_seq_id", "occupancy": "occupancy", "b_factor": "B_iso_or_equiv"}

STRETCHES = (
    ("_struct_conf.", "conf_type_id", {"HELX": 1, "STRN": 2}),
    ("_struct_sheet_range.", "sheet_id", {"": 2}),
)
"""Categories of secondary structure: the column with the type, and starts of its values with their
indices in `NAMES`."""

SAME_PLACE = 0.1
"""Distance in angstrom below which atoms of partial occupancy share a place."""

MAX_SHARED = 2000  # most atoms of partial occupancy that are compared, each with each

ROUNDING = 1e-6  # fraction of the cell edge within which a coordinate at its end counts as 0


class Source(ArraySource):
    memory = 30

    @cached_property
    def _blocks(self) -> list[Any]:
        """Blocks with atoms, each a structure."""
        gemmi = import_library("gemmi", self.name, "md")
        content = self.content()
        if not re.search(rb"(?im)^[ \t]*data_", content):
            content = b"data_\n" + content  # chemfiles omits the name of the block
        tags = "_atom_site.Cartn_x", "_atom_site_fract_x"
        blocks = gemmi.cif.read_string(content)
        found = [block for block in blocks if any(map(block.find_loop, tags))]
        if not found:
            raise self.error("there are no atoms with coordinates (_atom_site)")
        return found

    @property
    def _block(self) -> Any:
        return self._blocks[self.frame if len(self._blocks) > 1 else 0]

    def read(self) -> FrameContent:
        sites = self._block.get_mmcif_category("_atom_site.", raw=True)
        frames = len(self._blocks)
        if frames > 1 and (of_models := sites.pop("pdbx_PDB_model_num", None)):
            if len({*of_models}) > 1:
                self.note("of the models of a block, the first is shown: each block is a frame")
            sites = {key: [word for word, model in zip(words, of_models, strict=True)
                           if model == of_models[0]] for key, words in sites.items()}  # fmt: skip
        columns = self._make_molecule(sites) if "Cartn_x" in sites else self._make_crystal()
        models = set(sites.get("pdbx_PDB_model_num", ()))
        return FrameContent(columns, self._cell(), frames=max(len(models), frames))

    def _cell(self) -> Box | None:
        gemmi = import_library("gemmi", self.name, "md")
        find, names = self._block.find_value, [f"length_{edge}" for edge in "abc"]
        names += [f"angle_{angle}" for angle in ("alpha", "beta", "gamma")]
        found = [find(f"_cell.{name}") or find(f"_cell_{name}") for name in names]
        return cell_from_sizes(gemmi.cif.as_number(text) if text else 0.0 for text in found)

    def _make_molecule(self, sites: dict[str, list[str]]) -> dict[str, NDArray[Any]]:
        cif = import_library("gemmi", self.name, "md").cif
        if models := sites.get("pdbx_PDB_model_num"):
            model = list(dict.fromkeys(models))[self.frame]
            sites = {key: [word for word, other in zip(words, models, strict=True)
                           if other == model] for key, words in sites.items()}  # fmt: skip
        numbers = {key: np.array([cif.as_number(text) for text in sites[key]], np.float64)
                   for key in (*AXES, *_NUMBERS.values())
                   if key in sites}  # fmt: skip
        if not numbers.keys() >= {*AXES}:
            raise self.error("coordinates lack one of _atom_site.Cartn_x, y and z")
        columns = {"position": np.stack([numbers[axis] for axis in AXES], axis=1)}
        columns |= {name: encode_texts([cif.as_string(text) for text in sites[key]])
                    for name, key in _TEXTS.items() if key in sites}  # fmt: skip
        if "name" in columns:
            blank = np.zeros(len(columns["name"]), "S1")
            symbols, residues = (columns.get(each, blank) for each in ("element", "residue"))
            columns["element"] = fill_blank_elements(symbols, columns["name"], residues)
        columns |= {name: numbers[key] for name, key in _NUMBERS.items() if key in numbers}
        if "residue_id" in columns:
            columns["residue_id"] = to_whole_if_exact(columns["residue_id"])
        add_structure(columns, self._find_stretches())
        if "label_alt_id" not in sites:
            return columns
        kept = find_first_locations(*self._list_identities(sites))
        if not kept.all():
            self.note(FIRST_SHOWN)
        return {name: each[kept] for name, each in columns.items()}

    def _list_identities(self, sites: dict[str, list[str]]) -> list[NDArray[Any]]:
        """Return what identifies atoms: letters of alternate locations, places, names of residues
        and of atoms, each (N,). Waters have no label_seq_id."""
        as_string = import_library("gemmi", self.name, "md").cif.as_string
        count = len(sites["label_alt_id"])

        def column(*keys: str) -> list[str]:
            words = next((sites[key] for key in keys if key in sites), [""] * count)
            return [as_string(word) for word in words]

        place = zip(column("auth_asym_id", "label_asym_id"), column("auth_seq_id", "label_seq_id"),
                    column("pdbx_PDB_ins_code"), strict=True)  # fmt: skip
        names = [column("label_comp_id", "auth_comp_id"), column("label_atom_id", "auth_atom_id")]
        return [
            encode_texts(column("label_alt_id")),
            encode_texts(["\t".join(each) for each in place]),
            *map(encode_texts, names),
        ]

    def _find_stretches(self) -> Iterator[Stretch]:
        """Yield the helices and strands that the file states."""
        as_string = import_library("gemmi", self.name, "md").cif.as_string
        for category, column, kinds in STRETCHES:
            tags = [column, "beg_label_asym_id", "beg_auth_seq_id", "end_auth_seq_id"]
            for name, chain, first, last in self._block.find(category, tags):
                kind = next((k for start, k in kinds.items() if name.startswith(start)), 0)
                if kind and first.lstrip("-").isdecimal() and last.lstrip("-").isdecimal():
                    yield kind, as_string(chain).encode(), int(first), int(last)

    def _make_crystal(self) -> dict[str, NDArray[Any]]:
        """Return the atoms of one cell, generated by the symmetry of the crystal."""
        gemmi = import_library("gemmi", self.name, "md")
        crystal = gemmi.make_small_structure_from_block(self._block)
        if self._cell() is None:
            raise self.error("the cell has no lengths or angles (_cell_length_a)")
        self._drop_shared(crystal)
        sites = list(crystal.get_all_unit_cell_sites())
        for site in sites:
            inside = [part - floor(part + ROUNDING) for part in site.fract.tolist()]
            if inside != site.fract.tolist():
                site.fract = gemmi.Fractional(*inside)
        places = [site.orth(crystal.cell) for site in sites]
        position = np.array([(place.x, place.y, place.z) for place in places], np.float64)
        return {
            "label": encode_texts([site.label for site in sites]),
            "element": encode_texts([site.element.name for site in sites]),
            "occupancy": np.array([site.occ for site in sites], np.float64),
            "position": position.reshape(-1, 3),
        }

    def _drop_shared(self, crystal: Any) -> None:
        """Keep the most frequent of the atoms that share a place, as in alloys: the others would be
        hidden within it, or around it. Warns of them."""
        gemmi, sites = import_library("gemmi", self.name, "md"), crystal.sites
        partial = [row for row, site in enumerate(sites) if site.occ < 1.0]
        partial = sorted(partial, key=lambda row: -sites[row].occ)[:MAX_SHARED]
        kept, dropped = list[int](), list[int]()
        for row in partial:
            fract, near = sites[row].fract, (sites[each].fract for each in kept)
            images = (crystal.cell.find_nearest_image(
                crystal.cell.orthogonalize(fract), crystal.cell.orthogonalize(each), gemmi.Asu.Any
            ) for each in near)  # fmt: skip
            is_shared = any(image.dist() < SAME_PLACE for image in images)
            (dropped if is_shared else kept).append(row)
        if dropped:
            names = [site.label or site.element.name for site in map(sites.__getitem__, dropped)]
            self.note(
                f"{naming.quote_names(names)} share their places with more frequent atoms, which "
                "alone "
                "are shown"
            )
        for row in sorted(dropped, reverse=True):
            del sites[row]
