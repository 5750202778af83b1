"""Checks and timings of render kernels on one scene."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from raytracer.backends.cpu import CpuDevice
from raytracer.benchmark import record, render_levels, timing
from raytracer.benchmark.layouts import arrange
from raytracer.benchmark.options import matching, names_of
from raytracer.benchmark.ray_count import Rays
from raytracer.benchmark.record import Rays as KindOfRays
from raytracer.benchmark.record import Resources, Row
from raytracer.errors import BackendError, RaytracerError, UserError, suggestion
from raytracer.film.film import Film
from raytracer.variants import Variant, discover

if TYPE_CHECKING:
    from raytracer.backends.base import Device, DeviceFilm, DeviceScene
    from raytracer.buffers import Bvh, SceneBuffers

Tell = Callable[[str], None]

CHECKED = (321, 181)  # pixels of the compared pictures; not multiples of a tile
LONGEST = 0.5  # seconds; kernels with an estimate above it are listed and not timed
WARM = 0.05  # seconds; a shorter first frame is repeated, because clocks and caches are cold
UPLOADS = 3


@dataclass(frozen=True)
class Rung:
    """One render kernel: a CUDA variant, or that of the CPU at one level of the picture."""

    label: str
    title: str
    level: str
    layout: str = ""
    variant: Variant | None = None

    def device(self, threads: int = 0) -> Device:
        """Return a device for the kernel; raise RaytracerError if it cannot run."""
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
    """A kernel during the measurement: its row, device, film and samples."""

    rung: Rung
    row: Row
    device: Device | None = None
    scene: DeviceScene | None = None
    film: DeviceFilm | None = None
    buffers: SceneBuffers | None = None
    samples: list[float] = field(default_factory=list)


def rungs(backend: str, words: Sequence[str] = ()) -> list[Rung]:
    """Return the kernels of a backend, in order.

    Args:
        backend: "cpu" or "cuda".
        words: labels, names or numbers; all kernels if empty.

    Raises:
        UserError: a kernel does not exist.
    """
    if backend == "cuda":
        every = [_of_variant(variant) for variant in discover("render")]
    else:
        every = [Rung(f"cpu_{level}", text, level) for level, text in render_levels.LEVELS.items()]
    return matching(every, words, _names, "render")


def _of_variant(variant: Variant) -> Rung:
    level = variant.shows
    if level not in render_levels.LEVELS:
        hint = suggestion(level, render_levels.LEVELS)
        raise UserError(f"{variant.place} shows {level!r}; {hint}")
    return Rung(variant.label, variant.title, level, variant.layout, variant)


def _names(rung: Rung) -> tuple[str, ...]:
    return names_of(rung.variant) if rung.variant else (rung.label, rung.level)


class Ladder:
    """The render kernels on one scene.

    Args:
        buffers: packed with one sample per pixel.
        tree: of the scene.
        size: of the timed pictures, in pixels.
        checked: size of the checked pictures, in pixels.
        longest: seconds of a frame above which a kernel is not timed.
    """

    def __init__(
        self,
        buffers: SceneBuffers,
        tree: Bvh,
        size: tuple[int, int],
        checked: tuple[int, int] = CHECKED,
        longest: float = LONGEST,
    ) -> None:
        """Store the scene; nothing is rendered yet."""
        self.buffers, self.tree, self.size = buffers, tree, size
        self.checked, self.longest = checked, longest
        self.arranging: dict[str, float] = {}  # seconds, by layout
        self._trees: dict[str, Bvh] = {"": tree}
        self._references: dict[str, Film] = {}

    def run(self, selection: Sequence[Rung], min_time: float, rays: Rays, tell: Tell) -> list[Row]:
        """Check kernels, then time those that are correct and fast enough.

        Args:
            selection: the kernels.
            min_time: seconds of frames for each kernel.
            rays: of the scene.
            tell: called with a line before each step.

        Returns:
            The rows of the kernels, in order.
        """
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
        """Return the scene in a layout, converted once."""
        if layout not in self._trees:
            start = time.perf_counter()
            self._trees[layout] = arrange(layout, self.buffers, self.tree)
            self.arranging[layout] = time.perf_counter() - start
        return self._trees[layout]

    def _guarded(self, entry: Entry, step: Callable[[Entry], None]) -> None:
        """Run a step; an error ends the measurement of this kernel alone."""
        try:
            step(entry)
        except RaytracerError as error:
            entry.row["status"] = "failed" if isinstance(error, BackendError) else "skipped"
            entry.row["reason"] = str(error).split("\n")[0]

    def _check(self, entry: Entry) -> None:
        """Compare with the picture of the CPU; estimate the time of the timed picture."""
        rung = entry.rung
        if rung.variant is None:
            return  # the pictures of the CPU are the reference
        if len(self.buffers.axis) and not (rung.variant and rung.variant.reads_solids):
            raise UserError("renders spheres alone; this scene has other solids")
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
            return  # with a tree, the time is not proportional to the number of pixels
        guess = duration * self.size[0] * self.size[1] / (self.checked[0] * self.checked[1])
        if guess > self.longest:
            reason = f"a frame would take about {guess:.2g} s, estimated from the correct picture "
            reason += f"of {self.checked[0]}x{self.checked[1]} pixels"
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
        """Upload the scene UPLOADS times; keep the last one."""
        rung = entry.rung
        device = entry.device or rung.device()
        tree = self.arranged(rung.layout)
        entry.buffers = render_levels.view(self.buffers, rung.level, self.size)
        times = []
        for _ in range(UPLOADS):
            if entry.scene is not None:
                entry.scene.close()
            start = time.perf_counter()
            entry.scene = device.scene(entry.buffers, tree)
            times.append(time.perf_counter() - start)
        entry.film = device.film(Film.blank(*self.size))
        entry.row["bytes_per_sphere"] = tree.nbytes / max(self.buffers.count, 1)
        if rung.variant is not None:
            entry.row["upload"] = timing.statistics(times)

    def _time_in_turns(self, entries: list[Entry], min_time: float, tell: Tell) -> None:
        """Time frames of all kernels in turns (A B B A) until the median of each has settled."""
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

    def _frame(self, entry: Entry) -> float:
        """Render a frame; return seconds."""
        assert entry.film is not None
        assert entry.scene is not None
        assert entry.buffers is not None
        return render_levels.expose(entry.film, entry.scene, entry.buffers.view)

    def _figures(self, entry: Entry, rays: Rays) -> None:
        """Add time, rays and rates to the row of a kernel."""
        row, counts = entry.row, of_level(rays, entry.rung.level)
        row["time"], row["samples"] = timing.statistics(entry.samples), entry.samples
        row["rays"] = counts
        everything = counts["primary"] + counts["shadow"] + counts["reflection"]
        row["mrays"] = 1e-6 * everything / row["time"]["median"]


def of_level(rays: Rays, level: str) -> KindOfRays:
    """Return the number of rays by kind in a picture of a level."""
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
