"""Files that gsd, h5py and laspy write."""

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
    kind,
    single,
)


@kind("GSD of HOOMD-blue, two frames", "k.gsd", "gsd.hoomd", "float32")
def gsd(path: Path) -> Written:
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
    charge = ("charge", single(SPEEDS))
    return Written(single(POINTS), edges=CELL, radii=single(RADII), columns=(charge,), frames=2)


def _snapshot(path: Path, groups: dict[str, dict[str, Any]], **header: Any) -> None:
    """Write groups of datasets, and attributes of the group Header."""
    import h5py

    with h5py.File(path, "w") as file:
        for group, arrays in groups.items():
            for name, values in arrays.items():
                file.create_dataset(f"{group}/{name}", data=values)
        if header:
            file.create_group("Header").attrs.update(header)


@kind("Gadget-4 snapshot", "snap_000.hdf5", "h5py", "float32")
def gadget(path: Path) -> Written:
    held = {"Coordinates": single(POINTS), "ParticleIDs": IDS, "Masses": RADII}
    _snapshot(path, {"PartType1": held}, BoxSize=10.0, NumFilesPerSnapshot=1)
    others = (("ParticleIDs", IDS), ("Masses", RADII))
    return Written(single(POINTS), symbols=(), edges=10.0 * np.eye(3), columns=others)


@kind("AREPO snapshot, one of two types", "arepo.hdf5", "h5py", "float64")
def arepo(path: Path) -> Written:
    gas = {"Coordinates": POINTS, "Density": SPEEDS}
    groups = {"PartType0": gas, "PartType4": {"Coordinates": POINTS[:2]}}
    _snapshot(path, groups, BoxSize=10.0)
    others = (("Density", SPEEDS),)
    return Written(POINTS, symbols=(), edges=10.0 * np.eye(3), columns=others, inner="PartType0")


@kind("SWIFT snapshot", "swift.hdf5", "h5py", "float64, compressed in chunks")
def swift(path: Path) -> Written:
    import h5py

    with h5py.File(path, "w") as file:
        file.create_dataset("PartType1/Coordinates", data=POINTS, chunks=(2, 3), compression="gzip",
                            shuffle=True)  # fmt: skip
        file["DMParticles"] = h5py.SoftLink("/PartType1")
        file.create_group("Header").attrs["BoxSize"] = CELL.diagonal()
    return Written(POINTS, symbols=(), edges=CELL)


@kind("H5MD, three frames", "k.h5md", "h5py", "float64")
def h5md(path: Path) -> Written:
    frames = np.stack([POINTS, POINTS + 1.0, POINTS + 2.0])
    edges = np.stack([CELL, CELL + 1.0, CELL + 2.0])
    held = {"position": {"value": frames, "step": np.arange(3)}, "box/edges": {"value": edges}}
    _snapshot(path, {f"particles/all/{name}": each for name, each in held.items()})
    return Written(POINTS, symbols=(), edges=CELL, frames=3)


@kind("openPMD, positions in three datasets", "openpmd.h5", "h5py", "float64")
def openpmd(path: Path) -> Written:
    axes = {axis: POINTS[:, place] for place, axis in enumerate("xyz")}
    _snapshot(path, {"data/0/particles/electrons/position": axes})
    return Written(POINTS, symbols=())


@kind("openPMD, a species of two, with offsets, two iterations", "laser.h5", "openpmd_api",
      "float32 and int32, in units")  # fmt: skip
def openpmd_series(path: Path) -> Written:
    import openpmd_api

    single_points, cells = single(POINTS), np.array([7, 0, 3, -2, 1, 5], np.int32)
    series = openpmd_api.Series(str(path), openpmd_api.Access.create)
    for number in (0, 20):
        step = series.iterations[number]
        for name in ("electrons", "ions"):
            species = step.particles[name]
            for axis, key in enumerate("xyz"):
                for record, values, unit in (
                    ("position", single_points[:, axis], 1e-6),
                    ("positionOffset", cells, 2e-6),
                    ("momentum", SPEEDS, 1e-24),
                ):
                    part = species[record][key]
                    part.reset_dataset(openpmd_api.Dataset(values.dtype, [len(values)]))
                    part.unit_SI = unit
                    part.store_chunk(np.ascontiguousarray(values))
            weight = species["weighting"][openpmd_api.Record_Component.SCALAR]
            weight.reset_dataset(openpmd_api.Dataset(np.dtype("f8"), [len(cells)]))
            weight.make_constant(2.5)
        series.flush()
    series.close()
    places = single_points * np.float64(1e-6) + (cells * np.float64(2e-6))[:, None]
    momentum = np.repeat(SPEEDS[:, None], 3, axis=1) * np.float64(1e-24)
    columns = (("weighting", np.full(6, 2.5)), ("momentum", momentum))
    return Written(places, symbols=(), columns=columns, frames=2, inner="electrons")


@kind("Gadget, a snapshot in three files", "snap_003.0.hdf5", "h5py", "float64")
def gadget_parts(path: Path) -> Written:
    header: dict[str, Any] = {
        "NumFilesPerSnapshot": 3,
        "MassTable": [0.0, 0.5, 0.0],
        "BoxSize": 12.0,
    }
    for number, rows in enumerate((slice(0, 4), slice(0, 0), slice(4, 6))):
        part = path.with_name(f"snap_003.{number}.hdf5")
        groups = {"PartType1": {"Coordinates": POINTS[rows], "ParticleIDs": IDS[rows]}}
        _snapshot(part, groups if len(POINTS[rows]) else {}, **header)
    columns = (("ParticleIDs", IDS), ("Masses", np.full(6, 0.5)))
    return Written(POINTS, symbols=(), edges=12.0 * np.eye(3), columns=columns)


