"""Materials: a class for each kind, with what the kernels read of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from raytracer.field_types import Number
from raytracer.fields import Defined, definitions, setting
from raytracer.layout import code
from raytracer.scene.colors import Color, parse_color, srgb_to_linear
from raytracer.scene.kinds import ColorValue

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False)
class Material(Defined, place="material"):
    """How a surface reflects light: Phong's model (1975) with a mirror.

    With normal n, direction wi to the light, direction wo to the viewer, r = 2 (n . wi) n - wi, and
    L the linear colour of a light that reaches the point, the surface shows in linear RGB::

        (1 - mirror) * ambient * scene_ambient * color
        + sum over lights with n . wi > 0 of
            L * ((1 - mirror) * diffuse * (n . wi) * color + specular * max(r . wo, 0)**shininess)
        + mirror * mirror_color * what the ray sees that leaves along the mirror direction of wo

    The highlight has the colour of the light and is not weakened by `mirror`. No factor 1/pi and no
    normalisation of the lobe: a white surface with diffuse 1 that faces a light shows L.
    B. T. Phong, "Illumination for Computer Generated Pictures", CACM 18(6), 1975.

    Args:
        ambient: Factor of the ambient light.
        diffuse: Factor of the diffuse (Lambertian) reflection.
        specular: Factor of the highlight.
        shininess: Exponent of the highlight: the larger, the smaller the highlight.
        mirror: Share of the light that is reflected as by a mirror.
        mirror_color: Colour of the light that the mirror reflects.
        opacity: Share of the light that does not pass straight through; times that of the spheres.
    """

    type: ClassVar[str] = "phong"
    ambient: float = setting(1.0, Number(0.0, 1.0))
    diffuse: float = setting(0.9, Number(0.0, 1.0))
    specular: float = setting(0.1, Number(0.0, 1.0))
    shininess: float = setting(40.0, Number(0.0, 1e6, above=True))
    mirror: float = setting(0.0, Number(0.0, 1.0))
    mirror_color: Color = setting("#ffffff", ColorValue())
    opacity: float = setting(1.0, Number(0.0, 1.0))


@dataclass(frozen=True, repr=False, eq=False)
class Principled(Defined, place="material"):
    """How a surface scatters light: coat, metal, dielectric over a diffuse base, and glass.

    The names and meanings are those of glTF and of Blender's Principled BSDF; the base colour is
    the sphere's own. Microfacets have the GGX distribution; light that a rough metal scatters more
    than once is not lost (Kulla, Conty 2017). Mirror images, refraction and light between surfaces
    need integrator `path`; with `direct` and `ao` the material shows lights and ambient light.
    B. Walter et al., "Microfacet Models for Refraction through Rough Surfaces", EGSR 2007.

    Args:
        roughness: From 0, a mirror, to 1; the highlight's width is its square.
        metallic: Share of metal, which reflects in the sphere's colour.
        ior: Index of refraction of the dielectric and of the glass.
        specular: Factor of the reflection of the dielectric; not of glass.
        coat: Share of a smooth clear coat of index 1.5.
        transmission: Share of glass, which takes the place of the diffuse base. Light takes on the
            sphere's colour on its way in and out.
        attenuation_distance: Length of the way inside of glass, in scene units, after which white
            light has the sphere's colour; 0: light takes on the colour at the surfaces instead.
        priority: Which glass fills the place where spheres of glass overlap: that of the largest
            priority, and of equal priorities the sphere that comes last in the scene.
        emission: Radiance that the sphere sends out, times its colour.
        opacity: Share of the light that does not pass straight through; times that of the spheres.
    """

    type: ClassVar[str] = "principled"
    roughness: float = setting(0.5, Number(0.0, 1.0))
    metallic: float = setting(0.0, Number(0.0, 1.0))
    ior: float = setting(1.5, Number(1.0, 4.0))
    specular: float = setting(1.0, Number(0.0, 1.0))
    coat: float = setting(0.0, Number(0.0, 1.0))
    transmission: float = setting(0.0, Number(0.0, 1.0))
    attenuation_distance: float = setting(0.0, Number(0.0, 1e12))
    priority: float = setting(0.0, Number(-1e6, 1e6))
    emission: float = setting(0.0, Number(0.0, 1e12))
    opacity: float = setting(1.0, Number(0.0, 1.0))


AnyMaterial = Material | Principled

MATERIALS: dict[str, type[AnyMaterial]] = {
    material.type: material for material in (Material, Principled)
}
"""Kinds of material by their names in scene files, the words of the kernels' `MaterialKind`."""

HOST_FIELDS = frozenset({"opacity"})
"""Fields of materials that are packed for each surface: not in the kernels' struct."""

COLORS = frozenset({"mirror_color"})
"""Fields of materials that are colours, which kernels have in linear RGB."""

LENGTHS = frozenset({"attenuation_distance"})
"""Fields of materials in scene units, which kernels have in render space."""

DEFAULT = Material.type
"""The kind of a material that does not say it."""


def pack_material(material: AnyMaterial, entry: NDArray[np.void], scale: float = 1.0) -> None:
    """Write a material into a struct of the kernels.

    Args:
        entry: a Material, structured ().
        scale: length of a unit of render space, in scene units.
    """
    entry["kind"] = code("MaterialKind", material.type)
    parameters = entry[material.type]
    for name in definitions(type(material)):
        if name in HOST_FIELDS:
            continue
        value = getattr(material, name)
        if name in COLORS:
            parameters[name] = srgb_to_linear(parse_color(value))
            continue
        parameters[name] = value / scale if name in LENGTHS else value
