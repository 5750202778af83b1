"""Contacts between particles as capsules, as thick as the force in them: force chains."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from raytracer._native import core
from raytracer.errors import DataFileError, SceneError, naming, shown, suggestion
from raytracer.resources import thread_count
from raytracer.scene.coloring.expression import Texts, evaluate
from raytracer.scene.coloring.style import StyleSettings
from raytracer.scene.glyphs.shared import (
    Made,
    by_values,
    chosen,
    colors_of,
    follows,
    placed,
    product,
    radii_of,
    require_capsules,
)
from raytracer.scene.inferred import inferred_range
from raytracer.scene.scene import CapsuleSet, SphereSet
from raytracer.warning import warn

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.scene.glyphs.settings import Contacts
    from raytracer.scene.particles.source import ParticleSource
    from raytracer.scene.scene import Scene

THICKEST = 0.4
"""Radius of the thickest contact, in median radii of the particles."""

MOST = 0.995
"""Part of the contacts that are thinner than the thickest: a few of extreme force count less."""

MAP = ("#e8d3a8", "#e58a3c", "#b8201f", "#4a0d18")
"""Colours from no force to the largest."""

KINDS = 200
"""Steps of radii by a factor of e in the search of neighbours: half a percent."""

IDS = (
    ("id1", "id2"), ("id_1", "id_2"), ("i", "j"), ("atom1", "atom2"), ("batom1", "batom2"),
    ("patom1", "patom2"), ("particle1", "particle2"), ("p1", "p2"), ("a", "b"),
    ("source", "target"), ("from", "to"),
)  # fmt: skip
"""Columns of the numbers of two particles, in lower case."""

FORCES = ("force", "f", "fn", "normal_force", "fnorm", "f_n", "overlap")
"""Columns that the thickness follows unless told otherwise, in lower case."""


class _Pairs(NamedTuple):
    """Contacts of a set.

    Args:
        first, second: rows of the particles, int64 (M,).
        columns: further values of each contact, (M,) each.
        default: name of the column that the thickness follows.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    columns: dict[str, NDArray[Any]]
    default: str


def contacts_of(scene: Scene, said: Contacts) -> Made:
    """Return the contacts of a scene.

    Args:
        scene: of its sets, the only one with a file or the only one, if a file lists contacts.
        said: where from, and what they look like.

    Raises:
        SceneError: there are none, or a column is missing.
        DataFileError: the file cannot be read.
    """
    if said.file is None:
        sets = [spheres for spheres in scene.spheres if spheres.count > 1]
        pairs = [_touching(spheres) for spheres in sets]
    else:
        sets = [_set_of(scene)]
        pairs = [_listed(sets[0], said)]
    lines = [_Lines(spheres, each, said) for spheres, each in zip(sets, pairs, strict=True)]
    lines = [each for each in lines if len(each.values)]
    if not lines:
        warn("contacts: there are none between the particles that are shown")
        return Made([], [])
    largest = float(np.quantile(np.concatenate([each.values for each in lines]), MOST))
    _, largest = inferred_range("contacts.by", lambda: (0.0, largest))
    if not largest > 0.0:
        raise SceneError("contacts.by: no value is above 0, so no contact has a thickness")
    for each in lines:
        each.keep((each.values >= said.least * largest) & (each.values > 0.0))
    lines = [each for each in lines if len(each.values)]
    rule = said.color
    if rule is None:
        rule = StyleSettings(color_by=lines[0].by, map=MAP, range=(0.0, largest))
    scales = []
    colored = [each.points for each in lines]
    if follows(rule):
        colored, scale = by_values(colored, rule, "contacts")  # type: ignore[arg-type]
        scales = [scale]
    made = []
    for each, points in zip(lines, colored, strict=True):
        looks: dict[str, Any] = {"color": rule}
        if follows(rule):
            looks = colors_of(points, each.halves)
        made.append(each.capsules(largest, said, looks))
    return Made(made, scales)


