"""Films: sums of linear radiance, to which kernels add samples, and their tone mapping on the CPU.

A film is measured (a histogram, which meters the exposure) and developed to sRGB integers by a tone
curve with dither.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer._native import core
from raytracer.config.arguments import MAX_WHOLE, check_items, check_whole
from raytracer.config.errors import UserError, pluralize, prefix_errors, quote_value
from raytracer.config.tone_settings import ToneSettings
from raytracer.film import film_file
from raytracer.film.bloom import add_bloom
from raytracer.film.statistics import Statistics, compute_statistics
from raytracer.model.settings import MAX_SIDE
from raytracer.system import layout
from raytracer.system.resources import choose_thread_count

Crop = tuple[int, int, int, int]

NOUNS = ("sphere", "capsule", "cone", "ellipsoid", "triangle")
"""Solids in a picture; metadata have the number of each, named by the plural."""

Pixels = NDArray[np.uint8] | NDArray[np.uint16]
"""A developed picture, (h, w, 4): sRGB with straight (not premultiplied) alpha, row 0 on top."""

Developed = tuple[Pixels, NDArray[np.void]]
"""A picture, and the histogram of its film, structured (1,), dtype FilmHistogram."""


class Backdrop(NamedTuple):
    """The opaque background of a picture: a vertical gradient between its edges, linear RGB."""

    bottom: tuple[float, float, float]
    top: tuple[float, float, float]


@dataclass(repr=False)
class Film:
    """Sums of linear radiance over samples, for a whole picture or a rectangle of it.

    Args:
        sums: float32 (h, w, 4), row 0 is the top: linear RGB summed over the samples, and the
            number of samples that hit a sphere. Without a backdrop RGB is premultiplied by
            coverage; with one it includes the backdrop where samples hit nothing.
        samples: samples per pixel; with `counts` their maximum.
        x0: column of sums[0, 0] in the full picture.
        y0: row of sums[0, 0] in the full picture.
        width: width of the full picture in pixels.
        height: height of the full picture in pixels.
        aovs: arbitrary output variables by name, of the ray through each pixel's centre, (h, w) or
            (h, w, 3): float32 `depth` (scene units along the ray, infinite without a hit), `normal`
            (unit, towards the viewer), `albedo` (linear RGB), `position` (scene units), and uint32
            `id` (number of the sphere, 2**32 - 1 without a hit) and `samples`.
        metadata: version, scene, settings, device and date of the render, as JSON types; `digest`
            is the hash of scene, camera and settings.
        backdrop: the background in the sums; None if it is transparent.
        source: the file it was loaded from, which `save` may replace.
        counts: uint32 (h, w), the samples of each pixel; None if all have `samples`.
    """

    sums: NDArray[np.float32]
    samples: int
    x0: int
    y0: int
    width: int
    height: int
    aovs: dict[str, NDArray[Any]] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    backdrop: Backdrop | None = None
    source: str = field(default="", repr=False, compare=False)
    counts: NDArray[np.uint32] | None = None

    def __repr__(self) -> str:
        return f"<Film: {summarize_film(self, self.metadata)}>"

    @classmethod
    def blank(
        cls, width: int, height: int, crop: Crop | None = None, earlier: Film | None = None
    ) -> Film:
        """Return a film without samples, or an earlier one of the same pixels, itself.

        Args:
            width: width of the full picture in pixels.
            height: height of the full picture in pixels.
            crop: x0, y0, x1, y1 in pixels, half open: the part that the film covers.
            earlier: a film that gets more samples, or None.
        Raises:
            UserError: the size or the crop is invalid; the earlier film has other pixels, or no
                sums to add to.
        """
        width, height = (check_whole(side, "size", 1, MAX_SIDE) for side in (width, height))
        x0, y0, x1, y1 = validate_crop(width, height, crop)
        if earlier is None:
            sums = np.zeros((y1 - y0, x1 - x0, 4), np.float32)
            return cls(sums, 0, x0, y0, width, height)
        with prefix_errors(earlier.source):
            if earlier.metadata.get("denoised"):
                raise UserError(
                    "the film is denoised, and samples cannot be added to it: resume the film that "
                    "--film saved"
                )
            pixels = earlier.crop, earlier.width, earlier.height
            if pixels != ((x0, y0, x1, y1), width, height):
                raise UserError(
                    f"the film holds pixels {pixels[0]} of {pixels[1]}x{pixels[2]} and the render "
                    f"asks for {x0, y0, x1, y1} of {width}x{height}: use the same size and crop"
                )
        return earlier

    @property
    def crop(self) -> Crop:
        """x0, y0, x1, y1 of the rectangle that the film covers, half open, in pixels."""
        height, width = self.sums.shape[:2]
        return self.x0, self.y0, self.x0 + width, self.y0 + height

    def require_whole(self) -> None:
        """Check the fields, which a program may have replaced. Raises UserError: a field is
        invalid; the message names it."""
        shape: tuple[int, ...] = getattr(self.sums, "shape", ())
        if not isinstance(self.sums, np.ndarray) or (
            self.sums.dtype != np.float32 or len(shape) != 3 or shape[2] != 4 or not self.sums.size
        ):
            raise UserError(f"sums: {quote_value(self.sums)} must be float32 (h, w, 4)")
        self.sums = np.ascontiguousarray(self.sums)  # no subclass
        for name in ("samples", "x0", "y0", "width", "height"):
            setattr(self, name, check_whole(getattr(self, name), name, 0, 2**31 - 1))
        height, width = shape[0], shape[1]
        if self.x0 + width > self.width or self.y0 + height > self.height:
            raise UserError(
                f"sums: {width}x{height} pixels at {self.x0},{self.y0} reach beyond the picture of "
                f"{self.width}x{self.height}"
            )
        if self.backdrop is not None:
            try:
                ends = [(float(r), float(g), float(b)) for r, g, b in self.backdrop]
                is_sound = len(ends) == 2 and bool(np.isfinite(ends).all())
            except (TypeError, ValueError, OverflowError):
                is_sound = False
            if not is_sound:
                raise UserError(
                    f"backdrop: {quote_value(self.backdrop)} must be two colours, bottom and top, "
                    "of three numbers each"
                )
            self.backdrop = Backdrop(*ends)
        counts = self.counts
        fits = isinstance(counts, np.ndarray) and counts.dtype == np.uint32
        if counts is not None and not (
            fits and counts.shape == shape[:2] and counts.max() == self.samples
        ):
            raise UserError(
                f"counts: {quote_value(counts)} must be uint32 {shape[:2]}, "
                f"at most samples={self.samples:,}"
            )

    def mean(self) -> NDArray[np.float32]:
        """Return the linear picture, float32 (h, w, 4): RGB premultiplied by alpha, and alpha,
        which is 1 with a backdrop and `coverage` without."""
        mean = self.sums / self._divisor()[..., None]
        if self.backdrop is not None:
            mean[..., 3] = 1.0
        return mean

    @property
    def coverage(self) -> NDArray[np.float32]:
        """Fraction of each pixel's samples that hit a sphere, float32 (h, w)."""
        return self.sums[..., 3] / self._divisor()

    def _divisor(self) -> NDArray[np.float32]:
        if self.counts is None:
            return np.full((1, 1), max(self.samples, 1), np.float32)
        return np.maximum(self.counts, 1).astype(np.float32)

    def pixel_counts(self) -> NDArray[np.uint32]:
        """Return the number of samples of each pixel, uint32 (h, w)."""
        if self.counts is not None:
            return self.counts
        return np.full(self.sums.shape[:2], self.samples, np.uint32)

    def evened(self) -> Film:
        """Return a film of the same means whose pixels all have `samples`; itself if they do."""
        if self.counts is None:
            return self
        sums = self.sums * (np.float32(self.samples) / self._divisor())[..., None]
        # A pixel of which all samples hit something stays one.
        sums[..., 3][self.sums[..., 3] == self.counts] = self.samples
        metadata, aovs = dict(self.metadata), dict(self.aovs)
        return replace(self, sums=sums, counts=None, metadata=metadata, aovs=aovs)

    def copy(self) -> Film:
        """Return a copy of the film, which shares the output variables."""
        counts = None if self.counts is None else self.counts.copy()
        return replace(
            self, sums=self.sums.copy(), counts=counts, aovs=dict(self.aovs),
            metadata=dict(self.metadata),
        )  # fmt: skip

    def tonemap(self, *, bits: int = 8, threads: int = 0, **settings: Any) -> Pixels:
        """Return the film as a picture.

        Args:
            bits: 8 or 16 per channel.
            threads: 0 uses every core that the process may use.
            **settings: `exposure`, `tone`, `white`, `dither`, `meter`, `meter_range` and `bloom`,
                see `ToneSettings`; the defaults leave colours alone.
        Returns:
            uint8 or uint16 (h, w, 4), sRGB with straight alpha.
        Raises:
            UserError: a setting is invalid.
        """
        return develop(self, ToneSettings(**settings), bits, threads, measured=False)[0]

    def statistics(self, *, threads: int = 0, **settings: Any) -> Statistics:
        """Return the statistics of the film, and of its picture with 8 bits.

        Args:
            threads: 0 uses every core that the process may use.
            **settings: as for `tonemap`.
        Raises:
            UserError: a setting is invalid.
        """
        tone = ToneSettings(**settings)
        _, histogram = develop(self, tone, 8, threads)
        return compute_statistics(histogram, tone)

    def save(self, path: str | Path) -> Path:
        """Write the film to `.npz`, or its mean for other programs to `.exr` (the extra `exr`).

        Args:
            path: the file, `.npz` or `.exr`.
        Returns:
            The path.
        Raises:
            OutputError: the file cannot be written.
            UserError: another suffix, or the film is invalid.
        """
        return film_file.save(self, path)

    @classmethod
    def load(cls, path: str | Path, aovs: Sequence[str] | None = None) -> Film:
        """Read a film that `save` wrote.

        Args:
            path: the file, `.npz`.
            aovs: output variables to read, if the file has them; None reads all.
        Raises:
            DataFileError: the file is not a film, or cannot be read.
        """
        film = film_file.load(cls, path, aovs)
        film.backdrop = film.backdrop and Backdrop(*film.backdrop)
        return film


