"""Films that several tests share."""

import numpy as np
from numpy.typing import NDArray

from raytracer.film.film import Backdrop, Film
from raytracer.film.noise import TileNoise

Color = tuple[float, float, float]


def film_of(sums: NDArray[np.float32], samples: int = 1) -> Film:
    height, width = sums.shape[:2]
    return Film(sums, samples, 0, 0, width, height)


def noise_of(film: Film, earlier: NDArray[np.float32], samples: int) -> float:
    """The noise of a film that had these sums when all of its pixels had fewer samples."""
    has, had = np.full((1, 1), film.samples), np.full((1, 1), samples)
    return TileNoise.of(film.sums, earlier, has, had, max(film.sums.shape)).picture


def natural(width: int, height: int, seed: int = 1, samples: int = 3) -> Film:
    """Log-normal light of all colours, every coverage, a tenth of it empty and a tenth black."""
    rng = np.random.default_rng(seed)
    sums = np.exp(rng.normal(-2.0, 2.0, (height, width, 4))).astype(np.float32) * samples
    sums[..., 3] = rng.integers(1, samples + 1, (height, width))
    kind = rng.random((height, width))
    sums[kind < 0.1] = 0.0
    sums[(kind >= 0.1) & (kind < 0.2), :3] = 0.0
    return film_of(sums, samples)


def in_front_of(film: Film, bottom: Color, top: Color) -> Film:
    """The same subject before an opaque gradient, as a renderer adds it up: exact in float64."""
    height = len(film.sums)
    rows = 1.0 - (np.arange(height) + film.y0 + 0.5)[:, None, None] / film.height
    behind = np.array(bottom) + rows * (np.array(top) - np.array(bottom))
    sums = film.sums.astype(np.float64)
    sums[..., :3] += (film.samples - sums[..., 3:]) * behind
    backdrop = Backdrop(bottom, top)
    place = film.x0, film.y0, film.width, film.height
    return Film(sums.astype(np.float32), film.samples, *place, backdrop=backdrop)


def wild(width: int, height: int, seed: int = 2) -> Film:
    """The same with values that are not finite, negative, subnormal or extremely bright."""
    film = natural(width, height, seed)
    rng = np.random.default_rng(seed)
    bad = np.array([np.nan, np.inf, -np.inf, -3.0, 1e-42, 3e38, 1e6], np.float32)
    places = rng.random(film.sums.shape) < 0.05
    film.sums[places] = rng.choice(bad, int(places.sum()))
    return film
