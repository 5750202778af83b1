"""Files that MDAnalysis writes."""

from pathlib import Path
from typing import Any

import numpy as np

from particles.corpus.kinds import (
    CELL,
    POINTS,
    RADII,
    SYMBOLS,
    Written,
    decimals,
    kinds,
    single,
)


def universe() -> Any:
    """The six atoms; MDAnalysis keeps positions as float32."""
    import MDAnalysis

    count = len(SYMBOLS)
    made = MDAnalysis.Universe.empty(count, 1, atom_resindex=[0] * count, trajectory=True)
    attributes = {
        "name": SYMBOLS, "type": SYMBOLS, "element": SYMBOLS, "radii": RADII,
        "charge": np.zeros(count), "resname": ["MOL"], "resid": [1], "chainID": ["A"] * count,
    }  # fmt: skip
    for name, values in attributes.items():
        made.add_TopologyAttr(name, values)
    made.atoms.positions = POINTS
    made.dimensions = [*CELL.diagonal(), 90.0, 90.0, 90.0]
    return made


SINGLE = single(POINTS)


def write(path: Path) -> None:
    """Write the atoms by the ending."""
    universe().atoms.write(str(path))


def models(path: Path) -> None:
    import MDAnalysis

    made = universe()
    with MDAnalysis.Writer(str(path), multiframe=True) as writer:
        for _ in range(2):
            writer.write(made.atoms)


GRO = decimals(SINGLE / 10.0, 3) * 10.0
PDB = Written(decimals(SINGLE, 3), edges=CELL)
PQR = Written(single(decimals(SINGLE, 3)), radii=single(decimals(RADII, 4)))
SAME = Written(SINGLE, 0.0, (), edges=CELL)
CLOSE = Written(SINGLE, 1e-6, (), edges=CELL)

kinds(
    "MDAnalysis",
    ("PDB", "c.pdb", "3 decimals", PDB, write),
    ("PDB, two models", "models.pdb", "3 decimals",
     Written(decimals(SINGLE, 3), edges=CELL, frames=2), models),
    ("PDBQT", "c.pdbqt", "3 decimals", PDB, write),
    ("PQR with radii", "c.pqr", "3 decimals", PQR, write),
    ("GROMACS structure", "c.gro", "3 decimals of nanometres", Written(GRO, 1e-6, edges=CELL),
     write),
    ("XYZ", "c.xyz", "5 decimals", Written(decimals(SINGLE, 5)), write),
    ("XTC", "c.xtc", "2 decimals", Written(SINGLE, 6e-3, (), edges=CELL), write, "chemfiles"),
    ("TRR", "c.trr", "float32 of nanometres", CLOSE, write),
    ("DCD", "c.dcd", "float32", SAME, write),
    ("Amber NetCDF", "c.ncdf", "float32", SAME, write),
    ("TRZ", "c.trz", "float32 of nanometres", CLOSE, write),
    ("NAMD coordinates", "c.coor", "float64", Written(SINGLE, 0.0, ()), write),
    ("FHI-aims", "c.in", "8 decimals", Written(decimals(SINGLE, 8), 1e-7, edges=CELL), write,
     "ase"),
)  # fmt: skip
