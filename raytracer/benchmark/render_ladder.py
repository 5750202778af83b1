"""Checks and timings of render kernels on one scene."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import cast

from raytracer.backends.base import Device
from raytracer.backends.cpu import CpuDevice
from raytracer.benchmark import record, render_levels, timing
from raytracer.benchmark.cuda.kernel import require
from raytracer.benchmark.layouts import arrange
from raytracer.benchmark.options import matching, names_of
from raytracer.benchmark.record import Resources, Row
from raytracer.buffers import Bvh, SceneBuffers
from raytracer.errors import BackendError, RaytracerError
from raytracer.film.film import Film
from raytracer.variants.discovery import discover
from raytracer.variants.kernel import Variant

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
        """Return a device for the kernel; raise RaytracerError if it cannot run."""
        if self.variant is None:
            return CpuDevice()
        from raytracer.backends.cuda.probe import devices
        from raytracer.backends.cuda.run import CudaDevice

        require(self.variant, str(devices()[0]["architecture"]))
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

    def run(
        self, selection: Sequence[Rung], min_time: float, tell: Callable[[str], None]
    ) -> list[Row]:
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
                        frames.append((rung, row, self._frame(rung, row, stack)))
                except RaytracerError as error:  # ends the measurement of this kernel alone
                    row["status"] = "failed" if isinstance(error, BackendError) else "skipped"
                    row["reason"] = str(error).split("\n")[0]
            tell("timing render")
            every = _timed_in_turns([frame for *_, frame in frames], min_time)
        for (rung, row, _), samples in zip(frames, every, strict=True):
            row["time"], row["samples"] = timing.statistics(samples), samples
            work = self.size[0] * self.size[1] * render_levels.samples(rung.level)
            row["msamples"] = 1e-6 * work / row["time"]["median"]
        return rows

    def arranged(self, layout: str) -> Bvh:
        """Return the scene in a layout, converted once."""
        if layout not in self._trees:
            self._trees[layout] = arrange(layout, self.buffers, self._trees[""])
        return self._trees[layout]

    def _check(self, rung: Rung, row: Row) -> None:
        """Compare with the picture of the CPU; estimate the time of the timed picture."""
        device, tree = rung.device(), self.arranged(rung.layout)
        buffers = render_levels.view(self.buffers, rung.level, self.checked)
        with device.film(Film.blank(*self.checked)) as film, device.scene(buffers, tree) as scene:
            duration = render_levels.expose(film, scene, buffers.view)
            row["resources"] = cast(Resources, scene.describe(buffers.view))
            if reason := render_levels.difference(film.to_host(), self._reference(rung.level)):
                row["status"], row["reason"] = "wrong", reason
                return
            if duration < WARM:
                duration = render_levels.expose(film, scene, buffers.view)
        if tree.nodes.size:
            return  # with a tree, the time is not proportional to the number of pixels
        guess = duration * self.size[0] * self.size[1] / (self.checked[0] * self.checked[1])
        if guess > LONGEST:
            reason = f"a frame would take about {guess:.2g} s, estimated from the correct picture "
            reason += f"of {self.checked[0]}x{self.checked[1]} pixels"
            row["status"], row["reason"] = "skipped", reason

    def _reference(self, level: str) -> Film:
        if level not in self._references:
            buffers, device = render_levels.view(self.buffers, level, self.checked), CpuDevice()
            film = device.film(Film.blank(*self.checked))
            render_levels.expose(film, device.scene(buffers, self._trees[""]), buffers.view)
            self._references[level] = film.to_host()
        return self._references[level]

    def _frame(self, rung: Rung, row: Row, stack: ExitStack) -> Frame:
        """Upload the scene for as long as the stack is open; return what renders a frame of it."""
        device, tree = rung.device(), self.arranged(rung.layout)
        buffers = render_levels.view(self.buffers, rung.level, self.size)
        scene = stack.enter_context(device.scene(buffers, tree))
        film = stack.enter_context(device.film(Film.blank(*self.size)))
        row["bytes_per_sphere"] = tree.nbytes / max(self.buffers.count, 1)
        return partial(render_levels.expose, film, scene, buffers.view)


def _timed_in_turns(frames: Sequence[Frame], min_time: float) -> list[list[float]]:
    """Time all kernels in turns (A B B A) until the median of each has settled."""
    for frame in frames:
        frame()
    every = [list[float]() for _ in frames]
    unsettled = list(zip(frames, every, strict=True))
    while unsettled:
        for frame, samples in (*unsettled, *reversed(unsettled)):
            samples.append(frame())
        unsettled = [
            each for each in unsettled if not timing.settled(each[1], sum(each[1]), min_time)
        ]
    return every
