"""Texts and snapshots of programs that are not installed, as their manuals describe them."""

import json
import struct
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from particles.corpus.kinds import (
    CELL,
    IDS,
    POINTS,
    RADII,
    SPEEDS,
    SYMBOLS,
    TILTED,
    Array,
    Written,
    decimals,
    kind,
    kinds,
    single,
    texts,
)

PLAIN = "{:.17g}"
THREE = Written(POINTS, symbols=(), warning="the columns have no names")


def text_of(*columns: object, gap: str = " ", form: str = PLAIN, end: str = "") -> str:
    """Return rows of numbers and texts, one of each column or matrix."""
    parts = [np.asarray(each, object).reshape(len(POINTS), -1) for each in columns]
    rows = [[each if isinstance(each, str) else form.format(each) for each in row]
            for row in np.hstack(parts).tolist()]  # fmt: skip
    return "".join(f"{gap.join(row)}{end}\n" for row in rows)


SIZED = Written(POINTS, symbols=(), radii=RADII)
PLACED = Written(POINTS, symbols=())
COMMAS = text_of(POINTS, RADII, gap=",")
SPACES = text_of(POINTS, RADII)
ZEROS = np.zeros((6, 3))


def _comma(text: str) -> str:
    return text.replace(".", ",")


def _fortran(text: str) -> str:
    return text.replace("e", "D")


