"""Films to code values: sRGB, exposure, curves and dither against independent float64 forms."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.config.errors import UserError
from raytracer.config.tone_settings import CURVES, ToneSettings
from raytracer.film.film import Film, develop
from reference.curves import srgb_decode, srgb_encode
from support.films import film_of, in_front_of, natural, wild


def opaque(colors: Any) -> Film:
    """One row of pixels of these linear colours, (N, 3)."""
    sums = np.ones((1, len(colors), 4), np.float32)
    sums[0, :, :3] = colors
    return film_of(sums)


def shown(film: Film, **settings: Any) -> NDArray[np.float64]:
    """The linear light that a display shows, (h, w, 3), from 16-bit codes."""
    return srgb_decode(film.tonemap(bits=16, **settings)[..., :3] / 65535.0)


@pytest.mark.parametrize("bits", [8, 16])
def test_black_white_and_nothing_are_exact(bits: int) -> None:
    sums = np.array([[[0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0], [9, 9, 9, 1]]], np.float32)
    top = 2**bits - 1
    expected = [[0, 0, 0, top], [top, top, top, top], [0, 0, 0, 0], [top, top, top, top]]
    assert film_of(sums).tonemap(bits=bits, dither=False)[0].tolist() == expected


@pytest.mark.parametrize(("bits", "count"), [(8, 256), (16, 65536)])
def test_every_code_value_survives_the_way_to_linear_and_back(bits: int, count: int) -> None:
    codes = np.arange(count)
    film = opaque(np.repeat(srgb_decode(codes / (count - 1))[:, None], 3, axis=1))
    assert np.array_equal(film.tonemap(bits=bits, dither=False)[0, :, 0], codes)


@pytest.mark.parametrize(
    ("curve", "light", "value", "slack"),
    [
        # Reinhard et al. 2002, eq. 4: the white point becomes 1, L / (1 + L) far below it.
        ("reinhard", 4.0, 1.0, 2e-5),
        ("reinhard", 1.0, 0.5 * (1 + 1 / 16), 2e-5),
        # The ACES output transform brings 18% grey to about 10% of white.
        ("aces", 0.18, 0.10, 0.01),
        ("aces", 1e4, 1.0, 1e-6),
        # AgX: middle grey lies at 10 of 16.5 stops and is shown as half the display's code.
        ("agx", 0.18, 0.5**2.2, 0.006),
        ("agx", 0.18 * 2**-10, 0.0, 1e-5),
        ("agx", 0.18 * 2**6.5, 1.0, 0.02),
        ("linear", 0.25, 0.25, 1e-5),
    ],
)
def test_published_anchors(curve: str, light: float, value: float, slack: float) -> None:
    grey = shown(opaque([[light] * 3]), tone=curve)[0, 0]
    assert grey == pytest.approx([value] * 3, abs=slack)


def test_a_stop_is_a_factor_of_two() -> None:
    film = natural(40, 30)
    double = film.copy()
    double.sums[..., :3] *= 2
    assert np.array_equal(film.tonemap(exposure=1), double.tonemap())
    assert np.array_equal(film.tonemap(), film.tonemap(exposure=0, tone="linear"))


def test_dither_keeps_the_mean_and_is_the_same_in_a_crop() -> None:
    value = srgb_decode(np.linspace(20.0, 230.0, 64) / 255)
    sums = np.ones((64, 512, 4), np.float32)
    sums[..., :3] = np.repeat(value, 8)[None, :, None]
    film = film_of(sums)
    codes = film.tonemap(dither=True)
    tiles = codes[..., 0].reshape(8, 8, 64, 8).mean(axis=(1, 3))
    assert np.abs(tiles - np.linspace(20.0, 230.0, 64)).max() < 1 / 32 + 1e-3
    assert codes[..., 0].std(axis=0).max() > 0.3
    assert (codes[..., 3] == 255).all()
    part = Film(sums[3:40, 5:100].copy(), 1, 5, 3, 512, 64)
    assert np.array_equal(part.tonemap(dither=True), codes[3:40, 5:100])


@pytest.mark.usefixtures("default_isa")
@pytest.mark.parametrize("samples", [1, 64, 1000, 16384])
def test_dither_leaves_flat_colours_alone(samples: int) -> None:
    """Every code value, summed as a renderer sums it, at every threshold."""
    from raytracer import _core

    light = srgb_decode(np.arange(256) / 255).astype(np.float32)
    total = np.zeros(256, np.float32)
    for _ in range(samples):
        total += light
    sums = np.full((64, 256, 4), np.float32(samples))
    sums[..., :3] = total[None, :, None]
    for isa in _core.isas():
        _core.use_isa(isa)
        codes = film_of(sums, samples).tonemap()
        assert (codes[..., :3] == np.arange(256)[None, :, None]).all()


def test_8_bits_are_dithered_unless_told_otherwise() -> None:
    film = natural(64, 48)
    assert np.array_equal(film.tonemap(), film.tonemap(dither=True))
    assert not np.array_equal(film.tonemap(), film.tonemap(dither=False))
    assert np.array_equal(film.tonemap(bits=16), film.tonemap(bits=16, dither=False))


def test_a_gradient_has_no_bands() -> None:
    """Ten code values over a thousand rows: the mean of a few rows follows the gradient."""
    alone = Film.blank(64, 1000)
    alone.samples = 1
    low, high = (float(srgb_decode(np.array(code / 255))) for code in (20, 30))
    film = in_front_of(alone, (low,) * 3, (high,) * 3)
    exact = srgb_encode(film.sums[:, 0, 0].astype(np.float64)) * 255
    means = film.tonemap()[..., 0].astype(np.float64).reshape(125, 8 * 64).mean(axis=1)
    assert np.abs(means - exact.reshape(125, 8).mean(axis=1)).max() < 0.07
    plain = film.tonemap(dither=False)[..., 0].astype(np.float64).reshape(125, 8 * 64).mean(axis=1)
    assert np.abs(plain - exact.reshape(125, 8).mean(axis=1)).max() > 0.4


@pytest.mark.parametrize(
    ("light", "becomes"), [(0.003, 0.18), (0.18, 0.18), (0.5, 0.5), (40.0, 1.0)]
)
def test_automatic_exposure_brings_a_plain_film_to_middle_grey(
    light: float, becomes: float
) -> None:
    """A brighter one is left alone, or becomes white."""
    sums = np.ones((5, 7, 4), np.float32)
    sums[..., :3] = light
    assert shown(film_of(sums), exposure="auto") == pytest.approx(becomes, rel=1e-3)


@pytest.mark.parametrize("bits", [8, 16])
@pytest.mark.parametrize("curve", CURVES)
def test_an_opaque_film_is_shown_whole_whatever_was_hit(curve: str, bits: int) -> None:
    film = in_front_of(natural(64, 48, samples=7), (0.9, 0.2, 0.1), (0.1, 0.5, 1.0))
    full = film_of(film.sums.copy(), 7)
    full.sums[..., 3] = 7.0
    assert np.array_equal(
        film.tonemap(exposure=0.7, tone=curve, bits=bits),
        full.tonemap(exposure=0.7, tone=curve, bits=bits),
    )
    assert (film.mean()[..., 3] == 1.0).all()
    assert np.array_equal(film.coverage, film.sums[..., 3] / np.float32(7))


def test_threads_do_not_change_a_byte() -> None:
    film = natural(333, 222)
    settings = ToneSettings("auto", "agx", dither=True)
    one, many = (develop(film, settings, threads=threads) for threads in (1, 7))
    assert [part.tobytes() for part in one] == [part.tobytes() for part in many]


@pytest.mark.usefixtures("default_isa")
@pytest.mark.parametrize("curve", CURVES)
def test_instruction_sets_agree(curve: str) -> None:
    from raytracer import _core

    film, settings = wild(123, 77), ToneSettings("auto", curve)
    found = []
    for isa in _core.isas():
        _core.use_isa(isa)
        found.append(develop(film, settings)[0].astype(np.int64))
    assert max(np.abs(codes - found[0]).max() for codes in found) <= 1


@pytest.mark.parametrize("curve", CURVES)
def test_what_is_not_finite_stays_in_its_pixel(curve: str) -> None:
    film = natural(64, 48)
    bad = film.copy()
    bad.sums[10, 20], bad.sums[11, 21, 0], bad.sums[12, 22, 3] = np.nan, np.inf, np.nan
    bad.sums[13, 23, 1] = -np.inf
    settings = ToneSettings(1.0, curve)
    good_codes, codes = (develop(f, settings)[0] for f in (film, bad))
    differs = np.argwhere((good_codes != codes).any(axis=-1)).tolist()
    assert {tuple(place) for place in differs} <= {(10, 20), (11, 21), (12, 22), (13, 23)}
    assert codes[10, 20, :3].max() <= codes[40:, 40:, :3].max()


def test_an_infinity_is_white_and_nan_black() -> None:
    film = opaque([[np.inf] * 3, [np.nan] * 3, [-np.inf] * 3])
    for curve in CURVES:
        codes = film.tonemap(tone=curve)[0, :, :3]
        assert codes.min(axis=1)[0] >= 250, curve
        assert codes[1:].max() <= 1, curve


def test_a_film_without_samples_is_empty() -> None:
    assert not Film.blank(5, 4).tonemap().any()
    for curve in CURVES:
        assert not Film.blank(1, 1).tonemap(exposure="auto", tone=curve)[..., 3].any()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"exposure": True}, "^exposure: "),
        ({"exposure": 65}, "^exposure: "),
        ({"tone": "agxx"}, "did you mean 'agx'"),
        ({"meter": "some"}, "meter: there is no meter 'some'"),
        ({"dither": "no"}, "dither: must be true, false or 'auto', not 'no'"),
        ({"white": float("inf")}, "white: must be a finite number"),
        ({"meter_range": (95.0, 10.0)}, "two percentiles"),
        ({"meter_range": (50.0, 50.0)}, "two percentiles"),
    ],
)
def test_settings_that_make_no_sense_are_one_sentence(settings: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        ToneSettings(**settings)


def test_memory_that_is_not_contiguous_is_refused() -> None:
    """Else the picture would be written into a copy."""
    film, settings = natural(16, 8), ToneSettings()
    whole = np.zeros((8, 32, 4), np.uint8)
    with pytest.raises(TypeError):
        develop(film, settings, out=whole[:, ::2])
    assert (develop(film, settings, out=whole[:, :16].copy())[0] != 0).any()
