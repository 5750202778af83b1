"""What `raytracer tone` does with its options."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from raytracer import memory
from raytracer.commands.developing import (
    default_picture,
    draw_histogram,
    record,
    warn_of_metering,
    warn_of_non_finite,
)
from raytracer.commands.report import print_json, print_lines
from raytracer.errors import UserError, counted
from raytracer.files import output as files
from raytracer.film import film_file
from raytracer.film import histogram as plots
from raytracer.film.film import Film
from raytracer.film.image import Image
from raytracer.film.tone import check_bits, common_exposure
from raytracer.film.tone_settings import ToneSettings
from raytracer.resources import peak_memory


@dataclass(frozen=True)
class Task:
    """The options of one call."""

    films: tuple[str, ...]
    settings: ToneSettings
    output: str | None
    bits: str
    stats: bool
    histogram: str | None
    lock: bool
    threads: int
    as_json: bool
    quiet: bool

    @property
    def memory_of(self) -> memory.Output:
        """What is made of a film, for the estimate of memory."""
        return memory.Output(int(self.bits), histogram=self.histogram is not None, begun=True)

    def targets(self) -> list[Path]:
        """Where the pictures go, checked. Raises UserError."""
        check_bits(int(self.bits), self.settings)
        if len(self.films) > 1 and (self.output or self.histogram):
            raise UserError(
                "--output and --histogram are for one film: leave them out, or give one"
            )
        if self.lock and not self.settings.automatic:
            raise UserError("--lock shares an automatic exposure: give --exposure auto as well")
        for film in self.films:
            film_file.check_source(film)
        names = [self.output or str(default_picture(film)) for film in self.films]
        if len(set(names)) < len(names):
            raise UserError("two of the films have the same name: tone them one by one with -o")
        outputs = files.OutputSet()
        outputs.reads(*self.films)
        for name in names:
            outputs.writes(name, "the picture")
        if self.histogram:
            plots.check(outputs.writes(self.histogram, "--histogram"))
        return [files.check_picture(name) for name in names]


def run(task: Task) -> None:
    """Make the pictures, say what was done."""
    targets = task.targets()
    settings = task.settings
    if task.lock:
        films = (Film.load(name, ()) for name in task.films)
        settings = replace(settings, exposure=common_exposure(films, settings, task.threads))
    made = []
    for name, target in zip(task.films, targets, strict=True):
        film = Film.load(name, ())  # output variables do not change the picture
        height, width = film.sums.shape[:2]
        memory.require_tone(name, width, height, task.memory_of, task.threads)
        image = image_of(film, settings, task.threads)
        with files.Batch() as batch:
            with batch.step():
                image.save(target, int(task.bits), batch)
            if task.histogram:
                with batch.step():
                    draw_histogram(image, int(task.bits), task.histogram, batch)
        found = record(image)
        made.append({"film": name, "output": str(target), "timings": image.timings} | found)
        if image.statistics.non_finite:
            warn_of_non_finite(image.film, task.quiet)
        warn_of_metering(name, image.film, task.settings, task.quiet)
        if not (task.quiet or task.as_json):
            print_lines(_summary(image, target, task.stats))
        del film, image  # before the next is loaded
    if task.as_json:
        print_json({"films": made, "memory": {"peak": peak_memory(), "estimate": memory.told()}})


def image_of(film: Film, settings: ToneSettings, threads: int) -> Image:
    """The picture of a loaded film; whether it has an alpha channel is as it was rendered."""
    about: dict[str, Any] = film.metadata | {"samples": film.samples, "crop": list(film.crop)}
    transparent = film.backdrop is None and film.metadata.get("transparent")
    if transparent is None:
        transparent = any((row[:, 3] != film.samples).any() for row in film.sums)
    return Image(film, bool(transparent), {}, about, threads, settings)


def _summary(image: Image, target: Path, stats: bool) -> str:
    height, width = image.film.sums.shape[:2]
    found = image.statistics
    lines = [
        f"wrote {target}: {width}x{height}, {counted(image.film.samples, 'sample', ' per pixel')}, "
        f"{image.settings.tone}, exposure {found.exposure:+.2f}"
    ]
    return "\n".join([*lines, *(found.lines() if stats else [])])
