"""Columns of a sphere set: the values of its file per particle, read on demand; and the unit of
length of particles, from the names of their columns, their format or elements."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring.expression import Texts
from raytracer.config.arguments import check_text
from raytracer.config.errors import (
    RaytracerError,
    SceneError,
    UserError,
    pluralize,
    quote,
    suggest,
)
from raytracer.config.warning import warn
from raytracer.model import particle_names as naming
from raytracer.model.arrays import for_each_block
from raytracer.model.elements import RADII, load_radii
from raytracer.model.particle_labels import ParticleLabels, find_element_symbols
from raytracer.model.particle_source import Column, ParticleRecord, ParticleSource, column_kind
from raytracer.particles.columns import index_labels

if TYPE_CHECKING:
    from raytracer.model.sphere_set import SphereSet

AXES = "xyz"

EXPECTED: dict[str, tuple[str, ...]] = {
    "id": naming.IDS,
    "mass": ("mass", "masses", "particle_mass", "m"),
    "resid": ("residue_id", "residue_number", "resids", "resnum", "residue_ids"),
    "resname": ("residue", "residue_name", "resnames"),
    "beta": ("b_factor", "bfactor", "tempfactor", "tempfactors"),
    "velocity": ("velocity", "velocities", "vel", "vels", "v", "velo"),
    "vx": ("vx", "v_x", "velocity_x", "velocities_x", "vel_x", "velx", "velocity_0"),
    "vy": ("vy", "v_y", "velocity_y", "velocities_y", "vel_y", "vely", "velocity_1"),
    "vz": ("vz", "v_z", "velocity_z", "velocities_z", "vel_z", "velz", "velocity_2"),
}  # fmt: skip
"""Usual columns and the names that files have for them, the likeliest first."""

ELEMENT_NAMES = ("element", "elements", "symbol", "symbols", "species")
"""Column names for atom labels; all but the last mean elements."""

TYPE_NAMES = ("type", "types", "label", "labels")  # for atom labels in files without such a column


class _KnownColumn(NamedTuple):
    """A column: its type, its values for the shown particles, and the file columns it needs."""

    about: Column
    get: Callable[[], NDArray[Any] | Texts]
    made_of: tuple[str, ...] = ()


class Columns(Mapping[str, "NDArray[Any]"]):
    """Columns of a sphere set by name, each an array (N,) or (N, K) in the order of the spheres.

    Columns of the set's file are read on demand, and kept; columns of arrays are the arrays. `x`,
    `y` and `z` are the coordinates and `radius` the radius in the set's units, before its
    transform; `index` counts the particles of the file from 0. `speed`, `id`, `mass`, `element` and
    `type` exist if the file has the data for them.

    Args:
        spheres: the set.
    """

    def __init__(self, spheres: SphereSet) -> None:
        self._spheres = spheres

    def __getitem__(self, name: str) -> NDArray[Any]:
        known = self._find(name) if isinstance(name, str) else None
        if known is None:
            raise KeyError(name)
        values = known.get()
        return np.array(values.names)[values.ids] if isinstance(values, Texts) else values

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._find(name) is not None

    def __iter__(self) -> Iterator[str]:
        return iter(self.about)

    def __len__(self) -> int:
        return len(self.about)

    def __repr__(self) -> str:
        return f"<Columns of {pluralize(self.count, 'particle')}: {', '.join(self)}>"

    @property
    def count(self) -> int:
        """Number of particles."""
        return self._spheres.count

    def unit(self, name: str) -> str:
        """Return the unit that the file states for a column, or ""."""
        column = self._find(check_text(name, "name"))
        return column.about.unit if column else ""

    @property
    def about(self) -> dict[str, Column]:
        """Type, shape and unit of each column: those of the file, then derived ones."""
        return {**self._file_columns, **self.derived}

    @property
    def derived(self) -> dict[str, Column]:
        """The derived columns, except those that the file has."""
        names = [*AXES, "radius", "index", "id", "mass", "speed", "element", "type"]
        labels = self._spheres.labels
        if labels is not None and not any(find_element_symbols(labels)):
            names.remove("element")  # types alone
        found = ((name, self._find(name)) for name in names if name not in self._file_columns)
        return {name: each.about for name, each in found if each is not None}

    @property
    def others(self) -> list[str]:
        """Names of columns that are neither derived nor centres and radii."""
        parts = ("centers", "radius", "diameter", *AXES)
        placing = {*self.derived, *(name for part in parts for name in naming.USUAL[part])}
        return [
            name for name in self._file_columns if not {name, naming.normalize_name(name)} & placing
        ]

    @property
    def has_ids(self) -> bool:
        """Whether particles have ids in the file; otherwise `id` counts rows."""
        return bool(self.made_of("id"))

    def value(self, name: str) -> NDArray[Any] | Texts:
        """Return a column; texts as distinct values and indices.

        Args:
            name: name in the file, in any case and with or without its unit, or a derived column.

        Raises:
            SceneError: there is no such column; the message suggests the nearest.
            UserError: it cannot be read.
        """
        column = self._find(name)
        if column is None:
            known = [*self.about, *(RADII if self._spheres.labels is not None else ())]
            raise SceneError(f"there is no column '{quote(name)}'; {suggest(name, known)}")
        return column.get()

    def made_of(self, name: str) -> tuple[str, ...]:
        """Return the file columns that a column needs; () for unknown ones."""
        column = self._find(name)
        return () if column is None else column.made_of

    def is_label(self, name: str) -> bool:
        """Whether a column holds particle types, which have no order."""
        return self._plain(name) in (*ELEMENT_NAMES, *TYPE_NAMES, "typeid", "particle_type")

    def in_file(self, name: str) -> str | None:
        """Return the column of the file that a name means, "" for its labels; None: there is none,
        or it is an expression."""
        plain = self._plain(name.strip("`"))
        if self._spheres.labels is not None and plain in (*ELEMENT_NAMES, *TYPE_NAMES):
            return ""
        return (
            name.strip("`")
            if name.strip("`") in self._file_columns
            else self._find_file_name((plain,))
        )

    def _find(self, name: str) -> _KnownColumn | None:
        plain, of_file, file = self._plain(name), self._file_columns, self._spheres.file
        if plain in AXES and name != plain and name in of_file and file and file.converted:
            return self._file_column(name)  # in the file's unit, unlike the centres
        own, otherwise = self._make_columns()
        return (
            own.get(plain)
            or self._file_column(name if name in of_file else self._find_file_name((plain,)))
            or otherwise.get(plain)
            or (self._speed() if plain == "speed" else None)
            or self._file_column(self._find_file_name(EXPECTED.get(plain, ())))
            or self._component(plain)
            or (own["index"] if plain == "id" else None)
        )

    def _make_columns(self) -> tuple[dict[str, _KnownColumn], dict[str, _KnownColumn]]:
        """Return columns of the spheres, whatever the file calls them, and those it may have."""
        it, labels, number = self._spheres, self._spheres.labels, Column("number")
        own = {
            "x": _KnownColumn(number, lambda: it.centers[:, 0]),
            "y": _KnownColumn(number, lambda: it.centers[:, 1]),
            "z": _KnownColumn(number, lambda: it.centers[:, 2]),
            "radius": _KnownColumn(number, lambda: np.broadcast_to(it.radius, (it.count,))),
            "index": _KnownColumn(
                Column("integer"), lambda: np.arange(it.count) if it.rows is None else it.rows
            ),
        }
        if labels is None:
            return own, {}
        types = _KnownColumn(Column("text"), lambda: Texts(labels.names, labels.ids))
        own |= dict.fromkeys(
            ELEMENT_NAMES, _KnownColumn(Column("text"), lambda: _element_column(labels))
        )
        angstrom = Column("number", (), "angstrom")
        radii = {
            kind: _KnownColumn(angstrom, partial(_element_radii, labels, kind)) for kind in RADII
        }
        return own | {"species": types}, dict.fromkeys(TYPE_NAMES, types) | radii

    def _plain(self, name: str) -> str:
        """Return a name in the form for comparison, without its unit if the file has the name."""
        if name.isidentifier():
            return name.lower()
        lower = name.lower()
        is_of_file = any(named.lower() == lower for named in self._file_columns)
        # What may be a unit stays: "vx / 2" and "velocities[0]" are expressions.
        return naming.normalize_name(name) if is_of_file else re.sub(r"[\s.:]+", "_", lower.strip())

    def _file_column(self, name: str | None) -> _KnownColumn | None:
        if name is None:
            return None
        return _KnownColumn(self._file_columns[name], lambda: self._read(name), (name,))

    def _find_file_name(self, names: Iterable[str]) -> str | None:
        """Return the file's name for the first of these that it has, or None."""
        by_plain = {
            naming.normalize_name(each): each for each in reversed(list(self._file_columns))
        }
        return next((by_plain[name] for name in names if name in by_plain), None)

    def _component(self, plain: str) -> _KnownColumn | None:
        """Return one component of a vector: "velocities_x", or "vx"."""
        stem, axis = plain[:-1].rstrip("_"), AXES.find(plain[-1:])
        vector = (
            self._find_file_name(EXPECTED["velocity"] if stem == "v" else (stem,)) if stem else None
        )
        if axis < 0 or vector is None or self._file_columns[vector].shape != (3,):
            return None
        about = self._file_columns[vector]._replace(shape=())
        return _KnownColumn(
            about, lambda: cast("NDArray[Any]", self._read(vector))[:, axis], (vector,)
        )

    def _speed(self) -> _KnownColumn | None:
        parts = [part for axis in AXES if (part := self._find(f"v{axis}")) is not None]
        if len(parts) < 3 or any(part.about.shape or part.about.kind == "text" for part in parts):
            return None
        made_of = tuple(name for part in parts for name in part.made_of)
        return _KnownColumn(
            parts[0].about, lambda: _vector_length([part.get() for part in parts]), made_of
        )

    @property
    def _file_columns(self) -> Mapping[str, Column]:
        if self._spheres.data.about is not None:
            return self._spheres.data.about
        about = {
            name: Column(column_kind(array.dtype) or "text", array.shape[1:])
            for name, array in self._spheres.data.arrays.items()
        }
        if self._spheres.file is not None or self._spheres.data.origin is not None:
            with self._open() as source:
                about = {**source.columns, **about}
        self._spheres.data = self._spheres.data._replace(about=about)
        return about

    def bond_table(self) -> tuple[NDArray[Any], dict[str, NDArray[Any]]] | None:
        """Return the bonds of the file between shown spheres, int64 (M, 2), and its values for
        each: "order", "type"; or None, also if particles are shown several times, as images."""
        if self._spheres.data.origin is None and self._spheres.file is None:
            return None
        with self._open() as source:
            pairs = source.bonds
            columns = {} if pairs is None else dict(source.bond_columns)
        rows, total = self._spheres.rows, self._spheres.data.total
        if pairs is None or not len(pairs) or int(pairs.max()) >= total:
            return None
        if rows is not None:
            place = np.full(total, -1, np.int64)
            place[rows] = np.arange(len(rows))
            if int((place >= 0).sum()) != len(rows):
                return None
            pairs = place[pairs]
            inside = (pairs >= 0).all(axis=1)
            pairs, columns = pairs[inside], {n: each[inside] for n, each in columns.items()}
        return pairs, columns

    @contextmanager
    def _open(self) -> Iterator[ParticleSource]:
        from raytracer.particles.read import open_source

        if self._spheres.data.origin is not None:
            yield self._spheres.data.origin
            return
        file = self._spheres.file
        if file is None:
            raise SceneError(
                f"{self._spheres.source}: standard input cannot be read again for another column: "
                "write it to a file first"
            )
        if problem := file.problem():
            raise SceneError(f"{self._spheres.source}: {problem}")
        with open_source(file) as source:
            yield source

    def _read(self, name: str) -> NDArray[Any] | Texts:
        rows, (total, arrays, *_) = self._spheres.rows, self._spheres.data
        if name not in arrays:
            with self._open() as source:
                arrays |= source.load([name])
        array: Any = arrays[name]
        if hasattr(array, "to_host"):  # it is on a GPU
            array = arrays[name] = array.to_host()
        where = f"{self._spheres.source or 'columns'}: column '{quote(name)}'"
        if len(array) != total:
            raise SceneError(f"{where} has {len(array):,} values for {total:,} particles")
        with suppress(TypeError):  # of objects that are no texts
            if array.dtype.kind == "M":
                times, places = np.unique(array, return_inverse=True)
                ids = np.asarray(places.reshape(-1), np.int32)
                shown_ids = ids if rows is None else ids[rows]
                return Texts(np.datetime_as_string(times).tolist(), shown_ids)
            if array.dtype.kind in "SUO":
                texts = Texts(*index_labels(array, self._spheres.source))
                return texts if rows is None else Texts(texts.names, texts.ids[rows])
        if array.dtype.kind not in "iufb":
            raise SceneError(f"{where} holds neither numbers nor texts")
        found: NDArray[Any] = array if rows is None else array[rows]
        return found


