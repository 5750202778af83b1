"""Force chains: contacts between particles as capsules whose thickness shows the force."""

import re
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.bonds import (
    BondPairs,
    classify_radii,
    find_close_pairs,
    to_nearest_images,
)
from raytracer.appearance.coloring.expression import Texts, evaluate
from raytracer.appearance.coloring.style import StyleSettings
from raytracer.appearance.glyphs import shared
from raytracer.appearance.glyphs.settings import Contacts
from raytracer.appearance.glyphs.shared import Doubles, GlyphSet, Rows
from raytracer.config.errors import DataFileError, SceneError, prefix_errors, quote, suggest
from raytracer.config.inferred import current_defaults
from raytracer.config.warning import warn
from raytracer.model.particle_source import ParticleSource
from raytracer.model.scene import Scene
from raytracer.model.solids import CapsuleSet
from raytracer.model.sphere_set import SphereSet

MAX_RADIUS = 0.4  # radius of the thickest contact, in median radii of the particles
THIN_SHARE = 0.995  # of contacts are thinner than the thickest: extreme forces are clipped
MAP = ("#e8d3a8", "#e58a3c", "#b8201f", "#4a0d18")  # colours from no force to the largest

SAME_TIME = 1e-9  # relative difference of times up to which they are the same

IDS = (
    ("id1", "id2"), ("id_1", "id_2"), ("i", "j"), ("atom1", "atom2"), ("batom1", "batom2"),
    ("patom1", "patom2"), ("particle1", "particle2"), ("p1", "p2"), ("a", "b"),
    ("source", "target"), ("from", "to"),
)  # fmt: skip
"""Columns with the ids of two particles, in lower case."""

FORCES = ("force", "f", "fn", "normal_force", "fnorm", "f_n", "overlap")


class _ContactPairs(NamedTuple):
    """Contacts of a set, as a set at their middles, and the values that set their thickness, (M,),
    NaN to leave one out."""

    spheres: SphereSet
    pairs: BondPairs
    points: SphereSet
    values: Doubles

    def taken(self, least: float) -> Self:
        """Return the contacts that are thick enough."""
        rows = np.flatnonzero((self.values >= least) & (self.values > 0.0))
        pairs, points = self.pairs.taken(rows), self.points.taken(rows)
        return self._replace(pairs=pairs, points=points, values=self.values[rows])


def make_contacts(scene: Scene, contacts: Contacts) -> GlyphSet:
    """Return the contacts of a scene."""
    if contacts.file is None:
        by = contacts.by or "overlap"
        pairs = [(each, _find_touching(each)) for each in scene.spheres if each.count > 1]
    else:
        sets = [spheres for spheres in scene.spheres if spheres.count]
        sets = [spheres for spheres in sets if spheres.source] or sets
        if len(sets) != 1:
            raise SceneError(
                "contacts.file: a list of contacts needs one set of particles, but the scene has "
                f"{len(sets)}: leave the others out"
            )
        (spheres,) = sets
        listed = _read_listed(spheres, contacts)
        by, pairs = contacts.by or _find_force_column(listed.columns), [(spheres, listed)]
    made = [_find_contacts(*each, by, contacts.select) for each in pairs]
    values = np.concatenate([np.zeros(0), *(each.values for each in made)])
    values = values[np.isfinite(values)]
    if not len(values):
        warn("contacts: there are no contacts between the particles shown")
        return GlyphSet([])
    _, largest = current_defaults().range(
        "contacts.by", lambda: (0.0, float(np.quantile(values, THIN_SHARE)))
    )
    if not largest > 0.0:
        raise SceneError("contacts.by: no value is above 0, so no contact has a thickness")
    thick = [each.taken(contacts.least * largest) for each in made]
    thick = [each for each in thick if len(each.values)]
    rule = contacts.color
    if rule is None:
        rule = StyleSettings(color_by=by, map=MAP, range=(0.0, largest))
    colored, scales = shared.color_sets([each.points for each in thick], rule, "contacts")
    both = zip(thick, colored, strict=True)
    return GlyphSet([_make_contact_capsules(*each, largest, contacts) for each in both], scales)


def _find_contacts(
    spheres: SphereSet, pairs: BondPairs, by: str, select: str | None
) -> _ContactPairs:
    points = pairs.table(spheres)
    values = np.full(points.count, np.nan)
    if points.count:
        rows = shared.select_every(points.columns, select, 1, "contacts")
        values[rows] = np.abs(evaluate(by, points.columns, "contacts.by"))[rows]
    return _ContactPairs(spheres, pairs, points, values)


def _make_contact_capsules(
    made: _ContactPairs, points: SphereSet, largest: float, contacts: Contacts
) -> CapsuleSet:
    spheres = made.spheres
    shared.require_capsules(2 * len(made.values), "contacts")
    starts, ends, rows, _ = made.pairs.halves(spheres)
    thickest = MAX_RADIUS * float(np.median(spheres.radius))
    if contacts.radius is not None:
        thickest = contacts.radius / spheres.transform.scale
    radii = thickest * np.minimum(made.values / largest, 1.0)[rows]
    looks: Any = {"material": contacts.material, "transform": spheres.transform}
    return CapsuleSet(starts, ends, radii, **looks, **shared.pick_colors(points, rows))


