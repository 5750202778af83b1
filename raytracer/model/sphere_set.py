"""Sets of spheres: arrays of centres, radii and colours, never an object per sphere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from copy import copy
from functools import partial
from types import NoneType
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from raytracer.config.arguments import check_kind, check_mapping, check_text, check_word
from raytracer.config.errors import SceneError, pluralize, quote_value
from raytracer.config.field_types import import_name
from raytracer.config.warning import warn
from raytracer.model.arrays import (
    ErrorContext,
    as_array,
    as_floats,
    check_centers,
    check_radius,
    check_rows,
    find_min_max,
    find_not_finite,
    keep_on_device,
)
from raytracer.model.colors import (
    COLOR_SPACES,
    DEFAULT_COLOR,
    Color,
    check_color_numbers,
    explain_out_of_range,
    parse_color,
    parse_rgba,
)
from raytracer.model.data_file import DataFile
from raytracer.model.key_types import Components
from raytracer.model.left_out import leave_out_nonfinite, warn_of_empty
from raytracer.model.materials import MATERIALS, AnyMaterial
from raytracer.model.particle_source import (
    Box,
    Column,
    FrameTime,
    ParticleRecord,
    Particles,
    column_kind,
)
from raytracer.model.quantities import find_unit
from raytracer.model.spacing import default_radius
from raytracer.model.transform import Transform

if TYPE_CHECKING:
    from raytracer.appearance.coloring.scale import ColorScale
    from raytracer.appearance.coloring.style import SetStyle
    from raytracer.appearance.columns import Columns
    from raytracer.model.motion import MotionKeys
    from raytracer.model.particle_labels import ParticleLabels
    from raytracer.system.device_array import DeviceArray


Array = TypeVar("Array")


class OnDemand(Generic[Array]):
    """An attribute that is an array: one on a GPU (`raw_attribute`) is copied to the host when it
    is read first. `read` makes the array of an object out of that on the GPU, and raises its
    errors."""

    def __init__(self, read: Callable[[Any, DeviceArray], Array]) -> None:
        self._read = read

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._copy = name, f"{name} on the host"

    def __get__(self, owner: Any, kind: type | None = None) -> Array:
        value: Array = raw_attribute(owner, self._name)
        if isinstance(value, (np.ndarray, float)):
            return value
        if self._copy not in owner.__dict__:
            owner.__dict__[self._copy] = self._read(owner, value)  # type: ignore[arg-type]
        copy: Array = owner.__dict__[self._copy]
        return copy

    def __set__(self, owner: Any, value: Array | DeviceArray) -> None:
        owner.__dict__[self._name] = value
        owner.__dict__.pop(self._copy, None)


def raw_attribute(owner: Any, name: str) -> Any:
    """Return an attribute of `OnDemand` as it is: an array of the host or of a GPU."""
    return owner.__dict__[name] if name in owner.__dict__ else owner.missing(name)


class SphereSet:
    """Spheres that share a material and a transform.

    Args:
        centers: (N, 3), any unit; float32 and float64 are kept without a copy, and so are arrays of
            a GPU, as `radius` and `color`: they are checked when they are packed or read.
            Quantities of astropy, pint and unyt may have any unit of length.
        radius: one radius or (N,), unit of `centers`; quantities are converted to it. None lets
            neighbours touch (`spacing.local_spacing`).
        color: one colour ("#rrggbb", a name of CSS or matplotlib, three numbers in 0..1); or N
            colours as uint8 in 0..255 or numbers in 0..1, (N, 3), where integers with one above 1
            are bytes too; or N colour names; or a palette (K, 3) for `color_id`. None is light
            grey. In RGBA, (N, 4), as colour maps return it, the alpha is the opacity, unless
            `opacity` is given.
        color_id: integers (N,) into the palette.
        color_space: colour space of the numbers in `color`, "srgb" or "linear".
        material: a `Material`, a `Principled`, or a name: of one of the scene's, or ready-made
            (`raytracer.model.presets`).
        transform: from the unit of `centers` to scene units; None is the identity.
        source: file of the arrays, for messages.
        names: names in the file for "centers", "radius" and "color", for messages.
        file: the file, to look up its other values of a sphere (`Scene.describe`).
        columns: further values of the spheres by name, arrays (N,) or (N, K); masked ones are
            missing.
        labels: elements or types of the spheres.
        opacity: one opacity or (N,), from 0 to 1; None is that of the colours, or 1.
        velocity: for motion blur (`Camera.shutter`), in units of `centers` per unit of time: (N,
            3), which become the column `velocity`; (3,) for all; the name of a column; or three
            columns or expressions. None takes the frames of the file, or else a column with a usual
            name.

    Raises:
        UserError: arrays of wrong shape, NaN or infinity (with the index of the first), radii that
            are not positive, colours out of range.
    """

    noun = "sphere"

    # Arrays of a GPU stay there until the host needs them.
    centers: OnDemand[NDArray[np.floating[Any]]] = OnDemand(
        lambda self, array: check_centers(array, self.where)
    )
    radius: OnDemand[NDArray[np.floating[Any]] | float] = OnDemand(
        lambda self, array: check_radius(array, self.count, self.where)
    )
    color: OnDemand[NDArray[Any]] = OnDemand(lambda self, array: self._host_colors(array))

    color_scale: ColorScale | None = None
    """The scale whose values an array on a GPU has in place of colours."""

    keys: MotionKeys | None = None
    """How the spheres move while the shutter is open; None: not, or not yet known."""

    def __init__(
        self,
        centers: Any,
        radius: Any = None,
        color: Any = None,
        *,
        color_id: Any = None,
        color_space: str = "srgb",
        material: str | AnyMaterial = "default",
        transform: Transform | None = None,
        source: str = "",
        names: Mapping[str, str] | None = None,
        file: DataFile | None = None,
        columns: Mapping[str, Any] | None = None,
        labels: ParticleLabels | None = None,
        opacity: Any = None,
        velocity: Any = None,
    ) -> None:
        color_space = check_word(color_space, "color_space", COLOR_SPACES)
        if not isinstance(material, (str, *MATERIALS.values())):
            raise SceneError(f"material: {quote_value(material)} is neither a Material nor a name")
        if transform is not None:
            check_kind(transform, "transform", Transform)
        source = check_text(source, "source")
        named = dict(check_mapping({} if names is None else names, "names"))
        where = ErrorContext(source, named, self.noun, find_unit(centers))
        self.where = where
        there = keep_on_device(centers, "positions", None, "centers", where)
        self.centers = check_centers(centers, where) if there is None else there
        count = self.count
        size = default_radius(count, lambda: self.centers) if radius is None else radius
        there = keep_on_device(size, "radii", count, "radius", where)
        self.radius = check_radius(size, count, where) if there is None else there
        there = (
            None if color_id is not None else keep_on_device(color, "colors", count, "color", where)
        )
        self.color, self.color_id, color_opacity = (
            check_set_colors(color, color_id, color_space, count, where)
            if there is None
            else SetColors(there)  # type: ignore[arg-type]
        )
        self.has_color = color is not None
        self.color_space = color_space if self.has_color or color_id is not None else "srgb"
        self.opacity = (
            color_opacity if opacity is None else check_opacities(opacity, self.count, where)
        )
        self.material = material
        self.transform = Transform() if transform is None else transform
        self.source = source
        self.file = file
        if labels is not None:
            check_kind(
                labels, "labels", import_name("raytracer.model.particle_labels:ParticleLabels")
            )
        self.labels = labels
        self.bonding: SetStyle | None = None
        self.plain_radius: NDArray[np.floating[Any]] | float | None = None
        self.rows: NDArray[np.int64] | None = None
        self.is_unwrapped = False
        self.data = ParticleRecord(self.count, *_check_columns(columns, self.count, where))
        self.velocity: str | tuple[str, str, str] | None = None
        if velocity is not None:
            self._take_velocity(velocity)

    @classmethod
    def of_particles(
        cls, data: Particles, radius: Any = None, color: Any = None, stated: Collection[str] = (),
        **options: Any,
    ) -> SphereSet:  # fmt: skip
        """Return the sphere set of a particle file or of an object of another package; radius and
        color instead of the data's. stated: "radius" and "color" if later values replace those of
        the file. Raises DataFileError: its arrays are not those of spheres."""
        size: Any = data.radius if radius is None else radius
        if find_unit(size) is not None:
            size = as_array(size, "radius", ErrorContext(unit=data.unit or None))
        has_color = color is not None
        # Values of the file that the scene file replaces remain available as columns.
        replaced = {n for n, value in (("radius", radius), ("color", color)) if value is not None}
        if data.rows is not None:
            leave_out_nonfinite(data.source, (data.total or 0) - len(data.rows), data.total or 0)
        elif data.is_empty:
            warn_of_empty(data.source)
        for parts, note in data.notes:
            if not parts or not replaced.union(stated).issuperset(parts.split("+")):
                warn(note)
        used = [n for part, names in data.columns.items() if part not in replaced for n in names]
        spheres = cls(
            data.centers,
            size,
            color if has_color else data.color,
            color_id=None if has_color else data.color_id,
            source=data.source,
            names=data.names,
            file=data.file and data.file._replace(used=frozenset(used)),
            labels=data.labels,
            **options,
        )
        spheres.rows = data.rows
        spheres.data = ParticleRecord(
            spheres.count if data.total is None else data.total, data.extra, data.about,
            data.origin, data.box, data.time, data.length,
        )  # fmt: skip
        return spheres

    def _take_velocity(self, velocity: Any) -> None:
        from raytracer.model.motion import VELOCITY  # late: few scenes have any

        is_one = isinstance(velocity, str)
        with suppress(ValueError):  # of a ragged list, which is refused below
            is_one = is_one or np.shape(velocity) == (3,)
        if is_one:
            self.velocity = Components().checked(velocity, "velocity")
            return
        rows = check_rows(velocity, "velocity", 3, self.count, self.where)
        rows = np.broadcast_to(rows, (self.count, 3))
        about = self.data.about and {**self.data.about, VELOCITY: Column("number", (3,))}
        self.data = self.data._replace(arrays={**self.data.arrays, VELOCITY: rows}, about=about)
        self.velocity = VELOCITY

    @property
    def count(self) -> int:
        """Number of spheres."""
        return len(raw_attribute(self, "centers"))

    @property
    def cell(self) -> SphereSet | None:
        """The spheres of one periodic box, whose images are the set; None: it has none."""
        return None

    def check(self) -> None:
        """Check the arrays of the host again: who gave them may have changed them since. Raises
        SceneError: as for a new set."""
        there = {name: raw_attribute(self, name) for name in ("centers", "radius", "color")}
        here = {name: each for name, each in there.items() if isinstance(each, np.ndarray)}
        if "centers" in here:
            check_centers(here["centers"], self.where)
        if "radius" in here:
            check_radius(here["radius"], self.count, self.where)
        rows = len(there["color"])
        if "color" in here:
            colors = _parse_rows(here["color"], self.color_space, self.where)
            if self.color_id is None and rows > 1:
                _check_count(rows, self.count, self.where)
            rows = len(colors)
        if self.color_id is not None:
            _check_ids(self.color_id, self.count, rows, self.where)
        if isinstance(self.opacity, np.ndarray):
            check_opacities(self.opacity, self.count, self.where)

    def _host_colors(self, array: DeviceArray) -> NDArray[Any]:
        if self.color_scale is not None:
            return self.color_scale.rgb(array.to_host())
        return check_set_colors(array, None, self.color_space, self.count, self.where).rows

    @property
    def time(self) -> FrameTime | None:
        """The time of the frame in its file, value and unit, or None."""
        return self.data.time

    @property
    def box(self) -> Box | None:
        """The simulation box in the unit of the centres, or None; it includes periodic images."""
        return self.data.box

    @property
    def columns(self) -> Columns:
        """Values of the spheres by name: from the set's file or arrays, and derived ones."""
        from raytracer.appearance.columns import Columns

        return Columns(self)

    def taken(self, rows: NDArray[np.int64]) -> SphereSet:
        """Return a set of the spheres in some rows, (M,), which keep their rows in the file."""
        taken = copy(self)
        taken.centers = self.centers[rows]
        for name in ("radius", "opacity", "color_id"):
            if isinstance(values := getattr(self, name), np.ndarray):
                setattr(taken, name, values[rows])
        if self.color_id is None and len(self.color) > 1:
            taken.color = self.color[rows]
        if self.labels is not None:
            taken.labels = self.labels._replace(ids=self.labels.ids[rows])
        if self.keys is not None:
            taken.keys = self.keys.taken(rows)
        taken.rows = rows if self.rows is None else self.rows[rows]
        return taken

    def changed(self, **values: Any) -> Self:
        """Return the set with other values of attributes, already checked; arrays are shared."""
        changed = copy(self)
        for name, value in values.items():
            setattr(changed, name, value)
        return changed

    def in_color(self, color: Color) -> SphereSet:
        """Return the set with one colour for all spheres; other arrays are shared."""
        rows = np.array([parse_color(color)], np.float32)
        return self.changed(color=rows, color_id=None, color_space="srgb", has_color=True)

    def faded(self, share: float, kept: NDArray[np.bool_] | None = None) -> SphereSet:
        """Return the set with its opacity times a share, except `kept` spheres, bool (N,)."""
        before: Any = 1.0 if self.opacity is None else self.opacity
        if kept is None:
            return self.changed(opacity=before * share)
        before = np.asarray(before, np.float32)
        return self.changed(opacity=np.where(kept, before, np.float32(share) * before))

    def colored_there(self, name: str, scale: ColorScale) -> Self | None:
        """Return the set coloured by a column on a GPU; None: it is not there."""
        column: Any = self.data.arrays.get(name)
        if isinstance(column, (np.ndarray, NoneType)) or column.ndim > 1 or scale.is_categorical:
            return None
        return self.changed(color=column, color_scale=scale, color_id=None, color_space="linear")

    def without_columns(self) -> SphereSet:
        """Return the set without its file, columns and labels, for other spheres in its place."""
        data = ParticleRecord(self.count, {}, box=self.box, time=self.time)
        nothing = dict.fromkeys(("file", "labels", "bonding", "plain_radius", "rows"))
        return self.changed(data=data, **nothing)

    def release_columns(self) -> None:
        """Drop the columns of the file from memory; `columns` reads them again."""
        if self.file is not None:
            self.data = self.data._replace(arrays={})

    def __repr__(self) -> str:
        origin = f" from {self.source}" if self.source else ""
        return f"<SphereSet: {pluralize(self.count, 'sphere')}{origin}>"


