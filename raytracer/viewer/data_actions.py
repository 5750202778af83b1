"""Actions on particles: colours by columns, glyphs, selection, hiding and slices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.arguments import one_of, real
from raytracer.errors import UserError, counted, shown
from raytracer.scene.bond_settings import BONDS, STYLES
from raytracer.scene.coloring.style import StyleSettings
from raytracer.scene.glyphs.ellipsoids import has_axes
from raytracer.scene.glyphs.settings import GlyphValue, Shape
from raytracer.scene.glyphs.vectors import names_of
from raytracer.scene.scene import Scene
from raytracer.scene.simulation_box import box_of_file
from raytracer.scene.sphere_set import SphereSet
from raytracer.viewer import content as contents
from raytracer.viewer import view
from raytracer.viewer.actions import action
from raytracer.viewer.content import AXES, KEPT_SIDES, Chosen, Slice, extent, places_on
from raytracer.viewer.state import ViewerState

MAPS = (
    "viridis", "magma", "inferno", "plasma", "cividis", "turbo", "coolwarm", "twilight", "gray",
)  # fmt: skip
"""Colour maps of the key, in its order; `set-map` takes any."""

RANGES = (None, "p1,p99", "p5,p95")  # ranges of the key: all values, or without extremes
UNLIKELY = ("x", "y", "z", "index", "radius", "id")  # columns that the key offers last
FADED = 0.15  # opacity of faded particles, times their own
TRAILS = ("10", "50", contents.ALL_FRAMES)  # lengths of trails in the panel

OF_COLORS = frozenset(
    ("color_by", "map", "range", "color_scale", "color_steps", "color_threshold", "missing_color",
     "color_label", "color_unit", "palette")
)  # fmt: skip
"""Settings of a style that are about colours."""


def _after(now: Any, choices: Sequence[Any], step: int, missing: int = 0) -> Any:
    """Return the choice `step` places after `now`, or after the place `missing`."""
    place = choices.index(now) if now in choices else missing
    return choices[(place + step) % len(choices)]


def _change(viewer: ViewerState, notice: str = "", **changes: Any) -> None:
    viewer.show(replace(viewer.content, **changes))
    if notice:
        viewer.notify(notice)


def _plain(viewer: ViewerState) -> Scene:
    return viewer.loaded_scene.all_particles


def hidden(viewer: ViewerState) -> int:
    return _plain(viewer).count - viewer.loaded_scene.scene.count


# Colours


def columns(viewer: ViewerState) -> list[str]:
    kinds: dict[str, str] = {}
    for spheres in _sets(viewer):
        about = spheres.columns.about
        kinds |= {name: each.kind for name, each in about.items() if not each.shape}
    usual = [name for name in kinds if name not in UNLIKELY]
    usual.sort(key=lambda name: kinds[name] != "number")
    return [*usual, *(name for name in UNLIKELY if name in kinds)]


def _sets(viewer: ViewerState) -> list[SphereSet]:
    sets = list(_plain(viewer).spheres)
    return [each for each in sets if each.source] or sets


@action(undo=True)
def color_by(viewer: ViewerState, by: str | None) -> None:
    """Colour by a column or an expression; None: the colours of the scene."""
    by = (by or "").strip() or None
    style = {name: value for name, value in viewer.content.style.items() if name not in OF_COLORS}
    if by is not None:
        style |= {"color_by": by, "map": viewer.content.style.get("map")}
    notice = f"colour by {shown(by)}" if by else "colours of the scene"
    _change(viewer, notice, style={k: v for k, v in style.items() if v})


@action(undo=True)
def next_map(viewer: ViewerState, step: int = 1) -> None:
    """Use the next colour map."""
    set_map(viewer, _after(viewer.content.style.get("map") or MAPS[0], MAPS, step, -step))


@action(undo=True)
def set_map(viewer: ViewerState, name: str | None) -> None:
    """Use a colour map by name: viridis, coolwarm, RdBu_r, ..."""
    _restyle(viewer, "map", name or None)
    viewer.notify(f"colour map {shown(name or MAPS[0])}")


@action(undo=True)
def set_range(viewer: ViewerState, ends: str | None) -> None:
    """Set the values at the ends of the colours: "0,5", "p1,p99"; None is all values."""
    ends = (ends or "").strip() or None
    _restyle(viewer, "range", ends)
    viewer.notify(f"range {shown(ends) if ends else 'of all values'}")


@action(undo=True)
def next_range(viewer: ViewerState) -> None:
    """Use the range of all values, of 98 % or of 90 % of them."""
    set_range(viewer, _after(viewer.content.style.get("range"), RANGES, 1, -1))


@action(undo=True)
def set_scale(viewer: ViewerState, name: str | None) -> None:
    """Set the mapping from values to colours: linear, log, symlog, symmetric, discrete,
    categorical."""
    _restyle(viewer, "color_scale", name or None)
    viewer.notify(f"scale {shown(name or 'linear')}")


def _restyle(viewer: ViewerState, name: str, value: str | None) -> None:
    if not viewer.content.style.get("color_by"):
        raise UserError("there are no colours by a column: choose a column first")
    style = dict(viewer.content.style) | {name: value}
    if name == "color_scale":  # a range may be invalid for another scale
        style.pop("range", None)
    style = {key: each for key, each in style.items() if each is not None}
    StyleSettings(**style)  # reports mistakes at once
    _change(viewer, style=style)


@action(undo=True)
def toggle_legend(viewer: ViewerState) -> None:
    """Show or hide the colour scale."""
    _change(viewer, legend=not has_legend(viewer))


def has_legend(viewer: ViewerState) -> bool:
    if viewer.content.legend is not None:
        return viewer.content.legend
    plan = viewer.loaded_scene.job.plan
    return bool(viewer.content.style.get("color_by")) or (
        plan is not None and plan.annotations.legend is not None
    )


# Solids made of the data


@action(undo=True)
def set_style(viewer: ViewerState, name: str | None) -> None:
    """Show atoms and bonds in a style: ball-and-stick, licorice, wire; None: as in the scene."""
    if name:
        one_of(name, "set-style", STYLES, "style", UserError)
    _solid(viewer, "style", name, f"style {shown(name)}" if name else "plain spheres")


@action(undo=True)
def set_bonds(viewer: ViewerState, which: str | None) -> None:
    """Show bonds: auto, file, distance, none, a length, Si-O=2; None: as in the scene."""
    which = (which or "").strip() or None
    if which is not None:
        BONDS.checked(which, "set-bonds", UserError)
    _solid(viewer, "bonds", which)


@action(undo=True)
def toggle_bonds(viewer: ViewerState) -> None:
    """Show bonds, from the file or by distance, or hide them."""
    hides = has_bonds(viewer)
    _solid(viewer, "bonds", "none" if hides else "auto", "no bonds" if hides else "bonds")


def has_bonds(viewer: ViewerState) -> bool:
    asked = viewer.content.style.get("bonds")
    if asked is not None:
        return bool(asked != "none")
    return any(each.are_bonds for each in viewer.loaded_scene.scene.capsules)


def _solid(viewer: ViewerState, name: str, value: str | None, notice: str = "") -> None:
    style = {key: each for key, each in viewer.content.style.items() if key != name}
    _change(viewer, notice, style=style if value is None else {**style, name: value})


@action(undo=True)
def set_arrows(viewer: ViewerState, vector: str | None) -> None:
    """Show arrows along a vector, such as velocity; "" is none, None: as in the scene."""
    if vector:
        GlyphValue("arrows").checked(vector, "set-arrows", UserError)
    _change(viewer, f"arrows along {shown(vector)}" if vector else "no arrows", arrows=vector)


@action(undo=True)
def set_trails(viewer: ViewerState, last: str | None) -> None:
    """Show the paths of particles over a number of frames, or "all"; "" is none."""
    if last and last != contents.ALL_FRAMES and not (last.isdecimal() and int(last)):
        raise UserError(
            f"set-trails: '{shown(str(last))}' is not a number of frames: give 1 or more, "
            f"'{contents.ALL_FRAMES}', or ''"
        )
    _change(viewer, f"trails: {shown(last)}" if last else "no trails", trails=last)


@action(undo=True)
def set_contacts(viewer: ViewerState, which: str | None) -> None:
    """Show contacts: "touch", or "file" for the list in the scene's file; "" is none."""
    if which is not None:
        kinds = glyph_choices(viewer, "contacts")
        one_of(which, "set-contacts", kinds, "kind of contacts", UserError)
    _change(viewer, f"contacts: {shown(which)}" if which else "no contacts", contacts=which)


