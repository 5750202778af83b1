"""Content of a preview: the frame, the colours of its particles, and which of them are shown.

A content is applied to a loaded frame of the scene with its original colours and all particles.
Particles are numbered there in the order of the sets; hiding some does not change the numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import SceneError
from raytracer.scene.clip import Clip
from raytracer.scene.coloring.apply import styled, with_bonds
from raytracer.scene.coloring.expression import rows_of
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.coloring.style import KEYS, StyleSettings
from raytracer.scene.glyphs.make import without_glyphs
from raytracer.scene.glyphs.shared import radii_of
from raytracer.scene.scene import Scene
from raytracer.scene.sphere_set import SphereSet

Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]

AXES = "xyz"
KEPT_SIDES = ("below", "above")  # of a slice, by the position on its axis


@dataclass(frozen=True, eq=False)
class Chosen:
    """Particles that fulfil a condition, or have certain keys: ids, or numbers without ids."""

    condition: str = ""  # an expression over the columns; "" for keys
    keys: NDArray[Any] | None = None  # integers (M,)

    def mask(self, scene: Scene) -> Mask:
        """Return which particles of a frame are chosen, bool (N,)."""
        if self.keys is not None:
            if (ids := ids_of(scene)) is not None:
                return np.isin(ids, self.keys)
            mask = np.zeros(scene.count, bool)
            mask[self.keys[self.keys < scene.count]] = True
            return mask
        masks: list[Mask] = [np.empty(0, bool)]
        mistakes: list[SceneError] = []
        for spheres in scene.spheres:
            try:
                masks.append(np.zeros(spheres.count, bool))
                masks[-1][rows_of(self.condition, spheres.columns, "select")] = True
            except SceneError as error:  # a set may lack columns of another
                mistakes.append(error)
                masks.append(np.zeros(spheres.count, bool))
        if mistakes and len(mistakes) == len(scene.spheres):
            raise mistakes[0]
        return np.concatenate(masks)


@dataclass(frozen=True)
class Slice:
    """A plane across an axis of the scene, which cuts spheres open and hides what is beyond."""

    axis: str  # "x", "y" or "z"
    position: float = 0.5  # relative to the extent of the centres, 0..1
    keep: str = "below"  # "below" or "above": what is shown

    def applied_to(self, scene: Scene) -> tuple[Clip, Mask]:
        """Return a scene's clip planes with this one, and which particles it leaves, bool (N,).

        Raises:
            SceneError: there are too many planes, or what they leave is not convex.
        """
        places = places_on(scene, self.axis)
        low, high = (float(places.min()), float(places.max())) if len(places) else (0.0, 1.0)
        at = low + self.position * (high - low)
        condition = f"{self.axis} {'<=' if self.keep == 'below' else '>='} {at!r}"
        if scene.clip is not None and scene.clip.keep is None:
            raise SceneError("slice: the scene removes what is within planes: there is no slice")
        reach = np.concatenate([np.empty(0), *map(radii_of, scene.spheres)])
        shows = places - reach <= at if self.keep == "below" else places + reach >= at
        keep = condition if scene.clip is None else f"({scene.clip.keep}) and {condition}"
        return Clip(keep=keep), shows


@dataclass(frozen=True)
class Content:
    frame: int | None = None  # of a trajectory; None is the first loaded one
    # Settings of `StyleSettings` by name; {} leaves the colours of the scene.
    style: Mapping[str, Any] = field(default_factory=dict)
    # Particles that are hidden; with True, all others are.
    hidden: tuple[tuple[Chosen, bool], ...] = ()
    # Particles that are faded, with their opacity; with True, all others are.
    faded: tuple[tuple[Chosen, bool, float], ...] = ()
    slice: Slice | None = None  # a plane beyond which nothing is shown
    selection: Chosen | None = None  # particles that are marked
    # Changes of what is drawn, by name, others are as in the scene: the vector of "arrows", "" for
    # none, and switches "legend" and "box".
    drawn: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, eq=False)
class Applied:
    scene: Scene  # what is shown
    # Numbers of the shown particles, int64 (M,), ascending; None: all.
    numbers: Numbers | None = None
    selected: int = 0  # number of selected particles, hidden ones included
    # Which of the shown particles are selected, bool (M,); None: none.
    marked: Mask | None = None


def apply(content: Content, scene: Scene) -> Applied:
    style = {name: value for name, value in content.style.items() if value is not None}
    shown_scene = styled(scene, StyleSettings(**style)) if style else scene
    selected = None if content.selection is None else content.selection.mask(scene)
    sets = list(shown_scene.spheres)
    for chosen, rest, opacity in content.faded:
        sets = _in_sets(partial(_faded, opacity), sets, chosen.mask(scene) ^ rest)
    clip, numbers, mask = shown_scene.clip, None, np.full(scene.count, True)
    for chosen, rest in content.hidden:
        mask &= chosen.mask(scene) ^ (not rest)
    if content.slice is not None:
        clip, shows = content.slice.applied_to(scene)
        mask &= shows
    if content.hidden or content.slice is not None:
        if scene.count and not mask.any():
            raise SceneError("all particles would be hidden: choose fewer")
        sets, numbers = _in_sets(_taken, sets, mask), np.flatnonzero(mask)
        if any(capsules.are_bonds for capsules in shown_scene.capsules):
            shown_scene = with_bonds(replace(shown_scene, spheres=tuple(sets)))
            sets = list(shown_scene.spheres)
    count = 0 if selected is None else int(np.count_nonzero(selected))
    marked = selected if selected is None or numbers is None else selected[numbers]
    changed = replace(shown_scene, spheres=tuple(sets), clip=clip)
    if any(each.made_for for each in changed.solids):
        changed = without_glyphs(changed)  # remade for the shown particles
    return Applied(changed, numbers, count, marked)


def colored_there(content: Content, scene: Scene, scale: ColorScale | None) -> Scene | None:
    """Return a scene in the colours of a scale, of columns that stay on a GPU.

    None: a content does more than colour, or a column is on the host.
    """
    style = {name for name, value in content.style.items() if value is not None}
    is_more = content.hidden or content.faded or content.slice or content.selection
    if scale is None or is_more or "color_by" not in style or style - set(KEYS.values()):
        return None
    sets = [each.colored_there(content.style["color_by"], scale) for each in scene.spheres]
    colored = [each for each in sets if each is not None]
    if len(colored) < len(sets):
        return None
    return replace(scene, spheres=colored, color_scales=(scale,))


def places_on(scene: Scene, axis: str) -> NDArray[np.float64]:
    """Return the coordinates of all centres on an axis, scene units, float64 (N,)."""
    index = AXES.index(axis)
    places = [np.empty(0)]
    for spheres in scene.spheres:
        row = spheres.transform.linear()[index]
        places.append(spheres.centers @ row + float(spheres.transform.translate[index]))
    return np.concatenate(places)


def _faded(opacity: float, spheres: SphereSet, mask: Mask) -> SphereSet:
    return spheres.faded(opacity, ~mask) if mask.any() else spheres


def ids_of(scene: Scene) -> NDArray[Any] | None:
    """Return the ids of the particles in the file of the only set, integers (N,), or None."""
    if len(scene.spheres) != 1:
        return None
    columns = scene.spheres[0].columns
    if not columns.made_of("id"):  # otherwise `id` counts rows
        return None
    ids = columns["id"]
    return ids if ids.dtype.kind in "iu" and ids.ndim == 1 else None


def _in_sets(change: Any, sets: Sequence[SphereSet], mask: Mask) -> list[SphereSet]:
    changed, first = [], 0
    for spheres in sets:
        changed.append(change(spheres, mask[first : first + spheres.count]))
        first += spheres.count
    return changed


def _taken(spheres: SphereSet, mask: Mask) -> SphereSet:
    return spheres if mask.all() else spheres.taken(np.flatnonzero(mask))
