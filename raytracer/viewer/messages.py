"""Render requests, frames and messages: what window and render thread exchange."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.buffers import SceneBuffers
    from raytracer.film.tone_settings import ToneSettings
    from raytracer.scene.describe import SphereInfo
    from raytracer.settings import RenderSettings
    from raytracer.viewer.content import Content
    from raytracer.viewer.loaded_scene import LoadedScene

Size = tuple[int, int]


@dataclass(frozen=True, eq=False)
class RenderRequest:
    """A picture to render; it replaces the request before.

    Args:
        loaded_scene: the scene.
        buffers: its packed form with the current view and edits, at full size; the same object
            while neither changes.
        tone: exposure and curve.
        samples: per pixel of the finished picture.
        stamp: time of the user's event, `perf_counter`.
        settings: with the look of the edits, for the record of a saved picture; None: those of the
            scene.
    """

    loaded_scene: LoadedScene
    buffers: SceneBuffers
    tone: ToneSettings
    samples: int
    stamp: float = field(default_factory=perf_counter)
    settings: RenderSettings | None = None

    @property
    def size(self) -> Size:
        """Full width and height in pixels."""
        return self.buffers.view.size


@dataclass(frozen=True, eq=False)
class Frame:
    """A rendered picture for the window.

    Args:
        request: what it was rendered for.
        picture: of the backend; it belongs to the window until that returns the frame.
        size: rendered width and height in pixels; smaller than the request's during interaction.
        samples: per pixel so far.
        rate: camera rays per second.
        seconds: of rendering and tone mapping.
        draft: whether its samples are not those of the finished picture; see `ProgressiveFilm`.
        marks: the rims of selected particles, uint8 (h, w, 4), over the picture; None without any.
    """

    request: RenderRequest
    picture: Any
    size: Size
    samples: int
    rate: float
    seconds: float
    draft: bool = False
    marks: NDArray[np.uint8] | None = None

    @property
    def transparent(self) -> bool:
        """Whether the background is left out."""
        return self.request.buffers.view.transparent

    @property
    def finished(self) -> bool:
        """Whether it has its full size and all samples."""
        whole = self.size == self.request.size and self.samples >= self.request.samples
        return whole and not self.draft


@dataclass(frozen=True)
class Picked:
    """The result of a click.

    Args:
        loaded_scene: the scene that was clicked.
        sphere: the picked one; None where there is none.
        go: whether to centre it.
        point: the point that was hit, scene units; None without a click.
        add: whether the picks before stay.
        menu: whether the menu is asked for.
    """

    loaded_scene: LoadedScene
    sphere: SphereInfo | None
    go: bool = False
    point: tuple[float, float, float] | None = None
    add: bool = False
    menu: bool = False


@dataclass(frozen=True)
class Metered:
    """The automatic exposure of the current picture, in stops."""

    stops: float


@dataclass(frozen=True)
class Saved:
    """A picture was written."""

    path: Path


@dataclass(frozen=True)
class Refused:
    """A task failed because of the user's input; the preview continues.

    Args:
        sentence: why.
        content: what could not be shown, if that is what failed.
    """

    sentence: str
    content: Content | None = None


@dataclass(frozen=True)
class Failed:
    """Rendering ended: the GPU is lost, or there is a defect."""

    error: BaseException


@dataclass(frozen=True)
class Loaded:
    """A changed scene is ready to be shown."""

    loaded_scene: LoadedScene


@dataclass(frozen=True)
class Shown:
    """A frame with a content is ready to be shown."""

    loaded_scene: LoadedScene
    content: Content


@dataclass(frozen=True)
class Opened:
    """Another file is ready to be shown."""

    loaded_scene: LoadedScene
    path: Path


@dataclass(frozen=True)
class Staged:
    """A stage of loading another file begins; text: what is said of it."""

    text: str


@dataclass(frozen=True)
class Counted:
    """The number of frames."""

    count: int


@dataclass(frozen=True)
class Broken:
    """A changed scene cannot be loaded."""

    sentence: str


Message = (
    Picked
    | Metered
    | Saved
    | Refused
    | Failed
    | Loaded
    | Shown
    | Opened
    | Staged
    | Counted
    | Broken
)