@action(undo=True)
def set_shape(viewer: ViewerState, kind: str | None) -> None:
    """Show particles as ellipsoids, "ellipsoid", or as spheres, ""."""
    if kind is not None:
        one_of(kind, "set-shape", glyph_choices(viewer, "shape"), "shape", UserError)
    _change(viewer, "ellipsoids" if kind else "spheres", shape=kind)


GLYPHS = {"arrows": "vector", "trails": "last", "contacts": "which", "shape": "kind"}
"""Glyphs, fields of `Content`, and the arguments of the actions that set them."""


def glyph(viewer: ViewerState, name: str) -> str:
    """Return the current value of one of `GLYPHS`, or ""."""
    asked = getattr(viewer.content, name)
    stated = getattr(viewer.loaded_scene.scene, name)
    if asked is not None or stated is None:
        return asked or ""
    if name == "arrows":
        return stated.vector if isinstance(stated.vector, str) else ",".join(stated.vector)
    if name == "trails":
        return str(stated.last or contents.ALL_FRAMES)
    if name == "contacts":
        return contents.OF_FILE if stated.file is not None else contents.TOUCH
    return str(stated.kind)


def vectors(viewer: ViewerState) -> list[str]:
    return list(dict.fromkeys(n for each in _sets(viewer) for n in names_of(each.columns)))