texts(
    ("LAMMPS thermo-like table, comment above names", "a.out", f"# made\n# x y z radius\n{SPACES}",
     SIZED),
    ("yt, particle_position_x", "yt.csv",
     "particle_position_x,particle_position_y,particle_position_z,particle_radius\n" + COMMAS,
     SIZED),
    ("DualSPHysics, PartVTK", "PartFluid_0001.csv",
     "TimeStep;Np;Nout\n0.05;6;0\n\nPos.x [m];Pos.y [m];Pos.z [m];Idp;Vel.x [m/s];Type;\n"
     + text_of(POINTS, IDS, SPEEDS, np.zeros(6), gap=";", end=";"), PLACED),
    ("DualSPHysics, preamble of comments", "PartAll.csv",
     "#Code: DualSPHysics\n#Np;6\n Pos.x [m];Pos.y [m];Pos.z [m];Idp;Rhop [kg/m^3]\n"
     + text_of(POINTS, IDS, SPEEDS, gap=";"), PLACED),
    ("Rockstar, halos in text", "halos_0.0.ascii",
     "#id num_p mvir rvir vmax x y z vx vy vz\n#a = 1.000000\n#Om = 0.27; Ol = 0.73; h = 0.7\n"
     "#Units: Masses in Msun / h\n#Rockstar Version: 0.99.9\n"
     + text_of(IDS, IDS, SPEEDS, RADII, SPEEDS, POINTS, ZEROS), PLACED),
    ("consistent-trees, numbered names", "hlist.list",
     "#scale(0) id(1) mvir(2) x(3) y(4) z(5)\n#Omega_M = 0.3\n"
     + text_of(RADII, IDS, SPEEDS, POINTS), PLACED),
    ("AHF, halos", "snap.AHF_halos", "#ID(1)\thostHalo(2)\tXc(3)\tYc(4)\tZc(5)\tRvir(6)\n"
     + text_of(IDS, np.zeros(6), POINTS, RADII, gap="\t"), PLACED),
    ("Leica PTS, intensity and colours", "scan.pts",
     "6\n" + text_of(POINTS, IDS, IDS, IDS, IDS), PLACED),
    ("Leica PTS, coordinates", "xyz.pts", "6\n" + text_of(POINTS), PLACED),
    ("table without names, commas", "bare.csv", text_of(POINTS, gap=","), THREE),
    ("table without names, symbols first", "symbols.txt", text_of(SYMBOLS, POINTS),
     Written(POINTS, warning="the columns have no names")),
    ("table with a line of units", "units.csv", f"x,y,z,radius\nm,m,m,mm\n{COMMAS}", SIZED),
    ("table with units in brackets below", "brackets.csv",
     f"x,y,z,radius\n[m],[m],[m],[m]\n{COMMAS}", SIZED),
    ("table, tabs and decimal commas", "tabs.txt",
     "x\ty\tz\tradius\n" + _comma(text_of(POINTS, RADII, gap="\t")), SIZED),
    ("table, spaces and decimal commas", "commas.dat", f"x y z radius\n{_comma(SPACES)}", SIZED),
    ("table, quoted decimal commas", "quoted.csv", '"x","y","z","radius"\n' + "".join(
        ",".join(f'"{cell}"' for cell in _comma(line).split()) + "\n"
        for line in SPACES.splitlines()), SIZED),
    ("table, exponents of Fortran", "fortran.dat",
     "! x y z radius\n" + _fortran(text_of(POINTS, RADII, form="{:.16e}")), SIZED),
    ("table, empty rows at the end", "excel.csv", f"x,y,z,radius\n{COMMAS},,,\n,,,\n", SIZED),
    ("table, separators at the ends", "trailing.csv",
     "x,y,z,radius,\n" + text_of(POINTS, RADII, gap=",", end=","), SIZED),
    ("table, padded names", "padded.csv", "  x  ,  y ,   z , radius  \n"
     + text_of(POINTS, RADII, gap=" ,  "), SIZED),
    ("table, names on the second line", "second.csv", f"Results of run 7\nx,y,z,radius\n{COMMAS}",
     SIZED),
    ("table, vertical bars", "bars.txt", "x|y|z|radius\n" + text_of(POINTS, RADII, gap="|"), SIZED),
    ("table, comments at the ends of rows", "remarks.txt",
     "# x y z radius\n" + text_of(POINTS, RADII, end=" # checked"), SIZED),
    ("table, comments between rows", "between.txt",
     "# x y z radius\n" + "# next\n".join(f"{line}\n" for line in SPACES.splitlines()), SIZED),
    ("R, write.table", "r.txt", '"x" "y" "z" "radius"\n' + "".join(
        f'"{place}" {line}\n' for place, line in enumerate(SPACES.splitlines(), 1)), SIZED),
    ("ParaView, spreadsheet", "paraview.csv", '"radius","Points:0","Points:1","Points:2"\n'
     + text_of(RADII, POINTS, gap=","), SIZED),
    ("COMSOL, export", "comsol.txt",
     "% Model:              grains.mph\n% Version:            COMSOL 6.1\n% Nodes:  6\n"
     "% x                       y                        z                        T (K)\n"
     + text_of(POINTS, SPEEDS, gap="      "), PLACED),
    ("EDEM, export", "edem.csv",
     "EDEM export,v2022\nTIME:,0.5\n\n"
     "Particle ID,Position X (m),Position Y (m),Position Z (m),Radius (m)\n"
     + text_of(IDS, POINTS, RADII, gap=", "), SIZED),
    ("Rocky, export", "rocky.csv",
     "Particle ID,Particle X-Coordinate [m],Particle Y-Coordinate [m],Particle Z-Coordinate [m]\n"
     + text_of(IDS, POINTS, gap=","), PLACED),
    ("Fluent, export", "fluent.txt",
     "nodenumber,    x-coordinate,    y-coordinate,    z-coordinate\n"
     + text_of(IDS, POINTS, gap=",  "), PLACED),
    ("STAR-CCM+, export", "star.csv", '"Particle Diameter (m)","X (m)","Y (m)","Z (m)"\n'
     + text_of(2.0 * RADII, POINTS, gap=","), SIZED),
    ("YADE, text", "yade.txt", "#format x_y_z_r\n" + text_of(POINTS, RADII, gap="\t"),
     Written(POINTS, symbols=(), radii=RADII, warning="'r' is taken as the radius")),
    ("Tecplot, points", "tecplot.dat",
     'TITLE = "run"\nVARIABLES = "X" "Y" "Z" "Radius"\nZONE T="one", I=6, F=POINT\n' + SPACES,
     SIZED),
    ("SPLASH, text", "splash.ascii",
     "# splash\n#  [01           x ]  [02           y ]  [03           z ]  [04  smoothing ]\n"
     + text_of(POINTS, RADII, gap="  "), PLACED),
    ("CloudCompare, text", "cloud.asc", "//X Y Z Intensity\n" + SPACES, PLACED),
    ("TrackMate, spots", "spots.csv",
     "LABEL,ID,POSITION_X,POSITION_Y,POSITION_Z,RADIUS\nLabel,Spot ID,X,Y,Z,Radius\n"
     "Label,Spot ID,X,Y,Z,R\n,,(micron),(micron),(micron),(micron)\n"
     + text_of([f"ID{each}" for each in IDS], IDS, POINTS, RADII, gap=","), SIZED),
    ("Imaris, positions", "imaris.csv", "\nPosition\n====================\n"
     "Position X,Position Y,Position Z,Unit,Category\n"
     + text_of(POINTS, ["um"] * 6, ["Spot"] * 6, gap=","), PLACED),
    ("scikit-image, regionprops", "regions.csv",
     "label,centroid-0,centroid-1,centroid-2\n" + text_of(IDS, POINTS[:, ::-1], gap=","), PLACED),
    ("ThunderSTORM", "storm.csv", '"id","frame","x [nm]","y [nm]","z [nm]","sigma [nm]"\n'
     + text_of(IDS, IDS, POINTS, RADII, gap=","), Written(POINTS, symbols=(), warning="sigma")),
    ("ECSV of astropy", "a.ecsv",
     "# %ECSV 1.0\n# ---\n# datatype:\n# - {name: x, unit: kpc, datatype: float64}\n"
     "# schema: astropy-2.0\nx y z radius\n" + SPACES, SIZED),
    ("AMReX, particles in text", "particles.txt", "6\n0\n0\n1\n0\n"
     + text_of(POINTS, IDS, np.zeros(6), RADII), THREE),
    ("XYZ without number of atoms", "points.xyz", text_of(POINTS),
     Written(POINTS, symbols=(), warning="the columns have no names")),
    ("XYZ with tabs", "tabs.xyz", "6\n\n" + text_of(SYMBOLS, POINTS, gap="\t"), Written(POINTS)),
    ("XYZ with exponents of Fortran", "fortran.xyz",
     "6\n\n" + _fortran(text_of(np.array(SYMBOLS), POINTS, form="{:.16e}")), Written(POINTS)),
    ("Tinker XYZ with the ending of XYZ", "tinker.xyz", "     6  molecule\n" + "".join(
        f"{i:6d}  {symbol:2s} {x:12.6f}{y:12.6f}{z:12.6f}     1\n"
        for i, (symbol, (x, y, z)) in enumerate(zip(SYMBOLS, POINTS.tolist(), strict=True), 1)),
     Written(decimals(POINTS, 6), 1e-6)),
    ("Leica PTX", "scan.ptx",
     "2\n3\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n"
     + text_of(POINTS, RADII), PLACED),
    ("QCSchema", "molecule.json", json.dumps({
        "schema_name": "qcschema_molecule", "symbols": SYMBOLS,
        "geometry": (POINTS / 0.529177210903).ravel().tolist()}), Written(POINTS, 1e-14)),
    ("pymatgen", "structure.json", json.dumps({
        "@module": "pymatgen.core.structure", "lattice": {"matrix": CELL.tolist()}, "sites": [
            {"species": [{"element": symbol, "occu": 1}], "xyz": point, "label": "A"}
            for symbol, point in zip(SYMBOLS, POINTS.tolist(), strict=True)]}), PLACED),
    ("GeoJSON", "points.json", json.dumps({"type": "FeatureCollection", "features": [
        {"type": "Feature", "geometry": {"type": "Point", "coordinates": point}}
        for point in POINTS.tolist()]}), PLACED),
    ("records with inner records", "inner.json", json.dumps([
        {"id": place, "pos": dict(zip("xyz", point, strict=True)), "radius": radius}
        for place, (point, radius) in enumerate(zip(
            POINTS.tolist(), RADII.tolist(), strict=True))]), SIZED),
    ("symbols, names in capitals", "capitals.csv", "Element,X,Y,Z\n" + text_of(
        SYMBOLS, POINTS, gap=","), Written(POINTS)),
    ("rows of NaN at the end", "nan.csv",
     f"x,y,z,radius\n{COMMAS}nan,nan,nan,nan\n,,,\n", SIZED),
    ("names with units after underscores", "cluster.txt",
     "#Mass_[Msun]\tx_[pc]\ty_[pc]\tz_[pc]\n" + text_of(RADII, POINTS, gap="\t"), PLACED),
    ("IMD", "a.imd",
     "#F A 1 1 1 3 0 0\n#C number type mass x y z\n#X 10 0 0\n#Y 0 11 0\n#Z 0 0 12\n#E\n"
     + text_of(IDS, IDS % 3, SPEEDS, POINTS), Written(POINTS, symbols=(), edges=CELL)),
    ("MercuryDPM, two frames", "mercury.data", 2 * (
        "6 0.5 0 0 0 10 11 12\n" + text_of(POINTS, ZEROS, RADII, ZEROS, ZEROS, np.zeros(6))),
     Written(POINTS, symbols=(), edges=CELL, radii=RADII, frames=2)),
    ("HOOMD XML", "hoomd.xml",
     '<?xml version="1.0" encoding="UTF-8"?>\n<hoomd_xml version="1.5">\n'
     '<configuration time_step="7">\n<box lx="10" ly="11" lz="12" xy="0" xz="0" yz="0"/>\n'
     f'<position num="6">\n{text_of(POINTS)}</position>\n<type num="6">\n'
     + "\n".join("ABABAB") + f'\n</type>\n<diameter num="6">\n{text_of(2.0 * RADII)}</diameter>\n'
     "</configuration>\n</hoomd_xml>\n", Written(POINTS, symbols=(), edges=CELL, radii=RADII)),
    ("VTF of ESPResSo", "a.vtf",
     "unitcell 10 11 12\natom 0:5 radius 0.5 name O type 0\natom 2 radius 1 name H type 1\n"
     f"bond 0:1,2::4\ntimestep ordered\n{text_of(POINTS)}",
     Written(POINTS, symbols=(), edges=CELL, radii=np.array([0.5, 0.5, 1, 0.5, 0.5, 0.5]))),
    ("LAMMPS dump in YAML, two frames", "dump.yaml", 2 * (
        "---\ncreator: LAMMPS\ntimestep: 0\nunits: lj\nnatoms: 6\nboundary: [ p, p, p, p, p, p, ]\n"
        "box:\n  - [ 0, 10 ]\n  - [ 0, 11 ]\n  - [ 0, 12 ]\nkeywords: [ id, type, x, y, z, ]\n"
        "data:\n" + "".join(f"  - [ {line.replace(' ', ' , ')} , ]\n" for line in
                            text_of(IDS, IDS % 3, POINTS).splitlines()) + "...\n"),
     Written(POINTS, symbols=(), edges=CELL, frames=2)),
    needs={"dump.yaml": "yaml", "tinker.xyz": "chemfiles"},
)  # fmt: skip

