"""Write generated scenes: .npz in bounded memory, .xyz, and the scene file that uses them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import numpy as np
from numpy.lib import format as npy

from raytracer.errors import OutputError
from raytracer.files import output, toml_text
from raytracer.files.access import opened
from raytracer.resources import scenes
from raytracer.scene.generators._base import Generator, Part

FIELDS: dict[str, tuple[str, tuple[int, ...]]] = {
    "centers": ("<f4", (3,)),
    "radii": ("<f4", ()),
    "colors": ("|u1", (3,)),
}
# Atoms written at a time.
ROWS = 1 << 14
# The line of an example scene that generates its data.
GENERATE = re.compile(r'^generate = \{ *name = "([a-z_]+)(?:/([a-z_]+))?".*\}$', re.MULTILINE)
CAPTION = re.compile(r'^caption = ".*"$', re.MULTILINE)
ROTATE = re.compile(r"^transform = \{ rotate", re.MULTILINE)
DATA_FILE = re.compile(r'^file = "[^"]+\.xyz"$', re.MULTILINE)


def files(name: str, target: Path) -> list[Path]:
    """Return the files that `write` makes, `target` first."""
    if target.suffix != ".toml":
        return [target]
    text = _example(name)
    if DATA_FILE.search(text):
        return [target, target.with_suffix(".xyz")]
    return [target, target.with_suffix(".npz")] if GENERATE.search(text) else [target]


def write(name: str, generator: Generator, target: Path, count: int, seed: int) -> list[Path]:
    """Write `target` and, for a scene, its data; return the files.

    Raises OutputError; all old files are then unchanged.
    """
    targets = files(name, target)
    # Before the data, because it refuses names that TOML cannot hold.
    text = _scene(name, generator, targets[-1], count, seed) if target.suffix == ".toml" else ""
    with output.Batch() as batch:
        for data in targets:
            if data.suffix == ".npz":
                write_npz(generator, data, count, seed, batch)
            elif data.suffix == ".xyz":
                write_xyz(name, generator, data, count, seed, batch)
        if text:
            output.write(target, text, batch)
    return targets


def write_npz(
    generator: Generator, target: Path, count: int, seed: int, batch: output.Batch | None = None
) -> None:
    """Write the arrays, uncompressed, block by block for a pointwise generator.

    Raises MemoryNeedError if they do not fit into memory.
    """
    if generator.block is not None:
        generator.require_room(count, whole=False)
    with (
        output.replacing(target, batch) as file,
        zipfile.ZipFile(file, "w", allowZip64=True) as archive,
    ):
        if generator.block is not None:
            _add_arrays(archive, "", count, lambda: generator.blocks(count, seed))
            return
        parts = generator.parts(count, seed)
        for part in parts:
            prefix = f"{part.name}_" if len(parts) > 1 else ""
            _add_arrays(archive, prefix, part.count, partial(list, (part,)))


def write_xyz(
    name: str, generator: Generator, target: Path, count: int, seed: int, batch: output.Batch
) -> None:
    """Write atoms as plain XYZ in angstrom. Raises OutputError if the generator has no elements."""
    if generator.symbols is None:
        raise OutputError(f"{target}: the generator '{name}' has no chemical elements; choose .npz")
    (part,) = generator.parts(count, seed)
    symbols = generator.symbols(count, seed)
    with output.replacing(target, batch) as file:
        file.write(f"{len(symbols)}\n{generator.summary}\n".encode())
        for start in range(0, len(symbols), ROWS):
            centers = part.centers[start : start + ROWS].astype(float)
            rows = zip(symbols[start : start + ROWS], centers, strict=True)
            lines = [f"{s:<2} {x:9.4f} {y:9.4f} {z:9.4f}\n" for s, (x, y, z) in rows]
            file.write("".join(lines).encode())


def _example(name: str) -> str:
    with opened(str(scenes() / f"{name}.toml")) as file:
        return file.file.read().decode()


def _scene(name: str, generator: Generator, data: Path, count: int, seed: int) -> str:
    """Return the example scene with its data from a file instead of a generator."""
    text = _example(name)
    # The example's camera and ground suit the default count.
    extent = generator.extent
    scale = extent(generator.count) / extent(count) if extent else 1.0
    resize = f"\ntransform = {{ scale = {scale!r} }}" if scale != 1.0 else ""
    if DATA_FILE.search(text):
        text = DATA_FILE.sub(lambda _: _file_line(data, None), text)
        text = ROTATE.sub(f"transform = {{ scale = {scale!r}, rotate", text)
    elif GENERATE.search(text):
        text = GENERATE.sub(lambda match: _file_line(data, match[2]) + resize, text)
    caption = f"{generator.summary}; {count:,} spheres requested, seed {seed}."
    return CAPTION.sub(lambda _: f"caption = {toml_text.quoted(caption)}", text)


def _file_line(data: Path, part: str | None) -> str:
    """Return the lines of a scene that name a data file, and the arrays of a part in it."""
    line = f"file = {toml_text.quoted(data.name)}"
    arrays = ", ".join(f'{field} = "{part}_{field}"' for field in FIELDS)
    return f"{line}\narrays = {{{arrays}}}" if part else line


def _add_arrays(
    archive: zipfile.ZipFile, prefix: str, count: int, blocks: Callable[[], Iterable[Part]]
) -> None:
    """Add the three arrays, one pass over the blocks each: numpy.savez would need them whole."""
    for field, (dtype, tail) in FIELDS.items():
        header = {"descr": dtype, "fortran_order": False, "shape": (count, *tail)}
        # A fixed date keeps the file the same from one run to the next.
        entry = zipfile.ZipInfo(f"{prefix}{field}.npy", (1980, 1, 1, 0, 0, 0))
        with archive.open(entry, "w", force_zip64=True) as stream:
            npy.write_array_header_1_0(stream, header)
            for block in blocks():
                stream.write(np.ascontiguousarray(getattr(block, field), dtype).data)
