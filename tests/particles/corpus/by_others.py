"""Files that gsd, h5py and laspy write."""

from collections.abc import Callable
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
    kinds,
    single,
)

AXES: dict[str, Any] = dict(zip("xyz", POINTS.T, strict=True))
PLAIN, SIZED = Written(POINTS, symbols=()), Written(POINTS, symbols=(), radii=RADII)
OFFSETS = np.array([7, 0, 3, -2, 1, 5], np.int32)
CUBE = 10.0 * np.eye(3)
SCANNED = Written(np.round(POINTS / 1e-4) * 1e-4, 1e-12, (), columns=(("intensity", IDS),))
RECORDS = np.zeros(len(POINTS), [("x", "f8"), ("y", "f8"), ("z", "f8"), ("radius", "f8")])
for _name, _values in (AXES | {"radius": RADII}).items():
    RECORDS[_name] = _values
MOVING = {
    "position": {"value": np.stack([POINTS, POINTS + 1.0, POINTS + 2.0]), "step": np.arange(3)},
    "box/edges": {"value": np.stack([CELL, CELL + 1.0, CELL + 2.0])},
}


def gsd(path: Path) -> None:
    import gsd.hoomd

    frame = gsd.hoomd.Frame()
    held = frame.particles
    held.N, held.position, held.diameter = len(POINTS), single(POINTS), 2.0 * RADII
    held.types = sorted(set(SYMBOLS))
    held.typeid = [held.types.index(symbol) for symbol in SYMBOLS]
    held.charge = SPEEDS
    frame.configuration.box = [*CELL.diagonal(), 0.0, 0.0, 0.0]
    with gsd.hoomd.open(str(path), "w") as file:
        file.append(frame)
        file.append(frame)


def snapshot(groups: dict[str, dict[str, Any]], **header: Any) -> Callable[[Path], None]:
    """Return a function that writes groups of datasets, and attributes of the group Header."""

    def write(path: Path) -> None:
        import h5py

        with h5py.File(path, "w") as file:
            for group, arrays in groups.items():
                for name, values in arrays.items():
                    file.create_dataset(f"{group}/{name}", data=values)
            if header:
                file.create_group("Header").attrs.update(header)

    return write


def swift(path: Path) -> None:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("PartType1/Coordinates", data=POINTS, chunks=(2, 3), compression="gzip",
                            shuffle=True)  # fmt: skip
        file["DMParticles"] = h5py.SoftLink("/PartType1")
        file.create_group("Header").attrs["BoxSize"] = CELL.diagonal()


def openpmd_series(path: Path) -> None:
    import openpmd_api

    series = openpmd_api.Series(str(path), openpmd_api.Access.create)
    for number in (0, 20):
        step = series.iterations[number]
        for name in ("electrons", "ions"):
            species = step.particles[name]
            for axis, key in enumerate("xyz"):
                for record, values, unit in (
                    ("position", single(POINTS)[:, axis], 1e-6),
                    ("positionOffset", OFFSETS, 2e-6),
                    ("momentum", SPEEDS, 1e-24),
                ):
                    part = species[record][key]
                    part.reset_dataset(openpmd_api.Dataset(values.dtype, [len(values)]))
                    part.unit_SI = unit
                    part.store_chunk(np.ascontiguousarray(values))
            weight = species["weighting"][openpmd_api.Record_Component.SCALAR]
            weight.reset_dataset(openpmd_api.Dataset(np.dtype("f8"), [len(OFFSETS)]))
            weight.make_constant(2.5)
        series.flush()
    series.close()


def gadget_parts(path: Path) -> None:
    header: dict[str, Any] = {
        "NumFilesPerSnapshot": 3,
        "MassTable": [0.0, 0.5, 0.0],
        "BoxSize": 12.0,
    }
    for number, rows in enumerate((slice(0, 4), slice(0, 0), slice(4, 6))):
        part = path.with_name(f"snap_003.{number}.hdf5")
        groups = {"PartType1": {"Coordinates": POINTS[rows], "ParticleIDs": IDS[rows]}}
        snapshot(groups if len(POINTS[rows]) else {}, **header)(part)


def scan(path: Path) -> None:
    """Write points of a scanner; their coordinates are integers of 0.0001."""
    import laspy

    header = laspy.LasHeader(point_format=2, version="1.2")
    header.scales, header.offsets = np.full(3, 1e-4), np.zeros(3)
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = POINTS.T
    cloud.intensity = IDS
    cloud.write(str(path))


def netcdf(path: Path, form: Any) -> None:
    import netCDF4

    with netCDF4.Dataset(path, "w", format=form) as file:
        sizes = {"frame": None, "atom": 6, "spatial": 3, "cell_spatial": 3, "cell_angular": 3}
        for name, size in sizes.items():
            file.createDimension(name, size)
        for name, kind_, dimensions, values in (
            ("coordinates", "f8", ("atom", "spatial"), POINTS),
            ("id", "i4", ("atom",), IDS),
            ("cell_lengths", "f8", ("cell_spatial",), CELL.diagonal()),
            ("cell_angles", "f8", ("cell_angular",), [90.0, 90.0, 90.0]),
        ):
            variable = file.createVariable(name, kind_, ("frame", *dimensions))
            variable[0] = values
            variable[1] = values


def plain_netcdf(path: Path) -> None:
    import netCDF4

    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("particle", len(POINTS))
        for name, values in (AXES | {"radius": RADII}).items():
            file.createVariable(name, "f8", ("particle",))[:] = values


def matlab(path: Path, variables: dict[str, Any]) -> None:
    import scipy.io

    scipy.io.savemat(path, variables)


def matlab_hdf5(path: Path) -> None:
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in (("pos", POINTS.T), ("radius", RADII[None])):
            file[name] = values
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
    content = path.read_bytes()
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(128) + content[128:])


