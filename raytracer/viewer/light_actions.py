"""Actions of light, look, materials, background, ground and exposure."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from raytracer.film.tone_settings import MAX_STOPS
from raytracer.scene.lights import DirectionalLight
from raytracer.scene.packing.lighting import towards_key
from raytracer.scene.simulation_box import triple
from raytracer.settings import LOOKS
from raytracer.viewer import edits
from raytracer.viewer.actions import action
from raytracer.viewer.state import ViewerState


@action(undo=True)
def turn_light(viewer: ViewerState, right: float, up: float) -> None:
    """Turn the first light about the pivot, in radians."""
    axes, buffers = viewer.view.pose.axes, viewer.loaded_scene.buffers
    placed = viewer.loaded_scene.rig_axes(viewer.view, viewer.edits)
    lights = edits.lights_of(viewer.loaded_scene.scene, viewer.edits, placed)
    if not lights:
        viewer.notify("the scene has no light to turn")
        return
    pivot = viewer.view.pivot * buffers.scale + buffers.center
    first = edits.turned(lights[0], axes, right, up, pivot)
    viewer.set_edits(replace(viewer.edits, lights=(first, *lights[1:])))


@action(undo=True)
def light_from_viewer(viewer: ViewerState) -> None:
    """Replace all lights by one at the viewer's upper left, which then stays in the scene."""
    render = viewer.edited.render
    direction = triple(-towards_key(viewer.view.pose.axes, render.light))
    light = DirectionalLight(direction, intensity=render.rig.key or LOOKS["plain"].key)
    viewer.set_edits(replace(viewer.edits, lights=(light,)))
    viewer.notify("light from the viewer")


@action(undo=True)
def expose(viewer: ViewerState, stops: float) -> None:
    """Brighten the picture; an automatic exposure is metered first and then fixed."""
    if not viewer.tone.automatic:
        _set_exposure(viewer, round((float(viewer.tone.exposure) + stops) * 3) / 3)
    elif viewer.exposure_steps is None:
        viewer.exposure_steps = stops
        viewer.worker.meter()
    else:
        viewer.exposure_steps += stops


@action(undo=True)
def toggle_automatic(viewer: ViewerState) -> None:
    """Switch automatic exposure on or off."""
    set_tone(viewer, exposure=0.0 if viewer.tone.automatic else "auto")
    if viewer.tone.automatic:
        viewer.exposure_steps = 0.0
        viewer.worker.meter()
    else:
        viewer.notify("exposure as rendered")


def receive_metered(viewer: ViewerState, stops: float) -> None:
    """Apply the metered exposure of the picture, in stops."""
    steps, viewer.exposure_steps = viewer.exposure_steps, None
    if viewer.tone.automatic and steps:
        _set_exposure(viewer, round(stops + steps, 2))
    elif viewer.tone.automatic:
        viewer.notify(f"automatic exposure, {stops:+.2f} stops now")


def _set_exposure(viewer: ViewerState, exposure: float) -> None:
    set_tone(viewer, exposure=min(max(exposure, -MAX_STOPS), MAX_STOPS))
    viewer.notify(f"exposure {viewer.tone.exposure:+.2f}")


def set_tone(viewer: ViewerState, **changes: Any) -> None:
    viewer.tone = replace(viewer.tone, **changes)
    viewer.submit(viewer.buffers)
