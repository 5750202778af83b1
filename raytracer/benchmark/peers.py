"""Peers that are files: `kernels/peers/OP/NAME.cu`, which call libraries of the CUDA toolkit.

nvcc compiles a file to a shared library, which is kept in the cache and loaded into this process.
Its functions take the arrays of the bench (kernels/peers/peer.h), so that its launches are timed
and its results checked as those of kernels are.
"""

import ctypes
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Self

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import collect_includes, compute_digest
from raytracer.backends.cuda.compile import ENVIRONMENT
from raytracer.benchmark.cuda.session import Enqueue, Memory, RefusedError, Session
from raytracer.benchmark.op import Op
from raytracer.config.errors import BackendError
from raytracer.files.output import cache_folder, read_cached, temporary_file
from raytracer.system.resources import kernels_folder

FLAGS = ("-std=c++17", "-O3", "-shared", "-Xcompiler", "-fPIC", "-Xlinker", "-Bsymbolic")
_HEADER = re.compile(r"// (title|links|dtypes): (.+)")
_MISSING = re.compile(r"fatal error: (\S+): No such file|cannot find -l(\w+)")
_TOP = re.compile(r"^#\$ TOP=(.+)$", re.MULTILINE)  # folder of the toolkit, as nvcc says


@dataclass(frozen=True)
class PeerFile:
    """A file that calls a library."""

    path: Path
    title: str  # in tables
    links: str = ""  # the library that it is linked with, without "lib"
    dtypes: str = ""  # types of the operation that it has; all if empty

    def supports(self, dtype: str) -> bool:
        return not self.dtypes or dtype in self.dtypes.split()


def find_peers(op: str, root: Path | None = None) -> list[PeerFile]:
    """Return the files of an operation, by name."""
    return [_read(path) for path in sorted((root or kernels_folder()).glob(f"peers/{op}/*.cu"))]


def _read(path: Path) -> PeerFile:
    lines = path.read_text(encoding="utf-8").splitlines()
    values = {match[1]: match[2] for line in lines if (match := _HEADER.fullmatch(line))}
    return PeerFile(path, **{"title": path.stem} | values)


def build(peer: PeerFile, arch: str, macros: Mapping[str, str]) -> Path:
    """Return the library of a peer, from the cache or compiled now. Raises RefusedError: nvcc, or
    what it needs, is missing; BackendError: it does not compile, or cannot be kept."""
    nvcc = compiler.find_nvcc()
    if sys.platform == "win32" or nvcc is None:
        raise RefusedError(
            "needs nvcc of the CUDA toolkit on Linux: install it, or point RAYTRACER_NVCC at it"
        )
    defined = (f"-D{name}={value}" for name, value in sorted(macros.items()))
    flags = (*FLAGS, f"-arch={arch}", *defined)
    made_by = compiler.read_nvcc_version(nvcc), *(os.environ.get(each, "") for each in ENVIRONMENT)
    key = compute_digest(collect_includes(peer.path, kernels_folder()), *made_by, *flags)
    name = f"{peer.path.parent.name}-{peer.path.stem}.{arch}.{key}.so"
    try:
        folder = cache_folder("peers")
        with suppress(FileNotFoundError):
            read_cached(folder / name)  # code that is run: of this user alone
            return folder / name
        line = (
            f"compiling {peer.title} for {arch} by {compiler.describe_compiler()} "
            "(once; the result is kept)"
        )
        print(f"raytracer: {line}", file=sys.stderr, flush=True)
        with temporary_file(folder, 0o600) as new:
            _compile(nvcc, peer, flags, new)
            return new.replace(folder / name)
    except OSError as error:
        raise BackendError(
            f"the library cannot be kept ({error}): set RAYTRACER_CACHE to a folder that only you "
            "can write"
        ) from None


