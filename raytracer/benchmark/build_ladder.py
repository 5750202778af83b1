"""The rungs of `raytracer bench build` on a GPU: each is checked by rays, then timed.

A rung `kernels/ladders/build/NN_name.cu` begins with primitives that are sorted along the curve, by
the kernels of the renderer. Its entries `build`, `build_2`, … take a BuildArgs; `trace` takes a
BuildArgs, rays, hits and their number.
"""

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.driver import get_primary_context
from raytracer.backends.cuda.kernel import load_module
from raytracer.backends.cuda.memory import RECORD_BYTES, DeviceMemory
from raytracer.backends.cuda.transfer import get_staging
from raytracer.backends.cuda.tree import CLUSTER_BYTES, NODE_BYTES, DeviceTree, compute_build_sizes
from raytracer.backends.kernel_sources import Variant
from raytracer.benchmark import record, statistics
from raytracer.benchmark.benchmark import BenchOptions, Tell, WrongError, reported
from raytracer.benchmark.cuda.kernel import resources
from raytracer.benchmark.cuda.session import POISON, Enqueue, RefusedError, Session
from raytracer.benchmark.ray_search import HIT, Array, Search, awkward_searches, draw_rays
from raytracer.benchmark.record import Resources, Row
from raytracer.config.errors import BackendError
from raytracer.system import layout

RAYS = 1 << 20  # that are timed
TRACE_THREADS = 128


class RungTree:
    """A tree over records in the memory of a GPU, as a rung builds it, and rays through it."""

    def __init__(
        self, tree: DeviceTree, rung: Variant, functions: Mapping[str, Any], multiprocessors: int,
        rays: int, stream: Any,
    ) -> None:  # fmt: skip
        """tree: has the memory, with "rays" and "hits" too, and sorts. functions: of the rung, by
        entry. rays: how many there are."""
        self.tree, self._functions, self._rays, self._stream = tree, functions, rays, stream
        self._launch = rung.configure_launch({"spheres": tree.count}, multiprocessors)
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


def compute_memory_sizes(count: int, rays: int) -> dict[str, int]:
    """Return the bytes of what a `RungTree` needs over some spheres, by name."""
    return compute_build_sizes(count, RECORD_BYTES) | {
        "records": RECORD_BYTES * count, "apart": 0, "rays": 32 * rays, "hits": HIT.itemsize * rays
    }  # fmt: skip


class LoadedRung:
    """A rung on a GPU."""

    def __init__(self, session: Session, rung: Variant) -> None:
        """Compile it if necessary; raise RefusedError if it cannot run."""
        if not rung.admits(session.arch):
            raise RefusedError(f"needs {', '.join(rung.needs)}; this GPU is {session.arch}")
        self.rung, self._session = rung, session
        cubin = compiler.load_cubin(rung.translation_unit, session.arch)
        self._module = load_module(get_primary_context(session.ordinal), rung, cubin)
        args = f"{layout.struct_dtype('BuildArgs').itemsize}s"
        names = (*rung.entries, "trace")
        self._functions = {name: self._module.get_function(name) for name in names}
        for name, function in self._functions.items():
            function.prepare([args, "P", "P", "q"] if name == "trace" else [args])
        largest = max(rung.entries, key=lambda name: int(self._functions[name].num_regs))
        self.resources: Resources = resources(self._functions[largest], cubin)
        self.resources["threads"] = rung.threads

    def tree(self, records: Array, rays: Array) -> RungTree:
        """Upload records (N, 4) and rays (R, 8); return a tree that is not built yet."""
        session = self._session
        memory = DeviceMemory(get_primary_context(session.ordinal))
        copies = get_staging(session.ordinal)
        for name, size in compute_memory_sizes(len(records), len(rays)).items():
            memory.allocate(name, size)
        copies.to_device(records, memory.address("records"))
        copies.to_device(rays, memory.address("rays"))
        tree = DeviceTree(session.ordinal, memory, len(records), 0)
        return RungTree(
            tree, self.rung, self._functions, session.multiprocessors, len(rays), session.stream
        )


