"""Files that MDAnalysis writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from scene.particles.corpus.kinds import (
    CELL,
    POINTS,
    RADII,
    SYMBOLS,
    Written,
    decimals,
    kind,
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


def kinds(*rows: tuple[str, str, str, tuple[str, ...], Written]) -> None:
    """List kinds that are written by the ending: format, file, precision, needs and content."""
    for title, file, keeps, needs, content in rows:

        @kind(title, file, "MDAnalysis", keeps, *needs)
        def write(path: Path, result: Written = content) -> Written:
            universe().atoms.write(str(path))
            return result


GRO = decimals(SINGLE / 10.0, 3) * 10.0

kinds(("PDB", "c.pdb", "3 decimals", (), Written(decimals(SINGLE, 3), edges=CELL)))


@kind("PDB, two models", "models.pdb", "MDAnalysis", "3 decimals")
def models(path: Path) -> Written:
    import MDAnalysis

    made = universe()
    with MDAnalysis.Writer(str(path), multiframe=True) as writer:
        for _ in range(2):
            writer.write(made.atoms)
    return Written(decimals(SINGLE, 3), edges=CELL, frames=2)


kinds(
    ("PDBQT", "c.pdbqt", "3 decimals", (), Written(decimals(SINGLE, 3), edges=CELL)),
    ("PQR with radii", "c.pqr", "3 decimals", (),
     Written(single(decimals(SINGLE, 3)), radii=single(decimals(RADII, 4)))),
    ("GROMACS structure", "c.gro", "3 decimals of nanometres", (), Written(GRO, 1e-6, edges=CELL)),
    ("XYZ", "c.xyz", "5 decimals", (), Written(decimals(SINGLE, 5))),
    ("XTC", "c.xtc", "2 decimals", ("chemfiles",), Written(SINGLE, 6e-3, (), edges=CELL)),
    ("TRR", "c.trr", "float32 of nanometres", (), Written(SINGLE, 1e-6, (), edges=CELL)),
    ("DCD", "c.dcd", "float32", (), Written(SINGLE, 0.0, (), edges=CELL)),
    ("Amber NetCDF", "c.ncdf", "float32", (), Written(SINGLE, 0.0, (), edges=CELL)),
    ("TRZ", "c.trz", "float32 of nanometres", (), Written(SINGLE, 1e-6, (), edges=CELL)),
    ("NAMD coordinates", "c.coor", "float64", (), Written(SINGLE, 0.0, ())),
    ("FHI-aims", "c.in", "8 decimals", ("ase",), Written(decimals(SINGLE, 8), 1e-7, edges=CELL)),
)  # fmt: skip
