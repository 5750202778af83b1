"""Arrays of a page are what was written, positions and radii to a part of the smallest."""

import zlib
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.exporting.figure import MAX_BITS, PART_OF_RADIUS, Figure, Grid
from raytracer.exporting.sections import SKY_LEVELS, Section, make_rod_sections, make_section
from raytracer.packing.pack import pack


def decoded(section: Section, kind: str) -> NDArray[Any]:
    """Read a section number by number, apart from the code that writes it."""
    about = section.about
    read = zlib.decompress(b64decode(section.text))
    rows, planes = about["rows"], about["planes"]
    words = [
        sum(read[plane * rows + row] << (8 * plane) for plane in range(planes))
        for row in range(rows)
    ]
    if about["delta"]:
        total, sums = 0, []
        for word in words:
            total += (word >> 1) ^ -(word & 1)
            sums.append(total % 2**32)
        words = sums
    width = np.dtype(kind).itemsize
    return np.array(words, np.uint64).astype(f"u{width}").view(kind)


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "i4", "f4"])
@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
def test_numbers_come_back(kind: str, rows: int) -> None:
    rng = np.random.default_rng(rows)
    if kind == "f4":
        values = rng.normal(0.0, 1e3, rows).astype(kind)
        values[0] = np.nan
    else:
        ends = np.iinfo(kind)
        values = rng.integers(ends.min, ends.max, rows, kind, endpoint=True)
        values[0] = ends.min
        values[-1] = ends.max
    np.testing.assert_array_equal(decoded(make_section(values), kind), values)


@pytest.mark.parametrize("kind", ["u4", "i4"])
def test_a_ramp_is_stored_as_differences(kind: str) -> None:
    values = (np.arange(5000) * 7 - 3000).astype(kind)
    section = make_section(values)
    assert section.about["delta"]
    assert len(section.text) < 200
    np.testing.assert_array_equal(decoded(section, kind), values)


def figure_of(positions: np.ndarray, radius: np.ndarray | float) -> Figure:
    scene = raytracer.Scene([raytracer.SphereSet(positions, radius)])
    return Figure.of(pack(scene))


@pytest.mark.parametrize("least", [1.0, 1e-2, 1e-3])
def test_positions_are_off_by_a_part_of_the_smallest_radius(least: float) -> None:
    rng = np.random.default_rng(3)
    positions = rng.uniform(-10, 30, (2000, 3))
    radius = least * 10 ** rng.uniform(0, 1, 2000)
    figure = figure_of(positions, radius)
    grid = Grid.of(figure)
    back = grid.low + grid.step * grid.encode_positions(figure.positions)
    off = np.linalg.norm(back - figure.positions, axis=1)
    smallest = figure.radius.min()
    assert off.max() <= smallest / PART_OF_RADIUS * 1.01
    assert grid.bits < MAX_BITS


def test_the_finest_grid_is_that_of_float32() -> None:
    positions = np.array([[0.0, 0.0, 0.0], [1e6, 0.0, 0.0]])
    grid = Grid.of(figure_of(positions, 1e-3))
    assert grid.bits == MAX_BITS


def test_radii_keep_four_digits() -> None:
    rng = np.random.default_rng(5)
    radius = 10 ** rng.uniform(-3, 2, 1000)
    figure = figure_of(rng.uniform(-1, 1, (1000, 3)), radius)
    grid = Grid.of(figure)
    back = grid.least * 2.0 ** (grid.octave * grid.encode_radii(figure.radius).astype(float))
    np.testing.assert_allclose(back, figure.radius, rtol=2e-4)


def test_equal_radii_have_one_code() -> None:
    figure = figure_of(np.random.default_rng(0).uniform(-1, 1, (50, 3)), 0.1)
    grid = Grid.of(figure)
    assert not grid.encode_radii(figure.radius).any()
    assert grid.least == pytest.approx(figure.radius[0])


def test_the_light_of_a_rod_is_the_mean_of_its_ends() -> None:
    """Between two spheres that of both; an end elsewhere has the mean of all spheres."""
    centers = np.array([[0.0, 0, 0], [2.0, 0, 0], [4.0, 0, 0]])
    starts = [centers[0], centers[1], centers[2], [0, 3, 0], [0, 3, 0]]
    ends = [centers[1], centers[2], centers[0], centers[0], [4, 3, 0]]
    rods = raytracer.CapsuleSet(starts, ends, 0.1)
    figure = Figure.of(pack(raytracer.Scene([raytracer.SphereSet(centers, 0.5)], capsules=[rods])))
    sky = np.zeros((3, 4), np.float32)
    sky[:, 0] = 1.0, 0.4, 0.1
    made = dict(make_rod_sections(figure.rods, Grid.of(figure), figure, sky))
    expected = np.array([0.7, 0.25, 0.55, 0.75, 0.5])
    shares = decoded(made["rod_sky"], "u1") / SKY_LEVELS
    np.testing.assert_allclose(shares, expected, atol=0.51 / SKY_LEVELS)
