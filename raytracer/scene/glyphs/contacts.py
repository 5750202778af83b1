"""Force chains: contacts between particles as capsules whose thickness shows the force."""

import re
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, SceneError, naming, shown, suggestion
from raytracer.render_space import affine_rows
from raytracer.scene.bonds import close_pairs, radius_classes
from raytracer.scene.coloring.expression import Texts, evaluate
from raytracer.scene.coloring.style import StyleSettings
from raytracer.scene.glyphs import shared
from raytracer.scene.glyphs.settings import Contacts
from raytracer.scene.glyphs.shared import Doubles, Glyphs, Rows
from raytracer.scene.inferred import inferred
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


class _Lines(NamedTuple):
    """Contacts from starts by spans to the nearest images of stops, scene units, (M, 3), their
    middles with columns, and the values that set their thickness, (M,), NaN to leave one out."""

    spheres: SphereSet
    starts: Doubles
    stops: Doubles
    spans: Doubles
    points: SphereSet
    values: Doubles


def contacts_of(scene: Scene, contacts: Contacts) -> Glyphs:
    """Return the contacts of a scene."""
    if contacts.file is None:
        sets = [spheres for spheres in scene.spheres if spheres.count > 1]
        pairs = [_touching(spheres) for spheres in sets]
    else:
        sets = [_listed_set(scene)]
        pairs = [_listed(sets[0], contacts)]
    lines = [_lines(spheres, each, contacts) for spheres, each in zip(sets, pairs, strict=True)]
    values = np.concatenate([np.zeros(0), *(each.values for each in lines)])
    values = values[np.isfinite(values)]
    if not len(values):
        warn("contacts: there are no contacts between the particles shown")
        return Glyphs([])
    _, largest = inferred().range(
        "contacts.by", lambda: (0.0, float(np.quantile(values, THIN_SHARE)))
    )
    if not largest > 0.0:
        raise SceneError("contacts.by: no value is above 0, so no contact has a thickness")
    lines = [_thick(each, contacts.least * largest) for each in lines]
    lines = [each for each in lines if len(each.values)]
    rule = contacts.color
    if rule is None:
        rule = StyleSettings(color_by=contacts.by or pairs[0][3], map=MAP, range=(0.0, largest))
    colored, scales = shared.colored([each.points for each in lines], rule, "contacts")
    lines = [each._replace(points=points) for each, points in zip(lines, colored, strict=True)]
    return Glyphs([_capsules(each, largest, contacts) for each in lines], scales)


def _lines(spheres: SphereSet, pairs: _Pairs, contacts: Contacts) -> _Lines:
    first, second, columns, by = pairs
    centers, places = np.asarray(spheres.centers, np.float64), shared.placed(spheres)
    spans = centers[second] - centers[first]
    spans -= shared.jumps(spans, spheres.box)  # to the nearest image of the second particle
    spans = affine_rows(spans, spheres.transform.linear())
    columns = {"length": shared.lengths_of(spans), **columns}
    points = SphereSet(places[first] + 0.5 * spans, 1.0, columns=columns)
    values = np.full(len(spans), np.nan)
    if len(spans):
        rows = shared.chosen(points.columns, contacts.select, 1, "contacts")
        values[rows] = np.abs(evaluate(contacts.by or by, points.columns, "contacts.by"))[rows]
    return _Lines(spheres, places[first], places[second], spans, points, values)


def _thick(lines: _Lines, least: float) -> _Lines:
    spheres, starts, stops, spans, points, values = lines
    rows = np.flatnonzero((values >= least) & (values > 0.0))
    return _Lines(spheres, starts[rows], stops[rows], spans[rows], points.taken(rows), values[rows])


def _capsules(lines: _Lines, largest: float, contacts: Contacts) -> CapsuleSet:
    """Make the capsules; a contact across a periodic boundary becomes two halves."""
    spheres, starts, stops, spans, points, values = lines
    far = np.abs(stops - starts - spans).max(axis=1)
    crossing = np.flatnonzero(far > 1e-6 * np.abs(spans).max())
    rows = np.concatenate([np.arange(len(values)), crossing])
    thickest = contacts.radius or MAX_RADIUS * float(np.median(shared.radii_of(spheres)))
    radii = thickest * np.minimum(values / largest, 1.0)[rows]
    shared.require_capsules(len(radii), "contacts")
    ends, half = starts + spans, 0.5 * spans[crossing]
    ends[crossing] -= half
    starts = np.concatenate([starts, stops[crossing]])
    ends = np.concatenate([ends, stops[crossing] - half])
    colors = shared.colors_of(points, rows)
    return CapsuleSet(starts, ends, radii, material=contacts.material, **colors)


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
