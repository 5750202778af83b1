"""Warp's trees (`warp.Bvh`) on an NVIDIA GPU, or on one core of a CPU for a check."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

import numpy as np

from raytracer.benchmark.statistics import make_timer, repeated
from raytracer.config.errors import UserError
from reference.peers.ours import stepped
from reference.peers.scenes import EYE, FRAMES, PeerScene
from reference.peers.turns import NOTHING, Answer

CONSTRUCTORS = {"cuda": ("lbvh", "sah", "cubql"), "cpu": ("sah", "median")}
MODES = {
    backend: dict.fromkeys((*FRAMES, "build", "refit"), names)
    for backend, names in CONSTRUCTORS.items()
}


class Spheres:
    """The spheres of a scene in Warp, with the tree that was built last."""

    def __init__(self, scene: PeerScene, backend: str) -> None:
        import warp as wp

        from reference.peers.warp import kernels

        wp.config.quiet = True
        self._wp, self._kernels, self._scene = wp, kernels, scene
        self.name = f"Warp {wp.__version__}"
        self._device = wp.get_device("cpu" if backend == "cpu" else "cuda:0")
        moved = np.column_stack([stepped(scene), scene.spheres[:, 3]])
        self._states = [
            wp.array(each, dtype=wp.vec4, device=self._device) for each in (scene.spheres, moved)
        ]
        self._state, count, pixels = 0, len(scene.spheres), scene.width * scene.height
        self._lowers, self._uppers = (
            wp.empty(count, dtype=wp.vec3, device=self._device) for _ in range(2)
        )
        types = {"film": wp.vec4, "ids": wp.uint32, "distances": wp.float32}
        self._arrays = {
            name: wp.empty(pixels, dtype=kind, device=self._device) for name, kind in types.items()
        }
        self._tree: Any = None
        self._mode = ""

    def time(self, work: str, mode: str, seconds: float) -> list[float]:
        run = self._run_of(work, mode)
        run()
        return repeated(run, seconds)

    def answer(self, work: str, mode: str) -> Answer | None:
        if work not in FRAMES:
            return None
        self._prepare(mode)
        self._frame(work, answers=True)
        shape = self._scene.height, self._scene.width
        film, ids, distances = (self._arrays[name].numpy() for name in self._arrays)
        distances = np.where(ids == NOTHING, np.inf, distances).astype(np.float32)
        return Answer(ids.reshape(shape), distances.reshape(shape), film.reshape(*shape, 4))

    def close(self) -> None:
        self._tree, self._arrays = None, {}

    def _run_of(self, work: str, mode: str) -> Callable[[], float]:
        if work == "build":
            return make_timer(lambda: self._build(mode), self._wait)
        self._prepare(mode)
        if work == "refit":
            return make_timer(self._refit, self._wait)
        if self._device.is_cpu:
            return make_timer(lambda: self._frame(work), self._wait)
        return lambda: self._between_events(work)

    def _prepare(self, mode: str) -> None:
        if self._mode != mode or self._state:
            self._state, self._mode = 0, mode
            self._tree = self._build(mode)

    def _fill(self) -> None:
        boxes = [self._states[self._state], self._lowers, self._uppers]
        count = len(self._scene.spheres)
        self._wp.launch(self._kernels.fill_boxes, count, inputs=boxes, device=self._device)

    def _build(self, mode: str) -> Any:
        self._fill()
        return self._wp.Bvh(self._lowers, self._uppers, constructor=mode)

    def _refit(self) -> None:
        self._state = 1 - self._state
        self._fill()
        self._tree.refit()

    def _frame(self, work: str, *, answers: bool = False) -> None:
        wp, scene = self._wp, self._scene
        lanes = -(-scene.width // 8) * -(-scene.height // 4) * 32
        inputs = [
            self._tree.id, self._states[0], wp.vec3(*EYE), wp.mat33(*map(float, scene.basis.flat)),
            wp.vec3(*scene.light), scene.width, scene.height, list(FRAMES).index(work), scene.seed,
            int(answers), *self._arrays.values(),
        ]  # fmt: skip
        wp.launch(self._kernels.render, lanes, inputs=inputs, device=self._device)

    def _wait(self) -> None:
        self._wp.synchronize_device(self._device)

    def _between_events(self, work: str) -> float:
        start, stop = (self._wp.Event(self._device, enable_timing=True) for _ in range(2))
        self._wp.record_event(start)
        self._frame(work)
        self._wp.record_event(stop)
        return 1e-3 * float(self._wp.get_event_elapsed_time(start, stop))


def open_peer(scene: PeerScene, threads: int, backend: str) -> Spheres:
    if find_spec("warp") is None:
        raise UserError("there is no Warp: pip install warp-lang")
    return Spheres(scene, backend)
