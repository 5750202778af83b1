"""Materials as functions: energy, reciprocity, densities, Fresnel and Snell; Phong's model."""

import re
import runpy
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

from reference import radiometry
from reference.scene import Array, unit
from support.directions import check, counted, expected
from support.probe import Floats, Probe

HALF_ULP = 2.0**-24
SAMPLES = 1 << 13
LATTICE = 1.2207440846057596 ** -np.arange(1, 4)
"""Steps of a sequence of low discrepancy in three dimensions (Roberts 2018)."""

COSINES = (0.05, 0.15, 0.4, 0.7, 1.0)
ROUGHNESSES = (0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0)
INDICES = (1.0, 1.5, 4.0)


class Surface(NamedTuple):
    """Parameters of the material in the order of the kernels."""

    roughness: float = 0.5
    metallic: float = 0.0
    ior: float = 1.5
    specular: float = 1.0
    coat: float = 0.0
    transmission: float = 0.0


class Sampled(NamedTuple):
    """Directions drawn, (n, 3), with their weights, (n, 3), and densities, (n,)."""

    wi: Array
    weight: Array
    pdf: Array


def at(cosine: float, turn: float = 0.0) -> Array:
    """A unit vector at a cosine to the normal, (3,)."""
    sine = np.sqrt(1 - cosine**2)
    return np.array([sine * np.cos(turn), sine * np.sin(turn), cosine])


def row(surface: Surface, wo: Array, color: object = (1, 1, 1), inside: bool = False) -> Floats:
    """What both functions take before wi or the random numbers, (1, 13)."""
    return np.concatenate([surface, np.asarray(color, float), [inside], wo]).astype("f4")[None]


def sample(
    probe: Probe,
    surface: Surface,
    wo: Array,
    color: object = (1, 1, 1),
    *,
    inside: bool = False,
    seed: int | None = None,
) -> Sampled:
    if seed is None:
        numbers = (0.5 + np.arange(SAMPLES)[:, None] * LATTICE) % 1.0
    else:
        numbers = np.random.default_rng(seed).random((5 * SAMPLES, 3))
    numbers = np.minimum(numbers, 1 - HALF_ULP)
    found = probe("principled_sample", row(surface, wo, color, inside), numbers).astype(np.float64)
    assert np.isfinite(found).all()
    return Sampled(found[:, :3], found[:, 3:6], found[:, 6])


def evaluate(
    probe: Probe, surface: Surface, wo: Array, wi: Array, *, inside: bool = False
) -> tuple[Array, Array]:
    """Values, (n, 3), and densities, (n,)."""
    found = probe("principled_eval", row(surface, wo, (1, 1, 1), inside), wi).astype(np.float64)
    return found[:, :3], found[:, 3]


def albedo(probe: Probe, surface: Surface, cosine: float, *, inside: bool = False) -> float:
    """Share of light that leaves, reflected and through, but for the factor eta^2 of radiance."""
    drawn = sample(probe, surface, at(cosine), inside=inside)
    eta = 1 / surface.ior if inside else surface.ior
    share = np.where(drawn.wi[:, 2] < 0, eta**2, 1.0) * drawn.weight[:, 0]
    return float(share.mean())


# ---- Fresnel, Snell and tables


def test_fresnel_and_snell(probe: Probe) -> None:
    cosine = np.tile(np.linspace(1e-3, 1, 500), 6).astype("f4")
    eta = np.repeat([1.1, 1.5, 4.0, 1 / 1.1, 1 / 1.5, 1 / 4.0], 500).astype("f4")
    found = probe("fresnel_dielectric", cosine, eta).astype(np.float64)
    wanted = radiometry.fresnel_dielectric(cosine.astype(np.float64), eta.astype(np.float64))
    sine2 = (1 - cosine.astype(np.float64) ** 2) / eta.astype(np.float64) ** 2
    clear = np.abs(sine2 - 1) > 1e-3  # the angle of total reflection has no derivative
    assert np.abs(found[:, 0] - wanted)[clear].max() < 2e-5
    assert np.abs(found[:, 1] - np.sqrt(np.maximum(1 - sine2, 0)))[clear].max() < 2e-5
    assert (found[sine2 > 1.001, 0] == 1).all()


def test_albedo_of_the_table(probe: Probe) -> None:
    """One bounce of GGX, by roughness and cosine, against quadrature."""
    for roughness in (0.2, 0.45, 0.7, 1.0):
        cosine = np.linspace(0.05, 1, 20)
        found = probe("ggx_albedo", roughness, cosine)[:, 0]
        wanted = radiometry.ggx_albedo(cosine, roughness**2)
        assert np.abs(found - wanted).max() < 4e-3


