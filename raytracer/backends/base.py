"""What a device offers: it makes scenes and films, and a film adds samples of a scene to itself."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol, Self

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.buffers import SceneBuffers
    from raytracer.bvh import Bvh
    from raytracer.film.film import Film
    from raytracer.film.tone import Pixels
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.view import View

# Called now and then with the fraction done, 0 to 1. What it raises stops the render.
ProgressCall = Callable[[float], None]


class Closeable:
    """Something that holds memory of a device; also a context manager."""

    def close(self) -> None:
        """Give the memory back; may be called twice."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class DeviceScene(Closeable, ABC):
    """The spheres of a scene and their tree, where a device renders them; nothing of a view."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes that it holds on the device (on the host, for the CPU)."""

    def describe(self, view: View) -> dict[str, Any]:
        """The kernel that renders a view and what it takes, for records; empty on the CPU."""
        return {}

    @abstractmethod
    def first_hits(self, view: View) -> NDArray[np.void]:
        """What the rays through the pixels' centres meet first, structured (h, w), FirstHit."""


class Picture(Protocol):
    """An 8-bit picture in the place where its device makes it, used again and again."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels of what was painted last."""

    def close(self) -> None:
        """Give the memory back."""


class DeviceFilm(Closeable, ABC):
    """A film whose sums are kept where its device adds to them.

    host: what is known of it on the host. Size, crop, samples and backdrop are up to date; the sums
        are after `to_host`, and until more samples are added.
    """

    def __init__(self, host: Film) -> None:
        """Take a film over; its sums are where the adding begins."""
        self.host = host

    @property
    def samples(self) -> int:
        """Samples per pixel so far."""
        return self.host.samples

    def add(
        self,
        scene: DeviceScene,
        view: View,
        samples: int,
        progress: ProgressCall | None = None,
        *,
        first: int | None = None,
    ) -> float:
        """Add samples of a scene: the one way in which pictures are rendered.

        The sums do not depend on how samples are divided among calls.

        Args:
            scene: of the same device.
            view: at any size, whole or in part: size and crop are the film's.
            samples: how many per pixel to add.
            progress: called with the fraction done; what it raises leaves the call.
            first: number of the first sample; by default it follows those on the film.

        Returns:
            Seconds of the rendering alone (on CUDA, between device events).

        Raises:
            TypeError: the scene is of another device.
            ValueError: the view's tables do not fit its frame or the scene.
            BackendError, UserError: the device cannot render it.
        """
        first = self.host.samples if first is None else first
        whole = view.with_size(self.host.width, self.host.height)
        seen = whole.with_crop(self.host.crop).with_samples(first, samples)
        seconds = self._expose(scene, seen, progress)
        self.host.samples += samples
        self.host.backdrop = view.backdrop
        return seconds

    @abstractmethod
    def _expose(self, scene: DeviceScene, view: View, progress: ProgressCall | None) -> float:
        """Add the view's samples to the sums; returns seconds."""

    @abstractmethod
    def to_host(self) -> Film:
        """Bring the sums of `host` up to date and return it."""

    @abstractmethod
    def develop(self, settings: ToneSettings, bits: int) -> tuple[Pixels, NDArray[np.void]]:
        """The picture, uint8 or uint16 (h, w, 4), and its tally, structured (1,)."""

    @abstractmethod
    def paint(self, settings: ToneSettings, picture: Any) -> None:
        """Develop with 8 bits into a Picture of the device; returns when it is done."""

    @abstractmethod
    def clear(self) -> None:
        """Begin anew, without samples."""

    @abstractmethod
    def restore(self, sums: NDArray[np.float32]) -> None:
        """Put back sums, float32 (h, w, 4), that were copied before a call of `add` was left."""


class Device(Protocol):
    """Something that renders.

    name: "cpu" or "cuda". number: of the device among those of that name.
    max_spheres: the most that its kernels can count.
    can_interrupt: whether a pass can be left within `budget`, at a small cost.
    shares_display: whether it may be drawing the window too; then pictures are made in its memory,
        and OpenGL has to be done before the next pass.
    pass_seconds: what a pass of several samples should take while a user may want another picture.
    budget: seconds after which a pass lets Python run, as far as the device can do that.
    """

    name: str
    number: int
    max_spheres: int
    can_interrupt: bool
    shares_display: bool
    pass_seconds: float
    budget: float

    def describe(self) -> dict[str, Any]:
        """What it runs on, for people and records.

        `device` is always there: its name. A device with memory of its own adds `memory_free`,
        in bytes.
        """

    def build(self, buffers: SceneBuffers) -> Bvh:
        """The tree over the spheres of a scene."""

    def scene(self, buffers: SceneBuffers, tree: Bvh | None = None) -> DeviceScene:
        """Bring a scene to where it is rendered from.

        tree: what `build` gave; None builds it now.
        """

    def film(self, host: Film) -> DeviceFilm:
        """Take a film over, blank or with samples."""

    def picture(self) -> Picture:
        """An empty picture for `DeviceFilm.paint`."""

    def turn(self) -> AbstractContextManager[Any]:
        """Held by a window while it draws: nothing is rendered meanwhile where both use one GPU."""
