"""The sRGB encoding of a film against an independent float64 form."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import tone
from raytracer.errors import UserError
from raytracer.film import Film


def film_of(sums: NDArray[np.float32], samples: int = 1) -> Film:
    """A film of the full picture."""
    height, width = sums.shape[:2]
    return Film(sums, samples, 0, 0, width, height)


def reference(film: Film, top: int) -> NDArray[np.float64]:
    """IEC 61966-2-1 with straight alpha, before rounding, in float64."""
    mean = film.sums.astype(np.float64) / film.samples
    alpha = np.clip(mean[..., 3:], 0.0, 1.0)
    straight = np.divide(mean[..., :3], alpha, out=np.zeros_like(mean[..., :3]), where=alpha > 0)
    linear = np.clip(straight, 0.0, 1.0)
    curved = np.where(linear <= 0.0031308, linear * 12.92, 1.055 * linear ** (1 / 2.4) - 0.055)
    return np.concatenate([curved, alpha], axis=-1) * top


def ramp(samples: int) -> Film:
    """Radiance from below 0 to above 1 with every coverage, premultiplied."""
    light = np.linspace(-0.1, 1.3, 401, dtype=np.float32)
    cover = np.linspace(0.0, 1.0, 7, dtype=np.float32)
    sums = np.empty((7, 401, 4), np.float32)
    sums[..., :3] = (light * cover[:, None])[..., None] * np.array([1.0, 0.5, 0.1], np.float32)
    sums[..., 3] = cover[:, None]
    return film_of((sums * samples).astype(np.float32), samples)


@pytest.mark.parametrize("samples", [1, 3, 1024])
@pytest.mark.parametrize(("bits", "top", "slack"), [(8, 255, 0.51), (16, 65535, 0.6)])
def test_encodes_as_the_standard_says(bits: int, top: int, slack: float, samples: int) -> None:
    film = ramp(samples)
    got = tone.encode(film, bits, threads=2)
    assert got.dtype == (np.uint8 if bits == 8 else np.uint16)
    assert np.abs(got.astype(np.float64) - reference(film, top)).max() <= slack


@pytest.mark.parametrize("bits", [8, 16])
def test_black_white_and_nothing_are_exact(bits: int) -> None:
    sums = np.array([[[0, 0, 0, 1], [1, 1, 1, 1], [0, 0, 0, 0], [9, 9, 9, 1]]], np.float32)
    top = 2**bits - 1
    expected = [[0, 0, 0, top], [top, top, top, top], [0, 0, 0, 0], [top, top, top, top]]
    assert tone.encode(film_of(sums), bits)[0].tolist() == expected


def test_every_8_bit_value_survives_the_way_to_linear_and_back() -> None:
    value = np.arange(256) / 255
    linear = np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)
    sums = np.ones((1, 256, 4), np.float32)
    sums[..., :3] = linear[:, None]
    assert np.array_equal(tone.encode(film_of(sums))[0, :, 0], np.arange(256))


def test_threads_do_not_change_a_byte() -> None:
    film = ramp(5)
    assert np.array_equal(tone.encode(film, 16, threads=1), tone.encode(film, 16, threads=7))


def test_a_film_without_samples_is_empty() -> None:
    assert not tone.encode(Film.blank(5, 4)).any()


def test_other_depths_are_refused() -> None:
    with pytest.raises(UserError, match="8 or 16 bits"):
        tone.encode(Film.blank(2, 2), bits=12)
