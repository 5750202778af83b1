"""Spheres that move in the memory of a GPU, and the tree that follows them there.

An update packs arrays into records and refits the tree around them, or builds it anew where refits
have made it bad. It allocates nothing after the first one and waits for nothing. What went wrong,
and how good the tree is, is read before the next picture.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.pack import RECORD_BYTES, Packer, decoded
from raytracer.backends.cuda.transfer import as_bytes, staging
from raytracer.backends.cuda.tree import (
    box_bytes,
    scratch_sizes,
    tree_kernels,
    tree_sizes,
)
from raytracer.device_array import is_captured, order
from raytracer.sphere_update import SphereUpdate


class MovingSpheres:
    """The records of a scene on a GPU and the work of its updates.

    The device's context must be active in the methods, and its lock be held.
    """

    def __init__(
        self, number: int, memory: DeviceMemory, count: int, large: NDArray[np.int32]
    ) -> None:
        """Allocate what updates need, and recover the records from their order in the leaves.

        memory: of the scene, with its tree. count: spheres, with those beside the tree, whose
        numbers are `large`.
        """
        self._number, self._memory, self._count, self._apart = number, memory, count, len(large)
        self._kernels = tree_kernels(number, has_solids=False)
        self._driver = primary_context(number).driver
        self._stream = staging(number).stream
        self._packer = Packer(number)
        info = layout.dtype("PackInfo").itemsize
        sizes = scratch_sizes(count) | {"boxes": box_bytes(count), "info": info}
        for name, size in (sizes | {"records": RECORD_BYTES * count}).items():
            memory.allocate(name, size)
        staging(number).to_device(large, memory.allocate("apart", large.nbytes))
        self._kernels.restore(memory, count, self._apart, self._stream)
        # The tree of few spheres, or with room for no other nodes, is replaced by the first update.
        address = memory.allocate("roomy", tree_sizes(count, RECORD_BYTES)["nodes"])
        size = memory.size("nodes")
        self._driver.memcpy_dtod_async(address, memory.address("nodes"), size, self._stream)
        self._stream.synchronize()
        memory.rename("roomy", "nodes")
        self._driver.memset_d32_async(
            memory.address("boxes"), 0, box_bytes(count) // 4, self._stream
        )
        self._result = (
            self._driver.pagelocked_empty(layout.dtype("TreeResult").itemsize, np.uint8),
            self._driver.pagelocked_empty(info, np.uint8),
        )
        self._arrived = self._driver.Event()
        self._is_pending = False  # whether results are on their way
        self._refits, self._excess = 0, math.inf  # above any limit
        self._built_cost = 0  # 0: the results are those of a build
        self._graph_stream: int | None = None  # on which graphs with updates are launched

    @property
    def nbytes(self) -> int:
        """Bytes of copies of the host's arrays; all else is in the memory of the scene."""
        return self._packer.nbytes

    def update(self, update: SphereUpdate, max_excess: float) -> None:
        """Queue an update; `max_excess` as of `DeviceScene`.

        Arrays of the host are checked at once, those of a device before the next picture.

        Raises:
            SceneError: an array that the kernel cannot read, or a sphere of the host that cannot be
                shown; the scene then stays as it was.
        """
        if update.stream is not None and is_captured(update.stream, self._number):
            self._capture(update, update.stream)
            return
        moves = update.positions is not None or update.radii is not None
        on_host = [isinstance(a, np.ndarray) for a in (update.positions, update.radii)]
        if moves and update.colors is not None and any(on_host):
            self._pack(replace(update, colors=None, color_map=None), check=True)
            self._pack(replace(update, positions=None, radii=None))
        else:
            self._pack(update, check=any(on_host))
        if moves:
            self._follow(max_excess)

    def _capture(self, update: SphereUpdate, stream: int) -> None:
        """Make an update part of the graph that a stream is captured into.

        The tree is built anew each time, since a refit has a number of its own.
        """
        self._pack(update)
        self._follow(0.0, in_graph=True)
        order(stream, int(self._stream.handle), self._number)
        self._graph_stream = stream

    def _pack(self, update: SphereUpdate, check: bool = False) -> None:
        memory = self._memory
        records, info = memory.address("records"), memory.address("info")
        self._packer.pack(update, records, memory.address("color"), info, self._stream)
        if check:
            found = np.empty(1, layout.dtype("PackInfo"))
            staging(self._number).to_host(info, found)
            packed = decoded(found)
            if packed.wrong:
                self._kernels.restore(memory, self._count, self._apart, self._stream)
                packed.check()

    def _follow(self, max_excess: float, in_graph: bool = False) -> None:
        """Queue the tree around the records as they are now, and the copy of its results."""
        if self._is_pending:  # nothing is known of the tree before this one
            self._excess = math.inf
        memory = self._memory
        if in_graph or self._excess > max_excess:
            records = memory.address("records")
            self._kernels.build(memory, self._count, self._apart, self._stream, records=records)
            self._excess, self._built_cost = 0.0, 0
        else:
            self._refits += 1
            self._kernels.refit(memory, self._count, self._apart, self._stream, self._refits)
        for target, name in zip(self._result, ("state", "info"), strict=True):
            self._driver.memcpy_dtoh_async(target, memory.address(name), self._stream)
        if not in_graph:
            self._arrived.record(self._stream)
            self._is_pending = True

    def settle(self) -> tuple[int, bool]:
        """Wait for the tree of the last update.

        Returns the number of its nodes, and whether it is complete.

        Raises:
            SceneError: a sphere of a device's array cannot be shown; it has stayed as it was.
        """
        if self._graph_stream is not None:  # whatever graphs have done since
            order(int(self._stream.handle), self._graph_stream, self._number)
            self._arrived.record(self._stream)
            self._is_pending = True
        self._arrived.synchronize()
        result = self._result[0].view(layout.dtype("TreeResult"))[0]
        cost = int(result["cost"])
        if self._is_pending:
            self._is_pending = False
            if not self._built_cost:
                self._built_cost = max(cost, 1)
            self._excess += max(cost / self._built_cost - 1.0, 0.0)
            if result["too_deep"]:
                self._excess = math.inf
            decoded(self._result[1].view(layout.dtype("PackInfo"))).check()
        return int(result["node_count"]), not result["too_deep"]

    def records(self) -> NDArray[np.float32]:
        """Return the records on the host, float32 (N, 4)."""
        found = np.empty((self._count, 4), np.float32)
        staging(self._number).to_host(self._memory.address("records"), as_bytes(found))
        return found

    def close(self) -> None:
        self._packer.close()
