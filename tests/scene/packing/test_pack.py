"""Packing: render space, colours, materials, lights and camera as the kernels take them."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import (
    Background,
    Camera,
    Material,
    Scene,
    SphereSet,
)
from raytracer.buffers import SceneBuffers
from raytracer.errors import SceneError
from raytracer.scene.colors import srgb_to_linear
from raytracer.scene.packing.pack import pack, place, render_space
from raytracer.scene.packing.render_space import Space
from raytracer.scene.transform import Transform


@pytest.mark.parametrize("count", [1, 8])
def test_the_origin_of_equal_spheres_is_their_lower_median(count: int) -> None:
    centers = np.random.default_rng(count).normal(size=(count, 3))
    lower = np.sort(centers, axis=0)[(count - 1) // 2]
    for radius in (0.1, [0.1] * count):
        np.testing.assert_array_equal(pack(Scene.from_arrays(centers, radius)).center, lower)


def test_offsets_inside_a_transform_are_exact() -> None:
    rng = np.random.default_rng(8)
    centers = rng.normal(size=(100, 3)).astype(np.float32)
    far = Scene([SphereSet(centers, 0.1, transform=Transform(translate=(1e9, 0, -1e9)))])
    near = pack(Scene([SphereSet(centers, 0.1)]))
    np.testing.assert_allclose(pack(far).x, near.x, rtol=0, atol=3e-7)


def in_float64(spheres: SphereSet, space: Space) -> NDArray[np.float32]:
    """The placed spheres, (4, N), by NumPy: terms in their order in float64, rounded once."""
    linear, offset = space.placing(spheres.transform)
    rows = []
    for row, move in zip(linear, offset, strict=True):
        used = [axis for axis in range(3) if row[axis] != 0.0]
        terms = [spheres.centers[:, axis].astype(np.float64) * row[axis] for axis in used]
        rows.append(sum(terms[1:], start=terms[0]) + move)
    radius = np.broadcast_to(spheres.radius, spheres.count).astype(np.float64)
    return np.stack([*rows, radius * (spheres.transform.scale / space.scale)]).astype(np.float32)


def strided(kind: str, count: int) -> tuple[NDArray[Any], Any]:
    """Centres and radii that lie in memory in one of many ways."""
    rng = np.random.default_rng(count)
    dtype = np.float32 if kind in ("float32", "packed", "columns") else np.float64
    centers, radius = rng.normal(size=(count, 3)).astype(dtype), rng.uniform(1, 2, count)
    if kind == "columns":
        return np.asfortranarray(centers), 0.25
    if kind == "packed":  # fields of records at odd bytes
        records = np.zeros(count, np.dtype([("a", "u1"), ("c", "f4", 3), ("r", "f8")]))
        records["c"], records["r"] = centers, radius
        return records["c"], records["r"]
    if kind == "backwards":
        return centers[::-1, ::-1], radius[::-1].astype(np.float32)
    if kind == "every third":
        wide = np.zeros((3 * count, 5), dtype)
        wide[::3, 1:4] = centers
        return wide[::3, 1:4], np.repeat(radius, 3)[::3]
    centers.setflags(write=False)
    return centers, radius


@pytest.mark.parametrize("count", [1, 70_001])  # with one thread, and with several
@pytest.mark.parametrize(
    "kind", ["float32", "float64", "columns", "packed", "backwards", "every third"]
)
@pytest.mark.parametrize(
    "transform",
    [
        Transform(),
        Transform(scale=1.7, translate=(1e3, -2, 0.1)),
        Transform(rotate=(10, 20, 30), translate=(1, 2, 3)),
        Transform(rotate=(0, 0, 90), scale=0.3),
    ],
    ids=["as it is", "scaled", "turned", "swapped"],
)
def test_spheres_are_placed_in_float64_and_rounded_once(
    count: int, kind: str, transform: Transform
) -> None:
    centers, radius = strided(kind, count)
    spheres = SphereSet(centers, radius, transform=transform)
    others = SphereSet([[0.5, 0.25, -1.0]], 0.125)
    space = render_space([spheres, others])
    expected = np.concatenate([in_float64(each, space) for each in (spheres, others)], axis=1)
    placed = np.stack(place([spheres, others], space))
    np.testing.assert_array_equal(placed.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("row", [0, 40_000, 99_999])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_the_first_sphere_that_does_not_fit_is_named(row: int, value: float) -> None:
    spheres = SphereSet(np.zeros((100_000, 3)), np.ones(100_000))
    for array in (spheres.centers[:, 1], spheres.radius):
        assert isinstance(array, np.ndarray)
        array[[row, 99_999]] = value
        with pytest.raises(SceneError, match=f"sphere {row} is too far away, too large or too"):
            place([spheres], Space((0.0, 0.0, 0.0), 1.0))
        array[[row, 99_999]] = 1.0


@pytest.mark.parametrize(
    ("camera", "up", "expected"),
    [
        (None, None, (0, 1, 0)),
        (Camera(position=(5, 4, 3), up=(0, 0, 7)), None, (0, 0, 1)),
        (Camera(position=(5, 4, 3), up=(0, 0, 7)), (3, 0, 4), (0.6, 0, 0.8)),
    ],
)
def test_the_reflected_background_has_the_scenes_up(camera: Any, up: Any, expected: Any) -> None:
    scene = Scene(camera=camera, background=Background(up=up))
    np.testing.assert_allclose(
        pack(scene).frame["environment"]["background_up"][0], expected, atol=1e-7
    )


def colors(buffers: SceneBuffers) -> NDArray[np.float32]:
    """The colour of every sphere, by whichever mode."""
    mode = int(buffers.frame["scene"]["color_mode"][0])
    if mode == 0:
        assert (len(buffers.color), len(buffers.color_id)) == (1, 0)
        return np.repeat(buffers.color, buffers.count, axis=0)
    if mode == 1:
        assert (len(buffers.color), len(buffers.color_id)) == (buffers.count, 0)
        return buffers.color
    return buffers.color[buffers.color_id]


def balls(count: int, color: Any = None, **options: Any) -> SphereSet:
    return SphereSet(np.arange(count * 3.0).reshape(count, 3), 1.0, color, **options)


@pytest.mark.parametrize(
    ("sets", "mode"),
    [
        ([balls(4, "red"), balls(2, "red")], 0),
        ([balls(4, "red"), balls(2, "#ff0000")], 0),
        ([balls(4, np.random.default_rng(0).random((4, 3)))], 1),
        ([balls(40, np.random.default_rng(0).random((40, 3))), balls(2, "red")], 1),
        ([balls(40, "blue"), balls(2, "red")], 2),
        ([balls(2, np.eye(3)[:2]), balls(40, "red")], 2),
        ([balls(6, ["red", "blue"] * 3), balls(2, "lime"), balls(0, "pink")], 2),
        ([balls(5, np.eye(3, dtype=np.float32), color_id=[0, 2, 1, 0, 1])], 2),
    ],
)
def test_color_modes(sets: list[SphereSet], mode: int) -> None:
    buffers = pack(Scene(sets))
    assert buffers.frame["scene"]["color_mode"] == mode
    expected: list[NDArray[Any]] = []
    for spheres in sets:
        ids = spheres.color_id
        if ids is None:
            ids = np.zeros(spheres.count, int) if len(spheres.color) == 1 else slice(None)  # type: ignore[assignment]
        expected.append(srgb_to_linear(spheres.color[ids]))
    np.testing.assert_allclose(colors(buffers), np.concatenate(expected), rtol=1e-6, atol=1e-9)
    assert buffers.color.dtype == np.float32
    assert buffers.color_id.dtype == np.int32


def test_materials() -> None:
    shiny = Material(mirror=0.5)
    scene = Scene(
        [balls(2, material="shiny"), balls(3), balls(1, material=shiny)],
        materials={"shiny": shiny, "unused": Material(diffuse=0.1)},
    )
    buffers = pack(scene)
    assert buffers.material_id.tolist() == [0, 0, 1, 1, 1, 0]
    assert buffers.materials["phong"]["mirror"].tolist() == [0.5, 0.0]
    assert buffers.frame["scene"][["material_mode", "material_count"]][0].item() == (1, 2)
    same = pack(Scene([balls(2, material="default"), balls(1)]))
    assert (len(same.material_id), len(same.materials)) == (0, 1)
    assert same.frame["scene"]["material_mode"] == 0
    redefined = Scene([balls(1)], materials={"default": Material(diffuse=0.25)})
    assert pack(redefined).materials["phong"]["diffuse"] == np.float32(0.25)


def test_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(12)
    scene = Scene.from_arrays(rng.normal(size=(300_000, 3)), 0.01, rng.random((300_000, 3)))
    digests = set()
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("RAYTRACER_THREADS", threads)
        digests.add(pack(scene).digest())
    assert len(digests) == 1
