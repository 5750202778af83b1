"""Actions on camera, light, time line and window."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from math import hypot
from typing import Any

from raytracer.config.arguments import check_real, check_word
from raytracer.config.errors import UserError
from raytracer.config.tone_settings import MAX_STOPS
from raytracer.model.views import VIEWS, find_view_direction
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.actions import action
from raytracer.viewer.content import Edits, find_lights, rotate_light
from raytracer.viewer.messages import format_error
from raytracer.viewer.picking import find_hit_point, find_sphere, is_giant_picked
from raytracer.viewer.session import TECHNICAL, Session, Snapshot

APERTURE = 0.03  # diameter of the lens that the key sets, relative to the focus distance
DIGITS = "123456789"  # names of saved views
FRAME_RATE = 10.0  # frames per second at speed 1, unless loading takes longer
TURNTABLE_SPEED = 0.5  # radians per second of the turntable: a turn takes 12.6 seconds


# Camera


@action(undo=True)
def reset(session: Session) -> None:
    """Return to the camera, light, materials and tone of the scene."""
    session.edits, session.tone, session.turning = Edits(), session.initial_tone, False
    session.set_view(session.loaded_scene.make_initial_view(session.size))
    session.notify("as in the scene")


@action(undo=True)
def orbit(session: Session, right: float, up: float) -> None:
    """Turn about the pivot, in radians."""
    session.move(moves.orbit(session.view, right, up))


@action(undo=True)
def pan(session: Session, right: float, up: float) -> None:
    """Move sideways, in heights of the picture."""
    session.move(moves.pan(session.view, right, up))


@action(undo=True)
def dolly(session: Session, amount: float) -> None:
    """Multiply the distance to the pivot by e to the `amount`."""
    session.move(moves.dolly(session.view, moves.limited_exp(amount)))


@action(undo=True)
def zoom(session: Session, amount: float) -> None:
    """Multiply the tangent of half the field of view by e to the `amount`."""
    session.move(moves.zoom(session.view, moves.limited_exp(amount)))
    if not session.view.orthographic:
        session.notify(f"field of view {session.camera.vertical_fov:.3g}°")


@action(undo=True)
def toggle_projection(session: Session) -> None:
    """Switch between perspective and orthographic."""
    if not session.view.orthographic:
        session.vertical_fov = session.camera.vertical_fov
    session.move(moves.toggle_projection(session.view, session.vertical_fov))
    session.notify(session.view.pose.kind)


@action(undo=True)
def along(session: Session, x: float, y: float, z: float) -> None:
    """Look along a direction of the scene, of any length but 0."""
    length = hypot(x, y, z)
    if not length:
        raise UserError("along: 0, 0, 0 is not a direction")
    before = session.view
    session.move(moves.look_along(before, (x / length, y / length, z / length)))
    if session.view is before:
        raise UserError("a large sphere is in the way: look along the opposite axis")


@action(undo=True)
def fit_all(session: Session) -> None:
    """Fit all spheres except giants, such as a ground ball."""
    scene = session.loaded_scene
    fit = partial(scene.fit_all, size=session.size, whole=False)
    session.set_view(scene.giants.fit_unhidden(session.view, fit))


@action(undo=True)
def fit_giants(session: Session) -> None:
    """Fit all spheres."""
    session.set_view(session.loaded_scene.fit_all(session.view, session.size))


@action(undo=True)
def fit_picked(session: Session) -> None:
    """Centre the picked sphere; for a giant, the point that was hit."""
    if session.picked is None:
        raise UserError("click a sphere first")
    if is_giant_picked(session):
        session.move(moves.center_point(session.view, find_hit_point(session)))
    else:
        session.move(moves.center_sphere(session.view, *find_sphere(session, session.picked)))


@action(undo=True)
def focus_picked(session: Session) -> None:
    """Focus on the picked sphere through a lens; without one, all is sharp."""
    pose = session.view.pose
    if pose.kind != "perspective":
        raise UserError("a perspective camera has a lens: press O")
    if session.picked is None:
        session.set_view(replace(session.view, pose=replace(pose, aperture=0.0)))
        session.notify("all is in focus; click a sphere to focus on it")
    else:
        pose = replace(pose, aperture=pose.aperture or APERTURE, focus=find_hit_point(session))
        session.set_view(replace(session.view, pose=pose))
        session.notify(f"in focus: sphere {session.picked.number:,}")


@action(undo=True)
def view(session: Session, name: str) -> None:
    """Go to a view: x, -x, y, -y, z, -z, front, back, left, right, top, bottom, iso, or a saved
    one."""
    if name in session.views:
        kept, space = session.views[name]
        session.move(moves.change_space(kept, space, session.space))
        session.notify(f"view {name}")
    elif name in VIEWS:
        up_x, up_y, up_z = session.view.up.tolist()
        towards, _ = find_view_direction(name, (up_x, up_y, up_z))
        x, y, z = (-part / hypot(*towards) for part in towards)
        along(session, x, y, z)
    elif name and name in DIGITS:
        raise UserError(f"view {name} is not saved yet: Ctrl {name} saves it")
    else:
        check_word(name, "view: name", [*VIEWS, *DIGITS], "view")


@action()
def keep_view(session: Session, name: str) -> None:
    """Save the current view under a digit from 1."""
    session.views[check_word(name, "keep-view: name", DIGITS, "digit")] = (
        session.view, session.space
    )  # fmt: skip
    session.notify(f"view {name} is saved")


@action()
def undo(session: Session) -> None:
    """Undo the latest change of camera, light, tone, colours or selection."""
    _swap(session, session.history.before, session.history.after, "undo")


@action()
def redo(session: Session) -> None:
    """Redo the last undone change."""
    _swap(session, session.history.after, session.history.before, "redo")


def _swap(session: Session, source: list[Snapshot], target: list[Snapshot], what: str) -> None:
    if not source:
        raise UserError(f"there is nothing to {what}")
    target.append(session.snapshot())
    shown_view, space, session.edits, session.tone, content = source.pop()
    session.history.latest, session.turning = ("", 0.0), False
    session.set_view(moves.change_space(shown_view, space, session.space))
    content = replace(content, frame=session.content.frame)
    if content != session.content:
        session.show(content)
    session.notify(f"{what}ne")


# Light and exposure


@action(undo=True)
def turn_light(session: Session, right: float, up: float) -> None:
    """Turn the first light about the pivot, in radians."""
    axes, buffers = session.view.pose.axes, session.loaded_scene.buffers
    placed = session.loaded_scene.find_rig_axes(session.view, session.edits)
    lights = find_lights(session.loaded_scene.scene, session.edits, placed)
    if not lights:
        raise UserError("the scene has no light to turn")
    pivot = session.view.pivot * buffers.space.scale + buffers.space.center
    first = rotate_light(lights[0], axes, right, up, pivot)
    session.set_edits(replace(session.edits, lights=(first, *lights[1:])))


@action(undo=True)
def expose(session: Session, stops: float) -> None:
    """Brighten the picture; an automatic exposure is fixed at that of the latest picture."""
    tone, frame = session.tone, session.frame
    now = tone.exposure
    if tone.automatic:
        if frame is None or not frame.request.tone.automatic or frame.draft:
            raise UserError("the exposure is not metered yet: press it again")
        now = frame.stops
    exposure = float(now) + stops
    exposure = round(exposure, 2) if tone.automatic else round(exposure * 3) / 3
    set_tone(session, exposure=min(max(exposure, -MAX_STOPS), MAX_STOPS))
    session.notify(f"exposure {session.tone.exposure:+.2f}")


@action(undo=True)
def toggle_automatic(session: Session) -> None:
    """Switch automatic exposure on or off."""
    set_tone(session, exposure=0.0 if session.tone.automatic else "auto")
    session.notify("automatic exposure" if session.tone.automatic else "exposure as rendered")


def set_tone(session: Session, **changes: Any) -> None:
    session.tone = replace(session.tone, **changes)
    session.submit(session.requested)


# Time line


@action()
def frame(session: Session, number: int) -> None:
    """Show a frame, from 0; numbers are limited to the existing frames."""
    time = session.time
    number = min(max(number, 0), time.count - 1)
    time.follows = time.count > 1 and number == time.count - 1
    if number != session.frame_number:
        session.show(replace(session.content, frame=number))


@action()
def step(session: Session, count: int) -> None:
    """Step forward by a number of frames, or back if it is negative; playing ends."""
    session.time.playing = False
    _require_frames(session)
    frame(session, session.frame_number + count)


@action()
def play(session: Session, on: bool | None = None) -> None:
    """Play the frames, or pause; without an argument, toggle."""
    _require_frames(session)
    time = session.time
    time.playing = not time.playing if on is None else on
    time.waited = 0.0


def _require_frames(session: Session) -> None:
    if session.time.count == 1:
        raise UserError("there is one frame")


@action()
def set_speed(session: Session, factor: float) -> None:
    """Set the speed relative to 10 frames per second."""
    session.time.speed = check_real(factor, "set-speed: factor", 0.01, 100.0)
    session.notify(f"at most {FRAME_RATE * session.time.speed:g} frames per second")


def tick(session: Session, seconds: float) -> None:
    """Advance the turntable, and the frames once the previous one is loaded; an error ends both."""
    try:
        _advance(session, seconds)
    except Exception as error:
        session.turning = session.time.playing = False
        session.notify(format_error(error, "turntable and time line: failed"))


def _advance(session: Session, seconds: float) -> None:
    if session.turning:
        orbit(session, TURNTABLE_SPEED * seconds, 0.0)
    time = session.time
    if not time.playing:
        return
    time.waited += seconds
    if not session.loader.is_busy("show") and time.waited >= 1.0 / (FRAME_RATE * time.speed):
        time.waited = 0.0
        frame(session, (session.frame_number + 1 + time.refused) % time.count)


# Window


@action()
def toggle_overlay(session: Session) -> None:
    """Show the next level of text: plain, technical, none."""
    session.overlay = (session.overlay + 1) % (TECHNICAL + 1)


def _make_toggle(attribute: str) -> Callable[[Session], None]:
    return lambda session: setattr(session, attribute, not getattr(session, attribute))


action(name="toggle-turntable", about="Start or stop the turntable.")(_make_toggle("turning"))
action(name="toggle-panel", about="Show or hide the panel.")(_make_toggle("panel"))
action(name="toggle-full-screen", about="Fill the screen, or not.")(_make_toggle("full_screen"))


@action()
def toggle_help(session: Session) -> None:
    """Show the next page of the help, or close it after the last."""
    session.help = session.help + 1 if session.help < session.help_pages else 0


@action()
def cancel(session: Session) -> None:
    """Close the help, else cancel saving, the picks or the selection."""
    if session.help:
        session.help = 0
    elif session.worker.save_job is not None:
        cancelled = session.worker.save(None)
        session.notify("not saved" if cancelled else "it is already being written")
    elif session.picks:
        session.picks = []
    elif session.content.selection is not None:
        session.do("select", None)


@action()
def close(session: Session) -> None:
    """End the preview; a picture that is being rendered is not saved."""
    session.closing = True
