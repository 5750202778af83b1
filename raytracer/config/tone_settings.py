"""Settings of exposure and tone curve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from raytracer.config.arguments import check_mapping
from raytracer.config.errors import UserError, quote, suggest, type_name
from raytracer.config.field_types import AnyOf, Number, Percentiles, Truth, WordChoice
from raytracer.config.fields import Defined, find_definitions, setting

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CURVES = ("linear", "reinhard", "aces", "agx")
METERS = ("covered", "all")
MAX_STOPS = 64.0  # largest absolute exposure: beyond it a picture exceeds the range of float32


@dataclass(frozen=True, repr=False, eq=False)
class ToneSettings(Defined):
    """Exposure and tone curve of a picture. The defaults leave colours unchanged.

    Args:
        exposure: Exposure in stops, or auto: metered where camera rays hit a sphere. A stop is a
            factor of 2. Auto brings the metered mean of log-luminance to a luminance of 0.18, but
            darkens only as far as highlights (the upper end of `meter_range`) are above white.
        tone: Tone curve. "linear" clips values above 1. "reinhard" is the extended form, on
            luminance (Reinhard, Stark, Shirley and Ferwerda 2002, eq. 4), "aces" Stephen Hill's fit
            of the ACES RRT and sRGB ODT, "agx" Benjamin Wrensch's fit of Troy Sobotka's AgX.
        white: Luminance that the reinhard curve maps to white. It is measured after the exposure.
        dither: Dither gradients, against banding. Ordered dither (Bayer, 8 x 8) of 8-bit pictures;
            exact code values are unchanged. Auto dithers 8 bits and not 16.
        meter: Pixels to meter: those that show spheres, or all. Statistics use the same pixels.
            Covered pixels count by the light of the spheres (black ones are not metered), all
            pixels as they are shown, with background and black ones.
        meter_range: Percentiles of luminance that are metered. The mean is taken between them; the
            upper one defines the highlights.
        bloom: Share of the light that spreads around bright places, before the tone curve. It is a
            sum of Gaussians, whose widths are fractions of the picture's height, and keeps the sum
            of all light.
    """

    exposure: float | str = setting(
        0.0,
        AnyOf(
            WordChoice(["auto"]),
            Number(-MAX_STOPS, MAX_STOPS),
            noun="'auto' or a number of stops",
            metavar="STOPS",
        ),
    )
    tone: str = setting("linear", WordChoice(CURVES, "tone curve"))
    white: float = setting(4.0, Number(1e-3, 65504.0))
    dither: bool | str = setting(
        "auto", AnyOf(Truth(), WordChoice(["auto"])), default_text="with 8 bits"
    )
    meter: str = setting("covered", WordChoice(METERS, "meter"))
    meter_range: tuple[float, float] = setting((10.0, 95.0), Percentiles(), default_text="10,95")

    bloom: float = setting(0.0, Number(0.0, 1.0))

    @classmethod
    def of(cls, given: object, scenes: ToneSettings | None = None) -> ToneSettings:
        """Return the settings of a call: those given, or the scene's with the changes of a
        dictionary."""
        base = scenes or cls()
        if given is None:
            return base
        if isinstance(given, cls):
            return given
        if not isinstance(given, Mapping):
            raise UserError(f"tone: give ToneSettings or a dictionary, not {type_name(given)}")
        changes, names = check_mapping(given, "tone"), find_definitions(cls)
        for name in changes:
            if name not in names:
                raise UserError(f"tone: there is no '{quote(name)}'; {suggest(name, names)}")
        return replace(base, **changes)

    @property
    def automatic(self) -> bool:
        """Whether the exposure is metered from the picture."""
        return self.exposure == "auto"

    def dithers(self, bits: int) -> bool:
        """Return whether a picture with this many bits per channel is dithered."""
        return bits == 8 and self.dither is not False

    def stops(self, histogram: NDArray[np.void]) -> float:
        """Return the exposure of the picture in stops; histogram: of the film, (1,)
        `FilmHistogram`."""
        return float(histogram["exposure"][0]) if self.automatic else float(self.exposure)
