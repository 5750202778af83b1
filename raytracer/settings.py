"""How a picture is sampled: the settings of one render."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from .arguments import one_of, real, truth, whole

FILTERS = ("point", "box", "tent", "gaussian")
"""Reconstruction filters: the words of the kernels' `FilterKind`."""

FILTER_RADII = {"point": 0.0, "box": 0.5, "tent": 1.0, "gaussian": 1.5}
"""Half width of each filter in pixels, unless `filter_radius` says otherwise."""

MAX_SIDE = 1 << 20
"""Largest picture side in pixels: far beyond any film, small enough that sums of rows fit int32."""

MAX_SAMPLES = 1 << 24
"""Most samples per pixel: film sums are float32, which counts no further than 2**24."""


@dataclass(frozen=True)
class RenderSettings:
    """Size, sampling and depth of a picture; the names are those of `[render]` in a scene file.

    Args:
        width, height: size of the picture in pixels.
        samples: samples per pixel.
        filter: "point" (the pixel's centre), "box", "tent" or "gaussian".
        filter_radius: half width of the filter in pixels; None takes the filter's own.
        seed: seed of the sample points, 0 to 2**32 - 1.
        max_depth: mirror bounces; 0 shows no reflection.
        shadows: whether spheres cast shadows.

    Raises:
        SceneError: a value is out of its range.
    """

    width: int = 1280
    height: int = 720
    samples: int = 16
    filter: str = "gaussian"
    filter_radius: float | None = None
    seed: int = 0
    max_depth: int = 4
    shadows: bool = True

    def __post_init__(self) -> None:
        for name, low, high in (
            ("width", 1, MAX_SIDE),
            ("height", 1, MAX_SIDE),
            ("samples", 1, MAX_SAMPLES),
            ("seed", 0, 2**32 - 1),
            ("max_depth", 0, 1024),
        ):
            number = whole(getattr(self, name), f"render.{name}", low, high)
            object.__setattr__(self, name, number)
        object.__setattr__(self, "filter", one_of(self.filter, "render.filter", FILTERS, "filter"))
        if self.filter_radius is not None:
            radius = real(self.filter_radius, "render.filter_radius", 0.0, 16.0)
            object.__setattr__(self, "filter_radius", radius)
        object.__setattr__(self, "shadows", truth(self.shadows, "render.shadows"))

    @property
    def filter_code(self) -> int:
        """The filter as `Frame.filter` stores it."""
        from .layout import code

        return code("FilterKind", self.filter)

    @property
    def resolved_filter_radius(self) -> float:
        """The filter's half width in pixels, with the filter's own width where none was said."""
        if self.filter == "point":
            return 0.0
        if self.filter_radius is None:
            return FILTER_RADII[self.filter]
        return float(self.filter_radius)

    def override(self, **changes: Any) -> RenderSettings:
        """Return these settings with every change that is not None applied.

        Args:
            changes: names of settings and their new values; None keeps what is here.

        Raises:
            SceneError: a value is out of its range.
        """
        return replace(self, **{name: v for name, v in changes.items() if v is not None})
