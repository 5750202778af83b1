"""Renders on an NVIDIA GPU."""

from __future__ import annotations

from contextlib import AbstractContextManager
from time import sleep
from typing import TYPE_CHECKING, Any

from raytracer import layout
from raytracer.backends.cuda import launch
from raytracer.backends.cuda.check import check_memory
from raytracer.backends.cuda.choose import missing_features
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.first_hits import first_hits
from raytracer.backends.cuda.kernel import (
    TILE,
    RenderKernel,
    compile_production,
    production,
    render_kernel,
)
from raytracer.backends.cuda.pictures import DevicePicture
from raytracer.backends.cuda.probe import device_details, why_not
from raytracer.backends.cuda.resident import CudaResident
from raytracer.backends.cuda.tone import tone_kernels
from raytracer.backends.cuda.transfer import as_bytes, staging
from raytracer.errors import BackendError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.backends.base import ProgressCall
    from raytracer.buffers import SceneBuffers
    from raytracer.bvh import Bvh
    from raytracer.film import Film
    from raytracer.tone import Pixels
    from raytracer.tone_settings import ToneSettings
    from raytracer.variants import Kernel
    from raytracer.view import View

SPHERE_ARRAYS = ("nodes", "spheres", "order", "color", "color_id", "material_id")

# Bytes of a scene that are copied in one turn: some milliseconds, less than a window's frame.
PART = 64 << 20
# Seconds between two turns: a lock that is taken again at once does not go to who waits for it.
PAUSE = 1e-4

# Places in leaf order are int32, and the largest of them says that nothing was hit.
MAX_SPHERES = 2**31 - 1


class CudaBackend:
    """Renders on one GPU, in its primary context.

    device: its number, as CUDA counts. kernel: a render kernel, for the bench; by default each view
        gets the one that suits it.
    Raises BackendError, which says what is missing, if the GPU cannot be used.
    """

    name = "cuda"
    max_spheres = MAX_SPHERES

    def __init__(self, device: int = 0, kernel: Kernel | None = None) -> None:
        """Check what is there; code is loaded with the first scene."""
        if reason := why_not(device):
            raise BackendError(f"the cuda backend cannot run here: {reason}")
        self._device = device
        self._kernel = kernel
        self._context = primary_context(device)

    def describe(self) -> dict[str, Any]:
        """Name, compute capability, memory and driver of the GPU."""
        return device_details(self._device)

    @property
    def kernel(self) -> RenderKernel:
        """The render kernel that was asked for, or the usual one; loaded at first use."""
        with self.turn():
            return render_kernel(self._device, self._kernel or production(), ())

    def kernel_of(self, resident: CudaResident, view: View) -> RenderKernel:
        """The render kernel for a view of a scene."""
        kernel = self._kernel or production(resident.kernel_name(view))
        with self.turn():
            return render_kernel(self._device, kernel, missing_features(view))

    def upload(self, buffers: SceneBuffers, bvh: Bvh) -> CudaResident:
        """Copy a scene to the device.

        Raises MemoryNeedError if it does not fit, with how many spheres would.
        """
        arrays = _sphere_arrays(buffers, bvh)
        resident = CudaResident(self._context, buffers, bvh)
        if self._kernel is None:
            compile_production(self._device)
        stream = self.kernel_of(resident, buffers.view).stream
        # The kernel was loaded before the memory is counted: its code takes some.
        sizes = {name: int(array.nbytes) for name, array in arrays.items()}
        film = _film_bytes(buffers.view)
        check_memory(sizes | {"film": film}, self._context.memory()[0], buffers.count)
        try:
            for name, array in arrays.items():
                self._bring(resident, name, array)
            with self.turn(), self._context.active():
                stream.synchronize()
        except BaseException:
            with self.turn():
                resident.close()
            raise
        return resident

    def _bring(self, resident: CudaResident, name: str, array: NDArray[Any]) -> None:
        """Copy an array to the device in parts, between which others get their turn."""
        source = as_bytes(array)
        with self.turn(), self._context.active():
            address = resident.allocate(name, source.size)
        for start in range(0, source.size, PART):
            if start:
                sleep(PAUSE)
            with self.turn(), self._context.active():
                staging(self._device).to_device(source[start : start + PART], address + start)

    def render(
        self,
        resident: CudaResident,
        view: View,
        film: Film,
        progress: ProgressCall | None = None,
        fetch: bool = True,
    ) -> float:
        """Add the view's samples to film.sums; returns the seconds between device events.

        With `fetch`, the film changes only when all samples are done: Ctrl-C leaves it as it was.
        """
        picture = _picture(view)
        if film.sums.shape != (picture.height, picture.width, 4):
            raise ValueError(f"the film is {film.sums.shape}, not the view's crop {picture}")
        kernel, copies = self.kernel_of(resident, view), staging(self._device)
        with self.turn(), self._context.active() as driver:
            self._make_way(resident, film)
            sums = resident.allocate("film", int(film.sums.nbytes))
            kernel.set_tables(
                c_camera=view.camera,
                c_lights=view.lights,
                c_materials=view.materials,
                c_large=resident.large,
                c_frame=view.frame,
            )
            if resident.few_spheres is not None:
                kernel.set_spheres(resident.few_spheres)
            if resident.blank is film or not (resident.ahead is film or film.sums.any()):
                driver.memset_d32_async(sums, 0, film.sums.size, kernel.stream)
            elif resident.ahead is not film:
                copies.to_device(film.sums, sums)
            resident.ahead = None
            resident.blank = None if resident.blank is film else resident.blank
            seconds = _launch_all(kernel, resident, picture, progress)
            if fetch:
                copies.to_host(sums, film.sums)
            else:
                resident.ahead = film
            film.backdrop = view.backdrop
        return seconds

    def fetch(self, resident: CudaResident, film: Film) -> None:
        """Copy the sums to the film if the device has newer ones."""
        if resident.ahead is film:
            with self.turn(), self._context.active():
                staging(self._device).to_host(resident.address("film"), film.sums)
                resident.ahead = None

    def _make_way(self, resident: CudaResident, film: Film) -> None:
        """Bring another film's sums home before their memory is used for this one."""
        if resident.ahead is not None and resident.ahead is not film:
            self.fetch(resident, resident.ahead)

    def develop(
        self, resident: CudaResident, film: Film, settings: ToneSettings, bits: int
    ) -> tuple[Pixels, NDArray[np.void]]:
        """Measure and develop on the device; only the picture and the tally come from it."""
        import numpy as np

        height, width = film.sums.shape[:2]
        out = np.empty(film.sums.shape, np.uint8 if bits == 8 else np.uint16)
        copies = staging(self._device)
        with self.turn(), self._context.active():
            kernels = tone_kernels(self._device)
            sums = self._on_device(resident, film)
            picture = resident.allocate("picture", int(out.nbytes))
            kernels.develop(
                sums, film.samples, width, height, settings, picture,
                bits=bits, place=(film.x0, film.y0), statistics=True,
                backdrop=film.backdrop, picture_height=film.height,
            )  # fmt: skip
            copies.to_host(picture, out)
            return out, kernels.read_tally()

    def turn(self) -> AbstractContextManager[Any]:
        """The lock that every kernel is launched and waited for under.

        Where one thread waits for OpenGL and another for CUDA, both can wait for ever (seen with
        driver 580 on a GPU without a display), with interop or without: so they take turns.
        """
        return self._context.lock

    def clear(self, resident: CudaResident, film: Film) -> None:
        """Have the next `render` begin at zero; the sums of the host are left as they are."""
        resident.ahead, resident.blank = None, film
        film.samples = 0

    def picture(self) -> DevicePicture:
        """In device memory."""
        return DevicePicture(self._context)

    def paint(
        self, resident: CudaResident, film: Film, settings: ToneSettings, picture: DevicePicture
    ) -> None:
        """Measure if the exposure is automatic, and develop; nothing leaves the device."""
        height, width = film.sums.shape[:2]
        with self.turn(), self._context.active():
            sums = self._on_device(resident, film)
            kernels = tone_kernels(self._device)
            address = picture.resize(width, height)
            kernels.develop(
                sums, film.samples, width, height, settings, address, place=(film.x0, film.y0),
                backdrop=film.backdrop, picture_height=film.height,
            )  # fmt: skip
            kernels.stream.synchronize()

    def _on_device(self, resident: CudaResident, film: Film) -> int:
        """The address of the film's sums, copied there if they are not; the context is active."""
        self._make_way(resident, film)
        sums = resident.allocate("film", int(film.sums.nbytes))
        if resident.ahead is not film:
            staging(self._device).to_device(film.sums, sums)
        return sums

    def first_hits(self, resident: CudaResident, view: View) -> NDArray[np.void]:
        """By one launch over all tiles."""
        picture = _picture(view)
        arguments = _arguments(resident, picture)
        arguments["tile_end"] = picture.tiles
        with self.turn(), self._context.active():
            return first_hits(self._device).find(arguments, resident.large, view.through_centers())


