"""Files of several sets, of several times, in cells of other files, or on the sky."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from scene.particles.corpus.kinds import (
    CELL,
    IDS,
    POINTS,
    RADII,
    SPEEDS,
    SYMBOLS,
    Written,
    decimals,
    kind,
    single,
)

TIMES = (0.5, 0.75)


def _sets(path: Path, links: dict[str, str]) -> Written:
    import h5py

    with h5py.File(path, "w") as file:
        for name, rows in (("PartType0", slice(4)), ("PartType4", slice(4, None))):
            file[f"{name}/Coordinates"], file[f"{name}/ParticleIDs"] = POINTS[rows], IDS[rows]
        file["PartType0/Density"] = SPEEDS[:4]
        for name, target in links.items():
            file[name] = h5py.SoftLink(target)
        file.create_group("Header").attrs["BoxSize"] = [10.0, 11.0, 12.0]
    kinds = np.array([b"PartType0"] * 4 + [b"PartType4"] * 2)
    return Written(POINTS, symbols=(), edges=CELL, columns=(("ParticleIDs", IDS), ("type", kinds)),
                   warning="its sets of particles are drawn together")  # fmt: skip


@kind("SWIFT snapshot of gas and stars", "snap_0001.hdf5", "h5py", "float64")
def swift(path: Path) -> Written:
    return _sets(path, {"GasParticles": "/PartType0", "StarsParticles": "/PartType4"})


@kind("cutout of IllustrisTNG", "cutout_1.hdf5", "h5py", "float64")
def cutout(path: Path) -> Written:
    return _sets(path, {})


@kind("HDF5, positions in time (T, N, 2)", "flat.h5", "h5py", "float64")
def flat(path: Path) -> Written:
    import h5py

    with h5py.File(path, "w") as file:
        file["positions"] = np.stack([POINTS[:, :2], POINTS[:, 1:]])
    there = np.c_[POINTS[:, :2], np.zeros(len(POINTS))]
    return Written(there, symbols=(), frames=2, warning="all have z = 0")


@kind("table of a trajectory", "long.csv", "by hand", "float64")
def long(path: Path) -> Written:
    rows = [f"{time},{place},{x + time},{y},{z}\n" for time in range(3)
            for place, (x, y, z) in enumerate(POINTS.tolist())]  # fmt: skip
    path.write_text("frame,particle,x,y,z\n" + "".join(rows))
    return Written(POINTS, symbols=(), frames=3, warning="each 'particle' recurs")


@kind("catalogue of Gaia, VOTable", "gaia.vot", "astropy", "parallaxes")
def gaia(path: Path) -> Written:
    from astropy.table import Table

    Table({"ra": [0.0, 90.0, 0.0, 45.0], "dec": [0.0, 0.0, 90.0, 0.0],
           "parallax": [10.0, 4.0, 2.0, -1.0]}).write(path, format="votable")  # fmt: skip
    return Written(np.diag([100.0, 250.0, 500.0]), 1e-9, symbols=(),
                   warning="rows without a positive value are left out: 1")  # fmt: skip


@kind("catalogue of galaxies, FITS", "galaxies.fits", "astropy", "redshifts")
def galaxies(path: Path) -> Written:
    from astropy.table import Table

    Table({"RA": [0.0, 90.0, 0.0], "DEC": [0.0, 0.0, 90.0], "Z": [0.07, 0.7, 0.1]}).write(path)
    there = np.diag([0.07, 0.7, 0.1]) * 299_792.458 / 70.0
    return Written(there, 1e-9, symbols=(), warning="c z / H0 with H0 = 70 km/s/Mpc")


@kind("E57 of two scans", "a.e57", "pye57", "float32")
def e57(path: Path) -> Written:
    import pye57

    scanned: Any = pye57.E57(str(path), mode="w")
    for rows in (slice(4), slice(4, None)):
        scanned.write_scan_raw(
            {f"cartesian{axis}": POINTS[rows, place].copy() for place, axis in enumerate("XYZ")}
        )
    scanned.close()
    return Written(single(POINTS), symbols=(), columns=(("scan", np.array([0] * 4 + [1] * 2)),))


@kind("collection of ParaView", "a.pvd", "by hand", "float64", "vtkmodules")
def pvd(path: Path) -> Written:
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
    return Written(POINTS, symbols=(), frames=2)


@kind("cloud of OpenFOAM", "case.foam", "by hand", "float64")
def foam(path: Path) -> Written:
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
    return Written(POINTS, symbols=(), radii=RADII, frames=2)


@kind("results of EDEM", "results.csv", "by hand", "float64")
def edem(path: Path) -> Written:
    text = "EDEM results data\n"
    for time in TIMES:
        rows = {"Particle ID": np.arange(6), "Particle Radius": RADII} | {
            f"Particle Position {axis}": POINTS[:, place] for place, axis in enumerate("XYZ")
        }
        text += f"\nTIME:, {time}\n" + "".join(
            f"Q{number:02} : {name}:, {', '.join(map(repr, values.tolist()))}\n"
            for number, (name, values) in enumerate(rows.items(), 1)
        )
    path.write_text(text)
    return Written(POINTS, symbols=(), radii=RADII, frames=2)


@kind("XYZ of multislice programs", "cell.xyz", "by hand", "6 decimals")
def multislice(path: Path) -> Written:
    numbers = {"Cu": 29, "O": 8, "H": 1, "C": 6, "N": 7}
    rows = [f"{numbers[symbol]}  {x:.6f} {y:.6f} {z:.6f}  1.00  0.085\n"
            for symbol, (x, y, z) in zip(SYMBOLS, POINTS.tolist(), strict=True)]  # fmt: skip
    path.write_text(f"one cell\n  10.0 11.0 12.0\n{''.join(rows)}-1\n")
    return Written(decimals(POINTS, 6), symbols=tuple(SYMBOLS), edges=CELL)


@kind("NumPy archive, positions in time", "moving.npz", "numpy", "float32")
def moving(path: Path) -> Written:
    np.savez(path, positions=single(np.stack([POINTS, POINTS + 1])), radii=RADII)
    return Written(single(POINTS), symbols=(), radii=RADII, frames=2)
