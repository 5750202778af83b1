"""A scene made ready on a backend, and the pictures taken of it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from raytracer._version import __version__
from raytracer.image import Image

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from raytracer.backends.base import Backend, ProgressCall
    from raytracer.film import Film
    from raytracer.settings import RenderSettings

TRANSPARENT = 1  # Frame.background_kind


@dataclass
class Job:
    """A scene made ready on one backend; `expose` can be called again and again.

    resident: the scene in the backend's form.
    frame: structured (1,), dtype Frame, for the whole picture.
    timings: seconds of the stages so far.
    memory: bytes of the buffers, the BVH and the backend's copy.
    about: what made the picture, for the metadata.
    """

    settings: RenderSettings
    backend: Backend
    resident: Any
    frame: NDArray[np.void]
    threads: int
    timings: dict[str, float]
    memory: dict[str, float]
    about: dict[str, Any]

    def expose(
        self, film: Film, first: int, count: int, progress: ProgressCall | None = None
    ) -> float:
        """Add samples first .. first + count - 1 to a film; returns the seconds of the frame."""
        frame = self.frame.copy()
        for name, value in zip(("x0", "y0", "x1", "y1"), film.crop, strict=True):
            frame[name] = value
        frame["sample_begin"] = first
        frame["sample_count"] = count
        seconds = self.backend.render(self.resident, frame, film, progress)
        film.samples += count
        return seconds

    def image(self, film: Film) -> Image:
        """The picture on a film, with the metadata of this job."""
        about = self.about | {"samples": film.samples, "crop": list(film.crop)}
        transparent = int(self.frame["background_kind"][0]) == TRANSPARENT
        return Image(film, transparent, self.timings, about, self.threads)

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        """Give back the backend's memory."""
        self.resident.close()


def about(
    path: Path | None, digest: str, spheres: int, settings: RenderSettings, device: dict[str, Any]
) -> dict[str, Any]:
    """What makes a picture, as JSON types.

    path, digest: of the scene; a scene built in Python has no path. Of an absolute path the name
        alone is kept: a picture is shown to people who need not know how the disk is arranged.
    device: name and description of the backend.
    """
    from datetime import UTC, datetime

    shown = path and (path.name if path.is_absolute() else path.as_posix())
    return {
        "version": __version__,
        "scene": {"path": shown, "digest": digest},
        "spheres": spheres,
        "settings": asdict(settings),
        "backend": device,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
    }
