"""Settings of a call that replace a scene's: camera, background, ground, ..."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from math import hypot, radians, tan
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.config.arguments import check_items, check_kind
from raytracer.config.errors import DataFileError, SceneError, UserError, prefix_errors, quote_value
from raytracer.config.field_types import (
    AnyOf,
    Axis,
    FieldType,
    Text,
    Truth,
    Vector3,
    WordChoice,
    import_name,
)
from raytracer.config.fields import Defined, find_definitions, setting
from raytracer.files.access import is_file, is_path, open_file, require_file
from raytracer.model.background import Background, Ground
from raytracer.model.camera import Camera
from raytracer.model.colors import Color
from raytracer.model.key_types import (
    APERTURE,
    SHUTTER,
    ZOOM,
    ColorValue,
    Components,
    Expression,
    PartChange,
    Share,
    TableType,
    parse_fields,
    split_at_commas,
)
from raytracer.model.parts import GLYPHS
from raytracer.model.presets import PRESET_NAMES
from raytracer.model.settings import LOOKS, RenderSettings
from raytracer.model.views import AXES, FITS, VIEWS

if TYPE_CHECKING:
    from raytracer.appearance.glyphs import settings as glyphs
    from raytracer.model.clip import Clip
    from raytracer.model.environment import Environment
    from raytracer.model.lights import Light
    from raytracer.model.mesh import Mesh
    from raytracer.model.scene import Scene
    from raytracer.model.sphere_set import SphereSet
    from raytracer.model.views import Triple


def _camera(value: Any, name: str) -> Any:
    if is_path(value):
        return _load_camera(str(value))
    return TableType.of("raytracer.model.camera:Camera").checked(value, name)


def _load_camera(name: str) -> Camera:
    """Return the camera of a picture or a scene file, which needs no spheres."""
    from raytracer.film.formats import read_metadata
    from raytracer.scene_files import tables
    from raytracer.scene_files.load import read_table
    from raytracer.scene_files.source import SCENE_SUFFIXES

    path = Path(name)
    suffix = path.suffix.lower()
    if suffix in SCENE_SUFFIXES:
        with open_file(path, error=SceneError) as file, prefix_errors(file.source):
            values = read_table(file, suffix).get("camera")
            if values is None:
                raise SceneError("has no table [camera]")
            made: Camera = tables.CAMERA.checked(values, "camera")
            return made
    try:
        return Camera(**read_metadata(path)["camera"])
    except (KeyError, TypeError, SceneError):
        raise DataFileError(
            f"{name}: has no camera: give a picture that raytracer made, or a scene file with "
            "[camera]"
        ) from None


CAMERA = FieldType({}, _camera, metavar="FILE")


def _lights(value: Any, name: str) -> Any:
    known = tuple(import_name("raytracer.model.lights:LIGHTS").values())
    return tuple(check_kind(each, name, known) for each in check_items(value, name))


OF_CAMERA = (
    "camera", "view", "up", "ortho", "zoom", "look_at", "fit", "aperture", "focus", "shutter",
)  # fmt: skip
OF_PARTICLES = ("radius", "color", "opacity", "material", "velocity")
LOOKS_OF_MESHES = ("color", "opacity", "material")  # that meshes without particles take

FIELDS_OF_MESH = ("color", "opacity", "smooth", "material", "color_space")


REPEATED = ("polyhedra", "isosurface")  # glyphs of several pairs or levels: options may repeat


def _glyph(name: str) -> FieldType:
    """Return the kind of one of the `GLYPHS`."""
    metavar, options = f"{GLYPHS[name].upper()}[,NAME=VALUE,...]", {}
    if name == "ribbons":  # one of the command's `SWITCHES`
        metavar = f"[={metavar}]"
    if name in REPEATED:
        options = {"multiple": True, "callback": lambda *given: ",".join(given[2]) or None}
        options["type"] = str  # checked when they are together
    home = f"raytracer.appearance.glyphs.settings:{name.capitalize()}"
    return PartChange(home, GLYPHS[name], metavar, options=options)


GROUND = PartChange("raytracer.model.background:Ground", "height", "HEIGHT[,NAME=VALUE,...]")


def _meshes(value: Any, name: str) -> list[Mesh]:
    """Return the meshes of an option, of one in Python, or of a list of these. Fields may follow
    the name of a file: "hopper.stl,opacity=0.3,color=steelblue,scale=0.001". Raises UserError."""
    from raytracer.model.mesh import Mesh

    is_one = isinstance(value, Mesh) or is_path(value)
    rows = [value] if is_one else check_items(value, name)
    return [row if isinstance(row, Mesh) else _mesh(row, name) for row in rows]


def _mesh(value: Any, name: str) -> Mesh:
    from raytracer.model.mesh import Mesh
    from raytracer.model.transform import Transform
    from raytracer.scene_files import tables

    if not is_path(value):
        raise SceneError(f"{name}: {quote_value(value)} is neither a Mesh nor the name of a file")
    file, *rest = split_at_commas(str(value))
    placed = find_definitions(Transform)
    known = {key: tables.MESHES.keys[key] for key in FIELDS_OF_MESH} | dict(placed)
    given = parse_fields(",".join(rest), known, name) if rest else {}
    with prefix_errors(name):
        transform = {key: given.pop(key) for key in placed if key in given}
        return Mesh.from_file(file, **given, transform=Transform(**transform))


MESH = FieldType(
    {}, _meshes, metavar="FILE[,NAME=VALUE,...]",
    # None, where there are none, keeps those of the scene
    options={"multiple": True, "callback": lambda *given: given[2] or None},
)  # fmt: skip


@dataclass(frozen=True, repr=False, eq=False)
class ViewSettings(Defined):
    """Settings of a call that replace the scene's; None keeps the scene's.

    Args:
        view: Standard view, fitted: x looks from +x; front, top and iso are those of OVITO.
        up: Up direction.
        ortho: Without perspective: parallel lines stay parallel.
        zoom: Magnification.
        look_at: Point at the centre of the picture.
        fit: Place the camera where it shows the spheres; all: with outliers; bulk: without a
            sparse halo; box: with the simulation box.
        camera: The camera of a picture that raytracer made, or [camera] of a scene file. In Python
            also a `Camera`.
        background: The background.
        transparent: Make the background transparent, with an alpha channel.
        ground: A plane below the spheres, or at a height along the up axis, and fields of [ground].
        shadow_catcher: Show only the shadows on the ground, which is added if needed.
        lights: Lights instead of the scene's.
        radius: Radius of all particles of data files: a number, or an expression over columns, as
            in vdw, 0.5*radius or sqrt(mass).
        color: One colour for all particles of data files.
        opacity: Opacity of all particles of data files: a number from 0 to 1, or an expression over
            columns.
        clip: Show only a part of space, and cut spheres open at its planes: "z < 2", "0 < x < 5 and
            x + y < 3".
        cut: Cut a part of space away instead: "x > 0 and y > 0 and z > 0".
        environment: Light from all directions: a colour, or the file of an image.
        aperture: Diameter of the lens as a fraction of the focus distance.
        focus: A point in focus, in scene units.
        shutter: Time for which the shutter is open, for motion blur: in frames of the trajectory,
            or with velocities, in their unit of time.
        velocity: Velocity of the particles of data files, for the shutter: a column of vectors, as
            in velocity, or three columns, expressions or numbers, as in vx,vy,0. Without it,
            particles move as from frame to frame of their file; if it has one frame, by a column of
            velocities with a usual name.
        arrows: Arrows at particles along a vector: a column, and fields of [arrows].
        trails: Paths of particles over the frames of their file: how many frames back, or all, and
            fields of [trails].
        contacts: Contacts between particles, whose thickness shows the force: a file, or touch, and
            fields of [contacts].
        shape: Particles as ellipsoids, by columns of axes and orientations, and fields of [shape].
        ribbons: Proteins and nucleic acids as ribbons: what their colours show, such as structure,
            chain or rainbow, and fields of [ribbons].
        polyhedra: Coordination polyhedra: the types of the central atom and of its neighbours, such
            as Ti-O or Ti-O=2.4, and fields of [polyhedra].
        isosurface: Surfaces of a grid of values: the levels, and fields of [isosurface].
        mesh: A triangle mesh beside the particles: an STL, PLY, OBJ or OFF file, and its color,
            opacity, smooth, material, scale, rotate and translate; may be repeated.
    """

    view: str | None = setting(None, WordChoice(VIEWS, "view"))
    up: Triple | str | None = setting(None, Axis(AXES))
    ortho: bool | None = setting(None, Truth())
    zoom: float | None = setting(None, ZOOM)
    look_at: Triple | None = setting(None, Vector3())
    fit: bool | str | None = setting(None, AnyOf(Truth(), WordChoice(FITS)))
    camera: Camera | None = setting(None, CAMERA)
    background: Color | Background | None = setting(
        None,
        AnyOf(ColorValue(), TableType.of("raytracer.model.background:Background"), noun="a colour"),
    )
    transparent: bool | None = setting(None, Truth())
    ground: bool | float | str | Ground | None = setting(None, GROUND)
    shadow_catcher: bool | None = setting(None, Truth())
    lights: Sequence[Light] | None = setting(None, FieldType({}, _lights))
    radius: float | str | None = setting(None, Expression())
    color: Color | None = setting(None, ColorValue())
    opacity: float | str | None = setting(None, Share())
    clip: str | Clip | None = setting(
        None, AnyOf(Text(), TableType.of("raytracer.model.clip:Clip"))
    )
    cut: str | None = setting(None, Text())
    environment: str | Environment | None = setting(
        None, AnyOf(Text(), TableType.of("raytracer.model.environment:Environment"))
    )
    material: str | None = setting(
        None,
        Text(),
        "Material of all particles of data files: a name of the scene's, or " + PRESET_NAMES,
    )
    aperture: float | None = setting(None, APERTURE)
    focus: Triple | None = setting(None, Vector3())
    shutter: float | None = setting(None, SHUTTER)
    velocity: str | tuple[str, str, str] | None = setting(None, Components())
    arrows: bool | str | Mapping[str, Any] | glyphs.Arrows | None = setting(None, _glyph("arrows"))
    trails: bool | str | Mapping[str, Any] | glyphs.Trails | None = setting(None, _glyph("trails"))
    contacts: bool | str | Mapping[str, Any] | glyphs.Contacts | None = setting(
        None, _glyph("contacts")
    )
    shape: bool | str | Mapping[str, Any] | glyphs.Shape | None = setting(None, _glyph("shape"))
    ribbons: bool | str | Mapping[str, Any] | glyphs.Ribbons | None = setting(
        None, _glyph("ribbons")
    )
    polyhedra: bool | str | Mapping[str, Any] | glyphs.Polyhedra | None = setting(
        None, _glyph("polyhedra")
    )
    isosurface: bool | str | float | Mapping[str, Any] | glyphs.Isosurface | None = setting(
        None, _glyph("isosurface")
    )
    mesh: str | Mesh | Sequence[str | Mesh] | None = setting(None, MESH)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that radius, opacity, motion and glyphs need."""
        names: list[str] = []
        if texts := [v for v in (self.radius, self.opacity) if isinstance(v, str)]:
            from raytracer.appearance.coloring.style import find_needed_columns

            names += find_needed_columns(*texts)
        if self.shutter or self.velocity is not None:
            from raytracer.appearance.glyphs.vectors import vector_columns
            from raytracer.model.motion import VELOCITY

            names += ["id", *vector_columns(self.velocity or VELOCITY)]
        if glyphs := [made for name in GLYPHS if (made := self._changed_glyph(name, None))]:
            from raytracer.appearance.glyphs.settings import list_glyph_columns

            names += list_glyph_columns(glyphs)
        return names

    def apply_to(self, scene: Scene) -> Scene:
        parts: dict[str, tuple[tuple[str, ...], Callable[[Any], Any]]] = {
            "camera": (OF_CAMERA, self._camera),
            "background": (("background", "transparent"), self._background),
            "ground": (("ground", "shadow_catcher"), self._ground),
            "lights": (("lights",), lambda _: self.lights),
            "clip": (("clip", "cut"), self._clip),
            "environment": (("environment",), self._environment),
            "spheres": (OF_PARTICLES, self._spheres),
            "meshes": (("mesh", *LOOKS_OF_MESHES), partial(self._meshes, not scene.spheres)),
            **{name: ((name,), partial(self._changed_glyph, name)) for name in GLYPHS},
        }
        changes = {
            part: change(getattr(scene, part))
            for part, (names, change) in parts.items()
            if any(getattr(self, name) is not None for name in names)
        }
        changed = replace(scene, **changes) if changes else scene
        follows = any(each is not None for each in (self.color, self.opacity, self.material))
        if follows and any(capsules.are_bonds for capsules in scene.capsules):
            from raytracer.appearance.coloring.apply import remake_bonds

            return remake_bonds(changed)
        return changed

    def _camera(self, camera: Camera | None) -> Camera:
        camera = self.camera or camera or Camera()
        changes: dict[str, Any] = {}
        if self.view is not None:
            changes = {"view": self.view, "position": None, "direction": None, "look_at": None}
            changes |= {"fit": camera.fit or True, "height": None}
        for name in ("up", "zoom", "look_at", "aperture", "focus", "shutter"):
            if (value := getattr(self, name)) is not None:
                changes[name] = value
        if self.fit is not None:
            changes["fit"] = self.fit
            if self.fit:
                changes["height"] = None
        if self.ortho is not None:
            changes |= _changed_projection(camera, self.ortho, bool(changes.get("fit", camera.fit)))
        return replace(camera, **changes)

    def _background(self, background: Background) -> Background:
        if isinstance(self.background, Background):
            background = self.background
        elif self.background is not None:
            background = Background(self.background, up=background.up)
        if self.transparent is None:
            return background
        return replace(background, transparent=self.transparent)

    def _ground(self, ground: Ground | None) -> Ground | None:
        if self.ground is not None:
            ground = GROUND.changed(ground, self.ground)
        if self.ground is False or not (ground or self.shadow_catcher):
            return None
        if self.shadow_catcher is None:
            return ground
        return replace(ground or Ground(), shadow_catcher=self.shadow_catcher)

    def _environment(self, _: Environment | None) -> Environment:
        from raytracer.model.environment import Environment as Around

        if isinstance(self.environment, Around):
            return self.environment
        name = str(self.environment)
        with suppress(SceneError):
            return Around(color=name)
        if not is_file(name):
            raise SceneError(
                f"environment: {quote_value(name)} is neither a colour nor the file of an image"
            )
        require_file(name, f"environment: {name}", SceneError)  # which is an input from now on
        return Around(image=name)

    def _clip(self, _: Clip | None) -> Clip:
        from raytracer.model.clip import Clip as Kind

        if self.clip is not None and self.cut is not None:
            raise UserError("cut: give either `clip` or `cut`, not both")
        if isinstance(self.clip, Kind):
            return self.clip
        return Kind(keep=self.clip) if self.cut is None else Kind(remove=self.cut)

    def _spheres(self, sets: Sequence[SphereSet]) -> list[SphereSet]:
        """Return the sets of data files, or the only set, with radius, colour and so on."""
        of_files = [spheres for spheres in sets if spheres.source]
        if not of_files and len(sets) > 1:
            name = next(n for n in OF_PARTICLES if getattr(self, n) is not None)
            raise SceneError(
                f"{name}: the scene has {len(sets)} sets of spheres and none from a data file: "
                f"set {name} in one of its [[spheres]]"
            )
        changed = of_files or sets
        from raytracer.model.arrays import silence_numpy

        with silence_numpy():
            return [self._sphere_set(s) if s in changed else s for s in sets]

    def _sphere_set(self, spheres: SphereSet) -> SphereSet:
        from raytracer.appearance.coloring.apply import set_values

        spheres = copy(spheres)
        for name in ("radius", "opacity"):
            if (value := getattr(self, name)) is not None:
                spheres = set_values(spheres, name, value, name)
        if self.color is not None:
            has_color = spheres.has_color  # else the material's colour is used
            spheres = spheres.in_color(self.color)
            spheres.has_color = has_color
        for name in ("material", "velocity"):
            if (value := getattr(self, name)) is not None:
                setattr(spheres, name, value)
        return spheres

    def _meshes(self, are_alone: bool, there: Sequence[Mesh]) -> list[Any]:
        """Return the meshes with those of the call; alone they take colour, opacity, material."""
        looks = {name: value for name in LOOKS_OF_MESHES
                 if are_alone and (value := getattr(self, name)) is not None}  # fmt: skip
        known = [mesh.with_looks(**looks) for mesh in there] if looks else there
        return [*known, *(self.mesh or ())]  # type: ignore[misc]  # checked: a list

    def _changed_glyph(self, name: str, now: Any) -> Any:
        kind: Any = find_definitions(ViewSettings)[name].kind
        return kind.changed(now, getattr(self, name))


