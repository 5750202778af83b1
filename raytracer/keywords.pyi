"""Settings as keyword arguments, for type checkers; None keeps the scene's.

`python docs/keyword_types.py` writes this file from the settings.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict

from raytracer.appearance.coloring.scale_types import Limit
from raytracer.appearance.glyphs import settings as glyphs
from raytracer.model.background import Background, Ground
from raytracer.model.camera import Camera
from raytracer.model.clip import Clip
from raytracer.model.colors import Color
from raytracer.model.environment import Environment
from raytracer.model.lights import Light
from raytracer.model.mesh import Mesh
from raytracer.model.views import Triple

class SourceKeywords(TypedDict, total=False):
    frame: int | None
    smoothing: int | None
    unwrap: bool | None
    format: str | None
    topology: str | PathLike[str] | None
    arrays: Mapping[str, str] | None

class ViewKeywords(TypedDict, total=False):
    view: str | None
    up: Triple | str | None
    ortho: bool | None
    zoom: float | None
    look_at: Triple | None
    fit: bool | str | None
    camera: str | PathLike[str] | Camera | None
    background: Color | Background | None
    transparent: bool | None
    ground: bool | float | str | Ground | None
    shadow_catcher: bool | None
    lights: Sequence[Light] | None
    radius: float | str | None
    color: Color | None
    opacity: float | str | None
    clip: str | Clip | None
    cut: str | None
    environment: str | Environment | None
    material: str | None
    aperture: float | None
    focus: Triple | None
    shutter: float | None
    velocity: str | Sequence[str | float] | None
    arrows: bool | str | Mapping[str, Any] | glyphs.Arrows | None
    trails: bool | str | Mapping[str, Any] | glyphs.Trails | None
    contacts: bool | str | Mapping[str, Any] | glyphs.Contacts | None
    shape: bool | str | Mapping[str, Any] | glyphs.Shape | None
    ribbons: bool | str | Mapping[str, Any] | glyphs.Ribbons | None
    polyhedra: bool | str | Mapping[str, Any] | glyphs.Polyhedra | None
    isosurface: bool | str | float | Mapping[str, Any] | glyphs.Isosurface | None
    mesh: str | Mesh | Sequence[str | Mesh] | None
    color_by: str | None
    map: str | Sequence[Color] | Mapping[str, Color] | None
    range: str | tuple[Limit, Limit] | None
    color_scale: str | None
    color_steps: int | None
    color_threshold: float | None
    missing_color: Color | None
    color_label: str | None
    color_unit: str | None
    palette: str | Mapping[str, Color] | None
    select: str | None
    rest: float | None
    wrap: bool | None
    replicate: int | str | Sequence[int] | None
    style: str | None
    bonds: bool | str | float | Mapping[str, float] | None
    bond_radius: float | None
    bond_color: Color | Mapping[str, Any] | None
    bond_select: str | None
    bond_orders: bool | None

class Keywords(ViewKeywords, total=False):
    width: int | None
    height: int | None
    samples: int | None
    filter: str | None
    filter_radius: float | None
    seed: int | None
    max_depth: int | None
    shadows: bool | None
    transparent_shadows: bool | None
    look: str | None
    light: str | tuple[float, float, float] | None
    placement: str | None
    shading: str | None
    integrator: str | None
    ao_samples: int | None
    ao_distance: float | None
    brightness: float | str | None
    clamp_indirect: float | None
    dpi: float | None
    noise: float | None
    max_samples: int | None
    denoise: bool | None

class MeasureKeywords(SourceKeywords, ViewKeywords, total=False):
    samples: int | None
    distance: float | None
    probe: float | None
    seed: int | None

class FileKeywords(SourceKeywords, Keywords, total=False): ...
