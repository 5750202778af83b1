"""Shared libraries compiled from .cu files with host code, called through ctypes.

They are compiled once for each compiler and architecture, and cached as cubins are: the loader of
libraries ignores what follows the machine code.
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from raytracer.backends.cuda import cache, own_files
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
    compiler = nvcc_version(nvcc)
    name = cache.CubinName(source.stem, arch, digest(text, arch, *flags), digest({}, compiler))
    try:
        folder = own_files.make_private(cache.cache_folder().parent / "libraries")
    except OSError as error:
        raise BackendError(
            f"{source.name}: its library cannot be cached ({error}); set RAYTRACER_CACHE to a "
            "folder of your own"
        ) from error
    if cache.read(folder / name.file) is None:
        code = _compiled(source, [str(nvcc), *flags, f"-arch={arch}", "-I", str(root)])
        cache.write(folder, name, cache.Cubin(code, "", compiler=compiler))
    return folder / name.file


def _compiled(source: Path, compiler: list[str]) -> bytes:
    """Compile a library."""
    with tempfile.TemporaryDirectory(prefix="raytracer-bench-") as folder:
        library = Path(folder, "library.so")
        command = [*compiler, "-o", str(library), str(source)]
        process = subprocess.run(command, capture_output=True, text=True, check=False)
        if process.returncode != 0 or not library.is_file():
            lines = f"{process.stdout}{process.stderr}".strip().splitlines()
            raise CompileError(f"nvcc cannot compile {source.name}: {(lines or ['?'])[-1]}")
        return library.read_bytes()


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
