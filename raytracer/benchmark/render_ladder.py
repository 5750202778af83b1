"""The ladder of render kernels on one scene: every picture checked, then the right ones timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from raytracer.backends.cpu import CpuDevice
from raytracer.benchmark import record, render_levels, timing
from raytracer.benchmark.layouts import arrange
from raytracer.benchmark.ray_count import Rays
from raytracer.benchmark.record import Rays as KindOfRays
from raytracer.benchmark.record import Resources, Row
from raytracer.errors import BackendError, RaytracerError, UserError, suggestion
from raytracer.film.film import Film
from raytracer.variants import Variant, discover

if TYPE_CHECKING:
    from raytracer.backends.base import Device, DeviceFilm, DeviceScene
    from raytracer.buffers import SceneBuffers
    from raytracer.bvh import Bvh
    from raytracer.view import View

Tell = Callable[[str], None]

CHECKED = (321, 181)  # pixels of the pictures that are compared; no multiple of a tile
LONGEST = 0.5  # seconds a frame of a linear list may take; longer ones are listed with the guess
WARM = 0.05  # seconds: a shorter first frame is no measure, for clocks and caches
UPLOADS = 3
KIND_FRAMES, KIND_SECONDS = 6, 0.1  # frames for the rate of one kind of ray, at most so long


@dataclass(frozen=True)
class Rung:
    """One way to render: a CUDA variant, or the CPU's kernel on one level of the picture."""

    label: str
    title: str
    level: str
    layout: str = ""
    variant: Variant | None = None

    def device(self, threads: int = 0) -> Device:
        """What runs it. Raises RaytracerError where it cannot run."""
        if self.variant is None:
            return CpuDevice(threads)
        from raytracer.backends.cuda.probe import devices
        from raytracer.backends.cuda.run import CudaDevice
        from raytracer.benchmark.cuda.kernel import RefusedError

        arch = str(devices()[0]["architecture"])
        if not self.variant.admits(arch):
            needs = ", ".join(map(str, self.variant.needs))
            raise RefusedError(f"needs {needs}; this GPU is {arch}")
        return CudaDevice(kernel=self.variant)


@dataclass
class Entry:
    """A rung in the race: its row of the table in the making."""

    rung: Rung
    row: Row
    device: Device | None = None
    scene: DeviceScene | None = None
    film: DeviceFilm | None = None
    seen: SceneBuffers | None = None
    samples: list[float] = field(default_factory=list)


def rungs(backend: str, words: Sequence[str] = ()) -> list[Rung]:
    """The rungs of a backend, "cpu" or "cuda", in order; those wanted by label, name or number.

    Raises UserError for one that does not exist.
    """
    if backend == "cuda":
        every = [_of_variant(variant) for variant in discover("render")]
    else:
        every = [Rung(f"cpu_{level}", text, level) for level, text in render_levels.LEVELS.items()]
    if not words:
        return every
    selection = []
    for word in words:
        matches = [rung for rung in every if word in _names(rung)]
        if not matches:
            hint = suggestion(word, [rung.label for rung in every])
            raise UserError(f"render has no variant {word!r} on {backend}; {hint}")
        selection += matches
    return list(dict.fromkeys(selection))


def _of_variant(variant: Variant) -> Rung:
    level = variant.shows
    if level not in render_levels.LEVELS:
        hint = suggestion(level, render_levels.LEVELS)
        raise UserError(f"{variant.place} shows {level!r}; {hint}")
    return Rung(variant.label, variant.title, level, variant.layout, variant)


def _names(rung: Rung) -> tuple[str, ...]:
    if rung.variant is None:
        return (rung.label, rung.level)
    number = rung.variant.number
    return (rung.label, rung.variant.name, str(number), f"{number:02d}")