def _compile(nvcc: Path, peer: PeerFile, flags: tuple[str, ...], target: Path) -> None:
    """Compile with the library of the toolkit, else with one that came with a Python package."""
    missing = ""
    for place in _places(nvcc, peer.links):
        with TemporaryDirectory(prefix="raytracer-") as folder:
            made = Path(folder, "peer.so")
            command = [str(nvcc), *flags, *place, "-o", str(made), str(peer.path)]
            done = subprocess.run(
                command, capture_output=True, text=True, check=False,
                env={**os.environ, "LC_ALL": "C"},
            )  # fmt: skip
            if done.returncode == 0:
                target.write_bytes(made.read_bytes())
                return
        log = f"{done.stdout}{done.stderr}"
        if not (match := _MISSING.search(log)):
            errors = [line for line in log.splitlines() if "error" in line] or log.splitlines()
            raise BackendError(f"nvcc cannot compile it: {' '.join(errors[:1])}")
        missing = missing or match[1] or f"lib{match[2]}"
    raise RefusedError(
        f"the CUDA toolkit of {nvcc} has no {missing}: install this part of it, or a Python "
        "package with it, like nvidia-cublas"
    )


def _places(nvcc: Path, links: str) -> Iterator[list[str]]:
    """Yield options of nvcc for each place where a library may be."""
    if not links:
        yield []
        return
    done = subprocess.run(
        [nvcc, "--dryrun", "-c", "none.cu"], capture_output=True, text=True, check=False
    )
    toolkits = _TOP.findall(done.stderr)
    paths = [word for top in toolkits for word in ("-Xlinker", f"-rpath={top}/lib64")]
    yield [f"-l{links}", *paths]
    packages = find_spec("nvidia")
    for root in packages.submodule_search_locations or () if packages else ():
        for header in sorted(Path(root).glob(f"*/include/{links}.h")):
            folder = header.parents[1] / "lib"
            for library in sorted(folder.glob(f"lib{links}.so.*"))[:1]:
                linked = (f"-L{folder}", "--no-as-needed", f"-l:{library.name}", f"-rpath={folder}")
                words = [word for each in linked for word in ("-Xlinker", each)]
                yield ["-isystem", str(header.parent), *words]


class _Call(ctypes.Structure):
    """The struct `Call` of kernels/peers/peer.h."""

    _fields_ = (
        ("arrays", ctypes.POINTER(ctypes.c_void_p)),
        ("sizes", ctypes.POINTER(ctypes.c_longlong)),
        ("dtype", ctypes.c_char_p),
        ("stream", ctypes.c_void_p),
    )


class LoadedPeer:
    """A peer for one operation, until `with` ends."""

    def __init__(self, session: Session, peer: PeerFile, op: Op, memory: Memory) -> None:
        """Compile and load a peer, and let it allocate and choose, with arrays in a memory; raises
        as `build` does, and BackendError for errors of the library."""
        self._session, self._op = session, op
        path = build(peer, session.arch, op.macros(op.axes, op.dtype))
        try:
            self._library = ctypes.CDLL(str(path))
        except OSError as error:  # a library that it needs is gone
            raise BackendError(f"it cannot be loaded ({error}): remove {path}") from None
        for name in ("version", "prepare", "launch"):
            getattr(self._library, f"peer_{name}").restype = ctypes.c_char_p
        self.version = self._library.peer_version().decode()
        self._state = ctypes.c_void_p()
        call = self._call(memory)
        self._check(self._library.peer_prepare(ctypes.byref(call), ctypes.byref(self._state)))

    def _call(self, memory: Memory) -> _Call:
        addresses = [memory.address(name) for name in self._op.arrays]
        arrays = (ctypes.c_void_p * len(addresses))(*addresses)
        sizes = (ctypes.c_longlong * len(self._op.sizes))(*self._op.sizes)
        stream = int(self._session.stream.handle)
        return _Call(arrays, sizes, self._op.dtype.encode(), stream)

    @staticmethod
    def _check(fault: bytes) -> None:
        if fault:
            raise BackendError(fault.decode(errors="replace"))

    def bind(self, memory: Memory) -> Enqueue:
        """Return a function that queues the work on the arrays of a memory."""
        call = self._call(memory)

        def enqueue() -> None:
            self._check(self._library.peer_launch(self._state, ctypes.byref(call)))

        return enqueue

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._library.peer_finish(self._state)