def glyph_choices(viewer: ViewerState, name: str) -> list[str]:
    """Return the possible values of one of `GLYPHS` for these data."""
    if name == "arrows":
        return ["", *vectors(viewer)]
    if name == "trails":  # one frame has no trails
        some = TRAILS if viewer.time.count > 1 else ()
        return list(dict.fromkeys(["", glyph(viewer, "trails"), *some]))
    if name == "contacts":
        contacts = _plain(viewer).contacts
        return [
            "",
            contents.TOUCH,
            *([contents.OF_FILE] if contacts is not None and contacts.file is not None else []),
        ]
    stated = viewer.loaded_scene.scene.shape or Shape()
    return ["", stated.kind] if any(has_axes(e.columns, stated) for e in _sets(viewer)) else [""]


@action(undo=True)
def toggle_box(viewer: ViewerState) -> None:
    """Show or hide the simulation box."""
    if not has_box(viewer) and not knows_box(viewer):
        viewer.notify("the file has no simulation box")
        return
    wanted, annotations = not has_box(viewer), _plain(viewer).annotations
    stated = annotations is not None and annotations.box is not None
    _change(viewer, box=None if wanted == stated else wanted)


def has_box(viewer: ViewerState) -> bool:
    if viewer.content.box is not None:
        return viewer.content.box
    plan = viewer.loaded_scene.job.plan
    return plan is not None and plan.annotations.box is not None


def knows_box(viewer: ViewerState) -> bool:
    return has_box(viewer) or any(box_of_file(each) is not None for each in _plain(viewer).spheres)


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
    places, ahead = view.project(viewer.view, points.astype(np.float64), viewer.aspect)
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
    if not viewer.picks:
        viewer.notify("click a particle first")
        return
    _select(viewer, _chosen(viewer, list(viewer.picks)))


@action(undo=True)
def invert_selection(viewer: ViewerState) -> None:
    """Select the particles that are not selected."""
    plain, chosen = _plain(viewer), viewer.content.selection
    mask = np.zeros(plain.count, bool) if chosen is None else chosen.mask(plain)
    _select(viewer, _chosen(viewer, np.flatnonzero(~mask)))


def _chosen(viewer: ViewerState, numbers: Sequence[int] | NDArray[np.int64]) -> Chosen | None:
    """Return particles by number; None without any."""
    ascending = np.sort(np.asarray(numbers, np.int64))
    return Chosen.of_numbers(_plain(viewer), ascending) if len(ascending) else None


