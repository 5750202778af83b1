"""Text of LAMMPS, as its commands print it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np

from scene.particles.corpus.kinds import (
    CELL,
    IDS,
    POINTS,
    RADII,
    SYMBOLS,
    TILTED,
    Written,
    digits,
    kind,
)

TYPES = [5, 4, 1, 1, 2, 3]
_G = "{:.6g}"


def dump(path: Path, columns: str, rows: Iterable[object], box: str, frames: int = 1) -> None:
    """Write a dump: the title of the box and its lines, those of the atoms."""
    body = "\n".join(map(str, rows))
    head = f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{len(POINTS)}\nITEM: BOX BOUNDS {box}\n"
    path.write_text(f"{head}ITEM: ATOMS {columns}\n{body}\n" * frames)


ORTHOGONAL = "pp pp pp\n0 10\n0 11\n0 12"
TRICLINIC = "xy xz yz pp pp pp\n-1.25 12.5 2.5\n0 14 -1.25\n0 12 3"


def rows(values: object, form: str = _G) -> list[str]:
    """Return lines: id, type and the numbers of each atom."""
    return [f"{number} {kind} " + " ".join(form.format(value) for value in row)
            for number, kind, row in zip(IDS, TYPES, np.asarray(values), strict=True)]  # fmt: skip


@kind("LAMMPS dump atom, scaled", "l.lammpstrj", "by hand", "6 digits of fractions")
def atom(path: Path) -> Written:
    scaled = POINTS / CELL.diagonal()
    dump(path, "id type xs ys zs", rows(scaled), ORTHOGONAL)
    return Written(digits(scaled, 6) * CELL.diagonal(), 1e-14, (), edges=CELL)


@kind("LAMMPS dump custom, elements and ids", "l.dump", "by hand", "17 digits")
def custom(path: Path) -> Written:
    lines = [
        f"{line} {symbol}" for line, symbol in zip(rows(POINTS, "{:.17g}"), SYMBOLS, strict=True)
    ]
    dump(path, "id type x y z element", lines, ORTHOGONAL)
    return Written(POINTS, edges=CELL, columns=(("id", IDS), ("type", np.array(TYPES))))


@kind("LAMMPS dump, unwrapped, radii", "unwrapped.dump", "by hand", "6 digits")
def unwrapped(path: Path) -> Written:
    values = np.column_stack([POINTS + 20.0, RADII])
    dump(path, "id type xu yu zu radius", rows(values), ORTHOGONAL)
    return Written(digits(POINTS + 20.0, 6), symbols=(), edges=CELL, radii=RADII)


@kind("LAMMPS dump, triclinic, scaled", "tilted.dump", "by hand", "17 digits of fractions")
def tilted(path: Path) -> Written:
    scaled = POINTS @ np.linalg.inv(TILTED)
    dump(path, "id type xsu ysu zsu", rows(scaled, "{:.17g}"), TRICLINIC)
    return Written(scaled @ TILTED, 1e-14, (), edges=TILTED)


@kind("LAMMPS dump, general triclinic box", "general.dump", "by hand", "6 digits")
def general(path: Path) -> Written:
    lines = "\n".join(" ".join(map(str, [*edge, 0.0])) for edge in TILTED.tolist())
    dump(path, "id type x y z", rows(POINTS), f"abc origin pp pp pp\n{lines}")
    return Written(digits(POINTS, 6), symbols=(), edges=TILTED)


@kind("LAMMPS dump, three frames, name without ending", "dump.melt", "by hand", "6 digits")
def frames(path: Path) -> Written:
    dump(path, "id type x y z", rows(POINTS), ORTHOGONAL, frames=3)
    return Written(digits(POINTS, 6), symbols=(), edges=CELL, frames=3)


@kind("LAMMPS dump xyz", "l.xyz", "by hand", "6 digits")
def dump_xyz(path: Path) -> Written:
    lines = [line.split(" ", 1)[1] for line in rows(POINTS)]
    path.write_text("\n".join([str(len(POINTS)), "Atoms. Timestep: 0", *lines]) + "\n")
    return Written(digits(POINTS, 6), symbols=())


_HEAD = """\
LAMMPS data file via write_data, version 2 Aug 2023, timestep = 0, units = real

6 atoms
5 atom types

0 10 xlo xhi
0 11 ylo yhi
0 12 zlo zhi
"""


def _data(path: Path, style: str, lines: Iterable[str], head: str = _HEAD) -> None:
    path.write_text(f"{head}\nAtoms # {style}\n\n" + "\n".join(lines) + "\n")


@kind("LAMMPS data, atomic, image flags", "atomic.data", "by hand", "17 digits")
def atomic(path: Path) -> Written:
    _data(path, "atomic", (f"{line} 0 0 0" for line in rows(POINTS, "{:.17g}")))
    return Written(POINTS, symbols=(), edges=CELL, columns=(("id", IDS),))


@kind("LAMMPS data, charge, triclinic", "charge.data", "by hand", "17 digits")
def charge(path: Path) -> Written:
    lines = rows(np.column_stack([RADII, POINTS]), "{:.17g}")
    _data(path, "charge", lines, f"{_HEAD}2.5 -1.25 3 xy xz yz\n")
    return Written(POINTS, symbols=(), edges=TILTED)


@kind("LAMMPS data, full, symbols in Masses", "full.data", "by hand", "17 digits")
def full(path: Path) -> Written:
    masses = "\nMasses\n\n1 1.008 # H\n2 12.011 # C\n3 14.007 # N\n4 15.999 # O\n5 63.546 # Cu\n"
    lines = [f"{number} 1 {kind} 0.5 " + " ".join(map(repr, point))
             for number, kind, point in zip(IDS, TYPES, POINTS.tolist(), strict=True)]  # fmt: skip
    _data(path, "full", lines, _HEAD + masses)
    return Written(POINTS, edges=CELL)


@kind("LAMMPS data, sphere: diameters", "sphere.data", "by hand", "17 digits")
def sphere(path: Path) -> Written:
    values = np.column_stack([2.0 * RADII, np.ones(6), POINTS])
    _data(path, "sphere", rows(values, "{:.17g}"))
    return Written(POINTS, symbols=(), edges=CELL, radii=RADII)


@kind("table in a file that is called .xyz", "wrong.xyz", "by hand", "17 digits")
def wrong(path: Path) -> Written:
    lines = [" ".join(f"{value:.17g}" for value in row) for row in POINTS]
    path.write_text("\n".join(["x\ty\tz", *lines]).replace(" ", "\t") + "\n")
    return Written(POINTS, symbols=())


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


@kind("DL_POLY configuration", "CONFIG", "by hand", "12 decimals", "MDAnalysis")
def dl_poly_config(path: Path) -> Written:
    _dl_poly(path, ["title", f"{0:10}{3:10}{6:10}"], [""])
    return Written(POINTS, 1e-5, edges=CELL)


@kind("DL_POLY history, two frames", "HISTORY", "by hand", "12 decimals", "MDAnalysis")
def dl_poly_history(path: Path) -> Written:
    steps = [
        f"timestep{step:10}{6:10}{0:2}{3:2}{0.001:12.6f}{0.001 * step:12.6f}" for step in (1, 2)
    ]
    _dl_poly(path, ["title", f"{0:10}{3:10}{6:10}{2:21}{40:21}"], steps)
    return Written(POINTS, 1e-5, edges=CELL, frames=2)


@kind("Desmond", "a.dms", "by hand", "float64", "MDAnalysis")
def desmond(path: Path) -> Written:
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
    return Written(POINTS, 1e-6, edges=CELL)