class _Lines:
    """The contacts of a set, and the value that their thickness follows.

    Args:
        spheres: the particles.
        pairs: the contacts.
        said: condition and column.
    """

    def __init__(self, spheres: SphereSet, pairs: _Pairs, said: Contacts) -> None:
        centers, spans = placed(spheres), _spans(spheres, pairs)
        self.starts, self.stops = centers[pairs.first], centers[pairs.second]
        self.spans = spans
        self.spheres = spheres
        length = np.sqrt(np.square(spans).sum(axis=1))
        columns = {"length": length, **pairs.columns}
        self.points = SphereSet(self.starts + 0.5 * spans, 1.0, columns=columns)
        self.by = said.by or pairs.default
        self.values = np.zeros(0)
        if len(length):
            found = evaluate(self.by, self.points.columns, "contacts.by")
            self.values = np.asarray(np.abs(found), np.float64)
            rows = chosen(self.points.columns, said.select, 1, len(length), "contacts")
            keep = np.zeros(len(length), np.bool_)
            keep[rows] = True
            self.keep(keep & np.isfinite(self.values))

    def keep(self, mask: NDArray[np.bool_]) -> None:
        """Leave the other contacts out."""
        self.starts, self.stops = self.starts[mask], self.stops[mask]
        self.spans, self.values = self.spans[mask], self.values[mask]
        self.points = self.points.taken(np.flatnonzero(mask))

    @property
    def crossing(self) -> NDArray[np.int64]:
        """The contacts that go through a side of the periodic box."""
        far = np.abs(self.stops - self.starts - self.spans).max(axis=1)
        return np.flatnonzero(far > 1e-6 * np.abs(self.spans).max())

    @property
    def halves(self) -> NDArray[np.int64]:
        """The contact of each capsule."""
        return np.concatenate([np.arange(len(self.values)), self.crossing])

    def capsules(self, largest: float, said: Contacts, looks: dict[str, Any]) -> CapsuleSet:
        """Return the capsules; a contact through the side of the periodic box is two halves.

        Args:
            largest: value of the thickest.
            said: radius and material.
            looks: their colours.
        """
        thickest = said.radius or THICKEST * float(np.median(radii_of(self.spheres)))
        radii = thickest * np.minimum(self.values / largest, 1.0)[self.halves]
        require_capsules(len(radii), "contacts")
        crossing = self.crossing
        ends = self.starts + self.spans
        half = 0.5 * self.spans[crossing]
        ends[crossing] -= half
        starts = np.concatenate([self.starts, self.stops[crossing]])
        ends = np.concatenate([ends, self.stops[crossing] - half])
        return CapsuleSet(starts, ends, radii, material=said.material, **looks)


def _spans(spheres: SphereSet, pairs: _Pairs) -> NDArray[np.float64]:
    """Return from the first particle to the nearest image of the second, scene units, (M, 3)."""
    centers = np.asarray(spheres.centers, np.float64)
    spans = centers[pairs.second] - centers[pairs.first]
    box = spheres.box
    if box is not None and any(box.periodic):
        edges = np.array(box.edges, np.float64)
        if abs(np.linalg.det(edges)) > 0.0:
            boxes = np.rint(product(spans, np.linalg.inv(edges).T))
            boxes[:, ~np.array(box.periodic)] = 0.0
            spans -= product(boxes, edges.T)
    return product(spans, spheres.transform.linear())


def _set_of(scene: Scene) -> SphereSet:
    """Return the set that a list of contacts is about."""
    sets = [spheres for spheres in scene.spheres if spheres.count]
    of_files = [spheres for spheres in sets if spheres.source]
    found = of_files or sets
    if len(found) != 1:
        raise SceneError(
            f"contacts.file: the scene has {len(found)} sets of particles, and a list of contacts "
            "is about one: leave the others out"
        )
    return found[0]


