"""An NVIDIA GPU as a device."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import launch, striped_memory
from raytracer.backends.cuda.driver import get_primary_context
from raytracer.backends.cuda.film import CudaFilm
from raytracer.backends.cuda.kernel import load_cubin, production
from raytracer.backends.cuda.kernel_selection import PRODUCTION, list_variants
from raytracer.backends.cuda.pictures import DevicePicture
from raytracer.backends.cuda.placed_spheres import place_spheres
from raytracer.backends.cuda.probe import describe_device, explain_missing
from raytracer.backends.cuda.scene import MAX_CONSTANT_SPHERES, CudaScene
from raytracer.backends.cuda.tone import DENOISE_DRAFT, compile_passes
from raytracer.backends.kernel_sources import Kernel, read_production_kernel
from raytracer.config.errors import BackendError, MemoryNeedError
from raytracer.film.film import Film
from raytracer.packing.buffers import Bvh, DeviceRecords, SceneBuffers, SphereColumns, build_bvh
from raytracer.packing.sphere_update import SphereUpdate
from raytracer.system.device_array import DeviceArray
from raytracer.system.memory import FILM, MIN_PLACED, format_size
from raytracer.system.resources import choose_thread_count

MAX_SPHERES = 2**32 - 2**22
"""Most spheres: their numbers and positions in leaf order are uint32, and loops of kernels count
beyond the last one."""


class CudaDevice:
    """A GPU, used in its primary context."""

    name = "cuda"
    max_spheres = MAX_SPHERES
    has_own_memory = True
    pass_seconds = 0.012

    def __init__(self, number: int = 0, threads: int = 0, kernel: Kernel | None = None) -> None:
        """Check the GPU; kernels are loaded with the first scene."""
        if reason := explain_missing(number):
            raise BackendError(f"the cuda backend cannot run here: {reason}")
        self.number = number
        self.budget = launch.TARGET_SECONDS  # target of a launch
        self._threads = threads
        self._kernel = kernel
        self._context = get_primary_context(number)

    def describe(self) -> dict[str, Any]:
        return describe_device(self.number)

    def compile_ahead(self) -> None:
        if self._kernel is None:
            compile_production(self.number)

    def place(
        self, spheres: Sequence[SphereUpdate], colors: Sequence[SphereUpdate],
        on_host: Callable[[slice], SphereColumns], gpus: Sequence[int] = (),
    ) -> DeviceRecords | None:  # fmt: skip
        """Pack spheres of arrays of this GPU, and of many others; gpus: as for `place_spheres`."""
        count = sum(each.count for each in spheres)
        updates = (*spheres, *colors)
        arrays = [a for each in updates for a in (each.positions, each.radii, each.colors)]
        devices = {each.device for each in arrays if isinstance(each, DeviceArray)}
        least = MAX_CONSTANT_SPHERES + 1 if devices else MIN_PLACED
        if self._kernel is not None or devices - {None, self.number} or count < least:
            return None
        return place_spheres(self.number, spheres, colors, on_host, gpus)

    def build(self, buffers: SceneBuffers) -> Bvh | None:
        """Build the tree of few spheres; that of more is built where they are, by `scene`."""
        if self._kernel is None and buffers.rows > MAX_CONSTANT_SPHERES:
            return None
        return build_bvh(buffers, self._threads)

    def scene(self, buffers: SceneBuffers, tree: Bvh | None = None) -> CudaScene:
        scene = self.begin_scene(buffers, self.build(buffers) if tree is None else tree)
        self.check(scene, buffers)
        scene.upload()
        return scene

    def begin_scene(
        self, buffers: SceneBuffers, tree: Bvh | None, gpus: Sequence[int] = ()
    ) -> CudaScene:
        """Return a scene to be uploaded, whose kernel is loaded; gpus: as for `CudaScene`."""
        scene = CudaScene(self.number, buffers, tree, self._kernel, gpus)
        compile_passes(self.number)
        scene.find_kernel(buffers.view)
        return scene

    def check(self, scene: CudaScene, buffers: SceneBuffers, gpus: int = 1) -> None:
        """Refuse a scene that this GPU, or several in stripes, cannot hold, after the kernel was
        loaded, because its code takes memory."""
        x0, y0, x1, y1 = buffers.view.crop
        sizes = scene.compute_sizes()
        if gpus > 1:
            sizes = {name: striped_memory.compute_share(size, gpus) for name, size in sizes.items()}
        sizes["film"] = (x1 - x0) * (y1 - y0) * FILM
        check_memory(sizes, self._context.measure_memory()[0], buffers.count, gpus)

    def film(self, host: Film) -> CudaFilm:
        return CudaFilm(self.number, host)

    def picture(self) -> DevicePicture:
        return DevicePicture(self.number)

    def turn(self) -> AbstractContextManager[Any]:
        """Return the lock that is held from the launch of a kernel until it ends.

        OpenGL and CUDA may not work at the same time: if one thread waits for OpenGL and another
        for CUDA, both can deadlock, with or without interop (driver 580, GPU without display).
        """
        return self._context.lock


def check_memory(parts: dict[str, int], free: int, spheres: int, gpus: int = 1) -> None:
    """Refuse a scene that the device, or each of several with these bytes, cannot hold."""
    need = sum(parts.values())
    if need <= free:
        return
    largest = max(parts, key=lambda name: parts[name])
    fit = int(spheres * free / need)
    where = "GPU memory" if gpus == 1 else f"memory on each of {gpus} GPUs"
    raise MemoryNeedError(
        f"the scene needs {format_size(need)} of {where} (most of it {largest}: "
        f"{format_size(parts[largest])}) and {format_size(free)} are free: about {fit:,} of its "
        f"{spheres:,} spheres would fit, or render with --backend cpu"
    )


@cache
def compile_production(ordinal: int) -> None:
    """Compile the kernels of all pictures and drafts that are not at hand, side by side, once."""
    arch = get_primary_context(ordinal).arch
    compiler.describe_compiler()  # asked for once, not by every thread
    names = reversed(PRODUCTION)  # the longest first: they begin when the others do
    jobs = [(production(name), missing) for name in names for missing in list_variants(name)]
    jobs.append((read_production_kernel(DENOISE_DRAFT), ()))
    with ThreadPoolExecutor(min(len(jobs), choose_thread_count())) as pool:
        list(pool.map(lambda job: load_cubin(job[0], job[1], arch), jobs))
