"""Trees that a GPU builds over the primitives of a scene, in its own memory.

The kernels are those of kernels/cuda/build_tree.cuh. Arrays that are no longer needed share memory
with later ones: beside records and tree, a build takes 34 bytes per primitive.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import TREE
from raytracer.backends.cuda.driver import get_primary_context
from raytracer.backends.cuda.kernel import load_module
from raytracer.backends.cuda.memory import RECORD_BYTES, DeviceMemory
from raytracer.backends.cuda.transfer import get_staging
from raytracer.backends.kernel_sources import read_production_kernel
from raytracer.system import layout

BUILD_TREE, BUILD_TREE_OF_SOLIDS = "build_tree", "build_tree_capsules"
ENTRIES = {
    "tree_records": 256, "tree_bounds": 256, "tree_keys": 256, "tree_sort": 256,
    "tree_cluster": 256, "tree_nodes": 256, "tree_end": 256, "tree_refit": 256, "tree_restore": 256,
}  # fmt: skip
"""Kernels with the threads of a block, those of a build in the order of their launches."""

NODE_BYTES, CLUSTER_BYTES = 80, 33
SORT_TILE, SORT_PASSES, DIGITS = 3072, 8, 256
NODE_TILE = ENTRIES["tree_nodes"] // 8
PACKED_BYTES = layout.struct_dtype("PackInfo").itemsize
"""Bytes at the beginning of the state, which packing fills (`BuildState` of the kernels)."""


def compute_max_nodes(count: int) -> int:
    """Return the largest number of nodes of a tree: all have eight slots, but perhaps one."""
    return count // 7 + 2


def compute_tree_sizes(count: int, record_bytes: int) -> dict[str, int]:
    """Return the bytes of a tree by name; nodes: at most."""
    return {
        "nodes": compute_max_nodes(count) * NODE_BYTES,
        "spheres": count * record_bytes,
        "order": 4 * count,
    }


def compute_box_bytes(count: int) -> int:
    """Return the bytes of the boxes that a refit keeps of the nodes."""
    return 32 * compute_max_nodes(count)


def compute_scratch_sizes(count: int) -> dict[str, int]:
    """Return the bytes of what a build needs beside records and tree, by name."""
    sort = 12 * count + 16 + 8 * DIGITS * _count_blocks(count, SORT_TILE)
    return {
        "clusters": max(CLUSTER_BYTES * count + 32, sort),
        "queue": 4 * compute_max_nodes(count),
        "status": 8 * (_count_blocks(compute_max_nodes(count), NODE_TILE) + 64),
        "state": layout.kernel_constant("kBuildStateBytes"),
    }


def compute_build_sizes(count: int, record_bytes: int) -> dict[str, int]:
    """Return the bytes of all of these."""
    return compute_tree_sizes(count, record_bytes) | compute_scratch_sizes(count)


def _count_blocks(count: int, size: int) -> int:
    return -(-count // size)


@cache
def _load_functions(number: int, has_solids: bool) -> dict[str, Any]:
    """Return the kernels of a device by name, loaded once, compiled if necessary."""
    context = get_primary_context(number)
    with context.activate():
        kernel = read_production_kernel(BUILD_TREE_OF_SOLIDS if has_solids else BUILD_TREE)
        module = load_module(context, kernel)
        functions = {name: module.get_function(name) for name in ENTRIES}
        for function in functions.values():
            function.prepare([f"{layout.struct_dtype('BuildArgs').itemsize}s"])
    return functions


class DeviceTree:
    """A tree over records in the memory of a GPU, whose context is active in the methods.

    memory: has by name the arrays of `compute_build_sizes`, "apart" (numbers of the `apart`
    primitives beside the tree, the last ones of `count`), and "records" unless `build` is told an
    address.
    """

    def __init__(
        self, number: int, memory: DeviceMemory, count: int, apart: int,
        record_bytes: int = RECORD_BYTES,
    ) -> None:  # fmt: skip
        self.number, self.memory, self.count, self.apart = number, memory, count, apart
        self.record_bytes, context = record_bytes, get_primary_context(number)
        self._driver, self._multiprocessors = context.driver, context.multiprocessors
        self._functions = _load_functions(number, record_bytes > RECORD_BYTES)

    def interleave(self, stream: Any) -> None:
        """Queue the making of the "records" from columns, (4 or 8, count), at the beginning of
        "clusters"."""
        self._launch("tree_records", self._grid("tree_records"), self._make_arguments(), stream)

    def build(self, stream: Any, *, records: int = 0, has_bounds: bool = False) -> None:
        """Queue the build over records in the order of the input.

        records: their address, if they are not in memory. has_bounds: whether the state has the
        bounds of exactly those in the tree.
        """
        count = self.count
        args = self.sort(stream, records=records, has_bounds=has_bounds)
        clusters = _count_blocks(count - self.apart, ENTRIES["tree_cluster"])
        self._launch("tree_cluster", clusters, args, stream)
        grid = min(_count_blocks(compute_max_nodes(count), NODE_TILE), 4 * self._multiprocessors)
        # With a launch each, twice those of a full tree; the last kernel builds those below.
        levels = 2 * -(-count.bit_length() // 3)
        for step in range(levels):
            self._launch("tree_nodes", grid, args, stream, step)
        self._launch("tree_end", 1, args, stream, levels)

    def sort(self, stream: Any, *, records: int = 0, has_bounds: bool = False) -> NDArray[np.void]:
        """Queue what precedes all trees: an empty state, and the primitives along the curve.

        Arguments as of `build`. Returns those of the kernels that follow, structured (1,).
        """
        args, count, size = self._make_arguments(records), self.count, self.memory.size
        tiles = _count_blocks(count, SORT_TILE)
        for name, first, word, nbytes in (
            ("state", PACKED_BYTES, 0, size("state") - PACKED_BYTES),
            ("status", 0, 0, size("status")),
            ("lookback", 0, 0, 8 * DIGITS * tiles),
            ("parents", 0, 0xFFFFFFFF, 4 * count),
        ):
            self._driver.memset_d32_async(int(args[name][0]) + first, word, nbytes // 4, stream)
        grid = self._grid("tree_keys")
        if not has_bounds:
            self._launch("tree_bounds", grid, args, stream)
        self._launch("tree_keys", grid, args, stream, int(has_bounds))
        for step in range(SORT_PASSES):
            self._launch("tree_sort", tiles, args, stream, step)
        return args

    def refit(self) -> Callable[[Any], None]:
        """Return a function that queues a refit to the records on a stream, in one launch.

        memory: has "boxes" too, had them when the tree was built, and has all arrays of a build
            where they are now as long as the function is called.
        """
        words = self._make_arguments().tobytes()
        grid = min(
            _count_blocks(compute_max_nodes(self.count), NODE_TILE), 8 * self._multiprocessors
        )
        call, block = self._functions["tree_refit"].prepared_async_call, ENTRIES["tree_refit"]
        return lambda stream: call((grid, 1, 1), (block, 1, 1), stream, words)

    def restore(self, stream: Any) -> None:
        """Queue the recovery of the records from the tree."""
        self._launch("tree_restore", self._grid("tree_restore"), self._make_arguments(), stream)

    def read_result(self) -> Any:
        """Return the TreeResult of a build, and wait for it."""
        result = np.empty(1, layout.struct_dtype("TreeResult"))
        get_staging(self.number).to_host(self.memory.address("state") + PACKED_BYTES, result)
        return result[0]

    def _grid(self, entry: str) -> int:
        return min(_count_blocks(self.count, ENTRIES[entry]), 8 * self._multiprocessors)

    def _launch(
        self, entry: str, grid: int, args: NDArray[np.void], stream: Any, step: int = 0
    ) -> None:
        args["step"] = step
        function = self._functions[entry]
        function.prepared_async_call((grid, 1, 1), (ENTRIES[entry], 1, 1), stream, args.tobytes())

    def _make_arguments(self, records: int = 0) -> NDArray[np.void]:
        """Return the arguments of all kernels, structured (1,)."""
        args, at, count = (
            np.zeros(1, layout.struct_dtype("BuildArgs")),
            self.memory.address,
            self.count,
        )
        for name in (*TREE, "clusters", "queue", "status", "state", "boxes", "apart"):
            args[name] = at(name)
        leaves, clusters = at("spheres"), at("clusters")
        args["records"] = records or at("records")
        # until the primitives are put into leaf order
        args["keys"], args["values"] = leaves, leaves + 8 * count
        args["parents"] = leaves + 12 * count
        # until there are clusters
        args["keys_b"], args["values_b"] = clusters, clusters + 8 * count
        args["lookback"] = clusters + -(-12 * count // 16) * 16
        args["sizes"] = clusters + (CLUSTER_BYTES - 1) * count
        args["count"], args["apart_count"] = count - self.apart, self.apart
        return args
