"""Actions on particles: colours by columns, glyphs, selection, hiding and slices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.arguments import one_of, real
from raytracer.errors import counted
from raytracer.scene.scene import Scene
from raytracer.scene.sphere_set import SphereSet
from raytracer.viewer import orbit_camera
from raytracer.viewer.actions import action
from raytracer.viewer.content import AXES, KEPT_SIDES, Chosen, Slice, ids_of
from raytracer.viewer.state import ViewerState

UNLIKELY = ("x", "y", "z", "index", "radius", "id")  # columns that the key offers last
FADED = 0.15  # opacity of faded particles, times their own


def _change(viewer: ViewerState, notice: str = "", **changes: Any) -> None:
    viewer.show(replace(viewer.content, **changes))
    if notice:
        viewer.notify(notice)


def _plain(viewer: ViewerState) -> Scene:
    return viewer.loaded_scene.all_particles


def hidden(viewer: ViewerState) -> int:
    return _plain(viewer).count - viewer.loaded_scene.scene.count


def columns(viewer: ViewerState) -> list[str]:
    kinds: dict[str, str] = {}
    for spheres in sets_of(viewer):
        about = spheres.columns.about
        kinds |= {name: each.kind for name, each in about.items() if not each.shape}
    usual = [name for name in kinds if name not in UNLIKELY]
    usual.sort(key=lambda name: kinds[name] != "number")
    return [*usual, *(name for name in UNLIKELY if name in kinds)]


def sets_of(viewer: ViewerState) -> list[SphereSet]:
    sets = list(_plain(viewer).spheres)
    return [each for each in sets if each.source] or sets


# Selection


@action(undo=True)
def select(viewer: ViewerState, condition: str | None) -> None:
    """Select the particles that fulfil a condition: type == 'O' and z > 3; "" selects none."""
    condition = (condition or "").strip()
    _select(viewer, Chosen(condition) if condition else None)


@action(undo=True)
def select_box(viewer: ViewerState, x0: int, y0: int, x1: int, y1: int, add: bool = False) -> None:
    """Select the particles whose centres are in a rectangle of the picture, in pixels."""
    loaded = viewer.loaded_scene
    points = np.stack([loaded.packed.x, loaded.packed.y, loaded.packed.z], axis=1)
    places, ahead = orbit_camera.project(viewer.view, points.astype(np.float64), viewer.aspect)
    corners = np.array([(x0, y0), (x1, y1)], np.float64) / viewer.size * (2, -2) + (-1, 1)
    inside = (places >= corners.min(axis=0)).all(axis=1) & ahead
    inside &= (places <= corners.max(axis=0)).all(axis=1)
    rows = np.flatnonzero(inside[: loaded.scene.count])
    numbers = rows if loaded.numbers is None else loaded.numbers[rows]
    if add and viewer.content.selection is not None:
        before = np.flatnonzero(viewer.content.selection.mask(_plain(viewer)))
        numbers = np.union1d(before, numbers)
    _select(viewer, _chosen(viewer, numbers))


@action(undo=True)
def select_picked(viewer: ViewerState) -> None:
    """Select the picked particles."""
    if chosen := _of_picks(viewer):
        _select(viewer, chosen)
    else:
        viewer.notify("click a particle first")


@action(undo=True)
def invert_selection(viewer: ViewerState) -> None:
    """Select the particles that are not selected."""
    plain, chosen = _plain(viewer), viewer.content.selection
    mask = np.zeros(plain.count, bool) if chosen is None else chosen.mask(plain)
    _select(viewer, _chosen(viewer, np.flatnonzero(~mask)))


def _chosen(viewer: ViewerState, numbers: Sequence[int] | NDArray[np.int64]) -> Chosen | None:
    """Choose particles of the shown frame by id, or by number if its file has no ids."""
    keys, ids = np.asarray(numbers, np.int64), ids_of(_plain(viewer))
    return Chosen(keys=keys if ids is None else ids[keys]) if len(keys) else None


def _of_picks(viewer: ViewerState) -> Chosen | None:
    count = _plain(viewer).count  # behind which are other solids
    return _chosen(viewer, [each.number for each in viewer.picks if each.number < count])


def _select(viewer: ViewerState, chosen: Chosen | None) -> None:
    count = 0 if chosen is None else int(np.count_nonzero(chosen.mask(_plain(viewer))))
    viewer.notify(f"{counted(count, 'particle')} selected" if count else "nothing is selected")
    chosen = chosen if count else None
    if chosen is not viewer.content.selection:
        _change(viewer, selection=chosen)


def selected(viewer: ViewerState) -> int:
    return viewer.loaded_scene.selected if viewer.content.selection is not None else 0


# What is shown


def _leave_out(how: str, which: str) -> Callable[[ViewerState], None]:
    """Return a function that hides or fades what is selected, or the rest."""
    name, more = {"hide": ("hidden", ()), "fade": ("faded", (FADED,))}[how]

    def leave_out(viewer: ViewerState) -> None:
        content = viewer.content
        chosen = content.selection or _of_picks(viewer)
        if chosen is None:
            viewer.notify("select or click particles first")
            return
        parts = (*getattr(content, name), (chosen, which == "rest", *more))
        said = "rest" if which == "rest" else "selection"
        _change(viewer, f"the {said} is {name}", selection=None, **{name: parts})

    return leave_out


LEAVE_OUT = (
    ("hide-selected", "Hide the selected particles, or else the picked ones."),
    ("hide-rest", "Hide all but the selected particles, or else all but the picked ones."),
    ("fade-selected", "Fade the selected particles, or else the picked ones."),
    ("fade-rest", "Fade all but the selected particles, or else all but the picked ones."),
)
for name, about in LEAVE_OUT:
    action(undo=True, name=name, about=about)(_leave_out(*name.split("-")))


@action(undo=True)
def show_all(viewer: ViewerState) -> None:
    """Show all particles again, without fading and slice."""
    _change(viewer, "all particles are shown", hidden=(), faded=(), slice=None)


@action(undo=True)
def slice_(
    viewer: ViewerState, axis: str | None, position: float | None = None, keep: str | None = None
) -> None:
    """Show what is below or above a position on an axis, 0..1 of the extent; None: no slice.

    Without `keep`, a new slice cuts off what is in front of the camera.
    """
    if axis is None:
        _change(viewer, "no slice", slice=None)
        return
    one_of(axis, "slice: axis", AXES, "axis")
    now = viewer.content.slice
    if now is None or now.axis != axis:
        toward = viewer.view.pose.axes.forward[AXES.index(axis)]
        now = Slice(axis, keep=KEPT_SIDES[bool(toward > 0.0)])
    at = now.position if position is None else position
    at = real(at, "slice: position", 0.0, 1.0)
    side = one_of(keep or now.keep, "slice: keep", KEPT_SIDES, "side")
    _change(viewer, f"slice: {axis}, what is {side} {at:.0%}", slice=Slice(axis, at, side))


@action(undo=True)
def next_slice(viewer: ViewerState) -> None:
    """Slice along the axis nearest to the view, then along the others, then not at all."""
    now, forward = viewer.content.slice, np.abs(viewer.view.pose.axes.forward)
    order = [None, *(AXES[index] for index in np.argsort(-forward, kind="stable"))]
    slice_(viewer, order[(order.index(now.axis if now else None) + 1) % len(order)])


@action(undo=True)
def flip_slice(viewer: ViewerState) -> None:
    """Show the other side of the slice."""
    if now := _sliced(viewer):
        slice_(viewer, now.axis, keep=KEPT_SIDES[1 - KEPT_SIDES.index(now.keep)])


@action(undo=True)
def move_slice(viewer: ViewerState, amount: float) -> None:
    """Move the slice by a fraction of the extent."""
    if now := _sliced(viewer):
        slice_(viewer, now.axis, min(max(now.position + amount, 0.0), 1.0))


def _sliced(viewer: ViewerState) -> Slice | None:
    if viewer.content.slice is None:
        viewer.notify("there is no slice")
    return viewer.content.slice