def summarize_film(film: Film, metadata: dict[str, Any]) -> str:
    """Return size, samples, numbers of solids and output variables as one line."""
    height, width = film.sums.shape[:2]
    parts = [f"{width}x{height}"]
    if (width, height) != (film.width, film.height):
        parts[0] += f" at {film.x0},{film.y0} of {film.width}x{film.height}"
    parts.append(format_samples(film))
    counts = {noun: metadata.get(f"{noun}s") for noun in NOUNS}
    known = {n: c for n, c in counts.items() if type(c) is int and 0 <= c <= MAX_WHOLE}
    shown = [noun for noun in known if known[noun]] or [*known][:1]
    parts += [pluralize(known[noun], noun) for noun in shown]
    if film.aovs:
        parts.append("with " + ", ".join(film.aovs))
    return ", ".join(parts)


def format_samples(film: Film) -> str:
    if film.counts is None:
        return pluralize(film.samples, "sample", " per pixel")
    most, fewest, mean = describe_samples(film).values()
    return f"{fewest:,} to {most:,} samples per pixel, {mean:,.1f} on average"


def describe_samples(film: Film) -> dict[str, Any]:
    """Return maximum samples per pixel for metadata, with minimum and mean if they differ."""
    if film.counts is None:
        return {"samples": film.samples}
    fewest, mean = int(film.counts.min()), float(film.counts.mean())
    return {"samples": film.samples, "samples_fewest": fewest, "samples_mean": mean}


