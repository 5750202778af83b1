"""Data view: colours that follow columns, selections, what is hidden, slices and several picks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import acos, atan2, degrees
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.arguments import one_of, real
from raytracer.errors import UserError, counted, shown
from raytracer.viewer import view
from raytracer.viewer.actions import action
from raytracer.viewer.content import (
    ALL_FRAMES,
    AXES,
    KEPT_SIDES,
    OF_FILE,
    TOUCH,
    Chosen,
    Content,
    Slice,
    center_of,
    extent,
    ids_of,
    places_on,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.scene.scene import Scene, SphereSet
    from raytracer.viewer.loaded_scene import LoadedScene
    from raytracer.viewer.vectors import Vector
    from raytracer.viewer.viewer import Viewer

MAPS = (
    "viridis", "magma", "inferno", "plasma", "cividis", "turbo", "coolwarm", "twilight", "gray",
)  # fmt: skip
"""Colour maps of the key, in its order; `set-map` takes others too."""

RANGES = (None, "p1,p99", "p5,p95")
"""Ranges of the key: all values, or without the outermost ones."""

UNLIKELY = ("x", "y", "z", "index", "radius", "id")
"""Columns that the key offers last, because they are seldom what a picture is about."""

FADED = 0.15
"""Opacity of faded particles, times their own."""

TRAILS = ("10", "50", ALL_FRAMES)
"""Lengths of trails that the panel offers."""

MOST_PICKS = 4
"""Picks that are kept: four have a dihedral angle."""

STYLE_NAMES = {"by": "color_by", "map": "map", "range": "range", "scale": "color_scale"}
"""Settings of a style by the names that actions and messages use."""


OF_COLORS = frozenset(
    (*STYLE_NAMES.values(), "color_steps", "color_threshold", "missing_color", "color_label",
     "color_unit", "palette")
)  # fmt: skip
"""Settings of a style that are about colours."""


def _after(now: Any, choices: Sequence[Any], step: int) -> Any:
    """Return the choice some steps behind another one, or from the first."""
    place = choices.index(now) if now in choices else 0
    return choices[(place + step) % len(choices)]


class DataView:
    """What of the particles is shown, and what is asked of it.

    Args:
        viewer: what shows it.
        content: the first one, which is shown already.

    Attributes:
        content: what was asked for last; that of the scene that is shown may be an earlier one.
        picks: numbers of the picked particles, the latest last.
    """

    def __init__(self, viewer: Viewer, content: Content) -> None:
        self._viewer = viewer
        self.content = content
        self.picks: list[int] = []
        self._lines: dict[int, list[str]] = {}
        self._cut = ""  # axes of the slices before, of `next_slice`
        self._extents: tuple[object, dict[str, tuple[float, float]]] = (None, {})

    # Content

    def show(self, content: Content) -> None:
        """Ask for a content; it is shown when it is loaded."""
        self.content = content
        self._viewer.loader.show(content, self._viewer.loaded_scene)

    def show_frame(self, number: int) -> None:
        """Ask for another frame."""
        self.show(replace(self.content, frame=number))

    def return_to(self, content: Content) -> None:
        """Ask for an earlier content, in the frame that is shown."""
        content = replace(content, frame=self.content.frame)
        if content != self.content:
            self.show(content)

    def refused(self, content: Content) -> None:
        """Return to what is shown, because a content cannot be."""
        if content == self.content:
            self.content = self._viewer.loaded_scene.content

    @property
    def _plain(self) -> Scene:
        """The frame that is shown, with all of its particles."""
        return self._viewer.loaded_scene.all_particles

    @property
    def hidden(self) -> int:
        """Number of particles that are not shown."""
        return self._plain.count - self._viewer.loaded_scene.scene.count

    # Colours

    @property
    def columns(self) -> list[str]:
        """Names of the columns that colours can follow, the likeliest first."""
        kinds: dict[str, str] = {}
        for spheres in self._sets():
            about = spheres.columns.about
            kinds |= {name: each.kind for name, each in about.items() if not each.shape}
        usual = [name for name in kinds if name not in UNLIKELY]
        usual.sort(key=lambda name: kinds[name] != "number")
        return [*usual, *(name for name in UNLIKELY if name in kinds)]

    def _sets(self) -> list[SphereSet]:
        """Return the sets with data; if there are none, all."""
        sets = list(self._plain.spheres)
        return [each for each in sets if each.source] or sets

    @property
    def style(self) -> Mapping[str, Any]:
        """The settings of the colours by name."""
        return self.content.style

    @action(undo=True)
    def color_by(self, by: str | None) -> None:
        """Let colours follow a column or an expression; None: the colours of the scene."""
        by = (by or "").strip() or None
        style = {name: value for name, value in self.style.items() if name not in OF_COLORS}
        if by is not None:
            style |= {"color_by": by, "map": self.style.get("map")}
        self.show(replace(self.content, style={k: v for k, v in style.items() if v}))
        self._viewer.notify(f"colour by {shown(by)}" if by else "colours of the scene")

    @action(undo=True)
    def next_column(self, step: int = 1) -> None:
        """Let colours follow the next column of the data."""
        choices = [None, *self.columns]
        now = self.style.get("color_by")
        place = choices.index(now) if now in choices else 0
        self.color_by(choices[(place + step) % len(choices)])

    @action(undo=True)
    def next_map(self, step: int = 1) -> None:
        """Take the next colour map."""
        now = self.style.get("map") or MAPS[0]
        place = MAPS.index(now) if now in MAPS else -step
        self.set_map(MAPS[(place + step) % len(MAPS)])

    @action(undo=True)
    def set_map(self, name: str | None) -> None:
        """Take a colour map by name: viridis, coolwarm, RdBu_r, ..."""
        self._restyle("map", name or None)
        self._viewer.notify(f"colour map {shown(name or MAPS[0])}")

    @action(undo=True)
    def set_range(self, ends: str | None) -> None:
        """Set the values at the ends of the colours: "0,5", "p1,p99"; None is all values."""
        ends = (ends or "").strip() or None
        self._restyle("range", ends)
        self._viewer.notify(f"range {shown(ends) if ends else 'of all values'}")

    @action(undo=True)
    def next_range(self) -> None:
        """Take the range of all values, of 98 % or of 90 % of them."""
        now = self.style.get("range")
        place = RANGES.index(now) if now in RANGES else -1
        self.set_range(RANGES[(place + 1) % len(RANGES)])

    @action(undo=True)
    def set_scale(self, name: str | None) -> None:
        """Set how values become colours: linear, log, symlog, symmetric, discrete, categorical."""
        self._restyle("scale", name or None)
        self._viewer.notify(f"scale {shown(name or 'linear')}")

    @action(undo=True)
    def toggle_legend(self) -> None:
        """Show or hide the colour scale."""
        self.show(replace(self.content, legend=not self.has_legend))

    @property
    def has_legend(self) -> bool:
        """Whether the colour scale is drawn."""
        if self.content.legend is not None:
            return self.content.legend
        plan = self._viewer.loaded_scene.job.plan
        return bool(self.style.get("color_by")) or (
            plan is not None and plan.annotations.legend is not None
        )

    # Solids made of the data

    @action(undo=True)
    def set_style(self, name: str | None) -> None:
        """Show atoms and bonds in a style: ball-and-stick, licorice, wire; None: as before."""
        from raytracer.scene.bond_settings import STYLES

        if name:
            one_of(name, "set-style", STYLES, "style", UserError)
        self._solid("style", name)
        self._viewer.notify(f"style {shown(name)}" if name else "atoms as they are")

    @action(undo=True)
    def next_style(self, step: int = 1) -> None:
        """Take the next style of atoms and bonds."""
        from raytracer.scene.bond_settings import STYLES

        self.set_style(_after(self.style.get("style"), [None, *STYLES], step))

    @action(undo=True)
    def set_bonds(self, which: str | None) -> None:
        """Show bonds: auto, file, distance, none, a length, Si-O=2; None: as before."""
        from raytracer.scene.bond_settings import BONDS

        which = (which or "").strip() or None
        if which is not None:
            BONDS.checked(which, "set-bonds", UserError)
        self._solid("bonds", which)

    @action(undo=True)
    def toggle_bonds(self) -> None:
        """Show bonds, those of the file or else by distance, or hide them."""
        hides = self.has_bonds
        self._solid("bonds", "none" if hides else "auto")
        self._viewer.notify("no bonds" if hides else "bonds")

    @property
    def has_bonds(self) -> bool:
        """Whether bonds are shown."""
        asked = self.style.get("bonds")
        if asked is not None:
            return bool(asked != "none")
        return any(each.are_bonds for each in self._viewer.loaded_scene.scene.capsules)

    def _solid(self, name: str, value: str | None) -> None:
        style = {key: each for key, each in self.style.items() if key != name}
        self.show(replace(self.content, style=style if value is None else {**style, name: value}))

    @action(undo=True)
    def set_arrows(self, vector: str | None) -> None:
        """Show arrows along a vector, as velocity; "" is none, None what the scene says."""
        if vector:
            from raytracer.scene.glyphs.settings import GlyphValue

            GlyphValue("arrows", "vector").checked(vector, "set-arrows", UserError)
        self.show(replace(self.content, arrows=vector))
        self._viewer.notify(f"arrows along {shown(vector)}" if vector else "no arrows")

    @action(undo=True)
    def next_arrows(self, step: int = 1) -> None:
        """Show arrows along the next vector of the data."""
        self.set_arrows(_after(self.arrows or "", ["", *self.vectors], step))

    @property
    def arrows(self) -> str:
        """The vector that arrows follow; "" without arrows."""
        if self.content.arrows is not None:
            return self.content.arrows
        said = self._viewer.loaded_scene.scene.arrows
        if said is None:
            return ""
        return said.vector if isinstance(said.vector, str) else ",".join(said.vector)

    @property
    def vectors(self) -> list[str]:
        """Names of the vectors of the data."""
        from raytracer.scene.glyphs.vectors import names_of

        return list(dict.fromkeys(n for each in self._sets() for n in names_of(each.columns)))

    @action(undo=True)
    def set_trails(self, last: str | None) -> None:
        """Show the paths of particles: over as many frames, over "all"; "" is none."""
        if last not in (None, "", ALL_FRAMES) and not (str(last).isdecimal() and int(last or 0)):
            raise UserError(
                f"set-trails: '{shown(str(last))}' is no number of frames: give 1 or more, "
                f"'{ALL_FRAMES}', or ''"
            )
        self.show(replace(self.content, trails=last))
        self._viewer.notify(f"trails: {shown(last)}" if last else "no trails")

    @action(undo=True)
    def next_trails(self, step: int = 1) -> None:
        """Take the next length of trails."""
        self.set_trails(_after(self.trails, self.trail_lengths, step))

    @property
    def trails(self) -> str:
        """The frames that trails go back, or "all"; "" without trails."""
        if self.content.trails is not None:
            return self.content.trails
        said = self._viewer.loaded_scene.scene.trails
        return "" if said is None else str(said.last or ALL_FRAMES)

    @property
    def trail_lengths(self) -> list[str]:
        """Lengths of trails to choose from; of one frame there are none."""
        some = TRAILS if self._viewer.time.count > 1 else ()
        return list(dict.fromkeys(["", self.trails, *some]))

    @action(undo=True)
    def set_contacts(self, which: str | None) -> None:
        """Show contacts: "touch", the "file" that the scene names; "" is none."""
        if which is not None:
            one_of(which, "set-contacts", self.kinds_of_contacts, "kind of contacts", UserError)
        self.show(replace(self.content, contacts=which))
        self._viewer.notify(f"contacts: {shown(which)}" if which else "no contacts")

    @action(undo=True)
    def next_contacts(self, step: int = 1) -> None:
        """Take the next kind of contacts."""
        self.set_contacts(_after(self.contacts, self.kinds_of_contacts, step))

    @property
    def contacts(self) -> str:
        """Which contacts are shown; "" without any."""
        if self.content.contacts is not None:
            return self.content.contacts
        said = self._viewer.loaded_scene.scene.contacts
        return "" if said is None else OF_FILE if said.file is not None else TOUCH

    @property
    def kinds_of_contacts(self) -> list[str]:
        """Contacts to choose from; a file only if the scene names one."""
        plain = self._viewer.loaded_scene.plain or self._viewer.loaded_scene.scene
        has_file = plain.contacts is not None and plain.contacts.file is not None
        return ["", TOUCH, *([OF_FILE] if has_file else [])]

    @action(undo=True)
    def set_shape(self, kind: str | None) -> None:
        """Show particles as ellipsoids, "ellipsoid", or as spheres, ""."""
        if kind is not None:
            one_of(kind, "set-shape", self.shapes, "shape", UserError)
        self.show(replace(self.content, shape=kind))
        self._viewer.notify("ellipsoids" if kind else "spheres")

    @action(undo=True)
    def next_shape(self, step: int = 1) -> None:
        """Show particles as ellipsoids or as spheres."""
        self.set_shape(_after(self.shape, self.shapes, step))

    @property
    def shape(self) -> str:
        """What particles are shown as; "" for spheres."""
        if self.content.shape is not None:
            return self.content.shape
        said = self._viewer.loaded_scene.scene.shape
        return "" if said is None else said.kind

    @property
    def shapes(self) -> list[str]:
        """Shapes to choose from; ellipsoids only if the data have axes."""
        from raytracer.scene.glyphs.ellipsoids import has_axes
        from raytracer.scene.glyphs.settings import Shape

        said = self._viewer.loaded_scene.scene.shape or Shape()
        return ["", said.kind] if any(has_axes(e.columns, said) for e in self._sets()) else [""]

    @action(undo=True)
    def toggle_box(self) -> None:
        """Show or hide the simulation box."""
        if not self.has_box and not self.knows_box:
            self._viewer.notify("the file states no simulation box")
            return
        self.show(replace(self.content, box=not self.has_box))

    @property
    def has_box(self) -> bool:
        """Whether the simulation box is shown."""
        if self.content.box is not None:
            return self.content.box
        plan = self._viewer.loaded_scene.job.plan
        return plan is not None and plan.annotations.box is not None

    @property
    def knows_box(self) -> bool:
        """Whether there is a simulation box to show."""
        from raytracer.scene.simulation_box import box_of_file

        return self.has_box or any(box_of_file(each) is not None for each in self._plain.spheres)

    def _restyle(self, name: str, value: str | None) -> None:
        if not self.style.get("color_by"):
            raise UserError("the colours follow no column: choose one first")
        from raytracer.scene.coloring.style import StyleSettings

        style = dict(self.style) | {STYLE_NAMES[name]: value}
        if name == "scale":  # a range may not go with another scale
            style.pop("range", None)
        style = {key: each for key, each in style.items() if each is not None}
        StyleSettings(**style)  # a mistake is said at once
        self.show(replace(self.content, style=style))

    # Selection

    @action(undo=True)
    def select(self, condition: str | None) -> None:
        """Select the particles that fulfil a condition: type == 'O' and z > 3; "" selects none."""
        condition = (condition or "").strip()
        self._select(Chosen(condition) if condition else None)

    @action(undo=True)
    def select_box(self, x0: int, y0: int, x1: int, y1: int, add: bool = False) -> None:
        """Select the particles whose centres are in a rectangle of the picture, in pixels."""
        viewer, loaded = self._viewer, self._viewer.loaded_scene
        points = np.stack([loaded.buffers.x, loaded.buffers.y, loaded.buffers.z], axis=1)
        places, ahead = view.project(viewer.view, points.astype(np.float64), viewer.aspect)
        corners = np.array([(x0, y0), (x1, y1)], np.float64) / viewer.size * (2, -2) + (-1, 1)
        inside = (places >= corners.min(axis=0)).all(axis=1) & ahead
        inside &= (places <= corners.max(axis=0)).all(axis=1)
        found = np.flatnonzero(inside[: loaded.scene.count])
        numbers = found if loaded.numbers is None else loaded.numbers[found]
        if add and self.content.selection is not None:
            before = np.flatnonzero(self.content.selection.mask(self._plain))
            numbers = np.union1d(before, numbers)
        self._select(self._chosen(numbers))

    @action(undo=True)
    def select_picked(self) -> None:
        """Select the picked particles."""
        if not self.picks:
            self._viewer.notify("click a particle first")
            return
        self._select(self._chosen(self.picks))

    @action(undo=True)
    def invert_selection(self) -> None:
        """Select the particles that are not selected."""
        chosen = self.content.selection
        mask = np.zeros(self._plain.count, bool) if chosen is None else chosen.mask(self._plain)
        self._select(self._chosen(np.flatnonzero(~mask)))

    def _chosen(self, numbers: Sequence[int] | NDArray[np.int64]) -> Chosen | None:
        """Return particles by their numbers; None of none."""
        ascending = np.sort(np.asarray(numbers, np.int64))
        return Chosen.of_numbers(self._plain, ascending) if len(ascending) else None

    def _select(self, chosen: Chosen | None) -> None:
        count = 0 if chosen is None else int(np.count_nonzero(chosen.mask(self._plain)))
        if count:
            self._viewer.notify(f"{counted(count, 'particle')} selected")
        else:
            chosen = None
            self._viewer.notify("nothing is selected")
        if chosen is not self.content.selection:
            self.show(replace(self.content, selection=chosen))

    @property
    def selected(self) -> int:
        """Number of selected particles."""
        return self._viewer.loaded_scene.selected if self.content.selection is not None else 0

    # What is shown

    @action(undo=True)
    def hide_selected(self) -> None:
        """Hide the selected particles, or else the picked ones."""
        self._hide(rest=False)

    @action(undo=True)
    def hide_rest(self) -> None:
        """Hide all but the selected particles, or else all but the picked ones."""
        self._hide(rest=True)

    @action(undo=True)
    def fade_selected(self) -> None:
        """Fade the selected particles, or else the picked ones."""
        self._fade(rest=False)

    @action(undo=True)
    def fade_rest(self) -> None:
        """Fade all but the selected particles, or else all but the picked ones."""
        self._fade(rest=True)

    def _fade(self, rest: bool) -> None:
        chosen = self.content.selection or self._chosen(self.picks)
        if chosen is None:
            self._viewer.notify("select or click particles first")
            return
        faded = (*self.content.faded, (chosen, rest, FADED))
        self.show(replace(self.content, faded=faded, selection=None))
        self._viewer.notify("the rest is faded" if rest else "the selection is faded")

    def _hide(self, rest: bool) -> None:
        chosen = self.content.selection
        chosen = chosen or self._chosen(self.picks)
        if chosen is None:
            self._viewer.notify("select or click particles first")
            return
        hidden = (*self.content.hidden, (chosen, rest))
        self.show(replace(self.content, hidden=hidden, selection=None))
        self._viewer.notify("the rest is hidden" if rest else "the selection is hidden")

    @action(undo=True)
    def show_all(self) -> None:
        """Show all particles again, none faded, without a slice."""
        self.show(replace(self.content, hidden=(), faded=(), slice=None))
        self._viewer.notify("all particles are shown")

    @action(undo=True)
    def slice_(self, axis: str | None, position: float | None = None,
               keep: str | None = None) -> None:  # fmt: skip
        """Show what is below or above a place on an axis, a share of the extent; None: no slice.

        Without `keep`, a new slice cuts off what is in front of the camera.
        """
        if axis is None:
            self.show(replace(self.content, slice=None))
            self._viewer.notify("no slice")
            return
        one_of(axis, "slice: axis", AXES, "axis", UserError)
        now = self.content.slice
        if now is None:
            self._cut = ""
        if now is None or now.axis != axis:
            toward = self._viewer.view.pose.axes.forward[AXES.index(axis)]
            now = Slice(axis, keep=KEPT_SIDES[bool(toward > 0.0)])
        if position is None:
            position = now.position
        position = real(position, "slice: position", 0.0, 1.0, error=UserError)
        side = one_of(keep or now.keep, "slice: keep", KEPT_SIDES, "side", UserError)
        self.show(replace(self.content, slice=Slice(axis, position, side)))

    @action(undo=True)
    def next_slice(self) -> None:
        """Slice along the axis nearest to the view, then along the others, then not at all."""
        now = self.content.slice
        self._cut = self._cut.partition(now.axis)[0] + now.axis if now else ""
        forward = self._viewer.view.pose.axes.forward
        left = [axis for axis in AXES if axis not in self._cut]
        self.slice_(max(left, key=lambda axis: abs(forward[AXES.index(axis)]), default=None))

    @action(undo=True)
    def flip_slice(self) -> None:
        """Show the other side of the slice."""
        if now := self._sliced():
            other = KEPT_SIDES[1 - KEPT_SIDES.index(now.keep)]
            self.show(replace(self.content, slice=replace(now, keep=other)))

    @action(undo=True)
    def move_slice(self, amount: float) -> None:
        """Move the slice by a share of the extent."""
        if now := self._sliced():
            position = min(max(now.position + amount, 0.0), 1.0)
            self.show(replace(self.content, slice=replace(now, position=position)))

    def _sliced(self) -> Slice | None:
        if self.content.slice is None:
            self._viewer.notify("there is no slice")
        return self.content.slice

    def slice_extent(self) -> tuple[float, float]:
        """Return the ends between which a slice moves, scene units."""
        assert self.content.slice is not None
        plain, axis = self._plain, self.content.slice.axis
        if self._extents[0] is not plain:
            self._extents = plain, {}
        known = self._extents[1]
        if axis not in known:
            known[axis] = extent(places_on(plain, axis))
        return known[axis]

    # Picks

    def picked(self, number: int, lines: list[str], add: bool) -> None:
        """Note a pick.

        Args:
            number: of the particle.
            lines: about it, for people.
            add: keep the picks before.
        """
        self._lines = {**(self._lines if add else {}), number: lines}
        others = [each for each in self.picks if each != number] if add else []
        self.picks = [*others, number][-MOST_PICKS:]

    def lines_of(self, number: int) -> list[str]:
        """Return what is known of a pick, for people."""
        return self._lines.get(number, [])

    @property
    def pick_ids(self) -> list[int]:
        """Numbers among the spheres that are shown, of the picks that are."""
        ids = (self._viewer.loaded_scene.id_of(number) for number in self.picks)
        return [each for each in ids if each is not None]

    def measures(self) -> list[str]:
        """Return distance, angle and dihedral angle of two, three and four picks, for people."""
        scene = self._viewer.loaded_scene.scene
        points = [center_of(scene, each) for each in self.pick_ids]
        lines = []
        if len(points) > 1:
            lines.append(f"distance {float(np.linalg.norm(points[-1] - points[-2])):.6g}")
        if len(points) > 2:
            lines.append(f"angle {angle(*points[-3:]):.2f}°")
        if len(points) > 3:
            lines.append(f"dihedral {dihedral(*points[-4:]):.2f}°")
        return lines

    def follow(self, old: LoadedScene, new: LoadedScene) -> None:
        """Follow the picked particles to another scene; those that are gone are forgotten."""
        if not self.picks or old.all_particles is new.all_particles:
            return
        found = {each: self.number_in(each, old, new) for each in self.picks}
        lines = {new: self._lines.get(each, []) for each, new in found.items() if new is not None}
        self.picks, self._lines = list(lines), lines

    @staticmethod
    def number_in(number: int, old: LoadedScene, new: LoadedScene) -> int | None:
        """Return the number of a particle in another scene, by its id; None if it is gone."""
        before, after = old.all_particles, new.all_particles
        if before is after:
            return number
        ids, others = ids_of(before), ids_of(after)
        if ids is None or others is None:
            return number if number < after.count else None
        rows = np.flatnonzero(others == ids[number])
        return int(rows[0]) if len(rows) else None


def angle(one: Vector, middle: Vector, other: Vector) -> float:
    """Return the angle at a middle point in degrees; 0 where two points are the same."""
    first, second = one - middle, other - middle
    size = float(np.linalg.norm(first) * np.linalg.norm(second))
    if not size:
        return 0.0
    return degrees(acos(min(max(float(first @ second) / size, -1.0), 1.0)))


def dihedral(a: Vector, b: Vector, c: Vector, d: Vector) -> float:
    """Return the angle between the planes of a, b, c and of b, c, d, in -180..180 degrees."""
    axis = c - b
    left, right = np.cross(b - a, axis), np.cross(axis, d - c)
    across = float(np.linalg.norm(axis)) * float((b - a) @ right)
    return degrees(atan2(across, float(left @ right)))
