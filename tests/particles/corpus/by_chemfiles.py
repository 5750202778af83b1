"""Files that chemfiles writes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from particles.corpus.kinds import (
    CELL,
    POINTS,
    SYMBOLS,
    Written,
    decimals,
    digits,
    kinds,
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


def by(form: str) -> Callable[[Path], None]:
    """Return a function that writes a frame in a format of chemfiles."""

    def write(path: Path) -> None:
        import chemfiles

        with chemfiles.Trajectory(str(path), "w", form) as trajectory:
            trajectory.write(frame())

    return write


GRO = decimals(POINTS / 10.0, 3) * 10.0

kinds("chemfiles", *((title, file, keeps, written, by(form), *needs)
                     for title, file, form, keeps, needs, written in (
    ("extended XYZ", "b.xyz", "XYZ", "6 digits", (), Written(digits(POINTS, 6), 1e-5, edges=CELL)),
    ("PDB", "b.pdb", "PDB", "3 decimals", (), Written(decimals(POINTS, 3), edges=CELL)),
    ("GROMACS structure", "b.gro", "GRO", "3 decimals of nanometres", (),
     Written(GRO, 1e-14, edges=CELL)),
    ("LAMMPS data", "b.data", "LAMMPS Data", "6 digits", (), Written(POINTS, 1e-5, edges=CELL)),
    ("LAMMPS dump", "b.lammpstrj", "LAMMPS", "6 digits", (), Written(POINTS, 1e-5, edges=CELL)),
    # The angles of mmCIF have names of their own.
    ("mmCIF", "b.mmcif", "mmCIF", "3 decimals", ("gemmi",), Written(decimals(POINTS, 3))),
    ("CIF", "b.cif", "CIF", "5 decimals of fractions", ("gemmi",),
     Written(POINTS, 2e-4, edges=CELL)),
    ("CML", "b.cml", "CML", "float64", ("chemfiles",), Written(POINTS, 1e-5, edges=CELL)),
    ("CSSR", "b.cssr", "CSSR", "3 decimals of fractions", ("chemfiles",),
     Written(POINTS, 2e-2, edges=CELL)),
    ("MMTF", "b.mmtf", "MMTF", "3 decimals", ("chemfiles",),
     Written(decimals(POINTS, 3), 1e-6, edges=CELL)),
    ("MOL2", "b.mol2", "MOL2", "6 decimals", ("chemfiles",),
     Written(decimals(POINTS, 6), 1e-14, edges=CELL)),
    ("SDF", "b.sdf", "SDF", "4 decimals", ("chemfiles",), Written(decimals(POINTS, 4), 1e-14)),
    ("Tinker XYZ", "b.arc", "Tinker", "6 decimals", ("chemfiles",),
     Written(decimals(POINTS, 6), 1e-6, edges=CELL)),
    ("XTC", "b.xtc", "XTC", "2 decimals", ("chemfiles",),
     Written(decimals(POINTS, 2), 6e-3, (), edges=CELL)),
    ("TRR", "b.trr", "TRR", "float32 of nanometres", (), Written(POINTS, 1e-6, (), edges=CELL)),
    ("DCD", "b.dcd", "DCD", "float32", (), Written(single(POINTS), 0.0, (), edges=CELL)),
    ("Amber NetCDF", "b.nc", "Amber NetCDF", "float32", (),
     Written(single(POINTS), 0.0, (), edges=CELL)),
    ("Amber restart", "b.ncrst", "Amber Restart", "float64", (),
     Written(POINTS, 0.0, (), edges=CELL)),
)))  # fmt: skip
