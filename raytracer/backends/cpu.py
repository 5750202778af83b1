"""Renders on the cores of this machine, by the compiled extension."""

from __future__ import annotations

import platform
import time
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer import layout, tone
from raytracer.resources import thread_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.backends.base import ProgressCall
    from raytracer.buffers import SceneBuffers
    from raytracer.bvh import Bvh
    from raytracer.film import Film
    from raytracer.tone import Pixels
    from raytracer.tone_settings import ToneSettings
    from raytracer.view import View

# Seconds: often enough for Ctrl-C and a progress bar, and calls cost nothing beside it.
BUDGET = 0.25
# Samples a pass: a tile is finished before the kernel looks at the clock, so it must not take long.
SAMPLES_A_PASS = 64

# An int32 counts the four floats of every sphere.
MAX_SPHERES = 2**29 - 1


@dataclass
class CpuResident:
    """The arrays of a scene, checked by the extension, which keeps them. scene: `_core.Scene`."""

    scene: Any

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        return int(self.scene.nbytes) if self.scene is not None else 0

    def close(self) -> None:
        """Let go of the arrays."""
        self.scene = None


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


class CpuBackend:
    """The backend that is always there.

    threads: 0 takes every core that the process may use.
    passed_over: why another backend was not taken, by name.
    budget: seconds after which the kernel returns, so that signals and progress are served.
    """

    name = "cpu"
    max_spheres = MAX_SPHERES

    def __init__(self, threads: int = 0, passed_over: dict[str, str] | None = None) -> None:
        self.threads = thread_count(threads)
        self.passed_over = passed_over or {}
        self.budget = BUDGET

    def describe(self) -> dict[str, Any]:
        """Processor, instruction set and threads."""
        from raytracer import _core

        about = {"device": processor(), "isa": _core.isa(), "threads": self.threads}
        return about | ({"passed_over": self.passed_over} if self.passed_over else {})

    def upload(self, buffers: SceneBuffers, bvh: Bvh) -> CpuResident:
        """Keep what the kernel reads; nothing is copied.

        Raises ValueError for arrays that do not fit together.
        """
        from raytracer import _core

        return CpuResident(
            _core.Scene(
                nodes=bvh.nodes,
                spheres=bvh.spheres,
                order=bvh.order,
                color=buffers.color,
                color_id=buffers.color_id,
                material_id=buffers.material_id,
                large=buffers.large,
            )
        )

    def render(
        self,
        resident: CpuResident,
        view: View,
        film: Film,
        progress: ProgressCall | None = None,
        fetch: bool = True,
    ) -> float:
        """Add the view's samples to the film in passes; the sums do not depend on the cut."""
        start = time.perf_counter()
        first, total = view.first_sample, view.samples
        for done in range(0, total, SAMPLES_A_PASS):
            count = min(SAMPLES_A_PASS, total - done)
            step = view.with_samples(first + done, count)
            self._one_pass(resident, step, film, progress, done / total, count / total)
        film.backdrop = view.backdrop
        return time.perf_counter() - start

    def fetch(self, resident: CpuResident, film: Film) -> None:
        """Nothing to do: the sums are in the film."""

    def develop(
        self, resident: CpuResident, film: Film, settings: ToneSettings, bits: int
    ) -> tuple[Pixels, NDArray[np.void]]:
        """Measure and develop the film."""
        tally = tone.measure(film, settings, self.threads)
        return tone.develop(film, settings, bits, self.threads, tally), tally

    def turn(self) -> AbstractContextManager[None]:
        """Nothing to wait for."""
        return nullcontext()

    def clear(self, resident: CpuResident, film: Film) -> None:
        """Set the sums to zero."""
        film.sums.fill(0.0)
        film.samples = 0

    def picture(self) -> HostPicture:
        """In host memory."""
        return HostPicture()

    def paint(
        self, resident: CpuResident, film: Film, settings: ToneSettings, picture: HostPicture
    ) -> None:
        """Measure if the exposure is automatic, and develop."""
        height, width = film.sums.shape[:2]
        picture.resize(width, height)
        tone.develop(film, settings, 8, self.threads, out=picture.pixels)

    def first_hits(self, resident: CpuResident, view: View) -> NDArray[np.void]:
        """Row by row, on all threads."""
        import numpy as np

        x0, y0, x1, y1 = view.crop
        dtype = layout.dtype("FirstHit")
        found = np.empty((y1 - y0, x1 - x0), dtype)
        raw = found.view(np.uint8).reshape(*found.shape, dtype.itemsize)
        resident.scene.first_hits(view.camera, view.through_centers().frame, raw, self.threads)
        return found

    def _one_pass(
        self,
        resident: CpuResident,
        view: View,
        film: Film,
        progress: ProgressCall | None,
        done: float,
        share: float,
    ) -> None:
        """All tiles of one pass; between calls of the kernel Python takes signals."""
        from raytracer import _core

        scene, seen = resident.scene, (view.camera, view.lights, view.materials, view.frame)
        tiles = _core.tile_count(view.frame)
        tile = 0
        while tile < tiles:
            tile = scene.render(*seen, film.sums, tile, self.budget, self.threads)
            if progress is not None:
                progress(done + share * tile / tiles)


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
