"""A scene in the memory of one GPU."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer._native import core
from raytracer.backends.base import TABLES, TREE, Bands, DeviceScene, collect_sphere_arrays
from raytracer.backends.cuda import kernel_selection as selection
from raytracer.backends.cuda import launch, striped_memory
from raytracer.backends.cuda.driver import connect, get_primary_context
from raytracer.backends.cuda.kernel import TILE, RenderKernel, load_pass, production, render_kernel
from raytracer.backends.cuda.memory import COLOR_BYTES, DeviceMemory
from raytracer.backends.cuda.moving_spheres import MovingSpheres
from raytracer.backends.cuda.pack import BEFORE_CAPTURE
from raytracer.backends.cuda.placed_spheres import PAUSE, PlacedSpheres
from raytracer.backends.cuda.transfer import copy_within, get_staging, view_bytes
from raytracer.backends.cuda.tree import (
    NODE_BYTES,
    DeviceTree,
    compute_build_sizes,
    compute_max_nodes,
    compute_scratch_sizes,
)
from raytracer.backends.kernel_sources import Kernel
from raytracer.config.errors import SceneError
from raytracer.packing.buffers import Bvh, DeviceColors, SceneBuffers, build_bvh, host_tree
from raytracer.packing.sphere_update import SphereUpdate
from raytracer.packing.view import View
from raytracer.system import layout

# Bytes of a scene in one copy: some milliseconds, less than a frame of a window.
PART = 64 << 20
MAX_CONSTANT_SPHERES = (64 << 10) // 16
"""Spheres up to which they may fit into constant memory, of which every GPU has 64 KiB; their tree
is built on the host."""

COPIED = ("nodes", "sky")
"""Arrays of striped scenes that each GPU has: every ray reads the nodes, an eighth of the tree."""


class CudaScene(DeviceScene):
    """A scene in device memory.

    Of `buffers` and `tree` it keeps the large spheres: the host may drop the rest.

    kernel: renders every view; None takes the one that suits it. pacer: of launches over the scene.
    gpus: over which memory is striped (`DeviceMemory`); `share_with` then returns what renders.
    """

    max_excess = 0.5
    """What the tree has cost pictures by then is about what a build costs."""

    def __init__(
        self,
        number: int,
        buffers: SceneBuffers,
        tree: Bvh | None,
        kernel: Kernel | None = None,
        gpus: Sequence[int] = (),
    ) -> None:
        """Keep the arrays; `upload` allocates the memory. tree: None: built on the device."""
        super().__init__(buffers)
        self.number = number
        self.count = buffers.rows
        self.large = buffers.large
        self.has_capsules = len(buffers.axis) > 0
        self.has_forms = buffers.has_forms
        self.pacer = launch.Pacer(_choose_first_samples(number))
        self._buffers: SceneBuffers | None = buffers if tree is None else None
        there = ("color",) if isinstance(buffers.colors, DeviceColors) else ()
        self._arrays = collect_sphere_arrays(buffers, tree, there)
        self._lengths = collect_lengths(buffers)
        self._node_count = compute_max_nodes(self.count) if tree is None else len(tree.nodes)
        # A kernel of the bench may lay records out otherwise, and chooses for itself.
        self._sample = selection.sample_spheres(buffers.placed) if kernel is None else None
        self._kernel = kernel
        self._last: tuple[NDArray[np.void], int, str] | None = None  # camera, height, kernel
        self._context = get_primary_context(number)
        self._memory = DeviceMemory(self._context, gpus)
        self._striped: DeviceMemory | None = None  # has the arrays that are not in its own memory
        self.has_images = len(buffers.images) > 0
        self.can_update = kernel is None and not self.has_images
        self._record_bytes = buffers.record_bytes
        self._apart = buffers.large_id
        self._moving: MovingSpheres | None = None

    def update(self, spheres: SphereUpdate) -> None:
        with self._context.lock, self._context.activate():
            if self._moving is None:
                if spheres.in_graph:
                    raise SceneError(f"stream: {BEFORE_CAPTURE}")
                self._moving = MovingSpheres(self._make_tree(), self._apart)
            if spheres.is_on_host:  # which is put back where it is wrong, out of a complete tree
                self.settle()
            self._moving.update(spheres, self.max_excess)

    def wait(self) -> None:
        if self._moving is not None:
            with self._context.activate():
                self._moving.wait()

    def find_moved_radii(self) -> tuple[float, float]:
        if self._moving is None:
            return super().find_moved_radii()
        with self._context.lock, self._context.activate():
            self.settle()
        return self._moving.radii

    def settle(self) -> None:
        """Wait for the tree of the last update; the context is active, and its lock held. Raises
        SceneError: an update had a sphere that cannot be shown."""
        if self._moving is None:
            return
        if self._moving.settle(self.max_excess):
            tree = host_tree(tuple(np.ascontiguousarray(self._moving.records().T)), self._apart)
            self._node_count = len(tree.nodes)
            for name in TREE:
                get_staging(self.number).to_device(getattr(tree, name), self._memory.address(name))
            get_staging(self.number).stream.synchronize()
        elif self._moving.node_count:
            self._node_count = self._moving.node_count
        self._moving.check()

    @property
    def nbytes(self) -> int:
        return self._memory.nbytes

    def compute_sizes(self) -> dict[str, int]:
        """Return the bytes of each array by name; only before `upload`."""
        sizes = {name: int(array.nbytes) for name, array in self._arrays.items()}
        if (buffers := self._buffers) is not None:
            sizes |= self._compute_build_sizes(buffers)
            if isinstance(buffers.colors, DeviceColors):
                sizes["color"] = COLOR_BYTES * len(buffers.colors)
        return sizes

    def _compute_build_sizes(self, buffers: SceneBuffers) -> dict[str, int]:
        """Return the bytes of what a build on the device takes, by name."""
        sizes = compute_build_sizes(self.count, self._record_bytes)
        sizes["spheres"] += buffers.shapes.nbytes
        if not isinstance(buffers.placed, PlacedSpheres):
            sizes["records"] = self._record_bytes * self.count
        return sizes

    def upload(self) -> None:
        """Copy the arrays to the device, and release those of the host."""
        arrays, self._arrays = self._arrays, {}
        buffers, self._buffers = self._buffers, None
        try:
            if buffers is not None:
                arrays |= self._build(buffers)
            for name, array in arrays.items():
                self._upload_array(name, array)
            self.tree_nbytes = sum(map(self._memory.size, TREE))
            with self._context.lock, self._context.activate():
                get_staging(self.number).stream.synchronize()
        except BaseException:
            self.close()
            raise

    def _make_tree(self) -> DeviceTree:
        apart = len(self._apart)
        return DeviceTree(self.number, self._memory, self.count, apart, self._record_bytes)

    def _build(self, buffers: SceneBuffers) -> dict[str, NDArray[Any]]:
        """Build the tree on the device; returns that of the host where this one is too deep."""
        count, memory, record = self.count, self._memory, self._record_bytes
        ground, placed = buffers.ground_record, buffers.placed
        with self._context.lock, self._context.activate():
            tree = self._make_tree()
            for name, size in self._compute_build_sizes(buffers).items():
                memory.allocate(name, size)
        if isinstance(placed, PlacedSpheres):
            records = self._copy_placed(placed, buffers.colors)
            self._copy(records + record * buffers.count, ground)
        else:
            records = memory.address("records")
            for number, column in enumerate(buffers.primitives):
                place = memory.address("clusters") + 4 * count * number
                self._copy(place, column)
                self._copy(place + column.nbytes, ground[number : number + 1])
        self._copy(memory.address("spheres") + count * record, buffers.shapes)
        self._upload_array("apart", buffers.large_id)
        with self._context.lock, self._context.activate() as driver:
            stream = get_staging(self.number).stream
            if not isinstance(placed, PlacedSpheres):
                tree.interleave(stream)
            tree.build(stream, records=records)
            result = tree.read_result()
            memory.free("records", "apart", *compute_scratch_sizes(count))
            if result["too_deep"]:
                memory.free(*TREE)
                of_host = build_bvh(buffers)
                self._node_count = len(of_host.nodes)
                return {name: getattr(of_host, name) for name in TREE}
            self._node_count = int(result["node_count"])
            # as many nodes as there are, in place of as many as there could be
            size = self._node_count * NODE_BYTES
            nodes = memory.allocate("kept", size)
            copy_within(driver, nodes, memory.address("nodes"), size, stream)
            stream.synchronize()
            memory.rename("kept", "nodes")
        return {}

    def _copy_placed(self, placed: PlacedSpheres, colors: Any) -> int:
        """Return the address of records that a GPU has packed, and copy colours from there."""
        own, there = self._memory, placed.memory
        with self._context.lock, self._context.activate() as driver:
            connect(self.number, placed.number)
            stream = get_staging(self.number).stream
            names = [] if placed.number == self.number else ["records"]
            for name in (*names, *(["color"] if isinstance(colors, DeviceColors) else [])):
                target = own.allocate(name, there.size(name))
                copy_within(driver, target, there.address(name), there.size(name), stream)
        return own.address("records") or there.address("records")

    def _upload_array(self, name: str, array: NDArray[Any]) -> None:
        with self._context.lock, self._context.activate():
            address = self._memory.allocate(name, array.nbytes)
        self._copy(address, array)

    def _copy(self, address: int, array: NDArray[Any]) -> None:
        """Copy an array in parts, between which other threads can use the GPU."""
        source = view_bytes(array)
        for start in range(0, source.size, PART):
            if start:
                sleep(PAUSE)
            with self._context.lock, self._context.activate():
                get_staging(self.number).to_device(source[start : start + PART], address + start)

    def address(self, name: str) -> int:
        """Return the address of an array by its name in RenderArgs; 0 of an empty one."""
        own = self._memory.address(name)
        return own if own or self._striped is None else self._striped.address(name)

    def share_with(self, number: int) -> CudaScene:
        """Return a scene of another GPU, or of this one, that reads the striped arrays of this one
        and has copies of the others, and of COPIED. It is to be closed before this one."""
        seen = copy(self)
        seen.number, seen._context = number, get_primary_context(number)
        seen.pacer, seen._last = launch.Pacer(_choose_first_samples(number)), None
        seen._memory, seen._striped = DeviceMemory(seen._context), self._memory
        seen._lengths = dict(self._lengths)
        connect(number, self.number)
        try:
            with seen._context.lock, seen._context.activate() as driver:
                stream = get_staging(number).stream
                for name in self._list_copied():
                    size = self._memory.size(name)
                    target, source = seen._memory.allocate(name, size), self._memory.address(name)
                    copy_within(driver, target, source, size, stream)
                stream.synchronize()
        except BaseException:
            seen.close()
            raise
        seen.tree_nbytes = sum(map(seen._memory.size, TREE))
        return seen

    def _list_copied(self) -> list[str]:
        """Return the names of the arrays that all GPUs of a striped scene have."""
        names = (*TREE, *TABLES)
        return [n for n in names if n in COPIED or self._memory.size(n) <= striped_memory.STRIPE]

    def free_copied(self) -> None:
        """Free the arrays of which `share_with` has made copies."""
        with self._context.lock, self._context.activate():
            self._memory.free(*self._list_copied())
        self.tree_nbytes = sum(map(self._memory.size, TREE))

    def find_kernel(self, view: View) -> RenderKernel:
        """Return the kernel that renders a view; its first use loads it."""
        given = None if self.has_capsules else self._kernel  # others read records of spheres
        kernel = given or production(self._choose_kernel_name(view))
        with self._context.lock:
            if kernel.name == selection.CAPSULES:  # which reads their records for spheres too
                missing = selection.find_missing_with_capsules(view, self.has_forms)
            else:
                missing = selection.find_missing_features(view)
            missing = selection.UNMADE.get((kernel.name, missing), missing)
            return render_kernel(self.number, kernel, missing, self.has_images)

    def fill(self, kernel: RenderKernel, view: View) -> None:
        """Fill the constant memory of a kernel. The lock of the context is held, and the context
        active, until its launches have ended."""
        kernel.set_tables(
            c_camera=view.camera, c_lights=view.lights, c_materials=view.materials,
            c_large=self.large, c_frame=view.frame,
        )  # fmt: skip
        kernel.set_spheres(self.address("spheres"), self._record_bytes * self._count_shown(view))

    def describe(self, view: View) -> dict[str, Any]:
        return self.find_kernel(view).describe()

    def _choose_kernel_name(self, view: View) -> str:
        """Return the render kernel for a view; it is cached for the last camera."""
        if self.has_capsules or view.needs_path_tracing:
            return selection.CAPSULES if self.has_capsules else selection.PATHS
        if self.has_images:
            return selection.THREADS
        camera, height = view.camera, view.height
        assert self._sample is not None
        if self._last is None or self._last[0] is not camera or self._last[1] != height:
            name = selection.choose_kernel(
                self.count, self._node_count, self._sample, camera, height
            )
            self._last = camera, height, name
        return self._last[2]

    def check(self, view: View, *, is_lit: bool = True) -> None:
        """Check, as on the CPU, that kernels read inside of the scene's arrays and the view's
        tables, lights and materials if `is_lit`. Raises ValueError."""
        tables = (view.lights, view.materials) if is_lit else (None, None)
        core().check_view(view.camera, *tables, view.frame, **self._lengths)

    def _count_shown(self, view: View) -> int:
        """Return how many records a view shows: the last one is a ground that it may leave out."""
        return self.count - len(self.large) + view.large_count

    def make_arguments(
        self, view: View, picture: launch.PictureTiles, film: int = 0
    ) -> NDArray[np.void]:
        """RenderArgs (1,) without tiles and samples. film: address of the sums."""
        arguments = np.zeros(1, layout.struct_dtype("RenderArgs"))
        for name in (*TREE, *TABLES):
            arguments[name] = self.address(name)
        arguments["film"] = film
        arguments["sphere_count"] = self._count_shown(view)
        arguments["tiles_x"] = picture.tiles_x
        return arguments

    def _trace_first_hits(self, view: View) -> NDArray[np.void]:
        x0, y0, x1, y1 = view.crop
        hits = np.empty((y1 - y0, x1 - x0), layout.struct_dtype("FirstHit"))
        tiles = make_tiles(view).tiles
        return self._ask("first_hits", view.through_centers(), tiles, tiles, hits)

    def count_visible_points(self, view: View, count: int) -> NDArray[np.void]:
        exposures, warps = np.zeros(count, layout.struct_dtype("Exposure")), self._count_shown(view)
        return self._ask("exposure", view, count, warps, exposures) if count else exposures

    def _ask(
        self, entry: str, view: View, tile_end: int, warps: int, answers: NDArray[np.void]
    ) -> NDArray[np.void]:
        """Fill `answers`, one struct each, by a kernel, and return them."""
        self.check(view, is_lit=False)
        arguments = self.make_arguments(view, make_tiles(view))
        arguments["tile_end"] = tile_end
        copies = get_staging(self.number)
        with self._context.lock, self._context.activate() as driver:
            self.settle()
            name = f"{entry}_capsules" if self.has_capsules else entry
            kernel = load_pass(self.number, entry, "RenderArgs", name, self.has_images)
            kernel.set_tables(c_camera=view.camera, c_large=self.large, c_frame=view.frame)
            memory = driver.mem_alloc(answers.nbytes)
            try:
                arguments["film"] = int(memory)
                grid = launch.count_blocks(warps, kernel.kernel.threads), 1, 1
                kernel.launch(grid, arguments, copies.stream)
                copies.to_host(int(memory), answers)
            finally:
                memory.free()
        return answers

    def _replace_sky(self, sky: NDArray[np.void]) -> None:
        self._upload_array("sky", sky)
        self._lengths["texels"] = len(sky)
        with self._context.lock, self._context.activate():
            get_staging(self.number).stream.synchronize()

    def close(self) -> None:
        if self._moving is not None:
            self._moving.close()
        self._memory.close()


def collect_lengths(buffers: SceneBuffers) -> dict[str, int]:
    """Return the lengths of the arrays and the number of materials in use, to check views."""
    arrays = {
        "colors": buffers.colors, "color_ids": buffers.color_id,
        "material_ids": buffers.material_id, "large": buffers.large, "emitters": buffers.emitters,
        "opacities": buffers.opacity, "texels": buffers.view.sky,
    }  # fmt: skip
    return {name: len(array) for name, array in arrays.items()} | {
        "spheres": buffers.rows,
        "least_materials": int(buffers.material_id.max(initial=-1)) + 1,
        "color_rows": buffers.color_rows if len(buffers.axis) else 0,
    }


def make_tiles(view: View, bands: Bands | None = None) -> launch.PictureTiles:
    """Return the tiles and samples of a view, or of some of its rows."""
    x0, y0, x1, y1 = view.crop
    return launch.PictureTiles(x1 - x0, y1 - y0, TILE, view.first_sample, view.samples, bands)


def _choose_first_samples(number: int) -> int:
    """Return the samples of the first launch: fewer if the GPU has a watchdog."""
    context = get_primary_context(number)
    attribute = context.driver.device_attribute.KERNEL_EXEC_TIMEOUT
    watched = context.device.get_attribute(attribute)
    return launch.FIRST_SAMPLES_WATCHED if watched else launch.FIRST_SAMPLES
