"""What lights and backgrounds send, as functions, against float64."""

import numpy as np
import pytest

from raytracer.layout import code
from reference.scene import unit
from support.probe import Probe

HALF_ULP = 2.0**-24
POSITION = np.random.default_rng(1).uniform(-20, 20, (10_000, 3)).astype(np.float32)


@pytest.mark.parametrize("falloff", ["none", "inverse-square"])
def test_point_light(probe: Probe, falloff: str) -> None:
    vector = np.array([1.5, -2.25, 4.0])
    light = {
        "kind": code("LightKind", "point"),
        "falloff": code("Falloff", falloff),
        "vector": vector,
    }
    found = probe("light_sample", POSITION, light=light).astype(np.float64)
    to_light = vector - POSITION.astype(np.float64)
    distance = np.linalg.norm(to_light, axis=1)
    assert np.abs(found[:, :3] - unit(to_light)).max() < 6 * HALF_ULP
    assert np.abs(found[:, 3] / distance - 1).max() < 8 * HALF_ULP
    attenuation = 1 / distance**2 if falloff == "inverse-square" else np.ones(len(distance))
    assert np.abs(found[:, 4] / attenuation - 1).max() < 12 * HALF_ULP


def test_directional_light(probe: Probe) -> None:
    """The same everywhere, and nothing is behind it."""
    vector = unit((0.3, 0.9, -0.2)).astype(np.float32)
    light = {"kind": code("LightKind", "directional"), "vector": vector}
    found = probe("light_sample", POSITION, light=light)
    assert (found[:, :3] == vector).all()
    assert (found[:, 3] == np.float32(3e38)).all()
    assert (found[:, 4] == 1).all()


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
