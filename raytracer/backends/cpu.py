"""Renders on the cores of this machine, by the compiled extension."""

from __future__ import annotations

import platform
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer import bvh, layout
from raytracer._native import core
from raytracer.backends.base import DeviceFilm, DeviceScene
from raytracer.film import tone
from raytracer.resources import thread_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.backends.base import ProgressCall
    from raytracer.buffers import SceneBuffers
    from raytracer.bvh import Bvh
    from raytracer.film.film import Film
    from raytracer.film.tone import Pixels
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.view import View

# Seconds: often enough for Ctrl-C and a progress bar, and calls cost nothing beside it.
BUDGET = 0.25
# Samples a pass: a tile is finished before the kernel looks at the clock, so it must not take long.
SAMPLES_A_PASS = 64

# An int32 counts the four floats of every sphere.
MAX_SPHERES = 2**29 - 1


class CpuScene(DeviceScene):
    """The arrays of a scene, checked by the extension, which keeps them."""

    def __init__(self, buffers: SceneBuffers, tree: Bvh, threads: int) -> None:
        """Keep what the kernel reads; of it, arrays of indices that are writable are copied.

        Raises ValueError for arrays that do not fit together.
        """
        self._threads = threads
        self._arrays: Any = core().Scene(
            nodes=tree.nodes,
            spheres=tree.spheres,
            order=tree.order,
            color=buffers.color,
            color_id=buffers.color_id,
            material_id=buffers.material_id,
            large=buffers.large,
        )

    @property
    def arrays(self) -> Any:
        """The extension's scene. Raises ValueError if it was closed."""
        if self._arrays is None:
            raise ValueError("the scene is closed")
        return self._arrays

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return int(self._arrays.nbytes) if self._arrays is not None else 0

    def first_hits(self, view: View) -> NDArray[np.void]:
        """Row by row, on all threads."""
        import numpy as np

        x0, y0, x1, y1 = view.crop
        dtype = layout.dtype("FirstHit")
        found = np.empty((y1 - y0, x1 - x0), dtype)
        raw = found.view(np.uint8).reshape(*found.shape, dtype.itemsize)
        self.arrays.first_hits(view.camera, view.through_centers().frame, raw, self._threads)
        return found

    def close(self) -> None:
        """Let go of the arrays."""
        self._arrays = None


class HostPicture:
    """A picture in host memory: `pixels`, uint8 (h, w, 4), sRGB with straight alpha."""

    def __init__(self) -> None:
        import numpy as np

        self.pixels: NDArray[np.uint8] = np.zeros((0, 0, 4), np.uint8)

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels."""
        height, width = self.pixels.shape[:2]
        return width, height

    def resize(self, width: int, height: int) -> None:
        """Take memory of that size; what is there stays if it fits."""
        import numpy as np

        if self.size != (width, height):
            self.pixels = np.empty((height, width, 4), np.uint8)

    def close(self) -> None:
        """Nothing to do: the array is NumPy's."""


class CpuFilm(DeviceFilm):
    """A film whose sums are those of the host."""

    def __init__(self, device: CpuDevice, host: Film) -> None:
        """Keep both."""
        super().__init__(host)
        self._device = device

    def _expose(self, scene: DeviceScene, view: View, progress: ProgressCall | None) -> float:
        """Add the view's samples in passes; the sums do not depend on the cut."""
        if not isinstance(scene, CpuScene):
            raise TypeError(f"a film of the CPU takes no {type(scene).__name__}")
        start = time.perf_counter()
        first, total = view.first_sample, view.samples
        for done in range(0, total, SAMPLES_A_PASS):
            count = min(SAMPLES_A_PASS, total - done)
            step = view.with_samples(first + done, count)
            self._one_pass(scene, step, progress, done / total, count / total)
        return time.perf_counter() - start

    def _one_pass(
        self,
        scene: CpuScene,
        view: View,
        progress: ProgressCall | None,
        done: float,
        share: float,
    ) -> None:
        """All tiles of one pass; between calls of the kernel Python takes signals."""
        seen = view.camera, view.lights, view.materials, view.frame
        tiles, threads = core().tile_count(view.frame), self._device.threads
        tile = 0
        while tile < tiles:
            budget = self._device.budget
            tile = scene.arrays.render(*seen, self.host.sums, tile, budget, threads)
            if progress is not None:
                progress(done + share * tile / tiles)

    def to_host(self) -> Film:
        """Nothing to do: the sums are there."""
        return self.host

    def develop(self, settings: ToneSettings, bits: int) -> tuple[Pixels, NDArray[np.void]]:
        """Measure and develop."""
        threads = self._device.threads
        tally = tone.measure(self.host, settings, threads)
        return tone.develop(self.host, settings, bits, threads, tally), tally

    def paint(self, settings: ToneSettings, picture: HostPicture) -> None:
        """Measure if the exposure is automatic, and develop."""
        height, width = self.host.sums.shape[:2]
        picture.resize(width, height)
        tone.develop(self.host, settings, 8, self._device.threads, out=picture.pixels)

    def clear(self) -> None:
        """Set the sums to zero."""
        self.host.sums.fill(0.0)
        self.host.samples = 0

    def restore(self, sums: NDArray[np.float32]) -> None:
        """Copy them back."""
        self.host.sums[:] = sums


class CpuDevice:
    """The device that is always there.

    threads: 0 takes every core that the process may use.
    passed_over: why another device was not taken, by name.
    budget: seconds after which the kernel returns, so that signals and progress are served.
    """

    name = "cpu"
    number = 0
    max_spheres = MAX_SPHERES
    can_interrupt = True
    shares_display = False
    pass_seconds = 0.1

    def __init__(self, threads: int = 0, passed_over: dict[str, str] | None = None) -> None:
        self.threads = thread_count(threads)
        self.passed_over = passed_over or {}
        self.budget = BUDGET

    def describe(self) -> dict[str, Any]:
        """Processor, instruction set and threads."""
        about = {"device": processor(), "isa": core().isa(), "threads": self.threads}
        return about | ({"passed_over": self.passed_over} if self.passed_over else {})

    def build(self, buffers: SceneBuffers) -> Bvh:
        """On all threads."""
        return bvh.build(buffers, self.threads)

    def scene(self, buffers: SceneBuffers, tree: Bvh | None = None) -> CpuScene:
        """Keep what the kernel reads; see `CpuScene`.

        Raises ValueError for arrays that do not fit together.
        """
        return CpuScene(buffers, tree if tree is not None else self.build(buffers), self.threads)

    def film(self, host: Film) -> CpuFilm:
        """Add to the sums of that film."""
        return CpuFilm(self, host)

    def picture(self) -> HostPicture:
        """In host memory."""
        return HostPicture()

    def turn(self) -> AbstractContextManager[None]:
        """Nothing to wait for."""
        return nullcontext()


def processor() -> str:
    """The name of the processor."""
    try:
        with Path("/proc/cpuinfo").open() as lines:
            for line in lines:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