def _touching(spheres: SphereSet) -> _Pairs:
    """Return the particles of a set that touch or overlap, periodic images included."""
    radii = np.broadcast_to(np.asarray(spheres.radius, np.float64), (spheres.count,))
    steps, kinds = np.unique(np.ceil(np.log(radii) * KINDS), return_inverse=True)
    largest = np.exp(steps / KINDS)
    reaches = np.ascontiguousarray(largest[:, None] + largest[None, :])
    box = spheres.box
    edges, origin, periodic = np.eye(3), np.zeros(3), (False,) * 3
    if box is not None and abs(np.linalg.det(np.array(box.edges, np.float64))) > 0.0:
        edges, periodic = np.array(box.edges, np.float64), box.periodic
        origin = np.array(box.origin, np.float64)
    points = np.ascontiguousarray(spheres.centers, np.float64)
    try:
        found = core().close_pairs(
            points,
            np.ascontiguousarray(kinds.reshape(-1), np.int32),
            reaches,
            np.vstack([origin[None], edges]),
            list(periodic),
            thread_count(0),
        )
    except ValueError:
        raise SceneError(
            "contacts: there are more than 64 neighbours to a particle: the radii are too large "
            "for contacts; give them with radius"
        ) from None
    first, second = found[:, 0].astype(np.int64), found[:, 1].astype(np.int64)
    spans = points[second] + product(found[:, 2:], edges.T) - points[first]
    overlap = radii[first] + radii[second] - np.sqrt(np.square(spans).sum(axis=1))
    touch = overlap > 0.0
    return _Pairs(
        first[touch],
        second[touch],
        {"overlap": overlap[touch] * spheres.transform.scale},
        "overlap",
    )


def _listed(spheres: SphereSet, said: Contacts) -> _Pairs:
    """Return the contacts that a file lists between the particles of a set."""
    from raytracer.scene.particles.data_file import DataFile
    from raytracer.scene.particles.read import frame_count, source_of

    assert said.file is not None
    path = Path(said.file)
    file = spheres.file
    frame = file.frame if file is not None else None
    with naming("contacts.file"):
        if frame is not None and frame_count(path) <= 1:
            frame = None
        with source_of(DataFile(path, frame=frame)) as source:
            names = list(source.columns)
            ids = _id_columns(source, said)
            if len(names) < 2:
                raise DataFileError(f"{path}: has no two columns with numbers of particles")
            table = source.load(names)
    rows = [_rows_of(spheres, table[name], path, name) for name in ids]
    there = (rows[0] >= 0) & (rows[1] >= 0)
    columns: dict[str, NDArray[Any]] = {}
    for name in names:
        values = table[name]
        if name not in ids and values.dtype.kind in "iufb" and values.ndim == 1:
            columns[name] = values[there]
    return _Pairs(rows[0][there], rows[1][there], columns, _force_of(columns, path, said))


def _id_columns(source: ParticleSource, said: Contacts) -> tuple[str, str]:
    """Return the columns with the numbers of the two particles."""
    names = list(source.columns)
    if said.ids is not None:
        for name in said.ids:
            if name not in names:
                raise SceneError(
                    f"contacts.ids: there is no column '{shown(name)}'; {suggestion(name, names)}"
                )
        return said.ids
    by_word = {name.lower(): name for name in reversed(names)}
    for one, other in IDS:
        if one in by_word and other in by_word:
            return by_word[one], by_word[other]
    if len(names) < 2:
        raise DataFileError(f"{source.name}: has no two columns with numbers of particles")
    return names[0], names[1]


def _rows_of(spheres: SphereSet, ids: NDArray[Any], path: Path, name: str) -> NDArray[np.int64]:
    """Return the rows of particles by their numbers, -1 of those that are not shown."""
    if ids.dtype.kind not in "iuf" or ids.ndim != 1 or not (ids == np.floor(ids)).all():
        raise DataFileError(
            f"{path}: column '{shown(name)}' holds no whole numbers: name the columns of the "
            "particles, contacts.ids"
        )
    own = spheres.columns.value("id")
    if isinstance(own, Texts):
        raise SceneError("contacts: the numbers of the particles, id, are texts")
    order = np.argsort(own, kind="stable")
    place = np.minimum(np.searchsorted(own[order], ids), len(own) - 1)
    rows = order[place]
    return np.where(own[rows] == ids, rows, -1)


def _force_of(columns: dict[str, NDArray[Any]], path: Path, said: Contacts) -> str:
    """Return the column that the thickness follows unless told otherwise."""
    if said.by is not None:
        return said.by
    by_word = {re.sub(r"\W", "_", name.lower()).strip("_"): name for name in reversed(columns)}
    for word in FORCES:
        if word in by_word:
            return _quoted(by_word[word])
    if not columns:
        return "length"
    return _quoted(next(iter(columns)))


def _quoted(name: str) -> str:
    """Return a column as expressions name it."""
    return name if name.isidentifier() else f"`{name}`"
