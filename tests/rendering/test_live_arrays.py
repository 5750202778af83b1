"""Live scenes whose particles are arrays on a GPU, with pictures of the same arrays on the host.

The GPU is one that packs where arrays are and renders on the CPU.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.config.errors import SceneError
from raytracer.packing.sphere_update import OutOfRangeError, SphereUpdate
from raytracer.system.device_array import DeviceArray
from support.device_arrays import ByDlpack, ByInterface, taking_updates, with_host_memory

COUNT = 50
SIZE: dict[str, Any] = {"width": 40, "height": 30, "samples": 2, "backend": "cpu"}
RNG = np.random.default_rng(3)
X = RNG.uniform(-1.0, 1.0, (COUNT, 3))
COLORS = RNG.integers(0, 256, (COUNT, 3)).astype(np.uint8)
VALUES = RNG.normal(0.0, 1.0, COUNT)


def live(**settings: Any) -> raytracer.LiveScene:
    return raytracer.LiveScene(raytracer.Scene.from_arrays(X, 0.1, COLORS), **SIZE, **settings)


@pytest.fixture
def on_gpu(monkeypatch: pytest.MonkeyPatch) -> list[SphereUpdate]:
    """A GPU; the updates that it got."""
    from raytracer.backends.base import CpuDevice

    with_host_memory(monkeypatch)
    monkeypatch.setattr(CpuDevice, "has_own_memory", True)
    return taking_updates(monkeypatch)


def picture(changes: list[dict[str, Any]], kind: Any = lambda array: array) -> NDArray[np.uint8]:
    """The picture after updates with arrays of a kind; numbers stay as they are."""
    with live(map="viridis", range=(-1.0, 1.0)) as scene:
        for change in changes:
            given = {k: kind(v) if isinstance(v, np.ndarray) else v for k, v in change.items()}
            scene.update(**given)
        return scene.render().to_uint8()


CHANGES: dict[str, list[dict[str, Any]]] = {
    "positions": [{"positions": X + 0.1}],
    "single precision, strided": [{"positions": np.asfortranarray(X + 0.1, np.float32)}],
    "radii": [{"radii": np.linspace(0.05, 0.2, COUNT)}],
    "one radius": [{"positions": X * 0.9, "radii": 0.2}],
    "colours": [{"colors": COLORS[::-1]}],
    "colours from 0 to 1": [{"colors": COLORS[::-1] / 255.0}],
    "values": [{"values": VALUES}],
    "values, then colours": [{"values": VALUES}, {"colors": COLORS[::-1]}],
    "all": [{"positions": X * 0.5, "radii": np.full(COUNT, 0.2), "values": VALUES}] * 2,
    "fewer": [{"positions": X + 0.1}, {"positions": X[:20], "colors": COLORS[:20]}],
    "opacity": [{"colors": np.full((COUNT, 4), 128, np.uint8)}, {"positions": X + 0.1}],
    "small integers": [{"radii": np.ones(COUNT, np.int16)}],
}
IN_PLACE = {name: name not in ("fewer", "opacity") for name in CHANGES}


@pytest.mark.parametrize("kind", [ByInterface, ByDlpack])
@pytest.mark.parametrize("name", CHANGES)
def test_pictures_are_those_of_the_same_arrays_on_the_host(
    name: str, kind: Any, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    with_host_memory(monkeypatch)
    expected = picture(CHANGES[name])
    assert np.array_equal(picture(CHANGES[name], kind), expected), "the CPU gets copies"
    updates: list[SphereUpdate] = request.getfixturevalue("on_gpu")
    assert np.array_equal(picture(CHANGES[name], kind), expected)
    if IN_PLACE[name] and name != "small integers":
        arrays = [(u.positions, u.radii, u.colors) for u in updates]
        given = [each for row in arrays for each in row if each is not None]
        assert any(isinstance(each, DeviceArray) for each in given)


@pytest.fixture
def captured(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Streams that are being captured."""
    streams: list[int] = []

    def is_capturing(stream: Any, status: Any) -> int:
        status._obj.value = int(stream.value in streams)
        return 0

    with_host_memory(monkeypatch).cuStreamIsCapturing = is_capturing
    return streams


