"""Files of simulation and chemistry codes without a writer in Python, as the codes print them."""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from particles.corpus.by_programs import PLACED, SPACES, text_of
from particles.corpus.kinds import (
    CELL,
    IDS,
    POINTS,
    RADII,
    SPEEDS,
    SYMBOLS,
    Written,
    decimals,
    kinds,
    single,
    texts,
)

COUNT = len(POINTS)
NUMBERS = np.arange(1, COUNT + 1)
ATOMS = (SYMBOLS * COUNT)[:COUNT]
ZEROS = np.zeros((COUNT, 3))
EDGES = [10.0, 11.0, 12.0]
ROUNDED = Written(decimals(POINTS, 6), 1e-6)
NAMELESS = Written(POINTS, symbols=(), warning="the columns have no names")


def _spaced(*columns: object, form: str = "{:.6f}") -> str:
    return text_of(*columns, form=form, gap="   ")


def _block(values: object) -> str:
    """Return numbers in lines of five, as in blocks of Tecplot."""
    words = [f"{each:.17g}" for each in np.asarray(values).ravel().tolist()]
    return "".join(" ".join(words[i : i + 5]) + "\n" for i in range(0, len(words), 5))


ORCA = f"""
                                 *****************
                                 * O   R   C   A *
                                 *****************
Number of atoms                             ...   {COUNT}

---------------------------------
CARTESIAN COORDINATES (ANGSTROEM)
---------------------------------
{_spaced(ATOMS, POINTS)}
----------------------------
CARTESIAN COORDINATES (A.U.)
----------------------------
  NO LB      ZA    FRAG     MASS         X           Y           Z
{
    _spaced(
        np.arange(COUNT).astype(str),
        ATOMS,
        ["1.0000"] * COUNT,
        ["0"] * COUNT,
        ["1.008"] * COUNT,
        POINTS / 0.529177210903,
    )
}
FINAL SINGLE POINT ENERGY       -76.324
                             ****ORCA TERMINATED NORMALLY****
"""

GAUSSIAN = f"""\
 Entering Gaussian System, Link 0=g16
 Gaussian 16:  ES64L-G16RevC.01 3-Jul-2019
 ******************************************
 #p b3lyp/6-31g(d)
                         Standard orientation:
 ---------------------------------------------------------------------
 Center     Atomic      Atomic             Coordinates (Angstroms)
 Number     Number       Type             X           Y           Z
 ---------------------------------------------------------------------
{
    _spaced(
        [str(n) for n in NUMBERS],
        [{"Cu": "29", "O": "8", "H": "1", "C": "6", "N": "7"}[s] for s in ATOMS],
        ["0"] * COUNT,
        POINTS,
    )
}\
 ---------------------------------------------------------------------
 SCF Done:  E(RB3LYP) =  -76.4089533 A.U. after    9 cycles
 Normal termination of Gaussian 16
"""

