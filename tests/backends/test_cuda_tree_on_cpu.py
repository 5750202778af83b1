"""Kernels that build and refit a tree, compiled for the CPU: valid trees, and growth as float64."""

import ctypes
import shutil
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.backends.cuda.moving_spheres import FOUND
from raytracer.backends.cuda.tree import (
    ENTRIES,
    PACKED_BYTES,
    DeviceTree,
    compute_box_bytes,
    compute_scratch_sizes,
    compute_tree_sizes,
)
from raytracer.system import layout, resources
from support.libraries import FOR_CUDA, library
from support.nodes import check, read_tree, walk

COUNT, APART = 300, 7  # of them beside the tree
Floats = NDArray[np.float32]


@pytest.fixture(scope="module")
def kernels(libraries: Path) -> ctypes.CDLL:
    copied = libraries / "tree"
    shutil.copytree(resources.kernels_folder(), copied, dirs_exist_ok=True)
    state = copied / "cuda/bvh/state.cuh"
    before, rest = state.read_text().split("  asm volatile", 1)
    state.write_text(before + "  v = *(const float4*)p;\n" + rest.split("\n", 4)[4])
    entries = "".join(f"if (which == {k}) kernel = {name};\n" for k, name in enumerate(ENTRIES))
    text = (
        "#define __grid_constant__\n#include <cuda_on_cpu.h>\n"
        "#include <core/layout.h>\n#undef RT_LAYOUT_TABLE\n#define RT_LAYOUT_TABLE\n"
        "#include <cuda/build_tree.cuh>\nrt::BuildArgs given;\n"
        "void (*kernel)(rt::BuildArgs);\nvoid work(std::uint64_t) { kernel(given); }\n"
        'extern "C" void go(int which, unsigned blocks, unsigned threads, const char* args) {\n'
        f"std::memcpy(&given, args, sizeof given);\n{entries}"
        "const std::uint64_t none = 0;\nlaunch(work, blocks, threads, &none);\n}\n"
    )
    return library(libraries, "tree", text, *FOR_CUDA, "-I", str(copied))


class Memory:
    """Arrays by name, as `DeviceMemory` has them."""

    def __init__(self, sizes: dict[str, int]) -> None:
        self.arrays = {name: np.full(size + 32, 0xCD, np.uint8) for name, size in sizes.items()}
        for name, size in sizes.items():
            begin = -self.arrays[name].ctypes.data % 32
            self.arrays[name] = self.arrays[name][begin : begin + size]

    def address(self, name: str) -> int:
        return int(self.arrays[name].ctypes.data)

    def size(self, name: str) -> int:
        return self.arrays[name].size


def tree_on(built: ctypes.CDLL, memory: Memory) -> DeviceTree:
    def fill(address: int, word: int, count: int, _stream: Any) -> None:
        words = ctypes.cast(address, ctypes.POINTER(ctypes.c_uint32))
        np.ctypeslib.as_array(words, (count,))[:] = word

    def call(which: int, grid: Any, block: Any, _stream: Any, arguments: bytes) -> None:
        built.go(which, grid[0], block[0], arguments)

    tree: Any = DeviceTree.__new__(DeviceTree)
    tree.memory, tree.count, tree.apart = memory, COUNT, APART
    tree._driver, tree._multiprocessors = SimpleNamespace(memset_d32_async=fill), 1
    tree._functions = {
        name: SimpleNamespace(prepared_async_call=partial(call, which))
        for which, name in enumerate(ENTRIES)
    }
    return tree  # type: ignore[no-any-return]


def keys(numbers: Floats) -> NDArray[np.uint32]:
    bits = numbers.view(np.uint32)
    return np.where(bits >> 31, ~bits, bits | np.uint32(1 << 31)).astype(np.uint32)


def result_of(memory: Memory) -> Any:
    return memory.arrays["state"][: FOUND.itemsize].view(FOUND)["tree"][0].copy()


def nodes_of(memory: Memory) -> NDArray[np.void]:
    size = 80 * int(result_of(memory)["node_count"])
    return memory.arrays["nodes"][:size].view(layout.struct_dtype("Node")).copy()


def costs_of(memory: Memory, records: Floats) -> NDArray[np.float64]:
    """Check the tree against its definition; return what a ray that meets each node costs."""
    order, leaves = (memory.arrays[name].view("i4") for name in ("order", "spheres"))
    nodes = nodes_of(memory).view(np.uint8).reshape(-1, 80)
    tree = read_tree(nodes, order, leaves.view(np.float32).reshape(-1, 4))
    check(tree, records, APART, slack=2.0**-20)
    rows = tree.spheres.astype(np.float64)
    low, high = rows[:, :3] - rows[:, 3:], rows[:, :3] + rows[:, 3:]
    bounds = np.zeros((len(tree), 2, 3))
    costs = np.zeros(len(tree))
    for node, _ in walk(tree):  # children before their parents
        assert all(b - a <= 8 for a, b, _ in tree.leaves(node))
        of_leaves = [
            (np.array([low[a:b].min(0), high[a:b].max(0)]), 0.25 * (b - a))
            for a, b, _ in tree.leaves(node)
        ]
        every = [*of_leaves, *((bounds[child], 1.0) for child, _ in tree.children(node))]
        bounds[node, 0] = np.min([box[0] for box, _ in every], axis=0)
        bounds[node, 1] = np.max([box[1] for box, _ in every], axis=0)
        for box, weight in every:
            x, y, z = box[1] - box[0]
            costs[node] += weight * (x * y + y * z + z * x)
    return costs


def test_trees_are_valid_and_follow_spheres(kernels: ctypes.CDLL) -> None:
    g = np.random.default_rng(1)
    records = g.uniform(-1.0, 1.0, (COUNT, 4)).astype(np.float32)
    records[:, 3] = 0.05
    sizes = (
        compute_tree_sizes(COUNT, 16)
        | compute_scratch_sizes(COUNT)
        | {"boxes": compute_box_bytes(COUNT)}
    )
    memory = Memory(sizes | {"records": 16 * COUNT, "apart": 4 * APART})
    placed = memory.arrays["records"].view(np.float32).reshape(-1, 4)
    placed[:] = records
    memory.arrays["apart"].view(np.int32)[:] = np.arange(COUNT - APART, COUNT)
    packed = memory.arrays["state"][:PACKED_BYTES].view(layout.struct_dtype("PackInfo"))
    packed["low"] = keys(records[:-APART, :3].min(axis=0))
    packed["high"] = ~keys(records[:-APART, :3].max(axis=0))
    tree = tree_on(kernels, memory)
    tree.build(None, has_bounds=True)
    first, built = costs_of(memory, records), nodes_of(memory)
    refit = tree.refit()
    for step in range(1, 4):
        refit(None)
        result = result_of(memory)
        assert (result["refits"], result["too_deep"]) == (step, 0)
        growth = result["growth"][step % 2] / 2.0**20
        expected = np.minimum(costs_of(memory, placed.copy()) / first, 8.0).sum()
        np.testing.assert_allclose(growth, expected, rtol=1e-4)
        if step == 1:
            assert nodes_of(memory).tobytes() == built.tobytes(), "nothing has moved"
        placed[:, :3] += g.normal(0.0, 0.05, (COUNT, 3))
    placed[:] = records
    tree.build(None)
    assert nodes_of(memory).tobytes() == built.tobytes(), "with bounds of its own"
    assert result_of(memory)["refits"] == 0
    placed[:, :3] += g.normal(0.0, 0.05, (COUNT, 3))
    refit(None)
    costs_of(memory, placed.copy())