def _element_column(labels: ParticleLabels) -> Texts:
    pairs = zip(find_element_symbols(labels), labels.names, strict=True)
    return Texts([symbol or name for symbol, name in pairs], labels.ids)


def _element_radii(labels: ParticleLabels, kind: str) -> NDArray[Any]:
    """Return the radii of elements of a kind, (N,). Raises SceneError: a label is no element."""
    symbols = find_element_symbols(labels)
    if None in symbols:
        name = quote(labels.names[symbols.index(None)])
        raise SceneError(
            f"'{kind}' is for elements, and '{name}' is not one: state its element in the scene "
            f'file, [elements.{name}] element = "C"'
        )
    table = load_radii(kind)
    return np.array([table[symbol] for symbol in symbols if symbol])[labels.ids]


def _vector_length(parts: list[Any]) -> NDArray[Any]:
    """Return the length of vectors from their components, float64 (N,)."""
    result = np.empty(len(parts[0]), np.float64)

    def work(rows: slice) -> None:
        result[rows] = np.sqrt(sum(np.square(part[rows], dtype=np.float64) for part in parts))

    for_each_block(len(result), work)
    return result


def list_file_columns(names: Iterable[str], about: Mapping[str, Column]) -> list[str]:
    """Return the file columns that the named columns need."""
    spheres: Any = SimpleNamespace(labels=None, file=None, data=ParticleRecord(0, {}, about))
    needed = (name for wanted in names for name in Columns(spheres).made_of(wanted))
    return list(dict.fromkeys(needed))