texts(
    ("XYZ, words after the number", "six.xyz", f"{COUNT} atoms\nmade by hand\n" + text_of(
        ATOMS, POINTS), Written(POINTS, symbols=tuple(ATOMS))),
    ("XYZ, number named before", "named.xyz", f"natoms = {COUNT}\n\n" + text_of(ATOMS, POINTS),
     Written(POINTS, symbols=tuple(ATOMS))),
    ("XYZ of RUMD, types", "start.xyz",
     f"{COUNT}\nioformat=1 dt=0.005 timeStepIndex=0 boxLengths=10.0,11.0,12.0 numTypes=2 "
     "mass=1.0,1.0 columns=type,x,y,z,imx,imy,imz,vx,vy,vz\n" + text_of(
         IDS % 2, POINTS, ZEROS.astype(int), ZEROS), Written(POINTS, symbols=())),
    ("XYZ in capitals with charges", "MOLECULE.XYZ", f"  {COUNT}\r\ntitle\r\n" + text_of(
        [each.upper() for each in ATOMS], POINTS, SPEEDS, gap="\t", end="\r"),
     Written(POINTS, symbols=tuple(ATOMS))),
    ("Tecplot, block", "block.plt.dat",
     'TITLE = "drops"\nVARIABLES = "X [m]", "Y [m]", "Z [m]", "Radius [m]"\n'
     f'ZONE T="drops", I={COUNT}, DATAPACKING=BLOCK\n' + "".join(
         _block(each) for each in (*POINTS.T, RADII)), Written(POINTS, symbols=(), radii=RADII)),
    ("Tecplot, point, names below each other", "point.tec",
     'TITLE     = "drops"\nVARIABLES = "x"\n"y"\n"z"\n"radius"\nZONE T="1"\n'
     f' STRANDID=0, SOLUTIONTIME=0.5\n I={COUNT}, J=1, K=1, ZONETYPE=Ordered\n'
     " DATAPACKING=POINT\n DT=(DOUBLE DOUBLE DOUBLE DOUBLE )\n" + SPACES,
     Written(POINTS, symbols=(), radii=RADII)),
    ("OpenFOAM, positions of a cloud", "positions",
     "/*--------------------------------*- C++ -*----------------------------------*\\\n"
     "| =========                 |                                                 |\n"
     "\\*---------------------------------------------------------------------------*/\n"
     "FoamFile\n{\n    version     2.0;\n    format      ascii;\n    class       "
     "Cloud<basicKinematicCollidingParcel>;\n    location    \"0.5/lagrangian/cloud\";\n"
     "    object      positions;\n}\n// * * * * * * * * * * * * * * * * * * * //\n\n"
     f"{COUNT}\n(\n" + "".join(f"({x!r} {y!r} {z!r}) {n}\n" for n, (x, y, z) in
                               enumerate(POINTS.tolist())) + ")\n\n// **** //\n",
     Written(POINTS, symbols=())),
    ("ESyS-Particle, geometry", "packing.geo",
     "LSMGeometry 1.2\nBoundingBox 0 0 0 10 11 12\nPeriodicBoundaries 0 0 0\nDimension 3D\n"
     f"BeginParticles\nSimple\n{COUNT}\n" + text_of(POINTS, RADII, NUMBERS, ZEROS[:, 0])
     + "EndParticles\nBeginConnect\n0\nEndConnect\n", NAMELESS),
    ("Lubachevsky-Stillinger packing", "write.dat",
     f" 3 HS poly\n 3\n {COUNT} 1\n {COUNT}\n 0.5\n 10 0 0 0 11 0 0 0 12\n T T T\n"
     + text_of(POINTS, 2.0 * RADII), NAMELESS),
    ("oxDNA, configuration", "last_conf.dat", "t = 0\nb = 10 11 12\nE = 0 0 0\n" + text_of(
        POINTS, ZEROS, ZEROS, ZEROS, ZEROS), NAMELESS),
    ("GALAMOST XML", "galamost.xml",
     '<?xml version ="1.0" encoding ="UTF-8" ?>\n<galamost_xml version="1.3">\n'
     f'<configuration time_step="0" dimensions="3" natoms="{COUNT}" >\n'
     '<box lx="10" ly="11" lz="12" xy="0" xz="0" yz="0"/>\n'
     f'<position num="{COUNT}">\n{text_of(POINTS)}</position>\n<type num="{COUNT}">\n'
     + "A\n" * COUNT + f'</type>\n<diameter num="{COUNT}">\n{text_of(2.0 * RADII)}</diameter>\n'
     "</configuration>\n</galamost_xml>\n", Written(POINTS, symbols=(), edges=CELL, radii=RADII)),
    ("LS-DYNA, nodes", "model.k", "*KEYWORD\n*NODE\n"
     "$#   nid               x               y               z      tc      rc\n" + "".join(
         f"{n:8d}{x:16.8f}{y:16.8f}{z:16.8f}{0:8d}{0:8d}\n"
         for n, (x, y, z) in enumerate(POINTS.tolist(), 1)) + "*END\n",
     Written(decimals(POINTS, 8), symbols=())),
    ("Gmsh, nodes", "mesh.msh", f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{COUNT}\n"
     + text_of(NUMBERS, POINTS) + "$EndNodes\n$Elements\n0\n$EndElements\n", NAMELESS),
    ("POV-Ray, spheres", "spheres.pov", "".join(
        f"sphere {{ <{x!r}, {y!r}, {z!r}>, {r!r} }}\n" for (x, y, z), r in zip(
            POINTS.tolist(), RADII.tolist(), strict=True)), NAMELESS),
    ("Dynamo, table of particles", "crop.tbl", text_of(
        NUMBERS, *[np.zeros(COUNT, int)] * 22, POINTS, np.zeros(COUNT, int)), NAMELESS),
    ("ORCA, output", "water.out", ORCA, ROUNDED),
    ("Gaussian, output", "opt.log", GAUSSIAN, ROUNDED),
    ("XMol", "melt.xmol", f"{COUNT}\nlj melt\n" + text_of(ATOMS, POINTS), Written(POINTS)),
    ("PubChem, JSON", "pubchem.json", json.dumps({"PC_Compounds": [{
        "id": {"id": {"cid": 962}}, "atoms": {"aid": NUMBERS.tolist(),
                                              "element": [{"Cu": 29, "O": 8, "H": 1, "C": 6,
                                                           "N": 7}[s] for s in ATOMS]},
        "coords": [{"type": [2, 5], "aid": NUMBERS.tolist(), "conformers": [
            dict(zip("xyz", POINTS.T.tolist(), strict=True))]}]}]}), PLACED),
    ("table in Markdown", "grid.md",
     "| id | x | y | z | radius |\n|---|---|---|---|---|\n" + "".join(
         f"| {n} | {x!r} | {y!r} | {z!r} | {r!r} |\n" for n, (x, y, z), r in zip(
             NUMBERS.tolist(), POINTS.tolist(), RADII.tolist(), strict=True)),
     Written(POINTS, symbols=(), radii=RADII)),
    ("CIF, uncertainties", "beta.cif", "data_a\n_cell_length_a 10.0(1)\n_cell_length_b 11.0(1)\n"
     "_cell_length_c 12.000(3)\n_cell_angle_alpha 90\n_cell_angle_beta 90\n_cell_angle_gamma 90\n"
     "_symmetry_space_group_name_H-M 'P 1'\nloop_\n_atom_site_label\n_atom_site_type_symbol\n"
     "_atom_site_fract_x\n_atom_site_fract_y\n_atom_site_fract_z\n" + "".join(
         f"{s}{n} {s} {x:.6f}(3) {y:.6f}(2) {z:.6f}(12)\n" for n, s, (x, y, z) in zip(
             NUMBERS, ATOMS, (POINTS / EDGES).tolist(), strict=True)),
     Written(POINTS, 2e-5, edges=CELL)),
    ("LAMMPS dump, units and time, name in capitals", "dump.ff.LAMMPSTRJ",
     f"ITEM: UNITS\nlj\nITEM: TIME\n0.5\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{COUNT}\n"
     "ITEM: BOX BOUNDS ff ff ff\n0 10\n0 11\n0 12\nITEM: ATOMS id x y z fx c_1[1] v_s\n"
     + text_of(NUMBERS, POINTS, ZEROS), Written(POINTS, symbols=())),
    keeps="as printed", needs={"water.out": "ase", "opt.log": "ase", "beta.cif": "gemmi"},
)  # fmt: skip


