"""Cubins on disk: found by a name that covers all they were made from, checked when read.

A file is the cubin, a line with a JSON note, and a digest of both: CUDA's own tools (cuobjdump,
nvdisasm) read it as it is. Its name has the kernel, the architecture, a digest of sources and
options, and one of the compiler and its environment.
"""

import hashlib
import json
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from raytracer.files.output import cache_folder, temporary

_DIGEST_BYTES = 32


@dataclass(frozen=True)
class Cubin:
    """Machine code for one architecture."""

    code: bytes
    log: str  # of the assembler, with registers and spills
    path: Path | None = None  # None if it was compiled and could not be kept
    compiler: str = ""  # with its release


def own_folder() -> Path:
    """Return the folder of the cache, created for the user alone. Raises OSError."""
    try:
        folder = cache_folder("cubins")
    except RuntimeError as error:  # no home folder
        raise FileNotFoundError(str(error)) from error
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():  # its files are code that is run
        raise PermissionError(f"{folder} belongs to another user")
    return folder


def find(name: str, root: Path, shipped: bool = True) -> Cubin | None:
    """Return the cubin of that name, one that someone else compiled ($RAYTRACER_CUBINS, then
    kernels/cubins) or from the cache; None if none is sound."""
    return next(filter(None, map(read, _places(name, root, shipped))), None)


def _places(name: str, root: Path, shipped: bool) -> Iterator[Path]:
    chosen = os.environ.get("RAYTRACER_CUBINS")
    any_compiler = f"{name.rsplit('.', 2)[0]}.*.cubin"
    for folder in (*([Path(chosen).expanduser()] if chosen else []), root / "cubins"):
        yield from sorted(folder.glob(any_compiler)) if shipped else ()
    with suppress(OSError):
        yield from sorted(own_folder().glob(name))


def read(path: Path) -> Cubin | None:
    """The cubin in a file; None if it is missing or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    body = data[:-_DIGEST_BYTES]
    if _digest(body) != data[-_DIGEST_BYTES:]:
        return None
    code, _, note = body.rpartition(b"\n")
    return Cubin(code, path=path, **json.loads(note))


def write(folder: Path, name: str, cubin: Cubin) -> Path:
    """Store a cubin under its name, at once. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    note = json.dumps({"log": cubin.log, "compiler": cubin.compiler})
    body = cubin.code + b"\n" + note.encode()
    with temporary(folder, 0o644) as new:
        new.write_bytes(body + _digest(body))
        return new.replace(folder / name)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


class Usage(NamedTuple):
    """Resources of a kernel, or of all kernels of a log, as `ptxas -v` reports them."""

    registers: int
    shared: int
    spilled: int


def usage(log: str) -> Usage:
    """Return the resources that a log reports; registers and shared memory of its first kernel."""
    return Usage(
        _first(r"Used (\d+) registers", log),
        _first(r"(\d+) bytes smem", log),
        sum(int(size) for size in re.findall(r"(\d+) bytes spill", log)),
    )


def by_entry(log: str) -> dict[str, Usage]:
    """Return the resources of each kernel of a log, by the name of its entry function."""
    sections = log.split("Compiling entry function ")[1:]
    return {section.split("'")[1]: usage(section) for section in sections}


def _first(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 0
