"""What a backend offers to the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.buffers import SceneBuffers
    from raytracer.bvh import Bvh
    from raytracer.film import Film
    from raytracer.tone import Pixels
    from raytracer.tone_settings import ToneSettings
    from raytracer.view import View

# Called now and then with the fraction done, 0 to 1. What it raises stops the render.
ProgressCall = Callable[[float], None]


class Resident(Protocol):
    """A scene in the form and the place that its backend renders from."""

    @property
    def nbytes(self) -> int:
        """Bytes that it holds on the device (on the host, for the CPU)."""

    def close(self) -> None:
        """Give the memory back."""


class Picture(Protocol):
    """An 8-bit picture in the place where its backend makes it, used again and again."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height in pixels of what was painted last."""

    def close(self) -> None:
        """Give the memory back."""


class Backend(Protocol):
    """Renders packed scenes into films."""

    @property
    def name(self) -> str:
        """The name that selects it: "cpu" or "cuda"."""

    @property
    def max_spheres(self) -> int:
        """The most spheres that its kernels can count."""

    def describe(self) -> dict[str, Any]:
        """What it runs on, for people and records.

        `device` is always there: its name. A device with memory of its own adds `memory_free`,
        in bytes.
        """

    def upload(self, buffers: SceneBuffers, bvh: Bvh) -> Any:
        """Bring a scene to where it is rendered from; gives a Resident."""

    def render(
        self,
        resident: Any,
        view: View,
        film: Film,
        progress: ProgressCall | None = None,
        fetch: bool = True,
    ) -> float:
        """Add the view's samples to film.sums, for the pixels of its crop.

        resident: what this backend's `upload` gave.
        view: of the same spheres and as many materials.
        fetch: False may leave the sums with the resident; until `fetch` brings them, only
            `render` and `develop` of the same film and resident know them.
        Returns the seconds of the frame alone (on CUDA, between device events).
        """

    def fetch(self, resident: Any, film: Film) -> None:
        """Bring film.sums up to date."""

    def develop(
        self, resident: Any, film: Film, settings: ToneSettings, bits: int
    ) -> tuple[Pixels, NDArray[np.void]]:
        """The film's picture, uint8 or uint16 (h, w, 4), and its tally, structured (1,)."""

    def turn(self) -> AbstractContextManager[Any]:
        """Held by a window while it draws: nothing is rendered meanwhile where both use one GPU."""

    def clear(self, resident: Any, film: Film) -> None:
        """Begin a film anew, without samples, in the place where `render` adds them.

        Sums that only the resident has, of this or another film, are lost.
        """

    def picture(self) -> Any:
        """An empty Picture for `paint`."""

    def paint(self, resident: Any, film: Film, settings: ToneSettings, picture: Any) -> None:
        """Develop the film with 8 bits into a Picture; returns when it is done."""

    def first_hits(self, resident: Any, view: View) -> NDArray[np.void]:
        """What the rays through the pixels' centres meet first, structured (h, w), FirstHit."""