def test_an_update_in_a_capture(on_gpu: list[SphereUpdate], captured: list[int]) -> None:
    positions = X + 0.1
    with live() as scene:
        scene.update(ByInterface(positions), stream=77)
        captured.append(77)
        scene.update(ByInterface(positions), stream=77)
        assert [change.in_graph for change in on_gpu] == [False, True]
        captured.clear()
        for _ in range(2):  # the graph reads the array again and again
            positions += 0.1
            assert np.array_equal(scene.scene.spheres[0].centers, positions)
        scene.update(X)
        assert np.array_equal(scene.scene.spheres[0].centers, X)
        with pytest.raises(raytracer.UserError, match="packed anew, which a CUDA graph with an"):
            scene.update(X[:20], colors=COLORS[:20])
        assert scene.render().to_uint8().any(), "all else goes on"


GRAPHS: dict[str, tuple[dict[str, Any], str]] = {
    "of the host": ({"positions": X}, "positions: cannot be part of a CUDA graph, into which the"),
    "one radius": ({"radii": 0.2}, "radii: cannot be part of a CUDA graph"),
    "another number": ({"positions": ByInterface(X[:20].copy())}, "positions: cannot be part of a"),
    "with opacity": ({"colors": ByInterface(np.full((COUNT, 4), 9, np.uint8))}, "colors: cannot"),
    "first values": ({"values": ByInterface(VALUES)}, "values: the first ones make the scale on"),
}


@pytest.mark.parametrize("name", GRAPHS)
def test_what_needs_the_host_is_no_part_of_a_graph(
    name: str, on_gpu: list[SphereUpdate], captured: list[int]
) -> None:
    given, sentence = GRAPHS[name]
    captured.append(77)
    with live() as scene:
        before = scene.render().to_uint8()
        with pytest.raises(raytracer.UserError, match=sentence):
            scene.update(**given, stream=77)
        assert np.array_equal(scene.render().to_uint8(), before)
    assert not on_gpu


def test_a_scene_on_the_cpu_is_no_part_of_a_graph(captured: list[int]) -> None:
    captured.append(77)
    with live() as scene, pytest.raises(raytracer.UserError, match="positions: cannot be part of"):
        scene.update(ByInterface(X), stream=77)


def test_the_scene_is_what_was_given_last(on_gpu: list[SphereUpdate]) -> None:
    with live() as scene:
        scene.update(ByInterface(X + 0.1), colors=ByInterface(COLORS[::-1].copy()))
        (spheres,) = scene.scene.spheres
        assert np.array_equal(spheres.centers, X + 0.1)
        assert np.array_equal(spheres.color, COLORS[::-1])
        assert spheres.radius == 0.1
        scene.update(X + 0.2, ByInterface(np.full(COUNT, 0.3)))
        scene.update(X + 0.3)
        (spheres,) = scene.scene.spheres
        assert np.array_equal(spheres.centers, X + 0.3)
        assert np.array_equal(spheres.radius, np.full(COUNT, 0.3))
        assert np.array_equal(spheres.color, COLORS[::-1])
    assert len(on_gpu) == 3


@pytest.fixture
def late(on_gpu: list[SphereUpdate], monkeypatch: pytest.MonkeyPatch) -> None:
    """A GPU that says at the next picture, or update from the host, what is wrong with an array."""
    from raytracer.backends.base import CpuFilm, CpuScene

    wrong: dict[CpuScene, SceneError] = {}
    update, expose = CpuScene.update, CpuFilm._accumulate

    def tell(scene: CpuScene) -> None:
        if scene in wrong:
            raise wrong.pop(scene)

    def updated(scene: CpuScene, change: SphereUpdate) -> None:
        if change.is_on_host:
            tell(scene)
        try:
            update(scene, change)
        except OutOfRangeError:
            if change.is_on_host:
                raise
            wrong.setdefault(scene, SceneError("positions: sphere 7 has a coordinate"))

    def exposed(film: CpuFilm, scene: CpuScene, *more: Any) -> float:
        tell(scene)
        return expose(film, scene, *more)

    monkeypatch.setattr(CpuScene, "update", updated)
    monkeypatch.setattr(CpuFilm, "_accumulate", exposed)


BAD = X.copy()
BAD[7, 1] = np.nan
RGBA = np.concatenate([COLORS, np.full((COUNT, 1), 128, np.uint8)], axis=1)
WRONG = "positions: sphere 7 "