def validate_crop(width: int, height: int, crop: Crop | None) -> Crop:
    """Return the rectangle to render, x0, y0, x1, y1; None is the whole picture.

    Raises UserError: the rectangle is empty, or not within the picture.
    """
    if crop is None:
        return 0, 0, width, height
    ends = check_items(crop, "crop")
    if len(ends) != 4:
        raise UserError(f"crop: {quote_value(crop)} is not x0, y0, x1, y1")
    x0, y0, x1, y1 = (check_whole(end, "crop") for end in ends)
    if not (0 <= x0 < x1 <= width and 0 <= y0 < y1 <= height):
        raise UserError(
            f"crop {x0},{y0},{x1},{y1} is not a rectangle within the picture: give x0,y0,x1,y1 "
            f"with 0 <= x0 < x1 <= {width} and 0 <= y0 < y1 <= {height}"
        )
    return x0, y0, x1, y1


def check_bits(bits: int, settings: ToneSettings | None = None) -> None:
    """Refuse bit depths other than 8 and 16, and dither with 16 bits. Raises UserError."""
    if type(bits) is not int or bits not in (8, 16):
        raise UserError(
            f"a PNG has 8 or 16 bits per channel, not {quote_value(bits)}: use bits=8 or bits=16"
        )
    if bits == 16 and settings is not None and settings.dither is True:
        raise UserError("dither is for 8 bits per channel: leave it out, or use 8 bits")


