"""Trees and positions in the memory of a GPU, for `raytracer bench build` and `live`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import TREE
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.transfer import staging
from raytracer.backends.cuda.tree import (
    NODE_BYTES,
    read_result,
    scratch_sizes,
    tree_kernels,
    tree_sizes,
)
from raytracer.buffers import Bvh, SceneBuffers
from raytracer.device_array import DeviceArray


def placed(number: int, array: NDArray[Any]) -> DeviceArray:
    """Return a copy of a C-contiguous array in the memory of a GPU."""
    context = primary_context(number)
    memory = DeviceMemory(context)
    with context.lock, context.active():
        address = memory.allocate("array", array.nbytes)
        staging(number).to_device(array, address)
        staging(number).stream.synchronize()
    return DeviceArray(address, array.shape, array.strides, array.dtype, number, None, memory)


class DeviceTree:
    """A tree over spheres, which are in the memory of a GPU once and for all."""

    def __init__(self, number: int, buffers: SceneBuffers) -> None:
        self._number, self._context = number, primary_context(number)
        self._memory = DeviceMemory(self._context)
        self._count, self._large = buffers.count, len(buffers.large_id)
        sizes = tree_sizes(self._count, buffers.record_bytes) | scratch_sizes(self._count)
        sizes |= {"records": buffers.record_bytes * self._count, "apart": buffers.large_id.nbytes}
        with self._context.lock, self._context.active():
            self._kernels = tree_kernels(number, False)
            at = {name: self._memory.allocate(name, size) for name, size in sizes.items()}
            copies = staging(number)
            copies.to_device(buffers.large_id, at["apart"])
            for index, column in enumerate(buffers.columns):
                copies.to_device(column, at["clusters"] + column.nbytes * index)
            self._kernels.interleave(self._memory, self._count, copies.stream)

    def build(self) -> None:
        with self._context.lock, self._context.active():
            stream = staging(self._number).stream
            records = self._memory.address("records")
            self._kernels.build(self._memory, self._count, self._large, stream, records=records)
            stream.synchronize()

    def tree(self) -> Bvh:
        """Return a copy of the tree in the memory of the host."""
        with self._context.lock, self._context.active():
            nodes = int(read_result(self._number, self._memory)["node_count"])
            tree = Bvh(
                np.empty((nodes, NODE_BYTES), np.uint8),
                np.empty(self._count, np.int32),
                np.empty((self._count, 4), np.float32),
            )
            for name in TREE:
                staging(self._number).to_host(self._memory.address(name), getattr(tree, name))
        return tree
