"""How nodes are read: cells, slots and quantised boxes, as functions on both sides."""

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.scene import Array, unit
from support.nodes import NODE, WIDTH
from support.probe import Probe

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
