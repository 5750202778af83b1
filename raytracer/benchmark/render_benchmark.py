"""`raytracer bench render`: variants of the render kernel on example scenes.

They are checked against the pictures of the CPU, and timed in turns, at the level of the picture
that each shows.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import CpuDevice, Device, DeviceFilm, DeviceScene
from raytracer.backends.cuda.launch import Pacer
from raytracer.backends.cuda.run import CudaDevice
from raytracer.backends.cuda.scene import CudaScene
from raytracer.backends.kernel_sources import Variant, discover_variants
from raytracer.benchmark import binary_tree, record, statistics
from raytracer.benchmark.benchmark import (
    Benchmark,
    BenchOptions,
    Tell,
    kernel_lines,
    list_names,
    matching,
    picture_size,
    reported,
)
from raytracer.benchmark.cuda.session import Enqueue, Session
from raytracer.benchmark.record import Resources, Result, Row
from raytracer.benchmark.sources import list_sources
from raytracer.config.arguments import check_word
from raytracer.film.film import Film
from raytracer.model.settings import FILTER_RADII
from raytracer.packing.buffers import Bvh, SceneBuffers, build_bvh
from raytracer.packing.pack import pack
from raytracer.packing.view import View
from raytracer.scene_files.load import load
from raytracer.system.layout import enum_value

SIZE = (1280, 720)
CHECKED = (321, 181)  # pixels of the compared pictures; not multiples of a tile
LONGEST = 0.5  # seconds; kernels with an estimate above it are listed and not timed
WARM = 0.05  # seconds; a shorter first frame is repeated, because clocks and caches are cold
UNCUT = 1 << 40  # samples per launch, so that a frame is one launch
SCENES = (
    "cloud", "crystal", "galaxy", "molecule", "pile", "plummer", "sphereflake", "three_balls",
    "weekend",
)  # fmt: skip
"""Scenes that the kernels of the ladder render: spheres in direct light."""

SCENE_FOLDER = Path(__file__).parent / "scenes"
"""Copies of example scenes that stay as they are, so that records remain comparable."""

PROFILED = "weekend"  # default scene of --profile

# Contents of a picture, each level with all before it: `shows:` in the header of a variant.
LEVELS = {
    "flat": "parallel rays, flat colours",
    "perspective": "rays from one point",
    "phong": "the scene's lights, without shadows",
    "shadows": "a ray to each light that a surface faces",
    "mirrors": "reflections, as deep as the scene says",
    "samples": "4 samples a pixel and the scene's filter",
}
SAMPLES = 4  # of a pixel, at the last level
# Two pictures are equal if at most SHARE of the pixels differ by more than STEP in a channel of
# sRGB (0..65535), and the mean difference is at most MEAN: edges depend on rounding.
STEP, SHARE, MEAN = 514, 1e-3, 6.5
NOTE = (
    "Each kernel renders the contents of its `shows` and all levels before it: "
    + "; ".join(f"{level}: {text}" for level, text in LEVELS.items())
    + ". x before: speed relative to the kernel before, which may show less. Msamples/s: samples "
    "of pixels. bytes/sphere: nodes, geometry and order. Trees are built on the host, also for a "
    "GPU, where other pictures have one that was built there. cpu_ kernels are the reference of "
    "the others."
)

# Memory layouts of a scene: `layout:` in the header of a variant.
LAYOUTS = {
    "": "wide compressed nodes; spheres float32 (N, 4) in leaf order",
    "binary": "a binary tree of float boxes; spheres in its leaf order",
    "list": "the same spheres without nodes",
    "soa": "struct of arrays x, y, z, radius: float32 (4, N)",
    "aos": "array of structs centre, radius, colour: float32 (N, 7)",
}

Frame = Callable[[], float]  # renders a frame, and returns the seconds


class RenderBenchmark(Benchmark):
    """Render kernels on example scenes, from a list of spheres to the production kernels."""

    name = "render"
    takes = ("variant", "axes", "scenes")

    def listing(self, ideas: bool) -> Iterator[str]:
        yield "render: frames of the example scenes, on the CPU or a GPU"
        yield f"  axes width {SIZE[0]}, height {SIZE[1]}; scenes {', '.join(SCENES)}"
        yield from kernel_lines(discover_variants("render"), ideas)

    def check(self, options: BenchOptions) -> None:
        picture_size(self.name, options.axes, SIZE)
        for name in options.scenes:
            check_word(name, "render", SCENES, "example scene")

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> list[Result]:
        size, results = picture_size(self.name, options.axes, SIZE), list[Result]()
        for name in options.scenes or SCENES:
            tell(f"loading {name}")
            ladder = make_ladder(name, size)
            chosen = rungs("cuda" if session else "cpu", options.variant)
            rows = ladder.run(chosen, options.min_time, tell)
            axes: dict[str, int | str] = {"scene": name, "width": size[0], "height": size[1]}
            axes["spheres"] = ladder.buffers.count
            results.append(record.result("render", axes, rows, "frames", name))
        results.sort(key=lambda each: int(each["axes"]["spheres"]))
        results[-1]["note"] = NOTE
        return results

    def sources(self, backend: str, options: BenchOptions) -> list[Path]:
        variants = [rung.variant for rung in rungs(backend, options.variant)]
        return (
            list_sources("cpu", "direct")
            if backend == "cpu"
            else [variant.translation_unit for variant in variants if variant]
        )

    def launches(self, session: Session, options: BenchOptions) -> Iterator[tuple[str, Enqueue]]:
        size = picture_size(self.name, options.axes, SIZE)
        ladder = make_ladder((options.scenes or (PROFILED,))[0], size)
        for rung in rungs("cuda", options.variant):
            with ladder.opened(rung, size) as opened:
                yield rung.label, partial(_expose_at_once, *opened)


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
        return CudaDevice(kernel=self.variant) if self.variant else CpuDevice()


def rungs(backend: str, words: Sequence[str] = ()) -> list[Rung]:
    """Return the kernels of "cpu" or "cuda" by label, name or number, all without words."""
    every = [Rung(f"cpu_{level}", text, level) for level, text in LEVELS.items()]
    if backend == "cuda":
        every = [Rung(v.label, v.title, v.shows, v.layout, v) for v in discover_variants("render")]
    return matching(
        every, words, lambda r: list_names(r.variant) if r.variant else (r.label, r.level), "render"
    )


def make_ladder(name: str, size: tuple[int, int]) -> "Ladder":
    """Return the ladder on an example scene."""
    scene = load(SCENE_FOLDER / f"{name}.toml")
    buffers = pack(scene, scene.render.override(width=size[0], height=size[1], samples=1))
    return Ladder(buffers, build_bvh(buffers), size)


class Ladder:
    """The render kernels on one scene, packed with one sample per pixel."""

    def __init__(
        self, buffers: SceneBuffers, tree: Bvh, size: tuple[int, int],
        checked: tuple[int, int] = CHECKED,
    ) -> None:  # fmt: skip
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
                with reported(row):
                    if rung.variant is not None:  # the pictures of the CPU are the reference
                        self._check(rung, row)
                    if row["status"] == "ok":
                        opened = stack.enter_context(self.opened(rung, self.size))
                        frames.append((rung, row, partial(expose, *opened)))
                        nbytes = self.arranged(rung.layout).nbytes
                        row["bytes_per_sphere"] = nbytes / max(self.buffers.count, 1)
            tell("timing render")
            for *_, frame in frames:
                frame()
            turns = [partial(statistics.repeated, frame) for *_, frame in frames]
            every = statistics.in_turns(turns, min_time)
        for (rung, row, _), groups in zip(frames, every, strict=True):
            work = self.size[0] * self.size[1] * (SAMPLES if rung.level == "samples" else 1)
            row["msamples"] = 1e-6 * work / statistics.timed(row, groups)["time"]["median"]
        return rows

    def arranged(self, layout: str) -> Bvh:
        """Return the scene in a layout, converted once; raise UserError for an unknown one."""
        check_word(layout, "a render kernel", LAYOUTS, "layout")
        if layout not in self._trees:
            tree = self._trees[""]
            spheres = tree.spheres
            if layout == "binary":
                self._trees[layout] = binary_tree.build(tree, len(self.buffers.large))
                return self._trees[layout]
            if layout == "soa":
                spheres = np.ascontiguousarray(spheres.T)
            elif layout == "aos":
                colors = _colors(self.buffers)[tree.order]
                spheres = np.concatenate([spheres, colors], axis=1, dtype=np.float32)
            self._trees[layout] = replace(tree, nodes=tree.nodes[:0], spheres=spheres)
        return self._trees[layout]

    @contextmanager
    def opened(
        self, rung: Rung, size: tuple[int, int]
    ) -> Iterator[tuple[DeviceFilm, DeviceScene, View]]:
        """Upload the scene for a kernel; yield a blank film, the scene and the view."""
        device, tree = rung.device(), self.arranged(rung.layout)
        buffers = seen(self.buffers, rung.level, size)
        with device.film(Film.blank(*size)) as film, device.scene(buffers, tree) as scene:
            yield film, scene, buffers.view

    def _check(self, rung: Rung, row: Row) -> None:
        """Compare with the picture of the CPU; estimate the time of the timed picture."""
        with self.opened(rung, self.checked) as (film, scene, view):
            duration = expose(film, scene, view)
            described = scene.describe(view)
            if rung.variant is not None:
                described["shared"] = described.get("shared_bytes", 0)
                described["threads"] = rung.variant.threads
            row["resources"] = cast(Resources, described)
            if reason := difference(film.to_host(), self.reference(rung.level)):
                row["status"], row["reason"] = "wrong", reason
                return
            if duration < WARM:
                duration = expose(film, scene, view)
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
                expose(film, scene, view)
                self._references[level] = film.to_host()
        return self._references[level]


def seen(buffers: SceneBuffers, level: str, size: tuple[int, int]) -> SceneBuffers:
    """Return the buffers of a scene with the view of a level, in a size in pixels."""
    parts = list(LEVELS)[: list(LEVELS).index(level) + 1]
    (width, height), whole = size, buffers.view
    view = whole.with_size(width, height)
    view = view.with_samples(0, SAMPLES if "samples" in parts else 1)
    if "phong" not in parts:
        view = view.with_lights(buffers.view.lights[:0], 1.0)
    view = view.but(shadows=int("shadows" in parts))
    if "mirrors" not in parts:
        view = view.but(max_depth=0)
    if "samples" not in parts:
        view = view.through_centers()
    elif view.centered:
        gaussian = FILTER_RADII["gaussian"]
        view = view.but(filter=enum_value("FilterKind", "gaussian"), filter_radius=gaussian)
    aspect = width / height / (whole.width / whole.height)
    camera = _camera(buffers.view.camera, aspect, "perspective" in parts)
    return replace(buffers, view=replace(view, camera=camera))


def _camera(camera: NDArray[np.void], aspect: float, perspective: bool) -> NDArray[np.void]:
    """Return the camera, or an orthographic one with the same field at the scene centre."""
    camera = camera.copy()
    camera["right"] *= np.float32(aspect)
    if not perspective and camera["kind"][0] == enum_value("CameraKind", "perspective"):
        # The centre of the scene is the origin of render space.
        away = max(float(-(camera["origin"][0] @ camera["forward"][0])), 0.5)
        camera["kind"] = enum_value("CameraKind", "orthographic")
        camera["right"] *= np.float32(away)
        camera["up"] *= np.float32(away)
    return camera


def _colors(buffers: SceneBuffers) -> NDArray[np.float32]:
    """Return the colour of each sphere, float32 (N, 3)."""
    mode = int(buffers.view.frame["scene"]["color_mode"][0])
    if mode == enum_value("ColorMode", "uniform"):
        return np.broadcast_to(buffers.color[0], (buffers.count, 3))
    is_own = mode == enum_value("ColorMode", "per-sphere")
    return buffers.color if is_own else buffers.color[buffers.color_id]


def expose(film: DeviceFilm, scene: DeviceScene, view: View) -> float:
    """Clear a film and render all samples of a view to it; return seconds."""
    film.clear()
    return film.add(scene, view, view.samples)


def _expose_at_once(film: DeviceFilm, scene: DeviceScene, view: View) -> None:
    assert isinstance(scene, CudaScene)
    scene.pacer = Pacer(UNCUT)  # a frame before has changed its limit
    expose(film, scene, view)


def difference(film: Film, reference: Film) -> str:
    """Describe the difference of a picture from its reference; "" if they are equal."""
    if not np.isfinite(film.sums).all():
        return "the picture contains values that are not finite"
    off = np.abs(film.tonemap(bits=16).astype(np.int64) - reference.tonemap(bits=16))
    wrong = (off > STEP).any(axis=-1)
    if wrong.mean() > SHARE:
        y, x = (int(value) for value in np.argwhere(wrong)[0])
        return f"{int(wrong.sum())} of {wrong.size} pixels differ from the CPU's, first {x},{y}"
    if off.mean() > MEAN:
        return f"the picture differs from the CPU's by {off.mean() / 65535:.2g} on average"
    return ""
