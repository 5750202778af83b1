"""What a user changes of a scene while looking at it: light, background, gloss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.lighting import ambient_of, key_lights, towards_key
from raytracer.scene.lights import DirectionalLight, Light
from raytracer.scene.looks import Background
from raytracer.settings import LOOKS
from raytracer.viewer.vectors import Vector, rotation, triple

if TYPE_CHECKING:
    from raytracer.buffers import SceneBuffers
    from raytracer.scene.fit import Basis
    from raytracer.scene.materials import Material
    from raytracer.scene.scene import Scene

BACKGROUNDS = (
    None,  # the scene's own
    Background("white"),
    Background("black"),
    Background(bottom="#20242c", top="#5a6472"),
    Background(transparent=True),
)
"""What the key for the background goes through."""

BACKGROUND_NAMES = ("the scene's", "white", "black", "gray", "transparent")
"""What a user is told of them."""

SHININESS = (1.0, 10000.0)
"""Exponents of the highlight between which one may polish."""


@dataclass(frozen=True)
class Edits:
    """Changes beside the camera; without any, the picture is the scene's.

    lights: instead of the scene's. background: index into `BACKGROUNDS`.
    shininess: factor by the number of the material in the packed table.
    """

    lights: tuple[Light, ...] | None = None
    background: int = 0
    shininess: Mapping[int, float] = field(default_factory=dict)

    def applied_to(self, scene: Scene) -> Scene:
        """The scene with other lights and background."""
        changes: dict[str, Any] = {}
        if self.lights is not None:
            # A scene without lights has an ambient light of its own, which must not go with them.
            changes["lights"] = self.lights
            changes["ambient"] = ambient_of(scene)
        if own := BACKGROUNDS[self.background]:
            changes["background"] = replace(own, up=scene.background.up)
        return replace(scene, **changes) if changes else scene

    def scale_shininess(self, materials: NDArray[np.void]) -> NDArray[np.void]:
        """The materials with another shininess. materials: structured (M,), `Material`."""
        if not self.shininess:
            return materials
        made = materials.copy()
        for index, factor in self.shininess.items():
            made["phong"]["shininess"][index] *= factor
        return made

    def with_shininess(self, materials: NDArray[np.void], which: list[int], factor: float) -> Edits:
        """With some of the scene's materials shinier by a factor, as far as `SHININESS` goes.

        materials: as for `polish`. which: their numbers in this table.
        """
        changed = dict(self.shininess)
        for index in which:
            own = float(materials["phong"]["shininess"][index])
            low, high = min(SHININESS[0], own), max(SHININESS[1], own)
            shown = own * changed.get(index, 1.0) * factor
            changed[index] = min(max(shown, low), high) / own
        return replace(self, shininess=changed)

    def next_background(self, step: int = 1) -> Edits:
        """With the next background."""
        return replace(self, background=(self.background + step) % len(BACKGROUNDS))


def named_materials(edits: Edits, scene: Scene, buffers: SceneBuffers) -> dict[str, Material]:
    """The materials that have a name and were polished."""
    found: dict[str, Material] = {}
    packed, first = edits.scale_shininess(buffers.materials), 0
    for spheres in scene.spheres:
        if spheres.count and isinstance(spheres.material, str):
            index = int(buffers.material_id[first]) if len(buffers.material_id) else 0
            if index in edits.shininess:
                shown = float(packed["phong"]["shininess"][index])
                found[spheres.material] = replace(scene.material_of(spheres), shininess=shown)
        first += spheres.count
    return found


def lights_of(scene: Scene, edits: Edits, axes: Basis) -> tuple[Light, ...]:
    """The lights that shine now; the one of a scene without lights is made explicit.

    axes: of the view, from which that light comes.
    """
    if edits.lights is not None:
        return edits.lights
    if scene.lights is not None:
        return tuple(scene.lights)
    return key_lights(scene, axes)


def from_viewer(scene: Scene, axes: Basis) -> DirectionalLight:
    """Light from the viewer's upper left, as bright as that of the look, if it has one."""
    intensity = LOOKS[scene.render.look].key or LOOKS["plain"].key
    return DirectionalLight(triple(-towards_key(axes)), intensity=intensity)


def turned(light: Light, axes: Basis, right: float, up: float, pivot: Vector) -> Light:
    """A light turned about the pivot, so that it comes from farther right or up.

    light: a position in scene units, or a direction of any length; it comes back as a unit vector.
    right, up: radians, as the viewer sees it. pivot: scene units.
    """
    spin = right * axes.up - up * axes.right
    angle = float(np.linalg.norm(spin))
    turn = rotation(spin / angle, angle) if angle else np.eye(3)
    return light.rotated(turn, pivot)
