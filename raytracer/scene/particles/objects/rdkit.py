"""Molecules of RDKit: the first conformer in angstrom, bonds with orders; files of Maestro."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.objects.source import Entry, LibraryFile, ObjectSource, texts_of
from raytracer.scene.particles.source import Column

MAX_ORDER = 3.0


class Source(ObjectSource):
    noun = "property"

    @property
    def count(self) -> int | None:
        return int(self.value.GetNumAtoms())

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        pairs = [(each.GetBeginAtomIdx(), each.GetEndAtomIdx()) for each in self._bonds]
        return np.array(pairs, np.int64) if pairs else None

    @property
    def bond_columns(self) -> dict[str, NDArray[Any]]:
        orders = np.array([each.GetBondTypeAsDouble() for each in self._bonds], np.float64)
        # Bonds without an order, such as metal to ligand, are single sticks.
        orders = np.where(orders > 0.0, np.clip(orders, 1.0, MAX_ORDER), 1.0)
        return {"order": orders} if len(orders) else {}

    def entries(self) -> Mapping[str, Any]:
        atoms = list(self.value.GetAtoms())
        entries: dict[str, Any] = {
            "position": Entry(Column("number", (3,)), self._positions),
            "element": texts_of([each.GetSymbol() for each in atoms]),
        }
        infos = [each.GetPDBResidueInfo() for each in atoms]
        if is_pdb := bool(infos) and all(infos):  # the molecule comes from a PDB file
            entries["name"] = texts_of([each.GetName().strip() for each in infos])
            entries["residue"] = texts_of([each.GetResidueName().strip() for each in infos])
            entries["chain"] = texts_of([each.GetChainId().strip() for each in infos])
        entries["charge"] = [each.GetFormalCharge() for each in atoms]
        entries["mass"] = [each.GetMass() for each in atoms]
        entries["aromatic"] = [int(each.GetIsAromatic()) for each in atoms]
        if is_pdb:
            entries["residue_id"] = [each.GetResidueNumber() for each in infos]
            entries["b_factor"] = [each.GetTempFactor() for each in infos]
        return entries

    @cached_property
    def _bonds(self) -> list[Any]:
        return list(self.value.GetBonds())

    def _positions(self) -> Any:
        """Return the coordinates, (N, 3). Raises DataFileError without any."""
        if not self.value.GetNumConformers():
            raise self.error(
                "the molecule has no coordinates: make some, for example with "
                "rdkit.Chem.AllChem.EmbedMolecule(molecule)"
            )
        return self.value.GetConformer().GetPositions()


class FileSource(LibraryFile, Source):
    """A file of Maestro (.mae); each of its structures is a frame."""

    def opened(self, frame: int) -> tuple[Any, int]:
        chemistry = library("rdkit.Chem", self.name, "rdkit")
        self.require_frame()
        molecules = chemistry.MaeMolSupplier(self.file.name, sanitize=False, removeHs=False)
        frames = len(molecules)
        molecule = molecules[frame] if frames else None
        if molecule is None:
            raise self.error(f"structure {frame} cannot be read by RDKit")
        return molecule, frames
