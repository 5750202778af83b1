"""The CPU as a device: kernels of the compiled extension on all cores."""

from __future__ import annotations

import platform
import time
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer._native import core
from raytracer.backends.base import Bands, DeviceFilm, DeviceScene, ProgressCall, sphere_arrays
from raytracer.buffers import Bvh, SceneBuffers, build_bvh
from raytracer.film.film import Film, Pixels, develop, measure_and_develop
from raytracer.film.tone_settings import ToneSettings
from raytracer.resources import thread_count
from raytracer.sphere_update import OutOfRangeError, SphereUpdate
from raytracer.view import View

BUDGET = 0.25
"""Seconds between calls of Python: often enough for a progress bar, at no measurable cost."""

SAMPLES_A_PASS = 64
"""Most samples of a pass: the kernel reads the clock only after a tile, with all its samples."""

MAX_SPHERES = 2**29 - 1  # most spheres: an int32 counts the four floats of each


class CpuScene(DeviceScene):
    """The arrays of a scene in host memory; the extension checks and keeps them."""

    max_excess = 1.0
    """The tree has then cost about as much as a new one (docs/kernels/algorithms.md, "Moving
    spheres")."""

    def __init__(self, buffers: SceneBuffers, tree: Bvh, threads: int) -> None:
        """Keep the arrays that the kernels read; writable arrays of indices are copied."""
        super().__init__(buffers)
        self._threads = threads
        self.can_update = not len(buffers.images)
        self._color, self._large = buffers.color, buffers.large_id.tolist()
        self.tree_nbytes = tree.nbytes
        self._arrays: Any = core().Scene(**sphere_arrays(buffers, tree), large=buffers.large)

    @property
    def arrays(self) -> Any:
        """Return the extension's scene. Raises ValueError if it is closed."""
        if self._arrays is None:
            raise ValueError("the scene is closed")
        return self._arrays

    @property
    def nbytes(self) -> int:
        return int(self._arrays.nbytes) if self._arrays is not None else 0

    def _first_hits(self, view: View) -> NDArray[np.void]:
        x0, y0, x1, y1 = view.crop
        hits = np.empty((y1 - y0, x1 - x0), layout.dtype("FirstHit"))
        frame = view.through_centers().frame
        self.arrays.first_hits(view.camera, frame, _bytes_of(hits), self._threads)
        return hits

    def first_numbers(self, view: View) -> NDArray[np.uint32]:
        x0, y0, x1, y1 = view.crop
        numbers = np.empty((y1 - y0, x1 - x0, 1), np.uint32)
        self.arrays.first_numbers(view.camera, view.through_centers().frame, numbers, self._threads)
        if self._ground is not None:
            numbers[numbers == self._ground] = layout.constant("kNoSphere")
        return numbers[..., 0]

    def exposures(self, view: View, count: int) -> NDArray[np.void]:
        exposures = np.zeros(count, layout.dtype("Exposure"))
        self.arrays.exposures(view.camera, view.frame, _bytes_of(exposures), self._threads)
        return exposures

    def _replace_sky(self, sky: NDArray[np.void]) -> None:
        if self._arrays is not None:
            self._arrays.replace_sky(sky)

    def update(self, spheres: SphereUpdate) -> None:
        if spheres.positions is not None or spheres.radii is not None:
            built = self.arrays.move(
                spheres.positions, spheres.radii, spheres.linear.ravel().tolist(),
                spheres.offset.tolist(), spheres.scale, spheres.first, spheres.count, self._large,
                self.max_excess, self._threads,
            )  # fmt: skip
            if built is None:
                raise OutOfRangeError
        if spheres.colors is not None:
            first = spheres.first_color
            self._color[first : first + spheres.count] = spheres.colors

    def close(self) -> None:
        self._arrays = None


def _bytes_of(structs: NDArray[np.void]) -> NDArray[np.uint8]:
    """Return the same memory with an axis of bytes."""
    return structs.view(np.uint8).reshape(*structs.shape, structs.itemsize)


class HostPicture:
    """A picture in host memory: `pixels`, uint8 (h, w, 4), sRGB with straight alpha."""

    def __init__(self) -> None:
        self.pixels: NDArray[np.uint8] = np.zeros((0, 0, 4), np.uint8)

    @property
    def size(self) -> tuple[int, int]:
        height, width = self.pixels.shape[:2]
        return width, height

    def to_host(self) -> NDArray[np.uint8]:
        return self.pixels.copy()

    def close(self) -> None:
        """Do nothing: NumPy owns the array."""


