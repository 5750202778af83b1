"""Records of a scene whose tree a GPU builds: columns come to the GPU, and a kernel turns them."""

import ctypes
import re
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import CapsuleSet, Ground, Scene, SphereSet
from raytracer.backends.base import TREE
from raytracer.backends.cuda import driver as binding
from raytracer.backends.cuda import scene as scene_module
from raytracer.backends.cuda import transfer
from raytracer.backends.cuda import tree as tree_module
from raytracer.backends.cuda.run import MAX_SPHERES
from raytracer.backends.cuda.scene import CudaScene
from raytracer.packing.buffers import build_bvh
from raytracer.packing.pack import pack
from raytracer.system import layout
from raytracer.system.resources import kernels_folder
from support.fake_cuda import FakeDriver, cleared
from support.libraries import FOR_CUDA, library

COUNT = 1000
RNG = np.random.default_rng(1)
SPHERES = SphereSet(RNG.normal(size=(COUNT, 3)), RNG.uniform(0.01, 0.1, COUNT))
RODS = CapsuleSet(RNG.normal(size=(70, 3)), RNG.normal(size=(70, 3)), 0.02)

SCENES = {
    "spheres": Scene([SPHERES]),
    "spheres on a ground": Scene([SPHERES], ground=Ground()),
    "solids": Scene([SPHERES], capsules=[RODS], ground=Ground()),
}


def test_the_largest_scenes_fit_the_words_of_the_kernels() -> None:
    """Numbers of primitives and nodes, and addresses, of counts that few machines can hold."""
    headers = (kernels_folder() / "cuda/bvh/collapse.cuh").read_text()

    def number(name: str) -> int:
        found = re.search(rf"\b{name} = (\d+)", headers)
        assert found is not None, name
        return int(found[1])

    rows = MAX_SPHERES + 1  # with a ground
    assert rows < (1 << 32) - 1  # kNone and kNoPrim
    assert rows < 1 << number("kPlaceBits")
    nodes = tree_module.compute_max_nodes(rows)
    assert nodes < 1 << number("kNodeShift") - number("kPlaceBits")
    step = 8 * 256 * 1024  # of loops over primitives by a GPU with 1024 multiprocessors
    assert rows + step < 1 << 32
    assert -(-rows // tree_module.ENTRIES["tree_cluster"]) < 1 << 31  # blocks

    sizes = tree_module.compute_build_sizes(rows, 16)
    places, top = dict[str, int](), 1 << 46
    for name, size in (sizes | {"boxes": 0, "apart": 4}).items():
        places[name], top = top, top + -(-size // 512) * 512
    tree: Any = tree_module.DeviceTree.__new__(tree_module.DeviceTree)
    tree.memory = SimpleNamespace(address=places.__getitem__)
    tree.count, tree.apart = rows, 1
    args = tree._make_arguments(records=top)[0]
    lengths = {
        "keys": 8, "values": 4, "parents": 4, "keys_b": 8, "values_b": 4, "sizes": 1,
    }  # fmt: skip
    homes = {"keys_b": "clusters", "values_b": "clusters", "sizes": "clusters"}
    for name, length in lengths.items():
        home = homes.get(name, "spheres")
        begin, end = places[home], places[home] + sizes[home]
        assert begin <= int(args[name]) <= int(args[name]) + length * rows <= end, name
    tiles = -(-rows // tree_module.SORT_TILE)
    assert int(args["lookback"]) >= int(args["values_b"]) + 4 * rows
    assert int(args["lookback"]) + 8 * tree_module.DIGITS * tiles <= places["queue"]
    assert int(args["count"]) == rows - 1


KERNEL = (
    "#include <cuda_on_cpu.h>\n#include <cuda/bvh/records.cuh>\n"
    "void work(std::uint64_t from, std::uint64_t to, std::uint64_t count) {\n"
    "  rt::interleave((const float*)from, (rt::PrimitiveRecord*)to, (uint32_t)count);\n}\n"
    'extern "C" void go(unsigned blocks, unsigned threads, const std::uint64_t* arguments) {\n'
    "  launch(work, blocks, threads, arguments);\n}\n"
)


@pytest.mark.parametrize("name", SCENES)
def test_records_are_the_columns_row_by_row(
    name: str, libraries: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, flags = ("solids", ["-DRT_SOLIDS=1"]) if name == "solids" else ("spheres", [])
    kernel = library(libraries, f"records_of_{of}", KERNEL, *FOR_CUDA, *flags)
    buffers = pack(SCENES[name])
    driver = FakeDriver({}, lambda *_: None, memory=1 << 20)
    launched: list[str] = []
    found: list[NDArray[np.float32]] = []

    def run(entry: str, grid: Any, block: Any, _stream: Any, arguments: bytes) -> None:
        launched.append(entry)
        args = np.frombuffer(arguments, layout.struct_dtype("BuildArgs"))[0]
        base, count = driver.memory.ctypes.data, int(args["count"] + args["apart_count"])
        if entry == "tree_records":
            places = (base + int(args["clusters"]), base + int(args["records"]), count)
            kernel.go(grid[0], block[0], (ctypes.c_uint64 * 3)(*places))
        if entry == "tree_bounds":  # says that the tree is too deep: the host builds it
            records = driver.view(int(args["records"]), count * buffers.record_bytes)
            found.append(records.view(np.float32).reshape(count, -1).copy())
            place = int(args["state"]) + tree_module.PACKED_BYTES
            result = driver.view(place, layout.struct_dtype("TreeResult").itemsize)
            result.view(layout.struct_dtype("TreeResult"))["too_deep"] = 1

    def function(entry: str) -> Any:
        return SimpleNamespace(prepare=lambda _: None, prepared_async_call=partial(run, entry))

    module = SimpleNamespace(get_function=function)
    monkeypatch.setattr(binding, "load", lambda: driver)
    monkeypatch.setattr(tree_module, "load_module", lambda *_: module)
    monkeypatch.setattr(scene_module, "PART", 1000)
    monkeypatch.setattr(transfer, "CHUNK", 300)
    with cleared(binding.get_primary_context, transfer.get_staging, tree_module._load_functions):
        made = CudaScene(0, buffers, None)
        made.upload()
        tree = build_bvh(buffers)
        for part in TREE:
            array = getattr(tree, part)
            assert driver.view(made.address(part), array.nbytes).tobytes() == array.tobytes()
        made.close()
    assert launched[:2] == ["tree_records", "tree_bounds"]
    (records,) = found
    expected = np.stack(buffers.columns, axis=1)
    assert records.tobytes() == expected.tobytes()
    assert driver.live == {}
