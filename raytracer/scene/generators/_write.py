"""Generated scenes as files: .npz in bounded memory, .xyz, and the scene file that uses them."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.lib import format as npy

from raytracer.resources import scenes

from ._base import Generator, Part

FIELDS: tuple[tuple[str, str, tuple[int, ...]], ...] = (
    ("centers", "<f4", (3,)),
    ("radii", "<f4", ()),
    ("colors", "|u1", (3,)),
)
# The line of an example scene that stands for its data.
GENERATE = re.compile(r'^generate = \{ *name = "([a-z_]+)(?:/([a-z_]+))?".*\}$', re.MULTILINE)
CAPTION = re.compile(r'^caption = ".*"$', re.MULTILINE)
ROTATE = re.compile(r"^transform = \{ rotate", re.MULTILINE)
DATA_FILE = re.compile(r'^file = "[^"]+\.xyz"$', re.MULTILINE)


def write(name: str, found: Generator, target: Path, count: int, seed: int) -> list[Path]:
    """Write `target` and, for a scene, the data beside it; returns the files."""
    if target.suffix == ".npz":
        write_npz(found, target, count, seed)
        return [target]
    if target.suffix == ".xyz":
        write_xyz(name, found, target, count, seed)
        return [target]
    return _write_scene(name, found, target, count, seed)


def write_npz(found: Generator, target: Path, count: int, seed: int) -> None:
    """The arrays, uncompressed; those of a pointwise generator are never all in memory."""
    with replacing(target) as file, zipfile.ZipFile(file, "w", allowZip64=True) as archive:
        if found.block is not None:
            _add_arrays(archive, "", count, lambda: found.blocks(count, seed))
            return
        parts = found.parts(count, seed)
        for part in parts:
            prefix = f"{part.name}_" if len(parts) > 1 else ""
            _add_arrays(archive, prefix, part.count, partial(list, (part,)))


def write_xyz(name: str, found: Generator, target: Path, count: int, seed: int) -> None:
    """Atoms as plain xyz, angstroms; raises UserError if the generator knows no elements."""
    from raytracer.errors import OutputError

    if found.symbols is None:
        raise OutputError(f"{target}: the generator '{name}' has no chemical elements; choose .npz")
    (part,) = found.parts(count, seed)
    rows = zip(found.symbols(count, seed), part.centers.astype(float), strict=True)
    lines = [f"{s:<2} {x:9.4f} {y:9.4f} {z:9.4f}" for s, (x, y, z) in rows]
    with replacing(target) as file:
        file.write("\n".join([str(part.count), found.summary, *lines, ""]).encode())


def _write_scene(name: str, found: Generator, target: Path, count: int, seed: int) -> list[Path]:
    """The example scene, with its data from a file beside it instead of a generator."""
    text = (scenes() / f"{name}.toml").read_text(encoding="utf-8")
    files = [target]
    # The example's camera and ground suit the generator's own count.
    scale = found.extent(found.count) / found.extent(count) if found.extent else 1.0
    resize = f"\ntransform = {{ scale = {scale!r} }}" if scale != 1.0 else ""
    if DATA_FILE.search(text):
        data = target.with_suffix(".xyz")
        write_xyz(name, found, data, count, seed)
        text = DATA_FILE.sub(f'file = "{data.name}"', text)
        text = ROTATE.sub(f"transform = {{ scale = {scale!r}, rotate", text)
        files.append(data)
    elif GENERATE.search(text):
        data = target.with_suffix(".npz")
        write_npz(found, data, count, seed)
        text = GENERATE.sub(lambda match: _file_line(data, match[2]) + resize, text)
        files.append(data)
    caption = f'caption = "{found.summary}; asked for {count:,} spheres, seed {seed}."'
    with replacing(target) as file:
        file.write(CAPTION.sub(lambda _: caption, text).encode())
    return files


def _file_line(data: Path, part: str | None) -> str:
    """The lines of a scene that name a data file, and the arrays of a part in it."""
    line = f'file = "{data.name}"'
    if part:
        own = ", ".join(f'{field} = "{part}_{field}"' for field, _, _ in FIELDS)
        line += f"\narrays = {{{own}}}"
    return line


def _add_arrays(
    archive: zipfile.ZipFile, prefix: str, count: int, blocks: Callable[[], Iterable[Part]]
) -> None:
    """Add the three arrays, each in one pass over the blocks: numpy.savez would need them whole."""
    for field, dtype, tail in FIELDS:
        header = {"descr": dtype, "fortran_order": False, "shape": (count, *tail)}
        # A fixed date keeps the file the same from one run to the next.
        entry = zipfile.ZipInfo(f"{prefix}{field}.npy", (1980, 1, 1, 0, 0, 0))
        with archive.open(entry, "w", force_zip64=True) as stream:
            npy.write_array_header_1_0(stream, header)
            for block in blocks():
                stream.write(np.ascontiguousarray(getattr(block, field), dtype).data)


@contextmanager
def replacing(target: Path) -> Iterator[IO[bytes]]:
    """A file that takes the target's place when it is complete, and vanishes if it fails."""
    temporary = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as file:
            yield file
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
