"""Tables that pandas, polars, pyarrow and NumPy write."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from scene.particles.corpus.kinds import IDS, POINTS, RADII, SPEEDS, SYMBOLS, Written, kind, single


def columns() -> dict[str, Any]:
    """The columns of the table."""
    axes = {axis: POINTS[:, place] for place, axis in enumerate("xyz")}
    return axes | {"radius": RADII, "speed": SPEEDS, "id": IDS, "element": SYMBOLS}


def full() -> Written:
    """What a table of float64 keeps."""
    return Written(POINTS, radii=RADII, columns=(("speed", SPEEDS), ("id", IDS)))


def frame(package: str) -> Any:
    """The table of a package."""
    import importlib

    made = importlib.import_module(package)
    return made.table(columns()) if package == "pyarrow" else made.DataFrame(columns())


def by_pandas(path: Path, **options: Any) -> None:
    frame("pandas").to_csv(path, index=False, **options)


def by_pandas_with_comment(path: Path) -> None:
    with path.open("w") as file:
        file.write("# made by a simulation\n")
        frame("pandas").to_csv(file, index=False, sep=" ")


for _title, _file, _package, _needs, _write in (
    ("table, commas", "h.csv", "pandas", (), by_pandas),
    ("table, tabs", "h.tsv", "pandas", (), partial(by_pandas, sep="\t")),
    ("table, semicolons and decimal commas", "comma.csv", "pandas", (),
     partial(by_pandas, sep=";", decimal=",")),
    ("table, spaces, comment", "h.dat", "pandas", (), by_pandas_with_comment),
    ("table, commas, gzip", "h.csv.gz", "pandas", (), by_pandas),
    ("table, commas, Zstandard", "h.csv.zst", "pandas", ("zstandard",), by_pandas),
    ("table, commas", "i.csv", "polars", (), lambda path: frame("polars").write_csv(path)),
    ("Parquet, Zstandard", "i.parquet", "polars", ("pyarrow",),
     lambda path: frame("polars").write_parquet(path)),
    ("Arrow IPC", "i.arrow", "polars", ("pyarrow",), lambda path: frame("polars").write_ipc(path)),
    ("Parquet", "h.parquet", "pandas", ("pyarrow",),
     lambda path: frame("pandas").to_parquet(path, engine="pyarrow")),
):  # fmt: skip

    @kind(_title, _file, _package, "float64", *_needs)
    def table(path: Path, write: Callable[[Path], None] = _write) -> Written:
        write(path)
        return full()


for _orient in ("split", "records", "index", "columns", "table", "lines"):
    _options = {"lines": {"orient": "records", "lines": True}}.get(_orient, {"orient": _orient})

    @kind(f"pandas, JSON of orient {_orient}", f"{_orient}.json", "pandas", "10 decimals")
    def json(path: Path, options: dict[str, Any] = _options) -> Written:
        frame("pandas").to_json(path, double_precision=15, **options)
        return Written(POINTS, 1e-14, columns=(("id", IDS),))


for _format in ("fixed", "table"):

    @kind(
        f"pandas, HDF5 of format {_format}", f"{_format}.h5", "pandas", "float64", "h5py", "tables"
    )
    def hdf(path: Path, form: Any = _format) -> Written:
        frame("pandas").to_hdf(path, key="frame", format=form)
        return Written(POINTS, symbols=(), radii=RADII, columns=(("speed", SPEEDS), ("id", IDS)))


for _packing in ("none", "snappy", "gzip", "zstd"):

    @kind(f"Parquet, {_packing}", f"{_packing}.parquet", "pyarrow", "float64")
    def parquet(path: Path, packing: str = _packing) -> Written:
        import pyarrow.parquet

        pyarrow.parquet.write_table(frame("pyarrow"), path, compression=packing, row_group_size=4)
        return full()


@kind("Parquet, positions in one column", "lists.parquet", "pyarrow", "float64")
def parquet_lists(path: Path) -> Written:
    import pyarrow
    import pyarrow.parquet

    flat = pyarrow.array(POINTS.ravel())
    points = pyarrow.FixedSizeListArray.from_arrays(flat, 3)
    pyarrow.parquet.write_table(pyarrow.table({"position": points}), path)
    return Written(POINTS, symbols=())


@kind("Feather", "h.feather", "pyarrow", "float64")
def feather(path: Path) -> Written:
    import pyarrow.feather

    pyarrow.feather.write_feather(frame("pyarrow"), str(path))
    return full()


def _npy(path: Path) -> Written:
    np.save(path, single(POINTS))
    return Written(single(POINTS), symbols=())


def _npy_radii(path: Path) -> Written:
    np.save(path, np.column_stack([POINTS, RADII]))
    return Written(POINTS, symbols=(), radii=RADII)


def _npy_big(path: Path) -> Written:
    np.save(path, np.asfortranarray(POINTS.astype(">f8")))
    return Written(POINTS, symbols=())


def _npy_frames(path: Path) -> Written:
    np.save(path, np.stack([POINTS, POINTS + 1.0]))
    return Written(POINTS, symbols=(), frames=2)


def _npy_records(path: Path) -> Written:
    records = np.zeros(len(POINTS), [("pos", "f8", 3), ("radius", "f4"), ("speed", "f8")])
    records["pos"], records["radius"], records["speed"] = POINTS, RADII, SPEEDS
    np.save(path, records)
    others = (("speed", SPEEDS),)
    return Written(POINTS, symbols=(), radii=single(RADII), columns=others)


def _npz(path: Path) -> Written:
    np.savez(path, centers=POINTS, radii=RADII)
    return Written(POINTS, symbols=(), radii=RADII)


def _npz_packed(path: Path) -> Written:
    axes = {axis: POINTS[:, place] for place, axis in enumerate("xyz")}
    np.savez_compressed(path, x=axes["x"], y=axes["y"], z=axes["z"], radii=RADII)
    return Written(POINTS, symbols=(), radii=RADII)


def _text(path: Path) -> Written:
    np.savetxt(path, np.column_stack([POINTS, RADII]), fmt="%.17g", header="x y z radius")
    return Written(POINTS, symbols=(), radii=RADII)


def _bare(path: Path) -> Written:
    np.savetxt(path, POINTS, fmt="%.17g")
    return Written(POINTS, symbols=())


for _title, _file, _keeps, _make in (
    ("NumPy (N, 3)", "j.npy", "float32", _npy),
    ("NumPy (N, 4) with radii", "radii.npy", "float64", _npy_radii),
    ("NumPy, big endian, Fortran order", "big.npy", "float64", _npy_big),
    ("NumPy (T, N, 3)", "frames.npy", "float64", _npy_frames),
    ("NumPy records", "records.npy", "float64", _npy_records),
    ("NumPy archive", "j.npz", "float64", _npz),
    ("NumPy archive, compressed", "packed.npz", "float64", _npz_packed),
    ("numpy.savetxt with names", "j.txt", "17 digits", _text),
    ("numpy.savetxt without names", "bare.txt", "17 digits", _bare),
):
    kind(_title, _file, "numpy", _keeps)(_make)
