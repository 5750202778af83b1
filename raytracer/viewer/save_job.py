"""Save job: renders a picture to a file in small parts, between frames of the window."""

from __future__ import annotations

import re
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

from raytracer import memory
from raytracer.errors import UserError
from raytracer.files import output
from raytracer.film.film import Film
from raytracer.settings import MAX_SAMPLES, MAX_SIDE
from raytracer.viewer.messages import Message, RenderRequest, Saved

PART_SECONDS = 0.05
"""Target duration of a part. Interaction waits no longer, except for the final tone mapping of the
whole picture."""

ROWS = 16  # bands have a multiple of these rows, like the tiles of the kernels


class SaveJob:
    """Renders the same pixels as `raytracer render` with this camera, size and samples."""

    def __init__(self, request: RenderRequest, path: Path, view: str = "") -> None:
        self._view = view
        self.path = output.check_picture(path)
        self.loaded_scene = request.loaded_scene
        self.fraction = 0.0
        self._request = request
        width, height = request.size
        memory.require_room(str(path), memory.Need(0, width, height).extra, "to be rendered")
        self._film = Film.blank(*request.size)
        self._parts = self._render()
        self._per_pixel = 0.0
        self._file: Future[Path] | None = None

    @property
    def writing(self) -> bool:
        """Whether all is rendered and the file is being written."""
        return self._file is not None

    def wait(self) -> None:
        if self._file is not None:
            self._file.result()

    def step(self, per_pixel: float) -> Message | None:
        """Render a part, or wait for the file; return a message once it is written."""
        self._per_pixel = per_pixel or self._per_pixel
        if self._file is None:
            self.fraction = next(self._parts, 1.0)
            return None
        wait([self._file], PART_SECONDS)
        if not self._file.done():
            return None
        self._file.result()
        return Saved(self.path)

    def _render(self) -> Iterator[float]:
        request = self._request
        width, height = request.size
        job = request.loaded_scene.job_for(request.buffers, request.samples, request.settings)
        job.about["view"] = self._view
        top = 0
        while top < height:
            rows = int(PART_SECONDS / max(self._per_pixel * width, 1e-12)) // ROWS * ROWS
            rows = min(max(rows, ROWS), height - top)
            with job.film(Film.blank(width, height, (0, top, width, top + rows))) as band:
                while band.samples < request.samples:
                    per_sample = max(self._per_pixel * rows * width, 1e-12)
                    count = min(
                        max(int(PART_SECONDS / per_sample), 1), request.samples - band.samples
                    )
                    job.scene.take_sky(request.buffers.sky)  # frames are rendered between parts
                    job.expose(band, count)
                    yield (top + rows * band.samples / request.samples) / height
                host = band.to_host()
            self._film.sums[top : top + rows] = host.sums
            self._film.backdrop = host.backdrop
            top += rows
        self._film.samples = request.samples
        with job.film(self._film) as film:
            image = job.image(film, request.tone, 8)
        # Compressing a large picture takes seconds, and needs no backend.
        background = ThreadPoolExecutor(1, "save")
        self._file = background.submit(image.save, self.path)
        background.shutdown(wait=False)


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
