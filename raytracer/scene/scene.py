"""What a user builds: a scene of sphere sets, a camera, lights and materials.

Lengths are in scene units, colours are sRGB unless a set says otherwise. Every object checks
itself when it is made, so that a mistake is reported where it was written.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from raytracer.arguments import is_a, items, mapping, of_kind, plain, text
from raytracer.errors import SceneError, counted, shown, shown_value, suggestion
from raytracer.scene.background import Background
from raytracer.scene.camera import Camera
from raytracer.scene.lights import LIGHTS, Ambient, DirectionalLight, Light, PointLight
from raytracer.scene.materials import MATERIALS, Material
from raytracer.scene.spheres import SphereSet
from raytracer.scene.transform import Transform
from raytracer.settings import RenderSettings

if TYPE_CHECKING:
    from raytracer.scene.coloring.scale import ColorScale
    from raytracer.scene.describe import SphereInfo

__all__ = [
    "Ambient",
    "Background",
    "Camera",
    "DirectionalLight",
    "Light",
    "Material",
    "PointLight",
    "Scene",
    "SphereSet",
    "Transform",
]


@dataclass(eq=False)
class Scene:
    """Everything that makes a picture.

    Args:
        spheres: sphere sets; without any, a picture shows the background, with a warning.
        camera: None frames all spheres from the standard direction.
        lights: None takes those of the look (`render.look`); () is darkness.
        ambient: light from all directions; None takes that of the look where `lights` is None,
            otherwise 0.1.
        background: what rays see that meet nothing.
        materials: materials that sphere sets name; "default" may be redefined here.
        render: settings used unless `raytracer.render` is told otherwise.
        title: name of the picture.
        caption: a sentence about it.
        source: the file it was loaded from, for messages.
        color_scales: what the colours of spheres mean, for a legend; in the order of the sets.

    Raises:
        SceneError: a part is of the wrong kind or names an unknown material.
    """

    spheres: Sequence[SphereSet] = ()
    camera: Camera | None = None
    lights: Sequence[Light] | None = None
    ambient: Ambient | None = None
    background: Background = field(default_factory=Background)
    materials: Mapping[str, Material] = field(default_factory=dict)
    render: RenderSettings = field(default_factory=RenderSettings)
    title: str = ""
    caption: str = ""
    source: str = ""
    color_scales: Sequence[ColorScale] = ()

    def __post_init__(self) -> None:
        self.spheres = _parts("spheres", self.spheres, SphereSet)
        if self.lights is not None:
            self.lights = _parts("lights", self.lights, tuple(LIGHTS.values()))
        self.materials = mapping(self.materials, "materials")
        for material in self.materials.values():
            of_kind(material, "materials", tuple(MATERIALS.values()))
        if self.camera is not None:
            of_kind(self.camera, "camera", Camera)
        if self.ambient is not None:
            of_kind(self.ambient, "ambient", Ambient)
        of_kind(self.background, "background", Background)
        of_kind(self.render, "render", RenderSettings)
        self.title = text(self.title, "title")
        self.caption = text(self.caption, "caption")
        self.source = text(self.source, "source")
        if self.color_scales != ():
            from raytracer.scene.coloring.scale import ColorScale as Scale

            self.color_scales = _parts("color_scales", self.color_scales, Scale)
        for index, spheres in enumerate(self.spheres):
            try:
                self.material_of(spheres)
            except SceneError as error:
                raise SceneError(f"spheres[{index}].material: {error}") from None

    @classmethod
    def from_arrays(
        cls,
        centers: Any,
        radius: Any = None,
        colors: Any = None,
        *,
        color_id: Any = None,
        color_space: str = "srgb",
        material: str | Material = "default",
        **scene: Any,
    ) -> Scene:
        """Return a scene of one sphere set.

        Args:
            centers: (N, 3), scene units; float32 and float64 are used without a copy.
            radius: one radius or (N,), scene units; None is half of the mean spacing.
            colors: one colour, or (N, 3) as uint8 in 0..255 or floating point in 0..1, or N names,
                or a palette (K, 3) for `color_id`; None is light grey. An alpha, (N, 4), is
                taken too and ignored, with a warning where it is below 1.
            color_id: integers (N,) into the palette `colors`.
            color_space: "srgb" or "linear": what the numbers of `colors` are.
            material: a `Material` or the name of one in `materials`.
            **scene: any other argument of `Scene`.

        Raises:
            SceneError: arrays that do not fit, NaN, infinity, radii that are not positive.
        """
        spheres = SphereSet(
            centers, radius, colors, color_id=color_id, color_space=color_space, material=material
        )
        return cls(spheres=(spheres,), **scene)

    @classmethod
    def from_object(
        cls,
        particles: Any,
        radius: Any = None,
        color: Any = None,
        *,
        arrays: Mapping[str, str] | None = None,
        labels: str | None = None,
        material: str | Material = "default",
        **scene: Any,
    ) -> Scene:
        """Return a scene of an object of another package, with a fitted camera and the look soft.

        Positions, radii, colours and elements are found as in a particle file. Arrays are used
        without a copy where the package gives its own; no package is imported.

        Args:
            particles: Atoms of ASE, a Universe or AtomGroup of MDAnalysis, a DataCollection or
                Pipeline of OVITO, a Frame of gsd, a DataFrame of pandas or polars, a Table of
                pyarrow, a DataSet of PyVista; an array (N, 3), (N, 4) with radii, (T, N, 3) of
                frames or (N,) of records; or a dictionary of arrays by name.
            radius: one radius or (N,), before those of the object.
            color: one colour or (N, 3), before those of the object.
            arrays: the object's own names by "centers", "radii", "diameters", "colors", "x", "y",
                "z", "r", "g", "b".
            labels: "elements" or "types": what the labels of atoms are; None decides by them.
            material: a `Material` or the name of one in `materials`.
            **scene: any other argument of `Scene`.

        Raises:
            SceneError: there are no particles in it, or an argument is wrong.
            DataFileError: its columns make no spheres.
        """
        from raytracer.scene.particles.objects.sphere_set import sphere_set_of

        spheres = sphere_set_of(
            particles, radius, color, arrays=arrays, labels=labels, material=material
        )
        scene.setdefault("render", RenderSettings(look="soft"))
        return cls(spheres=(spheres,), **scene)

    def __repr__(self) -> str:
        name = f" {shown_value(self.title)}" if self.title else ""
        sets = len(self.spheres)
        fitted = self.camera is None or self.camera.fit
        parts = [
            f"{counted(self.count, 'sphere')} in {counted(sets, 'set')}",
            "fitted camera" if fitted else f"camera at {self.camera.position}",  # type: ignore[union-attr]
            "standard light" if self.lights is None else f"{len(self.lights)} lights",
            f"{self.render.width}x{self.render.height}",
        ]
        return f"<Scene{name}: {', '.join(parts)}>"

    @property
    def count(self) -> int:
        """Number of spheres in all sets together."""
        return sum(spheres.count for spheres in self.spheres)

    def describe(self, prim_id: int) -> SphereInfo:
        """Return all that is known of one sphere, what its data file says of it included.

        Args:
            prim_id: its number in the order of the sets, from 0; the output variable "id".

        Returns:
            `id`, `set_index`, `row`, `position` and `radius` (scene units), `color` (sRGB),
            `material`, `source` and `values`: what else the file says, read from it now; and
            `lines()`, the same for people.

        Raises:
            SceneError: there is no such sphere.
        """
        from raytracer.scene.describe import describe

        return describe(self, prim_id)

    def fitted_camera(self, width: int | None = None, height: int | None = None) -> Camera:
        """Return the camera of a picture, with its position also where the camera is fitted.

        With it instead of the scene's, a picture of the same proportions is the same, and stays so
        when spheres are added.

        Args:
            width, height: size of the picture in pixels; None takes that of `render`.

        Raises:
            SceneError: a sphere that float32 cannot hold.
        """
        from raytracer.scene.packing.pack import camera_of

        return camera_of(self, self.render.override(width=width, height=height))

    def material_of(self, spheres: SphereSet) -> Material:
        """Return the material of a sphere set.

        Raises:
            SceneError: the set names a material that the scene does not have.
        """
        material = spheres.material
        if not isinstance(material, str):
            return material
        if material in self.materials:
            return self.materials[material]
        if material == "default":
            return Material()
        hint = suggestion(material, [*self.materials, "default"])
        raise SceneError(f"there is no material named '{shown(material)}'; {hint}")


def _parts(name: str, values: Any, kind: type | tuple[type, ...]) -> Sequence[Any]:
    """Return parts of a scene; refuses what is no sequence, or of the wrong kind."""
    own = plain(values)
    if not is_a(own, Sequence) or is_a(own, (str, bytes, memoryview)):
        raise SceneError(f"{name}: {shown_value(values)} is no list")
    found: Sequence[Any] = own if is_a(own, (list, tuple)) else items(own, name)
    for value in found:
        of_kind(value, name, kind)
    return found
