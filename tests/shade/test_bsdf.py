"""Phong's model and the mirror as functions, against the formula in float64."""

import numpy as np

from reference.scene import Array, unit
from support.probe import Floats, Probe

HALF_ULP = 2.0**-24
COUNT = 20_000


def directions(seed: int, about: Floats | None = None) -> Floats:
    """Unit vectors, float32 (N, 3); on the side of `about`, if given."""
    vectors = unit(np.random.default_rng(seed).normal(size=(COUNT, 3)))
    if about is not None:
        vectors *= np.sign((vectors * about).sum(axis=1))[:, None]
    return np.asarray(vectors, np.float32)


NORMAL = directions(1)
WO, WI = directions(2, NORMAL), directions(3, NORMAL)
WO[::3] = unit(2 * (NORMAL * WI).sum(axis=1)[:, None] * NORMAL - WI)[::3]  # in the highlight


def materials(shininess: float) -> Floats:
    """Ambient, diffuse, specular, shininess, mirror; every fourth without a highlight."""
    made = np.random.default_rng(4).uniform(0, 1, (COUNT, 5)).astype(np.float32)
    made[:, 3] = shininess
    made[::4, 2] = 0
    return made


def exact(material: Floats) -> tuple[Array, Array, Array]:
    """The diffuse and the specular term, float64 (N,), and the error that float32 may make."""
    n, wo, wi, m = (a.astype(np.float64) for a in (NORMAL, WO, WI, material))
    cosine = (n * wi).sum(axis=1)
    r = 2 * cosine[:, None] * n - wi
    base = np.clip((r * wo).sum(axis=1), 0, 1)
    # What the cosine is wrong by counts as often as the power has factors.
    bound = HALF_ULP * (8 + 8 * m[:, 3])
    return m[:, 1] * cosine, m[:, 2] * base ** m[:, 3], bound


def test_phong(probe: Probe) -> None:
    for shininess in (1.0, 40.0, 300.0):
        material = materials(shininess)
        found = probe("phong_eval", material, NORMAL, WO, WI).astype(np.float64)
        diffuse, specular, bound = exact(material)
        assert (np.abs(found[:, 0] - diffuse) < 6 * HALF_ULP).all()
        assert (np.abs(found[:, 1] - specular) < bound).all()
        assert (found[::4, 1] == 0).all()
        assert found[:, 1].max() > 0.9


def test_bsdf_eval(probe: Probe) -> None:
    """The mirror takes its share of the diffuse term and leaves the highlight."""
    material = materials(40.0)
    albedo = np.random.default_rng(5).uniform(0, 1, (COUNT, 3)).astype(np.float32)
    found = probe("bsdf_eval", albedo, material, NORMAL, WO, WI).astype(np.float64)
    diffuse, specular, bound = exact(material)
    share = (1 - material[:, 4].astype(np.float64)) * diffuse
    wanted = share[:, None] * albedo + specular[:, None]
    assert (np.abs(found - wanted).max(axis=1) < bound).all()


def test_light_goes_both_ways_alike(probe: Probe) -> None:
    """Helmholtz: the highlight is the same with light and viewer exchanged."""
    material = materials(10.0)
    there = probe("phong_eval", material, NORMAL, WO, WI)[:, 1]
    back = probe("phong_eval", material, NORMAL, WI, WO)[:, 1]
    np.testing.assert_allclose(there, back, atol=100 * HALF_ULP)


def test_bsdf_sample(probe: Probe) -> None:
    """The mirror direction, unit, with the mirror's share as weight."""
    mirror = materials(1.0)[:, 4]
    found = probe("bsdf_sample", mirror, NORMAL, -WO).astype(np.float64)
    n, d = NORMAL.astype(np.float64), -WO.astype(np.float64)
    wanted = unit(d - 2 * (n * d).sum(axis=1)[:, None] * n)
    assert np.abs(found[:, :3] - wanted).max() < 8 * HALF_ULP
    assert (found[:, 3:] == mirror[:, None]).all()


def test_bsdf_ambient(probe: Probe) -> None:
    material = materials(40.0)
    albedo, light, weight = np.random.default_rng(6).uniform(0, 2, (3, COUNT, 3)).astype("f4")
    found = probe("bsdf_ambient", albedo, material, light, weight).astype(np.float64)
    factor = material[:, 0].astype(np.float64) * (1 - material[:, 4].astype(np.float64))
    wanted = factor[:, None] * albedo.astype(np.float64) * light * weight
    assert (np.abs(found - wanted) <= 8 * HALF_ULP * wanted).all()
