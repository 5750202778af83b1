"""Spheres from named columns, for formats whose columns have usual names."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, SceneError, quote, suggest
from raytracer.model import particle_names as naming
from raytracer.model.arrays import find_distinct_texts, split_rows
from raytracer.model.colors import check_color_numbers, parse_color
from raytracer.model.elements import is_bead_mass
from raytracer.model.particle_labels import ParticleLabels
from raytracer.model.particle_source import Notes, Particles, ParticleSource
from raytracer.particles.celestial import explain_missing_angles

SPECIES = ("species", "element", "elements", "symbol", "symbols")
ATOMIC_NUMBERS = ("Z", "numbers", "atomic_numbers", "atomic_number")
TYPES = ("type", "types", "particle_type", "typeid")
LABELS = (*SPECIES, *ATOMIC_NUMBERS, *TYPES)  # columns that hold labels, the likeliest first
MAX_TYPES = 1 << 16  # integers below this are looked up in a table
SIZES = ("radius", "diameter")
NUMBERS = ("number", "integer")  # column types that are numbers

GROUPS = {
    "centers": ("centers", *"xyz"),
    "radius": ("radius", "diameter"),
    "color": ("color", *"rgb"),
}
"""Parts of a sphere that are its centre, its radius and its colour."""

_PARTS = {"radii": "radius", "diameters": "diameter", "colors": "color"}
"""Parts of a sphere by the keys of `arrays` in a scene file."""


_SHAPES: dict[str, tuple[tuple[tuple[int, ...], ...], str]] = {
    "centers": (((3,), (2,)), "three numbers per sphere, or two"),
    "color": (((), (3,), (4,)), "a text or three numbers per sphere"),
}
"""Possible shapes of a value by its part, and their names; others are single numbers."""


class ColumnSource(ParticleSource):
    """A source that finds the parts of spheres by column names."""

    noun: ClassVar[str] = "column"
    places: ClassVar[str] = "x, y and z"  # columns of centres, for messages
    first_line = 1
    """Line of the first particle, for messages."""

    @property
    def where(self) -> str:
        """Prefix of messages about names: the file, and the line if there is one."""
        return self.name

    @property
    def names(self) -> list[str]:
        return list(self.columns)

    def particles(self, names: Mapping[str, str]) -> Particles:
        parts = self.choose(names)
        masses = [name for name in ("mass", "masses") if "label" in parts and name in self.columns]
        arrays = self.load(list(dict.fromkeys([*parts.values(), *self.also, *masses])))
        values = {part: arrays[name] for part, name in parts.items()}
        unit = self._convert(values, parts)
        if np.shape(centers := _stack_centers(values, self.name))[1:] == (2,):
            centers = np.pad(centers, ((0, 0), (0, 1)))
            self.note(
                f"'{quote(parts['centers'])}' has two numbers per particle, so all have z = 0"
            )
        result = Particles(
            self.name,
            centers,
            values.get("radius"),
            notes=self._describe_unused(parts),
            extra={name: arrays[name] for name in self.also},
        )
        if "diameter" in values and "radius" not in values:
            result.radius = self.fill_zero_radii(values["diameter"] * 0.5, parts["diameter"])
        if "color" in values:
            self._set_color(result, values["color"], parts["color"])
        elif "r" in values:
            rows = stack_columns([values[c] for c in "rgb"])
            result.color = check_color_numbers(
                rows, color_error_maker(self.name, "columns r, g, b")
            )
        if "label" in values:
            labels = self.labels(parts["label"], values["label"])
            result.labels = self._relabel_beads(
                labels, result, arrays[masses[0]] if masses else None
            )
        for group, members in GROUPS.items():
            used = tuple(parts[part] for part in members if part in parts)
            result.columns[group], result.names[group] = used, ", ".join(used) or group
        result.unit = unit
        return result

    def _relabel_beads(
        self, labels: ParticleLabels, result: Particles, masses: NDArray[Any] | None
    ) -> ParticleLabels:
        """Return labels as types if names or masses, (N,), contradict that they are elements."""
        if labels.meaning is not None:
            return labels
        from raytracer.particles import molecules

        if {"name", "residue"} <= self.columns.keys():
            known = self.load([name for name in molecules.OF_BEADS if name in self.columns])
            if molecules.are_beads(known, result.centers):
                labels = ParticleLabels(*index_labels(known["name"], self.name), "types")
                why = molecules.FAR_APART
            else:
                labels = labels._replace(with_residues=True)
        elif result.radius is not None or masses is None or masses.shape != labels.ids.shape:
            return labels
        elif (masses != 1.0).any():
            first = np.unique(labels.ids, return_index=True)[1]
            pairs = zip(labels.names, masses[first].tolist(), strict=True)
            if any(is_bead_mass(*pair) for pair in pairs):
                labels, why = labels._replace(meaning="types"), "their masses are others"
        if labels.meaning == "types":
            self.note(molecules.describe_beads(labels.names, why), "radius+color")
        return labels

    def _convert(self, values: dict[str, NDArray[Any]], parts: Mapping[str, str]) -> str:
        """Convert coordinates and sizes, the values by part, to the unit of the first coordinate
        where the columns state others; return that unit, "" unless all coordinates have it."""
        lengths = (*GROUPS["centers"], *SIZES)
        known = {part: getattr(self.columns.get(name), "unit", "") or naming.parse_length_unit(name)
                 for part, name in parts.items() if part in lengths}  # fmt: skip
        first = next((part for part, unit in known.items() if unit and part not in SIZES), None)
        if first is None:
            return ""
        for part, unit in known.items():
            if not unit or unit == known[first]:
                continue
            ratio = naming.convert_length_unit(unit, known[first])
            names = f"'{quote(parts[part])}'", f"'{quote(parts[first])}'"
            if ratio is not None and ratio != 1.0:
                values[part] = values[part] * ratio
                self.note(
                    f"{names[0]} is converted to {quote(known[first])}, the unit of {names[1]}"
                )
            elif ratio is None and naming.is_unit(unit) and naming.is_unit(known[first]):
                self.note(
                    f"{names[0]} and {names[1]} have different units, {quote(unit)} and "
                    f"{quote(known[first])}, and are not converted: convert one in the file"
                )
        same = (unit and (unit == known[first] or naming.convert_length_unit(unit, known[first]))
                for part, unit in known.items() if part not in SIZES)  # fmt: skip
        return known[first] if all(same) else ""

    def fill_zero_radii(self, radius: NDArray[Any], name: str) -> NDArray[Any] | None:
        """Return radii (N,) from a column, with the median of the others instead of 0, which
        simulations write where a size is not set; None if all are 0."""
        known = radius[radius > 0.0]
        if not len(radius) or np.isnan(radius).any() or radius.min() != 0.0:
            return radius
        which, what = "some particles", "they get the median of the others"
        if not len(known):
            which, what = "particles", "their radius follows from their distances"
        self.note(f"'{quote(name)}' of {which} is 0: {what}, unless --radius sets one", "radius")
        return np.where(radius > 0.0, radius, np.median(known)) if len(known) else None

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of each part: centers or x, y, z; radius or diameter; color; label.
        Raises DataFileError: one of `names` is not a column, or there are no coordinates."""
        chosen: dict[str, str] = {}
        for key, name in names.items():
            if key == "redshift":
                raise explain_missing_angles(self)
            if name not in self.names:
                hint = suggest(name, self.names)
                raise self.error(f"there is no {self.noun} named '{quote(name)}'; {hint}")
            chosen[_PARTS.get(key, key)] = name
        for part, name in chosen.items():
            self._require_shape(part, name)
        self._choose_centers(chosen)
        for part in ("radius", "diameter"):
            if (
                chosen.keys().isdisjoint(SIZES)
                and (usual := self._find_usual(part, ())) is not None
            ):
                chosen[part] = usual
        self._choose_color(chosen)
        if (label := self._label(chosen.values())) is not None:
            chosen["label"] = label
        naming.require_one(chosen.values(), self.names, self.where, self.noun, names.values())
        return chosen

    def _find_usual(self, part: str, *shapes: tuple[int, ...]) -> str | None:
        """Return the column of numbers of a shape whose name is usual for a part, or None."""
        numbers = (name for name, each in self.columns.items()
                   if each.kind in NUMBERS and each.shape in shapes)  # fmt: skip
        return naming.find_usual_name(part, numbers)

    def _guess_size(self, chosen: dict[str, str]) -> None:
        """Take a name of one letter as the size if there is no better one, with a warning."""
        left = [name for name in self.names if name not in chosen.values()]
        guess = naming.guess_part(left, self.name, self.noun)
        if guess is not None and chosen.keys().isdisjoint(SIZES):
            chosen[guess[0]] = guess[1]
            self.notes.append(("radius", guess[2]))

    def _require_shape(self, part: str, name: str) -> None:
        """Refuse a column with a wrong number of values per sphere for its part."""
        possible, what = _SHAPES.get(part, (((),), "one number per sphere"))
        if self.columns[name].shape not in possible:
            raise DataFileError(f"{self.where}: the {self.noun} '{quote(name)}' must have {what}")

    def labels(self, name: str, values: NDArray[Any]) -> ParticleLabels:
        """Return the labels of particles from texts or integers, (N,)."""
        plain = name if name in ATOMIC_NUMBERS else naming.normalize_name(name)
        meaning = "elements" if plain in ATOMIC_NUMBERS else "types" if plain in TYPES else None
        labels, ids = index_labels(values, self.name)
        return ParticleLabels(labels, ids, meaning, self.first_line)

    def labels_of_atoms(self) -> ParticleLabels | None:
        name = self._label(())
        return None if name is None else self.labels(name, self.load([name])[name])

    def _label(self, taken: Collection[str]) -> str | None:
        return find_label_name(
            [name for name, each in self.columns.items() if not each.shape], taken
        )

    def _choose_centers(self, chosen: dict[str, str]) -> None:
        columns = self.columns
        if "centers" not in chosen and not set("xyz") & set(chosen):
            usual = self._find_usual("centers", (3,))
            if usual is None and not self._find_usual("x", ()):
                usual = self._find_usual("centers", (2,))
            chosen |= {} if usual is None else {"centers": usual}
        if "centers" in chosen:
            return
        for axis in "xyz":
            usual = chosen.get(axis) or self._find_usual(axis, ())
            if usual is None and (named := naming.find_usual_name(axis, columns)) is not None:
                kind, shape, _ = columns[named]
                held = f"{kind or 'number'}s{f' of shape {shape}' if shape else ''}"
                raise self.error(
                    f"{self.noun} '{quote(named)}' cannot be the {axis} coordinate: it holds {held}"
                )
            if usual is None and axis == "z" and not any(map(_may_be_z, self.names)):
                self.note(f"there is no {self.noun} z, so all particles have z = 0")
                return
            if usual is None:
                raise DataFileError(
                    f"{self.name}: there are no {naming.plural(self.noun)} {self.places}; it holds "
                    f"{naming.quote_names(self.names) or 'nothing'} (name them: --columns "
                    "x=NAME,y=NAME,"
                    'z=NAME, or in a scene file, arrays = {x = "...", y = "...", z = "..."})'
                )
            chosen[axis] = usual

    def _choose_color(self, chosen: dict[str, str]) -> None:
        if "color" in chosen or set("rgb") & set(chosen):
            return
        texts = [name for name, each in self.columns.items() if each[:2] == ("text", ())]
        usual = self._find_usual("color", (3,), (4,)) or naming.find_usual_name("color", texts)
        parts = {"color": usual} if usual else {part: self._find_usual(part, ()) for part in "rgb"}
        chosen |= {part: name for part, name in parts.items() if name and all(parts.values())}

    def _describe_unused(self, chosen: Mapping[str, str]) -> Notes:
        """Return warnings about unused columns whose names suggest sizes or colours."""
        left = [name for name in self.columns if name not in chosen.values()]
        known = {"radius": {*SIZES, "label"}, "color": {"color", "r", "label"}}
        parts = [part for part, others in known.items() if chosen.keys().isdisjoint(others)]
        return naming.describe_unused(self.name, self.noun, left, parts)

    def _set_color(self, result: Particles, values: NDArray[Any], name: str) -> None:
        if self.columns[name].kind != "text":
            result.color = check_color_numbers(
                values, color_error_maker(result.source, f"'{quote(name)}'")
            )
            return
        texts, result.color_id = index_labels(values, result.source)
        colors = []
        for index, text in enumerate(texts):
            try:
                colors.append(parse_color(text.strip(' "')))
            except SceneError as error:
                row = self.first_line + int(np.argmax(result.color_id == index))
                place = f"line {row}, column '{quote(name)}'"
                raise DataFileError(f"{result.source}: {place}: {error}") from None
        result.color = np.array(colors, np.float64).reshape(-1, 3)


