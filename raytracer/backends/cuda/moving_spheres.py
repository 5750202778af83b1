"""Spheres that move in the memory of a GPU, and the tree that follows them there.

An update packs arrays into records and refits the tree around them, or builds it anew where refits
have made it bad. With arrays of the GPU it allocates nothing after the first one and waits for
nothing: what was wrong with them, and how good the tree is, is read before the next picture.

Updates have a stream of their own, which waits for the caller's; pictures wait for a fence after
the last update. Where the caller's stream is being captured into a CUDA graph, an update becomes a
branch of the graph with two launches, packing and refit. A graph decides nothing: where it has made
the tree bad, the next picture builds it.
"""

import math
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda.driver import get_primary_context
from raytracer.backends.cuda.pack import ALL_ONES, BEFORE_CAPTURE, Packer, decode_info
from raytracer.backends.cuda.transfer import NON_BLOCKING, copy_within, get_staging, view_bytes
from raytracer.backends.cuda.tree import (
    PACKED_BYTES,
    DeviceTree,
    compute_box_bytes,
    compute_scratch_sizes,
    compute_tree_sizes,
)
from raytracer.config.errors import SceneError
from raytracer.packing.sphere_update import SphereUpdate
from raytracer.system import layout
from raytracer.system.cuda_driver import LEGACY_STREAM, Fence, order_streams

AGING = 1.0 / layout.kernel_constant("kAgingRefits")  # growth of any tree per refit

FOUND = np.dtype(
    [("packed", layout.struct_dtype("PackInfo")), ("tree", layout.struct_dtype("TreeResult"))]
)
"""What the host reads: the beginning of the state of a build."""

BOUND_WORDS = 8  # words of PackInfo that are bounds; what is wrong follows

