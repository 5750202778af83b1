"""`raytracer bench render`: variants of the render kernel on example scenes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from raytracer.arguments import one_of
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.launch import Pacer
from raytracer.backends.cuda.scene import CudaScene
from raytracer.backends.select import select
from raytracer.benchmark import record, render_levels, timing
from raytracer.benchmark.benchmark import Benchmark, Machine, Tell
from raytracer.benchmark.explain import rung as rung_lines
from raytracer.benchmark.options import BenchOptions, picture_size
from raytracer.benchmark.record import Result, device_of
from raytracer.benchmark.render_ladder import Ladder, rungs
from raytracer.buffers import build_bvh
from raytracer.errors import UserError
from raytracer.film.film import Film
from raytracer.scene.load import load
from raytracer.scene.packing.pack import pack
from raytracer.scene.scene import Scene

if TYPE_CHECKING:
    from raytracer.buffers import Bvh, SceneBuffers

SIZE = (1280, 720)
BUILDS = 5
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

    def listing(self) -> Iterator[str]:
        """Yield sizes, scenes and kernels."""
        yield "render: frames and builds of the example scenes, on the CPU or a GPU"
        yield f"  axes width {SIZE[0]}, height {SIZE[1]}; scenes {', '.join(SCENES)}"
        for each in rungs("cuda"):
            assert each.variant is not None
            needs = ", ".join(map(str, each.variant.needs))
            yield f"  {each.label:<28} {needs:<10} {each.title}"

    def check(self, options: BenchOptions) -> None:
        """Validate size and scenes."""
        picture_size(self.name, options.axes, SIZE)
        chosen(options.scenes)

    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        """Return a result for each scene, the smallest first."""
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

    def explain(self, options: BenchOptions, arch: str) -> str:
        """Describe the levels of the picture, and idea and resources of each kernel."""
        lines = ["render: the example scenes, from a list of spheres to the production kernels"]
        lines += [f"  shows {level}: {text}" for level, text in render_levels.LEVELS.items()]
        for each in rungs("cuda", options.variant):
            assert each.variant is not None
            lines += ["", *rung_lines(each.variant, arch, {})]
        return "\n".join(lines) + "\n"

    def profile(self, options: BenchOptions) -> list[str]:
        """Render one frame in one launch with each kernel between profiler marks."""
        size = picture_size(self.name, options.axes, SIZE)
        name = chosen(options.scenes)[0] if options.scenes else PROFILED
        _, buffers, tree, _ = _prepared(name, size)
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
    """Measure one example scene: the kernels, and the stages before the first frame."""
    ladder_rungs = rungs(backend, variant)
    tell(f"loading {name}")
    scene, buffers, tree, stages = _prepared(name, size)
    ladder = Ladder(buffers, tree, size)
    rows = ladder.run(ladder_rungs, min_time, tell)
    stages |= {f"build {layout}": [seconds] for layout, seconds in ladder.arranging.items()}
    count = scene.count
    for what, seconds in stages.items():
        rows.append(timing.row(what, seconds, "on the host, before the first frame", "stage"))
        rows[-1]["mspheres"] = 1e-6 * count / rows[-1]["time"]["median"]
    sizes = {"width": size[0], "height": size[1], "spheres": count}
    made = record.result("render", {"scene": name, **sizes}, rows, "frames", name)
    made["backend"], made["note"], made["device"] = backend, NOTE, device_of(select(backend))
    return made


def _prepared(
    name: str, size: tuple[int, int]
) -> tuple[Scene, SceneBuffers, Bvh, dict[str, list[float]]]:
    """Load, pack and build; return scene, buffers, tree, and seconds by stage."""
    stages: dict[str, list[float]] = {}
    begin = time.perf_counter()
    scene = load(SCENE_FOLDER / f"{name}.toml")
    stages["load"] = [time.perf_counter() - begin]
    begin = time.perf_counter()
    buffers = pack(scene, scene.render.override(width=size[0], height=size[1], samples=1))
    stages["pack"] = [time.perf_counter() - begin]
    stages["build"] = []
    for _ in range(BUILDS):
        begin = time.perf_counter()
        tree = build_bvh(buffers)
        stages["build"].append(time.perf_counter() - begin)
    return scene, buffers, tree, stages
