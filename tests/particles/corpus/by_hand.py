"""Text of LAMMPS, as its commands print it."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

import numpy as np

from particles.corpus.kinds import (
    CELL,
    IDS,
    POINTS,
    RADII,
    SYMBOLS,
    TILTED,
    Written,
    digits,
    kinds,
    texts,
)

TYPES = [5, 4, 1, 1, 2, 3]


def dump(columns: str, rows: Iterable[object], box: str) -> str:
    """Return a frame of a dump: the title of the box and its lines, those of the atoms."""
    body = "\n".join(map(str, rows))
    head = f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{len(POINTS)}\nITEM: BOX BOUNDS {box}\n"
    return f"{head}ITEM: ATOMS {columns}\n{body}\n"


ORTHOGONAL = "pp pp pp\n0 10\n0 11\n0 12"
TRICLINIC = "xy xz yz pp pp pp\n-1.25 12.5 2.5\n0 14 -1.25\n0 12 3"
GENERAL = "abc origin pp pp pp\n" + "\n".join(
    " ".join(map(str, [*edge, 0.0])) for edge in TILTED.tolist()
)
EXACT = "{:.17g}"


def rows(values: object, form: str = "{:.6g}") -> list[str]:
    """Return lines: id, type and the numbers of each atom."""
    return [f"{number} {kind} " + " ".join(form.format(value) for value in row)
            for number, kind, row in zip(IDS, TYPES, np.asarray(values), strict=True)]  # fmt: skip


HEAD = """\
LAMMPS data file via write_data, version 2 Aug 2023, timestep = 0, units = real

6 atoms
5 atom types

