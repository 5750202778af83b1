"""Materials: a class for each type, and its packing for the kernels."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from raytracer.config.field_types import Number
from raytracer.config.fields import Defined, find_definitions, setting
from raytracer.model.colors import Color, parse_color, srgb_to_linear
from raytracer.model.key_types import ColorValue
from raytracer.system.layout import enum_value


@dataclass(frozen=True, repr=False, eq=False)
class Material(Defined, place="material"):
    """A surface with Phong's reflection model (1975) and a mirror.

    With normal n, direction wi to the light, direction wo to the viewer, r = 2 (n . wi) n - wi, and
    L the linear colour of a light that reaches the point, the surface shows in linear RGB::

        (1 - mirror) * ambient * scene_ambient * color
        + sum over lights with n . wi > 0 of
            L * ((1 - mirror) * diffuse * (n . wi) * color + specular * max(r . wo, 0)**shininess)
        + mirror * mirror_color * radiance along the mirror direction of wo

    The highlight has the colour of the light and does not depend on `mirror`. There is no factor
    1/pi and no normalisation of the lobe: a white surface with diffuse 1 that faces a light shows
    L.

    B. T. Phong, "Illumination for Computer Generated Pictures", CACM 18(6), 1975.

    Args:
        ambient: Factor of the ambient light.
        diffuse: Factor of the diffuse (Lambertian) reflection.
        specular: Factor of the highlight.
        shininess: Exponent of the highlight: the larger, the smaller the highlight.
        mirror: Fraction of mirror reflection.
        mirror_color: Colour of the mirror reflection.
        opacity: Fraction of light that does not pass straight through; multiplies that of the
            spheres.
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
    """A surface with clear coat, metal, dielectric over a diffuse base, and glass.

    Names and meanings are those of glTF and of Blender's Principled BSDF; the base colour is the
    sphere's colour. Microfacets have the GGX distribution, with compensation for multiple
    scattering of metals (Kulla, Conty 2017). Reflections, refraction and light between surfaces
    need integrator `path`; with `direct` and `ao` the material shows only lights and ambient light.

    B. Walter et al., "Microfacet Models for Refraction through Rough Surfaces", EGSR 2007.

    Args:
        roughness: From 0, a mirror, to 1; the highlight's width is its square.
        metallic: Fraction of metal, which reflects in the sphere's colour.
        ior: Index of refraction of the dielectric and of the glass.
        specular: Factor of the reflection of the dielectric, not of glass.
        coat: Fraction of a smooth clear coat of index 1.5.
        transmission: Fraction of glass, instead of the diffuse base. Light takes on the sphere's
            colour on its way in and out.
        attenuation_distance: Distance inside glass, in scene units, after which white light has the
            sphere's colour; 0: light takes on the colour at the surfaces instead.
        priority: Where spheres of glass overlap, the glass with the largest priority fills the
            space; of equal priorities the last sphere in the scene.
        emission: Emitted radiance, times the sphere's colour.
        opacity: Fraction of light that does not pass straight through; multiplies that of the
            spheres.
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
"""Material types by their names in scene files, the words of the kernels' `MaterialKind`."""

DEFAULT = Material.type


def pack_material(material: AnyMaterial, entry: NDArray[np.void], scale: float = 1.0) -> None:
    """Write a material into a struct of the kernels, a Material, structured (); scale: length of a
    unit of render space, in scene units."""
    entry["kind"] = enum_value("MaterialKind", material.type)
    parameters = entry[material.type]
    for name in find_definitions(type(material)):
        value = getattr(material, name)
        if name == "mirror_color":
            value = srgb_to_linear(parse_color(value))
        elif name == "attenuation_distance":
            value /= scale
        if name != "opacity":  # which is packed per surface
            parameters[name] = value
