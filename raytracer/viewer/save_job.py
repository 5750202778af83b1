"""A picture to be kept, rendered in small parts between the frames of the window."""

from __future__ import annotations

import os
import re
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from raytracer import memory
from raytracer.errors import UserError
from raytracer.files import output
from raytracer.film.film import Film
from raytracer.settings import MAX_SAMPLES, MAX_SIDE
from raytracer.viewer.messages import Message, RenderRequest, Saved

if TYPE_CHECKING:
    from collections.abc import Iterator

PART = 0.05
"""Seconds that a part aims at: a moving picture waits no longer than this, but for the tone curve
of the whole picture at the end."""

ROWS = 16
"""Rows are cut in multiples of these, in which the kernels' tiles fit."""


class SaveJob:
    """The same pixels as `raytracer render` gives for this camera, size and number of samples."""

    def __init__(self, request: RenderRequest, path: Path, view: str = "") -> None:
        """Refuse a file that cannot be written before anything is rendered.

        order: at the size and with the samples of the picture. view: what is seen, as TOML, kept in
        the file beside the rest of what made it.
        """
        self._view = view
        files = output.OutputSet()
        files.reads(*request.loaded_scene.job.inputs)
        self.path = output.check_picture(files.writes(path, "the picture"))
        self.loaded_scene = request.loaded_scene
        self.fraction = 0.0
        self._request = request
        width, height = request.size
        memory.require_room(str(path), memory.Need(0, width, height).extra, "to be rendered")
        self._film = Film.blank(*request.size)
        self._parts = self._render()
        self._per_pixel = 0.0
        self._written: Future[Path] | None = None

    @property
    def writing(self) -> bool:
        """Whether all is rendered, so that the file will be there whatever comes."""
        return self._written is not None

    def wait(self) -> None:
        """Wait for the file that is being written; raises UserError if that failed."""
        if self._written is not None:
            self._written.result()

    def step(self, per_pixel: float) -> Message | None:
        """Render a part; when all are there, write the file and say so.

        per_pixel: seconds that a sample of a pixel is expected to take.
        """
        self._per_pixel = per_pixel or self._per_pixel
        if self._written is None:
            self.fraction = next(self._parts, 1.0)
            return None
        wait([self._written], PART)
        if not self._written.done():
            return None
        self._written.result()
        return Saved(self.path)

    def _render(self) -> Iterator[float]:
        """Band after band; yields the fraction done."""
        width, height = self._request.size
        job = self._request.loaded_scene.job_for(self._request.buffers, self._request.samples)
        job.about["view"] = self._view
        top = 0
        while top < height:
            fitting = int(PART / max(self._per_pixel * width, 1e-12)) // ROWS * ROWS
            rows = min(max(fitting, ROWS), height - top)
            with job.film(Film.blank(width, height, (0, top, width, top + rows))) as band:
                while band.samples < self._request.samples:
                    per_sample = max(self._per_pixel * rows * width, 1e-12)
                    count = min(
                        max(int(PART / per_sample), 1), self._request.samples - band.samples
                    )
                    job.expose(band, count)
                    yield (top + rows * band.samples / self._request.samples) / height
                done = band.to_host()
            self._film.sums[top : top + rows] = done.sums
            self._film.backdrop = done.backdrop
            top += rows
        self._film.samples = self._request.samples
        # Compressing a large picture takes seconds, and needs no backend.
        with job.film(self._film) as whole:
            image = job.image(whole, self._request.tone, 8)
        aside = ThreadPoolExecutor(1, "saving")
        self._written = aside.submit(image.save, self.path)
        aside.shutdown(wait=False)


def free_name(stem: str) -> Path:
    """A name for a picture that no file in the current folder has yet: STEM-view-1.png etc."""
    number = 1
    while os.path.lexists(name := f"{stem}-view-{number}.png"):
        number += 1
    return Path(name)


def parse_size(text: str, size: tuple[int, int], samples: int) -> tuple[tuple[int, int], int]:
    """What was typed for a picture: "3840x2160", "3840x2160 64" or nothing.

    size, samples: what is taken where nothing was typed.
    Returns width and height in pixels, and samples per pixel. Raises UserError.
    """
    words = text.lower().replace("×", "x").split()
    wrong = UserError(f"{text!r} is no size: type WIDTHxHEIGHT and, if you like, samples")
    if len(words) > 2:
        raise wrong
    sides = words[0].split("x") if words else [str(side) for side in size]
    numbers = [*sides, *(words[1:] or [str(samples)])]
    if len(sides) != 2 or not all(re.fullmatch(r"\d{1,12}", number) for number in numbers):
        raise wrong
    width, height, count = (int(number) for number in numbers)
    if not (1 <= width <= MAX_SIDE and 1 <= height <= MAX_SIDE and 1 <= count <= MAX_SAMPLES):
        raise UserError(
            f"{text!r}: sides go from 1 to {MAX_SIDE:,} pixels, samples from 1 to {MAX_SAMPLES:,}"
        )
    if np.prod([width, height], dtype=np.float64) > 2**32:
        raise UserError(f"{text!r}: more than {2**32:,} pixels do not fit into one picture")
    return (width, height), count
