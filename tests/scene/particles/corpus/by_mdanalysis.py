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


def written(path: Path) -> None:
    """Write the atoms in the format of the ending."""
    universe().atoms.write(str(path))


SINGLE = single(POINTS)


@kind("PDB", "c.pdb", "MDAnalysis", "3 decimals")
def pdb(path: Path) -> Written:
    written(path)
    return Written(decimals(SINGLE, 3), edges=CELL)


@kind("PDB, two models", "models.pdb", "MDAnalysis", "3 decimals")
def models(path: Path) -> Written:
    import MDAnalysis

    made = universe()
    with MDAnalysis.Writer(str(path), multiframe=True) as writer:
        for _ in range(2):
            writer.write(made.atoms)
    return Written(decimals(SINGLE, 3), edges=CELL, frames=2)


@kind("PDBQT", "c.pdbqt", "MDAnalysis", "3 decimals")
def pdbqt(path: Path) -> Written:
    written(path)
    return Written(decimals(SINGLE, 3), edges=CELL)


@kind("PQR with radii", "c.pqr", "MDAnalysis", "3 decimals")
def pqr(path: Path) -> Written:
    written(path)
    return Written(single(decimals(SINGLE, 3)), radii=single(decimals(RADII, 4)))


@kind("GROMACS structure", "c.gro", "MDAnalysis", "3 decimals of nanometres")
def gro(path: Path) -> Written:
    written(path)
    return Written(decimals(SINGLE / 10.0, 3) * 10.0, 1e-6, edges=CELL)


@kind("XYZ", "c.xyz", "MDAnalysis", "5 decimals")
def xyz(path: Path) -> Written:
    written(path)
    return Written(decimals(SINGLE, 5))


@kind("XTC", "c.xtc", "MDAnalysis", "2 decimals", "chemfiles")
def xtc(path: Path) -> Written:
    written(path)
    return Written(SINGLE, 6e-3, (), edges=CELL)


@kind("TRR", "c.trr", "MDAnalysis", "float32 of nanometres")
def trr(path: Path) -> Written:
    written(path)
    return Written(SINGLE, 1e-6, (), edges=CELL)


@kind("DCD", "c.dcd", "MDAnalysis", "float32")
def dcd(path: Path) -> Written:
    written(path)
    return Written(SINGLE, 0.0, (), edges=CELL)


@kind("Amber NetCDF", "c.ncdf", "MDAnalysis", "float32")
def ncdf(path: Path) -> Written:
    written(path)
    return Written(SINGLE, 0.0, (), edges=CELL)


@kind("TRZ", "c.trz", "MDAnalysis", "float32 of nanometres")
def trz(path: Path) -> Written:
    written(path)
    return Written(SINGLE, 1e-6, (), edges=CELL)


@kind("NAMD coordinates", "c.coor", "MDAnalysis", "float64")
def namd(path: Path) -> Written:
    written(path)
    return Written(SINGLE, 0.0, ())


@kind("FHI-aims", "c.in", "MDAnalysis", "8 decimals", "ase")
def aims(path: Path) -> Written:
    written(path)
    return Written(decimals(SINGLE, 8), 1e-7, edges=CELL)