class Balls(SphereSet):
    """Balls at one end of solids, or around them: a sphere set with another noun in messages."""

    def __init__(self, noun: str, *arrays: Any, **options: Any) -> None:
        self.noun = noun
        super().__init__(*arrays, **options)


def _check_columns(
    columns: Any, count: int, where: ErrorContext
) -> tuple[dict[str, NDArray[Any]], dict[str, Column] | None]:
    """Return the columns given as arrays, each with a row per sphere, and what they are, if one of
    them has a unit."""
    given, units = dict[str, NDArray[Any]](), dict[str, str]()
    for name, values in check_mapping({} if columns is None else columns, "columns").items():
        place = f"columns[{quote_value(name)}]"
        unit = find_unit(values)
        units[name] = "" if unit is None else str(unit)
        array = as_array(values, place, where, unit)
        if array.ndim not in (1, 2) or len(array) != count:
            raise where.wrong(place, f"has shape {array.shape} for {pluralize(count, 'sphere')}")
        given[name] = array
    if not any(units.values()):
        return given, None
    return given, {
        name: Column(column_kind(array.dtype) or "text", array.shape[1:], units[name])
        for name, array in given.items()
    }


Opacity = float | NDArray[np.float32] | None


class SetColors(NamedTuple):
    """Colours of a set: (1, 3), (N, 3), or a palette (K, 3) for ids, int32 (N,); uint8 in 0..255 or
    floating point in 0..1; and the opacity of the alpha channel, one or float32 (N,), or None."""

    rows: NDArray[Any]
    ids: NDArray[np.int32] | None = None
    opacity: Opacity = None


