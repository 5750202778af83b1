"""What the tests of the preview share: stages, views and ways of looking at a packed scene."""

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from unittest.mock import MagicMock

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from raytracer import Camera, Scene
from raytracer.model.settings import RenderSettings
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.view import View as PackedView
from raytracer.viewer.frames import FrameLoader, Frames
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import Pick, PickReport, RenderRequest
from raytracer.viewer.orbit_camera import OrbitCamera, make_camera, make_initial_view
from raytracer.viewer.session import HostFrame, Session

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


def loaded_scene_of(scene: Any, **overrides: Any) -> LoadedScene:
    """A scene, or the path of one, ready on the CPU."""
    return LoadedScene.load(scene, overrides, "cpu", threads=2)


def first_camera(scene: Any, size: tuple[int, int]) -> Camera:
    """The camera that a preview of a scene, or of its file, begins with at a size in pixels.

    It is the scene's own, unless that is fitted: the preview fits a ball around all spheres.
    """
    loaded_scene = loaded_scene_of(scene, width=size[0], height=size[1])
    camera, buffers = loaded_scene.scene.camera or Camera(), loaded_scene.buffers
    if camera.position is not None and not camera.fit:
        return camera
    around = loaded_scene.reserved_room(size)
    return make_camera(make_initial_view(camera, buffers, size[0] / size[1], around), buffers)


def view_of(buffers: SceneBuffers, aspect: float = 4.0 / 3.0, **camera: Any) -> OrbitCamera:
    """A view as a scene's camera gives it; without arguments the fitted one."""
    return make_initial_view(Camera(**camera) if camera else None, buffers, aspect)


def assert_same_view(a: PackedView, b: PackedView) -> None:
    for (name, one), (_, two) in zip(a.arrays(), b.arrays(), strict=True):
        assert one.dtype == two.dtype, name
        assert one.shape == two.shape, name
        assert np.ascontiguousarray(one).tobytes() == np.ascontiguousarray(two).tobytes(), name


def wait_for(condition: Callable[[], Any], what: str = "what is waited for") -> Any:
    """What the condition gives as soon as it is true; fails if that takes far too long."""
    end, pause = monotonic() + PATIENCE, 0.001
    while not (found := condition()):
        assert monotonic() < end, f"{what} did not come"
        sleep(pause)
        pause = min(1.5 * pause, 0.02)  # conditions take processor time
    return found


def opened(scene: Any, size: tuple[int, int] = (64, 48), **options: Any) -> Session:
    """A small session on the CPU that prints nothing."""
    settings: dict[str, Any] = {"samples": 2, "threads": 1, "backend": "cpu"}
    settings |= {"width": size[0], "height": size[1]}
    return Session.open(scene, say=lambda _: None, **settings | options)


def finished(session: Session, of: Callable[[LoadedScene], object] = bool) -> HostFrame:
    """The next finished picture, of a scene for which something is true."""

    def last() -> HostFrame | None:
        found = session.picture(PATIENCE)
        is_there = found is not None and found.frame.finished and of(session.loaded_scene)
        return found if is_there else None

    found: HostFrame = wait_for(last, "the finished picture")
    return found


def pixels_of(path: str | Path) -> NDArray[np.uint8]:
    """The pixels of a file, uint8 (h, w, 3 or 4)."""
    with Image.open(path) as picture:
        return np.asarray(picture)


def pixel_ray(view: OrbitCamera, x: float, y: float, size: tuple[int, int]) -> NDArray[np.float64]:
    """Origin and unit direction, (2, 3), render space, through a place of the picture in pixels.

    x, y: from the upper left; half numbers are centres of pixels.
    """
    pose, (width, height) = view.pose, size
    u = (2.0 * x / width - 1.0) * width / height * pose.half
    v = (1.0 - 2.0 * y / height) * pose.half
    across = u * pose.axes.right + v * pose.axes.up
    if pose.kind == "orthographic":
        return np.array([pose.eye + across, pose.axes.forward])
    direction = pose.axes.forward + across
    return np.array([pose.eye, direction / np.linalg.norm(direction)])


def viewer_of(loaded_scene: LoadedScene, size: tuple[int, int] = (64, 48), **more: Any) -> Session:
    """A viewer whose render thread only remembers what it was asked for."""
    worker: Any = MagicMock(save_job=None)
    frames = Frames(loaded_scene.scene)
    frames._plain = None, loaded_scene.scene
    return Session(loaded_scene, worker, size, FrameLoader(frames, worker.post), **more)


def requests(viewer: Session) -> list[RenderRequest]:
    worker: Any = viewer.worker
    return [call.args[0] for call in worker.show.call_args_list]


def perform(viewer: Session) -> None:
    """Perform the latest task of the render thread, and have a viewer hear what comes of it."""
    worker: Any = viewer.worker
    if worker.run_task.called:
        worker.run_task.call_args.args[0]()
        worker.run_task.reset_mock()
    wait_for(lambda: worker.post.called, "the answer")
    viewer.handle_message(worker.post.call_args.args[0])
    worker.post.reset_mock()


def hit_id(
    loaded_scene: LoadedScene, seen: PackedView, x: int, y: int, reach: int = 0
) -> int | None:
    """The number of the sphere that a click would pick."""
    found = loaded_scene.find_hit(seen, x, y, reach)
    return None if found is None else found.id


def picked(viewer: Session, prim_id: int) -> None:
    """Have a viewer hear that a sphere was picked."""
    sphere = viewer.loaded_scene.scene.describe(prim_id)
    pick = Pick(prim_id, sphere.lines(), sphere.position)
    viewer.handle_message(PickReport(viewer.loaded_scene, pick))
