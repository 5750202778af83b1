"""The hierarchy: every sphere once, boxes around all they hold; how its nodes are read."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from reference.scene import Array, unit
from support.nodes import NODE, WIDTH, Tree, check, read_tree, walk
from support.probe import Probe


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


COUNT = 4000
BOX_ERROR = 2.0**-19  # kBoxError: by so much of the farthest corner's distance boxes are widened


def node(seed: int = 1) -> np.ndarray:
    """A node of eight boxes on a grid with another cell size along each axis, structured ()."""
    rng = np.random.default_rng(seed)
    made = np.zeros((), NODE)
    made["origin"] = rng.uniform(-3, 3, 3)
    made["exponent"] = 127 - 6, 127 - 5, 127 - 7
    made["inner"], made["child_base"], made["sphere_base"] = 0b0110, 40, 2**30
    made["leaf_end"] = np.cumsum(rng.integers(0, 9, WIDTH))
    made["bounds"] = np.sort(rng.integers(0, 256, (3, 2, WIDTH)), axis=1)
    return made


def fields(made: np.ndarray) -> dict[str, np.ndarray]:
    """The node as the kernels' struct has it."""
    sides = {
        f"{side}_{axis}": made["bounds"][a, s]
        for a, axis in enumerate("xyz")
        for s, side in enumerate(("lo", "hi"))
    }
    names = ("origin", "exponent", "inner", "child_base", "sphere_base", "leaf_end")
    return {name: made[name] for name in names} | sides


def test_cells_and_slots(probe: Probe) -> None:
    made = node()
    cells = probe("node_cell", np.arange(3), node=fields(made))[:, 0]
    assert cells.tolist() == [2.0**-6, 2.0**-5, 2.0**-7]
    ranges = probe("leaf_range", np.arange(WIDTH), node=fields(made)).view(np.uint32)
    ends = 2**30 + made["leaf_end"].astype(np.int64)
    assert ranges[:, 1].tolist() == ends.tolist()
    assert ranges[:, 0].tolist() == [2**30, *ends[:-1].tolist()]


def entry(
    made: np.ndarray, origin: Array, direction: Array, t_max: Array, wide: Array
) -> NDArray[np.bool_]:
    """Which boxes, widened by `wide` (N,), each ray meets before t_max; float64, (N, 8)."""
    cell = 2.0 ** (made["exponent"].astype(np.float64) - 127)
    corner = made["origin"].astype(np.float64)[:, None, None] + made["bounds"] * cell[:, None, None]
    enter, leave = np.zeros((len(origin), WIDTH)), np.repeat(t_max[:, None], WIDTH, axis=1)
    for axis in range(3):
        d, o = direction[:, axis, None], origin[:, axis, None]
        low, high = (
            (corner[axis, 0] - wide[:, None] - o) / d,
            (corner[axis, 1] + wide[:, None] - o) / d,
        )
        enter, leave = (
            np.maximum(enter, np.minimum(low, high)),
            np.minimum(leave, np.maximum(low, high)),
        )
    return np.asarray(enter <= leave)


@pytest.mark.parametrize("away", [4.0, 100.0])
def test_boxes_are_met_where_they_are(probe: Probe, away: float) -> None:
    """No box that a ray meets is left out, and none is met from farther off than its widening."""
    made = node()
    rng = np.random.default_rng(2)
    origin = rng.uniform(-away, away, (COUNT, 3)).astype(np.float32)
    direction = unit(made["origin"] + rng.uniform(-2, 6, (COUNT, 3)) - origin).astype(np.float32)
    t_max = rng.uniform(0.5, 3, COUNT).astype(np.float32) * np.float32(away)
    found = probe("box_hits", origin, direction, t_max, node=fields(made)).view(np.uint32)
    met = (found >> np.arange(WIDTH)) & 1 == 1
    cell = 2.0 ** (made["exponent"].astype(np.float64) - 127)
    o, d, t = (a.astype(np.float64) for a in (origin, direction, t_max))
    reach = (np.abs(made["origin"] - o) + 255 * cell).max(axis=1)
    must = entry(made, o, d, t, np.zeros(COUNT))
    may = entry(made, o, d, t * (1 + BOX_ERROR), 2 * BOX_ERROR * reach)
    assert 0.02 < must.mean() < 0.9
    assert met[must].all()
    assert not met[~may].any()
    assert (may & ~must).mean() < 0.01