def shared_names(sets: Sequence[SphereSet]) -> list[str]:
    """Return the names of columns that all sets have besides centres and radii.

    Warns of columns that one of the sets lacks, and of standard input, which is read only once.
    """
    if any(each.source == "standard input" for each in sets):
        warn(
            "columns of standard input that the picture does not need are left out: it is read "
            "only once; write it to a file first"
        )
    if not sets:
        return []
    first, *others = (each.columns for each in sets)
    more = [name for each in others for name in each.others if not _has(first, name)]
    names = dict.fromkeys([*first.others, *more])
    lacking = [name for name in names if not all(_has(each.columns, name) for each in sets)]
    warn_of_left_out(lacking, "not all files have them")
    return [name for name in names if name not in lacking]


def _has(columns: Columns, name: str) -> bool:
    """Whether the file has a column: an `id` that counts rows is none of it."""
    return columns.has_ids if name.lower() == "id" else name in columns


def shared_values(name: str, sets: Sequence[SphereSet]) -> list[NDArray[Any] | Texts] | None:
    """Return the values of a column of each set, (N,) or (N, K); warns and returns None if it
    cannot be read, or has other shapes."""
    try:
        values = [each.columns.value(name) for each in sets]
    except UserError as error:
        warn(f"column '{quote(name)}' is left out: {error.sentences[0]}")
        return None
    shapes = {() if isinstance(each, Texts) else each.shape[1:] for each in values}
    if len(shapes) > 1 or len(min(shapes)) > 1:
        warn(f"column '{quote(name)}' is left out: its values are neither numbers nor rows of them")
        return None
    return values


