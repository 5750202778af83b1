"""Direct light at a surface, as a function."""

import numpy as np
import pytest

from raytracer.layout import code
from reference.scene import unit
from support.probe import Probe

COUNT = 5_000


@pytest.mark.parametrize("color", [1.0, np.inf])
@pytest.mark.parametrize("kind", ["point", "directional"])
def test_light_arrives_where_a_surface_faces_it(probe: Probe, kind: str, color: float) -> None:
    """Its radiance is never NaN there, and it arrives nowhere else, however bright it is."""
    rng = np.random.default_rng(4)
    inside = np.arange(COUNT) % 2 == 0
    direction = unit(rng.normal(size=(COUNT, 3)))
    origin = np.where(inside[:, None], 0.3, -3.0) * direction
    vector = np.array([0.0, 0.0, 5.0 if kind == "point" else 1.0])
    light = {"kind": code("LightKind", kind), "vector": vector, "color": (color,) * 3}
    shadows = {"shadows": 1}
    found = probe(
        "light_arrival", np.zeros((1, 3)), 1.0, origin, direction, light=light, frame=shadows
    )
    arrives = found[:, 0] == 1
    towards = vector + direction if kind == "point" else np.broadcast_to(vector, direction.shape)
    # Rays from outside meet the sphere at -direction. From inside, the sphere itself is in the way.
    cosine = (unit(towards) * -direction).sum(axis=1)
    clear = np.abs(cosine) > 1e-3
    assert (arrives == (~inside & (cosine > 0)))[clear].all()
    assert not np.isnan(found[arrives]).any()
    expected = cosine[arrives, None] if color == 1 else np.inf
    np.testing.assert_allclose(
        found[arrives, 1:], np.broadcast_to(expected, (arrives.sum(), 3)), rtol=1e-2, atol=1e-3
    )
