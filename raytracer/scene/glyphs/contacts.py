"""Force chains: contacts between particles as capsules whose thickness shows the force."""

import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, SceneError, naming, shown, suggestion
from raytracer.scene.bonds import close_pairs, radius_classes
from raytracer.scene.coloring.expression import Texts, evaluate
from raytracer.scene.coloring.style import StyleSettings
from raytracer.scene.glyphs import shared
from raytracer.scene.glyphs.settings import Contacts
from raytracer.scene.glyphs.shared import Doubles, Glyphs, RowColors, Rows
from raytracer.scene.inferred import inferred
from raytracer.scene.packing.render_space import affine_rows
from raytracer.scene.particles.data_file import DataFile
from raytracer.scene.particles.source import ParticleSource
from raytracer.scene.scene import Scene
from raytracer.scene.solids import CapsuleSet
from raytracer.scene.sphere_set import SphereSet
from raytracer.warning import warn

MAX_RADIUS = 0.4  # radius of the thickest contact, in median radii of the particles
THIN_SHARE = 0.995  # of contacts are thinner than the thickest: extreme forces are clipped
MAP = ("#e8d3a8", "#e58a3c", "#b8201f", "#4a0d18")  # colours from no force to the largest

IDS = (
    ("id1", "id2"), ("id_1", "id_2"), ("i", "j"), ("atom1", "atom2"), ("batom1", "batom2"),
    ("patom1", "patom2"), ("particle1", "particle2"), ("p1", "p2"), ("a", "b"),
    ("source", "target"), ("from", "to"),
)  # fmt: skip
"""Columns with the ids of two particles, in lower case."""

FORCES = ("force", "f", "fn", "normal_force", "fnorm", "f_n", "overlap")


_Pairs = tuple[Rows, Rows, dict[str, NDArray[Any]], str]
"""Contacts of a set: rows of both particles, (M,), further columns, and the one that sets the
thickness by default."""


def contacts_of(scene: Scene, contacts: Contacts) -> Glyphs:
    """Return the contacts of a scene."""
    if contacts.file is None:
        sets = [spheres for spheres in scene.spheres if spheres.count > 1]
        pairs = [_touching(spheres) for spheres in sets]
    else:
        sets = [_listed_set(scene)]
        pairs = [_listed(sets[0], contacts)]
    lines = [_Lines(spheres, each, contacts) for spheres, each in zip(sets, pairs, strict=True)]
    lines = [each for each in lines if len(each.values)]
    if not lines:
        warn("contacts: there are no contacts between the particles shown")
        return Glyphs([])
    largest = float(np.quantile(np.concatenate([each.values for each in lines]), THIN_SHARE))
    _, largest = inferred().range("contacts.by", lambda: (0.0, largest))
    if not largest > 0.0:
        raise SceneError("contacts.by: no value is above 0, so no contact has a thickness")
    for each in lines:
        each.keep((each.values >= contacts.least * largest) & (each.values > 0.0))
    lines = [each for each in lines if len(each.values)]
    rule = contacts.color
    if rule is None:
        rule = StyleSettings(color_by=lines[0].by, map=MAP, range=(0.0, largest))
    colors_of_sets, scales = shared.row_colors_of([each.points for each in lines], rule, "contacts")
    capsules = [
        each.capsules(largest, contacts, row_colors)
        for each, row_colors in zip(lines, colors_of_sets, strict=True)
    ]
    return Glyphs(capsules, scales)


class _Lines:
    """Contacts of a set, and the values that set their thickness."""

    def __init__(self, spheres: SphereSet, pairs: _Pairs, contacts: Contacts) -> None:
        first, second, further, default = pairs
        centers = np.asarray(spheres.centers, np.float64)
        spans = centers[second] - centers[first]
        spans -= shared.jumps(spans, spheres.box)  # to the nearest image of the second particle
        self.spans = affine_rows(spans, spheres.transform.linear())
        self.spheres, places = spheres, shared.placed(spheres)
        self.starts, self.stops = places[first], places[second]
        columns = {"length": shared.lengths_of(self.spans), **further}
        self.points = SphereSet(self.starts + 0.5 * self.spans, 1.0, columns=columns)
        self.by = contacts.by or default
        self.values: Doubles = np.zeros(0)
        if len(spans):
            values = evaluate(self.by, self.points.columns, "contacts.by")
            self.values = np.asarray(np.abs(values), np.float64)
            rows = shared.chosen(self.points.columns, contacts.select, 1, "contacts")
            self.keep(np.isin(np.arange(len(spans)), rows) & np.isfinite(self.values))

    def keep(self, mask: NDArray[np.bool_]) -> None:
        self.starts, self.stops = self.starts[mask], self.stops[mask]
        self.spans, self.values = self.spans[mask], self.values[mask]
        self.points = self.points.taken(np.flatnonzero(mask))

    def capsules(self, largest: float, contacts: Contacts, row_colors: RowColors) -> CapsuleSet:
        """Make the capsules; a contact across a periodic boundary becomes two halves."""
        far = np.abs(self.stops - self.starts - self.spans).max(axis=1)
        crossing = np.flatnonzero(far > 1e-6 * np.abs(self.spans).max())
        rows = np.concatenate([np.arange(len(self.values)), crossing])
        thickest = contacts.radius or MAX_RADIUS * float(np.median(shared.radii_of(self.spheres)))
        radii = thickest * np.minimum(self.values / largest, 1.0)[rows]
        shared.require_capsules(len(radii), "contacts")
        ends = self.starts + self.spans
        half = 0.5 * self.spans[crossing]
        ends[crossing] -= half
        starts = np.concatenate([self.starts, self.stops[crossing]])
        ends = np.concatenate([ends, self.stops[crossing] - half])
        return CapsuleSet(starts, ends, radii, material=contacts.material, **row_colors(rows))


