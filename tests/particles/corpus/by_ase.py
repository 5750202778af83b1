"""Files that ASE writes."""

import bz2
import gzip
import lzma
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from particles.corpus.kinds import (
    CELL,
    POINTS,
    RADII,
    SPEEDS,
    SYMBOLS,
    TILTED,
    Array,
    Written,
    decimals,
    kinds,
)


def atoms(cell: Array | None = CELL) -> Any:
    """The six atoms."""
    import ase

    return ase.Atoms(SYMBOLS, POINTS, cell=cell, pbc=cell is not None)


def tilted() -> Any:
    return atoms(TILTED)


def sized() -> Any:
    image = atoms(TILTED)
    image.set_array("radius", RADII)
    image.set_array("speed", SPEEDS)
    return image


def moving() -> Any:
    image = atoms(TILTED)
    image.set_momenta(POINTS)
    return image


def fixed() -> Any:
    constraints: Any = import_module("ase.constraints")
    image = atoms(TILTED)
    image.set_constraint(constraints.FixAtoms([1]))
    return image


def moved() -> Any:
    """Two frames."""
    second = atoms()
    second.positions += 1.0
    return [atoms(), second]


def twice() -> Any:
    return [atoms(), atoms()]


def by(form: str, make: Callable[[], Any] = atoms, **options: Any) -> Callable[[Path], None]:
    """Return a function that writes atoms in a format of ASE."""

    def write_images(path: Path) -> None:
        from ase.io import write

        write(str(path), make(), format=form, **options)

    return write_images


def packed(pack: Callable[[bytes], bytes]) -> Callable[[Path], None]:
    def write_packed(path: Path) -> None:
        plain = path.with_name("plain")
        by("extxyz")(plain)
        path.write_bytes(pack(plain.read_bytes()))

    return write_packed


def database(path: Path) -> None:
    from ase.db import connect

    opened: Any = connect
    with opened(str(path)) as rows:
        rows.write(atoms())
        rows.write(atoms())


EIGHT = Written(decimals(POINTS, 8), edges=CELL)
TWO = Written(POINTS, edges=CELL, frames=2)
ORDER = np.argsort(SYMBOLS, kind="stable")
SORTED = Written(POINTS[ORDER], 1e-4, tuple(np.array(SYMBOLS)[ORDER]), edges=CELL)
SIZED = Written(decimals(POINTS, 8), edges=TILTED, radii=RADII,
                columns=(("speed", decimals(SPEEDS, 8)),))  # fmt: skip
GRO = Written(decimals(POINTS / 10.0, 3) * 10.0, 1e-14, edges=CELL)
FACTORS = dict.fromkeys(SYMBOLS, 0.5)

