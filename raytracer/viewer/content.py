"""What a preview shows: frame, colours and hidden particles as its content, and edits of light,
background, ground and look.

A content is applied to a loaded frame of the scene with its original colours and all particles.
Particles are numbered there in the order of the sets; hiding some does not change the numbers.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring import KEYS
from raytracer.appearance.coloring.apply import remake_bonds, style_scene
from raytracer.appearance.coloring.expression import select_rows
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.coloring.style import StyleSettings
from raytracer.appearance.glyphs.make import without_glyphs
from raytracer.appearance.glyphs.shared import broadcast_radii
from raytracer.config.errors import SceneError
from raytracer.model.background import Background
from raytracer.model.clip import Clip
from raytracer.model.lights import Light
from raytracer.model.scene import Scene
from raytracer.model.sphere_set import SphereSet
from raytracer.packing.framing import Basis
from raytracer.packing.lighting import choose_ambient, look_lights
from raytracer.viewer.orbit_camera import Vector, make_rotation

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

AXES = "xyz"
SHAPES = ("arrows", "ribbons", "polyhedra", "isosurface")  # settings that are glyphs
DRAWN = (*SHAPES, "legend", "box")  # settings that are no style
KEPT_SIDES = ("below", "above")  # of a slice, by the position on its axis


@dataclass(frozen=True, eq=False)
class ParticleSelection:
    """Particles that fulfil a condition, or have certain keys: ids, or numbers without ids."""

    condition: str = ""  # an expression over the columns; "" for keys
    keys: NDArray[Any] | None = None  # integers (M,)

    def make_mask(self, scene: Scene) -> Mask:
        """Return which particles of a frame are chosen, bool (N,)."""
        if self.keys is not None:
            if (ids := find_ids(scene)) is not None:
                return np.isin(ids, self.keys)
            mask = np.zeros(scene.count, bool)
            mask[self.keys[self.keys < scene.count]] = True
            return mask
        mask = np.zeros(scene.count, bool)
        mistakes: list[SceneError] = []
        for spheres, part in _split_mask(scene.spheres, mask):
            try:
                part[select_rows(self.condition, spheres.columns, "select")] = True
            except SceneError as error:  # a set may lack columns of another
                mistakes.append(error)
        if mistakes and len(mistakes) == len(scene.spheres):
            raise mistakes[0]
        return mask


@dataclass(frozen=True)
class Slice:
    """A plane across an axis of the scene, which cuts spheres open and hides what is beyond."""

    axis: str  # "x", "y" or "z"
    position: float = 0.5  # relative to the extent of the centres, 0..1
    keep: str = "below"  # "below" or "above": what is shown

    def apply_to(self, scene: Scene) -> tuple[Clip, Mask]:
        """Return a scene's clip planes with this one, and which particles it leaves, bool (N,).
        Raises SceneError."""
        index, places = AXES.index(self.axis), np.empty(0)
        for each in scene.spheres:
            row, start = each.transform.linear()[index], float(each.transform.translate[index])
            places = np.concatenate([places, each.centers @ row + start])
        low, high = (float(places.min()), float(places.max())) if len(places) else (0.0, 1.0)
        at = low + self.position * (high - low)
        condition = f"{self.axis} {'<=' if self.keep == 'below' else '>='} {at!r}"
        if scene.clip is not None and scene.clip.keep is None:
            raise SceneError("slice: the scene removes what is within planes: there is no slice")
        reach = np.concatenate([np.empty(0), *map(broadcast_radii, scene.spheres)])
        shows = places - reach <= at if self.keep == "below" else places + reach >= at
        keep = condition if scene.clip is None else f"({scene.clip.keep}) and {condition}"
        return Clip(keep=keep), shows


@dataclass(frozen=True)
class Content:
    frame: int | None = None  # of a trajectory; None is the first loaded one
    # Changes of the scene by name: settings of `StyleSettings`, the vector of "arrows", "" for
    # none, the pairs of "polyhedra", "none" for none, and switches "ribbons", "isosurface",
    # "legend" and "box".
    settings: dict[str, Any] = field(default_factory=dict)
    # Particles that are hidden; with True, all others are.
    hidden: tuple[tuple[ParticleSelection, bool], ...] = ()
    # Particles that are faded, with their opacity; with True, all others are.
    faded: tuple[tuple[ParticleSelection, bool, float], ...] = ()
    slice: Slice | None = None  # a plane beyond which nothing is shown
    selection: ParticleSelection | None = None  # particles that are marked

    @property
    def style(self) -> dict[str, Any]:
        return {name: each for name, each in self.settings.items() if name not in DRAWN}


def apply_content(content: Content, scene: Scene) -> tuple[Scene, Numbers | None]:
    """Return what is shown of a scene, and the numbers of its particles, int64 (M,), ascending;
    None: all."""
    style = content.style
    shown_scene = style_scene(scene, StyleSettings(**style)) if style else scene
    sets = list(shown_scene.spheres)
    for chosen, rest, opacity in content.faded:
        sets = [
            each.faded(opacity, ~part) if part.any() else each
            for each, part in _split_mask(sets, chosen.make_mask(scene) ^ rest)
        ]
    clip, numbers, mask = shown_scene.clip, None, np.full(scene.count, True)
    for chosen, rest in content.hidden:
        mask &= chosen.make_mask(scene) ^ (not rest)
    if content.slice is not None:
        clip, shows = content.slice.apply_to(scene)
        mask &= shows
    if content.hidden or content.slice is not None:
        if scene.count and not mask.any():
            raise SceneError("all particles would be hidden: choose fewer")
        numbers = np.flatnonzero(mask)
        sets = [
            each if part.all() else each.taken(np.flatnonzero(part))
            for each, part in _split_mask(sets, mask)
        ]
        if any(capsules.are_bonds for capsules in shown_scene.capsules):
            shown_scene = remake_bonds(replace(shown_scene, spheres=tuple(sets)))
            sets = list(shown_scene.spheres)
    changed = replace(shown_scene, spheres=tuple(sets), clip=clip)
    if any(each.made_for for each in changed.solids):
        changed = without_glyphs(changed)  # remade for the shown particles
    return changed, numbers


def color_on_device(content: Content, scene: Scene, scale: ColorScale | None) -> Scene | None:
    """Return a scene in the colours of a scale, of columns that stay on a GPU; None if a content
    does more than colour, or a column is on the host."""
    style = content.style
    is_more = content.hidden or content.faded or content.slice or content.selection
    if scale is None or is_more or "color_by" not in style or style.keys() - set(KEYS.values()):
        return None
    sets = [each.colored_there(style["color_by"], scale) for each in scene.spheres]
    colored = [each for each in sets if each is not None]
    if len(colored) < len(sets):
        return None
    return replace(scene, spheres=colored, color_scales=(scale,))


def find_ids(scene: Scene) -> NDArray[Any] | None:
    """Return the ids of the particles in the file of the only set, integers (N,), or None."""
    if len(scene.spheres) != 1:
        return None
    columns = scene.spheres[0].columns
    if not columns.made_of("id"):  # otherwise `id` counts rows
        return None
    ids = columns["id"]
    return ids if ids.dtype.kind in "iu" and ids.ndim == 1 else None


def _split_mask(sets: Sequence[SphereSet], mask: Mask) -> Iterator[tuple[SphereSet, Mask]]:
    """Yield sets of particles with the views of a mask, (N,), that are theirs."""
    parts = np.split(mask, np.cumsum([0, *(each.count for each in sets)]))[1:-1]
    yield from zip(sets, parts, strict=True)


SCENES = "the scene's"
BACKGROUNDS = {
    SCENES: None, "white": Background("white"), "black": Background("black"),
    "gray": Background.of_particles(), "transparent": Background(transparent=True),
}  # fmt: skip
"""Backgrounds of the preview, in the order of its key."""


@dataclass(frozen=True)
class Edits:
    """Changes to a scene other than its camera."""

    lights: tuple[Light, ...] | None = None  # replace those of the scene; None keeps them
    background: str = SCENES  # one of `BACKGROUNDS`
    # Settings of the render instead of the scene's: look, integrator, denoise, placement.
    render: Mapping[str, Any] = field(default_factory=dict)
    # Whether only the shadows on the ground are visible; None keeps the scene's.
    shadow_catcher: bool | None = None

    def apply_to(self, scene: Scene) -> Scene:
        """Return the scene with lights, background, ground and look of the edits."""
        changes: dict[str, Any] = {}
        if self.render:
            render = replace(scene.render, **self.render)
            if render.look != scene.render.look:  # the brightness was measured for that
                render = replace(render, brightness=1.0)
            scene = replace(scene, render=render)
        if self.lights is not None:
            # Stated lights would drop the ambient light of a scene without lights.
            changes["lights"] = self.lights
            changes["ambient"] = choose_ambient(scene.ambient, scene.lights, scene.render.rig)
        if self.shadow_catcher is not None and scene.ground is not None:
            changes["ground"] = replace(scene.ground, shadow_catcher=self.shadow_catcher)
        if background := BACKGROUNDS.get(self.background):
            changes["background"] = replace(background, up=scene.background.up)
        return replace(scene, **changes) if changes else scene

    def with_render_settings(self, **settings: Any) -> Self:
        """Return edits with other render settings; a new look resets the integrator."""
        if "look" in settings:
            settings["integrator"] = None
        return replace(self, render={**self.render, **settings})


def find_lights(scene: Scene, edits: Edits, axes: Basis) -> tuple[Light, ...]:
    """Return the current lights; for a scene without lights, the default light."""
    if edits.lights is not None:
        return edits.lights
    if scene.lights is not None:
        return tuple(scene.lights)
    return look_lights(edits.apply_to(scene).render, axes)


def rotate_light(light: Light, axes: Basis, right: float, up: float, pivot: Vector) -> Light:
    """Rotate a light about a pivot, float64 (3,), scene units."""
    spin = right * axes.up - up * axes.right
    angle = float(np.linalg.norm(spin))
    turn = make_rotation(spin / angle, angle) if angle else np.eye(3)
    return light.rotated(turn, pivot)
