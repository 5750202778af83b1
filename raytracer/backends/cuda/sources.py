"""Sources of a kernel: its file and all files that it includes.

The key of a cubin and the digest in a record of measurements cover these contents.
"""

import hashlib
import re
from os.path import normpath
from pathlib import Path

from raytracer.errors import BackendError

_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*include\b[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_QUOTED = re.compile(rb'"([^"]+)"')
_ANGLED = re.compile(rb"<([^>]+)>")


def include_closure(source: Path, root: Path) -> dict[str, bytes]:
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
            pending += _included(path, closure[name], root)
    return dict(sorted(closure.items()))


def digest(closure: dict[str, bytes], *more: str) -> str:
    """Return a hexadecimal digest of names and contents of files, and of further strings."""
    hasher = hashlib.blake2b(digest_size=16)
    for name, contents in closure.items():
        hasher.update(f"{name}\0{len(contents)}\0".encode() + contents)
    for text in more:
        hasher.update(f"{len(text)}\0{text}".encode())
    return hasher.hexdigest()


def _included(path: Path, contents: bytes, root: Path) -> list[Path]:
    paths = []
    for match in _INCLUDE.finditer(contents):
        target = match[1]
        quoted, angled = _QUOTED.match(target), _ANGLED.match(target)
        name = quoted or angled
        if name is None:
            # The value of a macro is unknown, and a key without the file would load stale code.
            raise BackendError(
                f"{path}: #include {target.decode(errors='replace')} is computed; "
                "write the name of the file, so that the cubin cache can follow it"
            )
        # As in the compiler, a quoted name is first searched beside the including file.
        folders = [path.parent, root] if quoted else [root]
        places = [Path(normpath(folder / name[1].decode())) for folder in folders]
        inside = [place for place in places if place.is_relative_to(root) and place.is_file()]
        if inside:
            paths.append(inside[0])
        elif quoted:
            raise BackendError(
                f"{path} includes {name[1].decode()}, which is neither beside it nor under {root}"
            )
    return paths
