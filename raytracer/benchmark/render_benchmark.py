"""`raytracer bench render`: the ladder of render kernels on the example scenes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from raytracer import bvh, resources
from raytracer.backends.select import select
from raytracer.benchmark import ncu, ray_count, record, render_levels, timing
from raytracer.benchmark.axes import picture_size
from raytracer.benchmark.benchmark import Machine, Tell
from raytracer.benchmark.explain import rung as rung_lines
from raytracer.benchmark.options import BenchOptions
from raytracer.benchmark.presentation import RenderPresentation
from raytracer.benchmark.record import Result, Row, device_of
from raytracer.benchmark.render_ladder import CHECKED, LONGEST, Ladder, rungs
from raytracer.errors import UserError, suggestion
from raytracer.scene.load import load
from raytracer.scene.pack import pack

if TYPE_CHECKING:
    from raytracer.buffers import SceneBuffers
    from raytracer.bvh import Bvh
    from raytracer.scene.scene import Scene

SIZE = (1280, 720)
BUILDS = 5
UNCUT = 1 << 40  # samples a launch: a frame is not cut, whatever it takes
PROFILED = "weekend"  # the scene that --profile renders if none is named
NOTE = (
    "Each rung renders what its `shows` says, and what comes before in this order: "
    + "; ".join(f"{level}: {text}" for level, text in render_levels.LEVELS.items())
    + ". x before: how many times as fast as the rung before, which may show less. Mrays/s: all "
    "rays of the picture by its time; a shadow ray is counted for each light that a surface faces. "
    "primary, shadow and reflection: rays of one kind by the time that a frame of one sample takes "
    "longer with them; primary has the shading. Bytes a sphere: nodes, geometry and order."
)


class RenderBenchmark:
    """The render kernels on example scenes, from a list of spheres to those of the product."""

    name = "render"
    by_default = False
    takes_kernels = False
    is_counted = True
    presentation = RenderPresentation()

    def listing(self) -> Iterator[str]:
        """Sizes, scenes and rungs."""
        yield "render: frames and builds of the example scenes, on the CPU or a GPU"
        yield f"  axes width {SIZE[0]}, height {SIZE[1]}; scenes {', '.join(names())}"
        for each in rungs("cuda"):
            assert each.variant is not None
            needs = ", ".join(map(str, each.variant.needs))
            yield f"  {each.label:<28} {needs:<10} {each.title}"

    def check(self, options: BenchOptions) -> None:
        """Size and scenes must make sense."""
        picture_size(self.name, dict(options.axes or {}), SIZE)
        chosen(options.scenes)

    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        """A result for each scene, the smallest first."""
        size = picture_size(self.name, dict(options.axes or {}), SIZE)
        results = [
            result(
                name, machine.backend, options.min_time, size, variant=options.variant, tell=tell
            )
            for name in chosen(options.scenes)
        ]
        if options.ncu:
            for each in results:
                tell(f"counting render {each['input']} with Nsight Compute")
                _count(each)
        results.sort(key=lambda each: int(each["axes"]["spheres"]))
        for each in results[:-1]:
            each["note"] = ""  # once is enough
        for each in results[:1]:
            machine.device.update(each["device"])
        return results

    def explain(self, options: BenchOptions, arch: str) -> str:
        """The levels of the picture, and each rung's idea."""
        lines = ["render: the example scenes, from a list of spheres to the product's kernels"]
        lines += [f"  shows {level}: {text}" for level, text in render_levels.LEVELS.items()]
        for each in rungs("cuda", options.variant):
            assert each.variant is not None
            lines += ["", *rung_lines(each.variant, arch, {}, {})]
        return "\n".join(lines) + "\n"

    def profile(self, options: BenchOptions) -> list[str]:
        """One frame of each rung."""
        size = picture_size(self.name, dict(options.axes or {}), SIZE)
        return profile(options.variant, options.scenes, size)


def names() -> list[str]:
    """The example scenes, sorted."""
    folder = Path(str(resources.scenes()))
    return sorted(path.stem for path in folder.glob("*.toml"))


def chosen(selection: Sequence[str]) -> list[str]:
    """Example scenes by name, all if none is wanted; raises UserError for an unknown one."""
    available = names()
    for word in selection:
        if word not in available:
            raise UserError(f"there is no example scene {word!r}; {suggestion(word, available)}")
    return list(selection) or available


