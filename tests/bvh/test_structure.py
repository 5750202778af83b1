"""The hierarchy itself: every sphere once, every box around all that it holds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from support.nodes import Tree, check, read_tree, walk


def build(spheres: np.ndarray, threads: int = 2) -> Tree:
    """The tree of float32 (N, 4) spheres, decoded."""
    from raytracer import _core

    x, y, z, radius = np.ascontiguousarray(spheres.astype(np.float32).T)
    return read_tree(*_core.build_bvh((x, y, z, radius), threads))


def uniform(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [rng.uniform(-1, 1, (count, 3)), rng.uniform(0.01, 0.05, (count, 1))], axis=1
    )


@pytest.mark.parametrize("count", [0, 1, 2, 3, 7, 8, 9, 64, 65, 1000, 20_000])
def test_counts(count: int) -> None:
    spheres = uniform(count)
    check(build(spheres), spheres)


def test_size_of_leaves() -> None:
    tree = build(uniform(1000))
    sizes = [last - first for node in range(len(tree)) for first, last, _ in tree.leaves(node)]
    assert max(sizes) <= 8
    assert sum(sizes) == len(tree.spheres)


@st.composite
def wild_spheres(draw: st.DrawFn) -> np.ndarray:
    """Sizes and places over nine decades each, planes, lines, points and duplicates."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1), label="seed"))
    count = draw(st.integers(0, 400), label="count")
    centers = rng.normal(size=(count, 3))
    centers *= 10 ** rng.uniform(-draw(st.floats(0, 9), label="spread"), 0, (count, 1))
    centers *= np.array(draw(st.sampled_from([(1, 1, 1), (1, 1, 0), (0, 1, 0), (0, 0, 0)])))
    centers += np.array(draw(st.sampled_from([(0, 0, 0), (1000, -500, 20)])))
    radii = 10 ** rng.uniform(-draw(st.floats(0, 9), label="decades"), 0, (count, 1))
    spheres = np.concatenate([centers, radii], axis=1)
    if count > 4 and draw(st.booleans(), label="duplicates"):
        spheres[count // 3 :] = spheres[rng.integers(0, count // 3, count - count // 3)]
    if count and draw(st.booleans(), label="giant"):
        spheres[rng.integers(count)] = [0, -1e5, 0, 1e5]
    return spheres.astype(np.float32)


@given(spheres=wild_spheres(), threads=st.sampled_from([1, 2, 7]))
def test_wild_inputs(spheres: np.ndarray, threads: int) -> None:
    check(build(spheres, threads), spheres)


@pytest.mark.parametrize(
    ("count", "others"), [(9, 0), (9, 3000), (20_000, 0), (20_000, 5), (200_000, 3000)]
)
def test_of_equal_spheres_one_is_tested(count: int, others: int) -> None:
    """Else every ray that comes near would test them all."""
    clump = np.tile(np.array([[1.0, 2.0, 3.0, 0.5]]), (count, 1))
    spheres = np.concatenate([uniform(others), clump, uniform(others, 1)])
    tree = build(spheres)
    check(tree, spheres)
    held = np.concatenate([tree.spheres[first:last] for node, _ in walk(tree)
                           for first, last, _ in tree.leaves(node)])  # fmt: skip
    assert (held == clump[:1]).all(axis=1).sum() <= 8


def test_a_geometric_series_of_sizes() -> None:
    """Each ball touches the next, which is a third smaller: the worst case for a balanced cut."""
    radius = 1.5 ** -np.arange(60.0)
    place = 2 * np.concatenate([[0], np.cumsum(radius)[:-1]]) + radius
    spheres = np.stack([place, 0 * place, 0 * place, radius], axis=1)
    check(build(spheres), spheres)


def levels(tree: Tree) -> int:
    """How many nodes a walk goes through from the root to the deepest leaf."""
    depth, level = 0, [0]
    while level:
        depth, level = depth + 1, [child for node in level for child, _ in tree.children(node)]
    return depth


def chains(clump: int) -> np.ndarray:
    """Spheres that each plane cuts off one by one, along x, then y, then z, down to a clump."""
    steps = 16.0 ** -np.arange(1, 30.0)
    axes = [steps[:, None] * np.eye(3)[axis] * 16.0 ** (3 - 3 * axis) for axis in range(3)]
    places = np.concatenate([*axes, np.zeros((clump, 3))])
    sizes = 1e-30 * (1 + np.arange(len(places)) % 2)  # of two sizes: equal ones would be one leaf
    return np.concatenate([places, sizes[:, None]], axis=1)


def test_the_deepest_tree_fits_the_stacks() -> None:
    """The walks have room for 36 levels (kMaxLevels in kernels/bvh/node.h)."""
    small = chains(3000)
    check(build(small), small)
    assert 24 < levels(build(chains(200_000))) <= 36


@pytest.mark.parametrize("count", [5_000, 200_000])
def test_the_tree_does_not_depend_on_threads(count: int) -> None:
    spheres = uniform(count, 3)
    one, two, seven = (build(spheres, threads) for threads in (1, 2, 7))
    for other in (two, seven):
        np.testing.assert_array_equal(one.order, other.order)
        np.testing.assert_array_equal(one.nodes, other.nodes)


def test_memory_a_sphere() -> None:
    tree = build(uniform(100_000, 4))
    size = tree.nodes.nbytes + tree.spheres.nbytes + tree.order.nbytes
    assert size <= 48 * 100_000


def test_boxes_are_not_much_larger_than_what_they_hold() -> None:
    """The surface area of the decoded leaf boxes stays near that of exact boxes."""
    tree = build(uniform(5_000, 5))
    loose = tight = 0.0
    for node, _ in walk(tree):
        for first, last, (low, high) in tree.leaves(node):
            part = tree.spheres[first:last].astype(np.float64)
            exact = (part[:, :3] + part[:, 3:]).max(0) - (part[:, :3] - part[:, 3:]).min(0)
            size = high - low
            loose += float(size @ np.roll(size, 1))
            tight += float(exact @ np.roll(exact, 1))
    assert tight <= loose < 1.3 * tight
