"""Save job: renders a picture to a file, as `raytracer render` does."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from threading import Event

from raytracer import memory
from raytracer.errors import UserError
from raytracer.files import output
from raytracer.film.film import Film
from raytracer.film.image import Image
from raytracer.settings import MAX_SAMPLES, MAX_SIDE
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
        job = loaded.job_for(request.buffers, request.samples, request.settings)
        job.about["view"] = self._view

        def progress(fraction: float) -> None:
            self.fraction = fraction
            check()

        with job.film(Film.blank(*request.size)) as film:
            job.scene.take_sky(request.buffers.sky)
            job.expose(film, request.samples, progress)
            self._image = job.image(film, request.tone, 8)

    def write(self) -> None:
        assert self._image is not None
        if self._deliver is None:
            self._image.save(self.path)
        else:
            self._deliver(self._image)


def parse_size(text: str, size: tuple[int, int], samples: int) -> tuple[tuple[int, int], int]:
    """Parse the size of a picture: "3840x2160", "3840x2160 64" or an empty text."""
    number = r"(\d{1,12})"
    pattern = rf"(?:{number}[x×]{number}(?:\s+{number})?)?"
    if (match := re.fullmatch(pattern, text.lower().strip(), re.ASCII)) is None:
        raise UserError(f"{text!r} is not a size: type WIDTHxHEIGHT, and optionally samples")
    typed = zip(match.groups(), (*size, samples), strict=True)
    width, height, count = (int(number or usual) for number, usual in typed)
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE and 1 <= count <= MAX_SAMPLES):
        raise UserError(
            f"{text!r}: give sides of 1 to {MAX_SIDE:,} pixels, and 1 to {MAX_SAMPLES:,} samples"
        )
    if width * height > 2**32:
        raise UserError(f"{text!r}: give at most {2**32:,} pixels")
    return (width, height), count
