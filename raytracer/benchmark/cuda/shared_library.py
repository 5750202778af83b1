"""Shared libraries compiled from .cu files with host code, called through ctypes.

They are compiled once for each compiler and architecture, and cached beside the cubins, each with a
file that contains the digest of its content.
"""

from __future__ import annotations

import ctypes
import hashlib
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from raytracer.backends.cuda import own_files
from raytracer.backends.cuda.cache import cache_folder, store
from raytracer.backends.cuda.compile import CompileError, find_nvcc, nvcc_version
from raytracer.backends.cuda.sources import digest, headers_of, kernels_root
from raytracer.errors import BackendError

FLAGS = ("-std=c++17", "-O3", "-shared", "-Xcompiler", "-fPIC")


def build(source: Path, arch: str, macros: Mapping[str, str] | None = None) -> Path:
    """Return the library of a .cu file, compiled now if it is not cached.

    Args:
        source: the file; it may include headers of the kernels by their path in kernels/.
        arch: architecture, like "sm_90a".
        macros: definitions for the compiler.

    Raises:
        BackendError: nvcc is missing, or the cache folder belongs to another user.
        CompileError: with the last line of the output of nvcc.
    """
    nvcc = find_nvcc()
    if nvcc is None:
        raise BackendError(f"{source.name} needs nvcc, which is missing: install the CUDA toolkit")
    root = kernels_root()
    text = {source.name: source.read_bytes()} | headers_of(source, root)
    flags = (*FLAGS, *(f"-D{name}={value}" for name, value in sorted((macros or {}).items())))
    key = digest(text, nvcc_version(nvcc), arch, *flags)
    target = cache_folder().parent / "libraries" / f"{source.stem}.{arch}.{key}.so"
    try:
        folder = own_files.make_private(target.parent)
    except OSError as error:
        raise BackendError(
            f"{source.name}: its library cannot be cached ({error}); set RAYTRACER_CACHE to a "
            "folder of your own"
        ) from error
    if not _is_sound(target):
        _compile(source, [str(nvcc), *flags, f"-arch={arch}", "-I", str(root)], folder, target)
    return target


def _compile(source: Path, compiler: list[str], folder: Path, target: Path) -> None:
    """Compile a library and store its digest."""
    with tempfile.TemporaryDirectory(prefix=".build-", dir=folder) as build_folder:
        library = Path(build_folder, "library.so")
        command = [*compiler, "-o", str(library), str(source)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode != 0 or not library.is_file():
            lines = f"{process.stdout}{process.stderr}".strip().splitlines()
            raise CompileError(f"nvcc cannot compile {source.name}: {(lines or ['?'])[-1]}")
        library.chmod(0o700)
        note = hashlib.blake2b(library.read_bytes()).hexdigest()
        library.replace(target)
    store(_note_of(target), note.encode())


def _is_sound(library: Path) -> bool:
    """Whether a library belongs to the user and matches its stored digest."""
    content, note = own_files.read(library), own_files.read(_note_of(library))
    if content is None or note is None:
        return False
    return hashlib.blake2b(content).hexdigest().encode() == note


def _note_of(library: Path) -> Path:
    return library.with_suffix(".blake2b")


class Launcher:
    """The functions of a library: `scratch_bytes(sizes)` and `launch(...)`."""

    def __init__(self, path: Path, sizes: Sequence[int]) -> None:
        """Load the library at `path` for the sizes of the operation."""
        self._library = ctypes.CDLL(str(path))
        self._library.scratch_bytes.restype = ctypes.c_longlong
        self._sizes = (ctypes.c_longlong * len(sizes))(*sizes)

    def scratch_bytes(self) -> int:
        """Return the bytes of scratch memory of a launch; raise BackendError on failure."""
        needed = int(self._library.scratch_bytes(self._sizes))
        if needed < 0:
            raise BackendError("the library did not report its scratch memory")
        return needed

    def launch(self, scratch: int, scratch_bytes: int, arrays: Sequence[int], stream: int) -> None:
        """Queue the work on addresses and a stream; raise BackendError if the launch fails."""
        status = self._library.launch(
            ctypes.c_void_p(scratch or None),
            ctypes.c_longlong(scratch_bytes),
            (ctypes.c_void_p * len(arrays))(*arrays),
            self._sizes,
            ctypes.c_void_p(stream),
        )
        if status:
            raise BackendError(f"the library's launch failed (error {status})")
