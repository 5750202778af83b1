"""Actions on camera, light, time line and window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import hypot
from typing import Any

from raytracer.arguments import one_of, real
from raytracer.errors import UserError
from raytracer.film.tone_settings import MAX_STOPS
from raytracer.scene.views import VIEWS, looking
from raytracer.viewer import edits
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.actions import action
from raytracer.viewer.edits import Edits
from raytracer.viewer.picking import giant_picked, hit_place, sphere_of
from raytracer.viewer.state import TECHNICAL, Snapshot, ViewerState

APERTURE = 0.03  # diameter of the lens that the key sets, relative to the focus distance
DIGITS = "123456789"  # names of saved views
FRAME_RATE = 10.0  # frames per second at speed 1, unless loading takes longer
TURNTABLE_SPEED = 0.5  # radians per second of the turntable: a turn takes 12.6 seconds


# Camera


@action(undo=True)
def reset(viewer: ViewerState) -> None:
    """Return to the camera, light, materials and tone of the scene."""
    viewer.edits, viewer.tone, viewer.turning = Edits(), viewer.initial_tone, False
    viewer.set_view(viewer.initial_view())
    viewer.notify("as in the scene")


@action(undo=True)
def orbit(viewer: ViewerState, right: float, up: float) -> None:
    """Turn about the pivot, in radians."""
    viewer.move(moves.orbit(viewer.view, right, up))


@action(undo=True)
def pan(viewer: ViewerState, right: float, up: float) -> None:
    """Move sideways, in heights of the picture."""
    viewer.move(moves.pan(viewer.view, right, up))


@action(undo=True)
def dolly(viewer: ViewerState, amount: float) -> None:
    """Multiply the distance to the pivot by e to the `amount`."""
    viewer.move(moves.dolly(viewer.view, moves.power(amount)))


@action(undo=True)
def zoom(viewer: ViewerState, amount: float) -> None:
    """Multiply the tangent of half the field of view by e to the `amount`."""
    viewer.move(moves.zoom(viewer.view, moves.power(amount)))
    if not viewer.view.orthographic:
        viewer.notify(f"field of view {viewer.camera.vertical_fov:.3g}°")


@action(undo=True)
def toggle_projection(viewer: ViewerState) -> None:
    """Switch between perspective and orthographic."""
    if not viewer.view.orthographic:
        viewer.vertical_fov = viewer.camera.vertical_fov
    viewer.move(moves.toggle(viewer.view, viewer.vertical_fov))
    viewer.notify(viewer.view.pose.kind)


@action(undo=True)
def along(viewer: ViewerState, x: float, y: float, z: float) -> None:
    """Look along a direction of the scene, of any length but 0."""
    length = hypot(x, y, z)
    if not length:
        raise UserError("along: 0, 0, 0 is not a direction")
    before = viewer.view
    viewer.move(moves.along(before, (x / length, y / length, z / length)))
    if viewer.view is before:
        viewer.notify("a large sphere is in the way: look along the opposite axis")


@action(undo=True)
def fit_all(viewer: ViewerState) -> None:
    """Fit all spheres except giants, such as a ground ball."""
    fit = partial(viewer.showing_all, whole=False)
    viewer.set_view(viewer.loaded_scene.giants.fitted(viewer.view, fit))


@action(undo=True)
def fit_giants(viewer: ViewerState) -> None:
    """Fit all spheres."""
    viewer.set_view(viewer.showing_all(viewer.view))


@action(undo=True)
def fit_picked(viewer: ViewerState) -> None:
    """Centre the picked sphere; for a giant, the point that was hit."""
    if viewer.picked is None:
        viewer.notify("click a sphere first")
    elif giant_picked(viewer):
        viewer.move(moves.to_point(viewer.view, hit_place(viewer)))
    else:
        viewer.move(moves.to_sphere(viewer.view, *sphere_of(viewer, viewer.picked)))


@action(undo=True)
def focus_picked(viewer: ViewerState) -> None:
    """Focus on the picked sphere through a lens; without one, all is sharp."""
    pose = viewer.view.pose
    if pose.kind != "perspective":
        viewer.notify("a perspective camera has a lens: press O")
    elif viewer.picked is None:
        viewer.set_view(replace(viewer.view, pose=replace(pose, aperture=0.0)))
        viewer.notify("all is in focus; click a sphere to focus on it")
    else:
        pose = replace(pose, aperture=pose.aperture or APERTURE, focus=hit_place(viewer))
        viewer.set_view(replace(viewer.view, pose=pose))
        viewer.notify(f"in focus: sphere {viewer.picked.number:,}")


@action(undo=True)
def view(viewer: ViewerState, name: str) -> None:
    """Go to a view: x, -x, y, -y, z, -z, front, back, left, right, top, bottom, iso, or a saved
    one."""
    if name in viewer.views:
        kept, space = viewer.views[name]
        viewer.move(moves.rebased(kept, space, viewer.space))
        viewer.notify(f"view {name}")
    elif name in VIEWS:
        up_x, up_y, up_z = viewer.view.up.tolist()
        towards, _ = looking(name, (up_x, up_y, up_z))
        x, y, z = (-part / hypot(*towards) for part in towards)
        along(viewer, x, y, z)
    elif name and name in DIGITS:
        viewer.notify(f"view {name} is not saved yet: Ctrl {name} saves it")
    else:
        one_of(name, "view: name", [*VIEWS, *DIGITS], "view")


@action()
def keep_view(viewer: ViewerState, name: str) -> None:
    """Save the current view under a digit from 1."""
    viewer.views[one_of(name, "keep-view: name", DIGITS, "digit")] = (
        viewer.view, viewer.space
    )  # fmt: skip
    viewer.notify(f"view {name} is saved")


@action()
def undo(viewer: ViewerState) -> None:
    """Undo the latest change of camera, light, tone, colours or selection."""
    _swap(viewer, viewer.history.before, viewer.history.after, "undo", "undone")


@action()
def redo(viewer: ViewerState) -> None:
    """Redo the last undone change."""
    _swap(viewer, viewer.history.after, viewer.history.before, "redo", "redone")


def _swap(
    viewer: ViewerState, source: list[Snapshot], target: list[Snapshot], what: str, notice: str
) -> None:
    if not source:
        viewer.notify(f"there is nothing to {what}")
        return
    target.append(viewer.snapshot())
    shown_view, space, viewer.edits, viewer.tone, content = source.pop()
    viewer.history.latest, viewer.turning = ("", 0.0), False
    viewer.set_view(moves.rebased(shown_view, space, viewer.space))
    content = replace(content, frame=viewer.content.frame)
    if content != viewer.content:
        viewer.show(content)
    viewer.notify(notice)


# Light and exposure


@action(undo=True)
def turn_light(viewer: ViewerState, right: float, up: float) -> None:
    """Turn the first light about the pivot, in radians."""
    axes, buffers = viewer.view.pose.axes, viewer.loaded_scene.buffers
    placed = viewer.loaded_scene.rig_axes(viewer.view, viewer.edits)
    lights = edits.lights_of(viewer.loaded_scene.scene, viewer.edits, placed)
    if not lights:
        viewer.notify("the scene has no light to turn")
        return
    pivot = viewer.view.pivot * buffers.space.scale + buffers.space.center
    first = edits.turned(lights[0], axes, right, up, pivot)
    viewer.set_edits(replace(viewer.edits, lights=(first, *lights[1:])))


@action(undo=True)
def expose(viewer: ViewerState, stops: float) -> None:
    """Brighten the picture; an automatic exposure is fixed at that of the latest picture."""
    tone, frame = viewer.tone, viewer.frame
    now = tone.exposure
    if tone.automatic:
        if frame is None or not frame.request.tone.automatic or frame.draft:
            viewer.notify("the exposure is not metered yet: press it again")
            return
        now = frame.stops
    exposure = float(now) + stops
    exposure = round(exposure, 2) if tone.automatic else round(exposure * 3) / 3
    set_tone(viewer, exposure=min(max(exposure, -MAX_STOPS), MAX_STOPS))
    viewer.notify(f"exposure {viewer.tone.exposure:+.2f}")


@action(undo=True)
def toggle_automatic(viewer: ViewerState) -> None:
    """Switch automatic exposure on or off."""
    set_tone(viewer, exposure=0.0 if viewer.tone.automatic else "auto")
    viewer.notify("automatic exposure" if viewer.tone.automatic else "exposure as rendered")


def set_tone(viewer: ViewerState, **changes: Any) -> None:
    viewer.tone = replace(viewer.tone, **changes)
    viewer.submit(viewer.buffers)


# Time line


def receive_count(viewer: ViewerState, count: int) -> None:
    """Note the number of frames; at the end of a growing file, show its new end."""
    time = viewer.time
    grew = count > time.count > 1
    was_last = viewer.frame_number == time.count - 1
    time.count = max(count, 1)
    if grew:
        viewer.notify(f"{time.count:,} frames")
    if (grew and was_last and time.follows) or viewer.frame_number >= time.count:
        frame(viewer, time.count - 1)


@action()
def frame(viewer: ViewerState, number: int) -> None:
    """Show a frame, from 0; numbers are limited to the existing frames."""
    time = viewer.time
    number = min(max(number, 0), time.count - 1)
    time.follows = time.count > 1 and number == time.count - 1
    if number != viewer.frame_number:
        viewer.show(replace(viewer.content, frame=number))


@action()
def step(viewer: ViewerState, count: int) -> None:
    """Step forward by a number of frames, or back if it is negative; playing ends."""
    viewer.time.playing = False
    if viewer.time.count == 1:
        viewer.notify("there is one frame")
        return
    frame(viewer, viewer.frame_number + count)


@action()
def play(viewer: ViewerState, on: bool | None = None) -> None:
    """Play the frames, or pause; without an argument, toggle."""
    time = viewer.time
    if time.count == 1:
        viewer.notify("there is one frame")
        return
    time.playing = not time.playing if on is None else on
    time.waited = 0.0


@action()
def set_speed(viewer: ViewerState, factor: float) -> None:
    """Set the speed relative to 10 frames per second."""
    viewer.time.speed = real(factor, "set-speed: factor", 0.01, 100.0)
    viewer.notify(f"at most {FRAME_RATE * viewer.time.speed:g} frames per second")


def tick(viewer: ViewerState, seconds: float) -> None:
    """Advance the turntable, and the frames once the previous one is loaded."""
    if viewer.turning:
        orbit(viewer, TURNTABLE_SPEED * seconds, 0.0)
    time = viewer.time
    if not time.playing:
        return
    time.waited += seconds
    if not viewer.loader.busy and time.waited >= 1.0 / (FRAME_RATE * time.speed):
        time.waited = 0.0
        frame(viewer, (viewer.frame_number + 1) % time.count)


# Window


@action()
def toggle_overlay(viewer: ViewerState) -> None:
    """Show the next level of text: plain, technical, none."""
    viewer.overlay = (viewer.overlay + 1) % (TECHNICAL + 1)


def _toggled(attribute: str) -> Callable[[ViewerState], None]:
    return lambda viewer: setattr(viewer, attribute, not getattr(viewer, attribute))


action(name="toggle-turntable", about="Start or stop the turntable.")(_toggled("turning"))
action(name="toggle-panel", about="Show or hide the panel.")(_toggled("panel"))
action(name="toggle-full-screen", about="Fill the screen, or not.")(_toggled("full_screen"))


@action()
def toggle_help(viewer: ViewerState) -> None:
    """Show the next page of the help, or close it after the last."""
    viewer.help = viewer.help + 1 if viewer.help < viewer.help_pages else 0


@action()
def cancel(viewer: ViewerState) -> None:
    """Close the help, else cancel saving, the picks or the selection."""
    if viewer.help:
        viewer.help = 0
    elif viewer.worker.save_job is not None:
        cancelled = viewer.worker.save(None)
        viewer.notify("not saved" if cancelled else "it is already being written")
    elif viewer.picks:
        viewer.picks = []
    elif viewer.content.selection is not None:
        viewer.do("select", None)


@action()
def close(viewer: ViewerState) -> None:
    """End the preview; a picture that is being rendered is not saved."""
    viewer.closing = True
