"""The background that rays see, by the row of the picture and by direction, against float64."""

import numpy as np
import pytest

from raytracer.layout import code
from reference.scene import unit
from support.probe import Probe

BOTTOM, TOP, UP = (0.1, 0.5, 2.0), (0.9, 0.2, 0.0), unit((0.2, 1.0, -0.3))
FRAME = {
    "height": 480,
    "background_bottom": BOTTOM,
    "background_top": TOP,
    "background_up": UP,
    "background_kind": code("BackgroundKind", "gradient"),
}


def test_rows(probe: Probe) -> None:
    rows = np.arange(480)
    found = probe("background_row", rows, frame=FRAME)
    height = 1 - (rows + 0.5) / 480
    wanted = np.array(BOTTOM) + height[:, None] * (np.array(TOP) - BOTTOM)
    np.testing.assert_allclose(found, wanted, atol=1e-6)


def test_directions(probe: Probe) -> None:
    direction = unit(np.random.default_rng(1).normal(size=(5000, 3)))
    found = probe("background_direction", direction, frame=FRAME)
    height = (1 + direction @ UP) / 2
    wanted = np.array(BOTTOM) + height[:, None] * (np.array(TOP) - BOTTOM)
    np.testing.assert_allclose(found, wanted, atol=2e-6)


@pytest.mark.parametrize("function", ["background_row", "background_direction"])
def test_a_transparent_background_is_black(probe: Probe, function: str) -> None:
    frame = FRAME | {"background_kind": code("BackgroundKind", "transparent")}
    columns = [3] if function == "background_row" else [[[0.0, 1.0, 0.0]]]
    assert (probe(function, *columns, frame=frame) == 0).all()
