"""Checks of arrays given by users, in blocks of rows for speed."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, SceneError, UserError, quote, quote_value
from raytracer.model import quantities
from raytracer.system.memory import require_room

if TYPE_CHECKING:
    from raytracer.system.device_array import DeviceArray

BLOCK_ROWS = 1 << 15  # rows per block: a float64 column of it (256 KiB) stays in a core's cache
LARGE_BLOCK = 1 << 17  # rows per block of what allocates nothing: fewer turns of the interpreter
PARALLEL_ROWS = 1 << 18  # number of rows from which threads pay


@contextmanager
def silence_numpy() -> Iterator[None]:
    """Silence NumPy's warnings of infinity and NaN in this thread; also a decorator. Data may hold
    any numbers; later checks refuse infinity and NaN, or leave them out."""
    with np.errstate(all="ignore"):
        yield


def split_rows(count: int, size: int = BLOCK_ROWS) -> Iterator[slice]:
    for start in range(0, count, size):
        yield slice(start, min(start + size, count))


def for_each_block(count: int, work: Callable[[slice], None], size: int = BLOCK_ROWS) -> None:
    """Call `work` once for each block of rows, `silence_numpy`, on several threads if there are
    many rows. Each block must write only its rows, so that the result does not depend on the
    threads."""
    work = silence_numpy()(work)
    if count < PARALLEL_ROWS:
        for rows in split_rows(count, size):
            work(rows)
        return
    from concurrent.futures import ThreadPoolExecutor

    from raytracer.system.resources import choose_thread_count

    with ThreadPoolExecutor(min(choose_thread_count(), 16)) as pool:
        for _ in pool.map(work, split_rows(count, size)):
            pass


def align(array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers whose addresses are multiples of their size: those of records may not be."""
    return array if array.flags.aligned else array.copy()


FEW_TEXTS = 1 << 14  # number of distinct texts below which their memory is not checked
TEXT_MEMORY = 500  # bytes per distinct text of a column: the text, its index and its colour


LENGTHS = ("centers", "radius", "end_radius", "semi_axes", "positions", "radii")
"""Arrays of lengths, which have one unit; others have none."""


class ErrorContext(NamedTuple):
    """Origin of an array for messages: a file and array, or an argument."""

    source: str = ""  # file name, or "" for arrays from Python
    names: Mapping[str, str] = MappingProxyType({})  # of "centers", "radius", "color", if different
    noun: str = "sphere"  # what a row describes
    unit: Any = None  # of lengths, an object of a package or its name; None: they are numbers

    def wrong(self, part: str, problem: str) -> UserError:
        """Return the error for one array: DataFileError for a file, SceneError for an argument."""
        kind = DataFileError if self.source else SceneError
        return kind(f"{self.place(part)}: {problem}")

    def place(self, part: str) -> str:
        name = self.names.get(part, part)
        return f"{self.source}: array '{name}'" if self.source else name


def is_array(value: Any) -> bool:
    """Whether an object of any package describes itself as an array, also one on a GPU."""
    ways = ("__array__", "__cuda_array_interface__", "__dlpack__")
    own = getattr(value, "__dict__", ())  # a property may raise an error of its package
    return any(hasattr(type(value), way) or way in own for way in ways)


def is_table(value: Any) -> bool:
    """Whether an object of any package is a table of named columns."""
    if isinstance(value, (np.ndarray, Mapping, list, tuple)):
        return False
    own = getattr(value, "__dict__", ())
    return any(hasattr(type(value), way) or way in own for way in ("columns", "__dataframe__"))


def as_array(value: Any, part: str, where: ErrorContext, unit: Any = None) -> NDArray[Any]:
    """Return anything array-like as an array; an array on a GPU is copied to the host. Masked
    numbers and other missing ones are NaN. Quantities are converted to `unit`; None is that of a
    plain number, and for lengths the unit of `where`."""
    if value is None:
        raise where.wrong(part, "is None; give an array of numbers")
    try:
        if unit is None and part in LENGTHS:
            unit = where.unit
        return _plain_array(value, part, where, unit)
    except UserError:
        raise
    except ValueError:
        raise where.wrong(part, "the rows differ in length") from None
    except Exception:  # whatever a foreign object raises
        raise where.wrong(part, f"{quote_value(value)} is not an array") from None


