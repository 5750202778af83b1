"""What `raytracer render` does with its options."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer import memory
from raytracer.commands.developing import (
    default_picture,
    draw_histogram,
    record,
    warn_of_non_finite,
)
from raytracer.commands.report import print_json, print_lines, print_warnings
from raytracer.errors import DataFileError, UserError, counted, escaped, suggestion
from raytracer.files import output as files
from raytracer.files.access import STANDARD_INPUT, is_file
from raytracer.film import film_file
from raytracer.film import histogram as plots
from raytracer.film.film import Crop, Film
from raytracer.film.image import Image
from raytracer.film.statistics import Statistics
from raytracer.film.tone import check_bits
from raytracer.film.tone_settings import ToneSettings
from raytracer.job import Job
from raytracer.pipeline import film_for, prepare
from raytracer.progress import ProgressBar, StageLine
from raytracer.resources import peak_memory
from raytracer.scene.load import check_there
from raytracer.warning import collected

if TYPE_CHECKING:
    from raytracer.backends.base import DeviceFilm

FEW = 1e-3
"""Share of the pixels in which spheres are easily overlooked."""

LARGE = 10_000
"""Pixels of a picture in which that share is of interest."""


class Task(NamedTuple):
    """The options of one call."""

    scene: str
    overrides: dict[str, Any]
    output: str | None
    transparent: bool
    backend: str
    threads: int
    tone: ToneSettings
    bits: str
    stats: bool
    histogram: str | None
    film: str | None
    half: bool
    aov: str | None
    resume: str | None
    crop: Crop | None
    only: tuple[int, int, int] | None
    repeat: int
    as_json: bool
    quiet: bool
    progress: bool | None

    @property
    def path(self) -> Path:
        """The scene or particle file."""
        return scene_path(self.scene)

    @property
    def target(self) -> Path:
        """Where the picture goes."""
        return Path(self.output) if self.output else default_picture(self.scene)

    def check(self, outputs: files.OutputSet) -> Path:
        """Refuse options that make no sense and files that cannot be written; gives the target.

        outputs: is told of all files but those that the scene names.
        """
        check_bits(int(self.bits), self.tone)
        if (self.half or self.aov) and not self.film:
            raise UserError(
                "--half and --aov change the film that is saved: give --film FILE as well"
            )
        if self.resume and self.repeat > 1:
            raise UserError("--repeat renders the same frame again: leave it or --resume out")
        film_file.check_aovs(self.aov)
        target = self.target
        outputs.reads(self.path, *([self.resume] if self.resume else []))
        if self.film:
            outputs.writes(self.film, "--film", replaces=self.resume)
            film_file.check_target(self.film, self.half)
        if self.histogram:
            plots.check(outputs.writes(self.histogram, "--histogram"))
        return files.check_picture(outputs.writes(target, "the picture"))

    def prepare(
        self,
        crop: Crop | None,
        outputs: files.OutputSet | None = None,
        begun: Film | None = None,
    ) -> Job:
        """The scene made ready; its warnings are printed at once, or go to the JSON.

        outputs: must not be among the files that it is made of. begun: the film that is resumed.
        """
        with collected() as found, StageLine(self.shows_progress) as line:
            job = prepare(
                self.path,
                self.overrides,
                backend=self.backend,
                crop=crop,
                threads=self.threads,
                transparent=self.transparent,
                notice=line,
                outputs=outputs,
                memory_of=self.memory_of(begun),
            )
        self.warn(job, found)
        return job

    def warn(self, job: Job, found: list[str]) -> None:
        """Print warnings at once, or leave them for the JSON."""
        job.warnings += found
        if not (self.quiet or self.as_json):
            print_warnings(found)

    @property
    def carried(self) -> tuple[str, ...]:
        """Output variables that go from the film that is resumed to the one that is saved."""
        made = film_file.check_aovs(self.aov)
        return tuple(name for name in film_file.AOVS if self.film and name not in made)

    def memory_of(self, begun: Film | None) -> memory.Output:
        """What is made of the film, for the estimate of memory; begun: the one that is resumed."""
        return memory.Output(
            bits=int(self.bits),
            aovs=film_file.check_aovs(self.aov),
            film=Path(self.film).suffix.lower() if self.film else "",
            half=self.half,
            histogram=self.histogram is not None,
            begun=begun is not None,
            carried=tuple(begun.aovs) if begun else (),
        )

    @property
    def shows_progress(self) -> bool | None:
        """Always, never, or (None) on a terminal."""
        return False if self.quiet else self.progress


def scene_path(scene: str) -> Path:
    """The scene or particle file of that name; a bare name may be that of an example scene.

    Raises DataFileError that names the nearest one.
    """
    path = Path(scene)
    if path == STANDARD_INPUT:
        return path
    try:
        no_file = not path.exists() or (path.is_dir() and not path.suffix)
    except (OSError, ValueError):
        return path  # the door says what is wrong with it
    if not no_file or path.suffix not in ("", ".toml") or path.parent != Path():
        return path
    from raytracer.resources import scenes

    folder = Path(str(scenes()))
    example = folder / f"{path.stem}.toml"
    if is_file(example) or path.is_dir():
        return example if is_file(example) else path
    hint = suggestion(path.stem, sorted(each.stem for each in folder.glob("*.toml")))
    raise DataFileError(f"{path}: there is no such file and no example scene of that name; {hint}")


def run(task: Task) -> None:
    """Render, write the picture, say what was done."""
    start = time.perf_counter()
    check_there(task.path)
    outputs = files.OutputSet()
    target = task.check(outputs)
    begun = Film.load(task.resume, task.carried) if task.resume else None
    crop = task.crop or part_of(begun)
    with task.prepare(crop, outputs, begun) as job:
        _announce(task, job, crop)
        host = film_for(job.settings, crop, begun, own=True)
        if task.film:
            film_file.require_space(host, task.film, film_file.check_aovs(task.aov))
        exposed = job.film(host)
        frames = _frames(task, job, exposed)
        film = exposed.host
        image = job.image(exposed, task.tone, int(task.bits))
        statistics = image.statistics
        bad = statistics.non_finite
        if job.about["spheres"] and film.crop == (0, 0, film.width, film.height):
            task.warn(job, _nearly_blank(statistics))
        if task.film or task.histogram or bad:
            exposed.to_host()
            job.find_aovs(film, film_file.check_aovs(task.aov))
    _write(task, target, film, image)
    written = [target, *(Path(name) for name in (task.film, task.histogram) if name)]
    if bad:
        warn_of_non_finite(film, task.quiet)
    job.timings["total"] = time.perf_counter() - start
    if task.as_json:
        files_made = {"output": str(target)} | ({"film": task.film} if task.film else {})
        print_json(_record(job, image, frames) | record(image) | files_made)
    elif not task.quiet:
        shown = statistics.lines() if task.stats else []
        print_lines("\n".join([_summary(job, film, frames, written), *shown]))


def _nearly_blank(found: Statistics) -> list[str]:
    """Warnings of a whole picture that shows nothing, or next to nothing, of its spheres."""
    if not found.covered:
        return [
            "no camera ray hit a sphere, so the picture shows the background alone: change "
            "position and look_at under [camera], or say fit = true there to frame the spheres"
        ]
    if found.pixels >= LARGE and found.covered < FEW * found.pixels:
        return [
            f"camera rays hit spheres in only {found.covered:,} of {found.pixels:,} pixels: to "
            "show them larger, change position and look_at under [camera], or their radius"
        ]
    return []


def _write(task: Task, target: Path, film: Film, image: Image) -> None:
    """Write all files: first the film, which holds the samples, then what is made of it."""
    with files.Batch() as batch:
        if task.film:
            with batch.step():
                film.save(task.film, half=task.half, batch=batch)
        with batch.step():
            image.save(target, int(task.bits), batch)
        if task.histogram:
            with batch.step():
                draw_histogram(image, int(task.bits), task.histogram, batch)


def part_of(film: Film | None) -> Crop | None:
    """The rectangle that a film holds, if it is not the whole picture."""
    whole = film is None or film.crop == (0, 0, film.width, film.height)
    return None if whole or film is None else film.crop


def _frames(task: Task, job: Job, film: DeviceFilm) -> list[float]:
    """Render to a film, again and again if that is asked for; gives the seconds of each.

    On a GPU the film stays there: what is made of it is made there too.
    """
    height, width = film.host.sums.shape[:2]
    frames: list[float] = []
    for turn in range(task.repeat):
        if turn:
            film.clear()
        with ProgressBar(height * width * job.settings.samples, task.shows_progress) as bar:
            frames.append(job.expose(film, job.settings.samples, bar))
    job.timings["frame"] = _quartiles(frames)["median"]
    return frames


def run_only(task: Task) -> None:
    """Replay one sample of one pixel and print what it adds to the film."""
    assert task.only is not None
    x, y, sample = task.only
    if task.repeat > 1 or task.crop or task.output or task.film or task.resume or task.histogram:
        raise UserError(
            "--only writes no picture: leave out --repeat, --crop, --output, --film, --resume and "
            "--histogram"
        )
    if sample < 0:
        raise UserError(f"--only {x},{y},{sample}: samples are counted from 0")
    # The estimate of memory counts one pixel; whether that pixel exists depends on the scene.
    with task.prepare((0, 0, 1, 1)) as job:
        exposed = _one_sample(job, x, y, sample)
        image = job.image(exposed)
    film = image.film
    red, green, blue, coverage = (float(value) for value in film.sums[0, 0])
    if task.as_json:
        found = {"pixel": [x, y], "sample": sample, "radiance": [red, green, blue]}
        frames = [job.timings["frame"]]
        print_json(_record(job, image, frames) | found | {"coverage": coverage})
    elif not task.quiet:
        print(f"pixel {x},{y} sample {sample}: radiance {red:.9g} {green:.9g} {blue:.9g}, "
              f"coverage {coverage:.9g}")  # fmt: skip


def _one_sample(job: Job, x: int, y: int, sample: int) -> DeviceFilm:
    """A film of one pixel with one sample."""
    size = job.settings.width, job.settings.height
    if not (0 <= x < size[0] and 0 <= y < size[1]):
        raise UserError(f"--only {x},{y},{sample}: the picture has {size[0]}x{size[1]} pixels, "
                        "counted from 0 at the upper left")  # fmt: skip
    film = job.film(Film.blank(*size, (x, y, x + 1, y + 1)))
    job.timings["frame"] = job.expose(film, 1, first=sample)
    return film


def _record(job: Job, image: Image, frames: list[float]) -> dict[str, Any]:
    """One JSON object about a render."""
    used = {"film": image.film.sums.nbytes, "peak": peak_memory(), "estimate": memory.told()}
    statistics = _quartiles(frames) | {"count": len(frames)}
    return image.metadata | {
        "timings": job.timings,
        "frames": statistics,
        "memory": job.memory | used,
        "warnings": job.warnings,
    }


def _announce(task: Task, job: Job, crop: Crop | None) -> None:
    """Say on standard error what is going to be rendered, where a progress bar would be shown."""
    shown = task.shows_progress
    if sys.stderr.isatty() if shown is None else shown:
        settings = job.settings
        x0, y0, x1, y1 = crop or (0, 0, settings.width, settings.height)
        samples = counted(settings.samples, "sample", " per pixel")
        print(f"rendering {escaped(task.path.name)}: {x1 - x0}x{y1 - y0}, {samples}, {_work(job)}",
              file=sys.stderr, flush=True)  # fmt: skip


def _work(job: Job) -> str:
    """How many spheres, and what renders them."""
    backend = job.about["backend"]
    return f"{counted(job.about['spheres'], 'sphere')}, {backend['name']} ({backend['device']})"


def _summary(job: Job, film: Film, frames: list[float], written: list[Path]) -> str:
    """What was done and which files were written, for people; the picture is the first of them."""
    height, width = film.sums.shape[:2]
    size = f"{width}x{height}"
    if (width, height) != (film.width, film.height):
        size += f" at {film.x0},{film.y0} of {film.width}x{film.height}"
    times = _quartiles(frames)
    picture, *others = written
    lines = [
        f"wrote {picture}: {_size(picture)}, {size}, "
        f"{counted(film.samples, 'sample', ' per pixel')}, {_work(job)}, "
        f"frame {_seconds(times['median'])}, total {_seconds(job.timings['total'])}",
        *(f"wrote {path}: {_size(path)}" for path in others),
    ]
    if len(frames) > 1:
        lines.append(
            f"frame of {len(frames)}: median {_seconds(times['median'])}, "
            f"min {_seconds(times['min'])}, "
            f"quartiles {_seconds(times['q1'])} and {_seconds(times['q3'])}"
        )
    return "\n".join(lines)


def _size(path: Path) -> str:
    """The size of a file, in decimal units as file managers show it."""
    size = path.stat().st_size
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{max(size // 1000, 1)} kB"


def _quartiles(seconds: list[float]) -> dict[str, float]:
    """Median, least and quartiles, interpolated between neighbours."""
    ordered = sorted(seconds)

    def at(share: float) -> float:
        place = share * (len(ordered) - 1)
        low = int(place)
        high = min(low + 1, len(ordered) - 1)
        return ordered[low] + (place - low) * (ordered[high] - ordered[low])

    return {"median": at(0.5), "min": ordered[0], "q1": at(0.25), "q3": at(0.75)}


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 1.0 else f"{value * 1e3:.3g} ms"