def _launch_all(
    kernel: RenderKernel,
    resident: CudaResident,
    picture: launch.Picture,
    progress: ProgressCall | None,
) -> float:
    """Render a picture launch by launch; Python takes signals between them."""
    arguments = _arguments(resident, picture)
    seconds, done = 0.0, 0
    for piece in launch.pieces(picture, resident.pacer):
        for name in ("tile_begin", "tile_end", "sample_begin", "sample_count"):
            arguments[name] = getattr(piece, name)
        taken = kernel.launch(arguments.tobytes(), piece)
        work = piece.tiles * picture.tile_pixels * piece.sample_count
        resident.pacer.record(work, taken)
        seconds += taken
        done += work
        if progress is not None:
            progress(done / picture.work)
    return seconds


def _arguments(resident: CudaResident, picture: launch.Picture) -> NDArray[np.void]:
    """RenderArgs (1,) without tiles and samples."""
    import numpy as np

    arguments = np.zeros(1, layout.dtype("RenderArgs"))
    for name in (*SPHERE_ARRAYS, "film"):
        arguments[name] = resident.address(name)
    arguments["sphere_count"] = resident.count
    arguments["tiles_x"] = picture.tiles_x
    return arguments


def _picture(view: View) -> launch.Picture:
    x0, y0, x1, y1 = view.crop
    return launch.Picture(
        width=x1 - x0,
        height=y1 - y0,
        tile=TILE,
        sample_begin=view.first_sample,
        sample_count=view.samples,
    )


def _film_bytes(view: View) -> int:
    picture = _picture(view)
    return picture.width * picture.height * 16  # four float32


def _sphere_arrays(buffers: SceneBuffers, bvh: Bvh) -> dict[str, NDArray[Any]]:
    """What the kernel reads from device memory, by the names in RenderArgs."""
    return {
        "nodes": bvh.nodes,
        "spheres": bvh.spheres,
        "order": bvh.order,
        "color": buffers.color,
        "color_id": buffers.color_id,
        "material_id": buffers.material_id,
    }
