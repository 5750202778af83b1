"""The scene model: sphere sets, solids, and a scene with camera, lights and materials.

A set holds arrays of centres, radii and colours, never an object per sphere. Lengths are in scene
units, colours are sRGB unless a set says otherwise. Each object checks its arguments, so that
errors are reported where they were made.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field
from importlib import import_module
from math import prod
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.arguments import items, mapping, of_kind, one_of, text, whole
from raytracer.errors import SceneError, counted, naming, shown, shown_value, suggestion
from raytracer.film.tone_settings import ToneSettings
from raytracer.scene.arrays import (
    OnDemand,
    Where,
    as_array,
    check_centers,
    check_radius,
    given,
    left_there,
)
from raytracer.scene.background import Background
from raytracer.scene.camera import Camera
from raytracer.scene.colors import COLOR_SPACES, Color, parse_color
from raytracer.scene.ground import Ground
from raytracer.scene.inferred import making_set
from raytracer.scene.lights import LIGHTS, Ambient, Light
from raytracer.scene.materials import MATERIALS, AnyMaterial, Material
from raytracer.scene.particles.data_file import DataFile
from raytracer.scene.particles.source import Box, Data, Moment, Particles
from raytracer.scene.presets import PRESETS
from raytracer.scene.set_colors import SetColors, colors_of, opacities_of
from raytracer.scene.spacing import default_radius
from raytracer.scene.transform import Transform
from raytracer.settings import RenderSettings
from raytracer.warning import warn

if TYPE_CHECKING:
    from raytracer.device_array import DeviceArray
    from raytracer.scene.animation import AnimationSettings
    from raytracer.scene.annotations import Annotations
    from raytracer.scene.bond_settings import Bonding
    from raytracer.scene.clip import Clip
    from raytracer.scene.coloring.scale import ColorScale
    from raytracer.scene.columns import Columns
    from raytracer.scene.describe import SphereInfo
    from raytracer.scene.environment import Environment
    from raytracer.scene.glyphs.settings import (
        Arrows,
        Contacts,
        Isosurface,
        Polyhedra,
        Ribbons,
        Shape,
        Trails,
    )
    from raytracer.scene.mesh import Mesh
    from raytracer.scene.particles.labels import Labels
    from raytracer.scene.solids import ConeSet, EllipsoidSet


ARRAYS = ("centers", "radius", "color", "color_id", "opacity", "labels", "rows")
"""Attributes with a value for each sphere."""
UNIFORM = ("radius", "color", "color_id", "opacity")
"""Those of which one value may be that of all spheres."""

POSITION_BITS = 30  # of a sphere in its cell and of the steps along the edges, together
MAX_COUNT = 1024  # boxes along an edge, as `kMaxImageRanges` in the kernels admits

ROW = 64  # most bytes per image of a particle: centre, radius, colour, row and label

PARTS = {
    "render": "settings.RenderSettings",
    "tone": "film.tone_settings.ToneSettings",
    "background": "scene.background.Background",
    "ground": "scene.ground.Ground",
    "clip": "scene.clip.Clip",
    "environment": "scene.environment.Environment",
    "camera": "scene.camera.Camera",
    "ambient": "scene.lights.Ambient",
    "animation": "scene.animation.AnimationSettings",
    "annotations": "scene.annotations.Annotations",
    "arrows": "scene.glyphs.settings.Arrows",
    "trails": "scene.glyphs.settings.Trails",
    "contacts": "scene.glyphs.settings.Contacts",
    "shape": "scene.glyphs.settings.Shape",
    "ribbons": "scene.glyphs.settings.Ribbons",
    "polyhedra": "scene.glyphs.settings.Polyhedra",
    "isosurface": "scene.glyphs.settings.Isosurface",
}
"""Parts of a scene that are one object, with module and class, imported on demand."""


def class_of(home: str) -> type:
    module, _, name = home.rpartition(".")
    kind: type = getattr(import_module(f"raytracer.{module}"), name)
    return kind


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
    arrows: Arrows | None = None
    trails: Trails | None = None
    contacts: Contacts | None = None
    shape: Shape | None = None
    meshes: Sequence[Mesh] = ()
    ribbons: Ribbons | None = None
    polyhedra: Polyhedra | None = None
    isosurface: Isosurface | None = None

    def __post_init__(self) -> None:
        self.spheres = _parts("spheres", self.spheres, SphereSet)
        self.capsules = _parts("capsules", self.capsules, CapsuleSet)
        self.cones = _solids("cones", "cone", self.cones)
        self.ellipsoids = _solids("ellipsoids", "ellipsoid", self.ellipsoids)
        self.meshes = _solids("meshes", "triangle", self.meshes)
        if self.lights is not None:
            self.lights = _parts("lights", self.lights, tuple(LIGHTS.values()))
        self.materials = mapping(self.materials, "materials")
        for material in self.materials.values():
            of_kind(material, "materials", tuple(MATERIALS.values()))
        for name, home in PARTS.items():
            value = getattr(self, name)
            if value is not None or name in ("background", "render", "tone"):
                of_kind(value, name, class_of(home))
        for name in ("title", "caption", "source"):
            setattr(self, name, text(getattr(self, name), name))
        if self.color_scales != ():
            scale = class_of("scene.coloring.scale.ColorScale")
            self.color_scales = _parts("color_scales", self.color_scales, scale)
        for name in ("spheres", "capsules", "cones", "ellipsoids", "meshes"):
            for index, each in enumerate(getattr(self, name)):
                with naming(f"{name}[{index}].material"):
                    self.material_of(each)
        if self.ground is not None:
            with naming("ground.material"):
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
        **scene: Any,
    ) -> Scene:
        """Return a scene of one sphere set.

        Args:
            centers: (N, 3), scene units; float32 and float64 are used without a copy.
            radius: one radius or (N,), scene units; None lets neighbours touch.
            colors: one colour, or (N, 3) as uint8 in 0..255 or numbers in 0..1, or N names, or a
                palette (K, 3) for `color_id`; None is light grey. An alpha channel, (N, 4), is
                ignored, with a warning if it is below 1.
            color_id: integers (N,) into the palette `colors`.
            color_space: colour space of the numbers in `colors`, "srgb" or "linear".
            material: a `Material`, a `Principled` or the name of one in `materials`.
            columns: further values of the spheres by name, arrays (N,) or (N, K), to colour, size
                and select by.
            **scene: any other argument of `Scene`.

        Raises:
            SceneError: arrays of wrong shape, NaN, infinity, radii that are not positive.
        """
        spheres = SphereSet(
            centers,
            radius,
            colors,
            color_id=color_id,
            color_space=color_space,
            material=material,
            columns=columns,
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
        from raytracer.scene.bare import close_surface, defaults_of
        from raytracer.scene.particles.objects.registry import read_object

        if frame is not None:
            frame = whole(frame, "frame")
        with making_set("spheres"):
            data = read_object(particles, arrays, labels, frame)
            if radius is None:
                close_surface(data)
            spheres = SphereSet.of_particles(data, radius, color, material=material)
        return cls(spheres=(spheres,), **(defaults_of(data) | scene))

    def __repr__(self) -> str:
        name = f" {shown_value(self.title)}" if self.title else ""
        others = list(self.counts().items())[1:]
        fitted = self.camera is None or self.camera.fit
        parts = [
            f"{counted(self.count, 'sphere')} in {counted(len(self.spheres), 'set')}",
            *(counted(number, noun) for noun, number in others),
            "fitted camera" if fitted else f"camera at {self.camera.position}",  # type: ignore[union-attr]
            "standard light" if self.lights is None else f"{len(self.lights)} lights",
            f"{self.render.width}x{self.render.height}",
        ]
        return f"<Scene{name}: {', '.join(parts)}>"

    @property
    def count(self) -> int:
        """Number of spheres in all sets together."""
        return sum(spheres.count for spheres in self.spheres)

    def counts(self) -> dict[str, int]:
        """Return the numbers by "sphere", "capsule", "cone", "ellipsoid" and "triangle"."""
        solids = {noun: sum(each.count for each in s) for noun, s in self._solid_sets().items()}
        return {"sphere": self.count, **{noun: n for noun, n in solids.items() if n}}

    @property
    def capsule_count(self) -> int:
        """Number of capsules in all sets together."""
        return sum(capsules.count for capsules in self.capsules)

    @property
    def solids(self) -> list[SolidSet]:
        """Sets of capsules, cones, ellipsoids and triangles, in the order of packing."""
        return [each for sets in self._solid_sets().values() for each in sets]

    @property
    def solid_count(self) -> int:
        """Number of capsules, cones, ellipsoids and triangles in all sets."""
        return sum(each.count for each in self.solids)

    def _solid_sets(self) -> dict[str, Sequence[SolidSet]]:
        return {
            "capsule": self.capsules,
            "cone": self.cones,
            "ellipsoid": self.ellipsoids,
            "triangle": self.meshes,
        }

    @property
    def columns(self) -> Columns:
        """Values of the particles by name, of the only set with data; see `Columns`.

        Raises:
            SceneError: several sets have data: use `scene.spheres[0].columns`.
        """
        sets = [spheres for spheres in self.spheres if spheres.source] or list(self.spheres)
        if len(sets) != 1:
            raise SceneError(
                f"the scene has {counted(len(sets), 'set')} of particles: take the columns of one, "
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
        from raytracer.scene.coloring.apply import styled
        from raytracer.scene.coloring.style import StyleSettings

        return styled(self, StyleSettings(**settings), radius, opacity)

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
        from raytracer.scene.describe import describe

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
        from raytracer.scene.packing.pack import camera_of

        return camera_of(self, self.render.override(width=width, height=height))

    def surfaces(self) -> list[SphereSet]:
        """Return the nonempty sets, and the ground, unless there is nothing else.

        Capsules and cones are the balls at their starts, ellipsoids the balls around them,
        triangles the balls at their middles. The ground is a set of one sphere, of which only
        colour and material matter.
        """
        sets = [self._coloured(spheres) for spheres in self.spheres if spheres.count]
        sets += [self._coloured(solids.start) for solids in self.solids if solids.count]
        if self.ground is None or not sets:
            return sets
        ground = self.ground
        return [*sets, SphereSet([[0.0, 0.0, 0.0]], 1.0, ground.color, material=ground.material)]

    def _coloured(self, spheres: SphereSet) -> SphereSet:
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
            return PRESETS[material].material()
        hint = suggestion(material, {**self.materials, "default": None, **PRESETS})
        raise SceneError(f"there is no material named '{shown(material)}'; {hint}")


def _parts(name: str, values: Any, kind: type | tuple[type, ...]) -> Sequence[Any]:
    """Return parts of a scene; refuses other types."""
    parts = values if isinstance(values, (list, tuple)) else items(values, name)
    for part in parts:
        if not isinstance(part, kind):
            of_kind(part, name, kind)  # raises
    return parts


def _solids(name: str, noun: str, values: Any) -> Sequence[Any]:
    parts = _parts(name, values, SolidSet)
    for part in parts:
        if part.noun != noun:
            raise SceneError(f"{name}: holds a set of {part.noun}s")
    return parts


class SphereSet:
    """Spheres that share a material and a transform.

    Args:
        centers: (N, 3), any unit; float32 and float64 are kept without a copy, and so are arrays of
            a GPU, as `radius` and `color`: they are checked when they are packed or read.
        radius: one radius or (N,), unit of `centers`; None lets neighbours touch
            (`spacing.local_spacing`).
        color: one colour ("#rrggbb", a name of CSS or matplotlib, three numbers in 0..1); or N
            colours as uint8 in 0..255 or numbers in 0..1, (N, 3), where integers with one above 1
            are bytes too; or N colour names; or a palette (K, 3) for `color_id`. None is light
            grey. In RGBA, (N, 4), as colour maps return it, the alpha is the opacity, unless
            `opacity` is given.
        color_id: integers (N,) into the palette.
        color_space: colour space of the numbers in `color`, "srgb" or "linear".
        material: a `Material`, a `Principled`, or a name: of one of the scene's, or ready-made
            (`raytracer.scene.presets`).
        transform: from the unit of `centers` to scene units; None is the identity.
        source: file of the arrays, for messages.
        names: names in the file for "centers", "radius" and "color", for messages.
        file: the file, to look up its other values of a sphere (`Scene.describe`).
        columns: further values of the spheres by name, arrays (N,) or (N, K).
        labels: elements or types of the spheres.
        opacity: one opacity or (N,), from 0 to 1; None is that of the colours, or 1.

    Raises:
        UserError: arrays of wrong shape, NaN or infinity (with the index of the first), radii that
            are not positive, colours out of range.
    """

    noun = "sphere"

    # Arrays of a GPU stay there until the host needs them.
    centers: OnDemand[NDArray[np.floating[Any]]] = OnDemand(
        lambda self, array: check_centers(array, self.where)
    )
    radius: OnDemand[NDArray[np.floating[Any]] | float] = OnDemand(
        lambda self, array: check_radius(array, self.count, self.where)
    )
    color: OnDemand[NDArray[Any]] = OnDemand(lambda self, array: self._host_colors(array))

    color_scale: ColorScale | None = None
    """The scale whose values an array on a GPU has in place of colours."""

    def __init__(
        self,
        centers: Any,
        radius: Any = None,
        color: Any = None,
        *,
        color_id: Any = None,
        color_space: str = "srgb",
        material: str | AnyMaterial = "default",
        transform: Transform | None = None,
        source: str = "",
        names: Mapping[str, str] | None = None,
        file: DataFile | None = None,
        columns: Mapping[str, Any] | None = None,
        labels: Labels | None = None,
        opacity: Any = None,
    ) -> None:
        color_space = one_of(color_space, "color_space", COLOR_SPACES)
        if not isinstance(material, (str, *MATERIALS.values())):
            raise SceneError(f"material: {shown_value(material)} is neither a Material nor a name")
        if transform is not None:
            of_kind(transform, "transform", Transform)
        if file is not None:
            of_kind(file, "file", DataFile)
        source = text(source, "source")
        where = Where(source, dict(mapping({} if names is None else names, "names")), self.noun)
        self.where = where
        there = left_there(centers, "positions", None, "centers", where)
        self.centers = check_centers(centers, where) if there is None else there
        count = self.count
        size = default_radius(self.centers) if radius is None else radius
        there = left_there(size, "radii", count, "radius", where)
        self.radius = check_radius(size, count, where) if there is None else there
        there = None if color_id is not None else left_there(color, "colors", count, "color", where)
        self.color, self.color_id, color_opacity = (
            colors_of(color, color_id, color_space, count, where)
            if there is None
            else SetColors(there)  # type: ignore[arg-type]
        )
        self.has_color = color is not None
        self.color_space = color_space if self.has_color or color_id is not None else "srgb"
        self.opacity = (
            color_opacity if opacity is None else opacities_of(opacity, self.count, where)
        )
        self.material = material
        self.transform = Transform() if transform is None else transform
        self.source = source
        self.file = file
        self.labels = labels
        self.bonding: Bonding | None = None
        self.plain_radius: NDArray[np.floating[Any]] | float | None = None
        self.rows: NDArray[np.int64] | None = None
        self.is_unwrapped = False
        self._data = Data(self.count, _given(columns, self.count, where))

    @classmethod
    def of_particles(
        cls, data: Particles, radius: Any = None, color: Any = None, **options: Any
    ) -> SphereSet:
        """Return the sphere set of a particle file or of an object of another package.

        Args:
            data: the result of `particles.read`.
            radius: used instead of the data's.
            color: used instead of the data's.
            **options: for `SphereSet`.

        Raises:
            DataFileError: the arrays are not those of spheres.
        """
        size: Any = data.radius if radius is None else radius
        has_color = color is not None
        # Values of the file that the scene file replaces remain available as columns.
        replaced = {"radius": radius is not None, "color": has_color}
        if data.is_empty:
            warn(f"{data.source}: holds no particles")
        for parts, note in data.notes:
            if not parts or not all(replaced.get(part) for part in parts.split("+")):
                warn(note)
        used = [n for part, names in data.columns.items() if not replaced.get(part) for n in names]
        spheres = cls(
            data.centers,
            size,
            color if has_color else data.color,
            color_id=None if has_color else data.color_id,
            source=data.source,
            names=data.names,
            file=data.file and data.file.using(used),
            labels=data.labels,
            **options,
        )
        spheres._data = Data(
            spheres.count, data.extra, data.about, data.origin, data.box, data.time
        )
        return spheres

    @property
    def count(self) -> int:
        """Number of spheres."""
        return len(given(self, "centers"))

    @property
    def cell(self) -> SphereSet | None:
        """The spheres of one periodic box, whose images are the set; None: it has none."""
        return None

    def _host_colors(self, array: DeviceArray) -> NDArray[Any]:
        """Return the colours of an array on a GPU."""
        if self.color_scale is not None:
            return self.color_scale.rgb(array.to_host())
        return colors_of(array, None, self.color_space, self.count, self.where).rows

    @property
    def total(self) -> int:
        """Number of particles of the file, some of which may be hidden."""
        return self._data.total

    @property
    def time(self) -> Moment | None:
        """The time of the frame in its file, value and unit, or None."""
        return self._data.time

    @property
    def box(self) -> Box | None:
        """The simulation box in the unit of the centres, or None; it includes periodic images."""
        return self._data.box

    @property
    def kept(self) -> list[NDArray[Any]]:
        """The columns of its file that are in memory."""
        return list(self._data.arrays.values())

    @property
    def columns(self) -> Columns:
        """Values of the spheres by name: from the set's file or arrays, and derived ones."""
        from raytracer.scene.columns import Columns

        return Columns(self, self._data)

    def taken(self, rows: NDArray[np.int64]) -> SphereSet:
        """Return a set of some of the spheres, which keep their rows in the file.

        Args:
            rows: int64 (M,), indices in this set, from 0.
        """
        taken = copy(self)
        taken.centers = self.centers[rows]
        if not isinstance(self.radius, float):
            taken.radius = self.radius[rows]
        if self.opacity is not None and not isinstance(self.opacity, float):
            taken.opacity = self.opacity[rows]
        if self.color_id is not None:
            taken.color_id = self.color_id[rows]
        elif len(self.color) > 1:
            taken.color = self.color[rows]
        if self.labels is not None:
            taken.labels = self.labels._replace(ids=self.labels.ids[rows])
        taken.rows = rows if self.rows is None else self.rows[rows]
        return taken

    def at(self, centers: NDArray[Any], box: Box | None = None) -> SphereSet:
        """Return the set with other centres.

        Args:
            centers: (N, 3), same unit, already checked.
            box: the new box; None keeps the old one.
        """
        moved = copy(self)
        moved.centers = centers
        if box is not None:
            moved._data = self._data._replace(box=box)
        return moved

    def in_color(self, color: Color) -> SphereSet:
        """Return the set with one colour for all spheres; other arrays are shared."""
        same = copy(self)
        same.color, same.color_id = np.array([parse_color(color)], np.float32), None
        same.color_space, same.has_color = "srgb", True
        return same

    def joined(self, starts: Any, ends: Any, radius: Any, **colors: Any) -> CapsuleSet:
        """Return capsules with the material and the transform of the set.

        Args:
            starts, ends, radius: as for `CapsuleSet`.
            **colors: its colours, and its opacity.
        """
        looks = {"material": self.material, "transform": self.transform}
        return CapsuleSet(starts, ends, radius, **looks, **colors)  # type: ignore[arg-type]

    def with_images(self, counts: tuple[int, int, int], box: Box, place: str) -> ReplicatedSet:
        """Return the set with its periodic images; arguments as of `ReplicatedSet`."""
        return ReplicatedSet(self, counts, box, place)

    def without_columns(self) -> SphereSet:
        """Return the set without its file, columns and labels, for other spheres in its place."""
        bare = copy(self)
        bare.file = bare.labels = bare.bonding = bare.plain_radius = bare.rows = None
        bare._data = Data(self.count, {}, box=self.box, time=self.time)
        return bare

    def release_columns(self) -> None:
        """Drop the columns of the file from memory; `columns` reads them again."""
        if self.file is not None:
            self._data = self._data._replace(arrays={})

    def __repr__(self) -> str:
        origin = f" from {self.source}" if self.source else ""
        return f"<SphereSet: {counted(self.count, 'sphere')}{origin}>"