kinds(
    "ase",
    ("XYZ", "a.xyz", "15 decimals", Written(decimals(POINTS, 15)), by("xyz", fmt="%22.15f")),
    ("extended XYZ with cell, radius and columns", "a.extxyz", "8 decimals", SIZED,
     by("extxyz", sized)),
    ("extended XYZ, two frames", "frames.xyz", "8 decimals",
     Written(decimals(POINTS, 8), edges=CELL, frames=2), by("extxyz", moved)),
    ("extended XYZ, .gz", "a.xyz.gz", "8 decimals", EIGHT, packed(gzip.compress)),
    ("extended XYZ, .bz2", "a.xyz.bz2", "8 decimals", EIGHT, packed(bz2.compress)),
    ("extended XYZ, .xz", "a.xyz.xz", "8 decimals", EIGHT, packed(lzma.compress)),
    ("PDB with cell", "a.pdb", "3 decimals", Written(decimals(POINTS, 3), edges=CELL),
     by("proteindatabank")),
    ("CIF of a crystal", "a.cif", "16 digits of fractions", Written(POINTS, 1e-4, edges=CELL),
     by("cif"), "gemmi"),
    ("POSCAR, fractions", "POSCAR", "16 decimals of fractions",
     Written(POINTS, 1e-14, edges=TILTED), by("vasp", tilted, direct=True)),
    ("POSCAR, cartesian, selective dynamics", "a.vasp", "16 decimals",
     Written(decimals(POINTS, 16), edges=TILTED), by("vasp", fixed, direct=False)),
    ("XDATCAR, two frames", "XDATCAR", "8 decimals of fractions",
     Written(POINTS, 1e-7, edges=CELL, frames=2), by("vasp-xdatcar", moved)),
    ("GROMACS structure", "a.gro", "3 decimals of nanometres", GRO, by("gromacs")),
    ("LAMMPS data, symbols in the comments of Masses", "a.data", "17 digits",
     Written(POINTS, 1e-14, (), edges=CELL),
     by("lammps-data", masses=True, specorder=["H", "C", "N", "O", "Cu"])),
    ("ASE trajectory with velocities", "a.traj", "float64",
     Written(POINTS, edges=TILTED, columns=(("momenta", POINTS),)), by("traj", moving), "ase"),
    ("ASE trajectory, two frames", "two.traj", "float64", TWO, by("traj", twice), "ase"),
    ("ASE database, two rows", "a.db", "float64", TWO, database, "ase"),
    ("ASE database in JSON, two rows", "a.json", "float64", TWO, database, "ase"),
    ("muSTEM, sorted by elements", "a.xtl", "9 decimals of fractions", SORTED,
     by("mustem", keV=200.0, debye_waller_factors=FACTORS), "ase"),
    ("XCrySDen, two frames", "a.axsf", "14 decimals",
     Written(decimals(POINTS, 14), edges=CELL, frames=2), by("xsf", twice), "ase"),
    ("Gaussian cube", "a.cube", "6 decimals of bohr", Written(POINTS, 1e-6, edges=CELL),
     by("cube", data=np.ones((2, 2, 2))), "ase"),
    *((title, file, keeps, Written(POINTS, step), by(form, **dict(*options)), "ase")
      for title, file, form, keeps, step, *options in (
        ("AtomEye", "a.cfg", "cfg", "8 digits of fractions", 1e-6),
        ("JSV", "a.jsv", "jsv", "6 decimals of fractions", 1e-4),
        ("qball", "a.sys", "sys", "12 decimals of bohr", 1e-6),
        ("DMol3 coordinates", "a.incoor", "dmol-incoor", "float64", 1e-6),
        ("XCrySDen", "a.xsf", "xsf", "14 decimals", 1e-13),
        ("SHELX", "a.res", "res", "6 decimals of fractions", 1e-5),
        ("CASTEP cell", "a.cell", "castep-cell", "6 decimals", 1e-6),
        ("CASTEP dynamics", "a.md", "castep-md", "16 digits of bohr", 1e-4),
        ("Quantum ESPRESSO input", "a.pwi", "espresso-in", "10 decimals", 1e-9,
         {"pseudopotentials": {each: f"{each}.upf" for each in SYMBOLS}}),
        ("DFTB+", "a.gen", "gen", "10 digits", 1e-9),
        ("FHI-aims", "geometry.in", "aims", "16 decimals", 1e-15),
        ("Gaussian input", "a.gjf", "gaussian-in", "10 decimals", 1e-9),
        ("V_Sim", "a.ascii", "v-sim", "8 decimals", 1e-8),
        ("GROMOS", "a.g96", "gromos", "9 decimals of nanometres", 1e-8),
        ("EON", "a.con", "eon", "6 decimals", 1e-6),
        ("Turbomole", "a.coord", "turbomole", "14 decimals of bohr", 1e-5),
        ("DL_POLY", "a.dlp4", "dlp4", "10 decimals", 1e-9),
        ("CRYSTAL", "a.f34", "crystal", "14 digits", 1e-9),
        ("RMCProfile", "a.rmc6f", "rmc6f", "6 decimals of fractions", 1e-5),
        ("Magres", "a.magres", "magres", "10 digits", 1e-9),
        ("ABINIT input", "a.abi", "abinit-in", "12 decimals", 1e-9),
        ("DMol3", "a.car", "dmol-car", "9 decimals", 1e-8),
        ("NWChem input", "a.nwi", "nwchem-in", "6 decimals", 1e-6),
        ("Materials Studio", "a.xsd", "xsd", "float64 of fractions", 1e-8),
        ("CASTEP geometry", "a.geom", "castep-geom", "16 digits of bohr", 1e-4),
        ("ONETEP input", "a.onetep", "onetep-in", "float64", 1e-6))),
)  # fmt: skip