def check_set_colors(
    color: Any, color_id: Any, color_space: str, count: int, where: ErrorContext
) -> SetColors:
    """Return the colours of a set; arguments as for `SphereSet`."""
    if color is None and color_id is None:
        return SetColors(np.array([DEFAULT_COLOR], np.float32))
    if not isinstance(color, (str, list, tuple)):
        color = as_array(color, "color", where)
        if color.dtype.kind in "UO":  # names, or mixed rows
            color = color.tolist()
    if color_id is not None:
        rows = _parse_rows(color, color_space, where)
        ids = _check_ids(color_id, count, len(rows), where)
    elif isinstance(color, str):
        rows, ids = np.array([_parse_rgba(color, color_space, where)]), None
    elif isinstance(color, list | tuple) and any(isinstance(item, str) for item in color):
        keys = [each if isinstance(each, str) else row for row, each in enumerate(color)]
        row_of = {key: row for row, key in enumerate(keys)}  # names may repeat
        rows = np.array(
            [_parse_rgba(color[row], color_space, where, row) for row in row_of.values()]
        )
        place = dict(zip(row_of, range(len(row_of)), strict=True))
        ids = np.array([place[key] for key in keys], np.int32)
        _check_count(len(ids), count, where)
    else:
        rows, ids = _parse_rows(color, color_space, where), None
        if np.ndim(color) != 1 or not len(rows):
            _check_count(len(rows), count, where)
    opacity: Opacity = None
    top = 255.0 if rows.dtype == np.uint8 else 1.0
    if rows.shape[1] == 4 and (rows[:, 3] < top).any():
        alpha = (rows[:, 3] / top).astype(np.float32)
        opacity = float(alpha[0]) if len(rows) == 1 else alpha if ids is None else alpha[ids]
    return SetColors(rows[:, :3], ids, opacity)


