"""Files that OVITO writes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from scene.particles.corpus.kinds import CELL, IDS, POINTS, RADII, SYMBOLS, Written, kind


def written(path: Path, form: str, columns: tuple[str, ...] = (), **options: Any) -> None:
    """Write the six particles in a format of OVITO."""
    from ovito.data import DataCollection, ParticleType, SimulationCell
    from ovito.io import export_file
    from ovito.pipeline import Pipeline, StaticSource

    data = DataCollection()
    matrix = np.column_stack([CELL, np.zeros(3)])
    data.objects.append(SimulationCell(pbc=(True, True, True)))
    data.cell_[...] = matrix
    particles = data.create_particles(count=len(POINTS))
    particles.create_property("Position", data=POINTS)
    particles.create_property("Particle Identifier", data=IDS)
    particles.create_property("Radius", data=RADII)
    types = particles.create_property("Particle Type")
    kinds = list(dict.fromkeys(SYMBOLS))
    for place, symbol in enumerate(kinds, 1):
        types.types.append(ParticleType(id=place, name=symbol))
    types[...] = [kinds.index(symbol) + 1 for symbol in SYMBOLS]
    if columns:
        options["columns"] = list(columns)
    export_file(Pipeline(source=StaticSource(data=data)), str(path), form, **options)


_POSITION = ("Position.X", "Position.Y", "Position.Z")
_COLUMNS = ("Particle Identifier", "Particle Type", *_POSITION)


@kind("LAMMPS dump", "d.dump", "ovito", "17 digits")
def dump(path: Path) -> Written:
    written(path, "lammps/dump", (*_COLUMNS, "Radius"), precision=17)
    ids = (("id", IDS),)
    return Written(POINTS, symbols=(), edges=CELL, columns=ids)


@kind("LAMMPS dump, gzip", "d.dump.gz", "ovito", "17 digits")
def dump_gz(path: Path) -> Written:
    written(path, "lammps/dump", _COLUMNS, precision=17)
    return Written(POINTS, symbols=(), edges=CELL)


@kind("LAMMPS data", "d.data", "ovito", "17 digits")
def data(path: Path) -> Written:
    written(path, "lammps/data", atom_style="atomic", precision=17)
    return Written(POINTS, symbols=(), edges=CELL)


@kind("extended XYZ", "d.xyz", "ovito", "17 digits")
def xyz(path: Path) -> Written:
    written(path, "xyz", ("Particle Type", *_POSITION, "Radius"), precision=17)
    return Written(POINTS, edges=CELL)


@kind("POSCAR", "d.vasp", "ovito", "17 digits")
def vasp(path: Path) -> Written:
    written(path, "vasp", precision=17)
    order = np.argsort(
        [list(dict.fromkeys(SYMBOLS)).index(each) for each in SYMBOLS], kind="stable"
    )
    symbols = tuple(SYMBOLS[place] for place in order)
    return Written(POINTS[order], 1e-14, symbols, edges=CELL)


@kind("FHI-aims", "d.in", "ovito", "17 digits", "ase")
def aims(path: Path) -> Written:
    written(path, "fhi-aims", precision=17)
    return Written(POINTS, 1e-14, edges=CELL)


@kind("GSD", "d.gsd", "ovito", "float32", "gsd")
def gsd(path: Path) -> Written:
    written(path, "gsd/hoomd")
    # HOOMD-blue centres the box on 0, and OVITO orders particles by their ids.
    order = np.argsort(IDS)
    symbols = tuple(SYMBOLS[place] for place in order)
    return Written((POINTS - CELL.diagonal() / 2.0)[order], 2e-6, symbols, edges=CELL)


@kind("IMD", "d.imd", "ovito", "17 digits")
def imd(path: Path) -> Written:
    written(path, "imd", _COLUMNS, precision=17)
    return Written(POINTS, symbols=(), edges=CELL)
