"""A scene made ready on a device, and the pictures taken of it."""

from __future__ import annotations

import time
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

from raytracer._version import __version__
from raytracer.errors import UserError, naming
from raytracer.film.image import Image
from raytracer.film.tone import check_bits
from raytracer.film.tone_settings import ToneSettings
from raytracer.layout import constant, dtype
from raytracer.memory import HITS

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray

    from raytracer.backends.base import Device, DeviceFilm, DeviceScene, ProgressCall
    from raytracer.buffers import SceneBuffers
    from raytracer.film.film import Film
    from raytracer.scene.scene import Scene
    from raytracer.settings import RenderSettings
    from raytracer.view import View

MOST_SAMPLES = 2**31 - 1  # Frame.sample_begin + Frame.sample_count is an int32
NO_SPHERE = constant("kNoSphere")  # FirstHit.id


@dataclass
class Job:
    """A scene made ready on one device; `expose` can be called again and again.

    scene: the scene there.
    view: of the whole picture.
    timings: seconds of the stages so far.
    frames: seconds of each frame that `render` rendered.
    memory: bytes of the buffers, the BVH and the device's copy.
    about: what made the picture, for the metadata.
    space: centre (3,) and scale of render space, in scene units.
    kept: the scene and its buffers, if `prepare` was asked to keep them.
    inputs: the scene file and its data files, which no output may overwrite.
    warnings: of loading and packing, where the caller of `prepare` collected them.
    """

    settings: RenderSettings
    device: Device
    scene: DeviceScene
    view: View
    threads: int
    timings: dict[str, float]
    memory: dict[str, float]
    about: dict[str, Any]
    space: tuple[NDArray[np.float64], float]
    kept: tuple[Scene, SceneBuffers] | None = None
    inputs: tuple[Path, ...] = ()
    warnings: list[str] = field(default_factory=list)
    frames: list[float] = field(default_factory=list)

    def film(self, host: Film) -> DeviceFilm:
        """A film on the job's device: a blank one, or one with samples of the same picture."""
        return self.device.film(host)

    def render(
        self,
        on_device: DeviceFilm,
        *,
        repeat: int = 1,
        first: int | None = None,
        aovs: Sequence[str] = (),
        tone: ToneSettings | None = None,
        bits: int | None = None,
        keep_film: bool = True,
        progress: ProgressCall | None = None,
    ) -> Image:
        """Add the samples of the settings to a film, and return its picture.

        Args:
            on_device: a film of `film`.
            repeat: how often to render the frame; each time but the first clears the film before.
            first: number of the first sample; by default it follows those on the film.
            aovs: output variables to put on the film.
            tone: exposure and curve of the picture.
            bits: 8 or 16 to develop the picture now, on the device; None develops it when it is
                first used, on the host.
            keep_film: False leaves the sums on the device, without output variables, if the
                picture is developed there and all pixels are finite.
            progress: called with the fraction of all frames; what it raises stops the render.

        Raises:
            UserError: the film is of another picture, or samples cannot be numbered.
        """
        for frame in range(repeat):
            if frame:
                on_device.clear()
            told = None if progress is None else partial(_tell_part, progress, frame, repeat)
            seconds = self.expose(on_device, self.settings.samples, told, first=first)
            self.frames.append(seconds)
        self.timings["frame"] = quartiles(self.frames)["median"]
        image = self.image(on_device, tone, bits)
        if bits is None or keep_film or image.statistics.non_finite:
            self.find_aovs(on_device.to_host(), aovs)
        return image

    def expose(
        self,
        on_device: DeviceFilm,
        count: int,
        progress: ProgressCall | None = None,
        *,
        first: int | None = None,
    ) -> float:
        """Add samples to a film and note what made it; returns the seconds of the frame.

        first: number of the first sample; by default it follows those on the film.
        Raises UserError for the film of another picture, or for samples that cannot be numbered.
        """
        film = on_device.host
        with naming(film.source):
            self.check_film(film)
        check_samples(film.samples if first is None else first, count)
        seconds = on_device.add(self.scene, self.view, count, progress, first=first)
        if "samples" in film.aovs:
            self.find_aovs(film, ("samples",))
        film.metadata = self.about | {"digest": self.digest, "transparent": self.transparent}
        film.inputs = self.inputs
        return seconds

    @property
    def transparent(self) -> bool:
        """Whether the background is left out."""
        return self.view.transparent

    @property
    def digest(self) -> str:
        """Of scene, camera and settings, the number of samples left out."""
        return str(self.about["scene"]["digest"])

    def check_film(self, film: Film) -> None:
        """Refuse a film whose samples are of something else."""
        if film.samples == 0 or film.metadata.get("digest", self.digest) == self.digest:
            return
        now, then = self.about["settings"], film.metadata.get("settings", {})
        differs = [
            f"{name} is {then[name]} there and {now[name]} here"
            for name in now
            if name != "samples" and name in then and then[name] != now[name]
        ]
        why = differs[0] if differs else "the scene or the camera has changed"
        if film.is_of_old_format:
            why = "an earlier version made it, which shaded otherwise"
        raise UserError(
            f"the film is of another picture ({why}): render with what made it, or start a new film"
        )

    def image(
        self, on_device: DeviceFilm, settings: ToneSettings | None = None, bits: int | None = None
    ) -> Image:
        """The picture on a film, with the metadata of this job.

        bits: develop it now, where the film is, and leave the sums there until `to_host`; None
            brings them, and develops when the picture is asked for.
        """
        film = on_device.host if bits else on_device.to_host()
        about = self.about | {"samples": film.samples, "crop": list(film.crop)}
        settings = settings or ToneSettings()
        image = Image(film, self.transparent, self.timings, about, self.threads, settings)
        if bits is not None:
            check_bits(bits, settings)
            start = time.perf_counter()
            made = on_device.develop(settings, bits)
            self.timings["tone"] = time.perf_counter() - start
            image.keep(bits, *made)
        return image

    def find_aovs(self, film: Film, names: Sequence[str]) -> None:
        """Put arbitrary output variables on the film; see `Film.aovs`."""
        import numpy as np

        wanted = [name for name in names if name != "samples"]
        if wanted:
            film.aovs |= self._variables(film, wanted)
        if "samples" in names:
            film.aovs["samples"] = np.full(film.sums.shape[:2], film.samples, np.uint32)

    def _variables(self, film: Film, wanted: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Output variables of first hits, in strips: hits take four times their memory."""
        import numpy as np

        left, top, right, bottom = film.crop
        width = right - left
        rows = max(HITS // (dtype("FirstHit").itemsize * width), 1)
        made: dict[str, NDArray[Any]] = {}
        for y in range(top, bottom, rows):
            strip_of = self.view.with_crop((left, y, right, min(y + rows, bottom)))
            hits = self.scene.first_hits(strip_of)
            for name in wanted:
                strip = aov(name, hits, *self.space)
                if name not in made:
                    shape = (bottom - top, width, *strip.shape[2:])
                    made[name] = np.empty(shape, strip.dtype)
                made[name][y - top : y - top + rows] = strip
        return made

    def __enter__(self) -> Job:
        return self

    def __exit__(self, *_: object) -> None:
        """Give back the device's memory."""
        self.scene.close()


def aov(
    name: str, hits: NDArray[np.void], center: NDArray[np.float64], scale: float
) -> NDArray[Any]:
    """One output variable of first hits, in scene space; without a hit 0, of depth infinity."""
    import numpy as np

    found: NDArray[Any] = np.ascontiguousarray(hits[name])
    nothing = hits["id"] == NO_SPHERE
    if name == "depth":
        found[nothing] = 0.0
        found = (found.astype(np.float64) * scale).astype(np.float32)
        found[nothing] = np.inf
    elif name == "position":
        found = (found.astype(np.float64) * scale + center).astype(np.float32)
        found[nothing] = 0.0
    return found


def check_samples(first: int, count: int) -> None:
    """Refuse samples that an int32 does not number. Raises UserError."""
    if first < 0 or count < 0 or first + count > MOST_SAMPLES:
        raise UserError(
            f"samples {first:,} to {first + count - 1:,}: they are numbered from 0 to "
            f"{MOST_SAMPLES - 1:,}; begin with a lower one, or take fewer"
        )


def quartiles(values: Sequence[float]) -> dict[str, float]:
    """Return "median", "min", "q1" and "q3" of some values, interpolated linearly."""
    ordered = sorted(values)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return {"median": at(0.5), "min": ordered[0], "q1": at(0.25), "q3": at(0.75)}


def _tell_part(progress: ProgressCall, frame: int, frames: int, fraction: float) -> None:
    """Report the progress of one of several frames."""
    progress((frame + fraction) / frames)


def about(
    path: Path | None, digest: str, spheres: int, settings: RenderSettings, device: dict[str, Any]
) -> dict[str, Any]:
    """What makes a picture, as JSON types.

    path, digest: of the scene; a scene built in Python has no path. Of an absolute path the name
        alone is kept: a picture is shown to people who need not know how the disk is arranged.
    device: its name and description.
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
