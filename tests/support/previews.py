"""What the tests of the preview share: stages, views and ways of looking at a packed scene."""

from __future__ import annotations

from collections.abc import Callable
from queue import SimpleQueue
from time import monotonic, sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import Camera, Scene
from raytracer.buffers import SceneBuffers
from raytracer.settings import RenderSettings
from raytracer.viewer.orders import Message, Order, Picked
from raytracer.viewer.saving import Saving
from raytracer.viewer.stage import Stage
from raytracer.viewer.view import View, first
from raytracer.viewer.viewer import Viewer
from raytracer.viewer.worker import Task

PATIENCE = 60.0
"""Seconds that a test waits for what must come; no test is slow unless it fails."""


def balls(count: int = 40, seed: int = 3, **scene: Any) -> Scene:
    """Coloured balls in a box away from the origin; small and quick unless `render` says else."""
    rng = np.random.default_rng(seed)
    scene = {"render": RenderSettings(width=64, height=48, samples=8)} | scene
    centers = rng.normal(size=(count, 3)) * (4.0, 2.0, 3.0) + (50.0, -20.0, 7.0)
    return Scene.from_arrays(
        centers, rng.uniform(0.1, 1.5, count), rng.uniform(0.1, 1.0, (count, 3)), **scene
    )


def stage_of(scene: Any, **overrides: Any) -> Stage:
    """A scene, or the path of one, ready on the CPU."""
    return Stage.load(scene, overrides, "cpu", threads=2)


def view_of(buffers: SceneBuffers, aspect: float = 4.0 / 3.0, **camera: Any) -> View:
    """A view as a scene's camera gives it; without arguments the fitted one."""
    return first(Camera(**camera) if camera else None, buffers, aspect)


def assert_same_buffers(a: SceneBuffers, b: SceneBuffers) -> None:
    """The same bits in every array."""
    for (name, one), (_, two) in zip(a._arrays(), b._arrays(), strict=True):
        assert one.dtype == two.dtype, name
        assert one.shape == two.shape, name
        assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(two).tobytes(), name


def wait_for(condition: Callable[[], Any], what: str = "what is waited for") -> Any:
    """What the condition gives as soon as it is true; fails if that takes far too long."""
    end = monotonic() + PATIENCE
    while not (found := condition()):
        assert monotonic() < end, f"{what} did not come"
        sleep(0.001)
    return found


def pixel_ray(view: View, x: float, y: float, size: tuple[int, int]) -> NDArray[np.float64]:
    """Origin and unit direction, (2, 3), render space, through a place of the picture in pixels.

    x, y: from the upper left; half numbers are centres of pixels.
    """
    stand, (width, height) = view.stand, size
    u = (2.0 * x / width - 1.0) * width / height * stand.half
    v = (1.0 - 2.0 * y / height) * stand.half
    across = u * stand.axes.right + v * stand.axes.up
    if stand.kind == "orthographic":
        return np.array([stand.eye + across, stand.axes.forward])
    direction = stand.axes.forward + across
    return np.array([stand.eye, direction / np.linalg.norm(direction)])


class FakeWorker:
    """A render thread that renders nothing and remembers what it was asked for."""

    def __init__(self) -> None:
        self.orders: list[Order] = []
        self.tasks: list[Callable[[], Message]] = []
        self.saved: list[Saving | None] = []
        self.saving: Saving | None = None
        self.meters = 0
        self.messages: SimpleQueue[Message] = SimpleQueue()

    def show(self, order: Order) -> None:
        """Take an order."""
        self.orders.append(order)

    def ask(self, task: Task) -> None:
        """Take a task."""
        self.tasks.append(lambda: _answer(task))

    def meter(self) -> None:
        """Count it."""
        self.meters += 1

    def save(self, saving: Saving | None) -> bool:
        """Take a picture to be kept."""
        self.saved.append(saving)
        self.saving = saving
        return True


def _answer(task: Task) -> Message:
    found = task()
    return _answer(found) if callable(found) else found


def viewer_of(stage: Stage, size: tuple[int, int] = (64, 48), **more: Any) -> Viewer:
    """A viewer whose worker is a `FakeWorker`."""
    worker: Any = FakeWorker()
    return Viewer(stage, worker, size, **more)


def orders(viewer: Viewer) -> list[Order]:
    """What its `FakeWorker` was asked to render."""
    worker: Any = viewer.worker
    return list(worker.orders)


def hit_id(stage: Stage, look: SceneBuffers, x: int, y: int, reach: int = 0) -> int | None:
    """The number of the sphere that a click would pick."""
    found = stage.hit(look, x, y, reach)
    return None if found is None else found.id


def picked(viewer: Viewer, prim_id: int) -> None:
    """Have a viewer hear that a sphere was picked."""
    viewer.hear(Picked(viewer.stage, viewer.stage.scene.describe(prim_id)))
