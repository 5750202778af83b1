"""CUDA kernels with one struct of arguments, compiled as functions of the CPU."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

from raytracer.backends.cuda.sources import kernels_root

SUPPORT = Path(__file__).resolve().parent


def compiled(folder: Path, kernel: str, struct: str, more: str = "") -> ctypes.CDLL:
    """Return a library whose `go` takes blocks, threads of a block, and the address of arguments.

    kernel: kernels/cuda/KERNEL.cu. struct: of its arguments. more: C++ beside it.
    """
    if shutil.which("g++") is None:
        pytest.skip("g++ is missing")
    source, library = folder / f"{kernel}.cpp", folder / f"{kernel}.so"
    source.write_text(
        f"#define __grid_constant__\n#include <cuda_on_cpu.h>\n#include <cuda/{kernel}.cu>\n"
        f"void by_address(std::uint64_t args) {{ {kernel}(*(const rt::{struct}*)args); }}\n"
        'extern "C" void go(unsigned blocks, unsigned threads, std::uint64_t args) {\n'
        "  launch(by_address, blocks, threads, &args);\n}\n" + more
    )
    flags = ["-std=c++20", "-O1", "-w", "-shared", "-fPIC", "-pthread", "-ffp-contract=off"]
    flags += ["-DSTATIC_SHARED", "-I", str(SUPPORT), "-I", str(kernels_root())]
    subprocess.run(["g++", *flags, str(source), "-o", str(library)], check=True)
    return ctypes.CDLL(str(library))