def _plain_array(value: Any, part: str, where: ErrorContext, unit: Any) -> NDArray[Any]:
    if type(value) is np.ndarray:
        return quantities.objects_to_numbers(value, where.place(part))
    if quantities.has_unit_or_mask(value):
        if isinstance(value, (list, tuple)):
            return np.stack([_plain_array(item, part, where, unit) for item in value])
        other = ", or centers with one" if part == "radius" and where.unit is None else ""
        value = quantities.convert_unit(
            value, unit, lambda problem: where.wrong(part, problem + other)
        )
    if not isinstance(value, np.ndarray) and is_array(value):
        from raytracer.system.device_array import to_host_array  # late: most arrays are NumPy's

        # An array of dask has the mask of what it computes.
        value = value.compute() if hasattr(type(value), "compute") else value
        value = value if isinstance(value, np.ndarray) else to_host_array(value, where.place(part))
    array = quantities.fill_masked(np.asanyarray(value), where.place(part))
    return quantities.objects_to_numbers(array, where.place(part))


def keep_on_device(
    value: Any, name: str, count: int | None, part: str, where: ErrorContext
) -> "DeviceArray | None":
    """Return an array on a GPU that kernels read where it is, or None of anything else.
    name: of the array in a `SphereUpdate`. count: rows that are needed, or None."""
    if isinstance(value, (np.ndarray, str, int, float, list, tuple)) or not is_array(value):
        return None
    from raytracer.packing.sphere_update import can_kernels_read
    from raytracer.system.device_array import device_array  # late: most arrays are NumPy's

    found = device_array(value, where.place(part))
    if found is None or not found.ndim or not len(found):
        return None
    return found if can_kernels_read(name, found, len(found) if count is None else count) else None


def as_floats(value: Any, part: str, where: ErrorContext) -> NDArray[np.floating[Any]]:
    """Return a float32 or float64 array; arrays of these types are not copied."""
    array = as_array(value, part, where)
    if array.size == 0 and array.dtype == np.float64:
        return array
    if array.dtype in (np.float32, np.float64) and array.dtype.isnative:
        return array
    if array.dtype.kind == "f" and array.dtype.itemsize < 8:
        return array.astype(np.float32)
    if array.dtype.kind in "iuf":
        return array.astype(np.float64)
    named = {"S": "text", "U": "text"}.get(array.dtype.kind, str(array.dtype))
    if array.dtype.kind == "O":
        named = quantities.name_kind(quantities.find_not_number(array))
    raise where.wrong(part, f"holds {named}, not real numbers")


def check_shape(value: Any, where: ErrorContext) -> NDArray[np.floating[Any]]:
    """Return sphere centres as float32 or float64 (N, 3), finite or not."""
    if is_table(value):
        columns = getattr(value, "column_names", getattr(value, "columns", ()))
        names = [str(name).lower() for name in columns]
        if any(
            axis in names[:3] and names.index(axis) != place for place, axis in enumerate("xyz")
        ):
            raise where.wrong("centers", (
                f"is a table with the columns {', '.join(map(quote, names[:4]))}: give the columns "
                "x, y, z in this order"
            ))  # fmt: skip
    centers = as_floats(value, "centers", where)
    if centers.size == 0 and centers.ndim <= 2:
        centers = centers.reshape(0, 3)
    if centers.ndim != 2 or centers.shape[1] != 3:
        turned = centers.ndim == 2 and centers.shape[0] == 3
        hint = ": give its transpose" if turned else ": give one frame" if centers.ndim == 3 else ""
        what = "sphere centres" if where.noun == "sphere" else "points"
        raise where.wrong("centers", f"has shape {centers.shape}; {what} are (N, 3){hint}")
    return centers


def check_centers(value: Any, where: ErrorContext) -> NDArray[np.floating[Any]]:
    """Return sphere centres as float32 or float64 (N, 3), all finite."""
    centers = check_shape(value, where)
    bad = find_not_finite(centers)
    if bad is not None:
        row = ", ".join(f"{v:g}" for v in centers[bad])
        raise where.wrong(
            "centers", f"{where.noun} {bad} lies at ({row}); coordinates must be finite"
        )
    return centers