class ReplicatedSet(SphereSet):
    """A set with its periodic images; the arrays of all images are made when they are asked for.

    Image i of sphere r has number `i * cell.count + r`; images along the last edge follow one
    another.

    Args:
        cell: the spheres of one box.
        counts: numbers of boxes along the edges.
        box: encloses all images, in the unit of the centres.
        place: of the setting, for messages.
    """

    def __init__(self, cell: SphereSet, counts: tuple[int, int, int], box: Box, place: str) -> None:
        given = cell.__dict__
        self.__dict__.update((name, given[name]) for name in given if name.split()[0] not in ARRAYS)
        self._of_cell = {name: given[name] for name in given if name in ARRAYS}
        self._data = cell._data._replace(box=box)
        self.counts = counts
        self.edges: NDArray[np.float64] = np.array(cell.box and cell.box.edges, np.float64)
        self._place = place

    def __getattr__(self, name: str) -> Any:
        if name not in ARRAYS or "_of_cell" not in self.__dict__:
            raise AttributeError(f"a set of spheres has no attribute '{name}'")
        return self.missing(name)

    @property
    def step_bits(self) -> list[int]:
        """Bits that number the steps along each edge."""
        return [(count - 1).bit_length() for count in self.counts]

    @property
    def fits(self) -> bool:
        """Whether kernels can number the spheres of all images by cell and step."""
        rows = len(self._of_cell["centers"]) + 1  # and a ground
        bits = (rows - 1).bit_length() + sum(self.step_bits)
        return bits <= POSITION_BITS and max(self.counts) <= MAX_COUNT

    @property
    def cell(self) -> SphereSet | None:
        """The spheres of one box with the looks of the set; None if it has arrays of its own."""
        own = {name: self.__dict__[name] for name in ARRAYS if name in self.__dict__}
        if not all(name in UNIFORM and _is_uniform(value) for name, value in own.items()):
            return None
        cell = SphereSet.__new__(SphereSet)
        hidden = ("_of_cell", "counts", "edges", "_place")
        cell.__dict__.update((n, value) for n, value in vars(self).items() if n not in hidden)
        cell.__dict__.update(self._of_cell | own)
        return cell

    @property
    def count(self) -> int:
        """Number of spheres in all images."""
        if "centers" in self.__dict__:
            return len(self.centers)
        return prod(self.counts) * len(self._of_cell["centers"])

    def missing(self, name: str) -> Any:
        """Make the arrays of all images, and return one of them."""
        self._make()
        return self.__dict__.get(name, getattr(type(self), name, None))

    def _make(self) -> None:
        """Make the arrays of all images, but those that the set was given later."""
        from raytracer.memory import require_room

        title = f"{self._place} of {self.source or 'the set'}"
        require_room(title, self.count * ROW, "for the images")
        cell, total = SphereSet.__new__(SphereSet), prod(self.counts)
        cell.__dict__.update(self._of_cell | {"_data": self._data})
        made = cell.taken(np.tile(np.arange(cell.count), total))
        steps = np.indices(self.counts).reshape(3, -1).T
        centers: NDArray[Any] = made.centers.reshape(total, -1, 3)
        for image, vector in zip(centers, steps @ self.edges, strict=True):
            image += vector.astype(centers.dtype)
        for each in ARRAYS:
            if each not in self.__dict__ and each in made.__dict__:
                self.__dict__[each] = made.__dict__[each]

    def taken(self, rows: NDArray[np.int64]) -> SphereSet:
        """Return a set of some of the spheres; see `SphereSet.taken`."""
        cell = self.cell
        if cell is None:
            if any(name not in self.__dict__ for name in self._of_cell):
                self._make()
            return super().taken(rows)
        image, row = np.divmod(rows, cell.count)
        steps = np.stack(np.unravel_index(image, self.counts), axis=1)
        some = cell.taken(row)
        some.centers += (steps @ self.edges).astype(some.centers.dtype)
        return some


