"""`raytracer bench render`: variants of the render kernel on example scenes."""

from collections.abc import Iterator, Sequence
from pathlib import Path

from raytracer.arguments import one_of
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.launch import Pacer
from raytracer.backends.cuda.scene import CudaScene
from raytracer.benchmark import record, render_levels
from raytracer.benchmark.benchmark import Benchmark, kernel_lines
from raytracer.benchmark.cuda.timing import Session
from raytracer.benchmark.options import BenchOptions, Tell, picture_size
from raytracer.benchmark.record import Result
from raytracer.benchmark.render_ladder import Ladder, rungs
from raytracer.buffers import build_bvh
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
    takes = ("variant", "axes", "scenes")

    def listing(self, ideas: bool) -> Iterator[str]:
        yield "render: frames of the example scenes, on the CPU or a GPU"
        yield f"  axes width {SIZE[0]}, height {SIZE[1]}; scenes {', '.join(SCENES)}"
        yield from kernel_lines(discover("render"), ideas)

    def check(self, options: BenchOptions) -> None:
        picture_size(self.name, options.axes, SIZE)
        chosen(options.scenes)

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> list[Result]:
        size, results = picture_size(self.name, options.axes, SIZE), list[Result]()
        for name in chosen(options.scenes):
            tell(f"loading {name}")
            ladder = ladder_of(name, size)
            chosen_rungs = rungs("cuda" if session else "cpu", options.variant)
            rows = ladder.run(chosen_rungs, options.min_time, tell)
            axes: dict[str, int | str] = {"scene": name, "width": size[0], "height": size[1]}
            axes["spheres"] = ladder.buffers.count
            results.append(record.result("render", axes, rows, "frames", name))
        results.sort(key=lambda each: int(each["axes"]["spheres"]))
        results[-1]["note"] = NOTE
        return results

    def profile(self, options: BenchOptions) -> list[str]:
        size, labels = picture_size(self.name, options.axes, SIZE), list[str]()
        ladder = ladder_of(chosen(options.scenes or [PROFILED])[0], size)
        for rung in rungs("cuda", options.variant):
            with ladder.opened(rung, size) as (film, scene, view):
                assert isinstance(scene, CudaScene)
                scene.pacer = Pacer(UNCUT)
                render_levels.expose(film, scene, view)
                scene.pacer = Pacer(UNCUT)  # the first frame changed its limit
                with primary_context(scene.number).active() as driver:
                    driver.start_profiler()
                    render_levels.expose(film, scene, view)
                    driver.stop_profiler()
            labels.append(rung.label)
        return labels


def chosen(selection: Sequence[str]) -> list[str]:
    """Return example scenes by name, all by default; raise UserError for an unknown one."""
    return [one_of(name, "render", SCENES, "example scene") for name in selection or SCENES]


def ladder_of(name: str, size: tuple[int, int]) -> Ladder:
    """Return the ladder on an example scene."""
    scene = load(SCENE_FOLDER / f"{name}.toml")
    buffers = pack(scene, scene.render.override(width=size[0], height=size[1], samples=1))
    return Ladder(buffers, build_bvh(buffers), size)