def check_radius(
    value: Any, count: int, where: ErrorContext, part: str = "radius", *, zero: bool = False
) -> NDArray[np.floating[Any]] | float:
    """Return one radius for all, or float32 or float64 (N,), all finite and positive."""
    radius = as_floats(value, part, where)
    if radius.ndim == 2 and radius.shape[1] == 1:
        radius = radius[:, 0]
    if radius.ndim > 1:
        raise where.wrong(part, f"has shape {radius.shape}; radii are (N,)")
    if radius.ndim == 1 and len(radius) != count:
        raise where.wrong(part, f"has {len(radius)} radii for {count} {where.noun}s")
    values = radius.reshape(-1)
    least, most = find_min_max(values)
    if values.size and not ((least >= 0.0 if zero else least > 0.0) and most < np.inf):
        bad = int(np.argmin(np.isfinite(values) & ((values >= 0.0) if zero else (values > 0.0))))
        which = f"{where.noun} {bad} has radius" if radius.ndim else "is"
        wanted = "not negative" if zero else "positive"
        raise where.wrong(part, f"{which} {values[bad]:g}; it must be finite and {wanted}")
    return radius if radius.ndim else float(radius)


def check_rows(
    value: Any, part: str, width: int, count: int, where: ErrorContext
) -> NDArray[np.float64]:
    """Return float64 rows (count, width), or (1, width) for one that applies to all."""
    rows = np.asarray(as_floats(value, part, where), np.float64)
    if rows.shape == (width,):
        rows = rows[None]
    elif rows.size == 0 and count == 0:
        return np.ones((1, width))
    elif rows.ndim != 2 or rows.shape[1] != width:
        raise where.wrong(part, f"has shape {rows.shape}; give ({width},) or (N, {width})")
    elif len(rows) != count:
        raise where.wrong(part, f"has {len(rows)} rows for {count} {where.noun}s")
    bad = find_not_finite(rows)
    if bad is not None:
        raise where.wrong(part, f"{where.noun} {bad} has a number that is not finite")
    return rows


def find_not_finite(array: NDArray[np.floating[Any]]) -> int | None:
    """Return the index of the first row that holds NaN or infinity, or None."""
    least, most = find_min_max(array)
    if least > -np.inf and most < np.inf:
        return None
    return int(np.argmin(np.isfinite(array).reshape(len(array), -1).all(axis=1)))


def find_min_max(array: NDArray[np.floating[Any]]) -> tuple[float, float]:
    """Return minimum and maximum, both NaN if a value is; zeros for an empty array. This takes a
    third of the time of `isfinite`."""
    found: list[tuple[Any, Any]] = []

    def work(rows: slice) -> None:
        block = array[rows]
        found.append((np.minimum.reduce(block, axis=None), np.maximum.reduce(block, axis=None)))

    if not array.size:
        return 0.0, 0.0
    for_each_block(len(array), work, LARGE_BLOCK)
    lows, highs = zip(*found, strict=True)
    return float(np.min(lows)), float(np.max(highs))


def find_distinct_texts(
    column: NDArray[np.bytes_], source: str
) -> tuple[list[str], NDArray[np.int32]]:
    """Return the distinct texts, of a multiple of 8 bytes, of a column (N,) in order of first use,
    and the index of each row."""
    # Texts are compared as numbers, block by block: sorting millions of texts is slow.
    known: dict[bytes, int] = {}
    room = FEW_TEXTS
    ids = np.empty(len(column), np.int32)
    for rows in split_rows(len(column)):
        block = np.ascontiguousarray(column[rows])
        words = block.view(np.uint64).reshape(len(block), -1)
        first = words[:, 0] if not words[:, 1:].any() else block
        _, index, inverse = np.unique(first, return_index=True, return_inverse=True)
        here = [0] * len(index)
        for place in np.argsort(index):
            here[place] = known.setdefault(bytes(block[index[place]]), len(known))
        ids[rows] = np.array(here, np.int32)[inverse]
        if len(known) > room:  # check again at twice as many
            require_room(source, TEXT_MEMORY * len(known))
            room = 2 * len(known)
    return [text.decode("utf-8", "replace") for text in known], ids
