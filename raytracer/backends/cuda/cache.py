"""Cubins on disk: found by a name that covers all they were made from, checked when read.

A file is the cubin, then a JSON note, the note's length, a digest of all before, and a mark. The
trailer follows the cubin so that CUDA's own tools (cuobjdump, nvdisasm) read the file as it is.
"""

import hashlib
import json
import os
import re
from dataclasses import dataclass, replace
from pathlib import Path

from raytracer.files.output import cache_folder, temporary

_MARK = b"RTCUBIN1"
_DIGEST_BYTES = 32
_LENGTH_BYTES = 8


@dataclass(frozen=True)
class CubinName:
    """The parts of the name of a cubin."""

    stem: str  # operation and variant, for people
    arch: str
    source_key: str  # digest of the sources, the flags and the architecture
    compiler_key: str  # digest of the compiler and its environment; "" takes any compiler's

    @property
    def file(self) -> str:
        """The name; without a compiler, a pattern that those of any compiler match."""
        return f"{self.stem}.{self.arch}.{self.source_key}.{self.compiler_key or '*'}.cubin"


@dataclass(frozen=True)
class Cubin:
    """Machine code for one architecture."""

    code: bytes
    log: str  # of the assembler, with registers and spills
    path: Path | None = None  # None if it was compiled and could not be kept
    compiler: str = ""  # with its release


def own_folder() -> Path:
    """Return the folder of the cache, created for the user alone. Raises OSError."""
    folder = cache_folder("cubins")
    folder.mkdir(0o700, parents=True, exist_ok=True)
    if not _is_own(folder):
        raise PermissionError(f"{folder} belongs to another user")
    return folder


def _is_own(folder: Path) -> bool:
    """Whether a folder is there and the user's: its files are code that is run."""
    return folder.is_dir() and folder.stat().st_uid == os.geteuid()


def find(name: CubinName, root: Path, shipped: bool = True) -> Cubin | None:
    """Return the cubin of that name, one that someone else compiled ($RAYTRACER_CUBINS, then
    kernels/cubins) or from the cache; None if none is sound."""
    paths: list[Path] = []
    if shipped:
        chosen = os.environ.get("RAYTRACER_CUBINS")
        for folder in (*([Path(chosen).expanduser()] if chosen else []), root / "cubins"):
            paths += sorted(folder.glob(replace(name, compiler_key="").file))
    if _is_own(folder := cache_folder("cubins")):
        paths += sorted(folder.glob(name.file))
    return next(filter(None, map(read, paths)), None)


def read(path: Path) -> Cubin | None:
    """The cubin in a file; None if it is missing or damaged."""
    try:
        data = path.read_bytes()
    except OSError:
        return None
    end = len(data) - len(_MARK) - _DIGEST_BYTES
    if end < _LENGTH_BYTES or not data.endswith(_MARK):
        return None
    if _digest(data[:end]) != data[end : end + _DIGEST_BYTES]:
        return None
    note_end = end - _LENGTH_BYTES
    note_begin = note_end - int.from_bytes(data[note_end:end], "little")
    note = json.loads(data[note_begin:note_end])
    return Cubin(data[:note_begin], note["log"], path, note.get("compiler", ""))


def write(folder: Path, name: CubinName, cubin: Cubin) -> Path:
    """Store a cubin under its name, at once. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    note = json.dumps({"log": cubin.log, "compiler": cubin.compiler}).encode()
    body = cubin.code + note + len(note).to_bytes(_LENGTH_BYTES, "little")
    with temporary(folder, 0o644) as new:
        new.write_bytes(body + _digest(body) + _MARK)
        return new.replace(folder / name.file)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


@dataclass(frozen=True)
class Usage:
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
