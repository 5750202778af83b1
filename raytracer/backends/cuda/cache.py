"""Cubins on disk: found by a name that covers all they were made from, checked when read.

A file is the cubin, a line with a JSON note, and a digest of both: CUDA's own tools (cuobjdump,
nvdisasm) read it as it is. Its name has the kernel, the architecture, a digest of sources and
options, and one of the compiler and its environment.
"""

import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from os.path import normpath
from pathlib import Path
from typing import NamedTuple

from raytracer.config.errors import BackendError
from raytracer.files.output import cache_folder, read_cached, temporary_file

_DIGEST_BYTES = 32


@dataclass(frozen=True)
class Cubin:
    """Machine code for one architecture."""

    code: bytes
    log: str  # of the assembler, with registers and spills
    path: Path | None = None  # None if it was compiled and could not be kept
    compiler: str = ""  # with its release


def make_own_folder() -> Path:
    """Return the folder of the cache, created for the user alone. Raises OSError: there is none, or
    others may write to it, whose code would be run."""
    return cache_folder("cubins")


def find_cubin(name: str, root: Path, shipped: bool = True) -> Cubin | None:
    """Return the cubin of that name, one that someone else compiled ($RAYTRACER_CUBINS, then
    kernels/cubins) or from the cache; None if none is sound."""
    return next(filter(None, _find_candidates(name, root, shipped)), None)


def _find_candidates(name: str, root: Path, shipped: bool) -> Iterator[Cubin | None]:
    chosen = os.environ.get("RAYTRACER_CUBINS")
    any_compiler = f"{name.rsplit('.', 2)[0]}.*.cubin"
    for folder in (*([Path(chosen).expanduser()] if chosen else []), root / "cubins"):
        yield from map(read_cubin, sorted(folder.glob(any_compiler)) if shipped else ())
    with suppress(OSError):
        for path in sorted(make_own_folder().glob(name)):
            yield read_cubin(path, read_cached)  # code that is run: of this user alone


def read_cubin(path: Path, content: Callable[[Path], bytes] = Path.read_bytes) -> Cubin | None:
    """The cubin in a file; None if it is missing, damaged or may not be read."""
    try:
        data = content(path)
    except OSError:
        return None
    body = data[:-_DIGEST_BYTES]
    if _digest(body) != data[-_DIGEST_BYTES:]:
        return None
    code, _, note = body.rpartition(b"\n")
    try:
        return Cubin(code, path=path, **json.loads(note))
    except (ValueError, TypeError):  # a sound file, but not of this program
        return None


def write_cubin(folder: Path, name: str, cubin: Cubin) -> Path:
    """Store a cubin under its name, at once. Raises OSError."""
    folder.mkdir(parents=True, exist_ok=True)
    note = json.dumps({"log": cubin.log, "compiler": cubin.compiler})
    body = cubin.code + b"\n" + note.encode()
    with temporary_file(folder, 0o644) as new:
        new.write_bytes(body + _digest(body))
        return new.replace(folder / name)


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=_DIGEST_BYTES).digest()


class Usage(NamedTuple):
    """Resources of a kernel, or of all kernels of a log, as `ptxas -v` reports them."""

    registers: int
    shared: int
    spilled: int


def parse_usage(log: str) -> Usage:
    """Return the resources that a log reports; registers and shared memory of its first kernel."""
    return Usage(
        _find_first(r"Used (\d+) registers", log),
        _find_first(r"(\d+) bytes smem", log),
        sum(int(size) for size in re.findall(r"(\d+) bytes spill", log)),
    )


def parse_usage_by_entry(log: str) -> dict[str, Usage]:
    """Return the resources of each kernel of a log, by the name of its entry function."""
    sections = log.split("Compiling entry function ")[1:]
    return {section.split("'")[1]: parse_usage(section) for section in sections}


def _find_first(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 0


# Sources of a kernel: the key of a cubin and the digest in a record of the bench cover them.

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include\b[ \t]*(?:([<"])([^">]+)[">])?(.*)$', re.MULTILINE)


def collect_includes(source: Path, root: Path) -> dict[str, bytes]:
    """Return a file and all files that it includes, directly or not.

    Headers outside `root` (of CUDA and the C++ compiler) are left out, because the version of the
    compiler stands for them.
    """
    closure: dict[str, bytes] = {}
    pending = [source.resolve()]
    root = root.resolve()
    while pending:
        path = pending.pop()
        name = path.relative_to(root).as_posix()
        if name not in closure:
            closure[name] = path.read_bytes()
            pending += find_included(path, closure[name], root)
    return dict(sorted(closure.items()))


def compute_digest(closure: dict[str, bytes], *more: str) -> str:
    """Return a hexadecimal digest of names and contents of files, and of further strings."""
    hasher = hashlib.blake2b(digest_size=16)
    for name, contents in closure.items():
        hasher.update(f"{name}\0{len(contents)}\0".encode() + contents)
    for text in more:
        hasher.update(f"{len(text)}\0{text}".encode())
    return hasher.hexdigest()


def find_included(path: Path, contents: bytes, root: Path) -> Iterator[Path]:
    """Yield the files under `root` that a file includes. As in the compiler, a quoted name is first
    searched beside the including file."""
    for mark, name, rest in _INCLUDE.findall(contents):
        if not name:
            # The value of a macro is unknown, and a key without the file would load stale code.
            raise BackendError(
                f"{path}: #include {rest.decode(errors='replace')} is computed; write the name of "
                "the file, so that the cubin cache can follow it"
            )
        folders = [path.parent, root] if mark == b'"' else [root]
        places = (Path(normpath(folder / name.decode())) for folder in folders)
        inside = (place for place in places if place.is_relative_to(root) and place.is_file())
        yield from islice(inside, 1)  # the compiler tells what is missing