def find_label_name(names: Sequence[str], taken: Collection[str] = ()) -> str | None:
    """Return the likeliest name of labels that is not taken. Names match in any letter case, but
    atomic numbers "Z", since "z" is a coordinate."""
    by_plain = {
        naming.normalize_name(name): name for name in reversed(names)
    }  # the first of equal names
    known = (each if each in names or each == "Z" else by_plain.get(each) for each in LABELS)
    known = (name for name in known if name in names)
    return next((name for name in known if name and name not in taken), None)


def index_labels(values: NDArray[Any], source: str) -> tuple[list[str], NDArray[Any]]:
    """Return the K distinct labels of a column in order of first use, and the index of each row,
    int32 (N,). values: (N,), texts (bytes) or integers; source: the file, for messages."""
    if values.dtype.kind == "S":
        width = -(-max(values.dtype.itemsize, 1) // 8) * 8
        return find_distinct_texts(values.astype(f"S{width}", copy=False), source)
    if len(values) and values.dtype.kind in "iu" and 0 <= values.min() <= values.max() < MAX_TYPES:
        return _index_small_integers(values)
    known, first, inverse = np.unique(values, return_index=True, return_inverse=True)
    order = np.argsort(first)
    rank = np.argsort(order).astype(np.int32)
    form = "{:.15g}" if known.dtype.kind == "f" else "{}"
    return [form.format(known[place]) for place in order], rank[inverse.reshape(-1)]


def _index_small_integers(values: NDArray[Any]) -> tuple[list[str], NDArray[Any]]:
    """As `index_labels`, for small integers: without sorting, block by block."""
    places = np.full(int(values.max()) + 1, -1, np.int32)  # index of each value among the names
    ids = np.empty(len(values), np.int32)
    names: list[str] = []
    for rows in split_rows(len(values)):
        block = values[rows]
        places.take(block, out=ids[rows], mode="clip")
        if ids[rows].min() < 0:
            known, first = np.unique(block, return_index=True)
            for value in known[np.argsort(first)].tolist():
                if places[value] < 0:
                    places[value] = len(names)
                    names.append(str(value))
            places.take(block, out=ids[rows], mode="clip")
    return names, ids


def color_error_maker(source: str, what: str) -> Callable[[str], DataFileError]:
    """Return a function that makes errors about the colours in columns `what`."""
    return lambda problem: DataFileError(f"{source}: {what}: {problem}")


def _stack_centers(values: Mapping[str, NDArray[Any]], source: str) -> NDArray[Any]:
    if "centers" in values:
        return values["centers"]
    axes = [values[axis] if axis in values else np.zeros(len(values["x"])) for axis in "xyz"]
    if len({axis.shape for axis in axes}) > 1:
        raise DataFileError(f"{source}: x, y and z differ in length")
    return stack_columns(axes)


def stack_columns(columns: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Return three columns as one array (N, 3), without a copy if they are slices of one."""

    def layout(values: NDArray[Any]) -> Any:
        return values.__array_interface__["data"], values.strides, values.shape

    base = columns[0].base
    if isinstance(base, np.ndarray) and base.ndim == 2 and base.dtype == columns[0].dtype:
        for place in range(base.shape[1] - 2):
            part = base[: len(columns[0]), place : place + 3]
            if list(map(layout, part.T)) == list(map(layout, columns)):
                return part
    return np.stack(columns, axis=1)


def _may_be_z(name: str) -> bool:
    """Whether a name has a z at the border of a word; "size" has none."""
    return bool(re.search(r"(?<![A-Za-z])[zZ]|[zZ](?![A-Za-z])|(?<=[a-z])Z", name))
