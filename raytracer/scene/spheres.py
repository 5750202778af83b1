"""Sphere sets: arrays of centres, radii and colours, and never an object for each sphere."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import islice
from typing import TYPE_CHECKING, Any

from raytracer.arguments import is_a, mapping, of_kind, plain, text
from raytracer.arguments import items as as_items
from raytracer.errors import SceneError, counted, shown_value
from raytracer.scene.arrays import (
    Where,
    as_array,
    blocks,
    check_centers,
    check_radius,
    first_not_finite,
    floats,
)
from raytracer.scene.colors import COLOR_SPACES, OPAQUE, parse_color
from raytracer.scene.materials import Material
from raytracer.scene.particles.data_file import DataFile
from raytracer.scene.spacing import default_radius
from raytracer.scene.transform import Transform
from raytracer.warning import warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.columns import Columns
    from raytracer.scene.particles.labels import Labels

DEFAULT_COLOR = (0.8, 0.8, 0.8)
"""sRGB of spheres that were given no colour."""


class SphereSet:
    """Spheres that share a material and a transform.

    Args:
        centers: (N, 3), own units; float32 and float64 are kept without a copy.
        radius: one radius or (N,), own units; None is half of the mean spacing of the centres
            (`spacing.mean_spacing`).
        color: one colour ("#rrggbb", a name of CSS or matplotlib, three numbers in 0..1); or N
            colours as uint8 in 0..255 or floating point in 0..1, (N, 3); or N colour names; or a
            palette (K, 3) for `color_id`. None is light grey. RGBA, (N, 4), as colour maps give
            it, is taken too; there is no transparency yet, an alpha below 1 is warned of.
        color_id: integers (N,) into the palette.
        color_space: "srgb" or "linear": what the numbers of `color` are.
        material: a `Material`, or the name of one of the scene's.
        transform: from own units to scene units; None leaves them as they are.
        source: file the arrays came from, for messages.
        names: the file's own names of "centers", "radius" and "color", for messages.
        file: the same file, to look up what else it says of a sphere (`Scene.describe`).
        columns: further values of the spheres by name, arrays (N,) or (N, K), to colour, size and
            select by.
        labels: elements or types of the spheres.

    Raises:
        UserError: arrays that do not fit, NaN or infinity (with the index of the first), radii
            that are not positive, colours out of range.
    """

    def __init__(
        self,
        centers: Any,
        radius: Any = None,
        color: Any = None,
        *,
        color_id: Any = None,
        color_space: str = "srgb",
        material: str | Material = "default",
        transform: Transform | None = None,
        source: str = "",
        names: Mapping[str, str] | None = None,
        file: DataFile | None = None,
        columns: Mapping[str, Any] | None = None,
        labels: Labels | None = None,
    ) -> None:
        color_space, material = plain(color_space), plain(material)
        if not is_a(color_space, str) or color_space not in COLOR_SPACES:
            raise SceneError(
                f"color_space: {shown_value(color_space)} is neither 'srgb' nor 'linear'"
            )
        if not is_a(material, (str, Material)):
            raise SceneError(f"material: {shown_value(material)} is neither a Material nor a name")
        if transform is not None:
            of_kind(transform, "transform", Transform)
        if file is not None:
            of_kind(file, "file", DataFile)
        source = text(source, "source")
        where = Where(source, dict(mapping({} if names is None else names, "names")))
        self.centers = check_centers(centers, where)
        self.radius = check_radius(
            default_radius(self.centers) if radius is None else radius, len(self.centers), where
        )
        self.color_space = color_space
        self.material = material
        self.transform = Transform() if transform is None else transform
        self.source = source
        self.file = file
        self.color: NDArray[Any]
        self.color_id: NDArray[np.int32] | None = None
        self._set_color(color, color_id, where)
        self.labels = labels
        self.rows: NDArray[np.int64] | None = None
        self.total = self.count
        self._given = _given(columns, self.count, where)
        self._columns: Columns | None = None

    @property
    def columns(self) -> Columns:
        """Values of the spheres by name: those of the set's file, and derived ones."""
        if self._columns is None:
            from raytracer.scene.columns import Columns

            self._columns = Columns(self, self._given)
        return self._columns

    def keep_columns(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Take columns of the file that were read with it, each (N, ...), by their names."""
        self._given = {**self._given, **arrays}
        self._columns = None

    def taken(self, rows: NDArray[np.int64]) -> SphereSet:
        """Return a set of some of the spheres.

        Args:
            rows: their numbers in this set, from 0.
        """
        taken = copy(self)
        taken.centers = self.centers[rows]
        if not isinstance(self.radius, float):
            taken.radius = self.radius[rows]
        if self.color_id is not None:
            taken.color_id = self.color_id[rows]
        elif len(self.color) > 1:
            taken.color = self.color[rows]
        if self.labels is not None:
            taken.labels = self.labels._replace(ids=self.labels.ids[rows])
        taken.rows = rows if self.rows is None else self.rows[rows]
        taken._columns = self.columns.of(taken)
        return taken

    @property
    def count(self) -> int:
        """Number of spheres."""
        return len(self.centers)

    def __repr__(self) -> str:
        origin = f" from {self.source}" if self.source else ""
        return f"<SphereSet: {counted(self.count, 'sphere')}{origin}>"

    def _set_color(self, color: Any, color_id: Any, where: Where) -> None:
        """Store colours as (1, 3), (N, 3) or a palette (K, 3) with `color_id`."""
        import numpy as np

        color = _plain(color, where)
        if color_id is not None:
            self.color = _rows(color, self.color_space, where)
            self.color_id = _ids(color_id, self.count, len(self.color), where)
        elif color is None:
            self.color = np.array([DEFAULT_COLOR], np.float32)
            self.color_space = "srgb"
        elif _is_one_color(color):
            self.color = _one(color, self.color_space, where)
        elif _is_list_of_names(color):
            self._set_names(list(color), where)
        else:
            self.color = _rows(color, self.color_space, where)
            if len(self.color) != self.count:
                raise where.wrong(
                    "color", f"has {len(self.color)} colours for {self.count} spheres"
                )

    def _set_names(self, names: list[Any], where: Where) -> None:
        """Store a list of names and triples as a palette."""
        import numpy as np

        if len(names) != self.count:
            raise where.wrong("color", f"has {len(names)} colours for {self.count} spheres")
        seen: dict[Any, int] = {}
        palette: list[NDArray[Any]] = []
        ids = np.empty(len(names), np.int32)
        for index, name in enumerate(names):
            key = plain(name) if is_a(name, str) else _triple(name, index, where)
            ids[index] = place = seen.setdefault(key, len(seen))
            if place == len(palette):
                palette.append(_one(key, self.color_space, where))
        self.color = np.concatenate(palette)
        self.color_id = ids


def _given(columns: Any, count: int, where: Where) -> dict[str, NDArray[Any]]:
    """Return the columns that were given as arrays, each with a row for every sphere."""
    given = {}
    for name, values in mapping({} if columns is None else columns, "columns").items():
        array = as_array(values, f"columns[{name!r}]", where)
        if array.ndim not in (1, 2) or len(array) != count:
            raise where.wrong(f"columns[{name!r}]", f"has shape {array.shape} for {count} spheres")
        given[name] = array
    return given


def _plain(color: Any, where: Where) -> Any:
    """Return what other libraries give, such as a column of a table, as an array or a list."""
    import numpy as np

    color = plain(color)
    if is_a(color, np.ndarray) or (not is_a(color, (str, list, tuple)) and _has_array(color)):
        color = as_array(color, "color", where)  # no subclass of an array
    if is_a(color, np.ndarray):
        return color.tolist() if color.dtype.kind in "UO" else color  # names, or rows of any kind
    if is_a(color, Sequence) and not is_a(color, (str, list, tuple)):
        return as_items(color, where.place("color"))
    return color


def _has_array(value: Any) -> bool:
    """Whether a foreign object can be had as an array."""
    try:
        return hasattr(value, "__array__")
    except Exception:  # whatever it raises
        return False


def _is_one_color(color: Any) -> bool:
    """Whether a value says one colour for all spheres."""
    import numpy as np

    if is_a(color, str):
        return True
    if is_a(color, np.ndarray):
        return bool(color.ndim == 1)
    if not is_a(color, Sequence) or len(color) not in (3, 4):
        return False
    return not any(is_a(v, (str, Sequence, np.ndarray)) for v in color)


def _is_list_of_names(color: Any) -> bool:
    """Whether a value is a list in which at least one colour is a name."""
    return is_a(color, (list, tuple)) and any(is_a(v, str) for v in color)


def _triple(color: Any, index: int, where: Where) -> tuple[Any, ...]:
    """Return one colour of a list, which is no name, as three numbers."""
    from numbers import Real

    try:
        parts = tuple(map(plain, islice(plain(color), 5)))
    except Exception:  # whatever a foreign object raises
        parts = ()
    if len(parts) not in (3, 4) or not all(is_a(part, Real) for part in parts):
        raise where.wrong(
            "color",
            f"colour {index} is {shown_value(color)}; "
            "give '#rrggbb', a colour name or three numbers from 0 to 1",
        )
    return parts


def _one(color: Any, color_space: str, where: Where) -> NDArray[Any]:
    """Return one colour as (1, 3)."""
    import numpy as np

    if not is_a(color, str):
        row = as_array(color, "color", where)
        if row.shape not in ((3,), (4,)):
            raise where.wrong("color", f"has shape {row.shape}; one colour has three numbers")
        return _rows(row[None], color_space, where)
    if color_space == "linear":
        raise where.wrong("color", f"{shown_value(color)} is sRGB, but color_space says linear")
    try:
        return np.array([parse_color(color)], np.float64)
    except SceneError as error:
        raise where.wrong("color", str(error)) from None


def _rows(color: Any, color_space: str, where: Where) -> NDArray[Any]:
    """Return colours (K, 3) as uint8, or as float in range; takes (K, 4) with an alpha too."""
    import numpy as np

    array = color if is_a(color, np.ndarray) else floats(color, "color", where)
    if array.size == 0:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] not in (3, 4):
        raise where.wrong("color", f"has shape {array.shape}; colours are (N, 3)")
    if array.dtype == np.uint8:
        return _opaque(array, 255, where)
    if array.dtype.kind in "iu" and is_a(color, np.ndarray):
        if array.size and (array.min() < 0 or array.max() > 255):
            raise where.wrong("color", "holds integers outside 0..255")
        return _opaque(array.astype(np.uint8), 255, where)
    array = floats(array, "color", where)
    bad = first_not_finite(array)
    if bad is not None:
        raise where.wrong("color", f"colour {bad} is not finite")
    top = 1.0 if color_space == "srgb" else np.inf
    for rows in blocks(len(array)):
        block = array[rows]
        if block.min() < 0.0 or block.max() > top:
            first = int(np.argmax(((block < 0.0) | (block > top)).any(axis=1)))
            shown = ", ".join(f"{v:g}" for v in block[first])
            raise where.wrong(
                "color",
                f"colour {rows.start + first} is ({shown}); numbers go from 0 to 1 "
                "(or 0 to 255 as uint8)",
            )
    return _opaque(array, 1.0, where)


def _opaque(colors: NDArray[Any], full: float, where: Where) -> NDArray[Any]:
    """Return colours without their alpha, (K, 3); warns of those that are not opaque.

    Args:
        full: the alpha of an opaque colour.
    """
    import numpy as np

    if colors.shape[1] == 3:
        return colors
    clear = int(np.count_nonzero(colors[:, 3] < full))
    if clear:
        which = (
            f"{clear:,} of {len(colors):,} colours have" if len(colors) > 1 else "the colour has"
        )
        warn(
            f"{where.place('color')}: {OPAQUE}: {which} an alpha below 1, which is ignored; "
            "leave the alpha out, or make it 1"
        )
    return colors[:, :3]


def _ids(value: Any, count: int, colors: int, where: Where) -> NDArray[np.int32]:
    """Return palette indices as int32 (N,)."""
    import numpy as np

    ids = as_array(value, "color_id", where)
    if ids.dtype.kind not in "iu" and ids.size:
        raise where.wrong("color_id", f"holds {ids.dtype} values, not integers")
    if ids.shape != (count,):
        raise where.wrong("color_id", f"has shape {ids.shape} for {count} spheres")
    if count and (int(ids.min()) < 0 or int(ids.max()) >= colors):
        raise where.wrong("color_id", f"points outside the palette of {colors} colours")
    return np.ascontiguousarray(ids, np.int32)