def _listed_set(scene: Scene) -> SphereSet:
    sets = [spheres for spheres in scene.spheres if spheres.count]
    sets = [spheres for spheres in sets if spheres.source] or sets
    if len(sets) != 1:
        raise SceneError(
            f"contacts.file: a list of contacts needs one set of particles, but the scene has "
            f"{len(sets)}: leave the others out"
        )
    return sets[0]


def _touching(spheres: SphereSet) -> _Pairs:
    """Return the particles of a set that touch or overlap, including periodic images."""
    radii = np.broadcast_to(np.asarray(spheres.radius, np.float64), (spheres.count,))
    pairs = close_pairs(spheres, *radius_classes(radii), "contacts")
    first, second = pairs[:, 0].astype(np.int64), pairs[:, 1].astype(np.int64)
    points = np.asarray(spheres.centers, np.float64)
    edges = np.eye(3) if spheres.box is None else np.array(spheres.box.edges, np.float64)
    spans = points[second] + affine_rows(pairs[:, 2:].astype(np.float64), edges.T) - points[first]
    overlap = radii[first] + radii[second] - shared.lengths_of(spans)
    touch = overlap > 0.0
    columns = {"overlap": overlap[touch] * spheres.transform.scale}
    return first[touch], second[touch], columns, "overlap"


def _listed(spheres: SphereSet, contacts: Contacts) -> _Pairs:
    from raytracer.scene.particles.read import frame_count, source_of

    assert contacts.file is not None
    path = Path(contacts.file)
    frame = spheres.file.frame if spheres.file is not None else None
    with naming("contacts.file"):
        if frame is not None and frame_count(path) <= 1:
            frame = None
        with source_of(DataFile(path, frame=frame)) as source:
            names = list(source.columns)
            ids = _id_columns(source, contacts)
            table = source.load(names)
    first, second = (_rows_of(spheres, table[name], path, name) for name in ids)
    shown_pairs = (first >= 0) & (second >= 0)
    columns = {
        name: table[name][shown_pairs]
        for name in names
        if name not in ids and table[name].dtype.kind in "iufb" and table[name].ndim == 1
    }
    return first[shown_pairs], second[shown_pairs], columns, _force_of(columns)


def _id_columns(source: ParticleSource, contacts: Contacts) -> tuple[str, str]:
    names = list(source.columns)
    for name in contacts.ids or ():
        if name not in names:
            raise SceneError(
                f"contacts.ids: there is no column '{shown(name)}'; {suggestion(name, names)}"
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


def _rows_of(spheres: SphereSet, ids: NDArray[Any], path: Path, name: str) -> Rows:
    """Return the rows of particles by id; -1 for particles not shown."""
    if ids.dtype.kind not in "iuf" or ids.ndim != 1 or not (ids == np.floor(ids)).all():
        raise DataFileError(
            f"{path}: column '{shown(name)}' does not hold whole numbers: name the columns with "
            "the ids in contacts.ids"
        )
    known = spheres.columns.value("id")
    if isinstance(known, Texts):
        raise SceneError("contacts: the column id of the particles holds texts, not numbers")
    return shared.rows_by_id(known, ids)


def _force_of(columns: dict[str, NDArray[Any]]) -> str:
    """Return the column that sets the thickness by default, as expressions name it."""
    by_word = {re.sub(r"\W", "_", name.lower()).strip("_"): name for name in reversed(columns)}
    words = [word for word in FORCES if word in by_word]
    name = by_word[words[0]] if words else next(iter(columns), "length")
    return name if name.isidentifier() else f"`{name}`"
