"""Devices: a device makes scenes and films, and a film adds samples of a scene.

Of films, what any device can do is what the CPU does with the sums of the host. The CPU renders by
kernels of the compiled extension on all cores.
"""

from __future__ import annotations

import platform
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from itertools import product
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from raytracer._native import core
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import Developed, Film, develop
from raytracer.packing.buffers import Bvh, SceneBuffers, build_bvh
from raytracer.packing.sphere_update import OutOfRangeError, Placer, SphereUpdate
from raytracer.packing.view import View
from raytracer.system.device_array import DeviceArray
from raytracer.system.layout import draft_shape, kernel_constant, struct_dtype
from raytracer.system.resources import choose_thread_count

ProgressCall = Callable[[float], None]
"""Called from time to time with the fraction done, 0 to 1. What it raises stops the render."""

Bands = Sequence[tuple[int, int]]
"""Rows of a film from its upper edge, half open. Ends are multiples of 4, or the lower edge."""


class Closeable:
    """Base of objects that hold memory of a device; also a context manager."""

    def close(self) -> None:
        """Release the memory; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class DeviceScene(Closeable, ABC):
    """The spheres of a scene and their tree, in the memory of a device; no view is part of it."""

    can_update = False
    """Whether spheres can move in the memory of the device (`update`)."""

    max_excess: float
    """Growth of the tree's cost by refits, as a part of it and summed over the updates since it was
    built, above which it is built anew; below 0 it is built for each update."""

    striped_over = 1
    """GPUs over which its memory is striped."""

    tree_nbytes: int
    """Bytes of nodes, and of the primitives in leaf order with their numbers."""

    def __init__(self, buffers: SceneBuffers) -> None:
        self._ground = buffers.ground_number if buffers.has_ground else None
        self._sky = buffers.view.sky

    def set_sky(self, sky: NDArray[np.void]) -> None:
        """Replace the environment map, (M,) `EnvironmentTexel`, while no film adds samples of this
        scene."""
        if sky is not self._sky and sky.tobytes() != self._sky.tobytes():
            self._sky = sky
            self._replace_sky(sky)

    @abstractmethod
    def _replace_sky(self, sky: NDArray[np.void]) -> None: ...

    def update(self, spheres: SphereUpdate) -> None:
        """Move and recolour spheres, while no film adds samples of this scene.

        The tree is refitted, or built anew where it has become bad. The same updates of the same
        scene give the same bytes. After the first call no memory is allocated for a refit. Tables
        of large spheres (`SceneBuffers.large_id`), emitters and solids do not change: if one of
        these is to move, the caller packs the scene anew.

        Raises SceneError where a sphere of the host is not finite, or float32 cannot hold it in
        render space; the scene stays as it was. Where the device does not know which sphere it is,
        `OutOfRangeError`. What is wrong with arrays of a GPU is raised by the next picture.
        """
        raise NotImplementedError

    def wait(self) -> None:
        """Wait until the arrays of a device that updates were given have been read."""

    def find_moved_radii(self) -> tuple[float, float]:
        """Return bounds of the radii that updates with arrays of a device have set, render space.
        Infinity and 0 where the caller knows all radii, NaN before any update."""
        return np.inf, 0.0

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes in the memory of the device (of the host, for the CPU)."""

    def describe(self, view: View) -> dict[str, Any]:
        """Return the kernel that renders a view and its resources, for records; {} on the CPU."""
        return {}

    def trace_first_hits(self, view: View) -> NDArray[np.void]:
        """Return the first hits of the rays through the pixels' centres, (h, w) `FirstHit`, in
        render space. The ground has a depth, but no id."""
        hits = self._trace_first_hits(view)
        if self._ground is not None:
            hits["id"][hits["id"] == self._ground] = kernel_constant("kNoSphere")
        return hits

    def trace_first_ids(self, view: View) -> NDArray[np.uint32]:
        """Return the ids of the first hits alone, uint32 (h, w)."""
        return np.ascontiguousarray(self.trace_first_hits(view)["id"])

    @abstractmethod
    def count_visible_points(self, view: View, count: int) -> NDArray[np.void]:
        """Count the exposed points of the first spheres (kernels/integrator/exposure.h), (count,)
        `Exposure`, as many points of each as the view, of the `ao` integrator, has samples."""

    @abstractmethod
    def _trace_first_hits(self, view: View) -> NDArray[np.void]:
        """Return the first hits; the id of the ground is the number of the spheres."""


TREE, TABLES = ("nodes", "spheres", "order"), (
    "color", "color_id", "material_id", "emitters", "opacity", "sky", "images",
)  # fmt: skip
"""Arrays that kernels read from memory, of tree and scene, by the names in RenderArgs."""


