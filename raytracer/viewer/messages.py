"""Render requests, frames and messages, exchanged by window and render thread."""

from dataclasses import dataclass, field
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import SceneBuffers
from raytracer.film.tone_settings import ToneSettings
from raytracer.settings import RenderSettings
from raytracer.viewer.content import Content
from raytracer.viewer.loaded_scene import LoadedScene

Size = tuple[int, int]


@dataclass(frozen=True, eq=False)
class RenderRequest:
    """A picture to render; it replaces the previous request."""

    loaded_scene: LoadedScene
    # Packed with the current view and edits, at full size; the same object until one changes.
    buffers: SceneBuffers
    tone: ToneSettings  # exposure and curve
    samples: int  # per pixel of the finished picture
    stamp: float = field(default_factory=perf_counter)  # time of the user's event, `perf_counter`
    # With the look of the edits, for the metadata of a saved picture; None: the scene's.
    settings: RenderSettings | None = None

    @property
    def size(self) -> Size:
        return self.buffers.view.size


@dataclass(frozen=True, eq=False)
class Frame:
    """A rendered picture for the window."""

    request: RenderRequest  # what it was rendered for
    picture: Any  # of the backend; the window owns it until it returns the frame
    size: Size  # rendered width and height in pixels; smaller than the request's during interaction
    samples: int  # per pixel so far
    rate: float  # camera rays per second
    stops: float  # its exposure; of an automatic one, as metered from the last picture at rest
    # Whether its samples are not those of the finished picture; see `ProgressiveFilm`.
    draft: bool = False
    # Marks such as rims of selected particles, uint8 (h, w, 4), over the picture; None without any.
    marks: NDArray[np.uint8] | None = None

    @property
    def transparent(self) -> bool:
        return self.request.buffers.view.transparent

    @property
    def finished(self) -> bool:
        """Whether it has its full size and all samples."""
        whole = self.size == self.request.size and self.samples >= self.request.samples
        return whole and not self.draft


@dataclass(frozen=True)
class Pick:
    """A picked particle, or another solid of a scene."""

    number: int  # among all particles of the shown frame, and behind them other solids
    lines: list[str]  # its description
    point: tuple[float, float, float]  # that was hit, scene units


@dataclass(frozen=True)
class Picked:
    loaded_scene: LoadedScene  # the scene that was clicked
    pick: Pick | None
    go: bool = False  # whether to centre it
    add: bool = False  # whether earlier picks stay


class Saved(NamedTuple):
    path: Path


class Refused(NamedTuple):
    """A task failed because of the user's input; the preview continues."""

    sentence: str  # why
    content: Content | None = None  # what could not be shown, if that is what failed
    reloaded: bool = False  # whether it is of changed files


class Failed(NamedTuple):
    """Rendering ended: the GPU is lost, or there is a defect."""

    error: BaseException


class Loaded(NamedTuple):
    """A frame, or other particles or colours of it; with `reloaded`, from changed files."""

    loaded_scene: LoadedScene
    reloaded: bool = True


class Counted(NamedTuple):
    frames: int


Message = Picked | Saved | Refused | Failed | Loaded | Counted
