"""`raytracer bench render`: the ladder of render kernels on the example scenes."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from raytracer import bvh, resources
from raytracer.backends.select import select
from raytracer.benchmark import ncu, noise, pictures, rays, record
from raytracer.benchmark.axes import picture_size
from raytracer.benchmark.benchmark import Machine, Tell
from raytracer.benchmark.choice import Choice
from raytracer.benchmark.explain import rung as rung_lines
from raytracer.benchmark.ladder import CHECKED, LONGEST, Ladder, rungs
from raytracer.benchmark.presentation import RenderPresentation
from raytracer.benchmark.record import Result, Row
from raytracer.benchmark.results import device_of
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
    + "; ".join(f"{level}: {text}" for level, text in pictures.LEVELS.items())
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

    def check(self, choice: Choice) -> None:
        """Size and scenes must make sense."""
        picture_size(self.name, dict(choice.axes or {}), SIZE)
        chosen(choice.scenes)

    def run(self, machine: Machine, choice: Choice, tell: Tell) -> list[Result]:
        """A result for each scene, the smallest first."""
        size = picture_size(self.name, dict(choice.axes or {}), SIZE)
        made = [
            result(name, machine.backend, choice.min_time, size, variant=choice.variant, tell=tell)
            for name in chosen(choice.scenes)
        ]
        if choice.ncu:
            for each in made:
                tell(f"counting render {each['input']} with Nsight Compute")
                _count(each)
        made.sort(key=lambda each: int(each["axes"]["spheres"]))
        for each in made[:-1]:
            each["note"] = ""  # once is enough
        for each in made[:1]:
            machine.device.update(each["device"])
        return made

    def explain(self, choice: Choice, arch: str) -> str:
        """The levels of the picture, and each rung's idea."""
        lines = ["render: the example scenes, from a list of spheres to the product's kernels"]
        lines += [f"  shows {level}: {text}" for level, text in pictures.LEVELS.items()]
        for each in rungs("cuda", choice.variant):
            assert each.variant is not None
            lines += ["", *rung_lines(each.variant, arch, {}, {})]
        return "\n".join(lines) + "\n"

    def profile(self, choice: Choice) -> list[str]:
        """One frame of each rung."""
        size = picture_size(self.name, dict(choice.axes or {}), SIZE)
        return profile(choice.variant, choice.scenes, size)


def names() -> list[str]:
    """The example scenes, sorted."""
    folder = Path(str(resources.scenes()))
    return sorted(path.stem for path in folder.glob("*.toml"))


def chosen(wanted: Sequence[str]) -> list[str]:
    """Example scenes by name, all if none is wanted; raises UserError for an unknown one."""
    known = names()
    for word in wanted:
        if word not in known:
            raise UserError(f"there is no example scene {word!r}; {suggestion(word, known)}")
    return list(wanted) or known


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
    counted = rays.count(pictures.view(buffers, "mirrors", size), tree, device)
    ladder = Ladder(buffers, tree, size, checked, longest)
    rows = ladder.race(ladder_rungs, min_time, counted, tell)
    stages |= {f"build {layout}": [taken] for layout, taken in ladder.arranging.items()}
    return {
        "op": "render",
        "axes": {"scene": name, "width": size[0], "height": size[1], "spheres": scene.count},
        "dtype": "float32",
        "input": name,
        "mode": "frames",
        "backend": backend,
        "work": {"flop": 0, "bytes_read": 0, "bytes_written": 0},
        "hits": counted.hit,
        "rays_by_bounce": {
            "shadow": list(counted.shadow),
            "reflection": list(counted.reflection),
        },
        "note": NOTE,
        "device": device_of(device),
        "rows": [*rows, *(_stage(what, taken, scene.count) for what, taken in stages.items())],
    }


def profile(
    wanted: Sequence[str], scenes: Sequence[str] = (), size: tuple[int, int] = SIZE
) -> list[str]:
    """One frame, one launch, of each rung between profiler marks; the labels of those that ran."""
    from raytracer.backends.cuda.context import primary_context
    from raytracer.backends.cuda.launch import Pacer
    from raytracer.backends.cuda.scene import CudaScene
    from raytracer.film.film import Film

    _, buffers, tree, _ = _prepared((chosen(scenes) if scenes else [PROFILED])[0], size)
    ladder, ran = Ladder(buffers, tree, size), []
    for each in rungs("cuda", wanted):
        seen, device = pictures.view(buffers, each.level, size), each.device()
        tree = ladder.arranged(each.layout)
        with device.film(Film.blank(*size)) as film, device.scene(seen, tree) as scene:
            assert isinstance(scene, CudaScene)
            scene.pacer = Pacer(UNCUT)
            pictures.expose(film, scene, seen.view)
            scene.pacer = Pacer(UNCUT)  # it has learnt from a frame that may have been slow
            with primary_context(device.number).active() as driver:
                driver.start_profiler()
                pictures.expose(film, scene, seen.view)
                driver.stop_profiler()
        ran.append(each.label)
    return ran


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
    made = record.row(what, "on the host, before the first frame", "stage")
    made["time"], made["samples"] = noise.statistics(samples), samples
    made["mspheres"] = 1e-6 * spheres / made["time"]["median"]
    return made


def _count(result: Result) -> None:
    """Add Nsight Compute's counters to the rungs that were timed."""
    ran = [r["label"] for r in result["rows"] if r["kind"] == "variant" and r["status"] == "ok"]
    options = ["--scene", result["input"]]
    for name in ("width", "height"):
        options += ["--axis", f"{name}={result['axes'][name]}"]
    options += [word for label in ran for word in ("--variant", label)]
    if ran:
        ncu.add(result, dict.fromkeys(ran, 1), ncu.profile("render", options))