class Ladder:
    """The rungs in one run: each is loaded and checked once."""

    def __init__(
        self, session: Session, rungs: Sequence[Variant], options: BenchOptions, tell: Tell
    ) -> None:
        self._session, self._options, self._rungs = session, options, rungs
        self._loaded: dict[str, LoadedRung] = {}
        self._reasons: dict[str, Row] = {}  # rows of those that cannot be timed
        searches = list(awkward_searches()) if options.checks("small sizes") else []
        for rung in rungs:
            tell(f"checking build {rung.label}")
            row = record.row(rung.label, rung.title)
            with reported(row):
                loaded = LoadedRung(session, rung)
                for each in searches:
                    self._check(loaded, each)
                self._loaded[rung.label] = loaded
            if row["status"] != "ok":
                self._reasons[rung.label] = row

    def _check(self, loaded: LoadedRung, search: Search) -> None:
        """Build a tree twice; raise WrongError for wrong hits."""
        tree = loaded.tree(search.records, search.rays)
        try:
            for _ in range(2):  # the second time with what the first one has left in memory
                self._compare(tree, search)
        finally:
            tree.close()

    def _compare(self, tree: RungTree, search: Search) -> None:
        """Build a tree and compare the hits of rays; raise WrongError."""
        hits, address = np.empty(len(search.rays), HIT), tree.tree.memory.address("hits")
        self._session.fill(address, hits.nbytes, POISON)  # memory may have right ones of before
        tree.build()
        tree.trace()
        self._session.wait()
        get_staging(self._session.ordinal).to_host(address, hits)
        if fault := search.fault(hits):
            raise WrongError(fault)

    def measure(self, records: Array) -> dict[str, list[Row]]:
        """Check the trees over records, then time builds and rays of the correct ones, by turns."""
        search = Search.of("the timed spheres", records, draw_rays(records, RAYS))
        builds, traces = list[Row](), list[Row]()
        with ExitStack() as stack:
            timed = list[tuple[RungTree, Row, Row]]()
            for rung in self._rungs:
                build = record.row(rung.label, rung.title)
                if refused := self._reasons.get(rung.label):
                    build = refused.copy()
                trace = build.copy()
                if loaded := self._loaded.get(rung.label):
                    with reported(build):
                        tree = loaded.tree(records, search.rays)
                        stack.callback(tree.close)
                        self._compare(tree, search)
                        timed.append((tree, build, trace))
                    build["resources"] = loaded.resources
                    trace["status"], trace["reason"] = build["status"], build["reason"]
                builds.append(build)
                traces.append(trace)
            self._time(timed)
        return {"build ladder": builds, "build rays": traces}

    def _graph(self, tree: RungTree) -> Enqueue:
        """Return what queues a build as one graph, if it can be captured: the host queues its
        launches one by one in more time than a GPU needs for few spheres."""
        try:
            return self._session.recorded(tree.build, 1)
        except BackendError:
            return tree.build

    def _time(self, timed: Sequence[tuple[RungTree, Row, Row]]) -> None:
        """Time builds, then rays, and put them into the rows."""
        mode, min_time = self._options.mode, self._options.min_time
        turns = [self._session.sampler(self._graph(tree), mode, False) for tree, _, _ in timed]
        groups = statistics.in_turns(turns, min_time)
        for (tree, row, _), each in zip(timed, groups, strict=True):
            count, wide = tree.tree.count, int(tree.tree.read_result()["node_count"])
            row["nodes"] = wide or count - 1
            nbytes = NODE_BYTES * wide if wide else CLUSTER_BYTES * (count - 1)
            row["bytes_per_sphere"] = nbytes / count + RECORD_BYTES
            row["mspheres"] = 1e-6 * count / statistics.timed(row, each)["time"]["median"]
        turns = [self._session.sampler(tree.trace, mode, False) for tree, _, _ in timed]
        groups = statistics.in_turns(turns, min_time)
        for (_, _, row), each in zip(timed, groups, strict=True):
            row["mrays"] = 1e-6 * RAYS / statistics.timed(row, each)["time"]["median"]