0 10 xlo xhi
0 11 ylo yhi
0 12 zlo zhi
"""
MASSES = "\nMasses\n\n1 1.008 # H\n2 12.011 # C\n3 14.007 # N\n4 15.999 # O\n5 63.546 # Cu\n"


def data(style: str, lines: Iterable[str], more: str = "") -> str:
    return f"{HEAD}{more}\nAtoms # {style}\n\n" + "\n".join(lines) + "\n"


SCALED, TURNED = POINTS / CELL.diagonal(), POINTS @ np.linalg.inv(TILTED)
FULL = [f"{number} 1 {kind} 0.5 " + " ".join(map(repr, point))
        for number, kind, point in zip(IDS, TYPES, POINTS.tolist(), strict=True)]  # fmt: skip

texts(
    ("LAMMPS dump atom, scaled", "l.lammpstrj", dump("id type xs ys zs", rows(SCALED), ORTHOGONAL),
     Written(digits(SCALED, 6) * CELL.diagonal(), 1e-14, (), edges=CELL)),
    keeps="6 digits of fractions",
)  # fmt: skip
texts(
    ("LAMMPS dump custom, elements and ids", "l.dump", dump(
        "id type x y z element", map(" ".join, zip(rows(POINTS, EXACT), SYMBOLS, strict=True)),
        ORTHOGONAL),
     Written(POINTS, edges=CELL, columns=(("id", IDS), ("type", np.array(TYPES))))),
)  # fmt: skip
texts(
    ("LAMMPS dump, unwrapped, radii", "unwrapped.dump", dump(
        "id type xu yu zu radius", rows(np.column_stack([POINTS + 20.0, RADII])), ORTHOGONAL),
     Written(digits(POINTS + 20.0, 6), symbols=(), edges=CELL, radii=RADII)),
    keeps="6 digits",
)  # fmt: skip
texts(
    ("LAMMPS dump, triclinic, scaled", "tilted.dump", dump(
        "id type xsu ysu zsu", rows(TURNED, EXACT), TRICLINIC),
     Written(TURNED @ TILTED, 1e-14, (), edges=TILTED)),
    keeps="17 digits of fractions",
)  # fmt: skip
texts(
    ("LAMMPS dump, general triclinic box", "general.dump", dump(
        "id type x y z", rows(POINTS), GENERAL),
     Written(digits(POINTS, 6), symbols=(), edges=TILTED)),
    ("LAMMPS dump, three frames, name without ending", "dump.melt",
     3 * dump("id type x y z", rows(POINTS), ORTHOGONAL),
     Written(digits(POINTS, 6), symbols=(), edges=CELL, frames=3)),
    ("LAMMPS dump xyz", "l.xyz", "\n".join([
        str(len(POINTS)), "Atoms. Timestep: 0", *(line.split(" ", 1)[1] for line in rows(POINTS)),
        ""]), Written(digits(POINTS, 6), symbols=())),
    keeps="6 digits",
)  # fmt: skip
texts(
    ("LAMMPS data, atomic, image flags", "atomic.data",
     data("atomic", (f"{line} 0 0 0" for line in rows(POINTS, EXACT))),
     Written(POINTS, symbols=(), edges=CELL, columns=(("id", IDS),))),
    ("LAMMPS data, charge, triclinic", "charge.data",
     data("charge", rows(np.column_stack([RADII, POINTS]), EXACT), "2.5 -1.25 3 xy xz yz\n"),
     Written(POINTS, symbols=(), edges=TILTED)),
    ("LAMMPS data, full, symbols in Masses", "full.data", data("full", FULL, MASSES),
     Written(POINTS, edges=CELL)),
    ("LAMMPS data, sphere: diameters", "sphere.data",
     data("sphere", rows(np.column_stack([2.0 * RADII, np.ones(6), POINTS]), EXACT)),
     Written(POINTS, symbols=(), edges=CELL, radii=RADII)),
    ("table in a file that is called .xyz", "wrong.xyz",
     "x\ty\tz\n" + "".join("\t".join(map(EXACT.format, row)) + "\n" for row in POINTS),
     Written(POINTS, symbols=())),
)  # fmt: skip


def _dl_poly(path: Path, head: list[str], steps: list[str]) -> None:
    """Write atoms of DL_POLY behind each of some lines."""
    cell = [" ".join(f"{value:20.10f}" for value in row) for row in CELL]
    lines = list(head)
    for step, start in enumerate(steps):
        lines += [*([start] if start else []), *cell]
        for number, (symbol, point) in enumerate(zip(SYMBOLS, POINTS + step, strict=True)):
            lines += [
                f"{symbol:8}{number + 1:10}{1.0:12.6f}{0.0:12.6f}",
                "".join(f"{value:20.12f}" for value in point),
            ]
    path.write_text("\n".join(lines) + "\n")


LINE = f"{0:10}{3:10}{6:10}"
STEPS = [f"timestep{step:10}{6:10}{0:2}{3:2}{0.001:12.6f}{0.001 * step:12.6f}" for step in (1, 2)]


def desmond(path: Path) -> None:
    import sqlite3

    numbers = {"Cu": 29, "O": 8, "H": 1, "C": 6, "N": 7}
    with sqlite3.connect(path) as rows:
        rows.execute(
            "CREATE TABLE particle (id, anum, name, x, y, z, vx, vy, vz, resname, resid, chain, "
            "segid, mass, charge)"
        )
        for place, (symbol, point) in enumerate(zip(SYMBOLS, POINTS.tolist(), strict=True)):
            values = (place, numbers[symbol], symbol, *point, 0.0, 0.0, 0.0, "MOL", 1, "A", "A",
                      1.0, 0.0)  # fmt: skip
            rows.execute(f"INSERT INTO particle VALUES ({','.join('?' * 15)})", values)
        rows.execute("CREATE TABLE bond (p0, p1)")
        rows.execute("CREATE TABLE global_cell (id, x, y, z)")
        for place, edge in enumerate(CELL.tolist()):
            rows.execute("INSERT INTO global_cell VALUES (?, ?, ?, ?)", (place, *edge))
    rows.close()


kinds(
    "by hand",
    ("DL_POLY configuration", "CONFIG", "12 decimals", Written(POINTS, 1e-5, edges=CELL),
     partial(_dl_poly, head=["title", LINE], steps=[""]), "MDAnalysis"),
    ("DL_POLY history, two frames", "HISTORY", "12 decimals",
     Written(POINTS, 1e-5, edges=CELL, frames=2),
     partial(_dl_poly, head=["title", f"{LINE}{2:21}{40:21}"], steps=STEPS), "MDAnalysis"),
    ("Desmond", "a.dms", "float64", Written(POINTS, 1e-6, edges=CELL), desmond, "MDAnalysis"),
)  # fmt: skip
