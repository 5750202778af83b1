"""From the linear film to sRGB integers: exposure, tone curve, dither, on the CPU."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer._native import core
from raytracer.errors import UserError, shown_value
from raytracer.film.statistics import Statistics, add, statistics_of
from raytracer.film.tone_settings import ToneSettings
from raytracer.resources import thread_count

if TYPE_CHECKING:
    from raytracer.film.film import Backdrop, Film

Pixels = NDArray[np.uint8] | NDArray[np.uint16]


def check_bits(bits: int, settings: ToneSettings | None = None) -> None:
    """Refuse depths that no PNG has, and dither where nothing is rounded coarsely."""
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
    """What the kernels are told: structured (1,), dtype ToneArgs, without addresses.

    shape: height and width of the film in pixels. place: x and y of its first pixel in the full
    picture, which decide the dither. backdrop: the opaque background in the sums, if there is
    one; picture_height: rows of the full picture, over which its gradient goes.
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
    # As one record: a window asks for every frame, and fields one by one take ten times as long.
    dtype = layout.dtype("ToneArgs")
    return np.array([tuple(values.get(name, 0) for name in dtype.names or ())], dtype)


def new_tally() -> NDArray[np.void]:
    """An empty tally, structured (1,), dtype Tally."""
    return np.zeros(1, layout.dtype("FilmStatistics"))


def measure(film: Film, settings: ToneSettings, threads: int = 0) -> NDArray[np.void]:
    """The film's histogram and the exposure that metering asks for: structured (1,), Tally."""
    film.require_whole()
    tally = new_tally()
    args = film_arguments(film, settings)
    core().measure_film(film.sums, args, _bytes(tally), thread_count(threads))
    return tally


def film_arguments(film: Film, settings: ToneSettings, bits: int = 8) -> NDArray[np.void]:
    """`arguments` for a film."""
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
    tally: NDArray[np.void] | None = None,
    out: Pixels | None = None,
) -> Pixels:
    """A film as code values.

    film: sums and their number of samples.
    settings: None takes the defaults, which leave colours alone.
    bits: 8 or 16.
    tally: of `measure`; its counts of the picture are filled in. Measured here where it is needed.
    out: where to put them, C-contiguous; new memory where it is None.
    Returns uint8 or uint16 (h, w, 4), sRGB with straight (not premultiplied) alpha.
    """
    settings = settings or ToneSettings()
    check_bits(bits, settings)
    film.require_whole()
    if tally is None:
        tally = measure(film, settings, threads) if settings.automatic else new_tally()
    if out is None:
        out = np.empty(film.sums.shape, np.uint8 if bits == 8 else np.uint16)
    args = film_arguments(film, settings, bits)
    core().tone_map_film(film.sums, args, _bytes(tally), out, thread_count(threads))
    return out


def encode(film: Film, bits: int = 8, threads: int = 0) -> Pixels:
    """A film by the curve of IEC 61966-2-1 alone, rounded to the nearest code value.

    Arguments and result as for `develop`.
    """
    return develop(film, ToneSettings(dither=False), bits, threads)


def statistics(film: Film, settings: ToneSettings, threads: int = 0) -> Statistics:
    """The statistics of a film, and of its picture with 8 bits per channel."""
    tally = measure(film, settings, threads)
    develop(film, settings, 8, threads, tally)
    return statistics_of(tally, settings.stops(tally))


def common_exposure(films: Iterable[Film], settings: ToneSettings, threads: int = 0) -> float:
    """The automatic exposure of several films as if they were one, in stops.

    They are measured one after the other, so that an iterator need not hold all at once.
    """
    # `map` lets go of a film before it asks for the next.
    total = add(list(map(lambda film: measure(film, settings, threads), films)))  # noqa: C417
    return float(core().meter(arguments((1, 1), 1, settings), _bytes(total)))


def non_finite_pixels(film: Film) -> tuple[int, tuple[int, int]] | None:
    """How many pixels hold a NaN or an infinity, and x, y of the first in the full picture."""
    count, first = 0, (0, 0)
    for y, row in enumerate(film.sums):
        bad = ~np.isfinite(row).all(axis=-1)
        if here := int(bad.sum()):
            first = first if count else (film.x0 + int(bad.argmax()), film.y0 + y)
            count += here
    return (count, first) if count else None


def _bytes(tally: NDArray[Any]) -> NDArray[np.uint8]:
    """The same memory as bytes."""
    return tally.view(np.uint8)
