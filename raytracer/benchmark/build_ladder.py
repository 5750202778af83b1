"""The rungs of `raytracer bench build` on a GPU: each is checked by rays, then timed.

A rung `kernels/ladders/build/NN_name.cu` begins with primitives that are sorted along the curve, by
the kernels of the renderer. Its entries `build`, `build_2`, … take a BuildArgs; `trace` takes a
BuildArgs, rays, hits and their number.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.driver import primary_context
from raytracer.backends.cuda.kernel import load_module
from raytracer.backends.cuda.memory import RECORD_BYTES, DeviceMemory
from raytracer.backends.cuda.transfer import staging
from raytracer.backends.cuda.tree import CLUSTER_BYTES, NODE_BYTES, DeviceTree, build_sizes
from raytracer.backends.kernel_sources import Variant
from raytracer.benchmark import record, statistics
from raytracer.benchmark.benchmark import BenchOptions, WrongError, reported
from raytracer.benchmark.cuda.kernel import resources
from raytracer.benchmark.cuda.session import RefusedError, Session
from raytracer.benchmark.record import Resources, Row
from raytracer.system import layout

Array = NDArray[np.float32]

RAYS = 1 << 20  # that are timed
CHECKED = 2048  # rays, at most, that are compared with a search of all spheres
PAIRS = 1 << 25  # of a ray and a sphere that a check computes, at most
AWKWARD_COUNTS = (1, 2, 3, 5, 33, 257, 1500)
HIT = np.dtype([("t", "<f4"), ("primitive", "<u4")])
NO_PRIMITIVE, FAR = 0xFFFFFFFF, 1e38  # of a ray without a hit: its number, and less than its t
TRACE_THREADS = 128
ROUNDING = 4e-6  # of a hit, in the largest distance: 64 half-ulps, twice what box tests allow for
SEED = 7


class RungTree:
    """A tree over records in the memory of a GPU, as a rung builds it, and rays through it."""

    def __init__(
        self, tree: DeviceTree, rung: Variant, functions: Mapping[str, Any], multiprocessors: int,
        rays: int, stream: Any,
    ) -> None:  # fmt: skip
        """tree: has the memory, with "rays" and "hits" too, and sorts. functions: of the rung, by
        entry. rays: how many there are."""
        self.tree, self._functions, self._rays, self._stream = tree, functions, rays, stream
        self._launch = rung.launch({"spheres": tree.count}, multiprocessors)
        self._entries = rung.entries
        self._args: NDArray[np.void] | None = None

    def build(self) -> None:
        """Queue the build, from the records on."""
        self._args = self.tree.sort(self._stream)
        words, launch = self._args.tobytes(), self._launch
        for entry in self._entries:
            function = self._functions[entry]
            function.prepared_async_call(launch.grid, launch.block, self._stream, words)

    def trace(self) -> None:
        """Queue the search of the nearest hits, after a build."""
        assert self._args is not None
        grid, at = (-(-self._rays // TRACE_THREADS), 1, 1), self.tree.memory.address
        self._functions["trace"].prepared_async_call(
            grid, (TRACE_THREADS, 1, 1), self._stream, self._args.tobytes(), at("rays"), at("hits"),
            self._rays,
        )  # fmt: skip

    def close(self) -> None:
        """Free the memory; the tree is of no use then."""
        self.tree.memory.close()


def sizes_of(count: int, rays: int) -> dict[str, int]:
    """Return the bytes of what a `RungTree` needs over some spheres, by name."""
    return build_sizes(count, RECORD_BYTES) | {
        "records": RECORD_BYTES * count, "apart": 0, "rays": 32 * rays, "hits": HIT.itemsize * rays
    }  # fmt: skip


def load_tree(
    session: Session, rung: Variant, records: Array, rays: Array | None = None
) -> tuple[RungTree, Resources]:
    """Upload records (N, 4) and rays (R, 8), and load a rung.

    Returns the tree, not built yet, and the resources of its kernel with the most registers. Raises
    RefusedError if it cannot run.
    """
    if not rung.admits(session.arch):
        raise RefusedError(f"needs {', '.join(rung.needs)}; this GPU is {session.arch}")
    context, copies = primary_context(session.ordinal), staging(session.ordinal)
    shot = draw_rays(records, 1) if rays is None else rays
    cubin = compiler.load(rung.translation_unit, session.arch)
    module = load_module(context, rung, cubin)
    functions = {name: module.get_function(name) for name in (*rung.entries, "trace")}
    args = f"{layout.struct_dtype('BuildArgs').itemsize}s"
    for name, function in functions.items():
        function.prepare([args, "P", "P", "q"] if name == "trace" else [args])
    memory = DeviceMemory(context)
    for name, size in sizes_of(len(records), len(shot)).items():
        memory.allocate(name, size)
    copies.to_device(records, memory.address("records"))
    copies.to_device(shot, memory.address("rays"))
    tree = DeviceTree(session.ordinal, memory, len(records), 0)
    largest = max((functions[name] for name in rung.entries), key=lambda each: int(each.num_regs))
    made = RungTree(tree, rung, functions, session.multiprocessors, len(shot), session.stream)
    return made, resources(largest, cubin)


def measure(
    session: Session, rungs: Sequence[Variant], centers: Array, radii: Array, options: BenchOptions
) -> dict[str, list[Row]]:
    """Check rungs, then time the builds and the rays of the correct ones, by turns."""
    records = records_of(centers, radii)
    rays = draw_rays(records, RAYS)
    builds, traces, trees = list[Row](), list[Row](), list[tuple[RungTree, Row, Row]]()
    try:
        for rung in rungs:
            build, trace = (record.row(rung.label, rung.title) for _ in range(2))
            builds.append(build)
            traces.append(trace)
            with reported(build):
                for about, awkward in awkward_records() if options.checks("small sizes") else ():
                    check(session, rung, awkward, about)
                tree, build["resources"] = load_tree(session, rung, records, rays)
                trees.append((tree, build, trace))
                tree.build()
                tree.trace()
                compare(session, tree, records, rays, "the timed spheres")
            trace["status"], trace["reason"] = build["status"], build["reason"]
        timed = [each for each in trees if each[1]["status"] == "ok"]
        _time(session, timed, options)
    finally:
        for tree, _, _ in trees:
            tree.close()
    return {"build ladder": builds, "build rays": traces}


def _time(
    session: Session, trees: Sequence[tuple[RungTree, Row, Row]], options: BenchOptions
) -> None:
    """Time builds, then rays, and put them into the rows."""
    turns = [session.sampler(tree.build, options.mode, True) for tree, _, _ in trees]
    for (tree, row, _), groups in zip(
        trees, statistics.in_turns(turns, options.min_time), strict=True
    ):
        count, nodes = tree.tree.count, int(tree.tree.result()["node_count"])
        bytes_of_tree = NODE_BYTES * nodes if nodes else CLUSTER_BYTES * (count - 1)
        row["nodes"] = nodes or count - 1
        row["bytes_per_sphere"] = bytes_of_tree / count + RECORD_BYTES
        row["mspheres"] = 1e-6 * count / statistics.timed(row, groups)["time"]["median"]
    turns = [session.sampler(tree.trace, options.mode, False) for tree, _, _ in trees]
    for (_, _, row), groups in zip(
        trees, statistics.in_turns(turns, options.min_time), strict=True
    ):
        row["mrays"] = 1e-6 * RAYS / statistics.timed(row, groups)["time"]["median"]


def check(session: Session, rung: Variant, records: Array, about: str) -> None:
    """Build a tree over few spheres and search it; raise WrongError for other hits than those of a
    search of all spheres."""
    rays = draw_rays(records, CHECKED)
    tree, _ = load_tree(session, rung, records, rays)
    try:
        for _ in range(2):  # the second time with what the first left in memory
            tree.build()
            tree.trace()
            compare(session, tree, records, rays, about)
    finally:
        tree.close()


def compare(session: Session, tree: RungTree, records: Array, rays: Array, about: str) -> None:
    """Compare hits with a search of all spheres; raise WrongError."""
    hits = np.empty(len(rays), HIT)
    session.wait()
    staging(session.ordinal).to_host(tree.tree.memory.address("hits"), hits)
    some = np.arange(
        0, len(rays), max(1, len(rays) // max(16, min(CHECKED, PAIRS // len(records))))
    )
    if fault := find_fault(records, rays[some], hits[some]):
        raise WrongError(f"{fault}, of {about}")


def records_of(centers: Array, radii: Array) -> Array:
    """Return records of spheres, (N, 4): centre and radius."""
    return np.ascontiguousarray(np.column_stack([centers, radii]), np.float32)


def awkward_records(counts: Sequence[int] = AWKWARD_COUNTS) -> Iterator[tuple[str, Array]]:
    """Yield few spheres with words for them: equal and unequal radii, and centres that coincide."""
    for count in counts:
        random = np.random.default_rng([SEED, count])
        made = random.uniform(-1.0, 1.0, (count, 4)).astype(np.float32)
        made[:, 3] = 0.05
        yield f"{count} equal spheres", made.copy()
        made[:, 3] = 0.05 * np.exp(random.standard_normal(count))
        yield f"{count} spheres of unequal radii", made.copy()
        made[:, :3] = made[np.arange(count) // 8, :3]
        yield f"{count} spheres, eight to a centre", made.copy()
        made[:] = made[0]
        yield f"{count} times the same sphere", made.copy()
        made[:, 3] = np.linspace(0.05, 0.5, count)
        yield f"{count} spheres of one centre", made


def draw_rays(records: Array, count: int) -> Array:
    """Return rays from a sphere around all spheres to points of their box, float32 (count, 8):
    origin, 0, unit vector, 0."""
    random = np.random.default_rng([SEED, count])
    low, high = (each.astype(np.float64) for each in _bounds(records))
    center, reach = (low + high) / 2, np.linalg.norm(high - low) / 2
    outward = random.standard_normal((count, 3))
    origins = center + 1.25 * reach * outward / np.linalg.norm(outward, axis=1)[:, None]
    directions = random.uniform(low, high, (count, 3)) - origins
    rays = np.zeros((count, 8), np.float32)
    rays[:, :3] = origins
    rays[:, 4:7] = directions / np.linalg.norm(directions, axis=1)[:, None]
    return rays


def _bounds(records: Array) -> tuple[Array, Array]:
    centers, radii = records[:, :3], records[:, 3:]
    return (centers - radii).min(axis=0), (centers + radii).max(axis=0)


def find_fault(records: Array, rays: Array, hits: NDArray[np.void]) -> str:
    """Compare hits with a search of all spheres in float64; "" if they agree.

    A hit is right between those of spheres that are larger and smaller by the rounding of float32,
    and lies on its sphere.
    """
    spheres, origins, directions = (
        each.astype(np.float64) for each in (records, rays[:, :3], rays[:, 4:7])
    )
    far = float(np.linalg.norm(np.subtract(*_bounds(records)))) * 1.2
    error = ROUNDING * far
    number = hits["primitive"].astype(np.int64)
    lengths = np.where(hits["t"] >= FAR, np.inf, hits["t"]).astype(np.float64)
    is_hit = ~np.isinf(lengths)
    for i in range(len(rays)):
        offsets = spheres[:, :3] - origins[i]
        along = offsets @ directions[i]
        apart2 = np.maximum((offsets * offsets).sum(axis=1) - along * along, 0.0)
        first, last = (
            _nearest(along, apart2, np.maximum(spheres[:, 3] + more, 0.0))
            for more in (error, -error)
        )
        t = float(lengths[i])
        known = number[i] < len(spheres) if is_hit[i] else number[i] == NO_PRIMITIVE
        if not known or not first - error <= t <= last + error:
            return (
                f"ray {i} hits sphere {number[i]} at {t:.6g} instead of {first:.6g} to {last:.6g}"
            )
        if is_hit[i]:
            point = origins[i] + t * directions[i] - spheres[number[i], :3]
            if abs(float(np.linalg.norm(point)) - spheres[number[i], 3]) > 4 * error:
                return f"ray {i} hits sphere {number[i]} at {t:.6g}, which is not on its surface"
    return ""


def _nearest(along: NDArray[Any], apart2: NDArray[Any], radii: NDArray[Any]) -> float:
    """Return the length to the nearest sphere, infinity without one."""
    half2 = radii * radii - apart2
    is_met = (half2 >= 0.0) & (radii > 0.0)
    return float((along[is_met] - np.sqrt(half2[is_met])).min(initial=np.inf))
