"""Trees over spheres that move: refitted, or built anew."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bvh.test_structure import uniform, wild_spheres
from raytracer.system.layout import empty_structs
from support.nodes import check, read_tree

IDENTITY = np.eye(3).ravel().tolist()
NEVER, ALWAYS = 1e300, -1.0
"""Limits of what a tree may grow before it is built anew."""


class Moving:
    """The scene of the extension over float32 (N, 4) spheres."""

    def __init__(self, spheres: np.ndarray, threads: int = 2) -> None:
        from raytracer import _core

        self.threads = threads
        x, y, z, radius = np.ascontiguousarray(spheres.astype(np.float32).T)
        nodes, order, records = _core.build_bvh((x, y, z, radius), threads)
        nothing = np.zeros(0, np.int32)
        self.scene = _core.Scene(
            nodes=nodes, spheres=records, order=order, color=np.ones((1, 3), np.float32),
            color_id=nothing, material_id=nothing, large=empty_structs("LargeSphere"),
            emitters=empty_structs("Emitter"), opacity=np.zeros(0, np.uint16),
            sky=empty_structs("EnvironmentTexel"), images=empty_structs("ImageLattice"),
        )  # fmt: skip

    def move(self, spheres: np.ndarray, limit: float) -> bool | None:
        built: bool | None = self.scene.move(
            spheres[:, :3], spheres[:, 3], IDENTITY, [0.0] * 3, 1.0, 0, len(spheres), [], limit,
            self.threads,
        )  # fmt: skip
        return built

    @property
    def arrays(self) -> tuple[Any, ...]:
        nodes, order, spheres = self.scene.tree()
        return nodes, order, spheres


def same(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
    return all(np.array_equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize("count", [1, 2, 9, 65, 1000, 30_000])
def test_a_tree_around_spheres_that_did_not_move_keeps_its_bytes(count: int) -> None:
    spheres = uniform(count).astype(np.float32)
    moving = Moving(spheres)
    before = moving.arrays
    assert moving.move(spheres, NEVER) is False
    assert same(before, moving.arrays)
    assert moving.scene.growth == 1.0


@pytest.mark.parametrize("count", [1, 2, 9, 65, 1000, 30_000])
def test_a_tree_that_is_built_anew_is_that_of_the_builder(count: int) -> None:
    moving, spheres = Moving(uniform(count)), uniform(count, 1)
    assert moving.move(spheres, ALWAYS) is True
    assert same(Moving(spheres).arrays, moving.arrays)


@pytest.mark.parametrize("count", [2, 9, 65, 1000, 10_000])
def test_a_refitted_tree_is_around_the_spheres(count: int) -> None:
    moving = Moving(uniform(count))
    for step in range(1, 4):
        spheres = uniform(count, step).astype(np.float32)
        assert moving.move(spheres, NEVER) is False
        check(read_tree(*moving.arrays), spheres)
    assert count < 100 or moving.scene.growth > 1.1


def test_no_sphere_moves() -> None:
    moving = Moving(np.zeros((0, 4)))
    for _ in range(2):  # the builder gives no records the second time
        assert moving.move(np.zeros((0, 4)), ALWAYS) is True
        assert len(moving.arrays[1]) == 0


@given(
    before=wild_spheres(), seed=st.integers(0, 2**32 - 1), limit=st.sampled_from([0.0, 1.0, NEVER])
)
def test_wild_motion(before: np.ndarray, seed: int, limit: float) -> None:
    moving, rng = Moving(before), np.random.default_rng(seed)
    for _ in range(3):
        after = before.copy()
        after[:, :3] += rng.normal(size=(len(before), 3)) * 10 ** rng.uniform(-6, 2)
        after[:, 3] *= rng.uniform(0.5, 2.0)
        assert moving.move(after, limit) is not None
        check(read_tree(*moving.arrays), after)


def test_equal_spheres_that_part_are_seen() -> None:
    """The builder puts one of many equal spheres into the tree."""
    moving = Moving(np.tile(np.array([[1.0, 2.0, 3.0, 0.5]]), (1000, 1)))
    apart = uniform(1000)
    assert moving.move(apart, NEVER) is True
    check(read_tree(*moving.arrays), apart)
    assert moving.move(uniform(1000, 1), NEVER) is False


def test_the_number_of_threads_changes_nothing() -> None:
    steps = [uniform(60_000, seed) for seed in (0, 0, 1)]
    steps[1][:, :3] += 0.001 * np.sin(40.0 * steps[1][:, 1::-1].sum(axis=1, keepdims=True))
    results = []
    for threads in (1, 2, 5):
        moving = Moving(steps[0], threads)
        for limit in (NEVER, 0.0):
            moving.move(steps[1], limit)
            results.append((threads, limit, moving.arrays, moving.scene.growth))
    for (_, limit, arrays, growth), (_, _, expected, grown) in zip(
        results[2:], results[:2] * 2, strict=True
    ):
        assert same(arrays, expected), limit
        assert growth == grown


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [(0, 0, np.nan), (7, 1, np.inf), (63, 2, -(2.0**60)), (5, 3, np.nan), (5, 3, 0.0),
     (5, 3, -1.0), (5, 3, 2.0**60), (5, 3, 2.0**-61)],
)  # fmt: skip
def test_a_sphere_that_has_no_place_changes_nothing(row: int, column: int, value: float) -> None:
    spheres = uniform(64)
    moving = Moving(spheres)
    moving.move(uniform(64, 1), NEVER)
    before = moving.arrays
    bad = spheres.copy()
    bad[row, column] = value
    assert moving.move(bad, NEVER) is None
    assert same(before, moving.arrays)
    # radii alone: the centres are those of before
    assert moving.scene.move(
        None, np.ones(1), IDENTITY, [0.0] * 3, 1.0, 0, 64, [], NEVER, 1
    ) is False  # fmt: skip
    kept = moving.arrays[2][np.argsort(moving.arrays[1])]
    np.testing.assert_array_equal(kept[:, :3], uniform(64, 1).astype(np.float32)[:, :3])
    np.testing.assert_array_equal(kept[:, 3], 1.0)


def test_one_particle_that_escapes_does_not_hide_what_the_others_do() -> None:
    spheres = uniform(2000)
    spheres[0, :3] = 1e4
    moving, mixed = Moving(spheres), uniform(2000, 1)
    mixed[0, :3] = 1e4
    moving.move(mixed, NEVER)
    assert moving.scene.growth > 2.0


def test_growth_adds_up_until_the_tree_is_built_anew() -> None:
    spheres, rng = uniform(2000), np.random.default_rng(0)
    moving, built = Moving(spheres), list[bool]()
    for _ in range(60):
        spheres[:, :3] += rng.normal(0.0, 0.004, (2000, 3))
        built.append(bool(moving.move(spheres, 1.0)))
    assert 2 <= sum(built) <= 12
    assert not built[0]


def test_a_tree_that_shrinks_is_built_anew_at_times() -> None:
    moving, spheres = Moving(uniform(500)), uniform(500)
    built = [bool(moving.move(spheres * 0.99**step, 1.0)) for step in range(300)]
    assert sum(built) == 2


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_positions_are_placed_as_scenes_are_packed(dtype: type) -> None:
    """In float64, in the order of the terms, from any strides; against NumPy."""
    from raytracer.model.render_space import transform_rows

    rng = np.random.default_rng(3)
    table: Any = rng.normal(size=(500, 8)).astype(dtype)[::-1]
    positions, radii = table[:, 6:0:-2], np.abs(table[:, 7]) + dtype(0.1)
    for linear in (np.diag([0.5, -2.0, 3.0]), rng.normal(size=(3, 3)),
                   np.array([[0.0, 1, 0], [0.5, 0, 0.25], [0, 0, -1]])):  # fmt: skip
        offset = rng.normal(size=3)
        moving = Moving(uniform(500))
        arguments: Any = linear.ravel().tolist(), offset.tolist(), 0.3, 0, 500, [], NEVER, 2
        assert moving.scene.move(positions, radii, *arguments) is False
        _, order, spheres = moving.arrays
        placed = spheres[np.argsort(order)]
        expected = transform_rows(positions, linear, offset).astype(np.float32)
        np.testing.assert_array_equal(placed[:, :3], expected)
        np.testing.assert_array_equal(placed[:, 3], (radii.astype(float) * 0.3).astype(np.float32))