class SolidSet:
    """Solids of one type, other than spheres, that share a material and a transform.

    `start` is a set of one ball per solid with its colours, material and transform.
    """

    noun: str

    start: SphereSet

    even_colors = False
    """Whether the colour changes linearly from end to end."""

    are_bonds = False
    """Whether they are bonds of particles, to be remade when these change."""

    made_for = ""
    """The glyph they belong to, to be remade with it: "arrows", "box", or ""."""

    scales: Sequence[ColorScale] = ()
    """Colour scales of glyphs."""

    file: Path | None = None
    """The file of their arrays in a scene file, or None."""

    replaces: NDArray[Any] | None = None
    """Of ribbons: the particles, by number in the set `of_set`, that they are shown for."""

    of_set = 0

    @property
    def balls(self) -> tuple[SphereSet, ...]:
        """Balls at the ends of the solids, or around them."""
        return (self.start,)

    @property
    def second_colors(self) -> SphereSet | None:
        """Balls with further colours: of the second ends, or of the vertices of a mesh."""
        return None

    @property
    def count(self) -> int:
        """Number of solids."""
        return self.start.count

    @property
    def material(self) -> str | AnyMaterial:
        """Material, or its name in the scene."""
        return self.start.material

    @property
    def transform(self) -> Transform:
        """Transform to scene units."""
        return self.start.transform

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {counted(self.count, self.noun)}>"