def _datasets(arrays: Mapping[str, object], **attributes: object) -> Callable[[Path], None]:
    """Return a function that writes datasets, and attributes of the file."""

    def write(path: Path) -> None:
        import h5py

        with h5py.File(path, "w") as file:
            for name, values in arrays.items():
                file[name] = values
            file.attrs.update(attributes)

    return write


AXES: dict[str, object] = dict(zip("xyz", POINTS.T, strict=True))
AMUSE = AXES | {"radius": RADII, "mass": SPEEDS}
FLUID = AXES | {"h": RADII, "rho": SPEEDS, "tag": 0 * IDS}
NANOMETRES = single(POINTS / 10.0)
TOPOLOGY = {"chains": [{"index": 0, "residues": [{
    "index": 0, "resSeq": 1, "name": "MOL",
    "atoms": [{"index": n, "name": s, "element": s} for n, s in enumerate(ATOMS)]}]}],
    "bonds": []}  # fmt: skip
MDTRAJ = {
    "coordinates": np.stack([NANOMETRES, NANOMETRES]), "time": np.array([0.0, 1.0], np.float32),
    "cell_lengths": np.array([EDGES] * 2, np.float32) / 10.0,
    "cell_angles": np.full((2, 3), 90.0, np.float32), "topology": [json.dumps(TOPOLOGY)],
}  # fmt: skip
LOCALISATIONS = np.zeros(COUNT, [(name, "f4") for name in ("frame", "x", "y", "z", "photons", "lpx",
                                                            "lpy")])  # fmt: skip