NAMED = f"x,y,z,radius,größe [µm]\n{text_of(POINTS, RADII, SPEEDS, gap=',')}"

GROWN = Written(POINTS, symbols=(), radii=RADII, columns=(("größe [µm]", SPEEDS),))

kinds("by hand", *((title, file, "17 digits", GROWN,
                    partial(Path.write_text, data=NAMED, encoding=encoding))
                   for title, file, encoding in (
    ("table in Latin-1", "latin.csv", "latin-1"),
    ("table in UTF-16", "utf16.csv", "utf-16"),
    ("table in UTF-8 with byte order mark", "bom.csv", "utf-8-sig"),
)))  # fmt: skip


def _poscar(comment: str) -> str:
    cell = "".join(" ".join(map(str, edge)) + "\n" for edge in TILTED.tolist())
    return f"{comment}\n1.0\n{cell}Cu O H C N\n1 1 2 1 1\nCartesian\n{text_of(POINTS)}"


kinds("by hand", (
    "POSCAR without ending, a first line of 9,000 letters", "relaxed", "17 digits",
    Written(POINTS, 1e-14, edges=TILTED),
    partial(Path.write_text, data=_poscar("Cu O H C N " * 800)), "ase",
))  # fmt: skip


def gadget(path: Path, order: str, named: bool) -> Written:
    """Write a snapshot: a particle of gas, and five of the halo with one mass."""
    counts, masses = np.array([1, 5, 0, 0, 0, 0]), np.array([0.0, 2.0, 0, 0, 0, 0])
    head = struct.pack(
        f"{order}6i6ddd2i6i2id", *counts, *masses, 0.5, 1.0, 0, 0, *counts, 0, 1, 20.0
    ).ljust(256, b"\0")
    blocks = {
        "HEAD": head,
        "POS ": POINTS.astype(f"{order}f4").tobytes(),
        "VEL ": np.zeros((6, 3), f"{order}f4").tobytes(),
        "ID  ": IDS.astype(f"{order}u4").tobytes(),
        "MASS": np.array([3.0], f"{order}f4").tobytes(),
        "U   ": np.array([4.0], f"{order}f4").tobytes(),
    }
    with path.open("wb") as file:
        for name, data in blocks.items():
            if named:
                inner = name.encode() + struct.pack(f"{order}I", len(data) + 8)
                file.write(struct.pack(f"{order}I8sI", 8, inner, 8))
            mark = struct.pack(f"{order}I", len(data))
            file.write(mark + data + mark)
    others: tuple[tuple[str, Array], ...] = (("id", IDS), ("mass", np.array([3.0, *[2.0] * 5])))
    return Written(single(POINTS), symbols=(), edges=np.diag([20.0] * 3), columns=others)