class Ladder:
    """One scene on all rungs: check, time, tell.

    buffers: packed with one sample a pixel. size: of the timed pictures, in pixels.
    """

    def __init__(
        self,
        buffers: SceneBuffers,
        tree: Bvh,
        size: tuple[int, int],
        checked: tuple[int, int] = CHECKED,
        longest: float = LONGEST,
    ) -> None:
        """Nothing is rendered yet."""
        self.buffers, self.tree, self.size = buffers, tree, size
        self.checked, self.longest = checked, longest
        self.arranging: dict[str, float] = {}  # seconds, by layout
        self._trees: dict[str, Bvh] = {"": tree}
        self._references: dict[str, Film] = {}

    def run(self, selection: Sequence[Rung], min_time: float, rays: Rays, tell: Tell) -> list[Row]:
        """The rows of the rungs: wrong ones and those that take too long are not timed."""
        entries = [Entry(rung, _blank(rung)) for rung in selection]
        try:
            for entry in entries:
                tell(f"checking render {entry.rung.label}")
                self._guarded(entry, self._check)
            for entry in entries:
                if entry.row["status"] == "ok":
                    self._guarded(entry, self._upload)
            running = [entry for entry in entries if entry.row["status"] == "ok"]
            self._time_in_turns(running, min_time, tell)
            for entry in running:
                self._figures(entry, rays)
        finally:
            for entry in entries:
                for resource in (entry.scene, entry.film):
                    if resource is not None:
                        resource.close()
        return [entry.row for entry in entries]

    def arranged(self, layout: str) -> Bvh:
        """The scene in a layout, made once."""
        if layout not in self._trees:
            start = time.perf_counter()
            self._trees[layout] = arrange(layout, self.buffers, self.tree)
            self.arranging[layout] = time.perf_counter() - start
        return self._trees[layout]

    def _guarded(self, entry: Entry, step: Callable[[Entry], None]) -> None:
        """What one rung cannot do ends that rung alone."""
        try:
            step(entry)
        except RaytracerError as error:
            entry.row["status"] = "failed" if isinstance(error, BackendError) else "skipped"
            entry.row["reason"] = str(error).split("\n")[0]

    def _check(self, entry: Entry) -> None:
        """Compare with the CPU's picture of the same; guess what the timed picture will take."""
        rung = entry.rung
        if rung.variant is None:
            return  # the CPU's pictures are what the others are compared with
        device = entry.device = rung.device()
        level_buffers = render_levels.view(self.buffers, rung.level, self.checked)
        tree = self.arranged(rung.layout)
        with (
            device.film(Film.blank(*self.checked)) as film,
            device.scene(level_buffers, tree) as scene,
        ):
            duration = render_levels.expose(film, scene, level_buffers.view)
            entry.row["resources"] = cast(Resources, scene.describe(level_buffers.view))
            if reason := render_levels.difference(film.to_host(), self._reference(rung.level)):
                entry.row["status"], entry.row["reason"] = "wrong", reason
                return
            if duration < WARM:
                duration = render_levels.expose(film, scene, level_buffers.view)
        if self.arranged(rung.layout).nodes.size:
            return  # with a tree, what a picture takes does not grow with its pixels
        guess = duration * self.size[0] * self.size[1] / (self.checked[0] * self.checked[1])
        if guess > self.longest:
            reason = f"would take about {guess:.2g} s a frame, by the {self.checked[0]}x"
            reason += f"{self.checked[1]} picture that was checked and is right"
            entry.row["status"], entry.row["reason"] = "skipped", reason

    def _reference(self, level: str) -> Film:
        if level not in self._references:
            level_buffers = render_levels.view(self.buffers, level, self.checked)
            device = CpuDevice()
            film = device.film(Film.blank(*self.checked))
            render_levels.expose(film, device.scene(level_buffers, self.tree), level_buffers.view)
            self._references[level] = film.to_host()
        return self._references[level]

    def _upload(self, entry: Entry) -> None:
        """Bring the scene to the device, some times over; the last one stays."""
        rung = entry.rung
        device = entry.device or rung.device()
        tree = self.arranged(rung.layout)
        entry.seen = render_levels.view(self.buffers, rung.level, self.size)
        times = []
        for _ in range(UPLOADS):
            if entry.scene is not None:
                entry.scene.close()
            start = time.perf_counter()
            entry.scene = device.scene(entry.seen, tree)
            times.append(time.perf_counter() - start)
        entry.film = device.film(Film.blank(*self.size))
        entry.row["bytes_per_sphere"] = tree.nbytes / max(self.buffers.count, 1)
        if rung.variant is not None:
            entry.row["upload"] = timing.statistics(times)

    def _time_in_turns(self, entries: list[Entry], min_time: float, tell: Tell) -> None:
        """Frames of all in turns, there and back (A B B A), until each has settled."""
        for entry in entries:
            tell(f"timing render {entry.rung.label}")
            self._frame(entry)
        unsettled = list(entries)
        while unsettled:
            for entry in (*unsettled, *reversed(unsettled)):
                entry.samples.append(self._frame(entry))
            unsettled = [
                e for e in unsettled if not timing.settled(e.samples, sum(e.samples), min_time)
            ]

    def _frame(self, entry: Entry, view: View | None = None) -> float:
        """Seconds of a frame. view: another one than the entry's own."""
        assert entry.film is not None
        assert entry.scene is not None
        assert entry.seen is not None
        return render_levels.expose(entry.film, entry.scene, view or entry.seen.view)

    def _figures(self, entry: Entry, rays: Rays) -> None:
        """Time, rays and their rates of a rung, into its row."""
        row, counts = entry.row, of_level(rays, entry.rung.level)
        row["time"], row["samples"] = timing.statistics(entry.samples), entry.samples
        row["rays"] = counts
        everything = counts["primary"] + counts["shadow"] + counts["reflection"]
        row["mrays"] = 1e-6 * everything / row["time"]["median"]
        row["mrays_by_kind"] = self._by_kind(entry, rays)

    def _by_kind(self, entry: Entry, rays: Rays) -> KindOfRays:
        """Mrays/s of each kind of ray: what a frame of one sample takes longer with that kind."""
        assert entry.seen is not None
        level = entry.rung.level

        def median(shadows: bool, depth: int) -> float:
            assert entry.seen is not None
            view = entry.seen.view.through_centers().with_samples(0, 1)
            view = view.with_shadows(shadows).with_depth(depth)
            times: list[float] = []
            while len(times) < 2 or (len(times) < KIND_FRAMES and sum(times) < KIND_SECONDS):
                times.append(self._frame(entry, view))
            return float(timing.statistics(times[1:])["median"])

        plain = median(False, 0)
        rates: KindOfRays = {"primary": 1e-6 * rays.primary / plain}

        def rate(part: str, number: int, shadows: bool, depth: int) -> float | None:
            if not number or not render_levels.includes(level, part):
                return None
            extra = median(shadows, depth) - plain
            return 1e-6 * number / extra if extra > 0.02 * plain else None  # less is lost in noise

        deepest = entry.seen.view.max_depth
        if shadow := rate("shadows", sum(rays.shadow[:1]), True, 0):
            rates["shadow"] = shadow
        if reflection := rate("mirrors", sum(rays.reflection), False, deepest):
            rates["reflection"] = reflection
        return rates


def of_level(rays: Rays, level: str) -> KindOfRays:
    """Rays by kind of a picture of a level."""
    mirrors = render_levels.includes(level, "mirrors")
    many = render_levels.SAMPLES if render_levels.includes(level, "samples") else 1
    shadow = rays.shadow if mirrors else rays.shadow[:1]
    return {
        "primary": many * rays.primary,
        "shadow": many * sum(shadow) if render_levels.includes(level, "shadows") else 0,
        "reflection": many * sum(rays.reflection) if mirrors else 0,
    }


def _blank(rung: Rung) -> Row:
    row = record.row(rung.label, rung.title, "cpu" if rung.variant is None else "variant")
    row["shows"] = rung.level
    return row