def check_opacities(value: Any, count: int, where: ErrorContext) -> float | NDArray[np.float32]:
    """Return opacities from 0 to 1 as one number, or as float32 (N,)."""
    array = as_floats(value, "opacity", where)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != count):
        raise where.wrong("opacity", f"has shape {array.shape} for {pluralize(count, where.noun)}")
    least, most = find_min_max(array.reshape(-1))
    if not (least >= 0.0 and most <= 1.0):
        row = int(np.argmin(((array >= 0.0) & (array <= 1.0)).ravel()))
        raise where.wrong(
            "opacity", f"of {where.noun} {row} is {array.ravel()[row]:g}; it must be from 0 to 1"
        )
    return float(array) if array.ndim == 0 else np.ascontiguousarray(array, np.float32)


def _check_count(colors: int, count: int, where: ErrorContext) -> None:
    if colors != count:
        raise where.wrong("color", f"has {colors} colours for {count} {where.noun}s")


def _parse_rgba(
    color: Any, color_space: str, where: ErrorContext, row: int | None = None
) -> tuple[float, ...]:
    """Return the numbers of one colour, which may be that of a row of a list."""
    if isinstance(color, str) and color_space == "linear":
        raise where.wrong("color", f"{quote_value(color)} is sRGB, but color_space is linear")
    try:
        return parse_rgba(color)
    except SceneError as error:
        place = "" if row is None else f"colour {row} is none: "
        raise where.wrong("color", f"{place}{error}") from None


