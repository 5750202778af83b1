"""Checks and timings of render kernels on one scene."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, cast

from raytracer.backends.cpu import CpuDevice
from raytracer.benchmark import record, render_levels, timing
from raytracer.benchmark.cuda.kernel import require
from raytracer.benchmark.layouts import arrange
from raytracer.benchmark.options import matching, names_of
from raytracer.benchmark.record import Resources, Row
from raytracer.errors import BackendError, RaytracerError
from raytracer.film.film import Film
from raytracer.variants import Variant, discover

if TYPE_CHECKING:
    from raytracer.backends.base import Device, DeviceFilm, DeviceScene
    from raytracer.buffers import Bvh, SceneBuffers

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

    def device(self) -> Device:
        """Return a device for the kernel; raise RaytracerError if it cannot run."""
        if self.variant is None:
            return CpuDevice()
        from raytracer.backends.cuda.probe import devices
        from raytracer.backends.cuda.run import CudaDevice

        require(self.variant, str(devices()[0]["architecture"]))
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

    def frame(self) -> float:
        """Render a frame; return seconds."""
        assert self.film is not None
        assert self.scene is not None
        assert self.buffers is not None
        return render_levels.expose(self.film, self.scene, self.buffers.view)


def rungs(backend: str, words: Sequence[str] = ()) -> list[Rung]:
    """Return the kernels of "cpu" or "cuda" by label, name or number, all without words."""
    every = [Rung(f"cpu_{level}", text, level) for level, text in render_levels.LEVELS.items()]
    if backend == "cuda":
        every = [Rung(v.label, v.title, v.shows, v.layout, v) for v in discover("render")]
    return matching(
        every, words, lambda r: names_of(r.variant) if r.variant else (r.label, r.level), "render"
    )


class Ladder:
    """The render kernels on one scene, packed with one sample per pixel."""

    def __init__(
        self,
        buffers: SceneBuffers,
        tree: Bvh,
        size: tuple[int, int],
        checked: tuple[int, int] = CHECKED,
    ) -> None:
        """Store the scene; nothing is rendered yet."""
        self.buffers, self.tree, self.size, self.checked = buffers, tree, size, checked
        self.arranging: dict[str, float] = {}  # seconds, by layout
        self._trees: dict[str, Bvh] = {"": tree}
        self._references: dict[str, Film] = {}

    def run(
        self, selection: Sequence[Rung], min_time: float, tell: Callable[[str], None]
    ) -> list[Row]:
        """Check kernels, then time those that are correct and fast enough; return their rows."""
        entries = []
        for rung in selection:
            row = record.row(rung.label, rung.title, "variant" if rung.variant else "cpu")
            entries.append(Entry(rung, row | {"shows": rung.level}))
        try:
            for entry in entries:
                tell(f"checking render {entry.rung.label}")
                self._guarded(entry, self._check)
            for entry in entries:
                if entry.row["status"] == "ok":
                    self._guarded(entry, self._upload)
            running = [entry for entry in entries if entry.row["status"] == "ok"]
            _time_in_turns(running, min_time, tell)
            for entry in running:
                row = entry.row
                row["time"], row["samples"] = timing.statistics(entry.samples), entry.samples
                work = self.size[0] * self.size[1] * render_levels.samples(entry.rung.level)
                row["msamples"] = 1e-6 * work / row["time"]["median"]
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
        if tree.nodes.size:
            return  # with a tree, the time is not proportional to the number of pixels
        guess = duration * self.size[0] * self.size[1] / (self.checked[0] * self.checked[1])
        if guess > LONGEST:
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


def _time_in_turns(entries: list[Entry], min_time: float, tell: Callable[[str], None]) -> None:
    """Time frames of all kernels in turns (A B B A) until the median of each has settled."""
    for entry in entries:
        tell(f"timing render {entry.rung.label}")
        entry.frame()
    unsettled = list(entries)
    while unsettled:
        for entry in (*unsettled, *reversed(unsettled)):
            entry.samples.append(entry.frame())
        unsettled = [
            e for e in unsettled if not timing.settled(e.samples, sum(e.samples), min_time)
        ]
