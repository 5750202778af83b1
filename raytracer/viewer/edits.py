"""Edits of a scene in the preview: light, background, ground, look."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from raytracer.scene.background import Background
from raytracer.scene.lights import Light
from raytracer.scene.packing.framing import Basis
from raytracer.scene.packing.lighting import ambient_of, key_lights
from raytracer.scene.scene import Scene
from raytracer.viewer.orbit_camera import Vector, rotation

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

    def rendered(self, **settings: Any) -> Edits:
        """Return edits with other render settings; a new look resets the integrator."""
        if "look" in settings:
            settings["integrator"] = None
        return replace(self, render={**self.render, **settings})


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
