"""Tables of particles in nested data: JSON, YAML, MATLAB, HDF5.

A table is a list of records or rows, or columns by name, in any of the orientations of pandas. The
first with coordinates is used, from the outside inwards; then a matrix without names of columns;
then the first table of columns with other names, of which the user names the coordinates.
"""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import quote
from raytracer.model import particle_names as naming
from raytracer.model.particle_source import Notes
from raytracer.particles.array_source import ArraySource, encode_texts, has_frames, is_transposed

MAX_DEPTH = 8  # most levels that are searched
MAX_INNER = 1000  # most values of a level that are searched
MAX_VALUES = 10_000  # most values that are searched
MIN_ACROSS = 10  # fewest columns of a matrix without names that are its particles
BOHR = 0.529177210903  # angstrom
PARTICLES = ("particles", "particle", "atoms", "spheres", "bodies", "sites", "data")
CELLS = ("box", "cell", "lattice", "unit_cell", "simulation_box", "box_vectors", "cell_vectors",
         "lattice_vectors")  # fmt: skip

Columns = dict[str, NDArray[Any]]


class NestedSource(ArraySource):
    """A source whose file holds nested data."""

    min_across: int = MIN_ACROSS  # of coordinates (3, N) that are those of N points

    def find_columns(self, value: Any) -> Columns:
        """Return the columns of the first table with coordinates, each (N,) or (N, K), of
        dictionaries, lists, arrays, numbers and texts. Raises DataFileError: there is none; the
        message lists its columns."""
        matrices: list[tuple[str, Columns]] = []
        others: list[Columns] = []
        first: list[str] = []
        for key, inner in _walk_values(value):
            for table in _find_tables(inner):
                columns = _select_by_length(table, self.min_across)
                if not columns or not (
                    naming.find_usual_name("centers", columns) or naming.has_axes(columns)
                ):
                    first = first or list(columns)
                    others += (
                        [_select_commonest_length(columns)] if _is_whole(table, columns) else []
                    )
                elif columns.keys() != set("xyz") and not any(
                    name.startswith("column ") for name in columns
                ):
                    return columns
                elif not (
                    naming.normalize_name(key) in CELLS and len(columns) == len(columns["x"]) == 3
                ):
                    matrices.append((key, columns))
        if matrices:
            return self._choose_matrix(matrices)
        if isinstance(value, Mapping) and (single := _single_particle_columns(value)):
            return single
        if others:
            return next((each for each in others if len(each) >= 3), others[0])
        held = f"; it holds {naming.quote_names(first)}: " if first else ": "
        raise self.error(
            f"there are no {naming.plural(self.noun)} x, y and z{held}name them, as in --columns "
            "x=NAME,y=NAME,z=NAME"
        )

    def _choose_matrix(self, matrices: list[tuple[str, Columns]]) -> Columns:
        """Return the likeliest matrix, by name, and say which one is used."""
        usual = (*naming.USUAL["centers"], *PARTICLES)
        likely = (each for each in matrices if naming.normalize_name(each[0]) in usual)
        key, columns = next(likely, matrices[0])
        several = dict.fromkeys(name for name, each in matrices if len(each["x"]) > 1)
        unused = [name for name in several if name != key]
        if unused:
            self.note(
                f"the matrix '{quote(key)}' is taken as the particles, not "
                f"{naming.quote_names(unused)}"
            )
        self.notes += describe_rows(self.name, columns)
        return columns


def describe_rows(source: str, columns: Columns) -> Notes:
    """Return the warning about columns without names."""
    others = naming.quote_names([name for name in columns if name not in tuple("xyz")])
    if not others:
        return []
    return [("", (
        f"{source}: the columns have no names: the first three of numbers are taken as x, y and z, "
        f"and the others are {others}: to choose, give --columns x=NAME,radius=NAME"
    ))]  # fmt: skip


def _walk_values(value: Any) -> Iterator[tuple[str, Any]]:
    """Yield a value, and those in it with their names, from the outside inwards."""
    pending: deque[tuple[str, Any, int]] = deque([("", value, 0)])
    for _ in range(MAX_VALUES):  # aliases of YAML can nest without end
        if not pending:
            return
        key, inner, depth = pending.popleft()
        yield key, inner
        if depth < MAX_DEPTH and isinstance(inner, (Mapping, list)):
            parts = inner.items() if isinstance(inner, Mapping) else ((key, each) for each in inner)
            pending += [(str(name), each, depth + 1) for name, each in islice(parts, MAX_INNER)
                        if isinstance(each, (Mapping, list, np.ndarray))]  # fmt: skip


