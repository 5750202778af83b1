"""`raytracer bench render`: variants of the render kernel on example scenes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from raytracer.arguments import one_of
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.launch import Pacer
from raytracer.backends.cuda.scene import CudaScene
from raytracer.backends.select import select
from raytracer.benchmark import record, render_levels
from raytracer.benchmark.benchmark import Benchmark, Machine, Tell, kernel_lines
from raytracer.benchmark.options import BenchOptions, picture_size
from raytracer.benchmark.record import Result, device_of
from raytracer.benchmark.render_ladder import Ladder, rungs
from raytracer.buffers import Bvh, SceneBuffers, build_bvh
from raytracer.errors import UserError
from raytracer.film.film import Film
from raytracer.scene.load import load
from raytracer.scene.packing.pack import pack
from raytracer.variants.discovery import discover

SIZE = (1280, 720)
UNCUT = 1 << 40  # samples per launch, so that a frame is one launch
SCENES = (
    "cloud", "crystal", "galaxy", "molecule", "pile", "plummer", "sphereflake", "three_balls",
    "weekend",
)  # fmt: skip
"""Scenes that the kernels of the ladder render: spheres in direct light."""

SCENE_FOLDER = Path(__file__).parent / "scenes"
"""Copies of example scenes that stay as they are, so that records remain comparable."""

PROFILED = "weekend"  # default scene of --profile
NOTE = (
    "Each kernel renders the contents of its `shows` and all levels before it: "
    + "; ".join(f"{level}: {text}" for level, text in render_levels.LEVELS.items())
    + ". x before: speed relative to the kernel before, which may show less. Msamples/s: samples "
    "of pixels. bytes/sphere: nodes, geometry and order."
)


class RenderBenchmark(Benchmark):
    """Render kernels on example scenes, from a list of spheres to the production kernels."""

    name = "render"
    takes_scenes = True

    def listing(self, ideas: bool) -> Iterator[str]:
        yield "render: frames of the example scenes, on the CPU or a GPU"
        yield f"  axes width {SIZE[0]}, height {SIZE[1]}; scenes {', '.join(SCENES)}"
        yield from kernel_lines(discover("render"), ideas)

    def check(self, options: BenchOptions) -> None:
        picture_size(self.name, options.axes, SIZE)
        chosen(options.scenes)

    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        size = picture_size(self.name, options.axes, SIZE)
        results = [
            result(
                name, machine.backend, options.min_time, size, variant=options.variant, tell=tell
            )
            for name in chosen(options.scenes)
        ]
        results.sort(key=lambda each: int(each["axes"]["spheres"]))
        for each in results[:-1]:
            each["note"] = ""  # printed once
        for each in results[:1]:
            machine.device.update(each["device"])
        return results

    def profile(self, options: BenchOptions) -> list[str]:
        size = picture_size(self.name, options.axes, SIZE)
        name = chosen(options.scenes)[0] if options.scenes else PROFILED
        buffers, tree = _prepared(name, size)
        ladder, labels = Ladder(buffers, tree, size), []
        for each in rungs("cuda", options.variant):
            level_buffers, device = render_levels.view(buffers, each.level, size), each.device()
            arranged = ladder.arranged(each.layout)
            with (
                device.film(Film.blank(*size)) as film,
                device.scene(level_buffers, arranged) as scene,
            ):
                assert isinstance(scene, CudaScene)
                scene.pacer = Pacer(UNCUT)
                render_levels.expose(film, scene, level_buffers.view)
                scene.pacer = Pacer(UNCUT)  # the first frame changed its limit
                with primary_context(device.number).active() as driver:
                    driver.start_profiler()
                    render_levels.expose(film, scene, level_buffers.view)
                    driver.stop_profiler()
            labels.append(each.label)
        return labels


def chosen(selection: Sequence[str]) -> list[str]:
    """Return example scenes by name, all by default; raise UserError for an unknown one."""
    return [
        one_of(name, "render", SCENES, "example scene", UserError) for name in selection or SCENES
    ]


def result(
    name: str,
    backend: str,
    min_time: float,
    size: tuple[int, int] = SIZE,
    *,
    variant: Sequence[str] = (),
    tell: Tell = lambda _: None,
) -> Result:
    """Measure one example scene."""
    tell(f"loading {name}")
    buffers, tree = _prepared(name, size)
    rows = Ladder(buffers, tree, size).run(rungs(backend, variant), min_time, tell)
    axes: dict[str, int | str] = {"scene": name, "width": size[0], "height": size[1]}
    axes["spheres"] = buffers.count
    made = record.result("render", axes, rows, "frames", name)
    made["backend"], made["note"], made["device"] = backend, NOTE, device_of(select(backend))
    return made


def _prepared(name: str, size: tuple[int, int]) -> tuple[SceneBuffers, Bvh]:
    scene = load(SCENE_FOLDER / f"{name}.toml")
    buffers = pack(scene, scene.render.override(width=size[0], height=size[1], samples=1))
    return buffers, build_bvh(buffers)
