"""The kernels that build trees, those of the renderer and the rungs of the bench, on the CPU."""

import ctypes
import fcntl
import shutil
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from raytracer.backends.cuda.cache import compute_digest
from raytracer.backends.cuda.tree import ENTRIES, DeviceTree
from raytracer.backends.kernel_sources import Variant
from raytracer.system.resources import kernels_folder
from support.libraries import FOR_CUDA, library


def builder(folder: Path) -> ctypes.CDLL:
    """Return the kernels of ENTRIES; `go` takes number, blocks, threads of a block, arguments."""
    return _compiled(folder, "tree", "cuda/build_tree.cuh", list(ENTRIES))


def rung_library(folder: Path, rung: Variant) -> ctypes.CDLL:
    """Return the kernels of a rung by `go`, and `shoot`: blocks, threads, arguments, and the
    addresses of rays and hits with their number."""
    trace = (
        "std::uint64_t shot[3];\n"
        "void trace_all(std::uint64_t) {\n"
        "  trace(given, (const float4*)shot[0], (rt::RayHit*)shot[1], (long long)shot[2]);\n}\n"
        'extern "C" void shoot(unsigned blocks, unsigned threads, const char* args,\n'
        "                      std::uint64_t rays, std::uint64_t hits, std::uint64_t count) {\n"
        "std::memcpy(&given, args, sizeof given);\n"
        "shot[0] = rays, shot[1] = hits, shot[2] = count;\n"
        "const std::uint64_t none = 0;\nlaunch(trace_all, blocks, threads, &none);\n}\n"
    )
    place = f"ladders/{rung.op}/{rung.path.name}"
    return _compiled(folder, f"rung_{rung.label}", place, rung.entries, trace)


def _compiled(
    folder: Path, name: str, place: str, entries: Sequence[str], more: str = ""
) -> ctypes.CDLL:
    """Return the kernels of a file whose argument is a BuildArgs."""
    chosen = "".join(f"if (which == {k}) kernel = {each};\n" for k, each in enumerate(entries))
    text = (
        "#define __grid_constant__\n#include <cuda_on_cpu.h>\n"
        "#include <core/layout.h>\n#undef RT_LAYOUT_TABLE\n#define RT_LAYOUT_TABLE\n"
        f"#include <{place}>\nrt::BuildArgs given;\n"
        "void (*kernel)(rt::BuildArgs);\nvoid work(std::uint64_t) { kernel(given); }\n"
        'extern "C" void go(int which, unsigned blocks, unsigned threads, const char* args) {\n'
        f"std::memcpy(&given, args, sizeof given);\n{chosen}"
        "const std::uint64_t none = 0;\nlaunch(work, blocks, threads, &none);\n}\n" + more
    )
    return library(folder, name, text, *FOR_CUDA, "-I", str(_copied(folder)))


def _copied(folder: Path) -> Path:
    """Return a copy of the kernels without the assembly of a GPU; one process makes it."""
    copied, root = folder / "kernels_without_assembly", kernels_folder()
    sources = [path for path in sorted(root.rglob("*")) if path.is_file()]
    key = compute_digest({str(path.relative_to(root)): path.read_bytes() for path in sources})
    with (folder / "kernels.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        mark = copied / "digest"
        if not mark.is_file() or mark.read_text() != key:
            shutil.rmtree(copied, ignore_errors=True)
            shutil.copytree(root, copied)
            state = copied / "cuda/bvh/state.cuh"
            before, rest = state.read_text().split("  asm volatile", 1)
            state.write_text(before + "  v = *(const float4*)p;\n" + rest.split("\n", 4)[4])
            mark.write_text(key)
    return copied


class Memory:
    """Arrays by name, as `DeviceMemory` has them."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.arrays = {name: np.full(size + 32, 0xCD, np.uint8) for name, size in sizes.items()}
        for name, size in sizes.items():
            begin = -self.arrays[name].ctypes.data % 32
            self.arrays[name] = self.arrays[name][begin : begin + size]

    def address(self, name: str) -> int:
        return int(self.arrays[name].ctypes.data) if name in self.arrays else 0

    def size(self, name: str) -> int:
        return self.arrays[name].size


def tree_on(built: ctypes.CDLL, memory: Memory, count: int, apart: int) -> DeviceTree:
    """Return a tree whose kernels are functions of the CPU."""

    def fill(address: int, word: int, count: int, _stream: Any) -> None:
        words = ctypes.cast(address, ctypes.POINTER(ctypes.c_uint32))
        np.ctypeslib.as_array(words, (count,))[:] = word

    tree: Any = DeviceTree.__new__(DeviceTree)
    tree.memory, tree.count, tree.apart = memory, count, apart
    tree._driver, tree._multiprocessors = SimpleNamespace(memset_d32_async=fill), 1
    tree._functions = functions_of(built, list(ENTRIES))
    return tree  # type: ignore[no-any-return]


def functions_of(built: ctypes.CDLL, entries: Sequence[str]) -> dict[str, Any]:
    """Return kernels by name, with the call of a function of the driver."""

    def call(which: int, grid: Any, block: Any, _stream: Any, arguments: bytes) -> None:
        built.go(which, grid[0], block[0], arguments)

    return {
        name: SimpleNamespace(prepared_async_call=partial(call, which))
        for which, name in enumerate(entries)
    }
