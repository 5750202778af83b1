"""Trees and positions in the memory of a GPU, for `raytracer bench build` and `live`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import TREE, DeviceScene
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.scene import CudaScene
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


def settle(scene: DeviceScene) -> None:
    """Wait until the tree has followed an update; the CPU has done so before."""
    if isinstance(scene, CudaScene):
        context = primary_context(scene.number)
        with context.lock, context.active():
            scene.settle()


class DeviceTree:
    """A tree over spheres, which are in the memory of a GPU once and for all."""

    def __init__(self, number: int, buffers: SceneBuffers) -> None:
        """Allocate memory, copy the spheres, and load the kernels."""
        self._number, self._context = number, primary_context(number)
        self._memory = DeviceMemory(self._context)
        self._count, self._large = buffers.count, len(buffers.large_id)
        self._records = placed(number, np.stack(buffers.columns, axis=1))
        sizes = tree_sizes(self._count, buffers.record_bytes) | scratch_sizes(self._count)
        with self._context.lock, self._context.active():
            self._kernels = tree_kernels(number, False)
            apart = self._memory.allocate("apart", buffers.large_id.nbytes)
            staging(number).to_device(buffers.large_id, apart)
            for name, size in sizes.items():
                self._memory.allocate(name, size)

    def build(self) -> None:
        """Build the tree, and wait for it."""
        with self._context.lock, self._context.active():
            stream = staging(self._number).stream
            self._kernels.build(
                self._memory, self._count, self._large, stream, records=self._records.address
            )
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