def result(
    name: str,
    backend: str,
    min_time: float,
    size: tuple[int, int] = SIZE,
    *,
    variant: Sequence[str] = (),
    checked: tuple[int, int] = CHECKED,
    longest: float = LONGEST,
    tell: Tell = lambda _: None,
) -> Result:
    """One example scene as a record's result: the stages before the first frame, then the ladder.

    backend: "cpu" or "cuda". min_time: seconds of frames for each rung. size, checked: of the
    timed and of the checked pictures, in pixels. variant: rungs by label, name or number. longest:
    seconds that a frame may take; what would take longer is listed and not timed.
    """
    ladder_rungs = rungs(backend, variant)
    tell(f"loading {name}")
    scene, buffers, tree, stages = _prepared(name, size)
    device = select(backend)
    tell(f"counting the rays of {name}")
    rays = ray_count.count(render_levels.view(buffers, "mirrors", size), tree, device)
    ladder = Ladder(buffers, tree, size, checked, longest)
    rows = ladder.run(ladder_rungs, min_time, rays, tell)
    stages |= {f"build {layout}": [seconds] for layout, seconds in ladder.arranging.items()}
    return {
        "op": "render",
        "axes": {"scene": name, "width": size[0], "height": size[1], "spheres": scene.count},
        "dtype": "float32",
        "input": name,
        "mode": "frames",
        "backend": backend,
        "work": {"flop": 0, "bytes_read": 0, "bytes_written": 0},
        "hits": rays.hit,
        "rays_by_bounce": {
            "shadow": list(rays.shadow),
            "reflection": list(rays.reflection),
        },
        "note": NOTE,
        "device": device_of(device),
        "rows": [*rows, *(_stage(what, seconds, scene.count) for what, seconds in stages.items())],
    }


def profile(
    words: Sequence[str], scenes: Sequence[str] = (), size: tuple[int, int] = SIZE
) -> list[str]:
    """One frame, one launch, of each rung between profiler marks; the labels of those that ran."""
    from raytracer.backends.cuda.context import primary_context
    from raytracer.backends.cuda.launch import Pacer
    from raytracer.backends.cuda.scene import CudaScene
    from raytracer.film.film import Film

    _, buffers, tree, _ = _prepared((chosen(scenes) if scenes else [PROFILED])[0], size)
    ladder, labels = Ladder(buffers, tree, size), []
    for each in rungs("cuda", words):
        buffers_at_level, device = render_levels.view(buffers, each.level, size), each.device()
        tree = ladder.arranged(each.layout)
        with device.film(Film.blank(*size)) as film, device.scene(buffers_at_level, tree) as scene:
            assert isinstance(scene, CudaScene)
            scene.pacer = Pacer(UNCUT)
            render_levels.expose(film, scene, buffers_at_level.view)
            scene.pacer = Pacer(UNCUT)  # it has learnt from a frame that may have been slow
            with primary_context(device.number).active() as driver:
                driver.start_profiler()
                render_levels.expose(film, scene, buffers_at_level.view)
                driver.stop_profiler()
        labels.append(each.label)
    return labels


def _path(name: str) -> Path:
    return Path(str(resources.scenes())) / f"{name}.toml"


def _prepared(
    name: str, size: tuple[int, int]
) -> tuple[Scene, SceneBuffers, Bvh, dict[str, list[float]]]:
    """Scene, buffers, tree, and the seconds of each stage."""
    stages: dict[str, list[float]] = {}
    begin = time.perf_counter()
    scene = load(_path(name))
    stages["load"] = [time.perf_counter() - begin]
    begin = time.perf_counter()
    buffers = pack(scene, scene.render.override(width=size[0], height=size[1], samples=1))
    stages["pack"] = [time.perf_counter() - begin]
    stages["build"] = []
    for _ in range(BUILDS):
        begin = time.perf_counter()
        tree = bvh.build(buffers)
        stages["build"].append(time.perf_counter() - begin)
    return scene, buffers, tree, stages


def _stage(what: str, samples: list[float], spheres: int) -> Row:
    row = record.row(what, "on the host, before the first frame", "stage")
    row["time"], row["samples"] = timing.statistics(samples), samples
    row["mspheres"] = 1e-6 * spheres / row["time"]["median"]
    return row


def _count(result: Result) -> None:
    """Add Nsight Compute's counters to the rungs that were timed."""
    labels = [r["label"] for r in result["rows"] if r["kind"] == "variant" and r["status"] == "ok"]
    arguments = ["--scene", result["input"]]
    for name in ("width", "height"):
        arguments += ["--axis", f"{name}={result['axes'][name]}"]
    arguments += [word for label in labels for word in ("--variant", label)]
    if labels:
        ncu.add(result, dict.fromkeys(labels, 1), ncu.profile("render", arguments))
