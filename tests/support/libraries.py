"""C++ that tests compile: shared libraries, kept from one run to the next."""

import ctypes
import fcntl
import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from raytracer.backends.cuda.cache import compute_digest
from raytracer.system.resources import kernels_folder

TESTS = Path(__file__).resolve().parents[1]
FLAGS = ["-std=c++20", "-O1", "-w", "-shared", "-fPIC"]
FOR_CUDA = ["-pthread", "-ffp-contract=off", "-DSTATIC_SHARED"]
"""Of sources that include cuda_on_cpu.h and shared memory of a size in them."""


def library(folder: Path, name: str, text: str, *flags: str) -> ctypes.CDLL:
    """Return the library of a C++ source; arguments as for `library_path`."""
    return ctypes.CDLL(str(library_path(folder, name, text, *flags)))


def library_path(folder: Path, name: str, text: str, *flags: str) -> Path:
    """Return the file of a library of a C++ source; skips where there is no compiler.

    The source may include headers of kernels/, tests/support and tests/probe.

    folder: where it is kept, one of each name. Of several processes one compiles it.
    """
    compiler = shutil.which(os.environ.get("CXX", "c++"))
    if compiler is None:
        pytest.skip("there is no C++ compiler; set CXX")
    folders = [TESTS / "support", TESTS / "support/cuda_on_cpu", TESTS / "probe", kernels_folder()]
    includes = [word for each in folders for word in ("-I", str(each))]
    command = [compiler, *FLAGS, *flags, *includes]
    path = folder / f"{name}-{compute_digest({}, text, _read_by(compiler), *command)}.so"
    with (folder / f"{name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not path.is_file():
            for old in folder.glob(f"{name}-*.so"):
                old.unlink()
            source, made = folder / f"{name}.cpp", folder / f"{name}.new"
            source.write_text(text, encoding="utf-8")
            # Not under what checks the interpreter itself (the sanitizers of .ci/run).
            environment = {k: v for k, v in os.environ.items() if k != "LD_PRELOAD"}
            done = subprocess.run(
                [*command, str(source), "-o", str(made)],
                env=environment, capture_output=True, text=True, check=False,
            )  # fmt: skip
            assert done.returncode == 0, done.stderr[:2000]
            made.replace(path)
    return path


@cache
def _read_by(compiler: str) -> str:
    """Return a digest of the compiler's version and of all headers and kernels."""
    done = subprocess.run([compiler, "--version"], capture_output=True, text=True, check=True)
    files = [
        path
        for folder in (TESTS / "support", TESTS / "probe", kernels_folder())
        for path in sorted(folder.rglob("*"))
        if path.suffix in (".h", ".cuh", ".cu", ".cpp")
    ]
    return compute_digest({str(path): path.read_bytes() for path in files}, done.stdout)


def kernel(folder: Path, name: str, struct: str) -> ctypes.CDLL:
    """Return a production kernel, whose `go` takes blocks, threads of a block, and an address.

    name: of kernels/cuda/NAME.cu. struct: of its arguments, which lie at the address.
    """
    text = (
        f"#define __grid_constant__\n#include <cuda_on_cpu.h>\n#include <cuda/{name}.cu>\n"
        f"void by_address(std::uint64_t args) {{ {name}(*(const rt::{struct}*)args); }}\n"
        'extern "C" void go(unsigned blocks, unsigned threads, std::uint64_t args) {\n'
        "  launch(by_address, blocks, threads, &args);\n}\n"
    )
    return library(folder, name, text, *FOR_CUDA)