def collect_sphere_arrays(
    buffers: SceneBuffers, tree: Bvh | None, there: Sequence[str] = ()
) -> dict[str, NDArray[Any]]:
    """Return the arrays that kernels read from memory, by the names in RenderArgs, but `there`."""
    of_tree = {} if tree is None else {name: getattr(tree, name) for name in TREE}
    owners = {name: buffers.view if name == "sky" else buffers for name in TABLES}
    return of_tree | {n: getattr(owner, n) for n, owner in owners.items() if n not in there}


class Picture(Protocol):
    """Memory for 8-bit pictures where the device develops them; it is used for many pictures."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels of the last picture."""

    def to_host(self) -> NDArray[np.uint8]:
        """Return a copy of the picture, uint8 (h, w, 4); the caller holds the device's `turn`."""

    def close(self) -> None:
        """Release the memory."""


class DeviceFilm(Closeable, ABC):
    """A film whose sums are in the memory of a device; those of `host` are up to date after
    `to_host` until samples are added, its size, samples and backdrop always."""

    def __init__(self, host: Film, threads: int = 0) -> None:
        self.host, self._threads = host, threads
        self._neighbor_weight = 0.0  # of the view whose samples it has

    @property
    def samples(self) -> int:
        return self.host.samples

    def add(
        self,
        scene: DeviceScene,
        view: View,
        samples: int,
        progress: ProgressCall | None = None,
        *,
        first: int | None = None,
        bands: Bands | None = None,
    ) -> float:
        """Add samples of a scene; returns the seconds (on CUDA, between device events).

        The sums do not depend on how samples are divided among calls. view: size and crop are taken
        from the film. progress: called with the fraction done; what it raises ends the call. first:
        number of the first sample; by default it follows those on the film. bands: rows to which
        samples are added, without common rows; None: all.

        Raises TypeError for a scene of another device, ValueError for a view whose tables do not
        fit, or for a draft of several samples or of bands, whose light is filtered once.
        """
        if view.draft and samples != 1:
            raise ValueError(f"a draft has one sample, not {samples}")
        if view.draft and bands is not None:
            raise ValueError("a draft has samples of all rows, not of bands")
        first = self.host.samples if first is None else first
        scene.set_sky(view.sky)
        x0, y0, x1, y1 = self.host.crop
        exposed = view.but(
            x0=x0, y0=y0, x1=x1, y1=y1, width=self.host.width, height=self.host.height,
            sample_begin=first, sample_count=samples,
        )  # fmt: skip
        seconds = self._accumulate(scene, exposed, progress, bands)
        self.host.samples += samples
        self.host.backdrop, self._neighbor_weight = view.backdrop, view.neighbor_weight
        return seconds

    @abstractmethod
    def _accumulate(
        self, scene: DeviceScene, view: View, progress: ProgressCall | None, bands: Bands | None
    ) -> float:
        """Add the view's samples to the sums of some rows or all, and return the seconds."""

    def to_host(self, bands: Bands | None = None) -> Film:
        """Copy the sums to `host`, if they are newer, and return it; bands: at least these rows."""
        return self.host

    def develop(self, settings: ToneSettings, bits: int = 8, *, measured: bool = True) -> Developed:
        """Return the picture of the film and its histogram, as `film.develop` does."""
        return develop(self.to_host(), settings, bits, self._threads, measured=measured)

    @abstractmethod
    def develop_into(self, settings: ToneSettings, picture: Any) -> None:
        """Develop the film with 8 bits into a `Picture` of the device; returns after that."""

    def copy_sums(self, reader: int) -> DeviceArray:
        """Return a copy of the sums in the memory of a device with memory of its own, for the
        stream `reader`. The next copy, in the same memory, waits for what is queued there until
        then."""
        raise NotImplementedError

    def clear(self) -> None:
        """Remove all samples."""
        self.host.sums.fill(0.0)
        self.host.samples, self.host.counts = 0, None

    def restore(self, sums: NDArray[np.float32]) -> None:
        """Replace the sums by a copy, float32 (h, w, 4), taken before an interrupted `add`."""
        self.host.sums[:] = sums


