"""Updates of live scenes in CUDA graphs: pictures are those of the same updates without a graph.

Graphs are captured through the driver itself, as any package does it, and by PyTorch.
"""

import ctypes
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.backends.base import TREE
from raytracer.backends.cuda.transfer import NON_BLOCKING, get_staging
from raytracer.config.errors import UserError
from raytracer.system.cuda_driver import LEGACY_STREAM, _driver, check_status, synchronize
from support.device_arrays import OnGpu

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("cuda")]

COUNT = 20_000
SIZE: dict[str, Any] = {"width": 160, "height": 120, "samples": 1, "backend": "cuda"}
GLOBAL, THREAD_LOCAL, RELAXED = 0, 1, 2
"""Modes of a capture: which calls of the driver it forbids, and to which threads."""

KERNEL, WAIT_EVENT, EVENT_RECORD = 0, 6, 7
"""Kinds of nodes of a graph."""


class Array(OnGpu):
    """An array at a fixed address, with the CUDA array interface alone, as CuPy's."""

    def set(self, array: NDArray[Any]) -> None:
        with self._context.activate() as driver:
            driver.memcpy_htod(int(self.memory), np.ascontiguousarray(array).tobytes())
        # The copy of pageable memory may go on, and streams that do not block would not wait.
        synchronize(LEGACY_STREAM, 0)


class Graph:
    """Work captured from a stream through the driver, which is launched on any stream."""

    def __init__(self, context: Any, work: Callable[[int], None], mode: int = THREAD_LOCAL) -> None:
        """Capture what `work` queues on the stream whose handle it gets."""
        cuda = _driver()
        assert cuda is not None
        self._cuda, self._context = cuda, context
        graph = ctypes.c_void_p()
        self._ready = ctypes.c_void_p()
        with context.activate() as driver:
            self._streams = [driver.Stream(NON_BLOCKING) for _ in range(2)]
            captured = ctypes.c_void_p(int(self._streams[0].handle))
            check_status(cuda.cuStreamBeginCapture_v2(captured, mode))
            try:
                work(captured.value or 0)
            finally:
                status = cuda.cuStreamEndCapture(captured, ctypes.byref(graph))
            check_status(status)
            count = ctypes.c_size_t()
            check_status(cuda.cuGraphGetNodes(graph, None, ctypes.byref(count)))
            nodes = (ctypes.c_void_p * count.value)()
            if count.value:
                check_status(cuda.cuGraphGetNodes(graph, nodes, ctypes.byref(count)))
            self.kinds = []
            for node in nodes:
                kind = ctypes.c_int()
                check_status(cuda.cuGraphNodeGetType(ctypes.c_void_p(node), ctypes.byref(kind)))
                self.kinds.append(kind.value)
            check_status(
                cuda.cuGraphInstantiateWithFlags(
                    ctypes.byref(self._ready), graph, ctypes.c_uint64(0)
                )
            )
            check_status(cuda.cuGraphDestroy(graph))

    def launch(self, stream: int = 1) -> None:
        with self._context.activate():
            handle = ctypes.c_void_p(int(self._streams[stream].handle))
            check_status(self._cuda.cuGraphLaunch(self._ready, handle))

    def close(self) -> None:
        with self._context.activate():
            for stream in self._streams:
                stream.synchronize()
            check_status(self._cuda.cuGraphExecDestroy(self._ready))


@pytest.fixture
def captured() -> Iterator[Callable[..., Graph]]:
    """Returns a function that captures work; graphs are destroyed after the test."""
    from raytracer.backends.cuda.driver import get_primary_context

    made: list[Graph] = []

    def capture(work: Callable[[int], None], mode: int = THREAD_LOCAL) -> Graph:
        made.append(Graph(get_primary_context(0), work, mode))
        return made[-1]

    yield capture
    for graph in made:
        graph.close()


def cloud(seed: int = 1) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
    g = np.random.default_rng(seed)
    radii = np.full(COUNT, 0.4 * COUNT ** (-1 / 3), np.float32)
    positions, colors = g.uniform(-1, 1, (COUNT, 3)), g.uniform(0, 1, (COUNT, 3))
    return positions.astype(np.float32), radii, colors.astype(np.float32)


def stepped(positions: NDArray[np.float32], seed: int) -> NDArray[np.float32]:
    steps = np.random.default_rng(seed).normal(0.0, 0.002, positions.shape)
    return (positions + steps).astype(np.float32)


