"""Molecules of RDKit: the first conformer in angstrom, bonds with orders; files of Maestro, and of
the formats SDF and MOL."""

from typing import Any

import numpy as np

from raytracer.files.access import OpenFile
from raytracer.particles.array_source import (
    NO_BONDS,
    Bonds,
    FrameContent,
    LazyColumn,
    LibraryFile,
    ObjectSource,
    import_library,
)

MAX_ORDER = 3.0


class Source(ObjectSource):
    noun = "property"

    def read(self) -> FrameContent:
        atoms = list(self.value.GetAtoms())
        columns: dict[str, Any] = {
            "position": LazyColumn(np.dtype(float), (len(atoms), 3), self._positions),
            "element": [each.GetSymbol() for each in atoms],
        }
        infos = [each.GetPDBResidueInfo() for each in atoms]
        if is_pdb := bool(infos) and all(infos):  # the molecule comes from a PDB file
            columns["name"] = [each.GetName().strip() for each in infos]
            columns["residue"] = [each.GetResidueName().strip() for each in infos]
            columns["chain"] = [each.GetChainId().strip() for each in infos]
        columns["charge"] = [each.GetFormalCharge() for each in atoms]
        columns["mass"] = [each.GetMass() for each in atoms]
        columns["aromatic"] = [int(each.GetIsAromatic()) for each in atoms]
        if is_pdb:
            columns["residue_id"] = [each.GetResidueNumber() for each in infos]
            columns["b_factor"] = [each.GetTempFactor() for each in infos]
        return FrameContent(columns, bonds=self._read_bonds, rows=len(atoms))

    def _read_bonds(self) -> Bonds:
        bonds = list(self.value.GetBonds())
        if not bonds:
            return NO_BONDS
        orders = np.array([each.GetBondTypeAsDouble() for each in bonds], np.float64)
        # Bonds without an order, such as metal to ligand, are single sticks.
        orders = np.where(orders > 0.0, np.clip(orders, 1.0, MAX_ORDER), 1.0)
        pairs = [(each.GetBeginAtomIdx(), each.GetEndAtomIdx()) for each in bonds]
        return np.array(pairs, np.int64), {"order": orders}

    def _positions(self) -> Any:
        """Return the coordinates, (N, 3). Raises DataFileError without any."""
        if not self.value.GetNumConformers():
            raise self.error(
                "the molecule has no coordinates: make some, for example with "
                "rdkit.Chem.AllChem.EmbedMolecule(molecule)"
            )
        return self.value.GetConformer().GetPositions()


SUPPLIERS = {
    ".mae": "MaeMolSupplier", ".maegz": "MaeMolSupplier", ".sdf": "SDMolSupplier",
    ".mol": "SDMolSupplier",
}  # fmt: skip
"""Readers of RDKit by endings."""


class FileSource(LibraryFile, Source):
    """A file of Maestro, SDF or MOL; each of its structures is a frame."""

    def open_frame(self, frame: int) -> tuple[Any, int]:
        chemistry = import_library("rdkit.Chem", self.name, "rdkit")
        self.require_memory()
        supplier = getattr(chemistry, SUPPLIERS[self.variant])
        molecules = supplier(self.file.name, sanitize=False, removeHs=False)
        frames = len(molecules)
        molecule = molecules[frame] if frames else None
        if molecule is None:
            raise self.error(f"structure {frame} cannot be read by RDKit")
        return molecule, frames


def knows(file: OpenFile, ending: str) -> bool:
    """Whether RDKit reads files with this ending."""
    return ending in SUPPLIERS
