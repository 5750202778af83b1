"""Settings of a render: size, samples, filter, depth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from raytracer.config.field_types import AnyOf, Direction, Integer, Number, Truth, WordChoice
from raytracer.config.fields import Defined, setting

FILTERS = ("point", "box", "tent", "gaussian")
FILTER_RADII = {"point": 0.0, "box": 0.5, "tent": 1.0, "gaussian": 1.5}  # half widths in pixels

INTEGRATORS = ("direct", "ao", "path")


@dataclass(frozen=True)
class Look:
    """Light and integrator of a scene that states none."""

    integrator: str  # one of `INTEGRATORS`
    key: float  # intensity of the directional light from the camera's upper left; 0 for none
    ambient: float  # intensity of the white ambient light
    angle: float = 0.0  # of the key light, in degrees, for soft shadows
    others: tuple[tuple[str, float, float], ...] = ()  # one of `KEY_LIGHTS`, intensity, angle


SHADINGS = ("lit", "flat")

# A white surface of the default material that nothing occludes stays just below 1 in each.
LOOKS = {
    "plain": Look("direct", 0.8, 0.25),
    "soft": Look("ao", 0.45, 0.58),
    "cloudy": Look("ao", 0.0, 1.0),
    "contrast": Look("ao", 0.8, 0.25),
    "studio": Look("ao", 0.5, 0.38, 20.0, (("right", 0.15, 40.0), ("back", 0.35, 20.0))),
    "sun": Look("ao", 0.62, 0.38, 0.53),
    "rim": Look("ao", 0.3, 0.38, 10.0, (("back", 0.9, 10.0), ("left", 0.3, 10.0))),
    "flat": Look("direct", 0.0, 1.0),
}
KEY_LIGHTS = {
    "upper-left": (-0.5, 0.8, 1.0),
    "upper-right": (0.5, 0.8, 1.0),
    "left": (-1.0, 0.2, 0.3),
    "right": (1.0, 0.2, 0.3),
    "top": (0.0, 1.0, 0.2),
    "bottom": (0.0, -1.0, 0.2),
    "camera": (0.0, 0.0, 1.0),
    "back": (0.0, 0.7, -1.0),
}
"""Directions to the light of a look: right, up and backward components."""

PLACEMENTS = ("camera", "world")  # what the directional lights of a look are placed relative to
UNLIMITED = 3e38  # length of an infinite ray in render space: the kernels' `kInfinity`
MAX_SIDE = 1 << 20  # of a picture in pixels: beyond any film, and sums of rows still fit int32
MAX_SAMPLES = 1 << 24  # per pixel: the float32 sums of a film are exact for integers up to 2**24

MAX_FOR_NOISE = 4096
"""Default of `max_samples`, which leaves a 64th of the noise of one sample; doubling the samples
for rare light would take as long as everything before."""

MAX_SEED = 2**32 - 1
AUTO = "auto"


@dataclass(frozen=True, repr=False, eq=False)
class RenderSettings(Defined, place="render"):
    """Size, sampling and depth of a picture; the names are those of `[render]` in a scene file.

    Args:
        width: Width of the picture in pixels.
        height: Height of the picture in pixels.
        samples: Samples per pixel; more give less noise. Particles without a scene file have 32.
        filter: Reconstruction filter; point takes every sample at the pixel's centre.
        filter_radius: Half width of the filter in pixels.
        seed: Seed of the sample points.
        max_depth: Maximum number of bounces, in mirrors and of paths; 0 shows only direct light.
            Paths inside glass go on until they are outside.
        shadows: Whether spheres cast shadows.
        transparent_shadows: Whether shadow rays pass through glass, without refraction, with
            integrators direct and ao.
        look: Light and integrator of a scene that states none; a particle file without a scene has
            soft.
        light: Where the directional light of the look comes from, relative to the camera. Or three
            numbers: the direction in which it travels through the scene.
        placement: Whether the directional lights of the look move with the camera or are fixed in
            the world. In the world they stay where they are as seen from the view `front`.
        shading: Whether surfaces are lit or flat. Flat surfaces have exactly their colours, for
            example those of a legend, whatever lights and materials are; this needs look flat and
            integrator direct.
        integrator: Direct light (direct), direct light with ambient occlusion (ao), or path tracing
            (path): global illumination, with refraction in glass and reflections in glossy metal.
        ao_samples: Occlusion rays per surface and sample, with integrator ao. Particles without a
            scene file have 4.
        ao_distance: Length of occlusion rays in scene units, with integrator ao.
        brightness: Factor of the light of the look, or auto: measured, so that surfaces in a
            dense packing are on average as bright as their colours. Without lights of its own, a
            particle file without a scene has auto.
        clamp_indirect: Maximum radiance of a contribution after two or more bounces, with
            integrator path; removes bright specks and some light; 0 changes nothing.
        dpi: Pixels per inch: the size of text and lines over the picture, and the resolution that
            the PNG states.
        noise: Noise below which a tile of the picture is finished; `samples` is then the minimum.
            It is the standard error of the pixels that show spheres, relative to their mean,
            weighted by brightness as it is seen.
        max_samples: Maximum samples per pixel to reach `noise`.
        denoise: Whether the picture is denoised by Open Image Denoise. The film keeps its noise.
            Needs the extra `denoise`.
    Raises:
        SceneError: a value is out of its range.
    """

    width: int = setting(1280, Integer(1, MAX_SIDE))
    height: int = setting(720, Integer(1, MAX_SIDE))
    samples: int = setting(16, Integer(1, MAX_SAMPLES))
    filter: str = setting("gaussian", WordChoice(FILTERS, "filter"))
    filter_radius: float | None = setting(
        None, Number(0.0, 16.0), default_text="box 0.5, tent 1.0, gaussian 1.5"
    )
    seed: int = setting(0, Integer(0, MAX_SEED))
    max_depth: int = setting(4, Integer(0, 1024), flag="--depth")
    shadows: bool = setting(True, Truth())
    transparent_shadows: bool = setting(True, Truth())
    look: str = setting("plain", WordChoice(tuple(LOOKS), "look"))
    light: str | tuple[float, float, float] = setting(
        "upper-left", AnyOf(WordChoice(KEY_LIGHTS, "light"), Direction())
    )
    placement: str = setting("camera", WordChoice(PLACEMENTS, "placement"))
    shading: str = setting("lit", WordChoice(SHADINGS, "shading"))
    integrator: str | None = setting(
        None, WordChoice(INTEGRATORS, "integrator"), default_text="that of the look"
    )
    ao_samples: int = setting(1, Integer(1, 64))
    ao_distance: float | None = setting(None, Number(0.0, above=True), default_text="unlimited")
    brightness: float | str = setting(1.0, AnyOf(WordChoice([AUTO]), Number(0.0, 1e6)))
    clamp_indirect: float = setting(0.0, Number(0.0, 1e12))
    dpi: float | None = setting(
        None, Number(1.0, 1e5), default_text="the shorter side counts as 6 inches"
    )
    noise: float | None = setting(None, Number(0.0, 10.0, above=True), default_text="none")
    max_samples: int | None = setting(
        None, Integer(1, MAX_SAMPLES), default_text=f"{MAX_FOR_NOISE:,}"
    )
    denoise: bool = setting(False, Truth())

    @property
    def resolved_integrator(self) -> str:
        """The integrator, by default that of the look."""
        return self.integrator or LOOKS[self.look].integrator

    @property
    def rig(self) -> Look:
        """The look with the brightness of its lights; unmeasured, they are as the look says."""
        look, factor = LOOKS[self.look], self.brightness
        if isinstance(factor, str) or factor == 1.0:
            return look
        others = tuple((place, factor * light, angle) for place, light, angle in look.others)
        return replace(look, key=factor * look.key, ambient=factor * look.ambient, others=others)

    @property
    def resolved_filter_radius(self) -> float:
        """The filter's half width in pixels, by default that of the filter."""
        if self.filter == "point":
            return 0.0
        if self.filter_radius is None:
            return FILTER_RADII[self.filter]
        return float(self.filter_radius)

    def packed(self, scale: float) -> dict[str, Any]:
        """Return the settings as fields of `Frame`.

        scale: length of a unit of render space, in scene units.
        """
        from raytracer.system.layout import enum_value

        kind, distance = self.resolved_integrator, inf
        if self.ao_distance is not None:
            distance = self.ao_distance / scale
        return {
            "width": self.width, "height": self.height, "seed": self.seed,
            "max_depth": self.max_depth, "shadows": self.shadows, "sample_count": self.samples,
            "kind": enum_value("IntegratorKind", kind),
            # with another integrator no part of the picture, nor of its digest
            "ao_samples": self.ao_samples if kind == "ao" else 0,
            "ao_distance": min(distance, UNLIMITED) if kind == "ao" else 0.0,
            "clamp_indirect": self.clamp_indirect if kind == "path" else 0.0,
            "filter": enum_value("FilterKind", self.filter),
            "filter_radius": self.resolved_filter_radius,
        }  # fmt: skip

    @classmethod
    def of_particles(cls) -> RenderSettings:
        """Return the settings of particles that come without a scene.

        The noise of the look is that of its occlusion, not that of edges: four occlusion rays per
        camera ray halve the error in the same time. With 32 samples the root mean square error is
        below 4 of 255, for a thousand particles as for a million.
        """
        return cls(look="soft", samples=32, ao_samples=4, brightness=AUTO)

    def override(self, **changes: Any) -> RenderSettings:
        """Return these settings with all changes that are not None.

        Raises:
            SceneError: a value is out of its range.
        """
        return replace(self, **{name: v for name, v in changes.items() if v is not None})


@dataclass(frozen=True, repr=False, eq=False)
class MeasureSettings(Defined):
    """How far particles are exposed, by points and rays.

    Args:
        samples: Points drawn on each particle.
        distance: Length of occlusion rays in scene units.
        probe: Radius of the ball that rolls over the particles, for the accessible area, in scene
            units. In a file in angstroms, 1.4 is a molecule of water.
        seed: Seed of the points.
    """

    samples: int = setting(256, Integer(1, MAX_SAMPLES))
    distance: float | None = setting(None, Number(0.0, above=True), default_text="unlimited")
    probe: float = setting(0.0, Number(0.0))
    seed: int = setting(0, Integer(0, MAX_SEED))
