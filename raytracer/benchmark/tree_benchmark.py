"""Trees over spheres that are built, refitted and rendered while spheres move: `bench live`, and
what `bench build` times of the renderer."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from pathlib import Path
from typing import Any

import numpy as np

from raytracer.backends.base import Device
from raytracer.backends.cuda.driver import get_primary_context
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.transfer import get_staging, upload
from raytracer.backends.cuda.tree import NODE_BYTES, DeviceTree, compute_build_sizes
from raytracer.backends.select import select_device
from raytracer.benchmark import record, statistics
from raytracer.benchmark.benchmark import Benchmark, BenchOptions, Tell, picture_size
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.record import Kind, Result, Row
from raytracer.benchmark.sources import list_sources
from raytracer.benchmark.sphere_kinds import KINDS, SEED, Array, spheres
from raytracer.config.arguments import check_whole, check_word
from raytracer.model.scene import Scene
from raytracer.model.settings import RenderSettings
from raytracer.packing.buffers import SceneBuffers, build_bvh
from raytracer.packing.pack import pack
from raytracer.packing.sphere_update import SphereUpdate
from raytracer.rendering.live_scene import LiveScene
from raytracer.rendering.pipeline import render
from raytracer.system.memory import require_room

STEP = 0.1  # of the radius of a sphere: what it moves along each axis in a step, at most
SPHERE_BYTES = 20  # of a tree beside its nodes: centre, radius, number
NEEDED = 152  # bytes of a sphere at most: generated, packed, built and moved; measured with 3e6
SIZES = {"cpu": (640, 480), "cuda": (1920, 1080)}  # of pictures

Rows = dict[str, list[Row]]


@dataclass(frozen=True)
class SpheresBenchmark(Benchmark):
    """A benchmark of spheres of several kinds and numbers.

    time: times one set of spheres, and returns rows by what is timed.
    """

    name: str
    summary: str
    counts: tuple[int, ...]  # of spheres, by default
    note: str  # what is timed
    time: Callable[[Device, Array, Array, BenchOptions], Rows]
    parts: tuple[str, ...]  # of the renderer, which are measured (`sources.RENDERER`)
    default_on: str = ""
    takes: tuple[str, ...] = ("sizes", "scenes")

    def listing(self, ideas: bool) -> Iterator[str]:
        yield f"{self.name}: {self.summary}, on the CPU or a GPU"
        yield f"  spheres {', '.join(map(str, self.counts))}; scenes:"
        for kind, (meaning, _) in KINDS.items():
            yield f"  {kind:<28} {meaning}"

    def check(self, options: BenchOptions) -> None:
        for word in options.scenes:
            check_word(word, f"{self.name} scene", list(KINDS), "kind of spheres")
        if options.axes:
            _picture("cpu", options)

    def sources(self, backend: str, options: BenchOptions) -> list[Path]:
        return list_sources(backend, *self.parts)

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> list[Result]:
        device, results = select_device("cuda" if session else "cpu"), list[Result]()
        counts = [
            check_whole(count, "size", 1, device.max_spheres)
            for count in options.counts(self.counts)
        ]
        most = max(counts)
        for_it, smaller = f"for {most:,} spheres", "give smaller sizes"
        require_room(f"bench {self.name}", NEEDED * most, for_it, smaller)
        time_set = self.timer(session, device, options, tell)
        for kind in options.scenes or KINDS:
            for count in counts:
                tell(f"{self.name}: {kind}, {count:,} spheres")
                axes: dict[str, int | str] = {"scene": kind, "spheres": count}
                axes |= _picture(device.name, options) if "axes" in self.takes else {}
                found = time_set(*spheres(kind, count))
                results += [record.result(op, axes, found[op], "warm", kind) for op in found]
        results[-1]["note"] = self.note
        return results

    def timer(
        self, session: Session | None, device: Device, options: BenchOptions, tell: Tell
    ) -> Callable[[Array, Array], Rows]:
        """Return what times a set of spheres in this run: it returns rows by what is timed."""
        return lambda centers, radii: self.time(device, centers, radii, options)


def _picture(backend: str, options: BenchOptions) -> dict[str, int]:
    """Return the size of pictures; raise UserError for an invalid one."""
    width, height = picture_size("live", options.axes, SIZES[backend])
    return {"width": width, "height": height}


def time_builds(device: Device, centers: Array, radii: Array, options: BenchOptions) -> Rows:
    settings = RenderSettings(width=64, height=64, samples=1)
    buffers = pack(Scene.from_arrays(centers, radii, "white"), settings)
    if device.name == "cuda":
        tree = _on_device(device.number, buffers)
        built = _row("build", partial(_build_there, tree), len(radii), options)
        context = get_primary_context(device.number)
        with context.lock, context.activate():
            nodes = int(tree.read_result()["node_count"])
    else:
        built = _row("build", partial(build_bvh, buffers), len(radii), options)
        nodes = len(build_bvh(buffers).nodes)
    built |= {"nodes": nodes, "bytes_per_sphere": NODE_BYTES * nodes / len(radii) + SPHERE_BYTES}
    return {"build": [built], "build refit": [_refitted(device, buffers, options)]}


def _live(device: Device, centers: Array, radii: Array, options: BenchOptions) -> Rows:
    settings: dict[str, Any] = {"backend": device, "samples": 1}
    settings |= _picture(device.name, options)
    moves = _turns(device, centers, _stepped(centers, radii))

    def anew() -> Any:
        return render(Scene.from_arrays(next(moves), radii, "white"), **settings).pixels(8)

    with LiveScene(Scene.from_arrays(centers, radii, "white"), **settings) as live:

        def step() -> Any:
            live.update(positions=next(moves))
            return live.pixels()

        def rebuilt() -> Any:
            live._open().scene.max_excess = -1.0
            return step()

        timed = {"scene made anew": anew, "small steps": step, "rebuilt": rebuilt}
        rows = [_row(name, run, len(radii), options) for name, run in timed.items()]
        for row in rows:
            row["title"] = f"{1 / row['time']['median']:,.1f} frames/s"
        rows.append(_row("picture", live.pixels, len(radii), options, "stage"))
    return {"live": rows}


LIVE = SpheresBenchmark(
    "live",
    "spheres that move: from new positions to a picture",
    (10_000,),
    "From new positions to 8-bit pixels on the host, one sample per pixel with shadows. scene "
    "made anew: `raytracer.render`. small steps: `LiveScene.update` with positions at most "
    f"{STEP} radii from those before, whose tree is refitted while it is good. rebuilt: with a "
    f"tree that is built for each picture. Seed {SEED}.",
    _live,
    ("build", "move", "refit", "direct", "tone"),
    takes=("sizes", "scenes", "axes"),
)


def _row(
    label: str, run: Callable[[], Any], count: int, options: BenchOptions, kind: Kind = "variant"
) -> Row:
    row = statistics.timed(record.row(label, "", kind), statistics.clocked(run, options.min_time))
    row["mspheres"] = 1e-6 * count / row["time"]["median"]
    return row


def _stepped(positions: Array, radii: Array) -> Array:
    """Return positions after a step in a random direction."""
    steps = np.random.default_rng(SEED).uniform(-STEP, STEP, positions.shape)
    return positions + (steps * radii[:, None]).astype(np.float32)


def _turns(device: Device, *positions: Array) -> Iterator[Any]:
    """Yield positions in turns, for ever, in the memory of the device."""
    if device.name != "cuda":
        return cycle(positions)
    return cycle([upload(device.number, each) for each in positions])


def _refitted(device: Device, buffers: SceneBuffers, options: BenchOptions) -> Row:
    positions, count = buffers.centers, buffers.count
    moves = _turns(device, _stepped(positions, buffers.radius), positions)
    with device.scene(buffers) as scene:
        scene.max_excess = 1e300  # built once

        def refit() -> None:
            scene.update(SphereUpdate(0, count, next(moves)))
            scene.find_moved_radii()  # waits until the tree of a GPU has followed

        return _row("refit", refit, count, options)


def _on_device(number: int, buffers: SceneBuffers) -> DeviceTree:
    """Return a tree to be built over spheres, which are in the memory of a GPU once and for all."""
    context, count, large = get_primary_context(number), buffers.count, buffers.large_id
    memory, copies = DeviceMemory(context), get_staging(number)
    sizes = compute_build_sizes(count, buffers.record_bytes) | {
        "records": buffers.record_bytes * count
    }
    with context.lock, context.activate():
        at = {name: memory.allocate(name, size) for name, size in sizes.items()}
        copies.to_device(large, memory.allocate("apart", large.nbytes))
        for index, column in enumerate(buffers.columns):
            copies.to_device(column, at["clusters"] + column.nbytes * index)
        tree = DeviceTree(number, memory, count, len(large))
        tree.interleave(copies.stream)
    return tree


def _build_there(tree: DeviceTree) -> None:
    context, stream = get_primary_context(tree.number), get_staging(tree.number).stream
    with context.lock, context.activate():
        tree.build(stream)
        stream.synchronize()