def _find_touching(spheres: SphereSet) -> BondPairs:
    """Return the particles of a set that touch or overlap, including periodic images."""
    radii = np.broadcast_to(np.asarray(spheres.radius, np.float64), (spheres.count,))
    pairs = BondPairs(find_close_pairs(spheres, *classify_radii(radii), "contacts"), {})
    overlap = radii[pairs.rows[:, :2]].sum(axis=1) - np.linalg.norm(pairs.spans(spheres), axis=1)
    touch = overlap > 0.0
    columns = {"overlap": overlap[touch] * spheres.transform.scale}
    return BondPairs(pairs.rows[touch], columns)


def _read_listed(spheres: SphereSet, contacts: Contacts) -> BondPairs:
    from raytracer.particles.formats.lammps_dump import Source as Dump
    from raytracer.particles.locate import locate_frame
    from raytracer.particles.read import open_source

    assert contacts.file is not None
    path = Path(contacts.file)
    with prefix_errors("contacts.file"):
        frame = _find_frame(spheres, path)
        with open_source(locate_frame(path, frame or 0)) as source:
            names = list(source.columns)
            ids = _id_columns(source, contacts)
            table = source.load(names)
            first = 1 if isinstance(source, Dump) else 0
    known = _particle_ids(spheres, path, first)
    if frame is None:
        table = {name: values[:0] for name, values in table.items()}
    rows = np.stack([_find_rows(known, table[name], path, name) for name in ids], axis=1)
    are_shown = (rows >= 0).all(axis=1)
    columns = {
        name: table[name][are_shown]
        for name in names
        if name not in ids and table[name].dtype.kind in "iufb" and table[name].ndim == 1
    }
    return to_nearest_images(spheres, rows[are_shown], columns)


def _find_frame(spheres: SphereSet, path: Path) -> int | None:
    """Return the frame of a list of contacts that belongs to the particles: that of their time if
    both files state it, otherwise that of their number, or its only one; None if there is none."""
    from raytracer.particles.read import count_frames, read_frame_times

    times, own, file = read_frame_times(path), spheres.time, spheres.file
    number = 0
    if file is not None and file.frame is not None and file.frame < 0:  # from the end
        number = file.resolve_frame(count_frames(file.named, topology=file.topology))
    elif file is not None:
        number = file.number or file.frame or 0
    known = [each is not None and own is not None and each.unit == own.unit for each in times]
    if own is not None and all(known):
        same = [
            frame
            for frame, each in enumerate(times)
            if each is not None and isclose(each.value, own.value, rel_tol=SAME_TIME)
        ]
        if not same:
            what = "are drawn with all frames" if len(times) == 1 else "are left out there"
            warn(f"contacts: {path} states none for the time of some frames: they {what}")
        return number if number in same else next(iter(same), 0 if len(times) == 1 else None)
    if len(times) == 1:
        return 0
    if own is not None or any(times):
        warn(
            f"contacts: {path} and {_file_name(spheres)} do not both state times in one unit, so "
            "their frames are matched by number"
        )
    return number


def _id_columns(source: ParticleSource, contacts: Contacts) -> tuple[str, str]:
    names = list(source.columns)
    for name in contacts.ids or ():
        if name not in names:
            raise SceneError(
                f"contacts.ids: there is no column '{quote(name)}'; {suggest(name, names)}"
            )
    if contacts.ids is not None:
        return contacts.ids
    by_word = {name.lower(): name for name in reversed(names)}
    for one, other in IDS:
        if one in by_word and other in by_word:
            return by_word[one], by_word[other]
    if len(names) < 2:
        raise DataFileError(f"{source.name}: has no two columns with numbers of particles")
    return names[0], names[1]


def _particle_ids(spheres: SphereSet, path: Path, first: int) -> NDArray[Any]:
    """Return the ids of particles, (N,), counted from `first` if their file states none."""
    known = spheres.columns.value("id")
    if isinstance(known, Texts):
        raise SceneError("contacts: the column id of the particles holds texts, not numbers")
    if spheres.columns.has_ids:
        return known
    whose = _file_name(spheres)
    warn(f"contacts: {whose} states no ids of particles, so {path} counts them from {first}")
    return known + first


def _file_name(spheres: SphereSet) -> str:
    """Return the name of the file of particles without that of a frame: warnings are for all."""
    return (spheres.source or "the scene").partition(": frame ")[0]


def _find_rows(known: NDArray[Any], ids: NDArray[Any], path: Path, name: str) -> Rows:
    """Return the rows of particles by id; -1 for particles not shown."""
    if ids.dtype.kind not in "iuf" or ids.ndim != 1 or not (ids == np.floor(ids)).all():
        raise DataFileError(
            f"{path}: column '{quote(name)}' does not hold whole numbers: name the columns with "
            "the ids in contacts.ids"
        )
    return shared.find_rows_by_id(known, ids)


def _find_force_column(columns: dict[str, NDArray[Any]]) -> str:
    """Return the column that sets the thickness by default, as expressions name it."""
    by_word = {re.sub(r"\W", "_", name.lower()).strip("_"): name for name in reversed(columns)}
    words = [word for word in FORCES if word in by_word]
    name = by_word[words[0]] if words else next(iter(columns), "length")
    return name if name.isidentifier() else f"`{name}`"
