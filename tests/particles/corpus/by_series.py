"""Files of several sets, of several times, in cells of other files, or on the sky."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

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

TIMES = (0.5, 0.75)
KINDS = np.array([b"PartType0"] * 4 + [b"PartType4"] * 2)
SETS = Written(POINTS, symbols=(), edges=CELL, columns=(("ParticleIDs", IDS), ("type", KINDS)),
               warning="its sets of particles are drawn together")  # fmt: skip
SIZED = Written(POINTS, symbols=(), radii=RADII, frames=2)


def _sets(path: Path, **links: str) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        for name, rows in (("PartType0", slice(4)), ("PartType4", slice(4, None))):
            file[f"{name}/Coordinates"], file[f"{name}/ParticleIDs"] = POINTS[rows], IDS[rows]
        file["PartType0/Density"] = SPEEDS[:4]
        for name, target in links.items():
            file[name] = h5py.SoftLink(target)
        file.create_group("Header").attrs["BoxSize"] = [10.0, 11.0, 12.0]


def _flat(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file["positions"] = np.stack([POINTS[:, :2], POINTS[:, 1:]])


def _table(path: Path, **columns: list[float]) -> None:
    from astropy.table import Table

    Table(columns).write(path, format="fits" if path.suffix == ".fits" else "votable")


def _e57(path: Path) -> None:
    import pye57

    scanned: Any = pye57.E57(str(path), mode="w")
    for rows in (slice(4), slice(4, None)):
        scanned.write_scan_raw(
            {f"cartesian{axis}": POINTS[rows, place].copy() for place, axis in enumerate("XYZ")}
        )
    scanned.close()


def _pvd(path: Path) -> None:
    entries = ""
    for place, time in enumerate(TIMES):
        numbers = " ".join(map(repr, (POINTS + place).ravel().tolist()))
        path.with_name(f"a_{place}.vtp").write_text(
            '<VTKFile type="PolyData"><PolyData><Piece NumberOfPoints="6"><Points>'
            f'<DataArray type="Float64" NumberOfComponents="3">{numbers}</DataArray>'
            "</Points></Piece></PolyData></VTKFile>"
        )
        entries += f'<DataSet timestep="{time}" part="0" file="a_{place}.vtp"/>'
    path.write_text(f'<VTKFile type="Collection"><Collection>{entries}</Collection></VTKFile>')


def _foam(path: Path) -> None:
    path.write_text("")
    for time in TIMES:
        folder = path.parent / str(time) / "lagrangian" / "spray"
        folder.mkdir(parents=True)
        for name, kept, values in (
            ("positions", "Cloud<parcel>", [f"({x} {y} {z}) 7" for x, y, z in POINTS.tolist()]),
            ("d", "scalarField", [repr(2 * radius) for radius in RADII.tolist()]),
        ):
            head = f"FoamFile\n{{\n    format ascii;\n    class {kept};\n}}\n\n"
            rows = "\n".join(values)
            (folder / name).write_text(f"{head}{len(values)}\n(\n{rows}\n)\n")


LONG = "frame,particle,x,y,z\n" + "".join(
    f"{time},{place},{x + time},{y},{z}\n" for time in range(3)
    for place, (x, y, z) in enumerate(POINTS.tolist()))  # fmt: skip
QUERIES = {"Particle ID": np.arange(6), "Particle Radius": RADII} | {
    f"Particle Position {axis}": POINTS[:, place] for place, axis in enumerate("XYZ")
}
EDEM = "EDEM results data\n" + "".join(f"\nTIME:, {time}\n" + "".join(
    f"Q{number:02} : {name}:, {', '.join(map(repr, values.tolist()))}\n"
    for number, (name, values) in enumerate(QUERIES.items(), 1)) for time in TIMES)  # fmt: skip
NUMBERS = {"Cu": 29, "O": 8, "H": 1, "C": 6, "N": 7}
MULTISLICE = "one cell\n  10.0 11.0 12.0\n" + "".join(
    f"{NUMBERS[symbol]}  {x:.6f} {y:.6f} {z:.6f}  1.00  0.085\n"
    for symbol, (x, y, z) in zip(SYMBOLS, POINTS.tolist(), strict=True)) + "-1\n"  # fmt: skip

kinds(
    "h5py",
    ("SWIFT snapshot of gas and stars", "snap_0001.hdf5", "float64", SETS,
     partial(_sets, GasParticles="/PartType0", StarsParticles="/PartType4")),
    ("cutout of IllustrisTNG", "cutout_1.hdf5", "float64", SETS, _sets),
    ("HDF5, positions in time (T, N, 2)", "flat.h5", "float64",
     Written(np.c_[POINTS[:, :2], np.zeros(len(POINTS))], symbols=(), frames=2,
             warning="all have z = 0"), _flat),
)  # fmt: skip
texts(("table of a trajectory", "long.csv", LONG, Written(
    POINTS, symbols=(), frames=3, warning="each 'particle' recurs")), keeps="float64")  # fmt: skip
kinds(
    "astropy",
    ("catalogue of Gaia, VOTable", "gaia.vot", "parallaxes",
     Written(np.diag([100.0, 250.0, 500.0]), 1e-9, symbols=(),
             warning="rows without a positive value are left out: 1"),
     partial(_table, ra=[0.0, 90.0, 0.0, 45.0], dec=[0.0, 0.0, 90.0, 0.0],
             parallax=[10.0, 4.0, 2.0, -1.0])),
    ("catalogue of galaxies, FITS", "galaxies.fits", "redshifts",
     Written(np.eye(3), 1e-9, symbols=(), warning="--columns redshift=Z makes 'Z' one"),
     partial(_table, RA=[0.0, 90.0, 0.0], DEC=[0.0, 0.0, 90.0], Z=[0.07, 0.7, 0.1])),
)  # fmt: skip
kinds("pye57", ("E57 of two scans", "a.e57", "float32", Written(
    single(POINTS), symbols=(), columns=(("scan", np.array([0] * 4 + [1] * 2)),)),
    _e57))  # fmt: skip
kinds(
    "by hand",
    ("collection of ParaView", "a.pvd", "float64", Written(POINTS, symbols=(), frames=2), _pvd,
     "vtkmodules"),
    ("cloud of OpenFOAM", "case.foam", "float64", SIZED, _foam),
)  # fmt: skip
texts(("results of EDEM", "results.csv", EDEM, SIZED), keeps="float64")
texts(("XYZ of multislice programs", "cell.xyz", MULTISLICE,
       Written(decimals(POINTS, 6), edges=CELL)), keeps="6 decimals",
      needs={"cell.xyz": "ase"})  # fmt: skip
kinds("numpy", (
    "NumPy archive, positions in time", "moving.npz", "float32",
    Written(single(POINTS), symbols=(), radii=RADII, frames=2), lambda path: np.savez(
        path, positions=single(np.stack([POINTS, POINTS + 1])), radii=RADII)))  # fmt: skip
