"""What the path tracer of the tests renders: plain dataclasses, linear RGB, radiometric units."""

from dataclasses import dataclass

Triple = tuple[float, float, float]
BLACK: Triple = (0.0, 0.0, 0.0)
WHITE: Triple = (1.0, 1.0, 1.0)


@dataclass(frozen=True)
class Ball:
    """A sphere and its surface.

    The surface is a metal by the share `metallic`; of the rest, glass by the share `transmission`,
    and a diffuse base below a dielectric coat otherwise. Of overlapping glass spheres the one of
    the largest priority fills the overlap, and of equal ones the later.

    Args:
        center, radius: scene units.
        base_color: of the diffuse base, and the reflectance of the metal along the normal.
        roughness: the square root of GGX's width; 0 is smooth.
        metallic, transmission: 0 to 1.
        ior: index of refraction.
        specular: factor of the coat's reflection; 0 leaves the diffuse base alone.
        absorption: of glass, a scene unit.
        priority: of glass.
    """

    center: Triple
    radius: float = 1.0
    base_color: Triple = WHITE
    roughness: float = 1.0
    metallic: float = 0.0
    ior: float = 1.5
    transmission: float = 0.0
    specular: float = 1.0
    absorption: Triple = BLACK
    priority: int = 0


@dataclass(frozen=True)
class DirectionalLight:
    """Light that travels along `direction`, from a disk of the sky that is `angle` degrees wide.

    irradiance: of a surface that faces the light.
    """

    direction: Triple
    irradiance: Triple = WHITE
    angle: float = 1.0


@dataclass(frozen=True)
class SphereLight:
    """A lamp that emits outwards, and does not stop rays."""

    position: Triple
    radius: float
    radiance: Triple = WHITE


@dataclass(frozen=True)
class RectangleLight:
    """center, and half of each edge; emits to the side of cross(u, v), and does not stop rays."""

    center: Triple
    u: Triple
    v: Triple
    radiance: Triple = WHITE


@dataclass(frozen=True)
class DiskLight:
    """Emits to the side of `normal`, and does not stop rays."""

    center: Triple
    normal: Triple
    radius: float
    radiance: Triple = WHITE


@dataclass(frozen=True)
class Sky:
    """Radiance from below and from above, between them linear in the height of the direction."""

    bottom: Triple = BLACK
    top: Triple = BLACK
    up: Triple = (0.0, 1.0, 0.0)


Light = DirectionalLight | SphereLight | RectangleLight | DiskLight


@dataclass(frozen=True)
class PathScene:
    """Spheres and what lights them; camera rays see no lights with an extent."""

    balls: tuple[Ball, ...] = ()
    lights: tuple[Light, ...] = ()
    sky: Sky = Sky()