def live_scene(**settings: Any) -> raytracer.LiveScene:
    positions, radii, colors = cloud()
    scene = raytracer.Scene.from_arrays(positions, radii, colors)
    scene.ground = raytracer.Ground()
    return raytracer.LiveScene(scene, **SIZE, **settings)


def sums(live: raytracer.LiveScene) -> NDArray[np.float32]:
    return np.asarray(live.render().film.sums).copy()


def tree_bytes(live: raytracer.LiveScene) -> list[bytes]:
    """The tree of a scene in the memory of the GPU."""
    scene: Any = live._open().scene
    found = []
    for name in TREE:
        size = 80 * scene._node_count if name == "nodes" else scene._memory.size(name)
        array = np.empty(size, np.uint8)
        with scene._context.lock, scene._context.activate():
            get_staging(0).to_host(scene.address(name), array)
        found.append(array.tobytes())
    return found


@dataclass(frozen=True)
class Moving:
    """A scene whose spheres a graph moves to an array, and one that is updated plainly."""

    positions: NDArray[np.float32]
    array: Array
    live: raytracer.LiveScene
    plain: raytracer.LiveScene
    graph: Graph

    def check(self, *update: Any, **more: Any) -> None:
        """Assert that the pictures are the same after a plain update, but for ties."""
        found = sums(self.live)
        self.plain.update(*update, **more)
        assert (found != sums(self.plain)).any(-1).mean() < 2e-3


@pytest.fixture
def moving(captured: Callable[..., Graph]) -> Iterator[Moving]:
    positions, _, _ = cloud()
    array = Array(positions)
    with live_scene() as live, live_scene() as plain:
        live.update(array)
        graph = captured(lambda stream: live.update(array, stream=stream))
        yield Moving(positions, array, live, plain, graph)


@pytest.mark.parametrize("mode", [GLOBAL, THREAD_LOCAL, RELAXED])
def test_a_graph_moves_spheres(mode: int, captured: Callable[..., Graph]) -> None:
    positions, radii, colors = cloud()
    array, sizes, paint = Array(positions), Array(radii), Array(colors)
    with live_scene() as live, live_scene() as plain:
        for each in (live, plain):
            each.update(array, radii=sizes, colors=paint)
            sums(each)
        graph = captured(
            lambda stream: live.update(array, radii=sizes, colors=paint, stream=stream), mode
        )
        assert sorted(graph.kinds) == [KERNEL, KERNEL, WAIT_EVENT, EVENT_RECORD]
        for step in range(4):
            array.set(stepped(positions, step))
            sizes.set(radii * (1 + 0.01 * step))
            paint.set(colors[::-1] if step % 2 else colors)
            graph.launch()
            found = sums(live)
            plain.update(array, radii=sizes, colors=paint)
            wanted = sums(plain)
            assert tree_bytes(live) == tree_bytes(plain), "both refit the same tree"
            assert found.tobytes() == wanted.tobytes()


def test_values_and_one_array_alone(captured: Callable[..., Graph]) -> None:
    positions, _, _ = cloud()
    values = positions[:, 0].copy()
    column = Array(values)
    with (
        live_scene(map="viridis", range=(-1, 1)) as live,
        live_scene(map="viridis", range=(-1, 1)) as plain,
    ):
        live.update(values=column)
        graph = captured(lambda stream: live.update(values=column, stream=stream))
        assert graph.kinds.count(KERNEL) == 1, "the tree stays"
        for sign in (-1.0, 1.0, -1.0):
            column.set(sign * values)
            graph.launch()
            plain.update(values=sign * values)
            assert sums(live).tobytes() == sums(plain).tobytes()


def test_many_launches_without_a_picture(moving: Moving) -> None:
    made: Any = moving.live._open().scene
    before = made.nbytes
    for step in range(50):
        moving.array.set(stepped(moving.positions, step))
        moving.graph.launch(step % 2)
        moving.graph.launch(step % 2)
    moving.check(stepped(moving.positions, 49))
    assert made.nbytes == before


def test_a_picture_builds_the_tree_that_graphs_made_bad(moving: Moving) -> None:
    sums(moving.live)
    for seed in range(2, 6):
        others, _, _ = cloud(seed)
        before = tree_bytes(moving.live)[2]
        moving.array.set(others)
        moving.graph.launch()
        moving.check(others)
        assert tree_bytes(moving.live)[2] != before, "in another order"


