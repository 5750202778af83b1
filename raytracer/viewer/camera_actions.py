"""Camera actions: movements, lens, standard and saved views, undo."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from math import hypot

from raytracer.errors import UserError, shown, suggestion
from raytracer.scene.views import VIEWS, looking
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.actions import action
from raytracer.viewer.edits import Edits
from raytracer.viewer.picking import giant_picked, hit_place
from raytracer.viewer.state import Snapshot, ViewerState

APERTURE = 0.03  # diameter of the lens that the key sets, relative to the focus distance
MAX_VIEWS, MAX_LETTERS = 100, 40  # most saved views, and the longest name of one


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
        sphere = viewer.loaded_scene.sphere(viewer.picked.id)
        viewer.move(moves.to_sphere(viewer.view, *sphere))


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


@action()
def toggle_turntable(viewer: ViewerState) -> None:
    """Start or stop the turntable."""
    viewer.turning = not viewer.turning


@action(undo=True)
def view(viewer: ViewerState, name: str) -> None:
    """Go to a view: x, -x, y, -y, z, -z, front, back, left, right, top, bottom, iso, or a saved
    one."""
    if name in viewer.views:
        kept, space = viewer.views[name]
        viewer.move(moves.rebased(kept, space, viewer.space))
        viewer.notify(f"view {shown(name)}")
    elif name in VIEWS:
        up_x, up_y, up_z = viewer.view.up.tolist()
        towards, _ = looking(name, (up_x, up_y, up_z))
        x, y, z = (-part / hypot(*towards) for part in towards)
        along(viewer, x, y, z)
    elif name.isdigit():
        viewer.notify(f"view {shown(name)} is not saved yet: Ctrl {shown(name)} saves it")
    else:
        known = [*VIEWS, *viewer.views]
        raise UserError(f"there is no view '{shown(name)}'; {suggestion(name, known)}")


@action()
def keep_view(viewer: ViewerState, name: str) -> None:
    """Save the current view under a name."""
    if not 0 < len(name) <= MAX_LETTERS or name in VIEWS:
        raise UserError(
            f"keep-view: name: '{shown(name)}' is a standard view, empty or too long: choose "
            "another name"
        )
    if len(viewer.views) >= MAX_VIEWS and name not in viewer.views:
        raise UserError(f"keep-view: {MAX_VIEWS} views are saved: replace one of them")
    viewer.views[name] = viewer.view, viewer.space
    viewer.notify(f"view {shown(name)} is saved")


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