class CapsuleSet(SolidSet):
    """Capsules that share a material and a transform: bonds, rods, edges, lines.

    A capsule is the set of points within its radius of the segment from start to end.

    Args:
        starts: (N, 3), any unit.
        ends: (N, 3), the same unit; an end at its start makes a sphere, unless `caps` is "flat".
        radius: one radius or (N,), the same unit.
        color: as for `SphereSet`: one colour, N colours, or a palette (K, 3) for `color_id`.
        end_color: colour of the half towards the end, in the same forms; None is `color`.
        caps: "round" or "flat": with flat ends it is a cylinder.
        color_change: "sharp": the colour changes at the middle; "smooth": linearly from end to end.
        color_id: integers (N,) into the palette `color`.
        end_color_id: integers (N,) into the palette `end_color`.
        color_space: colour space of the numbers, "srgb" or "linear".
        material: a `Material`, a `Principled`, or the name of one of the scene's.
        transform: to scene units; None is the identity.
        opacity: one opacity or (N,), from 0 to 1; None is that of the colours, or 1.
        names: names in a file for "starts", "ends", "radius", "color", "end_color" and "opacity",
            for messages.

    Raises:
        SceneError: arrays of wrong shape, NaN or infinity (with the index of the first), radii that
            are not positive, colours out of range.
    """

    noun = "capsule"

    caps = "round"
    """Shape of the ends, one of `CAPS`."""

    def __init__(
        self,
        starts: Any,
        ends: Any,
        radius: Any,
        color: Any = None,
        end_color: Any = None,
        *,
        color_id: Any = None,
        end_color_id: Any = None,
        color_space: str = "srgb",
        material: str | AnyMaterial = "default",
        transform: Transform | None = None,
        opacity: Any = None,
        caps: str | None = None,
        color_change: str = "sharp",
        names: Mapping[str, str] | None = None,
    ) -> None:
        self.caps = one_of(self.caps if caps is None else caps, "caps", CAPS)
        change = one_of(color_change, "color_change", COLOR_CHANGES)
        self.even_colors = change == "smooth"
        names = dict(names or {})
        name_of_ends = names.get("ends", "ends")
        if radius is None:
            name = names.get("radius", "radius")
            raise SceneError(f"{name}: is None; give the radius of the {self.noun}s")
        looks = {"color_space": color_space, "material": material, "transform": transform}
        self.start: SphereSet = Balls(
            self.noun, starts, radius, color, color_id=color_id, opacity=opacity,
            names={**names, "centers": names.get("starts", "starts")}, **looks,
        )  # fmt: skip
        self.end: SphereSet = Balls(
            self.noun, ends, 1.0, end_color, color_id=end_color_id, **looks,
            names={"centers": name_of_ends, "color": names.get("end_color", "end_color")},
        )  # fmt: skip
        if self.end.count != self.start.count:
            raise SceneError(
                f"{name_of_ends}: has {counted(self.end.count, 'end')} for "
                f"{counted(self.start.count, 'start')}"
            )
        self.end.radius = self.start.radius
        self.has_end_colors = end_color is not None or end_color_id is not None
        same = (self.starts == self.ends).all(axis=1)
        if self.caps == "flat" and same.any():
            raise SceneError(
                f"{name_of_ends}: {self.noun} {int(np.argmax(same))} ends where it starts; with "
                "flat ends it needs a length"
            )

    @property
    def balls(self) -> tuple[SphereSet, ...]:
        return self.start, self.end

    @property
    def second_colors(self) -> SphereSet | None:
        return self.end if self.has_end_colors else None

    @property
    def starts(self) -> NDArray[np.floating[Any]]:
        """Starts, float32 or float64 (N, 3)."""
        return self.start.centers

    @property
    def ends(self) -> NDArray[np.floating[Any]]:
        """Ends, float32 or float64 (N, 3)."""
        return self.end.centers

    @property
    def radius(self) -> NDArray[np.floating[Any]] | float:
        """One radius, or (N,)."""
        return self.start.radius


CAPS = ("round", "flat")
COLOR_CHANGES = ("sharp", "smooth")


class Balls(SphereSet):
    """Balls at one end of solids, or around them: a sphere set with another noun in messages."""

    def __init__(self, noun: str, *arrays: Any, **options: Any) -> None:
        self.noun = noun
        super().__init__(*arrays, **options)


def _is_uniform(value: Any) -> bool:
    """Whether a radius, a colour or an opacity is that of all spheres."""
    return value is None or np.ndim(value) == 0 or np.shape(value) == (1, 3)


def _given(columns: Any, count: int, where: Where) -> dict[str, NDArray[Any]]:
    """Return the columns given as arrays, each with a row per sphere."""
    given = {}
    for name, values in mapping({} if columns is None else columns, "columns").items():
        place = f"columns[{shown_value(name)}]"
        array = as_array(values, place, where)
        if array.ndim not in (1, 2) or len(array) != count:
            raise where.wrong(place, f"has shape {array.shape} for {counted(count, 'sphere')}")
        given[name] = array
    return given
