"""Materials: a class for each kind, with what the kernels read of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar

from raytracer.field_types import Number
from raytracer.fields import Defined, check_fields, define, definitions
from raytracer.layout import code

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, repr=False, eq=False)
class Material(Defined):
    """How a surface reflects light: Phong's model (1975) with a mirror.

    With normal n, direction wi to the light, direction wo to the viewer, r = 2 (n . wi) n - wi, and
    L the linear colour of a light that reaches the point, the surface shows in linear RGB::

        (1 - mirror) * ambient * scene_ambient * color
        + sum over lights with n . wi > 0 of
            L * ((1 - mirror) * diffuse * (n . wi) * color + specular * max(r . wo, 0)**shininess)
        + mirror * what the ray sees that leaves along the mirror direction of wo

    The highlight has the colour of the light and is not weakened by `mirror`. No factor 1/pi and no
    normalisation of the lobe: a white surface with diffuse 1 that faces a light shows L.
    B. T. Phong, "Illumination for Computer Generated Pictures", CACM 18(6), 1975.

    Raises:
        SceneError: a value is out of range.
    """

    type: ClassVar[str] = "phong"
    ambient: float = field(
        default=1.0, metadata=define(Number(0.0, 1.0), "Factor of the ambient light.")
    )
    diffuse: float = field(
        default=0.9,
        metadata=define(Number(0.0, 1.0), "Factor of the diffuse (Lambertian) reflection."),
    )
    specular: float = field(
        default=0.1, metadata=define(Number(0.0, 1.0), "Factor of the highlight.")
    )
    shininess: float = field(
        default=40.0,
        metadata=define(
            Number(0.0, 1e6, above=True),
            "Exponent of the highlight: the larger, the smaller the highlight.",
        ),
    )
    mirror: float = field(
        default=0.0,
        metadata=define(Number(0.0, 1.0), "Share of the light that is reflected as by a mirror."),
    )

    def __post_init__(self) -> None:
        check_fields(self, "material")


MATERIALS: dict[str, type[Material]] = {Material.type: Material}
"""Kinds of material by their names in scene files, the words of the kernels' `MaterialKind`."""

DEFAULT = Material.type
"""The kind of a material that does not say it."""


def pack_material(material: Material, entry: NDArray[np.void]) -> None:
    """Write a material into a struct of the kernels.

    Args:
        material: of any kind; its fields are the parameters of that kind in `structs.h`.
        entry: a Material, structured ().
    """
    entry["kind"] = code("MaterialKind", material.type)
    parameters = entry[material.type]
    for name in definitions(type(material)):
        parameters[name] = getattr(material, name)
