"""Packing: colours and materials as kernels take them, spheres described by their surface."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import Background, Camera, Material, Scene, SphereSet
from raytracer.config.errors import SceneError
from raytracer.config.warning import collect_warnings
from raytracer.model.colors import srgb_to_linear
from raytracer.model.render_space import Space
from raytracer.model.transform import Transform
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.large_spheres import MAX_LARGE
from raytracer.packing.pack import choose_render_space, pack, to_render_space


@pytest.mark.parametrize("count", [1, 8])
def test_the_origin_of_equal_spheres_is_their_lower_median(count: int) -> None:
    centers = np.random.default_rng(count).normal(size=(count, 3))
    lower = np.sort(centers, axis=0)[(count - 1) // 2]
    for radius in (0.1, [0.1] * count):
        np.testing.assert_array_equal(pack(Scene.from_arrays(centers, radius)).space.center, lower)


def test_offsets_inside_a_transform_are_exact() -> None:
    rng = np.random.default_rng(8)
    centers = rng.normal(size=(100, 3)).astype(np.float32)
    far = Scene([SphereSet(centers, 0.1, transform=Transform(translate=(1e9, 0, -1e9)))])
    near = pack(Scene([SphereSet(centers, 0.1)]))
    np.testing.assert_allclose(pack(far).placed[0], near.placed[0], rtol=0, atol=3e-7)


def in_float64(spheres: SphereSet, space: Space) -> NDArray[np.float32]:
    """The placed spheres, (4, N), by NumPy: terms in their order in float64, rounded once."""
    linear, offset = space.affine_from(spheres.transform)
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
    space = choose_render_space([spheres, others])
    expected = np.concatenate([in_float64(each, space) for each in (spheres, others)], axis=1)
    placed = np.stack(to_render_space([spheres, others], space))
    np.testing.assert_array_equal(placed.view(np.uint32), expected.view(np.uint32))


@pytest.mark.parametrize("row", [0, 40_000, 99_999])
@pytest.mark.parametrize("value", [np.nan, np.inf, 1e30])
def test_the_first_sphere_that_does_not_fit_is_named(row: int, value: float) -> None:
    spheres = SphereSet(np.zeros((100_000, 3)), np.ones(100_000))
    for array in (spheres.centers[:, 1], spheres.radius):
        assert isinstance(array, np.ndarray)
        array[[row, 99_999]] = value
        with pytest.raises(SceneError, match=f"sphere {row} is too far away, too large or too"):
            to_render_space([spheres], Space((0.0, 0.0, 0.0), 1.0))
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
        pack(scene).view.frame["environment"]["background_up"][0], expected, atol=1e-7
    )


def colors(buffers: SceneBuffers) -> NDArray[np.float32]:
    """The colour of every sphere, by whichever mode."""
    mode = int(buffers.view.frame["scene"]["color_mode"][0])
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
    assert buffers.view.frame["scene"]["color_mode"] == mode
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
    assert buffers.view.materials["phong"]["mirror"].tolist() == [0.5, 0.0]
    assert buffers.view.frame["scene"][["material_mode", "material_count"]][0].item() == (1, 2)
    same = pack(Scene([balls(2, material="default"), balls(1)]))
    assert (len(same.material_id), len(same.view.materials)) == (0, 1)
    assert same.view.frame["scene"]["material_mode"] == 0
    redefined = Scene([balls(1)], materials={"default": Material(diffuse=0.25)})
    assert pack(redefined).view.materials["phong"]["diffuse"] == np.float32(0.25)


def test_number_of_threads_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(12)
    scene = Scene.from_arrays(rng.normal(size=(300_000, 3)), 0.01, rng.random((300_000, 3)))
    digests = set()
    for threads in ("1", "2", "7"):
        monkeypatch.setenv("RAYTRACER_THREADS", threads)
        digests.add(pack(scene).digest())
    assert len(digests) == 1


def packed(*large: tuple[tuple[float, float, float], float]) -> SceneBuffers:
    sets = [raytracer.SphereSet([[0.0, 1.0, 0.0], [3.0, 1.0, 0.5]], 1.0)]
    sets += [raytracer.SphereSet([center], radius) for center, radius in large]
    return pack(raytracer.Scene(spheres=sets))


@pytest.mark.parametrize("gap", [0.0, 0.25, -3.0])
@pytest.mark.parametrize("radius", [2.0**20, 2.0**50])
def test_the_height_of_the_middle_above_the_surface(radius: float, gap: float) -> None:
    """Exact, where the float32 centre and radius are wrong by R / 2^24."""
    buffers = packed(((0.0, -radius - gap, 0.0), radius))
    row = buffers.large[0]
    assert buffers.large_id.tolist() == [2]
    assert buffers.view.frame["scene"]["large_count"][0] == 1
    assert row["prim"] == 2
    np.testing.assert_array_equal(np.round(row["normal"], 6), (0, -1, 0))
    middle = Fraction(float(buffers.space.center[1]))
    length = Fraction(radius) + Fraction(gap) + middle
    height = (length**2 - Fraction(radius) ** 2) / (2 * length)
    assert row["height"] * buffers.space.scale == pytest.approx(float(height), rel=2e-7)


def test_a_sphere_around_everything_stays_as_it_is() -> None:
    with collect_warnings() as warnings:
        buffers = packed(((0.0, 0.0, 0.0), 4e8))
    assert len(buffers.large) == 0
    assert not warnings


def test_surfaces_beyond_the_limit_are_a_warning() -> None:
    """Specks in two places, of which only one is the middle."""
    specks = raytracer.SphereSet([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0]], 1e-7)
    balls = raytracer.SphereSet([[0.0, 0.0, 0.0], [0.0, -1.0, -1.0]], 1.0)
    with collect_warnings() as warnings:
        buffers = pack(raytracer.Scene(spheres=[specks, balls]))
    assert buffers.large_id.tolist() == [3]
    assert len(warnings) == 1
    assert "number 4, a sphere" in warnings[0]
    assert "1e6" in warnings[0]


@pytest.mark.parametrize(("size", "warned"), [(1e5, False), (1e8, True)])
def test_other_solids_beyond_the_limit_are_a_warning(size: float, warned: bool) -> None:
    small = raytracer.SphereSet([[0.0, 1.0, 0.0]], 1.0)
    wide = raytracer.EllipsoidSet([[0.0, -size, 0.0]], (size, size, size))
    with collect_warnings() as warnings:
        pack(raytracer.Scene(spheres=[small], ellipsoids=[wide]))
    assert any("number 1, a solid" in each for each in warnings) == warned


def test_at_most_sixteen() -> None:
    walls = [((-1e7 - k, 0.0, 0.0), 1e7) for k in range(MAX_LARGE + 4)]
    with collect_warnings() as warnings:
        buffers = packed(*walls)
    assert len(buffers.large) == MAX_LARGE
    assert (np.diff(buffers.large_id) > 0).all()
    assert len(warnings) == 1


BELOW = 2.0**24
"""Radius of a sphere whose top is at y = 0, below two of radius 1."""


@pytest.mark.parametrize(
    ("clip", "described"),
    [
        ({"keep": "z < 1e9"}, 1),  # kept whole
        ({"remove": "y > 1"}, 1),
        ({"keep": "z < 0.5"}, 1),  # cut
        ({"remove": "x > 0 and z > 0"}, 1),
        ({"keep": "y > 0.5"}, 0),  # not there
        ({"remove": "y < 0.5"}, 0),
    ],
)
def test_planes_that_leave_a_part_of_a_large_sphere(clip: dict[str, str], described: int) -> None:
    small = raytracer.SphereSet([[0.0, 1.0, 0.0], [3.0, 1.0, -0.5]], 1.0)
    large = raytracer.SphereSet([[0.0, -BELOW, 0.0]], BELOW)
    with collect_warnings() as warnings:
        buffers = pack(raytracer.Scene(spheres=[small, large], clip=raytracer.Clip(**clip)))
    assert len(buffers.large) == described
    assert not warnings


def test_a_clipped_scene_on_a_large_sphere_that_is_whole_is_the_scene_without_clipping() -> None:
    small = raytracer.SphereSet([[0.0, 1.0, 0.0], [3.0, 1.0, -0.5]], 1.0, "red")
    large = raytracer.SphereSet([[0.0, -BELOW, 0.0]], BELOW, "gray")
    camera = raytracer.Camera(position=(1.0, 4.0, 9.0), look_at=(1.0, 0.5, 0.0))
    scene = raytracer.Scene([small, large], camera)
    size: dict[str, Any] = {"width": 96, "height": 64, "samples": 1, "backend": "cpu"}
    plain, clipped = (
        raytracer.render(scene, clip=clip, **size).to_uint8().astype(int)
        for clip in (None, "z < 1e9")
    )
    np.testing.assert_array_equal(clipped, plain)
