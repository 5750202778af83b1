"""Files that chemfiles writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from scene.particles.corpus.kinds import (
    CELL,
    POINTS,
    SYMBOLS,
    Written,
    decimals,
    digits,
    kind,
    single,
)


def frame() -> Any:
    """The six atoms."""
    import chemfiles

    made = chemfiles.Frame()
    for symbol, point in zip(SYMBOLS, POINTS.tolist(), strict=True):
        made.add_atom(chemfiles.Atom(symbol), point)
    made.add_bond(1, 2)
    made.cell = chemfiles.UnitCell(CELL.diagonal().tolist())
    return made


def written(path: Path, form: str) -> None:
    """Write a frame in a format of chemfiles."""
    import chemfiles

    with chemfiles.Trajectory(str(path), "w", form) as trajectory:
        trajectory.write(frame())


@kind("extended XYZ", "b.xyz", "chemfiles", "6 digits")
def xyz(path: Path) -> Written:
    written(path, "XYZ")
    return Written(digits(POINTS, 6), 1e-5, edges=CELL)


@kind("PDB", "b.pdb", "chemfiles", "3 decimals")
def pdb(path: Path) -> Written:
    written(path, "PDB")
    return Written(decimals(POINTS, 3), edges=CELL)


@kind("GROMACS structure", "b.gro", "chemfiles", "3 decimals of nanometres")
def gro(path: Path) -> Written:
    written(path, "GRO")
    return Written(decimals(POINTS / 10.0, 3) * 10.0, 1e-14, edges=CELL)


@kind("LAMMPS data", "b.data", "chemfiles", "6 digits")
def data(path: Path) -> Written:
    written(path, "LAMMPS Data")
    return Written(POINTS, 1e-5, edges=CELL)


@kind("LAMMPS dump", "b.lammpstrj", "chemfiles", "6 digits")
def dump(path: Path) -> Written:
    written(path, "LAMMPS")
    return Written(POINTS, 1e-5, edges=CELL)


@kind("mmCIF", "b.mmcif", "chemfiles", "3 decimals", "gemmi")
def mmcif(path: Path) -> Written:
    written(path, "mmCIF")
    return Written(decimals(POINTS, 3))  # its angles have names of their own


@kind("CIF", "b.cif", "chemfiles", "5 decimals of fractions", "gemmi")
def cif(path: Path) -> Written:
    written(path, "CIF")
    return Written(POINTS, 2e-4, edges=CELL)


@kind("CML", "b.cml", "chemfiles", "float64", "chemfiles")
def cml(path: Path) -> Written:
    written(path, "CML")
    return Written(POINTS, 1e-5, edges=CELL)


@kind("CSSR", "b.cssr", "chemfiles", "3 decimals of fractions", "chemfiles")
def cssr(path: Path) -> Written:
    written(path, "CSSR")
    return Written(POINTS, 2e-2, edges=CELL)


@kind("MMTF", "b.mmtf", "chemfiles", "3 decimals", "chemfiles")
def mmtf(path: Path) -> Written:
    written(path, "MMTF")
    return Written(decimals(POINTS, 3), 1e-6, edges=CELL)


@kind("MOL2", "b.mol2", "chemfiles", "6 decimals", "chemfiles")
def mol2(path: Path) -> Written:
    written(path, "MOL2")
    return Written(decimals(POINTS, 6), 1e-14, edges=CELL)


@kind("SDF", "b.sdf", "chemfiles", "4 decimals", "chemfiles")
def sdf(path: Path) -> Written:
    written(path, "SDF")
    return Written(decimals(POINTS, 4), 1e-14)


@kind("Tinker XYZ", "b.arc", "chemfiles", "6 decimals", "chemfiles")
def tinker(path: Path) -> Written:
    written(path, "Tinker")
    return Written(decimals(POINTS, 6), 1e-6, edges=CELL)


@kind("XTC", "b.xtc", "chemfiles", "2 decimals", "chemfiles")
def xtc(path: Path) -> Written:
    written(path, "XTC")
    return Written(decimals(POINTS, 2), 6e-3, (), edges=CELL)


@kind("TRR", "b.trr", "chemfiles", "float32 of nanometres")
def trr(path: Path) -> Written:
    written(path, "TRR")
    return Written(POINTS, 1e-6, (), edges=CELL)


@kind("DCD", "b.dcd", "chemfiles", "float32")
def dcd(path: Path) -> Written:
    written(path, "DCD")
    return Written(single(POINTS), 0.0, (), edges=CELL)


@kind("Amber NetCDF", "b.nc", "chemfiles", "float32")
def netcdf(path: Path) -> Written:
    written(path, "Amber NetCDF")
    return Written(POINTS.astype(np.float32), 0.0, (), edges=CELL)


@kind("Amber restart", "b.ncrst", "chemfiles", "float64")
def restart(path: Path) -> Written:
    written(path, "Amber Restart")
    return Written(POINTS, 0.0, (), edges=CELL)
