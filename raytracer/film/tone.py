"""Tone mapping on the CPU: the histogram of a film, exposure, tone curve, dither, sRGB integers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer._native import core
from raytracer.errors import UserError, shown_value
from raytracer.film.statistics import Statistics, merged, statistics_of
from raytracer.film.tone_settings import ToneSettings
from raytracer.resources import thread_count

if TYPE_CHECKING:
    from raytracer.film.film import Backdrop, Film

Pixels = NDArray[np.uint8] | NDArray[np.uint16]
"""A developed picture, (h, w, 4): sRGB with straight (not premultiplied) alpha, row 0 on top."""


def check_bits(bits: int, settings: ToneSettings | None = None) -> None:
    """Refuse bit depths that no PNG has, and dither with 16 bits.

    Args:
        bits: per channel.
        settings: None checks the depth alone.

    Raises:
        UserError: the depth is not 8 or 16, or the settings ask for dither with 16 bits.
    """
    if type(bits) is not int or bits not in (8, 16):
        raise UserError(
            f"a PNG has 8 or 16 bits per channel, not {shown_value(bits)}: use bits=8 or bits=16"
        )
    if bits == 16 and settings is not None and settings.dither is True:
        raise UserError("dither is for 8 bits per channel: leave it out, or use 8 bits")


def arguments(
    shape: tuple[int, int],
    samples: int,
    settings: ToneSettings,
    bits: int = 8,
    place: tuple[int, int] = (0, 0),
    backdrop: Backdrop | None = None,
    picture_height: int = 0,
) -> NDArray[np.void]:
    """Return the arguments of the kernels, structured (1,), dtype ToneArgs, without addresses.

    Args:
        shape: height and width of the film in pixels.
        samples: per pixel, in the sums.
        settings: exposure and tone curve.
        bits: 8 or 16 per channel.
        place: x and y of the film's first pixel in the full picture, which decide the dither.
        backdrop: the opaque background in the sums; None if it is transparent.
        picture_height: rows of the full picture, the extent of the background's gradient.
    """
    low, high = settings.meter_range
    values: dict[str, Any] = {
        "height": shape[0],
        "width": shape[1],
        "x0": place[0],
        "y0": place[1],
        "samples": max(samples, 1),
        "bits": bits,
        "curve": layout.code("ToneCurve", settings.tone),
        "dither": settings.dithers(bits),
        "exposure": 0.0 if settings.automatic else settings.exposure,
        "white": settings.white,
        "automatic": settings.automatic,
        "meter_all": settings.meter == "all",
        "meter_low": low,
        "meter_high": high,
    }
    if backdrop is not None and samples > 0:
        values |= {
            "opaque": 1,
            "picture_height": picture_height,
            "background_bottom": backdrop.bottom,
            "background_top": backdrop.top,
        }
    # As one record, because a window does this for every frame: field by field takes ten times
    # as long.
    dtype = layout.dtype("ToneArgs")
    return np.array([tuple(values.get(name, 0) for name in dtype.names or ())], dtype)


def empty_histogram() -> NDArray[np.void]:
    """Return the histogram of no pixels, structured (1,), dtype FilmHistogram."""
    return np.zeros(1, layout.dtype("FilmHistogram"))


def measure(film: Film, settings: ToneSettings, threads: int = 0) -> NDArray[np.void]:
    """Return the histogram of a film, with its metered exposure.

    Args:
        film: sums and their number of samples.
        settings: which pixels are metered.
        threads: 0 takes every core that the process may use.

    Returns:
        Structured (1,), dtype FilmHistogram.

    Raises:
        UserError: the film is damaged.
    """
    film.require_whole()
    histogram = empty_histogram()
    args = film_arguments(film, settings)
    core().measure_film(film.sums, args, _bytes(histogram), thread_count(threads))
    return histogram


def film_arguments(film: Film, settings: ToneSettings, bits: int = 8) -> NDArray[np.void]:
    """Return the arguments of the kernels for a film; see `arguments`."""
    height, width = film.sums.shape[:2]
    place = film.x0, film.y0
    return arguments(
        (height, width), film.samples, settings, bits, place, film.backdrop, film.height
    )


def develop(
    film: Film,
    settings: ToneSettings | None = None,
    bits: int = 8,
    threads: int = 0,
    histogram: NDArray[np.void] | None = None,
    out: Pixels | None = None,
) -> Pixels:
    """Return a film as a picture.

    Args:
        film: sums and their number of samples.
        settings: None takes the defaults, which leave colours alone.
        bits: 8 or 16 per channel.
        threads: 0 takes every core that the process may use.
        histogram: of `measure`; its counts of clipped and black pixels are filled in. None
            measures the film if the exposure is automatic.
        out: C-contiguous memory for the picture; None allocates it.

    Returns:
        uint8 or uint16 (h, w, 4), sRGB with straight (not premultiplied) alpha.

    Raises:
        UserError: the depth is not 8 or 16, or the film is damaged.
    """
    settings = settings or ToneSettings()
    check_bits(bits, settings)
    film.require_whole()
    if histogram is None:
        histogram = measure(film, settings, threads) if settings.automatic else empty_histogram()
    if out is None:
        out = np.empty(film.sums.shape, np.uint8 if bits == 8 else np.uint16)
    args = film_arguments(film, settings, bits)
    core().tone_map_film(film.sums, args, _bytes(histogram), out, thread_count(threads))
    return out


def encode(film: Film, bits: int = 8, threads: int = 0) -> Pixels:
    """Return a film by the sRGB curve of IEC 61966-2-1 alone, rounded to the nearest integer.

    Arguments and result are those of `develop`.
    """
    return develop(film, ToneSettings(dither=False), bits, threads)


def statistics(film: Film, settings: ToneSettings, threads: int = 0) -> Statistics:
    """Return the statistics of a film, and of its picture with 8 bits per channel."""
    histogram = measure(film, settings, threads)
    develop(film, settings, 8, threads, histogram)
    return statistics_of(histogram, settings.stops(histogram))


def common_exposure(films: Iterable[Film], settings: ToneSettings, threads: int = 0) -> float:
    """Return the automatic exposure of several films together, in stops.

    They are measured one after the other, so that an iterator need not hold all at once.
    """
    # `map` releases a film before it takes the next.
    total = merged(list(map(lambda film: measure(film, settings, threads), films)))  # noqa: C417
    return float(core().meter(arguments((1, 1), 1, settings), _bytes(total)))


def non_finite_pixels(film: Film) -> tuple[int, tuple[int, int]] | None:
    """Return how many pixels hold a NaN or an infinity, and x, y of the first of them.

    The place is that in the full picture; None is returned if all pixels are finite.
    """
    count, first = 0, (0, 0)
    for y, row in enumerate(film.sums):
        bad = ~np.isfinite(row).all(axis=-1)
        if here := int(bad.sum()):
            first = first if count else (film.x0 + int(bad.argmax()), film.y0 + y)
            count += here
    return (count, first) if count else None


def _bytes(histogram: NDArray[np.void]) -> NDArray[np.uint8]:
    """Return the same memory as bytes."""
    return histogram.view(np.uint8)
