"""Files that ASE writes."""

from __future__ import annotations

import bz2
import gzip
import lzma
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from scene.particles.corpus.kinds import (
    CELL,
    POINTS,
    RADII,
    SPEEDS,
    SYMBOLS,
    TILTED,
    Array,
    Written,
    decimals,
    kind,
)


def atoms(cell: Array | None = CELL) -> Any:
    """The six atoms."""
    import ase

    return ase.Atoms(SYMBOLS, POINTS, cell=cell, pbc=cell is not None)


def written(path: Path, form: str, images: Any = None, **options: Any) -> None:
    """Write atoms in a format of ASE."""
    from ase.io import write

    write(str(path), atoms() if images is None else images, format=form, **options)


@kind("XYZ", "a.xyz", "ase", "15 decimals")
def xyz(path: Path) -> Written:
    written(path, "xyz", fmt="%22.15f")
    return Written(decimals(POINTS, 15))


@kind("extended XYZ with cell, radius and columns", "a.extxyz", "ase", "8 decimals")
def extxyz(path: Path) -> Written:
    image = atoms(TILTED)
    image.set_array("radius", RADII)
    image.set_array("speed", SPEEDS)
    written(path, "extxyz", image)
    speed = ("speed", decimals(SPEEDS, 8))
    return Written(decimals(POINTS, 8), edges=TILTED, radii=RADII, columns=(speed,))


@kind("extended XYZ, two frames", "frames.xyz", "ase", "8 decimals")
def extxyz_frames(path: Path) -> Written:
    second = atoms()
    second.positions += 1.0
    written(path, "extxyz", [atoms(), second])
    return Written(decimals(POINTS, 8), edges=CELL, frames=2)


def _packed(suffix: str, pack: Callable[[bytes], bytes]) -> None:
    @kind(f"extended XYZ, {suffix}", f"a.xyz{suffix}", "ase", "8 decimals")
    def write(path: Path) -> Written:
        plain = path.with_name("plain")
        written(plain, "extxyz")
        path.write_bytes(pack(plain.read_bytes()))
        return Written(decimals(POINTS, 8), edges=CELL)


_packed(".gz", gzip.compress)
_packed(".bz2", bz2.compress)
_packed(".xz", lzma.compress)


@kind("PDB with cell", "a.pdb", "ase", "3 decimals")
def pdb(path: Path) -> Written:
    written(path, "proteindatabank")
    return Written(decimals(POINTS, 3), edges=CELL)


@kind("CIF of a crystal", "a.cif", "ase", "16 digits of fractions", "gemmi")
def cif(path: Path) -> Written:
    written(path, "cif")
    return Written(POINTS, 1e-4, edges=CELL)


@kind("POSCAR, fractions", "POSCAR", "ase", "16 decimals of fractions")
def poscar(path: Path) -> Written:
    written(path, "vasp", atoms(TILTED), direct=True)
    return Written(POINTS, 1e-14, edges=TILTED)


@kind("POSCAR, cartesian, selective dynamics", "a.vasp", "ase", "16 decimals")
def poscar_cartesian(path: Path) -> Written:
    constraints: Any = import_module("ase.constraints")
    image = atoms(TILTED)
    image.set_constraint(constraints.FixAtoms([1]))
    written(path, "vasp", image, direct=False)
    return Written(decimals(POINTS, 16), edges=TILTED)


@kind("XDATCAR, two frames", "XDATCAR", "ase", "8 decimals of fractions")
def xdatcar(path: Path) -> Written:
    second = atoms()
    second.positions += 1.0
    written(path, "vasp-xdatcar", [atoms(), second])
    return Written(POINTS, 1e-7, edges=CELL, frames=2)


@kind("GROMACS structure", "a.gro", "ase", "3 decimals of nanometres")
def gro(path: Path) -> Written:
    written(path, "gromacs")
    return Written(decimals(POINTS / 10.0, 3) * 10.0, 1e-14, edges=CELL)


@kind("LAMMPS data, symbols in the comments of Masses", "a.data", "ase", "17 digits")
def lammps_data(path: Path) -> Written:
    written(path, "lammps-data", masses=True, specorder=["H", "C", "N", "O", "Cu"])
    return Written(POINTS, 1e-14, (), edges=CELL)


@kind("ASE trajectory with velocities", "a.traj", "ase", "float64", "ase")
def traj(path: Path) -> Written:
    image = atoms(TILTED)
    image.set_momenta(POINTS)
    written(path, "traj", image)
    return Written(POINTS, edges=TILTED, columns=(("momenta", POINTS),))