def _select(viewer: ViewerState, chosen: Chosen | None) -> None:
    count = 0 if chosen is None else int(np.count_nonzero(chosen.mask(_plain(viewer))))
    viewer.notify(f"{counted(count, 'particle')} selected" if count else "nothing is selected")
    chosen = chosen if count else None
    if chosen is not viewer.content.selection:
        _change(viewer, selection=chosen)


def selected(viewer: ViewerState) -> int:
    return viewer.loaded_scene.selected if viewer.content.selection is not None else 0


# What is shown


@action(undo=True)
def hide_selected(viewer: ViewerState) -> None:
    """Hide the selected particles, or else the picked ones."""
    _leave_out(viewer, "hidden", rest=False)


@action(undo=True)
def hide_rest(viewer: ViewerState) -> None:
    """Hide all but the selected particles, or else all but the picked ones."""
    _leave_out(viewer, "hidden", rest=True)


@action(undo=True)
def fade_selected(viewer: ViewerState) -> None:
    """Fade the selected particles, or else the picked ones."""
    _leave_out(viewer, "faded", rest=False)


@action(undo=True)
def fade_rest(viewer: ViewerState) -> None:
    """Fade all but the selected particles, or else all but the picked ones."""
    _leave_out(viewer, "faded", rest=True)


def _leave_out(viewer: ViewerState, how: str, rest: bool) -> None:
    content = viewer.content
    chosen = content.selection or _chosen(viewer, list(viewer.picks))
    if chosen is None:
        viewer.notify("select or click particles first")
        return
    more = (chosen, rest) if how == "hidden" else (chosen, rest, FADED)
    changes = {how: (*getattr(content, how), more), "selection": None}
    _change(viewer, f"the {'rest' if rest else 'selection'} is {how}", **changes)


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
    one_of(axis, "slice: axis", AXES, "axis", UserError)
    now = viewer.content.slice
    if now is None:
        viewer.cut = ""
    if now is None or now.axis != axis:
        toward = viewer.view.pose.axes.forward[AXES.index(axis)]
        now = Slice(axis, keep=KEPT_SIDES[bool(toward > 0.0)])
    if position is None:
        position = now.position
    position = real(position, "slice: position", 0.0, 1.0, error=UserError)
    side = one_of(keep or now.keep, "slice: keep", KEPT_SIDES, "side", UserError)
    _change(viewer, slice=Slice(axis, position, side))


@action(undo=True)
def next_slice(viewer: ViewerState) -> None:
    """Slice along the axis nearest to the view, then along the others, then not at all."""
    now = viewer.content.slice
    viewer.cut = viewer.cut.partition(now.axis)[0] + now.axis if now else ""
    forward = viewer.view.pose.axes.forward
    left = [axis for axis in AXES if axis not in viewer.cut]
    slice_(viewer, max(left, key=lambda axis: abs(forward[AXES.index(axis)]), default=None))


@action(undo=True)
def flip_slice(viewer: ViewerState) -> None:
    """Show the other side of the slice."""
    if now := _sliced(viewer):
        other = KEPT_SIDES[1 - KEPT_SIDES.index(now.keep)]
        _change(viewer, slice=replace(now, keep=other))


@action(undo=True)
def move_slice(viewer: ViewerState, amount: float) -> None:
    """Move the slice by a fraction of the extent."""
    if now := _sliced(viewer):
        position = min(max(now.position + amount, 0.0), 1.0)
        _change(viewer, slice=replace(now, position=position))


def _sliced(viewer: ViewerState) -> Slice | None:
    if viewer.content.slice is None:
        viewer.notify("there is no slice")
    return viewer.content.slice


def slice_extent(viewer: ViewerState) -> tuple[float, float]:
    """Return the limits of a slice's position, scene units."""
    assert viewer.content.slice is not None
    plain, axis = _plain(viewer), viewer.content.slice.axis
    if viewer.extents[0] is not plain:
        viewer.extents = plain, {}
    known = viewer.extents[1]
    if axis not in known:
        known[axis] = extent(places_on(plain, axis))
    return known[axis]


def slice_place(viewer: ViewerState) -> float:
    """Return the position of the slice on its axis, scene units."""
    assert viewer.content.slice is not None
    low, high = slice_extent(viewer)
    return low + viewer.content.slice.position * (high - low)
