"""Spheres that move in the memory of a GPU, and the tree that follows them there.

An update packs arrays into records and refits the tree around them, or builds it anew where refits
have made it bad. With arrays of the GPU it allocates nothing after the first one and waits for
nothing: what was wrong with them, and how good the tree is, is read before the next picture.
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
from raytracer.sphere_update import SphereUpdate

AGING = 1.0 / layout.constant("kAgingRefits")
"""Growth of any tree per refit."""


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
        for name in ("boxes", "state"):
            self._driver.memset_d32_async(
                memory.address(name), 0, memory.size(name) // 4, self._stream
            )
        self._result = (
            self._driver.pagelocked_empty(layout.dtype("TreeResult").itemsize, np.uint8),
            self._driver.pagelocked_empty(info, np.uint8),
        )
        self._arrived = self._driver.Event()
        self._is_pending = False  # whether results are on their way
        self._is_built = self._is_refitted = False  # what the last update did with the tree
        self._result[1][:] = 0xFF  # nothing is wrong
        self.node_count = 0
        self._refits, self._excess = 0, math.inf  # above any limit

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
        moves = update.positions is not None or update.radii is not None
        if update.is_on_host and update.colors is not None:
            self._pack(replace(update, colors=None, color_map=None), check=True)
            self._pack(replace(update, positions=None, radii=None))
        else:
            self._pack(update, check=update.is_on_host)
        if moves:
            self._follow(max_excess)
        for target, name in zip(self._result, ("state", "info"), strict=True):
            self._driver.memcpy_dtoh_async(target, self._memory.address(name), self._stream)
        self._arrived.record(self._stream)
        self._is_pending = True

    def _pack(self, update: SphereUpdate, check: bool = False) -> None:
        memory = self._memory
        records, info = memory.address("records"), memory.address("info")
        is_first = check or not self._is_pending  # what is wrong is kept until it was read
        self._packer.pack(
            update, records, memory.address("color"), info, self._stream, clear=is_first
        )
        if check:
            found = np.empty(1, layout.dtype("PackInfo"))
            staging(self._number).to_host(info, found)
            packed = decoded(found)
            if packed.wrong:
                self._kernels.restore(memory, self._count, self._apart, self._stream)
                packed.check()

    def _follow(self, max_excess: float) -> None:
        """Queue the tree around the records as they are now."""
        memory = self._memory
        # Of a tree whose growth is still under way nothing is known.
        if self._is_pending or self._excess > max_excess:
            records = memory.address("records")
            self._kernels.build(memory, self._count, self._apart, self._stream, records=records)
            self._excess, self._is_built = 0.0, True
        else:
            self._refits += 1
            self._is_refitted = True
            self._kernels.refit(memory, self._count, self._apart, self._stream, self._refits)

    def settle(self) -> bool:
        """Wait for the last update, and return whether its tree is new and not complete."""
        if not self._is_pending:
            return False
        self._arrived.synchronize()
        self._is_pending = False
        result = self._result[0].view(layout.dtype("TreeResult"))[0]
        self.node_count = int(result["node_count"])  # 0 before spheres have moved
        is_built, is_refitted = self._is_built, self._is_refitted
        self._is_built = self._is_refitted = False
        if is_refitted and not is_built:
            growth = int(result["growth"]) / 2.0**20 / self.node_count
            self._excess += max(growth - 1.0, 0.0) + AGING
        if is_bad := is_built and bool(result["too_deep"]):
            self._excess = math.inf
        return is_bad

    def check(self) -> None:
        """Raise SceneError for a sphere of a device's array that cannot be shown; it has stayed as
        it was. To be called once after `settle`."""
        packed = decoded(self._result[1].view(layout.dtype("PackInfo")))
        self._result[1][:] = 0xFF  # said once
        packed.check()

    def records(self) -> NDArray[np.float32]:
        """Return the records on the host, float32 (N, 4)."""
        found = np.empty((self._count, 4), np.float32)
        staging(self._number).to_host(self._memory.address("records"), as_bytes(found))
        return found

    def close(self) -> None:
        self._packer.close()
