"""Views: camera, lights, materials and settings of a render, as the kernels take them.

Only this module writes the fields of a packed Frame. A view is immutable: `with_` methods return
another one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import exp
from struct import Struct
from typing import TYPE_CHECKING, Any, Generic, TypeVar, cast

import numpy as np

from raytracer.model.settings import UNLIMITED
from raytracer.system.layout import (
    empty_structs,
    enum_value,
    enum_values,
    load_layout,
    struct_dtype,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.film.film import Backdrop, Crop

Value = TypeVar("Value", int, bool)

MIN_SPREAD = 0.01  # minimum weight at which neighbouring pixels are used


class _Field(Generic[Value]):
    """A number of the Frame's parts, by its name there, as an attribute of a view."""

    def __init__(self, name: str, kind: Callable[[int], Value]) -> None:
        self._name = name
        self._kind: Callable[[int], Value] = kind

    def __get__(self, view: View, _: object) -> Value:
        return self._kind(view._number(self._name))


@dataclass(frozen=True, eq=False)
class View:
    """Everything that may change between two pictures of the same spheres."""

    camera: NDArray[np.void]  # structured (1,), `Camera`
    lights: NDArray[np.void]  # structured (L,), `Light`
    materials: NDArray[np.void]  # structured (M,), `Material`
    # Structured (1,), `Frame`: film (size, crop), sampler, integrator, environment (background,
    # ambient light), and what the scene's tables have.
    frame: NDArray[np.void]
    # Structured (M,), `EnvironmentTexel`: the corners of the environment map, row by row, then the
    # `EnvironmentQuad` of its blocks, made of them; (0,) without.
    sky: NDArray[np.void] = field(default_factory=partial(empty_structs, "EnvironmentTexel"))
    draft: bool = False  # whether it is a draft whose ambient occlusion is filtered (`as_draft`)
    neighbor_weight: float = 0.0  # of a neighbouring pixel's samples in a draft; the own have 1

    width = _Field("width", int)
    height = _Field("height", int)
    first_sample = _Field("sample_begin", int)  # number of the first sample to add
    samples = _Field("sample_count", int)
    seed = _Field("seed", int)
    max_depth = _Field("max_depth", int)
    light_count = _Field("light_count", int)
    large_count = _Field("large_count", int)  # of large spheres, which are not in the tree
    transparent_shadows = _Field("transparent_shadows", bool)  # rays to lights pass through glass
    nests = _Field("nested", bool)  # paths through glass have a list of the solids they are in
    catches_shadows = _Field("shadow_catcher", bool)  # the ground shows only shadows

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
    def centered(self) -> bool:
        """Whether every sample goes through its pixel's centre (the point filter)."""
        return self._number("filter") == enum_value("FilterKind", "point")

    @property
    def transparent(self) -> bool:
        return self._number("background_kind") == enum_value("BackgroundKind", "transparent")

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
        phong = self.materials["kind"] == enum_value("MaterialKind", "phong")
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
    def has_principled(self) -> bool:
        """Whether a material is not Phong's."""
        return bool((self.materials["kind"] != enum_value("MaterialKind", "phong")).any())

    @property
    def has_emitters(self) -> bool:
        """Whether spheres or an environment map are sampled as lights."""
        return bool(self._number("emitter_count") or self._number("map_size"))

    @property
    def integrator(self) -> str:
        """The integrator, one of `INTEGRATORS`."""
        words = {number: word for word, number in enum_values("IntegratorKind").items()}
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

    def through_centers(self) -> View:
        """Return the view with every sample through its pixel's centre (the point filter)."""
        return self.but(filter=enum_value("FilterKind", "point"))

    def as_draft(self, scale: float = 1.0) -> View:
        """Return the view for a picture of one sample that is soon replaced.

        Rays go through the pixels' centres. Ambient occlusion, one ray in every second row, is
        shared between neighbouring pixels. A Gaussian filter, defined for a picture 1 / `scale`
        times as wide, spreads the samples over neighbouring pixels afterwards.
        """
        (radius,), draft, weight = self._values("filter_radius"), self.occlusion_rays > 0, 0.0
        if self._number("filter") == enum_value("FilterKind", "gaussian") and radius:
            # of the filter one pixel from its middle; it ends at three standard deviations
            weight = exp(-4.5 / (radius * scale) ** 2)
        view = self.through_centers()
        return replace(
            view.but(ao_samples=1) if draft else view, draft=draft,
            neighbor_weight=weight if weight > MIN_SPREAD else 0.0,
        )  # fmt: skip

    def with_lights(self, lights: NDArray[np.void], ambient: float) -> View:
        """Return the view with other lights, structured (L,), and linear ambient light."""
        return replace(self.but(light_count=len(lights), ambient=ambient), lights=lights)

    def arrays(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yield by name the arrays that the others are made of, and the fields of the frame: what
        lies between them is undefined."""
        yield from (("camera", self.camera), ("lights", self.lights), ("materials", self.materials))
        yield "sky", self.sky["radiance"]
        for part in self.frame.dtype.names or ():
            for name in self.frame.dtype[part].names or ():
                yield f"{part}.{name}", self.frame[part][name]

    def _number(self, name: str) -> int:
        return int(self._values(name)[0])

    def _values(self, name: str) -> tuple[Any, ...]:
        form, place, _ = _field_layout()[name]
        return form.unpack_from(cast(Any, self.frame), place)

    def but(self, **fields: Any) -> View:
        """Return the view with other numbers in fields of the Frame's parts."""
        frame = _write_fields(self.frame.tobytes(), self.frame.dtype, fields)
        return replace(self, frame=frame)


def make_frame(**fields: Any) -> NDArray[np.void]:
    """Return a Frame, structured (1,), with these fields of its parts; the others are 0."""
    frame = struct_dtype("Frame")
    return _write_fields(bytes(frame.itemsize), frame, fields)


def _write_fields(old: bytes, frame: np.dtype[Any], fields: dict[str, Any]) -> NDArray[np.void]:
    """Write fields of a Frame's parts, and return the Frame, structured (1,), read-only. As bytes:
    a window does this for every frame, and fields of nested NumPy structs take ten times as long.
    """
    data, places = bytearray(old), _field_layout()
    for name, value in fields.items():
        form, place, count = places[name]
        values = (value,) if count == 1 else value if np.ndim(value) else (value,) * count
        form.pack_into(data, place, *values)
    return np.frombuffer(bytes(data), frame)


@cache
def _field_layout() -> dict[str, tuple[Struct, int, int]]:
    """Return the format, byte offset and number count of each field of a Frame's parts."""
    structs, letters = load_layout(), {"i4": "i", "u4": "I", "f4": "f"}
    return {
        field: (Struct(f"={count}{letters[kind]}"), start + offset, count)
        for _, struct, _, start in structs["Frame"][1]
        for field, kind, count, offset in structs[struct][1]
    }
