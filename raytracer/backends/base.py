"""Interface of devices: a device makes scenes and films, and a film adds samples of a scene."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import Bvh, Placer, SceneBuffers
from raytracer.device_array import DeviceArray
from raytracer.film.film import Film, Pixels
from raytracer.film.tone_settings import ToneSettings
from raytracer.layout import constant
from raytracer.sphere_update import SphereUpdate
from raytracer.view import View

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

    def take_sky(self, sky: NDArray[np.void]) -> None:
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

    def moved_radii(self) -> tuple[float, float]:
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

    def first_hits(self, view: View) -> NDArray[np.void]:
        """Return the first hits of the rays through the pixels' centres, (h, w) `FirstHit`, in
        render space. The ground has a depth, but no id."""
        hits = self._first_hits(view)
        if self._ground is not None:
            hits["id"][hits["id"] == self._ground] = constant("kNoSphere")
        return hits

    def first_numbers(self, view: View) -> NDArray[np.uint32]:
        """Return the ids of the first hits alone, uint32 (h, w)."""
        return np.ascontiguousarray(self.first_hits(view)["id"])

    @abstractmethod
    def exposures(self, view: View, count: int) -> NDArray[np.void]:
        """Count the exposed points of the first spheres (kernels/integrator/exposure.h), (count,)
        `Exposure`, as many points of each as the view, of the `ao` integrator, has samples."""

    @abstractmethod
    def _first_hits(self, view: View) -> NDArray[np.void]:
        """Return the first hits; the id of the ground is the number of the spheres."""


TREE, TABLES = ("nodes", "spheres", "order"), (
    "color", "color_id", "material_id", "emitters", "opacity", "sky", "images",
)  # fmt: skip
"""Arrays that kernels read from memory, of tree and scene, by the names in RenderArgs."""


def sphere_arrays(
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

    def __init__(self, host: Film) -> None:
        self.host = host
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
        scene.take_sky(view.sky)
        size = self.host.width, self.host.height
        exposed = view.for_film(size, self.host.crop, first, samples)
        seconds = self._expose(scene, exposed, progress, bands)
        self.host.samples += samples
        self.host.backdrop, self._neighbor_weight = view.backdrop, view.neighbor_weight
        return seconds

    @abstractmethod
    def _expose(
        self, scene: DeviceScene, view: View, progress: ProgressCall | None, bands: Bands | None
    ) -> float:
        """Add the view's samples to the sums of some rows or all, and return the seconds."""

    @abstractmethod
    def to_host(self, bands: Bands | None = None) -> Film:
        """Copy the sums to `host`, if they are newer, and return it; bands: at least these rows."""

    def take(self, other: DeviceFilm, bands: Bands) -> None:
        """Replace some rows by those of a film of the same size on another device."""
        sums, others = self.to_host().sums, other.to_host(bands).sums
        for begin, end in bands:
            sums[begin:end] = others[begin:end]
        self.restore(sums)

    @abstractmethod
    def develop(self, settings: ToneSettings, bits: int) -> tuple[Pixels, NDArray[np.void]]:
        """Return the picture of the film, uint8 or uint16 (h, w, 4), sRGB with straight alpha, and
        the histogram of the film with the counts of the picture, (1,) `FilmHistogram`."""

    @abstractmethod
    def pixels(self, settings: ToneSettings) -> NDArray[np.uint8]:
        """Return the picture of `develop` with 8 bits; the histogram would take as long again."""

    @abstractmethod
    def develop_into(self, settings: ToneSettings, picture: Any) -> None:
        """Develop the film with 8 bits into a `Picture` of the device; returns after that."""

    def sums_array(self, reader: int) -> DeviceArray:
        """Return a copy of the sums in the memory of a device with memory of its own, for the
        stream `reader`. The next copy, in the same memory, waits for what is queued there until
        then."""
        raise NotImplementedError

    @abstractmethod
    def clear(self) -> None:
        """Remove all samples."""

    @abstractmethod
    def restore(self, sums: NDArray[np.float32]) -> None:
        """Replace the sums by a copy, float32 (h, w, 4), taken before an interrupted `add`."""


class Device(Placer, Protocol):
    """A processor that renders."""

    name: str
    number: int
    """Of the device among those of that name."""
    max_spheres: int
    can_interrupt: bool
    """Whether a pass can be interrupted within `budget` at a small cost."""
    shares_display: bool
    """Whether the device may also draw the window; pictures are then developed in its memory, and
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
