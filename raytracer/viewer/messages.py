"""Render requests, frames and messages, exchanged by window and render thread."""

from dataclasses import dataclass, field, replace
from pathlib import Path
from time import perf_counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.describe import describe
from raytracer.config.errors import RaytracerError, truncate
from raytracer.config.tone_settings import ToneSettings
from raytracer.model.scene import Scene
from raytracer.rendering.pipeline import PreparedScene
from raytracer.viewer.content import Content, find_ids
from raytracer.viewer.loaded_scene import Hit, LoadedScene

Size = tuple[int, int]


def format_error(error: BaseException, what: str) -> str:
    """Return the message of an error; for one of a library or a defect, that `what` failed."""
    if isinstance(error, RaytracerError):
        return str(error)
    text = " ".join([type(error).__name__, *str(error).split()])
    return truncate(f"{what} ({'not enough memory' if isinstance(error, MemoryError) else text})")


@dataclass(frozen=True, eq=False)
class RenderRequest:
    """A picture to render; it replaces the previous request."""

    loaded_scene: LoadedScene
    # Its job with size, samples and look of this picture. Its view, packed with the current camera
    # and edits, is the same object until one of them changes.
    job: PreparedScene
    tone: ToneSettings  # exposure and curve
    stamp: float = field(default_factory=perf_counter)  # time of the user's event, `perf_counter`

    @property
    def size(self) -> Size:
        return self.job.view.size

    @property
    def samples(self) -> int:
        """Samples per pixel of the finished picture."""
        return self.job.settings.samples

    @property
    def frame(self) -> int | None:
        """Number of the frame of a trajectory, or of the state of a simulation."""
        return self.loaded_scene.content.frame


@dataclass(frozen=True, eq=False)
class Frame:
    """A rendered picture for the window."""

    request: RenderRequest  # what it was rendered for
    picture: Any  # of the backend; the window owns it until it returns the frame
    size: Size  # rendered width and height in pixels; smaller than the request's during interaction
    samples: int  # per pixel so far
    stops: float  # its exposure; of an automatic one, as metered from the last picture at rest
    # Whether its samples are not those of the finished picture; see `ProgressiveFilm`.
    draft: bool = False
    finished: bool = False  # whether it has its full size and all samples
    # Marks such as rims of selected particles, uint8 (h, w, 4), over the picture; None without any.
    marks: NDArray[np.uint8] | None = None

    @property
    def transparent(self) -> bool:
        return self.request.job.view.transparent


@dataclass(frozen=True)
class Pick:
    """A picked particle, or another solid of a scene."""

    number: int  # among all particles of the shown frame, and behind them other solids
    lines: list[str]  # its description
    point: tuple[float, float, float]  # that was hit, scene units

    def carry_to(self, old: Scene, new: Scene) -> "Pick | None":
        """Return the same pick in another frame, by ids; None if it is gone or no particle."""
        number = self.number
        if new is not old:
            ids, others = find_ids(old), find_ids(new)
            if ids is not None and others is not None and number < len(ids):
                number = next(iter(np.flatnonzero(others == ids[number]).tolist()), new.count)
        return replace(self, number=number) if number < new.count else None


@dataclass(frozen=True)
class PickReport:
    loaded_scene: LoadedScene  # the scene that was clicked
    pick: Pick | None
    go: bool = False  # whether to centre it
    add: bool = False  # whether earlier picks stay

    @classmethod
    def of(cls, loaded_scene: LoadedScene, hit: Hit | None, go: bool, add: bool) -> "PickReport":
        """Look up a sphere; reading to its row of a large file may take long."""
        if hit is None:
            return cls(loaded_scene, None, go, add)
        number = loaded_scene.find_number(hit.id)
        lines = replace(describe(loaded_scene.scene, hit.id), id=number).lines()
        return cls(loaded_scene, Pick(number, lines, hit.point), go, add)


class SaveReport(NamedTuple):
    path: Path


class RefusalReport(NamedTuple):
    """A task failed because of the user's input; the preview continues."""

    sentence: str  # why
    content: Content | None = None  # what could not be shown, if that is what failed
    reloaded: bool = False  # whether it is of changed files


class FailureReport(NamedTuple):
    """Rendering ended: the GPU is lost, or there is a defect."""

    error: BaseException


class LoadReport(NamedTuple):
    """A frame, or other particles or colours of it; with `reloaded`, from changed files."""

    loaded_scene: LoadedScene
    reloaded: bool = True


class CountReport(NamedTuple):
    frames: int


Message = PickReport | SaveReport | RefusalReport | FailureReport | LoadReport | CountReport