class Device(Protocol):
    """A processor that renders."""

    name: str
    number: int = 0
    """Of the device among those of that name."""
    max_spheres: int
    has_own_memory: bool
    """Whether it is a GPU: films and pictures lie in its memory, a pass cannot be interrupted at a
    small cost, parts of a picture are bands, rendered together, and it may also draw the window:
    OpenGL must finish before the next pass."""
    pass_seconds: float
    """Target duration (s) of a pass of several samples in interactive use."""
    budget: float
    """Seconds after which a pass lets Python run, if the device can do that."""

    def describe(self) -> dict[str, Any]:
        """Return a description as JSON types: `device`, its name, and for a device with its own
        memory `memory_free`, in bytes."""

    def compile_ahead(self) -> None:
        """Compile the kernels of all views, so that none to come waits for a compiler."""
        return

    @property
    def place(self) -> Placer | None:
        """Packs spheres in its memory; None: the host does."""

    def build(self, buffers: SceneBuffers) -> Bvh | None:
        """Build the tree over a scene on the host; None: `scene` builds it on the device."""

    def scene(self, buffers: SceneBuffers, tree: Bvh | None = None) -> DeviceScene:
        """Copy a scene into the memory of the device, with its tree or one that is built there.
        Raises ValueError for arrays that do not fit together, BackendError if there is no room."""

    def film(self, host: Film) -> DeviceFilm:
        """Return a device film that continues a film, blank or with samples."""

    def picture(self) -> Picture:
        """Return an empty picture for `DeviceFilm.develop_into`."""

    def turn(self) -> AbstractContextManager[Any]:
        """Return a lock for a window that draws: a GPU that both use does not render meanwhile."""


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
        self._arrays: Any = core().Scene(
            **collect_sphere_arrays(buffers, tree), large=buffers.large
        )

    @property
    def arrays(self) -> Any:
        """Return the extension's scene. Raises ValueError if it is closed."""
        if self._arrays is None:
            raise ValueError("the scene is closed")
        return self._arrays

    @property
    def nbytes(self) -> int:
        return int(self._arrays.nbytes) if self._arrays is not None else 0

    def _trace_first_hits(self, view: View) -> NDArray[np.void]:
        x0, y0, x1, y1 = view.crop
        hits = np.empty((y1 - y0, x1 - x0), struct_dtype("FirstHit"))
        frame = view.through_centers().frame
        self.arrays.first_hits(view.camera, frame, _view_bytes(hits), self._threads)
        return hits

    def trace_first_ids(self, view: View) -> NDArray[np.uint32]:
        x0, y0, x1, y1 = view.crop
        numbers = np.empty((y1 - y0, x1 - x0, 1), np.uint32)
        self.arrays.first_numbers(view.camera, view.through_centers().frame, numbers, self._threads)
        if self._ground is not None:
            numbers[numbers == self._ground] = kernel_constant("kNoSphere")
        return numbers[..., 0]

    def count_visible_points(self, view: View, count: int) -> NDArray[np.void]:
        exposures = np.zeros(count, struct_dtype("Exposure"))
        self.arrays.exposures(view.camera, view.frame, _view_bytes(exposures), self._threads)
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


def _view_bytes(structs: NDArray[np.void]) -> NDArray[np.uint8]:
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
        super().__init__(host, device.threads)
        self._device = device
        self._draft: NDArray[np.float32] | None = None

    def _accumulate(
        self, scene: DeviceScene, view: View, progress: ProgressCall | None, bands: Bands | None
    ) -> float:
        """Add the view's samples in passes, band by band; the sums do not depend on the cut.
        Python handles signals between calls of the kernel."""
        if not isinstance(scene, CpuScene):
            raise TypeError(f"a film of the CPU takes no {type(scene).__name__}")
        start = time.perf_counter()
        if view.draft and self._draft is None:
            self._draft = np.zeros(draft_shape(*self.host.sums.shape[:2]), np.float32)
        first, total, (x0, y0, x1, _) = view.first_sample, view.samples, view.crop
        bands = bands or [(0, len(self.host.sums))]
        passes, threads = range(0, total, SAMPLES_A_PASS), self._threads
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

    def develop_into(self, settings: ToneSettings, picture: HostPicture) -> None:
        if picture.pixels.shape != self.host.sums.shape:
            picture.pixels = np.empty(self.host.sums.shape, np.uint8)
        develop(
            self.host, settings, 8, self._threads, measured=False, out=picture.pixels,
            neighbor_weight=self._neighbor_weight,
        )  # fmt: skip


class CpuDevice(Device):
    """The CPU; `passed_over`: why other devices were not chosen, by name."""

    name = "cpu"
    max_spheres = MAX_SPHERES
    has_own_memory = False
    place = None
    pass_seconds = 0.1

    def __init__(self, threads: int = 0, passed_over: dict[str, str] | None = None) -> None:
        self.threads = choose_thread_count(threads)
        self.passed_over = passed_over or {}
        self.budget = BUDGET

    def describe(self) -> dict[str, Any]:
        """Return processor, instruction set and threads; a hint where a build would be better."""
        isa, best = core().isas()[0], core().processor_isa()
        about = {"device": find_processor_name(), "isa": core().isa(), "threads": self.threads}
        if isa != best:
            about["hint"] = (
                f"this processor has {best}, for which raytracer was not compiled: install it anew "
                "on this machine, with pip's --no-cache-dir"
            )
        return about | ({"passed_over": self.passed_over} if self.passed_over else {})

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


def find_processor_name() -> str:
    with suppress(OSError), Path("/proc/cpuinfo").open() as lines:
        for line in lines:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