class CpuFilm(DeviceFilm):
    """A film whose sums are those of the host."""

    def __init__(self, device: CpuDevice, host: Film) -> None:
        super().__init__(host)
        self._device = device
        self._draft: NDArray[np.float32] | None = None

    def _expose(
        self, scene: DeviceScene, view: View, progress: ProgressCall | None, bands: Bands | None
    ) -> float:
        """Add the view's samples in passes, band by band; the sums do not depend on the cut.
        Python handles signals between calls of the kernel."""
        if not isinstance(scene, CpuScene):
            raise TypeError(f"a film of the CPU takes no {type(scene).__name__}")
        start = time.perf_counter()
        if view.draft and self._draft is None:
            self._draft = np.zeros(layout.draft_shape(*self.host.sums.shape[:2]), np.float32)
        first, total, (x0, y0, x1, _) = view.first_sample, view.samples, view.crop
        bands = bands or [(0, len(self.host.sums))]
        passes, threads = range(0, total, SAMPLES_A_PASS), self._device.threads
        draft = self._draft if view.draft else None
        for done, (number, (begin, end)) in product(passes, enumerate(bands)):
            count = min(SAMPLES_A_PASS, total - done)
            band = view.with_samples(first + done, count)
            band = band.with_crop((x0, y0 + begin, x1, y0 + end))
            tables = band.camera, band.lights, band.materials, band.frame
            tile, tiles = 0, core().tile_count(band.frame)
            while tile < tiles:
                sums, budget = self.host.sums[begin:end], self._device.budget
                tile = scene.arrays.render(*tables, sums, tile, budget, threads, draft)
                if progress is not None:
                    progress((done + count * (number + tile / tiles) / len(bands)) / total)
        if draft is not None:
            core().denoise_draft(draft, self.host.sums, threads)
        return time.perf_counter() - start

    def to_host(self, bands: Bands | None = None) -> Film:
        return self.host

    def develop(self, settings: ToneSettings, bits: int) -> tuple[Pixels, NDArray[np.void]]:
        return measure_and_develop(self.host, settings, bits, self._device.threads)

    def pixels(self, settings: ToneSettings) -> NDArray[np.uint8]:
        return develop(self.host, settings, 8, self._device.threads).astype(np.uint8, copy=False)

    def develop_into(self, settings: ToneSettings, picture: HostPicture) -> None:
        if picture.pixels.shape != self.host.sums.shape:
            picture.pixels = np.empty(self.host.sums.shape, np.uint8)
        develop(
            self.host, settings, 8, self._device.threads, out=picture.pixels,
            neighbor_weight=self._neighbor_weight,
        )  # fmt: skip

    def clear(self) -> None:
        self.host.sums.fill(0.0)
        self.host.samples, self.host.counts = 0, None

    def restore(self, sums: NDArray[np.float32]) -> None:
        self.host.sums[:] = sums


class CpuDevice:
    """The CPU; `passed_over`: why other devices were not chosen, by name."""

    name = "cpu"
    number = 0
    max_spheres = MAX_SPHERES
    can_interrupt = True
    shares_display = False
    has_own_memory = False
    pass_seconds = 0.1

    def __init__(self, threads: int = 0, passed_over: dict[str, str] | None = None) -> None:
        self.threads = thread_count(threads)
        self.passed_over = passed_over or {}
        self.budget = BUDGET

    def describe(self) -> dict[str, Any]:
        """Return processor, instruction set and threads; a hint where a build would be better."""
        isa, best = core().isas()[0], core().processor_isa()
        about = {"device": processor(), "isa": core().isa(), "threads": self.threads}
        if isa != best:
            about["hint"] = (
                f"this processor has {best}, for which raytracer was not compiled: install it anew "
                "on this machine, with pip's --no-cache-dir"
            )
        return about | ({"passed_over": self.passed_over} if self.passed_over else {})

    def compile_ahead(self) -> None:
        """Do nothing: kernels are compiled when the package is installed."""

    def place(self, *_: Any) -> None:
        """Return None: `build` reads columns."""

    def build(self, buffers: SceneBuffers) -> Bvh:
        return build_bvh(buffers, self.threads)

    def scene(self, buffers: SceneBuffers, tree: Bvh | None = None) -> CpuScene:
        return CpuScene(buffers, tree if tree is not None else self.build(buffers), self.threads)

    def film(self, host: Film) -> CpuFilm:
        return CpuFilm(self, host)

    def picture(self) -> HostPicture:
        return HostPicture()

    def turn(self) -> AbstractContextManager[None]:
        return nullcontext()


def processor() -> str:
    with suppress(OSError), Path("/proc/cpuinfo").open() as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
