"""`raytracer bench preview`: latency from a camera event to its picture, and to the idle state."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from statistics import median
from typing import Any

from raytracer.backends.select import select
from raytracer.benchmark import record, timing
from raytracer.benchmark.benchmark import Benchmark, Machine, Tell
from raytracer.benchmark.options import BenchOptions
from raytracer.benchmark.record import Device, Result, device_of
from raytracer.errors import UserError
from raytracer.film.film import Film
from raytracer.film.tone_settings import ToneSettings
from raytracer.scene import generate
from raytracer.scene.scene import Scene

# Number of spheres, and size of the window in pixels.
CASES = {
    "cuda": ((1_000_000, (3840, 2160)), (10_000_000, (1920, 1080))),
    "cpu": ((100_000, (1280, 720)),),
}
FRAMES, WARM = {"cuda": 400, "cpu": 120}, 30  # frames of a run, and untimed ones before
IDLE_RUNS = 5  # runs that time the way to the idle state
SAMPLES = 2  # per pixel when idle: enough to reach the second pass
NOTE = (
    "A drag of {frames} events, each sent after the OpenGL fence of the previous picture; "
    "offscreen (EGL), one sample per pixel with shadows, tone curve included. Kernels alone: the "
    "same frames without window, events and threads."
)


class PreviewBenchmark(Benchmark):
    """Frames of the window while the camera turns, and the time to the idle state."""

    name = "preview"

    def listing(self, ideas: bool) -> Iterator[str]:
        yield "preview: from a camera event to its picture, on the CPU or a GPU"
        for backend, cases in CASES.items():
            words = (f"{spheres:,} spheres at {w}x{h}" for spheres, (w, h) in cases)
            yield f"  {backend}: {', '.join(words)}"

    def check(self, options: BenchOptions) -> None:
        if options.axes or options.sizes or options.variant:
            raise UserError("preview has fixed cases: remove sizes and variants")

    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        device, measured = results(machine.backend, tell=tell)
        machine.device.update(device)
        return measured


def results(
    backend: str, cases: Any = None, frames: int | None = None, tell: Tell = lambda _: None
) -> tuple[Device, list[Result]]:
    """Measure cases of spheres and window size; return the device, and a result for each."""
    device = select(backend)
    count = frames or FRAMES[backend]
    measured = []
    for spheres, size in cases or CASES[backend]:
        tell(f"turning {spheres:,} spheres")
        arrays = generate.arrays("cloud", spheres, 1)
        scene = Scene.from_arrays(arrays["centers"], arrays["radii"], arrays["colors"])
        measured.append(_result(scene, backend, size, count))
    return device_of(device), measured


def _result(scene: Scene, backend: str, size: tuple[int, int], frames: int) -> Result:
    from raytracer.viewer.preview import preview

    # A GPU renders at full size; on a CPU the resolution adapts while the camera moves.
    full = backend == "cuda"
    run = partial(
        preview, scene, backend=backend, width=size[0], height=size[1], samples=SAMPLES,
        adaptive=not full,
    )  # fmt: skip
    rows = []
    for interop in (True, False) if full else (True,):
        shown = run(offscreen=frames + WARM, interop=interop)
        times, traced = shown.spread(WARM), min(shown.traced[WARM:])
        title = (
            f"{1.0 / times['median']:.0f} frames/s, 19 of 20 above {1.0 / times['q95']:.0f}, "
            f"traced at {traced[0]}x{traced[1]} or more"
        )
        rows.append(timing.row(shown.presenter, shown.latency[WARM:], title))
    idle_times = [run(offscreen=WARM + 1).rest for _ in range(IDLE_RUNS)]
    rows.append(timing.row("last event to full size at rest", idle_times, kind="stage"))
    alone = _kernels(scene, backend, traced, frames)
    rows.append(timing.row("kernels alone", alone, f"{1.0 / median(alone):.0f} frames/s", "peer"))
    axes = {"spheres": scene.count, "width": size[0], "height": size[1]}
    made = record.result("preview", axes, rows, "full size" if full else "adaptive", "cloud")
    made["backend"], made["note"] = backend, NOTE.format(frames=frames)
    made["traced"] = list(traced)
    return made


def _kernels(scene: Scene, backend: str, size: tuple[int, int], frames: int) -> list[float]:
    """Return seconds of the same frames without a window: rendering and tone curve."""
    from raytracer.viewer.loaded_scene import LoadedScene

    overrides = {"width": size[0], "height": size[1], "samples": 1}
    loaded_scene = LoadedScene.load(scene, overrides, backend)
    device, view = loaded_scene.job.device, loaded_scene.buffers.view
    film, picture = device.film(Film.blank(*size)), device.picture()
    samples = []
    try:
        for _ in range(WARM + frames):
            start = time.perf_counter()
            film.clear()
            film.add(loaded_scene.job.scene, view, 1)
            film.develop_into(ToneSettings(), picture)
            samples.append(time.perf_counter() - start)
    finally:
        picture.close()
        film.close()
        loaded_scene.close()
    return samples[WARM:]