for _place, _axis in enumerate("xyz"):
    LOCALISATIONS[_axis] = POINTS[:, _place]
CELLS = np.array([f"cell{n}".encode() for n in NUMBERS])
MINFLUX = np.zeros(COUNT, [("vld", "?"), ("tid", "i4"), ("tim", "f8"), ("loc", "f8", 3)])
MINFLUX["loc"] = POINTS


def _subfind(path: Path) -> None:
    import h5py

    _datasets({
        "Group/GroupPos": single(POINTS), "Group/GroupMass": SPEEDS, "Group/GroupVel": ZEROS,
        "Subhalo/SubhaloPos": single(POINTS[:2]), "Subhalo/SubhaloMass": SPEEDS[:2],
    })(path)  # fmt: skip
    with h5py.File(path, "a") as file:
        file.create_group("Header").attrs["BoxSize"] = 20.0


kinds(
    "h5py",
    ("AMUSE, particles", "cluster.amuse", "float64", Written(POINTS, symbols=(), radii=RADII),
     _datasets({f"particles/0000000001/attributes/{name}": each for name, each in AMUSE.items()}
               | {"particles/0000000001/keys": IDS})),
    ("PySPH, fluid", "tank_0.hdf5", "float64", PLACED,
     _datasets({f"particles/fluid/arrays/{name}": each for name, each in FLUID.items()}
               | {"solver_data/t": 0.1})),
    ("ASPECT, particles", "particles-00000.0000.h5", "float64",
     Written(POINTS, symbols=(), columns=(("T", SPEEDS),)),
     _datasets({"nodes": POINTS, "id": IDS, "T": SPEEDS})),
    ("MDTraj, HDF5, two frames", "traj.h5", "float32, in nanometres",
     Written(POINTS, 1e-5, frames=2),
     _datasets(MDTRAJ, conventions="Pande", conventionVersion="1.1", program="MDTraj")),
    ("Picasso, localisations", "locs.hdf5", "float32", Written(single(POINTS), symbols=()),
     _datasets({"locs": LOCALISATIONS})),
    ("Subfind, groups and subhalos", "fof_subhalo_tab_010.hdf5", "float32",
     Written(single(POINTS), symbols=(), inner="Group"), _subfind),
    ("AnnData, spatial coordinates", "cells.h5ad", "float64", PLACED, _datasets({
        "X": np.zeros((COUNT, 20)), "obs/_index": CELLS, "obs/area": SPEEDS, "obsm/spatial": POINTS,
        "var/_index": CELLS[:3]})),
)  # fmt: skip


def maestro(path: Path) -> None:
    from rdkit import Chem

    molecule = Chem.RWMol()
    places = Chem.Conformer(COUNT)
    for number, (symbol, point) in enumerate(zip(ATOMS, POINTS.tolist(), strict=True)):
        molecule.AddAtom(Chem.Atom(symbol))
        places.SetAtomPosition(number, point)
    molecule.AddBond(4, 5, Chem.BondType.DOUBLE)
    molecule.AddConformer(places)
    with Chem.MaeWriter(str(path)) as writer:
        writer.write(molecule)
        writer.write(molecule)


kinds("numpy", ("MINFLUX, localisations in records", "minflux.npy", "float64", PLACED,
                lambda path: np.save(path, MINFLUX)))  # fmt: skip
kinds("rdkit", ("Maestro, two structures", "a.mae", "as printed", Written(POINTS, 1e-5, frames=2),
                maestro, "rdkit"))  # fmt: skip
