"""Tables that pandas, polars, pyarrow and NumPy write."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from particles.corpus.kinds import IDS, POINTS, RADII, SPEEDS, SYMBOLS, Written, kinds, single


def columns() -> dict[str, Any]:
    """The columns of the table."""
    axes = {axis: POINTS[:, place] for place, axis in enumerate("xyz")}
    return axes | {"radius": RADII, "speed": SPEEDS, "id": IDS, "element": SYMBOLS}


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


def to_json(path: Path, **options: Any) -> None:
    frame("pandas").to_json(path, double_precision=15, **options)


def to_parquet(path: Path, packing: str) -> None:
    import pyarrow.parquet

    pyarrow.parquet.write_table(frame("pyarrow"), path, compression=packing, row_group_size=4)


def lists(path: Path) -> None:
    import pyarrow
    import pyarrow.parquet

    points = pyarrow.FixedSizeListArray.from_arrays(pyarrow.array(POINTS.ravel()), 3)
    pyarrow.parquet.write_table(pyarrow.table({"position": points}), path)


def feather(path: Path) -> None:
    import pyarrow.feather

    pyarrow.feather.write_feather(frame("pyarrow"), str(path))


def saved(values: Any) -> Callable[[Path], None]:
    return lambda path: np.save(path, values)


FULL = Written(POINTS, radii=RADII, columns=(("speed", SPEEDS), ("id", IDS)))
HDF = Written(POINTS, symbols=(), radii=RADII, columns=FULL.columns)
PLAIN, SINGLE = Written(POINTS, symbols=()), Written(single(POINTS), symbols=())
SIZED = Written(POINTS, symbols=(), radii=RADII)
AXES = dict(zip("xyz", POINTS.T, strict=True))
RECORDS = np.zeros(len(POINTS), [("pos", "f8", 3), ("radius", "f4"), ("speed", "f8")])
RECORDS["pos"], RECORDS["radius"], RECORDS["speed"] = POINTS, RADII, SPEEDS

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
    kinds(_package, (_title, _file, "float64", FULL, _write, *_needs))

kinds(
    "pandas",
    *((f"pandas, JSON of orient {orient}", f"{orient}.json", "10 decimals",
       Written(POINTS, 1e-14, columns=(("id", IDS),)), partial(to_json, orient=orient))
      for orient in ("split", "records", "index", "columns", "table")),
    ("pandas, JSON of orient lines", "lines.json", "10 decimals",
     Written(POINTS, 1e-14, columns=(("id", IDS),)),
     partial(to_json, orient="records", lines=True)),
    *((f"pandas, HDF5 of format {form}", f"{form}.h5", "float64", HDF,
       lambda path, form=form: frame("pandas").to_hdf(path, key="frame", format=form),
       "h5py", "tables") for form in ("fixed", "table")),
)  # fmt: skip

kinds(
    "pyarrow",
    *((f"Parquet, {packing}", f"{packing}.parquet", "float64", FULL,
       partial(to_parquet, packing=packing)) for packing in ("none", "snappy", "gzip", "zstd")),
    ("Parquet, positions in one column", "lists.parquet", "float64", PLAIN, lists),
    ("Feather", "h.feather", "float64", FULL, feather),
)  # fmt: skip

kinds(
    "numpy",
    ("NumPy (N, 3)", "j.npy", "float32", SINGLE, saved(single(POINTS))),
    ("NumPy (N, 4) with radii", "radii.npy", "float64", SIZED,
     saved(np.column_stack([POINTS, RADII]))),
    ("NumPy, big endian, Fortran order", "big.npy", "float64", PLAIN,
     saved(np.asfortranarray(POINTS.astype(">f8")))),
    ("NumPy (T, N, 3)", "frames.npy", "float64", Written(POINTS, symbols=(), frames=2),
     saved(np.stack([POINTS, POINTS + 1.0]))),
    ("NumPy records", "records.npy", "float64",
     Written(POINTS, symbols=(), radii=single(RADII), columns=(("speed", SPEEDS),)),
     saved(RECORDS)),
    ("NumPy archive", "j.npz", "float64", SIZED,
     lambda path: np.savez(path, centers=POINTS, radii=RADII)),
    ("NumPy archive, compressed", "packed.npz", "float64", SIZED,
     lambda path: np.savez_compressed(path, **AXES, radii=RADII)),
    ("numpy.savetxt with names", "j.txt", "17 digits", SIZED, lambda path: np.savetxt(
        path, np.column_stack([POINTS, RADII]), fmt="%.17g", header="x y z radius")),
    ("numpy.savetxt without names", "bare.txt", "17 digits", PLAIN,
     lambda path: np.savetxt(path, POINTS, fmt="%.17g")),
)  # fmt: skip