@pytest.mark.parametrize("inside", [False, True])
def test_smooth_glass(probe: Probe, inside: bool) -> None:
    """The mirror direction by Fresnel's share, the refracted one else, with the glass' colour."""
    glass = Surface(0.0, transmission=1.0)
    eta = 1 / 1.5 if inside else 1.5
    for cosine in (0.2, 0.5, 0.8, 0.95):
        drawn = sample(probe, glass, at(cosine, 0.7), (0.25, 1.0, 0.81), inside=inside)
        through = drawn.wi[:, 2] < 0
        reflected = float(radiometry.fresnel_dielectric(cosine, eta))
        assert np.abs((~through).mean() - reflected) <= 1.5 / SAMPLES
        mirrored = at(cosine, 0.7 + np.pi)
        assert np.abs(drawn.wi[~through] - mirrored).max(initial=0) < 1e-6
        if through.any():
            below = -at(np.sqrt(1 - (1 - cosine**2) / eta**2), 0.7)
            assert np.abs(drawn.wi[through] - below).max() < 1e-6
            wanted = np.array([0.5, 1.0, 0.9]) / eta**2
            assert np.abs(drawn.weight[through] / wanted - 1).max() < 1e-5
        assert np.abs(drawn.weight[~through] - 1).max(initial=0) < 1e-5
        assert (drawn.pdf == 0).all()
        assert (evaluate(probe, glass, at(cosine), drawn.wi, inside=inside)[1] == 0).all()


# ---- energy


def test_a_white_base_below_a_dielectric_reflects_all(probe: Probe) -> None:
    """So does any mixture of it with white metal, whatever the index."""
    for roughness, cosine, ior, metallic in product(
        ROUGHNESSES[1::2], COSINES[::2], INDICES, (0.0, 0.5)
    ):
        found = albedo(probe, Surface(roughness, metallic, ior), cosine)
        assert 0.99 < found < 1.005, (roughness, cosine, ior, metallic)


@pytest.mark.parametrize(
    ("coat", "metals", "error"),
    [(0.0, (1.0,), 0.01), (0.4, (0.0, 0.5, 1.0), 0.008), (1.0, (0.0, 0.5, 1.0), 0.008)],
)
def test_white_metal_and_surfaces_below_a_coat_reflect_all(
    probe: Probe, coat: float, metals: tuple[float, ...], error: float
) -> None:
    """What the coat sends back to the surface below it leaves later."""
    for roughness, cosine, metallic in product(ROUGHNESSES, COSINES, metals):
        found = albedo(probe, Surface(roughness, metallic, coat=coat), cosine)
        assert found == pytest.approx(1, abs=error), (roughness, cosine, metallic)


def test_a_coat_over_black_reflects_its_share(probe: Probe) -> None:
    """Without a layer below, it is Schlick's factor of index 1.5, at any roughness of the base."""
    for roughness, cosine, coat in product((0.1, 0.6), COSINES[1:], (0.5, 1.0)):
        drawn = sample(probe, Surface(roughness, 0.0, 1.0, 0.0, coat), at(cosine), (0, 0, 0))
        wanted = coat * radiometry.fresnel_schlick(cosine, [0.04]).item()
        assert drawn.weight[:, 0].mean() == pytest.approx(wanted, rel=0.02)


@pytest.mark.parametrize("inside", [False, True])
def test_clear_glass_passes_all(probe: Probe, inside: bool) -> None:
    for ior, cosine in product(INDICES, COSINES):
        found = albedo(probe, Surface(0.0, ior=ior, transmission=1.0), cosine, inside=inside)
        assert found == pytest.approx(1, abs=1e-5)


@pytest.mark.parametrize("coat", [0.0, 1.0])
@pytest.mark.parametrize("inside", [False, True])
def test_rough_clear_glass_passes_all(probe: Probe, inside: bool, coat: float) -> None:
    """What bounces between facets leaves on both sides, at every roughness, index and cosine.

    So does what a coat sends back into the glass.
    """
    for roughness, ior, cosine in product(ROUGHNESSES[1:], (1.05, 1.5, 4.0), COSINES[::2]):
        glass = Surface(roughness, ior=ior, coat=coat, transmission=1.0)
        found = albedo(probe, glass, cosine, inside=inside)
        assert found == pytest.approx(1, abs=0.01), (roughness, ior, cosine)


def test_no_mixture_adds_light(probe: Probe) -> None:
    for numbers in np.random.default_rng(3).random((30, 7)):
        roughness, metallic, ior, specular, coat, transmission, cosine = numbers
        mixture = Surface(roughness, metallic, 1 + 3 * ior, specular, coat, transmission)
        for inside in (False, True):
            assert albedo(probe, mixture, 0.05 + 0.95 * cosine, inside=inside) < 1.006, mixture


def test_no_sample_weighs_much(probe: Probe) -> None:
    """Fireflies: the density of samples follows the values, down to the horizon."""
    kinds = Surface(metallic=1.0), Surface(), Surface(transmission=1.0), Surface(0.5, 0.5, coat=1.0)
    for roughness, cosine, kind in product((0.05, 0.1, 0.3, 1.0), (0.02, 0.15, 0.7), kinds):
        drawn = sample(probe, kind._replace(roughness=roughness), at(cosine))
        eta2 = np.where(drawn.wi[:, 2] < 0, 1.5**2, 1.0)
        assert (eta2 * drawn.weight[:, 0]).max() < 5, (roughness, cosine, kind)


# ---- reciprocity