def test_what_is_wrong_is_told_by_the_next_picture(moving: Moving) -> None:
    bad = stepped(moving.positions, 1)
    bad[4321, 1] = np.nan
    for _ in range(2):
        moving.array.set(bad)  # again after it was read
        moving.graph.launch()
    with pytest.raises(UserError, match="positions: sphere 4321"):
        sums(moving.live)
    bad[4321] = moving.positions[4321]
    moving.check(bad)
    moving.array.set(moving.positions)
    moving.graph.launch()
    moving.check(moving.positions)


def test_graphs_and_other_updates_in_turn(moving: Moving) -> None:
    positions, radii, colors = cloud()
    for step in range(12):
        moved = stepped(positions, step)
        moving.array.set(moved)
        sizes, paint = radii * (1 + 0.02 * step), np.roll(colors, step, axis=0)
        moving.live.update(radii=sizes)  # which the graph must wait for
        moving.graph.launch(step % 2)
        moving.live.update(colors=paint)  # which must wait for the graph
        moving.check(moved, radii=sizes, colors=paint)
    assert np.array_equal(moving.live.scene.spheres[0].centers, moved)


def test_others_work_is_no_part_of_a_capture(captured: Callable[..., Graph]) -> None:
    """Pictures and updates of other threads and of other scenes go on meanwhile."""
    positions, _, _ = cloud()
    array = Array(positions)
    with live_scene() as live, live_scene() as other:
        live.update(array)
        sums(live)
        expected = sums(other)
        found: list[Any] = []

        def elsewhere() -> None:
            other.update(positions)
            found.append(sums(other))

        def work(stream: int) -> None:
            live.update(array, stream=stream)
            thread = threading.Thread(target=elsewhere)
            thread.start()
            thread.join()
            found.append(sums(live))

        graph = captured(work, RELAXED)
        assert sorted(graph.kinds) == [KERNEL, KERNEL, WAIT_EVENT, EVENT_RECORD]
        assert len(found) == 2
        for each in found:
            assert (each != expected).any(-1).mean() < 2e-3


def test_refusals_leave_the_capture_as_it_was(captured: Callable[..., Graph]) -> None:
    positions, _, colors = cloud()
    array, part = Array(positions), Array(positions[:100])
    with live_scene() as live:

        def refused(sentence: str, *args: Any, **given: Any) -> None:
            def work(stream: int) -> None:
                with pytest.raises(UserError, match=sentence):
                    live.update(*args, **given, stream=stream)

            assert captured(work).kinds == []

        refused("stream: the stream is being captured .*: call update once before", array)
        live.update(colors=Array(colors))
        refused("stream: the stream is being captured .*: call update once before", array)
        live.update(array)
        refused("positions: cannot be part of a CUDA graph", positions)
        refused("positions: cannot be part of a CUDA graph", part)
        refused("values: the first ones make the scale", values=Array(positions[:, 0].copy()))
        captured(lambda stream: live.update(array, stream=stream))
        with pytest.raises(UserError, match="which a CUDA graph with an update of it cannot"):
            live.update(positions[:100], radii=0.1, colors=colors[:100])
        assert sums(live).any()


def test_a_graph_of_pytorch_on_another_stream() -> None:
    """The picture waits for a graph that is launched on a stream that nobody names."""
    torch: Any = pytest.importorskip("torch")
    if not torch.cuda.is_available():
        pytest.skip("this PyTorch has no CUDA")
    start, _, _ = cloud()
    graph, stream = torch.cuda.CUDAGraph(), torch.cuda.Stream()
    with live_scene() as live, live_scene() as plain:
        positions = torch.from_numpy(start).cuda()
        torch.cuda.synchronize()
        live.update(positions, stream=stream)
        sums(live)
        with torch.cuda.graph(graph, stream=stream):
            torch.cuda._sleep(50_000_000)
            positions.mul_(0.9)
            live.update(positions, stream=torch.cuda.current_stream())
        for _ in range(3):
            graph.replay()
            found = sums(live)
            plain.update(positions.cpu().numpy())
            assert (found != sums(plain)).any(-1).mean() < 2e-3
        torch.cuda.synchronize()
        del graph
