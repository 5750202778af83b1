"""Materials: a class for each kind, with what the kernels read of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from raytracer.arguments import real
from raytracer.scene.looks import set_field

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Material:
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

    Args:
        ambient: factor of the ambient light, 0..1.
        diffuse: factor of the diffuse (Lambertian) reflection, 0..1.
        specular: factor of the highlight, 0..1.
        shininess: exponent of the highlight, above 0.
        mirror: share of the light that is reflected as by a mirror, 0..1.
    """

    type: ClassVar[str] = "phong"
    ambient: float = 1.0
    diffuse: float = 0.9
    specular: float = 0.1
    shininess: float = 40.0
    mirror: float = 0.0

    def __post_init__(self) -> None:
        for name in ("ambient", "diffuse", "specular", "mirror"):
            value = real(getattr(self, name), f"material.{name}", 0.0, 1.0)
            set_field(self, name, value)
        shininess = real(self.shininess, "material.shininess", 0.0, 1e6, above=True)
        set_field(self, "shininess", shininess)

    def pack(self, entry: NDArray[np.void]) -> None:
        """Write the material into a struct of the kernels, a Material, structured ()."""
        for name in ("ambient", "diffuse", "specular", "shininess", "mirror"):
            entry[name] = getattr(self, name)


MATERIALS: dict[str, type[Material]] = {Material.type: Material}
"""Kinds of material by their names; scene files have only one, and do not name it yet."""
