"""How a film becomes a picture: the settings of exposure and tone curve."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raytracer.arguments import is_a, items, plain, real, truth
from raytracer.errors import UserError, shown_value, suggestion
from raytracer.tone_names import CURVES, METERS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

__all__ = ["CURVES", "MAX_STOPS", "METERS", "ToneSettings"]

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
        for name, known in (("tone", CURVES), ("meter", METERS)):
            value = plain(getattr(self, name))
            object.__setattr__(self, name, value)
            if not is_a(value, str):
                raise UserError(f"{name} {shown_value(value)}: known are {', '.join(known)}")
            if value not in known:
                raise UserError(f"{name} {shown_value(value)}: {suggestion(value, known)}")
        white = real(self.white, "white", 1e-3, 65504.0, error=UserError)
        object.__setattr__(self, "white", white)
        object.__setattr__(self, "dither", plain(self.dither))
        if not (is_a(self.dither, str) and self.dither == "auto"):
            try:
                object.__setattr__(self, "dither", truth(self.dither, "dither", UserError))
            except UserError:
                given = shown_value(self.dither)
                raise UserError(f"dither {given}: give True, False or 'auto'") from None
        ends = [real(v, "meter range", error=UserError) for v in _pair(self.meter_range)]
        if not 0.0 <= ends[0] < ends[1] <= 100.0:
            raise UserError(
                f"meter range {ends[0]:g},{ends[1]:g}: give two percentiles, 0 <= low < high <= 100"
            )
        object.__setattr__(self, "meter_range", (ends[0], ends[1]))

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


def _pair(value: Any) -> list[Any]:
    """The two ends of a range; raises UserError."""
    ends = items(value, "meter range", UserError)
    if len(ends) != 2:
        raise UserError(f"meter range {shown_value(value)}: give two percentiles, low and high")
    return ends


def _exposure(value: float | str) -> float | str:
    """A number of stops or "auto"; raises UserError."""
    own = plain(value)
    if is_a(own, str) and own == "auto":
        return "auto"
    try:
        stops = float(own)
    except Exception:  # whatever a foreign object raises
        stops = float("nan")
    if abs(stops) <= MAX_STOPS:
        return stops
    raise UserError(
        f"exposure {shown_value(value)}: give 'auto' or stops between {-MAX_STOPS:g} and "
        f"{MAX_STOPS:g}"
    )