def warn_of_left_out(names: Sequence[str], reason: str) -> None:
    """Warn of columns that are left out, if there are any."""
    if names:
        listed = ", ".join(quote(name) for name in names)
        warn(f"columns {listed} are left out: {reason}")


def find_length_unit(sets: Sequence[SphereSet]) -> str:
    """Return the unit of length of all sets, or "" if it is unknown."""
    units = {find_center_unit(spheres) for spheres in sets if spheres.count}
    return units.pop() if len(units) == 1 else ""


def find_center_unit(spheres: SphereSet) -> str:
    """Return the unit of the centres of a set in the scene, or ""."""
    if spheres.transform.scale != 1.0:
        return ""
    spheres = spheres.cell or spheres
    if spheres.labels is not None and None not in find_element_symbols(spheres.labels):
        return "Å"  # the unit of the radii of elements
    with suppress(RaytracerError):
        units = {name: each.unit for name, each in spheres.columns.about.items() if each.unit}
        return units.get(
            naming.find_usual_name("centers", units) or naming.find_usual_name("x", units) or "", ""
        )
    return ""


def warn_of_units(sets: Sequence[SphereSet]) -> None:
    """Warn if the files of some sets state different units of length, which are not converted."""
    units: dict[str, str] = {}
    for spheres in sets:
        if unit := find_center_unit(spheres):
            units.setdefault(unit, spheres.source)
    if len(units) > 1:
        stated = ", ".join(f"{source} in {unit}" for unit, source in units.items())
        warn(
            f"the files have different units of length ({stated}), which are not converted: to "
            "scale one, write a scene file with transform = { scale = 0.001 } in its [[spheres]]"
        )