@kind("ASE trajectory, two frames", "two.traj", "ase", "float64", "ase")
def traj_frames(path: Path) -> Written:
    written(path, "traj", [atoms(), atoms()])
    return Written(POINTS, edges=CELL, frames=2)


@kind("ASE database, two rows", "a.db", "ase", "float64", "ase")
def database(path: Path) -> Written:
    from ase.db import connect

    opened: Any = connect
    with opened(str(path)) as rows:
        rows.write(atoms())
        rows.write(atoms())
    return Written(POINTS, edges=CELL, frames=2)


@kind("ASE database in JSON, two rows", "a.json", "ase", "float64", "ase")
def database_in_json(path: Path) -> Written:
    return database(path)


@kind("muSTEM, sorted by elements", "a.xtl", "ase", "9 decimals of fractions", "ase")
def mustem(path: Path) -> Written:
    factors = dict.fromkeys(SYMBOLS, 0.5)
    written(path, "mustem", keV=200.0, debye_waller_factors=factors)
    order = np.argsort(SYMBOLS, kind="stable")
    return Written(POINTS[order], 1e-4, tuple(np.array(SYMBOLS)[order]), edges=CELL)


@kind("XCrySDen, two frames", "a.axsf", "ase", "14 decimals", "ase")
def axsf(path: Path) -> Written:
    written(path, "xsf", [atoms(), atoms()])
    return Written(decimals(POINTS, 14), edges=CELL, frames=2)


@kind("Gaussian cube", "a.cube", "ase", "6 decimals of bohr", "ase")
def cube(path: Path) -> Written:
    written(path, "cube", data=np.ones((2, 2, 2)))
    return Written(POINTS, 1e-6, edges=CELL)


for _title, _file, _form, _keeps, _step, _options in (
    ("AtomEye", "a.cfg", "cfg", "8 digits of fractions", 1e-6, {}),
    ("JSV", "a.jsv", "jsv", "6 decimals of fractions", 1e-4, {}),
    ("qball", "a.sys", "sys", "12 decimals of bohr", 1e-6, {}),
    ("DMol3 coordinates", "a.incoor", "dmol-incoor", "float64", 1e-6, {}),
    ("XCrySDen", "a.xsf", "xsf", "14 decimals", 1e-13, {}),
    ("SHELX", "a.res", "res", "6 decimals of fractions", 1e-5, {}),
    ("CASTEP cell", "a.cell", "castep-cell", "6 decimals", 1e-6, {}),
    ("CASTEP dynamics", "a.md", "castep-md", "16 digits of bohr", 1e-4, {}),
    ("Quantum ESPRESSO input", "a.pwi", "espresso-in", "10 decimals", 1e-9,
     {"pseudopotentials": {each: f"{each}.upf" for each in SYMBOLS}}),
    ("DFTB+", "a.gen", "gen", "10 digits", 1e-9, {}),
    ("FHI-aims", "geometry.in", "aims", "16 decimals", 1e-15, {}),
    ("Gaussian input", "a.gjf", "gaussian-in", "10 decimals", 1e-9, {}),
    ("V_Sim", "a.ascii", "v-sim", "8 decimals", 1e-8, {}),
    ("GROMOS", "a.g96", "gromos", "9 decimals of nanometres", 1e-8, {}),
    ("EON", "a.con", "eon", "6 decimals", 1e-6, {}),
    ("Turbomole", "a.coord", "turbomole", "14 decimals of bohr", 1e-5, {}),
    ("DL_POLY", "a.dlp4", "dlp4", "10 decimals", 1e-9, {}),
    ("CRYSTAL", "a.f34", "crystal", "14 digits", 1e-9, {}),
    ("RMCProfile", "a.rmc6f", "rmc6f", "6 decimals of fractions", 1e-5, {}),
    ("Magres", "a.magres", "magres", "10 digits", 1e-9, {}),
    ("ABINIT input", "a.abi", "abinit-in", "12 decimals", 1e-9, {}),
    ("DMol3", "a.car", "dmol-car", "9 decimals", 1e-8, {}),
    ("NWChem input", "a.nwi", "nwchem-in", "6 decimals", 1e-6, {}),
    ("Materials Studio", "a.xsd", "xsd", "float64 of fractions", 1e-8, {}),
    ("CASTEP geometry", "a.geom", "castep-geom", "16 digits of bohr", 1e-4, {}),
    ("ONETEP input", "a.onetep", "onetep-in", "float64", 1e-6, {}),
):  # fmt: skip

    @kind(_title, _file, "ase", _keeps, "ase")
    def write(
        path: Path, form: str = _form, step: float = _step, options: dict[str, Any] = _options
    ) -> Written:
        written(path, form, **options)
        return Written(POINTS, step)
