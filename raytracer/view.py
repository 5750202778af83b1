"""Views: camera, lights, materials and settings of a render, as the kernels take them.

Only this module writes the fields of a packed Frame. A view is immutable: `with_` methods return
another one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from math import exp
from struct import Struct
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from raytracer.layout import code, dtype, enum, table
from raytracer.settings import UNLIMITED

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.film.film import Backdrop, Crop

MIN_SPREAD = 0.01  # minimum weight at which neighbouring pixels are used


@dataclass(frozen=True, eq=False)
class View:
    """Everything that may change between two pictures of the same spheres.

    Args:
        camera: structured (1,), `Camera`.
        lights: structured (L,), `Light`.
        materials: structured (M,), `Material`.
        frame: structured (1,), `Frame`: film (size, crop), sampler, integrator, environment
            (background, ambient light), and what the scene's tables have.
        draft: whether it is a draft whose ambient occlusion is filtered (`as_draft`).
        neighbor_weight: weight of a neighbouring pixel's samples in a draft, relative to the
            pixel's own.
    """

    camera: NDArray[np.void]
    lights: NDArray[np.void]
    materials: NDArray[np.void]
    frame: NDArray[np.void]
    draft: bool = False
    neighbor_weight: float = 0.0

    @property
    def width(self) -> int:
        return self._number("width")

    @property
    def height(self) -> int:
        return self._number("height")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the whole picture in pixels."""
        return self.width, self.height

    @property
    def crop(self) -> Crop:
        """x0, y0, x1, y1 of the rectangle to render, half open, in pixels."""
        x0, y0, x1, y1 = (self._number(name) for name in ("x0", "y0", "x1", "y1"))
        return x0, y0, x1, y1

    @property
    def first_sample(self) -> int:
        """Number of the first sample to add."""
        return self._number("sample_begin")

    @property
    def samples(self) -> int:
        return self._number("sample_count")

    @property
    def centered(self) -> bool:
        """Whether every sample goes through its pixel's centre (the point filter)."""
        return self._number("filter") == code("FilterKind", "point")

    @property
    def seed(self) -> int:
        return self._number("seed")

    @property
    def max_depth(self) -> int:
        return self._number("max_depth")

    @property
    def light_count(self) -> int:
        return self._number("light_count")

    @property
    def large_count(self) -> int:
        """Number of large spheres, which are not in the tree."""
        return self._number("large_count")

    @property
    def transparent(self) -> bool:
        return self._number("background_kind") == code("BackgroundKind", "transparent")

    @property
    def backdrop(self) -> Backdrop | None:
        """The opaque background; None if it is transparent."""
        from raytracer.film.film import Backdrop

        if self.transparent:
            return None
        (r0, g0, b0), (r1, g1, b1) = map(self._values, ("background_bottom", "background_top"))
        return Backdrop((r0, g0, b0), (r1, g1, b1))

    @property
    def has_mirrors(self) -> bool:
        """Whether a material of Phong's is a mirror."""
        phong = self.materials["kind"] == code("MaterialKind", "phong")
        return bool((phong & (self.materials["phong"]["mirror"] > 0)).any())

    @property
    def mirrors(self) -> bool:
        """Whether rays are reflected by mirrors, and a material is one."""
        return self.max_depth > 0 and self.has_mirrors

    @property
    def needs_path_tracing(self) -> bool:
        """Whether there are paths, materials other than Phong's, or lights with an extent."""
        from raytracer import _core

        return bool(_core.needs_path_tracing(self.camera, self.lights, self.materials, self.frame))

    @property
    def hides(self) -> bool:
        """Whether there are clipping planes or surfaces that are not opaque."""
        return bool(self._number("clip_count") or self._number("has_alpha"))

    @property
    def transparent_shadows(self) -> bool:
        """Whether rays to lights pass through glass."""
        return bool(self._number("transparent_shadows"))

    @property
    def nests(self) -> bool:
        """Whether paths are traced through glass, with a list of the solids they are in."""
        return bool(self._number("nested"))

    @property
    def catches_shadows(self) -> bool:
        """Whether the ground shows only shadows."""
        return bool(self._number("shadow_catcher"))

    @property
    def has_principled(self) -> bool:
        """Whether a material is not Phong's."""
        return bool((self.materials["kind"] != code("MaterialKind", "phong")).any())

    @property
    def has_emitters(self) -> bool:
        """Whether spheres or an environment map emit light."""
        return bool(self._number("emitter_count") or self._number("map_size"))

    @property
    def integrator(self) -> str:
        """The integrator, one of `INTEGRATORS`."""
        words = {number: word for word, number in enum("IntegratorKind").items()}
        return words[self._number("kind")]

    @property
    def occlusion_rays(self) -> int:
        """Occlusion rays per surface; 0 with other integrators than `ao`."""
        return self._number("ao_samples") if self.integrator == "ao" else 0

    @property
    def occlusion_distance(self) -> float:
        """Length of occlusion rays in render space; 0 where light reaches surfaces unoccluded."""
        if self.integrator == "direct":
            return 0.0
        return float(self._values("ao_distance")[0]) or UNLIMITED

    def with_size(self, width: int, height: int) -> View:
        return self.but(x0=0, y0=0, x1=width, y1=height, width=width, height=height)

    def with_crop(self, crop: Crop) -> View:
        """Return a rectangle of the picture: x0, y0, x1, y1 in pixels, half open."""
        x0, y0, x1, y1 = crop
        return self.but(x0=x0, y0=y0, x1=x1, y1=y1)

    def with_samples(self, first: int, count: int) -> View:
        """Return the view with samples `first` to `first + count - 1` to add."""
        return self.but(sample_begin=first, sample_count=count)

    def for_film(self, size: tuple[int, int], crop: Crop, first: int, count: int) -> View:
        """Return `with_size`, `with_crop` and `with_samples` in one step."""
        x0, y0, x1, y1 = crop
        width, height = size
        return self.but(
            x0=x0, y0=y0, x1=x1, y1=y1, width=width, height=height,
            sample_begin=first, sample_count=count,
        )  # fmt: skip

    def for_exposure(
        self, camera: NDArray[np.void] | None, points: int, seed: int, distance: float
    ) -> View:
        """Return the view for `DeviceScene.exposures` with points on each sphere and occlusion rays
        of a length in render space; the camera, structured (1,), is that to which surfaces are
        visible."""
        view = self.but(sample_begin=0, sample_count=points, seed=seed, ao_distance=distance)
        return view if camera is None else view.with_camera(camera)

    def with_filter(self, kind: str, radius: float) -> View:
        """Return the view with another filter of `FILTERS`; radius: in pixels."""
        return self.but(filter=code("FilterKind", kind), filter_radius=radius)

    def through_centers(self) -> View:
        """Return the view with every sample through its pixel's centre (the point filter)."""
        return self.but(filter=code("FilterKind", "point"))

    def as_draft(self, scale: float = 1.0) -> View:
        """Return the view for a picture of one sample that is soon replaced.

        Rays go through the pixels' centres. Ambient occlusion, one ray in every second row, is
        shared between neighbouring pixels. A Gaussian filter, defined for a picture 1 / `scale`
        times as wide, spreads the samples over neighbouring pixels afterwards.
        """
        fields = {"filter": code("FilterKind", "point")}
        draft = self.occlusion_rays > 0
        frame = self._frame_but(**fields, ao_samples=1) if draft else self._frame_but(**fields)
        return replace(self, frame=frame, draft=draft, neighbor_weight=self._spread(scale))

    def _spread(self, scale: float) -> float:
        """Return the filter's relative weight one pixel from its middle; 0 if it is narrow."""
        (radius,) = self._values("filter_radius")
        if self._number("filter") != code("FilterKind", "gaussian") or not radius:
            return 0.0
        weight = exp(-4.5 / (radius * scale) ** 2)  # it ends at three standard deviations
        return weight if weight > MIN_SPREAD else 0.0

    def with_camera(self, camera: NDArray[np.void]) -> View:
        return replace(self, camera=camera)

    def with_transparency(self) -> View:
        """Return the view without a background."""
        return self.but(background_kind=code("BackgroundKind", "transparent"))

    def with_lights(self, lights: NDArray[np.void], ambient: float) -> View:
        """Return the view with other lights, structured (L,), and linear ambient light."""
        return replace(self.but(light_count=len(lights), ambient=ambient), lights=lights)

    def _number(self, name: str) -> int:
        return int(self._values(name)[0])

    def _values(self, name: str) -> tuple[Any, ...]:
        form, place, _ = _places()[name]
        return form.unpack_from(cast(Any, self.frame), place)

    def but(self, **fields: Any) -> View:
        """Return the view with other numbers in fields of the Frame's parts."""
        return replace(self, frame=self._frame_but(**fields))

    def _frame_but(self, **fields: Any) -> NDArray[np.void]:
        return _with_fields(self.frame.tobytes(), self.frame.dtype, fields)


def frame_of(**fields: Any) -> NDArray[np.void]:
    """Return a Frame, structured (1,), with these fields of its parts; the others are 0."""
    frame = dtype("Frame")
    return _with_fields(bytes(frame.itemsize), frame, fields)


def _with_fields(old: bytes, frame: np.dtype[Any], fields: dict[str, Any]) -> NDArray[np.void]:
    """Write fields of a Frame's parts, and return the Frame, structured (1,), read-only. As bytes:
    a window does this for every frame, and fields of nested NumPy structs take ten times as long.
    """
    data, places = bytearray(old), _places()
    for name, value in fields.items():
        form, place, count = places[name]
        values = (value,) if count == 1 else value if np.ndim(value) else (value,) * count
        form.pack_into(data, place, *values)
    return np.frombuffer(bytes(data), frame)


@cache
def _places() -> dict[str, tuple[Struct, int, int]]:
    """Return the format, byte offset and number count of each field of a Frame's parts."""
    structs, letters = table(), {"i4": "i", "u4": "I", "f4": "f"}
    return {
        field: (Struct(f"={count}{letters[kind]}"), start + offset, count)
        for _, struct, _, start in structs["Frame"][1]
        for field, kind, count, offset in structs[struct][1]
    }
