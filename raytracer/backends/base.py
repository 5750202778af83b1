"""What a backend offers to the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.buffers import SceneBuffers
    from raytracer.bvh import Bvh
    from raytracer.film import Film

# Called now and then with the fraction done, 0 to 1. What it raises stops the render.
ProgressCall = Callable[[float], None]


class Resident(Protocol):
    """A scene in the form and the place that its backend renders from."""

    @property
    def nbytes(self) -> int:
        """Bytes that it holds on the device (on the host, for the CPU)."""

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
        frame: NDArray[np.void],
        film: Film,
        progress: ProgressCall | None = None,
    ) -> float:
        """Add frame.sample_count samples to film.sums, for the pixels of the frame's crop.

        resident: what this backend's `upload` gave.
        frame: structured (1,), dtype Frame.
        Returns the seconds of the frame alone (on CUDA, between device events).
        """