def _parse_rows(color: Any, color_space: str, where: ErrorContext) -> NDArray[Any]:
    """Return colours (K, 3) or with alpha (K, 4), as uint8 or floating point in range."""
    array = color if isinstance(color, np.ndarray) else as_floats(color, "color", where)
    if array.ndim == 1 and array.size:
        array = array[None]
    if array.size == 0:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] not in (3, 4):
        raise where.wrong("color", f"has shape {np.shape(color)}; colours are (3,) or (N, 3)")
    if array.dtype.kind in "iu":  # from an array: lists are floats by now
        return check_color_numbers(array, partial(where.wrong, "color"))
    array = as_floats(array, "color", where)
    bad = find_not_finite(array)
    if bad is not None:
        raise where.wrong("color", f"colour {bad} is not finite")
    top = 1.0 if color_space == "srgb" else np.inf
    least, most = find_min_max(array)
    if least < 0.0 or most > top:
        first = int(np.argmax(((array < 0.0) | (array > top)).any(axis=1)))
        numbers = array[first].tolist()
        raise where.wrong(
            "color",
            f"colour {first} is ({', '.join(f'{v:g}' for v in numbers)}); "
            f"{explain_out_of_range(numbers)}, "
            "or in arrays of uint8 from 0 to 255",
        )
    return array


def _check_ids(value: Any, count: int, colors: int, where: ErrorContext) -> NDArray[np.int32]:
    ids = as_array(value, "color_id", where)
    if ids.dtype.kind == "f" and (lost := np.isnan(ids)).any():
        raise where.wrong("color_id", f"that of {where.noun} {int(np.argmax(lost))} is missing")
    if ids.dtype.kind not in "iu" and ids.size:
        raise where.wrong("color_id", f"holds {ids.dtype} values, not integers")
    if ids.shape != (count,):
        raise where.wrong("color_id", f"has shape {ids.shape} for {count} {where.noun}s")
    if count and (int(ids.min()) < 0 or int(ids.max()) >= colors):
        raise where.wrong("color_id", f"has an index outside the palette of {colors} colours")
    return np.ascontiguousarray(ids, np.int32)
