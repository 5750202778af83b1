"""What a kernel is made of: the file itself and every file it includes.

A cubin's key and the digest in a record of measurements cover exactly these contents.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from raytracer.errors import BackendError
from raytracer.resources import kernels

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include\b[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_QUOTED = re.compile(rb'"([^"]+)"')
_ANGLED = re.compile(rb"<([^>]+)>")


def kernels_root() -> Path:
    """The folder of the kernels, on disk: nvcc reads it, so a zipped package will not do."""
    return Path(str(kernels()))


def include_closure(source: Path, root: Path) -> dict[str, bytes]:
    """The file and all it includes, directly or not: path relative to `root` -> contents.

    source: a .cu file under `root`.
    root: the folder that nvcc gets as its include path.
    Headers outside `root` (CUDA's, the C++ compiler's) are left out: the compiler's version
    stands for them. Raises BackendError for an include that is missing or computed.
    """
    closure: dict[str, bytes] = {}
    pending = [source.resolve()]
    root = root.resolve()
    while pending:
        path = pending.pop()
        name = path.relative_to(root).as_posix()
        if name not in closure:
            closure[name] = path.read_bytes()
            pending += _included(path, closure[name], root)
    return dict(sorted(closure.items()))


def headers_of(source: Path, root: Path) -> dict[str, bytes]:
    """The headers under `root` that a file elsewhere includes, as `include_closure` gives them."""
    found: dict[str, bytes] = {}
    for header in _included(source, source.read_bytes(), root.resolve()):
        found |= include_closure(header, root)
    return found


def digest(closure: dict[str, bytes], *more: str) -> str:
    """One hexadecimal digest of the names and contents of some files, and of further strings."""
    hasher = hashlib.blake2b(digest_size=16)
    for name, contents in closure.items():
        hasher.update(f"{name}\0{len(contents)}\0".encode() + contents)
    for text in more:
        hasher.update(f"{len(text)}\0{text}".encode())
    return hasher.hexdigest()


def _included(path: Path, contents: bytes, root: Path) -> list[Path]:
    found = []
    for match in _INCLUDE.finditer(contents):
        target = match[1]
        quoted, angled = _QUOTED.match(target), _ANGLED.match(target)
        name = quoted or angled
        if name is None:
            # A macro's value is unknown here, and a key that misses a file would serve stale code.
            raise BackendError(
                f"{path}: #include {target.decode(errors='replace')} is computed; "
                "write the name of the file, so that the cubin cache can follow it"
            )
        # As the compiler does: a quoted name is sought beside the including file first.
        folders = [path.parent, root] if quoted else [root]
        places = [(folder / name[1].decode()).resolve() for folder in folders]
        inside = [place for place in places if place.is_file() and place.is_relative_to(root)]
        if inside:
            found.append(inside[0])
        elif quoted:
            raise BackendError(
                f"{path} includes {name[1].decode()}, which is neither beside it nor under {root}"
            )
    return found