MIXTURES = (
    Surface(0.4, metallic=1.0),
    Surface(0.7),
    Surface(0.3, 0.3, 2.0, 0.5),
    Surface(0.5, coat=1.0),
    Surface(0.5, transmission=1.0),
    Surface(0.6, 0.2, 1.4, 0.8, 0.7, 0.6),
    Surface(0.3, ior=2.0, coat=1.0, transmission=1.0),
)


def pairs(count: int = 400) -> tuple[Array, Array]:
    """Two directions above the surface each, (n, 3)."""
    vectors = unit(np.random.default_rng(4).normal(size=(2, count, 3)))
    vectors[..., 2] = np.abs(vectors[..., 2]) + 0.02
    one, other = unit(vectors)
    return one, other


def values(probe: Probe, surface: Surface, wo: Array, wi: Array, *, inside: bool) -> Array:
    """The BSDF times pi of pairs of directions, (n,)."""
    fixed = np.array([*surface, 1, 1, 1, inside])
    rows = np.concatenate([np.broadcast_to(fixed, (len(wo), 10)), wo, wi], axis=1)
    found = probe("principled_eval", rows).astype(np.float64)
    return np.asarray(found[:, 0] / np.abs(wi[:, 2]))


@pytest.mark.parametrize("surface", MIXTURES)
def test_reciprocity(probe: Probe, surface: Surface) -> None:
    """Reflection is the same with light and viewer exchanged, on both sides."""
    one, other = pairs()
    for inside in (False, True):
        there = values(probe, surface, one, other, inside=inside)
        back = values(probe, surface, other, one, inside=inside)
        np.testing.assert_allclose(there, back, rtol=2e-3, atol=1e-5)
        assert there.max() > 0.05


@pytest.mark.parametrize("surface", [s for s in MIXTURES if s.transmission])
def test_reciprocity_of_light_through_glass(probe: Probe, surface: Surface) -> None:
    """Exchanged, it is more by the square of the index; the frame's z is on the viewer's side."""
    one, other = pairs()
    below = [1, 1, -1]
    into = values(probe, surface, one, other * below, inside=False)
    out = values(probe, surface, other, one * below, inside=True)
    np.testing.assert_allclose(into * surface.ior**2, out, rtol=5e-3, atol=1e-4)
    assert into.max() > 0.05


# ---- samples and their density

ROUGH = (
    Surface(0.5, metallic=1.0),
    Surface(0.8),
    Surface(0.6, 0.3, 2.0, 0.5),
    Surface(0.6, transmission=1.0),
    Surface(0.7, 0.2, 1.4, 0.8, 0.0, 0.6),
)
COATED = Surface(0.5, coat=1.0), Surface(0.4, 0.0, 1.5, 1.0, 1.0, 0.8)


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("surface", ROUGH)
def test_samples_have_their_density(probe: Probe, surface: Surface, inside: bool) -> None:
    """Chi-squared over bins of the sphere; the density integrates to what is above the surface."""
    wo = at(0.6, 0.3)
    drawn = sample(probe, surface, wo, inside=inside, seed=7)
    valid, up = drawn.weight[:, 0] > 0, np.array([0.0, 0.0, 1.0])

    def density(wi: Array) -> Array:
        return evaluate(probe, surface, wo, wi, inside=inside)[1]

    wanted = expected(density, up, -1.0, len(valid))
    check(counted(drawn.wi[valid], up, -1.0), wanted)
    assert wanted.sum() / len(valid) == pytest.approx(valid.mean(), abs=0.01)


@pytest.mark.parametrize("surface", [*ROUGH, *COATED])
def test_weights_are_values_by_densities(probe: Probe, surface: Surface) -> None:
    wo = at(0.7, 2.0)
    drawn = sample(probe, surface, wo)
    value, pdf = evaluate(probe, surface, wo, drawn.wi)
    valid = drawn.weight[:, 0] > 0
    assert valid.mean() > 0.7
    # The direction is that of the sample, rounded, which a narrow highlight shows.
    np.testing.assert_allclose(pdf[valid], drawn.pdf[valid], rtol=5e-3)
    weight = value[valid] / (np.pi * pdf[valid, None])
    np.testing.assert_allclose(weight, drawn.weight[valid], rtol=5e-3, atol=1e-5)


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


def test_the_tables_are_what_their_program_integrates() -> None:
    root = Path(__file__).parents[2]
    program = runpy.run_path(str(root / "docs/research/ggx_albedo.py"))
    kept = (root / "kernels/shade/ggx_albedo.h").read_text(encoding="utf-8")
    tables = [
        re.findall(r"RT_TABLE float (\w+)\[.*\] = \{([^}]*)\}", text)
        for text in (kept, program["header"]())
    ]
    assert [name for name, _ in tables[0]] == [name for name, _ in tables[1]]
    for (name, found), (_, again) in zip(*tables, strict=True):
        one, other = (
            np.array(text.strip().rstrip(",").split(","), float) for text in (found, again)
        )
        assert len(one) in (64, 2048), name
        np.testing.assert_allclose(one, other, rtol=0, atol=2e-5, err_msg=name)