def tone_arguments(
    film: Film, settings: ToneSettings, bits: int = 8, neighbor_weight: float = 0.0
) -> NDArray[np.void]:
    """Return the arguments of the kernels, structured (1,), dtype ToneArgs, without addresses.

    neighbor_weight: of a neighbouring pixel's samples, relative to the pixel's own.
    """
    low, high = settings.meter_range
    values: dict[str, Any] = {
        "height": film.sums.shape[0],
        "width": film.sums.shape[1],
        "x0": film.x0,
        "y0": film.y0,
        "samples": max(film.samples, 1),
        "bits": bits,
        "curve": layout.enum_value("ToneCurve", settings.tone),
        "dither": settings.dithers(bits),
        "exposure": 0.0 if settings.automatic else settings.exposure,
        "white": settings.white,
        "automatic": settings.automatic,
        "meter_all": settings.meter == "all",
        "meter_low": low,
        "meter_high": high,
        "neighbor_weight": neighbor_weight,
    }
    if film.backdrop is not None and film.samples > 0:
        values |= {
            "opaque": 1,
            "picture_height": film.height,
            "background_bottom": film.backdrop.bottom,
            "background_top": film.backdrop.top,
        }
    # As one record, which takes a tenth of the time of field by field.
    dtype = layout.struct_dtype("ToneArgs")
    return np.array([tuple(values.get(name, 0) for name in dtype.names or ())], dtype)


def empty_histogram() -> NDArray[np.void]:
    """Return the histogram of no pixels, structured (1,), dtype FilmHistogram."""
    return np.zeros(1, layout.struct_dtype("FilmHistogram"))


def measure(film: Film, settings: ToneSettings, threads: int = 0) -> NDArray[np.void]:
    """Return the histogram of a film with its metered exposure, structured (1,), FilmHistogram.
    Raises UserError: the film is damaged."""
    film, settings = with_bloom(film, settings)
    histogram = empty_histogram()
    args = tone_arguments(film, settings)
    core().measure_film(film.sums, args, histogram.view(np.uint8), choose_thread_count(threads))
    return histogram


def develop(
    film: Film, settings: ToneSettings | None = None, bits: int = 8, threads: int = 0, *,
    measured: bool = True, out: Pixels | None = None, neighbor_weight: float = 0.0,
) -> Developed:  # fmt: skip
    """Return a film as a picture, and its histogram with the counts of clipped and black pixels.

    settings: None uses the defaults, which leave colours alone. threads: 0 uses every core.
    measured: False leaves the histogram out, which takes as long again, unless the exposure is
    automatic. out: C-contiguous memory; None allocates it. neighbor_weight: see `tone_arguments`.
    Raises UserError: the depth is not 8 or 16, or the film is damaged.
    """
    settings = settings or ToneSettings()
    check_bits(bits, settings)
    film, settings = with_bloom(film, settings)
    is_metered = measured or settings.automatic
    histogram = measure(film, settings, threads) if is_metered else empty_histogram()
    if out is None:
        out = np.empty(film.sums.shape, np.uint8 if bits == 8 else np.uint16)
    args = tone_arguments(film, settings, bits, neighbor_weight)
    core().tone_map_film(
        film.sums, args, histogram.view(np.uint8), out, choose_thread_count(threads)
    )
    return out, histogram


def with_bloom(film: Film, settings: ToneSettings) -> tuple[Film, ToneSettings]:
    """Return a checked film with equal samples and with bloom, and settings without bloom."""
    film.require_whole()
    film = film.evened()
    if settings.bloom > 0:
        film, settings = add_bloom(film, settings.bloom), replace(settings, bloom=0.0)
    return film, settings


def non_finite_pixels(film: Film) -> tuple[int, tuple[int, int]] | None:
    """Return the number of pixels that are not finite and x, y of the first, or None."""
    y, x = np.nonzero([~np.isfinite(row).all(axis=-1) for row in film.sums])
    return (len(x), (film.x0 + int(x[0]), film.y0 + int(y[0]))) if len(x) else None