def _changed_projection(camera: Camera, orthographic: bool, fits: bool) -> dict[str, Any]:
    """Return the fields that change a projection; the point looked at keeps its size."""
    if not orthographic:
        return {"type": "perspective", "height": None}
    if fits or camera.type == "orthographic":
        return {"type": "orthographic"}
    if camera.look_at is None:
        return {"type": "orthographic", "fit": True}
    distance = hypot(*camera.backward())
    height = 2.0 * distance * tan(radians(camera.vertical_fov) / 2.0)
    return {"type": "orthographic", "height": height}


def check_shutter(settings: Mapping[str, Any]) -> None:
    """Refuse motion blur, for interactive views. Raises UserError."""
    if settings.get("shutter"):
        raise UserError(
            "shutter: only `raytracer.render` and `raytracer.animate` blur motion: leave it out"
        )


def with_look_lights(scene: Scene, settings: RenderSettings) -> Scene:
    """Return a scene with only the lights of the look, as the call places them."""
    if not LOOKS[settings.look].key:
        known = ", ".join(name for name, look in LOOKS.items() if look.key)
        raise SceneError(
            f"render.light: the look '{settings.look}' has no directional light: leave the light "
            f"out, or use one of the looks {known}"
        )
    return scene if scene.lights is None else replace(scene, lights=None, ambient=None)