def _find_tables(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the columns that a value may be, by name."""
    if isinstance(value, np.ndarray):
        yield from _array_columns(value)
    elif isinstance(value, list) and value:
        if all(isinstance(row, Mapping) for row in value):
            for _ in range(MAX_DEPTH):
                if any(isinstance(each, Mapping) for each in value[0].values()):
                    value = _flatten_records(value)
            axes = [
                value[0].get(naming.find_usual_name(axis, map(str, value[0]))) for axis in "xyz"
            ]
            if all(isinstance(each, list) for each in axes) or any(
                isinstance(each, np.ndarray) for each in value[0].values()
            ):
                return  # several tables
            names = dict.fromkeys(name for row in value[:MAX_INNER] for name in row)
            yield {str(name): [row.get(name) for row in value] for name in names}
        elif all(isinstance(row, list) and len(row) == len(value[0]) for row in value):
            turned = is_transposed((len(value), len(value[0])), MIN_ACROSS)
            yield name_columns(value if turned else [list(column) for column in zip(*value)])  # noqa: B905
    elif isinstance(value, Mapping) and value:
        yield from _of_mapping(value)


def _of_mapping(value: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    names = value.get("columns", value.get("keywords", value.get("fields")))
    rows = value.get("data")
    if isinstance(names, list) and isinstance(rows, list) and all(
        isinstance(row, list) and len(row) == len(names) for row in rows
    ):  # fmt: skip
        there: Any = zip(*rows, strict=True) if rows else [np.zeros(0)] * len(names)
        yield {str(name): column if isinstance(column, np.ndarray) else list(column)
               for name, column in zip(names, there, strict=True)}  # fmt: skip
    if all(isinstance(each, Mapping) for each in value.values()):
        columns = {str(name): list(each.values()) for name, each in value.items()}
        if naming.has_axes(columns):
            yield columns
        else:
            yield from _find_tables(list(value.values()))
    if {"symbols", "geometry"} <= value.keys():  # of QCSchema, in bohr
        flat = _to_array(value["geometry"])
        if flat is not None and flat.size == 3 * len(value["symbols"]):
            yield {"element": value["symbols"], "position": BOHR * flat.reshape(-1, 3)}
    yield value


def _flatten_records(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return records with the entries of their inner ones.

    An entry that several inner ones have is named with theirs ("velocity_x"), except for that of
    the positions.
    """
    names: dict[str, dict[str, None]] = {}  # of the entries of each inner record
    for row in rows:
        for key, each in row.items():
            if isinstance(each, Mapping):
                names.setdefault(key, {}).update(dict.fromkeys(each))
    centers = naming.find_usual_name("centers", map(str, names))
    counts = Counter(name for each in names.values() for name in each)
    keys = sorted(names, key=lambda key: key != centers)
    new = {(key, name): name if counts[name] == 1 or key == centers else f"{key}_{name}"
           for key in keys for name in names[key]}  # fmt: skip
    return [
        {new[key, name]: value for key in keys if isinstance(row.get(key), Mapping)
         for name, value in row[key].items()} | dict(row)
        for row in rows
    ]  # fmt: skip


def _array_columns(value: NDArray[Any]) -> Iterator[Mapping[str, Any]]:
    """Yield the columns of records, or of rows of at least three numbers, of which the first are
    the coordinates."""
    if value.dtype.names and value.ndim == 1:
        yield {name: value[name] for name in value.dtype.names}
    elif value.ndim == 2 and value.dtype.kind in "iuf" and value.shape[1] >= 3:
        yield name_columns(list(value if is_transposed(value.shape, MIN_ACROSS) else value.T))


def name_columns(columns: list[Any]) -> dict[str, Any]:
    """Return columns by name: the first three columns of numbers are x, y and z."""
    arrays = [_to_array(column) for column in columns]
    numbers = [(place, each) for place, each in enumerate(arrays)
               if each is not None and each.dtype.kind in "iuf" and each.ndim == 1]  # fmt: skip
    first, *others = [each for _, each in numbers[:4]] or [np.zeros(0)]
    is_count = len(first) > 1 and bool((np.diff(first) == 1).all())
    if len(others) == 3 and is_count and not any((each % 1 == 0).all() for each in others):
        del numbers[0]  # it counts the rows
    names = {place: axis for axis, (place, _) in zip("xyz", numbers, strict=False)}
    return {names.get(place, f"column {place + 1}"): column for place, column in enumerate(columns)}


def _select_by_length(table: Mapping[str, Any], min_across: int) -> Columns:
    """Return the columns of a table that are arrays, and as long as its coordinates."""
    arrays = {str(name): array for name, each in table.items()
              if (array := _to_array(each)) is not None and array.ndim}  # fmt: skip
    place = naming.find_usual_name("centers", arrays) or naming.find_usual_name("x", arrays)
    if place is None:
        return {name: array for name, array in arrays.items() if array.dtype.kind != "V"}
    centers = arrays[place]
    if naming.find_usual_name("centers", [place]):
        count = len(centers) // 3
        is_flat = centers.ndim == 1 and centers.dtype.kind in "iuf" and 3 * count == len(centers)
        others = [len(each) for name, each in arrays.items() if name != place]
        if (
            is_flat and not naming.has_axes(arrays) and (count in others or not others)
        ):  # x, y, z, x, ...
            centers = arrays[place] = centers.reshape(-1, 3)
        if is_transposed(centers.shape, min_across):
            count = centers.shape[1]
            arrays |= {name: each.T for name, each in arrays.items()
                       if each.ndim == 2 and each.shape[1] == count != each.shape[0]}  # fmt: skip
            centers = arrays[place]
        if has_frames(centers.shape):
            times, count = centers.shape[:2]
            return {name: each for name, each in arrays.items()
                    if each.shape[:2] == (times, count) or len(each) == count}  # fmt: skip
        if centers.ndim != 2 or centers.shape[1] not in (2, 3):
            return {}
    return {name: array for name, array in arrays.items() if len(array) == len(centers)}


def _single_particle_columns(value: Mapping[str, Any]) -> Columns:
    """Return the columns of a dictionary of one particle's values; {} if it is none."""
    columns = _select_by_length({name: [each] for name, each in value.items()}, MIN_ACROSS)
    axes = [columns[name] for name in naming.find_axes(columns)]
    is_one = len(axes) == 3 and all(each.ndim == 1 for each in axes)
    return columns if is_one or naming.find_usual_name("centers", columns) else {}


def _is_whole(table: Mapping[str, Any], columns: Columns) -> bool:
    """Whether columns are all that a table has of x, y and z, and not empty."""
    stated = [axis for axis in "xyz" if naming.find_usual_name(axis, map(str, table))]
    return bool(columns) and all(naming.find_usual_name(axis, columns) for axis in stated)


def _select_commonest_length(columns: Columns) -> Columns:
    """Return the columns that have as many values as most others."""
    ((length, _),) = Counter(map(len, columns.values())).most_common(1)
    return {name: array for name, array in columns.items() if len(array) == length}


def _to_array(value: Any) -> NDArray[Any] | None:
    """Return values as an array of numbers or texts, None if they are neither; null is NaN."""
    if isinstance(value, np.ndarray):
        array = value.squeeze() if value.ndim == 2 and 1 in value.shape else value
        if array.dtype.kind in "iufbSV":
            return array.astype(array.dtype.newbyteorder("="), copy=False)
        value = array.tolist()
    if not isinstance(value, list) or not value:
        return None
    plain = [_plain_value(each) for each in value]
    if any(isinstance(inner, (list, Mapping)) for each in plain if isinstance(each, list)
           for inner in each[:1]):  # fmt: skip
        return None  # deeper than positions
    if any(isinstance(each, str) for each in plain):
        is_texts = all(isinstance(each, str) or each is None for each in plain)
        return encode_texts([each or "" for each in plain]) if is_texts else None
    try:
        array = np.array([np.nan if each is None else each for each in plain])
    except (ValueError, TypeError, OverflowError):
        return None
    return array if array.dtype.kind in "iufb" else None


def _plain_value(value: Any) -> Any:
    """Return the value of a record: a species of pymatgen is its element."""
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], Mapping):
        return value[0].get("element", value[0])
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else value
