"""What the window asks of the render thread, and what it gets."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from raytracer.buffers import SceneBuffers
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.scene.describe import SphereInfo
    from raytracer.viewer.stage import Stage

Size = tuple[int, int]


@dataclass(frozen=True, eq=False)
class Order:
    """A picture that is wanted; a new one replaces the one before.

    look: the scene as it is seen now, at the full size; the same object while nothing moved.
    samples: a pixel, when it is finished. stamp: when the user asked for it.
    """

    stage: Stage
    look: SceneBuffers
    tone: ToneSettings
    samples: int
    stamp: float = field(default_factory=perf_counter)

    @property
    def size(self) -> Size:
        """Full width and height in pixels."""
        return self.look.view.size


@dataclass(frozen=True, eq=False)
class Frame:
    """A picture to be shown.

    picture: the backend's; belongs to the window until it gives the frame back.
    size: that was rendered; smaller than the order's while something moves.
    samples: per pixel so far. rate: camera rays per second. seconds: of rendering and tone mapping.
    draft: whether its samples are not those of the finished picture; see `GrowingFilm`.
    """

    order: Order
    picture: Any
    size: Size
    samples: int
    rate: float
    seconds: float
    draft: bool = False

    @property
    def transparent(self) -> bool:
        """Whether the background is left out."""
        return self.order.look.view.transparent

    @property
    def finished(self) -> bool:
        """Whether nothing will be added to it."""
        whole = self.size == self.order.size and self.samples >= self.order.samples
        return whole and not self.draft


@dataclass(frozen=True)
class Picked:
    """What a click met: a sphere, or None; `stage` says of which scene.

    go: go there. point: of the sphere that was hit, scene units; None where nobody clicked.
    """

    stage: Stage
    sphere: SphereInfo | None
    go: bool = False
    point: tuple[float, float, float] | None = None


@dataclass(frozen=True)
class Metered:
    """What the automatic exposure of the picture is, in stops."""

    stops: float


@dataclass(frozen=True)
class Saved:
    """A picture was written."""

    path: Path


@dataclass(frozen=True)
class Refused:
    """Something that was asked for cannot be done; the window goes on."""

    sentence: str


@dataclass(frozen=True)
class Failed:
    """Rendering is over: the GPU is lost, or there is a defect."""

    error: BaseException


@dataclass(frozen=True)
class Loaded:
    """A changed scene is ready."""

    stage: Stage


@dataclass(frozen=True)
class Broken:
    """A changed scene cannot be shown."""

    sentence: str


Message = Picked | Metered | Saved | Refused | Failed | Loaded | Broken
