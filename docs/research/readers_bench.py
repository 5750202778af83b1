"""Time and memory of the readers of particle files beside other libraries.

`python docs/research/readers_bench.py` writes files of a million particles, and reads each by
this package and by those libraries that are installed (`pip install -e '.[corpus]'`), in turns. It
prints the medians of elapsed time and of processor time, and the ratio to the fastest library.
`--instructions` counts those of a read instead, by `perf`, which other processes do not disturb:
the difference between three reads and one. `--memory` measures the peak of reading a LAMMPS dump,
plain and gzip. With `--folder` the files are kept there for the next run; `--write` writes them
and ends, so that an idle machine is needed for reading alone.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from raytracer.particles.read import open_source, read

SYMBOLS = ("Si", "O", "H")
STEP = 100_000
"""Lines that are written at a time."""

FILES = {
    "LAMMPS dump": "a.lammpstrj", "extended XYZ": "a.xyz", "PDB": "a.pdb", "GSD": "a.gsd",
    "HDF5": "a.hdf5", "Parquet": "a.parquet",
}  # fmt: skip
COLUMNS = {
    "LAMMPS dump": ("position", "type"), "extended XYZ": ("pos", "species"),
    "PDB": ("position", "element"), "GSD": ("position", "species"),
    "HDF5": ("Coordinates", "Masses"), "Parquet": ("x", "y", "z", "type"),
}  # fmt: skip
"""What is read by this package: positions, and what the particles are."""


def library(name: str) -> Any:
    """Import a library that may be missing."""
    return import_module(name)


def write_lines(path: Path, head: str, form: str, columns: list[Any]) -> None:
    """Write a text with a line for each particle."""
    with path.open("w") as file:
        file.write(head)
        for start in range(0, len(columns[0]), STEP):
            parts = [column[start : start + STEP].tolist() for column in columns]
            file.write("".join(form.format(*row) for row in zip(*parts, strict=True)))


def write(format_: str, path: Path, count: int) -> None:
    """Write a file of random particles in a cube of 100."""
    rng = np.random.default_rng(1)
    points, types = rng.uniform(0.0, 100.0, (count, 3)), rng.integers(1, 4, count)
    x, y, z = points.T
    symbols, ids = np.array(SYMBOLS)[types - 1], np.arange(1, count + 1)
    if format_ == "LAMMPS dump":
        head = f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{count}\nITEM: BOX BOUNDS pp pp pp\n"
        head += "0 100\n0 100\n0 100\nITEM: ATOMS id type x y z\n"
        write_lines(path, head, "{} {} {:.6g} {:.6g} {:.6g}\n", [ids, types, x, y, z])
    elif format_ == "extended XYZ":
        head = f'{count}\nLattice="100 0 0 0 100 0 0 0 100" Properties=species:S:1:pos:R:3\n'
        write_lines(path, head, "{:<2} {:16.8f} {:16.8f} {:16.8f}\n", [symbols, x, y, z])
    elif format_ == "PDB":
        head = "CRYST1  100.000  100.000  100.000  90.00  90.00  90.00 P 1           1\n"
        form = "ATOM  {:5} {:>4} MOL A{:4}    {:8.3f}{:8.3f}{:8.3f}  1.00  0.00          {:>2}\n"
        write_lines(path, head, form, [ids % 100_000, symbols, ids // 3 % 10_000, x, y, z, symbols])
    elif format_ == "GSD":
        hoomd = library("gsd.hoomd")
        frame = hoomd.Frame()
        frame.particles.N, frame.particles.position = count, points.astype(np.float32)
        frame.particles.types, frame.particles.typeid = list(SYMBOLS), types - 1
        with hoomd.open(str(path), "w") as file:
            file.append(frame)
    elif format_ == "HDF5":
        with library("h5py").File(path, "w") as file:
            file["PartType0/Coordinates"] = points.astype(np.float32)
            file["PartType0/Masses"] = np.ones(count, np.float32)
    else:
        table = library("pyarrow").table({"x": x, "y": y, "z": z, "type": types, "speed": x + y})
        library("pyarrow.parquet").write_table(table, path)


def by_raytracer(path: Path, format_: str) -> Any:
    with open_source(path) as source:
        return source.load(COLUMNS[format_])


def by_ovito(path: Path, _: str) -> Any:
    held = library("ovito.io").import_file(str(path)).compute().particles
    return np.array(held["Position"]), np.array(held["Particle Type"])


def by_ase(path: Path, format_: str) -> Any:
    names = {"LAMMPS dump": "lammps-dump-text", "extended XYZ": "extxyz", "PDB": "proteindatabank"}
    atoms = library("ase.io").read(str(path), index=0, format=names[format_])
    return atoms.positions, atoms.numbers


def by_mdanalysis(path: Path, _: str) -> Any:
    atoms = library("MDAnalysis").Universe(str(path)).atoms
    return atoms.positions, atoms.types


def by_chemfiles(path: Path, _: str) -> Any:
    with library("chemfiles").Trajectory(str(path)) as trajectory:
        frame = trajectory.read()
        return np.array(frame.positions)


def by_pyarrow_csv(path: Path, _: str) -> Any:
    csv = library("pyarrow.csv")
    table = csv.read_csv(
        path,
        read_options=csv.ReadOptions(skip_rows=9, column_names=["id", "type", "x", "y", "z"]),
        parse_options=csv.ParseOptions(delimiter=" "),
        convert_options=csv.ConvertOptions(include_columns=["x", "y", "z", "type"]),
    )
    return [column.to_numpy() for column in table.columns]


def by_pandas_csv(path: Path, _: str) -> Any:
    names = ["id", "type", "x", "y", "z"]
    frame = library("pandas").read_csv(path, sep=" ", skiprows=9, names=names, usecols=names[1:])
    return [frame[name].to_numpy() for name in frame]


def by_gsd(path: Path, _: str) -> Any:
    with library("gsd.hoomd").open(str(path)) as file:
        return file[0].particles.position, file[0].particles.typeid


def by_h5py(path: Path, _: str) -> Any:
    with library("h5py").File(path) as file:
        return file["PartType0/Coordinates"][:], file["PartType0/Masses"][:]


def by_pyarrow(path: Path, format_: str) -> Any:
    table = library("pyarrow.parquet").read_table(path, columns=list(COLUMNS[format_]))
    return [column.to_numpy() for column in table.columns]


def by_polars(path: Path, format_: str) -> Any:
    table = library("polars").read_parquet(path, columns=list(COLUMNS[format_]))
    return [table.get_column(name).to_numpy() for name in COLUMNS[format_]]


Reader = Callable[[Path, str], Any]
READERS: dict[str, dict[str, Reader]] = {
    "LAMMPS dump": {"ovito": by_ovito, "pyarrow": by_pyarrow_csv, "pandas": by_pandas_csv,
                    "chemfiles": by_chemfiles, "ase": by_ase},
    "extended XYZ": {"ovito": by_ovito, "chemfiles": by_chemfiles, "ase": by_ase,
                     "MDAnalysis": by_mdanalysis},
    "PDB": {"chemfiles": by_chemfiles, "ase": by_ase, "MDAnalysis": by_mdanalysis},
    "GSD": {"gsd": by_gsd, "ovito": by_ovito},
    "HDF5": {"h5py": by_h5py},
    "Parquet": {"pyarrow": by_pyarrow, "polars": by_polars},
}  # fmt: skip
"""Libraries by format, those first that were the fastest. OVITO takes minutes for the PDB."""

OWN = "raytracer"


def timed(reader: Reader, path: Path, format_: str) -> tuple[float, float]:
    """Return elapsed and processor time of a read, seconds."""
    gc.collect()
    start, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_SELF)
    reader(path, format_)
    after, end = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return end - start, used


def counted(path: Path, format_: str, name: str) -> float:
    """Return the instructions of a read, in millions: of three reads less one, halved."""
    totals = []
    for reads in (1, 3):
        words = [sys.executable, __file__, "--read", str(path), format_, name, str(reads)]
        done = subprocess.run(
            ["perf", "stat", "-x,", "-e", "instructions:u", *words],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        lines = [line for line in done.stderr.splitlines() if "instructions" in line]
        totals.append(float(lines[-1].partition(",")[0]))
    return (totals[1] - totals[0]) / 2e6


def reader_of(format_: str, name: str) -> Reader:
    """Return the function that reads a format by a library."""
    return by_raytracer if name == OWN else READERS[format_][name]


def measure(format_: str, path: Path, most: int, rounds: int, instructions: bool) -> None:
    """Print a row of each library for a format."""
    found: dict[str, list[tuple[float, ...]]] = {}
    names = [OWN, *list(READERS[format_])[:most]]
    for turn in range(1 if instructions else rounds + 1):  # the first turn imports
        for name in names:
            try:
                if instructions:
                    found[name] = [(counted(path, format_, name),)]
                else:
                    times = timed(reader_of(format_, name), path, format_)
                    if turn:
                        found.setdefault(name, []).append(times)
            except ImportError:
                continue
    medians = {
        name: [statistics.median(column) for column in zip(*rows, strict=True)]
        for name, rows in found.items()
    }
    others = [values for name, values in medians.items() if name != OWN]
    if not others:
        print(f"| {format_} | none of {', '.join(names[1:])} is installed |", flush=True)
        return
    best = [min(column) for column in zip(*others, strict=True)]
    for name, values in medians.items():
        form = "{:,.0f} M" if instructions else "{:.3f}"
        cells = [form.format(value) for value in values]
        cells += [f"{value / least:.2f}" for value, least in zip(values, best, strict=True)]
        print(f"| {format_} | {name} | {' | '.join(cells)} |", flush=True)


def memory(path: Path) -> None:
    """Print the peak of memory of reading a file, beside the arrays that are kept."""
    code = (
        "import sys; from pathlib import Path; from raytracer._native import core; core();"
        "import raytracer.particles.formats.lammps_dump;"
        "from raytracer.particles.read import read;"
        "field = lambda name: int([line for line in open('/proc/self/status')"
        " if line.startswith(name)][0].split()[1]) / 1024;"
        "start = field('VmRSS'); data = read(Path(sys.argv[1]));"
        "arrays = (data.centers, data.radius, data.color_id);"
        "kept = sum(each.nbytes for each in arrays) / 2**20;"
        "print(len(data.centers), kept, field('VmHWM') - start)"
    )
    words = [sys.executable, "-W", "ignore", "-c", code, str(path)]
    count, kept, peak = subprocess.run(
        words, capture_output=True, text=True, check=True
    ).stdout.split()
    ratio = float(peak) / float(kept)
    print(
        f"| {path.name} | {int(count):,} | {float(kept):,.0f} | {float(peak):,.0f} | {ratio:.2f} |"
    )


def written(format_: str, folder: Path, count: int) -> Path:
    """Return the file of a format; it is written if it is not there."""
    path = folder / f"{count}-{FILES[format_]}"
    if not path.exists():
        write(format_, path, count)
    return path


def packed(path: Path) -> Path:
    """Return a file by gzip; it is written if it is not there."""
    result = path.with_name(f"{path.name}.gz")
    if not result.exists():
        with path.open("rb") as plain, gzip.open(result, "wb", 1) as file:
            shutil.copyfileobj(plain, file)
    return result


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--libraries", type=int, default=2, help="of each format, fastest first")
    parser.add_argument("--format", choices=FILES, action="append")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--folder", type=Path, help="where files are kept")
    parser.add_argument("--write", action="store_true", help="write the files and end")
    parser.add_argument("--read", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.read:
        path, format_, name, reads = options.read
        for _ in range(int(reads)):
            reader_of(format_, name)(Path(path), format_)
        return
    with tempfile.TemporaryDirectory() as temporary:
        folder = options.folder or Path(temporary)
        folder.mkdir(exist_ok=True)
        formats = ["LAMMPS dump"] if options.memory else options.format or list(FILES)
        paths = {format_: written(format_, folder, options.count) for format_ in formats}
        if options.memory:
            (path,) = paths.values()
            files = [path, packed(path)]
            for each in [] if options.write else files:
                memory(each)
            return
        for format_, path in () if options.write else paths.items():
            read(path)
            measure(format_, path, options.libraries, options.rounds, options.instructions)


if __name__ == "__main__":
    main()
