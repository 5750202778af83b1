"""`raytracer bench build` and `live`: trees over spheres, and pictures of spheres that move."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer.arguments import one_of, whole
from raytracer.backends.base import TREE, Device
from raytracer.backends.cuda.driver import primary_context
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.transfer import staging, upload
from raytracer.backends.cuda.tree import NODE_BYTES, DeviceTree, build_sizes
from raytracer.backends.select import select
from raytracer.benchmark import record, statistics
from raytracer.benchmark.benchmark import Benchmark, BenchOptions, Tell, picture_size
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.record import Kind, Result, Row
from raytracer.benchmark.sphere_kinds import KINDS, SEED, Array, spheres
from raytracer.buffers import Bvh, SceneBuffers, build_bvh
from raytracer.live_scene import LiveScene
from raytracer.pipeline import render
from raytracer.scene.packing.pack import pack
from raytracer.scene.scene import Scene
from raytracer.settings import RenderSettings
from raytracer.sphere_update import SphereUpdate

Doubles = NDArray[np.float64]
STEP = 0.1  # of the radius of a sphere: what it moves along each axis in a step, at most
TEST_COST = 0.25  # of the test of a sphere, relative to a visit of a node
NODES = 1 << 16  # that are decoded at a time
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
    default_on: str = ""
    takes: tuple[str, ...] = ("sizes", "scenes")

    def listing(self, ideas: bool) -> Iterator[str]:
        yield f"{self.name}: {self.summary}, on the CPU or a GPU"
        yield f"  spheres {', '.join(map(str, self.counts))}; scenes:"
        for kind, (meaning, _) in KINDS.items():
            yield f"  {kind:<28} {meaning}"

    def check(self, options: BenchOptions) -> None:
        for word in options.scenes:
            one_of(word, f"{self.name} scene", list(KINDS), "kind of spheres")
        if options.axes:
            _picture("cpu", options)

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> list[Result]:
        device, results = select("cuda" if session else "cpu"), list[Result]()
        counts = [
            whole(count, "size", 1, device.max_spheres) for count in options.sizes or self.counts
        ]
        for kind in options.scenes or KINDS:
            for count in counts:
                tell(f"{self.name}: {kind}, {count:,} spheres")
                axes: dict[str, int | str] = {"scene": kind, "spheres": count}
                axes |= _picture(device.name, options) if "axes" in self.takes else {}
                found = self.time(device, *spheres(kind, count), options)
                results += [record.result(op, axes, found[op], "warm", kind) for op in found]
        results[-1]["note"] = self.note
        return results


def _picture(backend: str, options: BenchOptions) -> dict[str, int]:
    """Return the size of pictures; raise UserError for an invalid one."""
    width, height = picture_size("live", options.axes, SIZES[backend])
    return {"width": width, "height": height}


def _build(device: Device, centers: Array, radii: Array, options: BenchOptions) -> Rows:
    settings = RenderSettings(width=64, height=64, samples=1)
    buffers = pack(Scene.from_arrays(centers, radii, "white"), settings)
    if device.name == "cuda":
        on_device = _on_device(device.number, buffers)
        built = _row("build", partial(_build_there, on_device), len(radii), options)
        tree = _to_host(on_device)
    else:
        built = _row("build", partial(build_bvh, buffers), len(radii), options)
        tree = build_bvh(buffers)
    built |= {"nodes": len(tree.nodes), "bytes_per_sphere": tree.nbytes / len(radii)}
    built["cost_per_ray"] = cost_per_ray(tree)
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


BUILD = SpheresBenchmark(
    "build",
    "trees over spheres: built and refitted",
    (10_000, 100_000),
    "build: from a packed scene to its tree. build refit: from new positions, at most "
    f"{STEP} radii from those before, to the tree around them. cost/ray: visits of nodes that "
    f"are expected of a ray that meets the root, and {TEST_COST} of its tests of spheres. "
    f"Seed {SEED}.",
    _build,
    default_on="cpu",
)
LIVE = SpheresBenchmark(
    "live",
    "spheres that move: from new positions to a picture",
    (10_000,),
    "From new positions to 8-bit pixels on the host, one sample per pixel with shadows. scene "
    "made anew: `raytracer.render`. small steps: `LiveScene.update` with positions at most "
    f"{STEP} radii from those before, whose tree is refitted while it is good. rebuilt: with a "
    f"tree that is built for each picture. Seed {SEED}.",
    _live,
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
            scene.moved_radii()  # waits until the tree of a GPU has followed

        return _row("refit", refit, count, options)


def _on_device(number: int, buffers: SceneBuffers) -> DeviceTree:
    """Return a tree to be built over spheres, which are in the memory of a GPU once and for all."""
    context, count, large = primary_context(number), buffers.count, buffers.large_id
    memory, copies = DeviceMemory(context), staging(number)
    sizes = build_sizes(count, buffers.record_bytes) | {"records": buffers.record_bytes * count}
    with context.lock, context.active():
        at = {name: memory.allocate(name, size) for name, size in sizes.items()}
        copies.to_device(large, memory.allocate("apart", large.nbytes))
        for index, column in enumerate(buffers.columns):
            copies.to_device(column, at["clusters"] + column.nbytes * index)
        tree = DeviceTree(number, memory, count, len(large))
        tree.interleave(copies.stream)
    return tree


def _build_there(tree: DeviceTree) -> None:
    context, stream = primary_context(tree.number), staging(tree.number).stream
    with context.lock, context.active():
        tree.build(stream)
        stream.synchronize()


def _to_host(tree: DeviceTree) -> Bvh:
    context = primary_context(tree.number)
    with context.lock, context.active():
        nodes = np.empty((int(tree.result()["node_count"]), NODE_BYTES), np.uint8)
        found = Bvh(nodes, np.empty(tree.count, np.int32), np.empty((tree.count, 4), np.float32))
        for name in TREE:
            staging(tree.number).to_host(tree.memory.address(name), getattr(found, name))
    return found


def cost_per_ray(tree: Bvh) -> float:
    """Return the expected cost of a ray that meets the root, relative to a visit of a node.

    The probability that it meets a box is the ratio of the areas (J. Goldsmith, J. Salmon,
    "Automatic Creation of Object Hierarchies for Ray Tracing", IEEE CG&A 7(5), 1987). Boxes are
    those that a traversal tests, as they are quantised.
    """
    nodes = np.ascontiguousarray(tree.nodes).view(layout.dtype("Node")).reshape(-1)
    parts = (_decoded(nodes[first : first + NODES]) for first in range(0, len(nodes), NODES))
    cost = sum(float((_areas(high - low) * weight).sum()) for low, high, weight in parts)
    low, high, weight = _decoded(nodes[:1])
    used = weight > 0
    return 1.0 + cost / float(_areas(high[used].max(axis=0) - low[used].min(axis=0)))


def _decoded(nodes: NDArray[np.void]) -> tuple[Doubles, Doubles, Doubles]:
    """Return corners of slots, (M, 8, 3), relative to the node, and costs of those that are hit."""
    cell = np.exp2(nodes["exponent"].astype(np.float64) - 127)[:, None]
    low, high = (
        np.stack([nodes[f"{end}_{axis}"] for axis in "xyz"], axis=2) * cell for end in ("lo", "hi")
    )
    inner = nodes["inner"][:, None] >> np.arange(8) & 1
    tests = np.diff(nodes["leaf_end"].astype(np.int64), axis=1, prepend=0)
    return low, high, np.asarray(inner + TEST_COST * tests, np.float64)


def _areas(edges: Doubles) -> Doubles:
    """Return half of the areas of boxes, whose edges are (..., 3)."""
    return np.asarray((edges * np.roll(edges, 1, axis=-1)).sum(axis=-1))
