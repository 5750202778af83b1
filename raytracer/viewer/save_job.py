"""Save job: renders a picture to a file, as `raytracer render` does."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Event

from raytracer import memory
from raytracer.errors import UserError
from raytracer.files import output
from raytracer.film.film import Film
from raytracer.film.image import Image
from raytracer.settings import RenderSettings
from raytracer.viewer.messages import RenderRequest

Deliver = Callable[[Image], object]


class SaveJob:
    """Renders the same pixels as `raytracer render` with this camera, size and samples.

    path: of the file. With `deliver`, only a name: that function takes the picture, in another
        thread.
    """

    def __init__(
        self, request: RenderRequest, path: Path, view: str = "", deliver: Deliver | None = None
    ) -> None:
        self._request, self._view, self._deliver = request, view, deliver
        self.path = path if deliver else output.check_picture(path)
        self.fraction = 0.0
        width, height = request.size
        memory.require_room(str(path), memory.Need(0, width, height).extra, "to be rendered")
        self._image: Image | None = None
        self.done = Event()  # set when it is written, or never will be

    @property
    def writing(self) -> bool:
        """Whether all is rendered and the file is being written."""
        return self._image is not None

    def render(self, check: Callable[[], None]) -> None:
        """Render the picture; `check` is called periodically and may raise to cancel it."""
        request, loaded = self._request, self._request.loaded_scene
        if loaded.closed:
            raise UserError(f"{self.path}: not saved, because the scene was reloaded")
        width, height = request.size
        settings = (request.settings or loaded.job.settings).override(
            width=width, height=height, samples=request.samples
        )
        digest = replace(loaded.packed, view=request.buffers.view).digest()
        about = loaded.job.about | {
            "scene": loaded.job.about["scene"] | {"digest": digest},
            "settings": vars(settings).copy(), "view": self._view,
        }  # fmt: skip
        del about["camera"]  # of the scene, not of the saved view
        view = request.buffers.view.with_samples(0, request.samples)
        job = replace(
            loaded.job, settings=settings, view=view, about=about, timings={}, camera=None,
            kept=None,
        )  # fmt: skip

        def progress(fraction: float) -> None:
            self.fraction = fraction
            check()

        with job.device.film(Film.blank(*request.size)) as film:
            job.expose(film, request.samples, progress)
            self._image = job.image(film, request.tone, 8)

    def write(self) -> None:
        assert self._image is not None
        if self._deliver is None:
            self._image.save(self.path)
        else:
            self._deliver(self._image)


def parse_size(text: str, size: tuple[int, int], samples: int) -> tuple[tuple[int, int], int]:
    """Parse the size of a picture: "3840x2160", "3840x2160 64" or an empty text.

    Raises UserError.
    """
    number = r"(\d{1,12})"
    pattern = rf"(?:{number}[x×]{number}(?:\s+{number})?)?"
    if (match := re.fullmatch(pattern, text.lower().strip(), re.ASCII)) is None:
        raise UserError(f"{text!r} is not a size: type WIDTHxHEIGHT, and optionally samples")
    typed = zip(match.groups(), (*size, samples), strict=True)
    width, height, count = (int(number or usual) for number, usual in typed)
    RenderSettings().override(width=width, height=height, samples=count)  # refuses others
    return (width, height), count
