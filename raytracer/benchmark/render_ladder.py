"""Checks and timings of render kernels on one scene."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import cast

from raytracer.backends.base import CpuDevice, Device, DeviceFilm, DeviceScene
from raytracer.benchmark import record, render_levels, statistics
from raytracer.benchmark.layouts import arrange
from raytracer.benchmark.options import Tell, matching, names_of
from raytracer.benchmark.record import Resources, Row
from raytracer.buffers import Bvh, SceneBuffers
from raytracer.errors import BackendError, RaytracerError
from raytracer.film.film import Film
from raytracer.variants.discovery import discover
from raytracer.variants.kernel import Variant
from raytracer.view import View

CHECKED = (321, 181)  # pixels of the compared pictures; not multiples of a tile
LONGEST = 0.5  # seconds; kernels with an estimate above it are listed and not timed
WARM = 0.05  # seconds; a shorter first frame is repeated, because clocks and caches are cold
Frame = Callable[[], float]  # renders a frame, and returns the seconds


@dataclass(frozen=True)
class Rung:
    """One render kernel: a CUDA variant, or that of the CPU at one level of the picture."""

    label: str
    title: str
    level: str
    layout: str = ""
    variant: Variant | None = None

    def device(self) -> Device:
        """Return a device for the kernel; raise BackendError if it cannot run."""
        if self.variant is None:
            return CpuDevice()
        from raytracer.backends.cuda.run import CudaDevice

        return CudaDevice(kernel=self.variant)


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
        self.buffers, self.size, self.checked = buffers, size, checked
        self._trees: dict[str, Bvh] = {"": tree}
        self._references: dict[str, Film] = {}

    def run(self, selection: Sequence[Rung], min_time: float, tell: Tell) -> list[Row]:
        """Check kernels, then time those that are correct and fast enough; return their rows."""
        rows, frames = list[Row](), list[tuple[Rung, Row, Frame]]()
        with ExitStack() as stack:
            for rung in selection:
                tell(f"checking render {rung.label}")
                row = record.row(rung.label, rung.title, "variant" if rung.variant else "cpu")
                row["shows"] = rung.level
                rows.append(row)
                try:
                    if rung.variant is not None:  # the pictures of the CPU are the reference
                        self._check(rung, row)
                    if row["status"] == "ok":
                        opened = stack.enter_context(self.opened(rung, self.size))
                        frames.append((rung, row, partial(render_levels.expose, *opened)))
                        nbytes = self.arranged(rung.layout).nbytes
                        row["bytes_per_sphere"] = nbytes / max(self.buffers.count, 1)
                except RaytracerError as error:  # ends the measurement of this kernel alone
                    row["status"] = "failed" if isinstance(error, BackendError) else "skipped"
                    row["reason"] = str(error).split("\n")[0]
            tell("timing render")
            for *_, frame in frames:
                frame()
            turns = [partial(statistics.repeated, frame) for *_, frame in frames]
            every = statistics.in_turns(turns, min_time)
        for (rung, row, _), samples in zip(frames, every, strict=True):
            work = self.size[0] * self.size[1] * render_levels.samples(rung.level)
            row["msamples"] = 1e-6 * work / statistics.timed(row, samples)["time"]["median"]
        return rows

    def arranged(self, layout: str) -> Bvh:
        """Return the scene in a layout, converted once."""
        if layout not in self._trees:
            self._trees[layout] = arrange(layout, self.buffers, self._trees[""])
        return self._trees[layout]

    @contextmanager
    def opened(
        self, rung: Rung, size: tuple[int, int]
    ) -> Iterator[tuple[DeviceFilm, DeviceScene, View]]:
        """Upload the scene for a kernel; yield a blank film, the scene and the view."""
        device, tree = rung.device(), self.arranged(rung.layout)
        buffers = render_levels.view(self.buffers, rung.level, size)
        with device.film(Film.blank(*size)) as film, device.scene(buffers, tree) as scene:
            yield film, scene, buffers.view

    def _check(self, rung: Rung, row: Row) -> None:
        """Compare with the picture of the CPU; estimate the time of the timed picture."""
        with self.opened(rung, self.checked) as (film, scene, view):
            duration = render_levels.expose(film, scene, view)
            row["resources"] = cast(Resources, scene.describe(view))
            if reason := render_levels.difference(film.to_host(), self.reference(rung.level)):
                row["status"], row["reason"] = "wrong", reason
                return
            if duration < WARM:
                duration = render_levels.expose(film, scene, view)
        if self.arranged(rung.layout).nodes.size:
            return  # with a tree, the time is not proportional to the number of pixels
        guess = duration * self.size[0] * self.size[1] / (self.checked[0] * self.checked[1])
        if guess > LONGEST:
            row["status"] = "skipped"
            row["reason"] = (
                f"a frame would take about {guess:.2g} s, estimated from the correct picture of "
                f"{self.checked[0]}x{self.checked[1]} pixels"
            )

    def reference(self, level: str) -> Film:
        """Return the picture of the CPU."""
        if level not in self._references:
            with self.opened(Rung("", "", level), self.checked) as (film, scene, view):
                render_levels.expose(film, scene, view)
                self._references[level] = film.to_host()
        return self._references[level]
