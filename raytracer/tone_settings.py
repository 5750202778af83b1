"""How a film becomes a picture: the settings of exposure and tone curve."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite
from typing import TYPE_CHECKING

from raytracer.errors import UserError, suggestion

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CURVES = ("linear", "reinhard", "aces", "agx")
"""Tone curves; the index is `ToneArgs.curve`."""

METERS = ("covered", "all")
"""Which pixels decide an automatic exposure."""

MAX_STOPS = 64.0
"""Largest exposure either way: beyond it float32 holds no picture."""


@dataclass(frozen=True)
class ToneSettings:
    """How linear radiance becomes a picture. The defaults leave colours alone.

    Args:
        exposure: stops to be added (a factor of 2**exposure), or "auto": what brings the metered
            mean of log-luminance to a luminance of 0.18, but darkens only as far as highlights
            (the upper end of `meter_range`) are above white.
        tone: "linear" (values above 1 are clipped), "reinhard" (extended, on luminance; Reinhard,
            Stark, Shirley and Ferwerda 2002, eq. 4), "aces" (Stephen Hill's fit of the ACES RRT
            and sRGB ODT) or "agx" (Benjamin Wrensch's fit of Troy Sobotka's AgX).
        white: luminance that "reinhard" shows as white, after the exposure.
        dither: ordered dither (Bayer, 8 x 8) of 8-bit pictures, against bands in smooth gradients;
            what is a whole code value stays that value. "auto" dithers 8 bits and not 16.
        meter: which pixels decide an automatic exposure and are in the statistics. "covered": those
            in which a camera ray hit a sphere, by the light of what was hit (black ones are not
            metered); "all": the whole picture as it is shown, with background and black pixels.
        meter_range: percentiles of these pixels, from dark to light, between which the mean is
            taken; the upper one is that of the highlights.

    Raises:
        UserError: a value makes no sense.
    """

    exposure: float | str = 0.0
    tone: str = "linear"
    white: float = 4.0
    dither: bool | str = "auto"
    meter: str = "covered"
    meter_range: tuple[float, float] = (10.0, 95.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "exposure", _exposure(self.exposure))
        if self.tone not in CURVES:
            raise UserError(f"tone {self.tone!r}: {suggestion(str(self.tone), CURVES)}")
        if not (isinstance(self.dither, bool) or self.dither == "auto"):
            raise UserError(f"dither {self.dither!r}: give True, False or 'auto'")
        if self.meter not in METERS:
            raise UserError(f"meter {self.meter!r}: {suggestion(str(self.meter), METERS)}")
        if not (isfinite(self.white) and 1e-3 <= self.white <= 65504.0):
            raise UserError(f"white {self.white}: give a luminance between 0.001 and 65504")
        low, high = self.meter_range
        if not 0.0 <= low < high <= 100.0:
            raise UserError(
                f"meter range {low},{high}: give two percentiles, 0 <= low < high <= 100"
            )

    @property
    def automatic(self) -> bool:
        """Whether the exposure is metered."""
        return self.exposure == "auto"

    def dithers(self, bits: int) -> bool:
        """Whether a picture with that many bits a channel is dithered."""
        return bits == 8 and self.dither is not False

    def stops(self, tally: NDArray[np.void]) -> float:
        """The exposure of the picture, in stops; of a measured tally where it is automatic."""
        return float(tally["exposure"][0]) if self.automatic else float(self.exposure)


def _exposure(value: float | str) -> float | str:
    """A number of stops or "auto"; raises UserError."""
    try:
        stops = value if value == "auto" else float(value)
    except (TypeError, ValueError):
        stops = float("nan")
    if isinstance(stops, str) or abs(stops) <= MAX_STOPS:
        return stops
    raise UserError(
        f"exposure {value!r}: give 'auto' or stops between {-MAX_STOPS:g} and {MAX_STOPS:g}"
    )
