"""A scene: sets of spheres and solids, camera, lights and materials.

Lengths are in scene units, colours are sRGB unless a set says otherwise. Each object checks its
arguments, so that errors are reported where they were made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from raytracer.config.arguments import (
    check_items,
    check_kind,
    check_mapping,
    check_text,
    check_whole,
)
from raytracer.config.errors import (
    SceneError,
    pluralize,
    prefix_errors,
    quote,
    quote_value,
    suggest,
)
from raytracer.config.field_types import import_name
from raytracer.config.inferred import name_set
from raytracer.config.tone_settings import ToneSettings
from raytracer.model.background import Background, Ground
from raytracer.model.camera import Camera
from raytracer.model.lights import LIGHTS, Ambient, Light
from raytracer.model.materials import MATERIALS, AnyMaterial, Material, Principled
from raytracer.model.parts import GLYPHS
from raytracer.model.presets import PRESETS
from raytracer.model.settings import RenderSettings
from raytracer.model.solids import CapsuleSet, ConeSet, EllipsoidSet, SolidSet
from raytracer.model.sphere_set import SphereSet

if TYPE_CHECKING:
    from raytracer.appearance.coloring.scale import ColorScale
    from raytracer.appearance.columns import Columns
    from raytracer.appearance.describe import SphereInfo
    from raytracer.appearance.glyphs import settings as glyphs
    from raytracer.model.animation import AnimationSettings
    from raytracer.model.annotations import Annotations
    from raytracer.model.clip import Clip
    from raytracer.model.environment import Environment
    from raytracer.model.mesh import Mesh


PARTS = {
    "render": "raytracer.model.settings:RenderSettings",
    "tone": "raytracer.config.tone_settings:ToneSettings",
    "background": "raytracer.model.background:Background",
    "ground": "raytracer.model.background:Ground",
    "clip": "raytracer.model.clip:Clip",
    "environment": "raytracer.model.environment:Environment",
    "camera": "raytracer.model.camera:Camera",
    "ambient": "raytracer.model.lights:Ambient",
    "animation": "raytracer.model.animation:AnimationSettings",
    "annotations": "raytracer.model.annotations:Annotations",
    **{name: f"raytracer.appearance.glyphs.settings:{name.capitalize()}" for name in GLYPHS},
}
"""Parts of a scene that are one object, with module and class, imported on demand."""


SOLIDS = {
    "capsule": "capsules", "cone": "cones", "ellipsoid": "ellipsoids", "triangle": "meshes"
}  # fmt: skip
"""Sets of solids of a scene, in the order of packing, by the noun of one."""


@dataclass(eq=False)
class Scene:
    """Everything that makes a picture.

    Args:
        spheres: sphere sets; without any, a picture shows the background, with a warning.
        camera: None frames all spheres from the standard direction.
        lights: None takes those of the look (`render.look`); () is darkness.
        ambient: light from all directions; None takes that of the look if `lights` is None,
            otherwise 0.1.
        background: what is visible where there is no sphere.
        materials: materials that sets refer to by name; "default" may be redefined here.
        render: default settings of `raytracer.render`.
        tone: default exposure and tone curve of `raytracer.render`.
        title: name of the picture.
        caption: a sentence about it.
        source: the file it was loaded from, for messages.
        color_scales: meaning of the spheres' colours, for a legend; in the order of the sets.
        animation: frames, time and camera motion for `raytracer.animate`.
        annotations: what is drawn over the picture: legend, scale bar, axes, box, ...
        clip: clipping planes; None shows everything.
        environment: light from all directions; None takes the ambient light and the background.
        ground: a plane below the spheres, or None.
        capsules: capsule sets: bonds, rods, lines.
        cones: cone sets: tips of arrows, funnels.
        ellipsoids: ellipsoid sets: liquid crystals, tensors.
        meshes: triangle meshes: walls, substrates, isosurfaces.
        arrows: arrows at particles along a vector of their data.
        trails: paths of particles over the frames of their file.
        contacts: contacts between particles; the thickness shows the force.
        shape: particles as ellipsoids, by their axes and orientations.
        ribbons: proteins and nucleic acids as ribbons.
        polyhedra: coordination polyhedra, the hulls of the neighbours of atoms.
        isosurface: surfaces of equal values of a grid, such as an electron density.

    Raises:
        SceneError: a part is of the wrong type or refers to an unknown material.
    """

    spheres: Sequence[SphereSet] = ()
    camera: Camera | None = None
    lights: Sequence[Light] | None = None
    ambient: Ambient | None = None
    background: Background = field(default_factory=Background)
    materials: Mapping[str, AnyMaterial] = field(default_factory=dict)
    render: RenderSettings = field(default_factory=RenderSettings)
    title: str = ""
    caption: str = ""
    source: str = ""
    color_scales: Sequence[ColorScale] = ()
    animation: AnimationSettings | None = None
    tone: ToneSettings = field(default_factory=ToneSettings)
    annotations: Annotations | None = None
    ground: Ground | None = None
    clip: Clip | None = None
    environment: Environment | None = None
    capsules: Sequence[CapsuleSet] = ()
    cones: Sequence[ConeSet] = ()
    ellipsoids: Sequence[EllipsoidSet] = ()
    arrows: glyphs.Arrows | None = None
    trails: glyphs.Trails | None = None
    contacts: glyphs.Contacts | None = None
    shape: glyphs.Shape | None = None
    meshes: Sequence[Mesh] = ()
    ribbons: glyphs.Ribbons | None = None
    polyhedra: glyphs.Polyhedra | None = None
    isosurface: glyphs.Isosurface | None = None

    def __post_init__(self) -> None:
        self.spheres = _check_parts("spheres", self.spheres, SphereSet)
        for noun, name in SOLIDS.items():
            sets = _check_parts(name, getattr(self, name), SolidSet)
            setattr(self, name, sets)
            if wrong := next((each for each in sets if each.noun != noun), None):
                raise SceneError(f"{name}: holds a set of {wrong.noun}s")
        if self.lights is not None:
            self.lights = _check_parts("lights", self.lights, tuple(LIGHTS.values()))
        self.materials = check_mapping(self.materials, "materials")
        for material in self.materials.values():
            check_kind(material, "materials", tuple(MATERIALS.values()))
        for name, home in PARTS.items():
            value = getattr(self, name)
            if value is not None or name in ("background", "render", "tone"):
                check_kind(value, name, import_name(home))
        for name in ("title", "caption", "source"):
            setattr(self, name, check_text(getattr(self, name), name))
        if not isinstance(self.color_scales, tuple) or self.color_scales:
            scale = import_name("raytracer.appearance.coloring.scale:ColorScale")
            self.color_scales = _check_parts("color_scales", self.color_scales, scale)
        for name in ("spheres", *SOLIDS.values()):
            for index, each in enumerate(getattr(self, name)):
                with prefix_errors(f"{name}[{index}].material"):
                    self.material_of(each)
        if self.ground is not None:
            with prefix_errors("ground.material"):
                material = self.material_of(self.ground)
                if getattr(material, "emission", 0) or getattr(material, "transmission", 0):
                    raise SceneError(
                        "emits or transmits light, which a ground cannot; choose another material"
                    )

    @classmethod
    def from_arrays(
        cls,
        centers: Any,
        radius: Any = None,
        colors: Any = None,
        *,
        color_id: Any = None,
        color_space: str = "srgb",
        material: str | AnyMaterial = "default",
        columns: Mapping[str, Any] | None = None,
        velocity: Any = None,
        **scene: Any,
    ) -> Scene:
        """Return a scene of one sphere set.

        Args:
            centers, radius, colors: (N, 3), one or (N,), one colour or (N, 3), scene units; these
                and the others are as for `SphereSet`.
            **scene: any other argument of `Scene`.

        Raises:
            SceneError: arrays of wrong shape, NaN, infinity, radii that are not positive.
        """
        spheres = SphereSet(
            centers, radius, colors, color_id=color_id, color_space=color_space, material=material,
            columns=columns, velocity=velocity,
        )  # fmt: skip
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
        material: str | AnyMaterial = "default",
        frame: int | None = None,
        **scene: Any,
    ) -> Scene:
        """Return a scene of an object of another package, shown as a particle file without a scene.

        Positions, radii, colours and elements are found as in a particle file. Arrays are used
        without a copy if possible; no package is imported.

        Args:
            particles: Atoms of ASE, a Universe or AtomGroup of MDAnalysis, a Mol of RDKit, a
                DataCollection or Pipeline of OVITO, a Frame of gsd, a DataFrame of pandas or
                polars, a Table of pyarrow, a DataSet of PyVista; an array (N, 3), (N, 4) with
                radii, (T, N, 3) of frames or (N,) of records; or a dictionary of arrays by name.
                Also trajectories (a list of Atoms, a Trajectory of ASE or gsd, a MultiBlock).
            radius: one radius or (N,), instead of the object's.
            color: one colour or (N, 3), instead of the object's.
            arrays: names in the object for "centers", "radii", "diameters", "colors", "x", "y",
                "z", "r", "g", "b".
            labels: meaning of atom labels, "elements" or "types"; None decides by the labels.
            material: a `Material`, a `Principled` or the name of one in `materials`.
            frame: frame of a trajectory, from 0, or from -1 backwards; None is the first one, or
                the current one of MDAnalysis and OVITO.
            **scene: any other argument of `Scene`.

        Raises:
            SceneError: the object has no particles, or an argument is wrong.
            DataFileError: its columns are not those of spheres.
        """
        from raytracer.particles.objects.registry import read_object
        from raytracer.scene_files.bare import particle_defaults, set_radii

        if frame is not None:
            frame = check_whole(frame, "frame")
        with name_set("spheres"):
            data = read_object(particles, arrays, labels, frame)
            if radius is None:
                set_radii(data)
            spheres = SphereSet.of_particles(data, radius, color, material=material)
        if data.may_be_ellipsoids and radius is None:
            from raytracer.appearance.glyphs.shape import choose_default_shape

            scene = {"shape": choose_default_shape(spheres)} | scene
        return cls(spheres=(spheres,), **(particle_defaults(data) | scene))

    def __repr__(self) -> str:
        name = f" {quote_value(self.title)}" if self.title else ""
        parts = [pluralize(number, noun) for noun, number in self.counts().items()]
        return f"<Scene{name}: {', '.join(parts)}>"

    @property
    def count(self) -> int:
        """Number of spheres in all sets together."""
        return sum(spheres.count for spheres in self.spheres)

    def counts(self) -> dict[str, int]:
        """Return the numbers by "sphere", "capsule", "cone", "ellipsoid" and "triangle"."""
        solids = {
            noun: sum(each.count for each in getattr(self, name)) for noun, name in SOLIDS.items()
        }
        return {"sphere": self.count, **{noun: n for noun, n in solids.items() if n}}

    @property
    def capsule_count(self) -> int:
        """Number of capsules in all sets together."""
        return sum(capsules.count for capsules in self.capsules)

    @property
    def solids(self) -> list[SolidSet]:
        """Sets of capsules, cones, ellipsoids and triangles, in the order of packing."""
        return [each for name in SOLIDS.values() for each in getattr(self, name)]

    @property
    def solid_count(self) -> int:
        """Number of capsules, cones, ellipsoids and triangles in all sets."""
        return sum(each.count for each in self.solids)

    @property
    def columns(self) -> Columns:
        """Values of the particles by name, of the only set with data; see `Columns`.

        Raises:
            SceneError: several sets have data: use `scene.spheres[0].columns`.
        """
        sets = [spheres for spheres in self.spheres if spheres.source] or list(self.spheres)
        if len(sets) != 1:
            raise SceneError(
                f"the scene has {pluralize(len(sets), 'set')} of particles: take the columns of "
                "one, "
                "such as scene.spheres[0].columns"
            )
        return sets[0].columns

    def styled(
        self,
        *,
        radius: float | str | None = None,
        opacity: float | str | None = None,
        **settings: Any,
    ) -> Scene:
        """Return the scene with particles coloured, sized or selected by their data.

        Args:
            radius: a number, or an expression over columns: "0.5*vdw".
            opacity: a number from 0 to 1, or an expression over columns.
            **settings: `color_by`, `map`, `range`, `color_scale`, `palette`, `select` and others,
                as for `raytracer.render`.

        Raises:
            UserError: there is no such setting, a column is missing, or an expression is wrong.
        """
        from raytracer.appearance.coloring.apply import style_scene
        from raytracer.appearance.coloring.style import StyleSettings

        return style_scene(self, StyleSettings(**settings), radius, opacity)

    def describe(self, prim_id: int) -> SphereInfo:
        """Describe one sphere, including its values in the data file or in arrays.

        Args:
            prim_id: its index in the order of the sets, from 0; the output variable "id".

        Returns:
            `id`, `set_index`, `row`, `position` and `radius` (scene units), `color` (sRGB),
            `material`, `source` and `values`: the other values of its file, read now, or of arrays;
            and `lines()`, the same as text.

        Raises:
            SceneError: there is no such sphere.
        """
        from raytracer.appearance.describe import describe

        return describe(self, prim_id)

    def fitted_camera(self, width: int | None = None, height: int | None = None) -> Camera:
        """Return the camera of a picture, with its fitted position.

        Used instead of the scene's camera, it gives the same picture for the same proportions, even
        after spheres are added. If a picture leaves room for a legend or a title, or frames the
        box, its camera is `Image.camera`.

        Args:
            width, height: size of the picture in pixels; None takes that of `render`.

        Raises:
            SceneError: float32 cannot hold a sphere.
        """
        from raytracer.packing.pack import pack_with_camera

        return pack_with_camera(self, self.render.override(width=width, height=height))[1]

    def surfaces(self) -> list[SphereSet]:
        """Return the nonempty sets, and the ground, unless there is nothing else.

        Capsules and cones are the balls at their starts, ellipsoids the balls around them,
        triangles the balls at their middles. The ground is a set of one sphere, of which only
        colour and material matter.
        """
        sets = [self._color_by_preset(spheres) for spheres in self.spheres if spheres.count]
        sets += [self._color_by_preset(solids.start) for solids in self.solids if solids.count]
        if self.ground is None or not sets:
            return sets
        ground = self.ground
        return [*sets, SphereSet([[0.0, 0.0, 0.0]], 1.0, ground.color, material=ground.material)]

    def _color_by_preset(self, spheres: SphereSet) -> SphereSet:
        """Return a set in the colour of its ready-made material, if it has no colour."""
        name = spheres.material
        if spheres.has_color or not isinstance(name, str) or name in self.materials:
            return spheres
        return spheres.in_color(PRESETS[name].color) if name in PRESETS else spheres

    def material_of(self, surface: SphereSet | SolidSet | Ground) -> AnyMaterial:
        """Return the material of a set or of the ground; a plain one for flat shading.

        Raises:
            SceneError: the scene does not have a material of that name.
        """
        if self.render.shading == "flat":
            return Material()
        material = surface.material
        if not isinstance(material, str):
            return material
        if material in self.materials:
            return self.materials[material]
        if material == "default":
            return Material()
        if material in PRESETS:
            return Principled(**PRESETS[material].parameters)
        hint = suggest(material, {**self.materials, "default": None, **PRESETS})
        raise SceneError(f"there is no material named '{quote(material)}'; {hint}")


def _check_parts(name: str, values: Any, kind: type | tuple[type, ...]) -> Sequence[Any]:
    parts = values if isinstance(values, (list, tuple)) else check_items(values, name)
    for part in parts:
        if not isinstance(part, kind):
            check_kind(part, name, kind)  # raises
    return parts