for _order, _word in (("<", "little"), (">", "big")):
    for _named in (False, True):
        kind(f"Gadget-2, format {1 + _named}, {_word} endian", f"snapshot_{_word}_00{int(_named)}",
             "by hand", "float32")(partial(gadget, order=_order, named=_named))  # fmt: skip

PCD = """\
# .PCD v0.7 - Point Cloud Data file format
VERSION 0.7
FIELDS x y z radius
SIZE 8 8 8 8
TYPE F F F F
COUNT 1 1 1 1
WIDTH 6
HEIGHT 1
VIEWPOINT 0 0 0 1 0 0 0
POINTS 6
DATA """

TIPSY = np.zeros((6, 9), ">f4")
TIPSY[:, 1:4] = POINTS


def _bytes(data: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(data)


kinds(
    "by hand",
    ("atom probe", "reconstruction.pos", "float32",
     Written(single(POINTS), symbols=(), columns=(("mass_to_charge", single(SPEEDS)),)),
     _bytes(np.column_stack([POINTS, SPEEDS]).astype(">f4").tobytes())),
    ("Tipsy, big endian", "galaxy.00100", "float32", Written(single(POINTS), symbols=()),
     _bytes(struct.pack(">d6i", 0.5, 6, 3, 0, 6, 0, 0) + TIPSY.tobytes())),
    ("PCD, text", "text.pcd", "17 digits", SIZED, _bytes(f"{PCD}ascii\n{SPACES}".encode()),
     "pypcd4"),
    ("PCD, binary", "binary.pcd", "float64", SIZED,
     _bytes(f"{PCD}binary\n".encode() + np.column_stack([POINTS, RADII]).tobytes()), "pypcd4"),
)  # fmt: skip
