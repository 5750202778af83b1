"""Files that OVITO writes."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from particles.corpus.kinds import CELL, IDS, POINTS, RADII, SYMBOLS, Array, Written, kinds


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


def by(form: str, columns: tuple[str, ...] = (), **options: Any) -> Callable[[Path], None]:
    return lambda path: written(path, form, columns, **options)


_POSITION = ("Position.X", "Position.Y", "Position.Z")
_COLUMNS = ("Particle Identifier", "Particle Type", *_POSITION)
_PLAIN = Written(POINTS, symbols=(), edges=CELL)
_BY_TYPE = np.argsort([list(dict.fromkeys(SYMBOLS)).index(each) for each in SYMBOLS], kind="stable")
# HOOMD-blue centres the box on 0, and OVITO orders particles by their ids.
_BY_ID = np.argsort(IDS)


def _ordered(points: Array, order: Array, step: float) -> Written:
    symbols = tuple(SYMBOLS[place] for place in order)
    return Written(points[order], step, symbols, edges=CELL)


kinds(
    "ovito",
    ("LAMMPS dump", "d.dump", "17 digits",
     Written(POINTS, symbols=(), edges=CELL, columns=(("id", IDS),)),
     by("lammps/dump", (*_COLUMNS, "Radius"), precision=17)),
    ("LAMMPS dump, gzip", "d.dump.gz", "17 digits", _PLAIN,
     by("lammps/dump", _COLUMNS, precision=17)),
    ("LAMMPS data", "d.data", "17 digits", _PLAIN,
     by("lammps/data", atom_style="atomic", precision=17)),
    ("extended XYZ", "d.xyz", "17 digits", Written(POINTS, edges=CELL),
     by("xyz", ("Particle Type", *_POSITION, "Radius"), precision=17)),
    ("POSCAR", "d.vasp", "17 digits", _ordered(POINTS, _BY_TYPE, 1e-14), by("vasp", precision=17)),
    ("FHI-aims", "d.in", "17 digits", Written(POINTS, 1e-14, edges=CELL),
     by("fhi-aims", precision=17), "ase"),
    ("GSD", "d.gsd", "float32", _ordered(POINTS - CELL.diagonal() / 2.0, _BY_ID, 2e-6),
     by("gsd/hoomd"), "gsd"),
    ("IMD", "d.imd", "17 digits", _PLAIN, by("imd", _COLUMNS, precision=17)),
)  # fmt: skip