@kind("HDF5, x, y, z and radius", "axes.h5", "h5py", "float64")
def axes(path: Path) -> Written:
    held = {axis: POINTS[:, place] for place, axis in enumerate("xyz")}
    _snapshot(path, {"grains": held | {"radius": RADII}})
    return Written(POINTS, symbols=(), radii=RADII)


@kind("HDF5, any dataset", "any.h5", "h5py", "float32")
def dataset(path: Path) -> Written:
    _snapshot(path, {"run/3": {"where": single(POINTS), "speed": SPEEDS}})
    others = (("speed", SPEEDS),)
    return Written(single(POINTS), symbols=(), columns=others, inner="run/3/where")


def _scan(path: Path) -> Written:
    """Write points of a scanner; their coordinates are integers of 0.0001."""
    import laspy

    header = laspy.LasHeader(point_format=2, version="1.2")
    header.scales, header.offsets = np.full(3, 1e-4), np.zeros(3)
    scan = laspy.LasData(header)
    scan.x, scan.y, scan.z = POINTS.T
    scan.intensity = IDS
    scan.write(str(path))
    whole = np.round(POINTS / 1e-4)
    return Written(whole * 1e-4, 1e-12, (), columns=(("intensity", IDS),))


@kind("LAS", "k.las", "laspy", "integers of 0.0001")
def las(path: Path) -> Written:
    return _scan(path)


@kind("LAZ", "k.laz", "laspy", "integers of 0.0001", "lazrs")
def laz(path: Path) -> Written:
    return _scan(path)


for _version, _form in (
    ("CDF-1", "NETCDF3_CLASSIC"),
    ("CDF-2", "NETCDF3_64BIT_OFFSET"),
    ("CDF-5", "NETCDF3_64BIT_DATA"),
):

    @kind(f"NetCDF of LAMMPS, {_version}, two frames", f"{_version}.nc", "netCDF4", "float64")
    def netcdf(path: Path, form: Any = _form) -> Written:
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
        return Written(POINTS, symbols=(), edges=CELL, frames=2, columns=(("id", IDS),))


@kind("NetCDF without conventions", "plain.nc", "netCDF4", "float64", "scipy")
def plain_netcdf(path: Path) -> Written:
    import netCDF4

    with netCDF4.Dataset(path, "w", format="NETCDF3_CLASSIC") as file:
        file.createDimension("particle", len(POINTS))
        for place, axis in enumerate("xyz"):
            file.createVariable(axis, "f8", ("particle",))[:] = POINTS[:, place]
        file.createVariable("radius", "f8", ("particle",))[:] = RADII
    return Written(POINTS, symbols=(), radii=RADII)


for _title, _file, _variables in (
    ("MATLAB, columns", "columns.mat",
     {"radius": RADII} | {axis: POINTS[:, place] for place, axis in enumerate("xyz")}),
    ("MATLAB, positions in columns", "turned.mat", {"pos": POINTS.T, "radius": RADII}),
    ("MATLAB, a structure", "structure.mat", {"grains": {"pos": POINTS, "radius": RADII}}),
):  # fmt: skip

    @kind(_title, _file, "scipy", "float64")
    def matlab(path: Path, variables: dict[str, Any] = _variables) -> Written:
        import scipy.io

        scipy.io.savemat(path, variables)
        return Written(POINTS, symbols=(), radii=RADII)


@kind("MATLAB 7.3", "new.mat", "h5py", "float64")
def matlab_hdf5(path: Path) -> Written:
    import h5py

    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in (("pos", POINTS.T), ("radius", RADII[None])):
            file[name] = values
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
    content = path.read_bytes()
    path.write_bytes(b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(128) + content[128:])
    return Written(POINTS, symbols=(), radii=RADII)


@kind("HDF5, a compound type", "records.hdf5", "h5py", "float64")
def hdf5_records(path: Path) -> Written:
    import h5py

    records = np.zeros(len(POINTS), [("x", "f8"), ("y", "f8"), ("z", "f8"), ("radius", "f8")])
    for place, axis in enumerate("xyz"):
        records[axis] = POINTS[:, place]
    records["radius"] = RADII
    with h5py.File(path, "w") as file:
        file["run/locs"] = records
    return Written(POINTS, symbols=(), radii=RADII)


for _title, _file, _form in (
    ("FITS, table", "a.fits", "fits"),
    ("VOTable", "a.vot", "votable"),
    ("VOTable, ending of XML", "table.xml", "votable"),
    ("ECSV", "b.ecsv", "ascii.ecsv"),
    ("IPAC", "a.tbl", "ascii.ipac"),
    ("fixed widths with bars", "fixed.txt", "ascii.fixed_width"),
):

    @kind(_title, _file, "astropy", "float64")
    def astropy(path: Path, form: str = _form) -> Written:
        from astropy.table import Table

        columns = {axis: POINTS[:, place] for place, axis in enumerate("xyz")}
        Table(columns | {"radius": RADII, "element": SYMBOLS}).write(path, format=form)
        return Written(POINTS, symbols=(), radii=RADII)


@kind("PCD, compressed", "packed.pcd", "pypcd4", "float32")
def pcd(path: Path) -> Written:
    import pypcd4

    clouds: Any = pypcd4
    cloud = clouds.PointCloud.from_xyz_points(single(POINTS))
    cloud.save(path, encoding=clouds.Encoding.BINARY_COMPRESSED)
    return Written(single(POINTS), symbols=())