@pytest.mark.usefixtures("late")
@pytest.mark.parametrize("then", ["render", "scene", "camera"])
def test_the_next_picture_says_what_is_wrong(then: str) -> None:
    with live() as scene:
        scene.update(ByInterface(X * 0.9))
        before = scene.render().to_uint8()
        scene.update(ByInterface(BAD), ByInterface(np.full(COUNT, 0.2)))
        if then == "scene":
            assert np.isfinite(scene.scene.spheres[0].centers).all()
        with pytest.raises(raytracer.UserError, match=WRONG):
            scene.render(refit_camera=then == "camera")
        (spheres,) = scene.scene.spheres
        assert np.array_equal(spheres.centers, X)
        assert np.array_equal(spheres.radius, np.full(COUNT, 0.2))
        assert scene.render().to_uint8().shape == before.shape
        scene.update(colors=RGBA)  # packs the scene anew
        scene.render(refit_camera=True)


@pytest.mark.usefixtures("late")
def test_what_is_wrong_is_told_also_by_a_scene_that_is_packed_anew() -> None:
    with live() as scene:
        scene.update(ByInterface(BAD))
        scene.update(colors=RGBA)
        with pytest.raises(raytracer.UserError, match=WRONG):
            scene.pixels()
        assert scene.pixels().shape == (30, 40, 4)
        scene.update(ByInterface(BAD))
        with pytest.raises(raytracer.UserError, match=WRONG):
            scene.update(X)
        scene.update(X)
        assert scene.pixels().shape == (30, 40, 4)


@pytest.fixture
def resized(on_gpu: list[SphereUpdate], monkeypatch: pytest.MonkeyPatch) -> list[SphereUpdate]:
    """A GPU that says at the next picture how its radii differ."""
    from raytracer.backends.base import CpuScene

    def moved_radii(_: CpuScene) -> tuple[float, float]:
        sizes = [np.asarray(u.radii) * u.scale for u in on_gpu if u.radii is not None]
        return min(r.min() for r in sizes), max(r.max() for r in sizes)

    monkeypatch.setattr(CpuScene, "find_moved_radii", moved_radii)
    return on_gpu


HUGE = 4e6
SUNK = X.copy()
SUNK[7] = 0.0, -HUGE - 1.2, 0.0


@pytest.mark.parametrize("then", ["render", "pixels", "camera"])
def test_large_spheres_of_a_gpu_are_drawn_by_their_surface(
    then: str, resized: list[SphereUpdate]
) -> None:
    radii = np.full(COUNT, 0.1)
    radii[7] = HUGE
    pictures: list[NDArray[np.uint8]] = []
    for kind in (lambda array: array, ByInterface):
        with live() as scene:
            scene.update(radii=kind(np.full(COUNT, 0.2)))
            scene.pixels()
            assert not len(scene._kept[1].large)
            scene.update(kind(SUNK), kind(radii))
            pixels = scene.pixels() if then == "pixels" else None
            image = scene.render(refit_camera=then == "camera")
            pictures.append(image.to_uint8() if pixels is None else pixels)
            assert len(scene._kept[1].large) == 1
            scene.update(kind(SUNK + 0.01))
            pictures.append(scene.pixels())
    assert np.array_equal(pictures[0], pictures[2])
    assert np.array_equal(pictures[1], pictures[3])
    assert len(resized) == 3, "one of the host, before there were large spheres"


def test_the_camera_follows_arrays_on_a_gpu(on_gpu: list[SphereUpdate]) -> None:
    pictures: list[NDArray[np.uint8]] = []
    for kind in (lambda array: array, ByInterface):
        with live() as scene:
            scene.update(kind(X * 3.0))
            pictures.append(scene.render(refit_camera=True).to_uint8())
    assert np.array_equal(pictures[0], pictures[1])
    assert len(on_gpu) == 2


def test_pictures_of_the_cpu_are_not_on_a_gpu() -> None:
    with live() as scene:
        with pytest.raises(raytracer.UserError, match="the scene is on the CPU: give LiveScene"):
            scene.device_pixels()
        with pytest.raises(raytracer.UserError, match="the picture was not rendered on a GPU"):
            scene.render().device_array()
