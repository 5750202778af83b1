"""Sphere sets: arrays are checked and not copied without need; transforms; radii by spacing."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import Scene, SphereSet
from raytracer.config.errors import SceneError, UserError
from raytracer.model import arrays, spacing
from raytracer.model.extent import MAX_SAMPLE, sample_rows
from raytracer.model.render_space import Space
from raytracer.model.spacing import FAR, local_spacing, mean_spacing
from raytracer.model.transform import Transform
from raytracer.packing.pack import pack, to_render_space


class Column:
    """What a table library gives for one of its columns: an array of objects, on request."""

    def __init__(self, values: list[Any]) -> None:
        self._values = values

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return np.array(self._values, dtype or object)


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_floats_are_not_copied(kind: type) -> None:
    centers: Any = np.zeros((5, 3), kind)
    radius: Any = np.ones(5, kind)
    spheres = SphereSet(centers, radius)
    assert spheres.centers is centers
    assert spheres.radius is radius
    assert spheres.count == 5


def test_integers_and_lists() -> None:
    spheres = SphereSet([[0, 1, 2]], [3])
    assert spheres.centers.dtype == np.float64
    assert spheres.radius.tolist() == [3.0]  # type: ignore[union-attr]
    assert SphereSet([], 1.0).count == 0
    assert SphereSet(np.zeros((0, 3)), np.zeros(0)).count == 0


@pytest.mark.parametrize(
    ("color", "shape", "ids"),
    [
        (None, (1, 3), None),
        ("red", (1, 3), None),
        ((1, 0, 0), (1, 3), None),
        (np.array([255, 0, 0], np.uint8), (1, 3), None),
        (np.zeros((3, 3), np.float32), (3, 3), None),
        ([[0, 0, 0], [1, 1, 1], [0, 1, 0]], (3, 3), None),
        (["red", "blue", "red"], (2, 3), [0, 1, 0]),
        (["red", [1, 0, 0], "red"], (2, 3), [0, 1, 0]),
        (np.array(["red", "C0", "red"]), (2, 3), [0, 1, 0]),
        (Column(["red", "k", "0.5"]), (3, 3), [0, 1, 2]),
        (Column([[0, 0, 0], [1, 1, 1], [0, 1, 0]]), (3, 3), None),
        (np.ones((3, 4)), (3, 3), None),
        (np.full((3, 4), 255, np.uint8), (3, 3), None),
        ((1.0, 0.0, 0.0, 1.0), (1, 3), None),
        ([(1.0, 0.0, 0.0, 1.0)] * 3, (3, 3), None),
    ],
)
def test_forms_of_color(color: Any, shape: tuple[int, int], ids: list[int] | None) -> None:
    spheres = SphereSet(np.zeros((3, 3)), 1.0, color)
    assert spheres.color.shape == shape
    assert (None if spheres.color_id is None else spheres.color_id.tolist()) == ids


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"color": "redd"}, "color: there is no colour named 'redd'"),
        ({"color": np.zeros((2, 3))}, "color: has 2 colours for 3 spheres"),
        ({"color": [[0, 0, 0], [0, 0, 0], [0, 0, 1.5]]}, r"color: colour 2 is \(0, 0, 1.5\)"),
        (
            {"color": np.full((3, 3), 300)},
            "color: give colours from 0 to 1, or as whole numbers from 0 to 255",
        ),
        ({"color": np.full((3, 3), np.nan)}, "color: colour 0 is not finite"),
        ({"color": np.zeros((3, 5))}, r"color: has shape \(3, 5\)"),
        ({"color": "red", "color_space": "linear"}, "color: 'red' is sRGB"),
        ({"color_space": "rec709"}, "color_space: "),
        ({"color": np.zeros((2, 3)), "color_id": [0, 1, 2]}, "color_id: has an index outside"),
        ({"color": np.zeros((2, 3)), "color_id": [0, 1]}, "color_id: has shape"),
        ({"color": np.zeros((2, 3)), "color_id": [0.0, 1.0, 0.0]}, "color_id: holds float64"),
        ({"material": 3}, "material: 3 is neither"),
    ],
)
def test_refuses_colors(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(UserError, match=f"^{message}"):
        SphereSet(np.zeros((3, 3)), 1.0, **arguments)


@pytest.mark.parametrize(
    "bad", [[], [1, 0], [1, 0, 0, 0, 0], 5, None, [[1, 2, 3]], [1, "red", 0], {"a": 1}, [None] * 3]
)
def test_a_list_of_colors_holds_colors(bad: Any) -> None:
    """An entry that is no colour would shift the palette under the ids of those after it."""
    with pytest.raises(SceneError, match="colour 1 is"):
        SphereSet(np.zeros((3, 3)), 1.0, ["red", bad, "blue"])


CUBE = np.stack(np.meshgrid(*[np.arange(3.0)] * 3), axis=-1).reshape(-1, 3)


def test_spheres_without_a_radius_get_half_their_spacing_whatever_they_come_from(
    tmp_path: Path,
) -> None:
    np.savez(tmp_path / "a.npz", centers=CUBE)
    np.save(tmp_path / "a.npy", CUBE)
    rows = "".join(f"{x},{y},{z}\n" for x, y, z in CUBE)
    (tmp_path / "a.csv").write_text("x,y,z\n" + rows)
    sets = "".join(f'[[spheres]]\nfile = "a.{end}"\n' for end in ("npz", "npy", "csv"))
    sets += f"[[spheres]]\ncenters = {CUBE.tolist()}\n"
    (tmp_path / "scene.toml").write_text(sets)
    made = [
        SphereSet(CUBE),
        *Scene.from_arrays(CUBE).spheres,
        *Scene.from_arrays(CUBE, None).spheres,
        *(raytracer.load(tmp_path / f"a.{end}").spheres[0] for end in ("npz", "npy", "csv")),
        *raytracer.load(tmp_path / "scene.toml").spheres,
    ]
    assert len(made) == 10  # neighbours touch
    assert [spheres.radius for spheres in made] == [pytest.approx(1 / 2)] * 10


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("at", [0, arrays.LARGE_BLOCK - 1, arrays.PARALLEL_ROWS + 7])
def test_the_first_value_that_is_not_finite_is_named(kind: Any, value: float, at: int) -> None:
    centers = np.ones((arrays.PARALLEL_ROWS + 9, 3), kind)
    radii = np.ones(len(centers), kind)
    centers[at, at % 3], radii[at] = value, value
    centers[-1], radii[-1] = np.nan, np.inf
    for each in (centers, np.asfortranarray(centers), centers[:, ::-1]):
        with pytest.raises(SceneError, match=f"sphere {at} lies at"):
            SphereSet(each)
    with pytest.raises(SceneError, match=f"sphere {at} has radius {value:g}"):
        SphereSet(np.ones_like(centers), radii)


IDENTITY = Space((0.0, 0.0, 0.0), 1.0)


def explicit(axis: int, degrees: float) -> np.ndarray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array(
        [
            [[1, 0, 0], [0, c, -s], [0, s, c]],
            [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        ][axis]
    )


@pytest.mark.parametrize("angles", [(20, -40, 110), (0, -90, 180), (450, 0, -123.4)])
def test_order_is_scale_rotate_translate(angles: tuple[float, float, float]) -> None:
    rng = np.random.default_rng(2)
    centers, radius = rng.normal(size=(40, 3)), rng.random(40) + 0.1
    placed = to_render_space(
        [SphereSet(centers, radius, transform=Transform(2.5, angles, (1, -2, 3)))], IDENTITY
    )
    turn = explicit(2, angles[2]) @ explicit(1, angles[1]) @ explicit(0, angles[0])
    expected = (turn @ (2.5 * centers).T).T + np.array([1, -2, 3])
    np.testing.assert_allclose(np.stack(placed[:3], axis=1), expected, rtol=2e-7, atol=1e-6)
    np.testing.assert_allclose(placed[3], 2.5 * radius, rtol=1e-7)
    assert all(a.dtype == np.float32 and a.flags.c_contiguous for a in placed)


Points = NDArray[np.float64]


def grid(side: int, dimensions: int = 3) -> Points:
    axes = [np.arange(float(side))] * dimensions + [np.zeros(1)] * (3 - dimensions)
    return np.stack(np.meshgrid(*axes), -1).reshape(-1, 3)


def plummer(count: int, seed: int = 1) -> Points:
    rng = np.random.default_rng(seed)
    way = rng.normal(size=(count, 3))
    way /= np.linalg.norm(way, axis=1)[:, None]
    radius = 1.0 / np.sqrt(rng.uniform(0, 1, count) ** (-2 / 3) - 1.0)
    return np.asarray(radius[:, None] * way)


@pytest.mark.parametrize("dimensions", [1, 2, 3])
@pytest.mark.parametrize("side", [2, 3, 30])
@pytest.mark.parametrize("unit", [1e-9, 1e9])
def test_neighbours_of_a_lattice_touch(dimensions: int, side: int, unit: float) -> None:
    assert local_spacing(unit * grid(side, dimensions)) == pytest.approx(unit)


@pytest.mark.parametrize("count", [9, 500, MAX_SAMPLE, MAX_SAMPLE + 1, 60_000])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_distances_are_those_of_brute_force(count: int, dtype: type[np.floating[Any]]) -> None:
    centers = np.asarray(plummer(count), dtype)
    found = spacing._neighbor_distances(centers)
    sample = centers[sample_rows(count)]
    queries = sample[:: -(-len(sample) // spacing.QUERIES)]
    for row, query in zip(found, queries, strict=True):
        distances = np.linalg.norm(centers.astype(float) - query.astype(float), axis=1)
        np.testing.assert_allclose(row, np.sort(distances)[1 : FAR + 1], rtol=1e-9)


def test_a_scan_of_a_surface_has_no_holes() -> None:
    """A fraction exp(-density * area) of a surface is between discs at random."""
    places = np.random.default_rng(2).uniform(0, 1, (20_000, 2))
    bumps = np.sin(places).sum(axis=1)
    radius = 0.5 * local_spacing(np.column_stack([places, bumps]))
    assert np.exp(-20_000 * np.pi * radius**2) < 0.1
    assert radius < 0.02


def test_the_dense_part_of_a_cluster_decides() -> None:
    places = plummer(20_000)
    assert local_spacing(places) < 0.05 * mean_spacing(places)


def test_far_particles_and_repeated_ones_change_nothing() -> None:
    one = grid(12)
    for far in (1e3, 1e9, 1e300):
        assert local_spacing(np.concatenate([one, [[far, 0.0, 0.0]]])) == 1.0
    assert local_spacing(np.concatenate([one] * 20)) == 1.0


def test_without_neighbours_the_spacing_is_that_of_the_box() -> None:
    for places in (np.zeros((0, 3)), np.zeros((1, 3)), np.ones((50, 3))):
        assert local_spacing(places) == mean_spacing(places) == 1.0


def test_its_text_counts_spheres_not_colors() -> None:
    points = np.zeros((3, 3))
    assert repr(SphereSet(points, 1.0, "red")) == "<SphereSet: 3 spheres>"
    assert repr(SphereSet(points[:1], 1.0, [[1, 0, 0]])) == "<SphereSet: 1 sphere>"


def test_a_color_for_all_is_srgb_whatever_the_colors_before_were() -> None:
    before = SphereSet(np.zeros((2, 3)), 1.0, [[0.2, 0.4, 0.6]] * 2, color_space="linear")
    after = before.in_color("#808080")
    assert after.color_space == SphereSet([[0, 0, 0]], 1.0, "#808080").color_space == "srgb"
    packed = pack(Scene([after]))
    np.testing.assert_allclose(packed.color[0][:3], ((128 / 255 + 0.055) / 1.055) ** 2.4, atol=2e-3)