ALL_WORDS = slice(PACKED_BYTES // 4)  # all words of PackInfo


class MovingSpheres:
    """The records of a scene on a GPU and the work of its updates. In the methods, the device's
    context is active, and its lock held."""

    def __init__(self, tree: DeviceTree, large: NDArray[np.int32 | np.uint32]) -> None:
        """Allocate what updates need, and recover the records from their order in the leaves.
        large: numbers of the spheres and solids beside the tree."""
        self._tree, self._memory, self._number = tree, tree.memory, tree.number
        memory, count, number = tree.memory, tree.count, tree.number
        self._last_apart = not len(large) or int(large.min()) >= count - len(large)
        self._driver = driver = get_primary_context(number).driver
        self._packer = Packer(number, tree.record_bytes)
        sizes = compute_scratch_sizes(count) | {"boxes": compute_box_bytes(count)}
        for name, size in (sizes | {"records": tree.record_bytes * count}).items():
            memory.allocate(name, size)
        stream = get_staging(number).stream
        get_staging(number).to_device(large, memory.allocate("apart", large.nbytes))
        tree.restore(stream)
        # The tree of few spheres, or with room for no other nodes, is replaced by the first update.
        address = memory.allocate("roomy", compute_tree_sizes(count, tree.record_bytes)["nodes"])
        copy_within(driver, address, memory.address("nodes"), memory.size("nodes"), stream)
        driver.memset_d32_async(memory.address("state"), 0, memory.size("state") // 4, stream)
        memory.held["found"] = driver.pagelocked_empty(FOUND.itemsize, np.uint8)
        self._clear_words(ALL_WORDS, stream)
        stream.synchronize()
        memory.rename("roomy", "nodes")
        self._refit = tree.refit()
        self._refit(stream)  # of no nodes yet: a capture may not load the kernel
        stream.synchronize()
        memory.held |= {name: driver.Stream(NON_BLOCKING) for name in ("stream", "branch")}
        self._done = Fence(number)  # behind the last update
        self._is_pending = False  # whether there were updates since results were read
        self._is_in_graph = False  # whether there may have been updates by graphs
        self._is_built = False  # whether there is a tree with boxes
        self._is_new = False  # whether it was built since results were read
        self._queued = 0  # refits since then
        self._refits = 1  # those of the tree until then
        self._excess = math.inf  # above any limit
        self.node_count = 0

    @property
    def nbytes(self) -> int:
        """Bytes of copies of the host's arrays; all else is in the memory of the scene."""
        return self._packer.nbytes

    def update(self, update: SphereUpdate, max_excess: float) -> None:
        """Queue an update; `max_excess` as of `DeviceScene`.

        Arrays of the host are checked at once, those of a device before the next picture. Raises
        SceneError: an array that the kernel cannot read, or a sphere of the host that cannot be
        shown, where the scene stays as it was; in a capture, something that was not allocated
        before.
        """
        moves = update.positions is not None or update.radii is not None
        if update.in_graph:
            self._capture(update, moves)
            return
        if self._is_in_graph:
            self._done.wait(int(self._memory.held["stream"].handle))
        builds = moves and self._excess > max_excess
        has_bounds = self._last_apart and update.count == self._tree.count - self._tree.apart
        if builds and has_bounds:
            self._clear_words(slice(BOUND_WORDS), self._memory.held["stream"])
        if update.is_on_host and update.colors is not None:
            self._pack(replace(update, colors=None, color_map=None), check=True)
            self._pack(replace(update, positions=None, radii=None))
        else:
            self._pack(update, check=update.is_on_host)
        if builds:
            self._build(self._memory.held["stream"], has_bounds)
        elif moves:
            self._queued += 1
            self._refit(self._memory.held["stream"])
        self._done.record(int(self._memory.held["stream"].handle))
        self._is_pending = True

    def _capture(self, update: SphereUpdate, moves: bool) -> None:
        """Make an update a branch of the graph that the caller's stream is captured into."""
        if moves and not self._is_built:
            raise SceneError(f"stream: {BEFORE_CAPTURE}")
        branch, caller = int(self._memory.held["branch"].handle), update.stream or LEGACY_STREAM
        order_streams(branch, caller, self._number)
        try:
            self._done.wait(branch, in_graph=True)
            self._pack(update, stream=self._memory.held["branch"])
            if moves:
                self._refit(self._memory.held["branch"])
            self._done.record(branch, in_graph=True)
        finally:  # a branch that does not come back would spoil the caller's capture
            order_streams(caller, branch, self._number)
        self._is_in_graph = True

    def _pack(self, update: SphereUpdate, check: bool = False, stream: Any = None) -> None:
        """Queue the packing, which keeps what is wrong until it was read."""
        memory, stream = self._memory, stream or self._memory.held["stream"]
        records, info = memory.address("records"), memory.address("state")
        self._packer.pack(update, records, memory.address("color"), info, stream, clear=False)
        if check:
            packed = decode_info(self._read(stream)["packed"])
            if packed.wrong:
                self._clear_words(ALL_WORDS, stream)
                self._tree.restore(stream)
                self._done.record(int(stream.handle))
                packed.check()

    def _clear_words(self, words: slice, stream: Any) -> None:
        """Queue the clearing of some words of the PackInfo, here too."""
        info = self._memory.held["found"].view(np.uint32)[words]
        info[:] = ALL_ONES
        address = self._memory.address("state") + 4 * (words.start or 0)
        self._driver.memset_d32_async(address, ALL_ONES, info.size, stream)

    def _build(self, stream: Any, has_bounds: bool = False) -> None:
        """Queue the build of the tree around the records as they are now."""
        self._tree.build(stream, has_bounds=has_bounds)
        self._excess, self._is_built, self._is_new = 0.0, True, True
        self._refits = self._queued = 0

    def settle(self, max_excess: float) -> bool:
        """Wait for the last update, and build the tree if graphs or several refits made it bad;
        returns whether it has become too deep to be complete. Later work on the stream of copies
        and pictures finds that of all updates done."""
        if not (self._is_pending or self._is_in_graph):
            return False
        stream = get_staging(self._number).stream
        self._done.wait(int(stream.handle))
        refits, is_deep = self._measure(stream)
        is_built_later = refits == self._queued == 1  # by the next update, as a part of its work
        if refits and not is_built_later and not is_deep and self._excess > max_excess:
            self._build(stream)
            _, is_deep = self._measure(stream)
        is_bad = is_deep and (self._is_new or refits > 0)
        self._queued = 0
        self._is_pending = self._is_new = False
        return is_bad

    def _measure(self, stream: Any) -> tuple[int, bool]:
        """Read how the tree is; return its refits since then, and whether it is too deep."""
        tree = self._read(stream)["tree"][0]
        refits, self._refits = int(tree["refits"]) - self._refits, int(tree["refits"])
        self.node_count = int(tree["node_count"])  # 0 before spheres have moved
        if tree["too_deep"]:
            self._excess = math.inf
        elif refits:
            growth = int(tree["growth"][self._refits & 1]) / 2.0**20 / self.node_count
            self._excess += max(growth - 1.0, 0.0) + AGING * refits
        return refits, bool(tree["too_deep"])

    def _read(self, stream: Any) -> NDArray[np.void]:
        """Return what packing and tree say, structured (1,), after the work of a stream."""
        address = self._memory.address("state")
        self._driver.memcpy_dtoh_async(self._memory.held["found"], address, stream)
        stream.synchronize()
        found: NDArray[np.void] = self._memory.held["found"].view(FOUND)
        return found

    def check(self) -> None:
        """Raise SceneError for a sphere of a device's array that cannot be shown; it has stayed as
        it was. To be called once after `settle`."""
        info = self._memory.held["found"].view(FOUND)["packed"]
        if (info["first_wrong"] != ALL_ONES).any():  # said once
            packed, stream = decode_info(info), get_staging(self._number).stream
            self._clear_words(slice(BOUND_WORDS, ALL_WORDS.stop), stream)
            stream.synchronize()
            packed.check()

    @property
    def radii(self) -> tuple[float, float]:
        """Bounds of the radii of all updates since the bounds were cleared, after `settle`; NaN of
        none."""
        packed = decode_info(self._memory.held["found"].view(FOUND)["packed"])
        return packed.min_radius, packed.max_radius

    def wait(self) -> None:
        """Wait until all arrays have been read, those of graphs too."""
        self._done.synchronize()

    def records(self) -> NDArray[np.float32]:
        """Return the records on the host, float32 (N, 4), or (N, 8) with solids."""
        found = np.empty((self._tree.count, self._tree.record_bytes // 4), np.float32)
        get_staging(self._number).to_host(self._memory.address("records"), view_bytes(found))
        return found

    def close(self) -> None:
        self._packer.close()
