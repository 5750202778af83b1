"""Render requests, frames and messages: what window and render thread exchange."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any

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
    """A picture to render; it replaces the request before."""

    loaded_scene: LoadedScene
    # Its packed form with the current view and edits, at full size; the same object while neither
    # changes.
    buffers: SceneBuffers
    tone: ToneSettings  # exposure and curve
    samples: int  # per pixel of the finished picture
    stamp: float = field(default_factory=perf_counter)  # time of the user's event, `perf_counter`
    # With the look of the edits, for the record of a saved picture; None: those of the scene.
    settings: RenderSettings | None = None

    @property
    def size(self) -> Size:
        """Full width and height in pixels."""
        return self.buffers.view.size


@dataclass(frozen=True, eq=False)
class Frame:
    """A rendered picture for the window."""

    request: RenderRequest  # what it was rendered for
    picture: Any  # of the backend; it belongs to the window until that returns the frame
    size: Size  # rendered width and height in pixels; smaller than the request's during interaction
    samples: int  # per pixel so far
    rate: float  # camera rays per second
    seconds: float  # of rendering and tone mapping
    # Whether its samples are not those of the finished picture; see `ProgressiveFilm`.
    draft: bool = False
    # The rims of selected particles, uint8 (h, w, 4), over the picture; None without any.
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
    """The result of a click."""

    loaded_scene: LoadedScene  # the scene that was clicked
    sphere: SphereInfo | None  # the picked one; None where there is none
    go: bool = False  # whether to centre it
    # The point that was hit, scene units; None without a click.
    point: tuple[float, float, float] | None = None
    add: bool = False  # whether the picks before stay
    menu: bool = False  # whether the menu is asked for


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
    """A task failed because of the user's input; the preview continues."""

    sentence: str  # why
    content: Content | None = None  # what could not be shown, if that is what failed


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
