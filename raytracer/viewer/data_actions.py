"""Actions on particles: colours by columns, glyphs, selection, hiding and slices."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.arguments import check_real, check_word
from raytracer.config.errors import UserError, pluralize
from raytracer.model.scene import Scene
from raytracer.model.sphere_set import SphereSet
from raytracer.viewer import orbit_camera
from raytracer.viewer.actions import action
from raytracer.viewer.content import AXES, KEPT_SIDES, ParticleSelection, Slice, find_ids
from raytracer.viewer.session import Session

UNLIKELY = ("x", "y", "z", "index", "radius", "id")  # columns that the key offers last
FADED = 0.15  # opacity of faded particles, times their own


def _change_content(session: Session, notice: str = "", **changes: Any) -> None:
    session.show(replace(session.content, **changes))
    if notice:
        session.notify(notice)


def _find_all_particles(session: Session) -> Scene:
    return session.loaded_scene.all_particles


def count_hidden(session: Session) -> int:
    return _find_all_particles(session).count - session.loaded_scene.scene.count


def list_columns(session: Session) -> list[str]:
    kinds: dict[str, str] = {}
    for spheres in list_sets(session):
        about = spheres.columns.about
        kinds |= {name: each.kind for name, each in about.items() if not each.shape}
    usual = [name for name in kinds if name not in UNLIKELY]
    usual.sort(key=lambda name: kinds[name] != "number")
    return [*usual, *(name for name in UNLIKELY if name in kinds)]


def list_sets(session: Session) -> list[SphereSet]:
    sets = list(_find_all_particles(session).spheres)
    return [each for each in sets if each.source] or sets


# Selection


@action(undo=True)
def select(session: Session, condition: str | None) -> None:
    """Select the particles that fulfil a condition: type == 'O' and z > 3; "" selects none."""
    condition = (condition or "").strip()
    _set_selection(session, ParticleSelection(condition) if condition else None)


@action(undo=True)
def select_box(session: Session, x0: int, y0: int, x1: int, y1: int) -> None:
    """Select the particles whose centres are in a rectangle of the picture, in pixels."""
    loaded = session.loaded_scene
    points = loaded.packed.centers
    width, height = session.size
    places, ahead = orbit_camera.project_points(
        session.view, points.astype(np.float64), width / height
    )
    corners = np.array([(x0, y0), (x1, y1)], np.float64) / session.size * (2, -2) + (-1, 1)
    inside = (places >= corners.min(axis=0)).all(axis=1) & ahead
    inside &= (places <= corners.max(axis=0)).all(axis=1)
    rows = np.flatnonzero(inside[: loaded.scene.count])
    numbers = rows if loaded.numbers is None else loaded.numbers[rows]
    _set_selection(session, _make_selection(session, numbers))


@action(undo=True)
def select_picked(session: Session) -> None:
    """Select the picked particles."""
    if (chosen := _make_selection_of_picks(session)) is None:
        raise UserError("click a particle first")
    _set_selection(session, chosen)


@action(undo=True)
def invert_selection(session: Session) -> None:
    """Select the particles that are not selected."""
    plain, chosen = _find_all_particles(session), session.content.selection
    mask = np.zeros(plain.count, bool) if chosen is None else chosen.make_mask(plain)
    _set_selection(session, _make_selection(session, np.flatnonzero(~mask)))


def _make_selection(
    session: Session, numbers: Sequence[int] | NDArray[np.int64]
) -> ParticleSelection | None:
    """Choose particles of the shown frame by id, or by number if its file has no ids."""
    keys, ids = np.asarray(numbers, np.int64), find_ids(_find_all_particles(session))
    return ParticleSelection(keys=keys if ids is None else ids[keys]) if len(keys) else None


def _make_selection_of_picks(session: Session) -> ParticleSelection | None:
    count = _find_all_particles(session).count  # behind which are other solids
    return _make_selection(session, [each.number for each in session.picks if each.number < count])


def _set_selection(session: Session, chosen: ParticleSelection | None) -> None:
    count = (
        0
        if chosen is None
        else int(np.count_nonzero(chosen.make_mask(_find_all_particles(session))))
    )
    session.notify(f"{pluralize(count, 'particle')} selected" if count else "nothing is selected")
    chosen = chosen if count else None
    if chosen is not session.content.selection:
        _change_content(session, selection=chosen)


def count_selected(session: Session) -> int:
    return session.loaded_scene.selected if session.content.selection is not None else 0


# What is shown


def _define_actions(how: str, which: str, about: str) -> None:
    """Define an action that hides or fades what is selected, or the rest."""
    name, more = {"hide": ("hidden", ()), "fade": ("faded", (FADED,))}[how]

    def leave_out(session: Session) -> None:
        chosen = session.content.selection or _make_selection_of_picks(session)
        if chosen is None:
            raise UserError("select or click particles first")
        parts = (*getattr(session.content, name), (chosen, which == "rest", *more))
        said = "rest" if which == "rest" else "selection"
        _change_content(session, f"the {said} is {name}", selection=None, **{name: parts})

    action(undo=True, name=f"{how}-{which}", about=about)(leave_out)


_define_actions("hide", "selected", "Hide the selected particles, or else the picked ones.")
_define_actions(
    "hide", "rest", "Hide all but the selected particles, or else all but the picked ones."
)
_define_actions("fade", "selected", "Fade the selected particles, or else the picked ones.")
_define_actions(
    "fade", "rest", "Fade all but the selected particles, or else all but the picked ones."
)


@action(undo=True)
def show_all(session: Session) -> None:
    """Show all particles again, without fading and slice."""
    _change_content(session, "all particles are shown", hidden=(), faded=(), slice=None)


@action(undo=True)
def slice_(
    session: Session, axis: str | None, position: float | None = None, keep: str | None = None
) -> None:
    """Show what is below or above a position on an axis, 0..1 of the extent; None: no slice.

    Without `keep`, a new slice cuts off what is in front of the camera.
    """
    if axis is None:
        _change_content(session, "no slice", slice=None)
        return
    check_word(axis, "slice: axis", AXES, "axis")
    now = session.content.slice
    if now is None or now.axis != axis:
        toward = session.view.pose.axes.forward[AXES.index(axis)]
        now = Slice(axis, keep=KEPT_SIDES[bool(toward > 0.0)])
    at = now.position if position is None else position
    at = check_real(at, "slice: position", 0.0, 1.0)
    side = check_word(keep or now.keep, "slice: keep", KEPT_SIDES, "side")
    _change_content(session, f"slice: {axis}, what is {side} {at:.0%}", slice=Slice(axis, at, side))


@action(undo=True)
def next_slice(session: Session) -> None:
    """Slice along the axis nearest to the view, then along the others, then not at all."""
    now, forward = session.content.slice, np.abs(session.view.pose.axes.forward)
    order = [None, *(AXES[index] for index in np.argsort(-forward, kind="stable"))]
    slice_(session, order[(order.index(now.axis if now else None) + 1) % len(order)])


@action(undo=True)
def flip_slice(session: Session) -> None:
    """Show the other side of the slice."""
    now = _require_slice(session)
    slice_(session, now.axis, keep=KEPT_SIDES[1 - KEPT_SIDES.index(now.keep)])


@action(undo=True)
def move_slice(session: Session, amount: float) -> None:
    """Move the slice by a fraction of the extent."""
    now = _require_slice(session)
    slice_(session, now.axis, min(max(now.position + amount, 0.0), 1.0))


def _require_slice(session: Session) -> Slice:
    if session.content.slice is None:
        raise UserError("there is no slice")
    return session.content.slice