def astropy(path: Path, form: str) -> None:
    from astropy.table import Table

    Table(AXES | {"radius": RADII, "element": SYMBOLS}).write(path, format=form)


def pcd(path: Path) -> None:
    import pypcd4

    clouds: Any = pypcd4
    cloud = clouds.PointCloud.from_xyz_points(single(POINTS))
    cloud.save(path, encoding=clouds.Encoding.BINARY_COMPRESSED)


kinds("gsd.hoomd", ("GSD of HOOMD-blue, two frames", "k.gsd", "float32", Written(
    single(POINTS), edges=CELL, radii=single(RADII), columns=(("charge", single(SPEEDS)),),
    frames=2), gsd))  # fmt: skip
kinds(
    "h5py",
    ("Gadget-4 snapshot", "snap_000.hdf5", "float32",
     Written(single(POINTS), symbols=(), edges=CUBE,
             columns=(("ParticleIDs", IDS), ("Masses", RADII))),
     snapshot({"PartType1": {"Coordinates": single(POINTS), "ParticleIDs": IDS, "Masses": RADII}},
              BoxSize=10.0, NumFilesPerSnapshot=1)),
    ("AREPO snapshot, one of two types", "arepo.hdf5", "float64",
     Written(POINTS, symbols=(), edges=CUBE, columns=(("Density", SPEEDS),), inner="PartType0"),
     snapshot({"PartType0": {"Coordinates": POINTS, "Density": SPEEDS},
               "PartType4": {"Coordinates": POINTS[:2]}}, BoxSize=10.0)),
    ("SWIFT snapshot", "swift.hdf5", "float64, compressed in chunks",
     Written(POINTS, symbols=(), edges=CELL), swift),
    ("H5MD, three frames", "k.h5md", "float64",
     Written(POINTS, symbols=(), edges=CELL, frames=3),
     snapshot({f"particles/all/{name}": each for name, each in MOVING.items()})),
    ("openPMD, positions in three datasets", "openpmd.h5", "float64", PLAIN,
     snapshot({"data/0/particles/electrons/position": AXES})),
)  # fmt: skip
kinds("openpmd_api", (
    "openPMD, a species of two, with offsets, two iterations", "laser.h5",
    "float32 and int32, in units", Written(
        single(POINTS) * np.float64(1e-6) + (OFFSETS * np.float64(2e-6))[:, None], symbols=(),
        columns=(("weighting", np.full(6, 2.5)),
                 ("momentum", np.repeat(SPEEDS[:, None], 3, axis=1) * np.float64(1e-24))),
        frames=2, inner="electrons"), openpmd_series))  # fmt: skip
kinds(
    "h5py",
    ("Gadget, a snapshot in three files", "snap_003.0.hdf5", "float64",
     Written(POINTS, symbols=(), edges=12.0 * np.eye(3),
             columns=(("ParticleIDs", IDS), ("Masses", np.full(6, 0.5)))), gadget_parts),
    ("HDF5, x, y, z and radius", "axes.h5", "float64", SIZED,
     snapshot({"grains": AXES | {"radius": RADII}})),
    ("HDF5, any dataset", "any.h5", "float32",
     Written(single(POINTS), symbols=(), columns=(("speed", SPEEDS),), inner="run/3/where"),
     snapshot({"run/3": {"where": single(POINTS), "speed": SPEEDS}})),
)  # fmt: skip
kinds(
    "laspy",
    ("LAS", "k.las", "integers of 0.0001", SCANNED, scan),
    ("LAZ", "k.laz", "integers of 0.0001", SCANNED, scan, "lazrs"),
)
kinds(
    "netCDF4",
    *((f"NetCDF of LAMMPS, {version}, two frames", f"{version}.nc", "float64",
       Written(POINTS, symbols=(), edges=CELL, frames=2, columns=(("id", IDS),)),
       partial(netcdf, form=form)) for version, form in (
        ("CDF-1", "NETCDF3_CLASSIC"), ("CDF-2", "NETCDF3_64BIT_OFFSET"),
        ("CDF-5", "NETCDF3_64BIT_DATA"))),
    ("NetCDF without conventions", "plain.nc", "float64", SIZED, plain_netcdf, "scipy"),
)  # fmt: skip
kinds("scipy", *((title, file, "float64", SIZED, partial(matlab, variables=variables))
                 for title, file, variables in (
    ("MATLAB, columns", "columns.mat", {"radius": RADII} | AXES),
    ("MATLAB, positions in columns", "turned.mat", {"pos": POINTS.T, "radius": RADII}),
    ("MATLAB, a structure", "structure.mat", {"grains": {"pos": POINTS, "radius": RADII}}),
)))  # fmt: skip
kinds(
    "h5py",
    ("MATLAB 7.3", "new.mat", "float64", SIZED, matlab_hdf5),
    (
        "HDF5, a compound type",
        "records.hdf5",
        "float64",
        SIZED,
        snapshot({"run": {"locs": RECORDS}}),
    ),
)
kinds("astropy", *((title, file, "float64", SIZED, partial(astropy, form=form))
                   for title, file, form in (
    ("FITS, table", "a.fits", "fits"),
    ("VOTable", "a.vot", "votable"),
    ("VOTable, ending of XML", "table.xml", "votable"),
    ("ECSV", "b.ecsv", "ascii.ecsv"),
    ("IPAC", "a.tbl", "ascii.ipac"),
    ("fixed widths with bars", "fixed.txt", "ascii.fixed_width"),
)))  # fmt: skip
kinds("pypcd4", ("PCD, compressed", "packed.pcd", "float32", Written(single(POINTS), symbols=()),
                 pcd))  # fmt: skip
