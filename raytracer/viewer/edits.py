"""Edits of a scene in the preview: light, background, ground, shininess, priority of glass."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import SceneBuffers
from raytracer.scene.background import Background
from raytracer.scene.lights import Light
from raytracer.scene.materials import AnyMaterial, Material, Principled
from raytracer.scene.packing.framing import Basis
from raytracer.scene.packing.lighting import ambient_of, key_lights
from raytracer.scene.scene import Scene
from raytracer.settings import LOOKS
from raytracer.viewer.view import Vector, rotation

SCENES = "the scene's"
BACKGROUNDS = {
    SCENES: None, "white": Background("white"), "black": Background("black"),
    "gray": Background.of_particles(), "transparent": Background(transparent=True),
}  # fmt: skip
"""Backgrounds of the preview, in the order of its key."""

INTEGRATOR_LOOKS = {"direct": "plain", "ao": "soft"}  # for scenes with lights

SHININESS = (1.0, 10000.0)

PRIORITY = (-1e6, 1e6)  # limits of the priority of glass


@dataclass(frozen=True)
class Edits:
    """Changes to a scene other than its camera."""

    lights: tuple[Light, ...] | None = None  # replace those of the scene; None keeps them
    background: str = SCENES  # one of `BACKGROUNDS`
    # Factors by index of the material in the packed table.
    shininess: Mapping[int, float] = field(default_factory=dict)
    # Settings of the render instead of the scene's: look, integrator, denoise, placement.
    render: Mapping[str, Any] = field(default_factory=dict)
    # Whether only the shadows on the ground are visible; None keeps the scene's.
    shadow_catcher: bool | None = None
    # Priority of glass by index of the material in the packed table.
    priority: Mapping[int, float] = field(default_factory=dict)

    def applied_to(self, scene: Scene) -> Scene:
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
            changes["ambient"] = ambient_of(scene.ambient, scene.lights, scene.render.rig)
        if self.shadow_catcher is not None and scene.ground is not None:
            changes["ground"] = replace(scene.ground, shadow_catcher=self.shadow_catcher)
        if background := BACKGROUNDS[self.background]:
            changes["background"] = replace(background, up=scene.background.up)
        return replace(scene, **changes) if changes else scene

    def edited(self, materials: NDArray[np.void]) -> NDArray[np.void]:
        """Apply shininess and priorities to materials, structured (M,), `Material`."""
        if not self.shininess and not self.priority:
            return materials
        changed = materials.copy()
        for index, factor in self.shininess.items():
            changed["phong"]["shininess"][index] *= factor
        for index, priority in self.priority.items():
            changed["principled"]["priority"][index] = priority
        return changed

    def with_shininess(self, materials: NDArray[np.void], which: list[int], factor: float) -> Edits:
        """Return edits with the shininess of some materials multiplied, within `SHININESS`.

        materials: structured (M,), `Material`. which: indices in this table, of Phong materials.
        """
        changed = dict(self.shininess)
        for index in which:
            old = float(materials["phong"]["shininess"][index])
            low, high = min(SHININESS[0], old), max(SHININESS[1], old)
            shown = old * changed.get(index, 1.0) * factor
            changed[index] = min(max(shown, low), high) / old
        return replace(self, shininess=changed)

    def with_priority(self, materials: NDArray[np.void], index: int, step: float) -> Edits:
        """Return edits with the priority of a glass raised by `step`, within `PRIORITY`.

        materials: structured (M,), `Material`. index: in this table.
        """
        stated = float(materials["principled"]["priority"][index])
        low, high = PRIORITY
        raised = min(max(self.priority.get(index, stated) + step, low), high)
        return replace(self, priority={**self.priority, index: raised})

    def rendered(self, **settings: Any) -> Edits:
        """Return edits with other render settings; a new look resets the integrator."""
        if "look" in settings:
            settings["integrator"] = None
        return replace(self, render={**self.render, **settings})

    @staticmethod
    def looks(scene: Scene) -> list[str]:
        return list(LOOKS) if scene.lights is None else list(INTEGRATOR_LOOKS.values())

    def look_of(self, scene: Scene) -> str:
        settings = self.applied_to(scene).render
        if scene.lights is None:
            return settings.look
        return INTEGRATOR_LOOKS.get(settings.resolved_integrator, self.looks(scene)[-1])


def named_materials(edits: Edits, scene: Scene, buffers: SceneBuffers) -> dict[str, AnyMaterial]:
    """Return the named materials whose shininess or priority was changed, by name."""
    changed: dict[str, AnyMaterial] = {}
    packed, first = edits.edited(buffers.materials), 0
    for surface in scene.surfaces():
        if isinstance(surface.material, str):
            index = int(buffers.material_id[first]) if len(buffers.material_id) else 0
            material = scene.material_of(surface)
            if index in edits.shininess and isinstance(material, Material):
                shown = float(packed["phong"]["shininess"][index])
                changed[surface.material] = replace(material, shininess=shown)
            elif index in edits.priority and isinstance(material, Principled):
                changed[surface.material] = replace(material, priority=edits.priority[index])
        first += surface.count
    return changed


def lights_of(scene: Scene, edits: Edits, axes: Basis) -> tuple[Light, ...]:
    """Return the current lights; for a scene without lights, the default light."""
    if edits.lights is not None:
        return edits.lights
    if scene.lights is not None:
        return tuple(scene.lights)
    return key_lights(edits.applied_to(scene).render, axes)


def turned(light: Light, axes: Basis, right: float, up: float, pivot: Vector) -> Light:
    """Rotate a light about a pivot, float64 (3,), scene units."""
    spin = right * axes.up - up * axes.right
    angle = float(np.linalg.norm(spin))
    turn = rotation(spin / angle, angle) if angle else np.eye(3)
    return light.rotated(turn, pivot)
