"""Spheres packed on a GPU from arrays that lie there: records, colours, bounds, what is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import Closeable
from raytracer.backends.cuda.driver import get_primary_context
from raytracer.backends.cuda.kernel import load_pass
from raytracer.backends.cuda.memory import COLOR_BYTES, RECORD_BYTES, DeviceMemory
from raytracer.backends.cuda.transfer import get_staging
from raytracer.config.errors import SceneError
from raytracer.packing.sphere_update import OutOfRangeError, SphereUpdate
from raytracer.system import layout
from raytracer.system.cuda_driver import LEGACY_STREAM, order_streams
from raytracer.system.device_array import DeviceArray

if TYPE_CHECKING:
    from raytracer.packing.sphere_update import Array

ENTRY = "pack_spheres"
ALL_ONES = 0xFFFFFFFF  # words of PackInfo before the first sphere

BEFORE_CAPTURE = (
    "the stream is being captured into a CUDA graph: call update once before the capture with the "
    "same arguments, for what it allocates and builds"
)

_WRONG = {
    "center": ("positions", "has a coordinate that is not finite; coordinates must be finite"),
    "radius": ("radii", "has a radius that is not finite and positive"),
    "reach": (
        "positions",
        "is too far away, too large or too small compared with the others: lengths may differ by a "
        "factor of at most 1e18",
    ),
    "color": ("colors", "has a colour out of range: numbers go from 0 to 1, and bytes are uint8"),
}
"""Arguments and what is wrong with a sphere, by words of the kernels' `PackError`."""


class Packer(Closeable):
    """Packs the spheres of one scene; the device's context must be active in `pack`."""

    def __init__(self, ordinal: int, record_bytes: int = RECORD_BYTES) -> None:
        """Load the kernel, and compile it if necessary. record_bytes: of a record of the scene."""
        self._ordinal, self._record_bytes = ordinal, record_bytes
        self._kernel = load_pass(ordinal, ENTRY, "PackArgs")
        self._context = get_primary_context(ordinal)
        self._memory = DeviceMemory(self._context)  # of arrays that lie on the host, and tables
        self._table = b""
        with self._context.activate() as driver:
            self._memory.held |= {name: driver.Event() for name in ("copied", "packed")}

    @property
    def nbytes(self) -> int:
        """Bytes on the device."""
        return self._memory.nbytes

    def close(self) -> None:
        self._memory.close()
        self._table = b""

    def pack(
        self, update: SphereUpdate, records: int, color: int, info: int, stream: Any,
        clear: bool = True,
    ) -> None:  # fmt: skip
        """Queue the packing of spheres; nothing is allocated after the first call of a size.

        Records stay that the update does not change, or whose spheres cannot be shown: memory holds
        valid ones before the first call. In a capture the caller orders `stream` and that of the
        update.

        records: address of the records of all spheres of the scene by number, float4: centre and
        radius in render space; in a scene with solids what follows stays. color: address of
        `SceneBuffers.color`, float32 (K, 3). info: address of a PackInfo, for `decode_info`; clear:
        whether it forgets what it says of calls before.

        Raises SceneError: an array is on another GPU, or in a capture a colour map is not on the
        device yet.
        """
        arrays = collect_arrays(update)
        on_gpu = [each for each in arrays.values() if isinstance(each, DeviceArray)]
        on_gpu = [] if update.in_graph else on_gpu
        is_copied = any(isinstance(each, np.ndarray) for each in arrays.values())
        copies, handle = get_staging(self._ordinal).stream, int(stream.handle)
        caller = update.stream or LEGACY_STREAM
        for earlier in (caller, *(each.stream for each in on_gpu)) if on_gpu else ():
            if earlier is not None:
                order_streams(handle, earlier, self._ordinal)
        if is_copied:  # not before the copies of the last call have been read
            copies.wait_for_event(self._memory.held["packed"])
        placed = {name: self._place_array(name, each) for name, each in arrays.items()}
        if is_copied:
            self._memory.held["copied"].record(copies)
            stream.wait_for_event(self._memory.held["copied"])
        arguments = make_pack_arguments(update, placed, self._record_bytes)
        arguments["records"] = records + self._record_bytes * update.first
        arguments["color"] = color + COLOR_BYTES * update.first_color
        arguments["info"], arguments["table"] = info, self._upload_table(update, stream)
        words = layout.struct_dtype("PackInfo").itemsize // 4
        if clear:
            self._context.driver.memset_d32_async(info, ALL_ONES, words, stream)
        if update.count:
            self._kernel.launch(self._kernel.grid(n=update.count), arguments, stream)
        if is_copied:
            self._memory.held["packed"].record(stream)
        if on_gpu:
            order_streams(caller, handle, self._ordinal)

    def _place_array(self, name: str, array: Array | None) -> DeviceArray | None:
        """Return an array on this GPU: where it lies, or a copy of the host's."""
        if isinstance(array, DeviceArray) and array.device not in (None, self._ordinal):
            raise SceneError(
                f"{name}: is on GPU {array.device}, and the scene is on GPU {self._ordinal}: "
                "copy it there, or render with the backend of that GPU"
            )
        if array is None or isinstance(array, DeviceArray):
            return array
        source = np.ascontiguousarray(array)
        address = self._memory.allocate(name, source.nbytes)
        get_staging(self._ordinal).to_device(source, address)
        return replace(describe_array(source), address=address)

    def _upload_table(self, update: SphereUpdate, stream: Any) -> int:
        """Return the address of the colour map's table, which is copied when it changes."""
        if update.color_map is None:
            return 0
        content = update.color_map.table.tobytes()
        if update.in_graph and content != self._table:
            raise SceneError(f"values: {BEFORE_CAPTURE}")
        address = self._memory.allocate("table", len(content))
        if content != self._table:
            self._context.driver.memcpy_htod_async(address, content, stream)
            self._table = content
        return address


def collect_arrays(update: SphereUpdate) -> dict[str, Array | None]:
    """Return the arrays of an update by name; a radius of the host goes with the arguments."""
    radius = None if _find_single_radius(update) is not None else update.radii
    return {"positions": update.positions, "radii": radius, "colors": update.colors}


def _find_single_radius(update: SphereUpdate) -> float | None:
    """Return the radius of all spheres that the host states, or None."""
    radii = update.radii
    return float(radii[0]) if isinstance(radii, np.ndarray) and radii.size == 1 else None


def describe_array(array: NDArray[Any]) -> DeviceArray:
    """Return the description of an array of the host."""
    return DeviceArray(
        array.ctypes.data, array.shape, array.strides, array.dtype, None, None, array
    )


def make_pack_arguments(
    update: SphereUpdate,
    placed: Mapping[str, DeviceArray | None],
    record_bytes: int = RECORD_BYTES,
) -> NDArray[np.void]:
    """Return PackArgs, structured (1,), without the addresses of table and outputs.

    placed: positions, radii and colours by name, where the kernel reads them, of shapes and types
    that it can read (`sphere_update.can_kernels_read`).
    """
    arguments = np.zeros(1, layout.struct_dtype("PackArgs"))
    row = arguments[0]
    row["count"] = update.count
    row["linear"], row["offset"] = update.linear.reshape(-1), update.offset
    row["radius_factor"] = update.scale
    row["record_words"] = record_bytes // RECORD_BYTES
    if (radius := _find_single_radius(update)) is not None:
        row["radius"] = radius * update.scale
        if not 0.0 < row["radius"] < np.inf:  # in float32
            raise OutOfRangeError
    columns = {"positions": 3, "radii": 1, "colors": 1 if update.color_map else 3}
    for name, array in placed.items():
        if array is not None:
            _describe(row[name], array, columns[name])
    if update.colors is not None:
        source = "values" if update.color_map else update.color_space
        row["color_source"] = layout.enum_value("ColorSource", source)
    if (by := update.color_map) is not None:
        row["value_scale"] = layout.enum_value("ValueScale", by.scale)
        row["value_low"], row["value_span"], row["value_factor"] = by.low, by.span, by.factor
        row["value_threshold"], row["value_decade"] = by.threshold, by.decade
        row["table_rows"] = len(by.table) - 1
    return arguments


def _describe(row: np.void, array: DeviceArray, columns: int) -> None:
    """Fill a StridedArray; one row serves for all."""
    row["data"], row["columns"] = array.address, columns
    row["kind"] = layout.enum_value("NumberKind", array.dtype.name)
    row["row_stride"] = 0 if len(array) == 1 else array.strides[0]
    row["column_stride"] = array.strides[1] if columns > 1 else 0


class PackReport(NamedTuple):
    """What was packed: bounds of centres and radii, render space, and the rows of the first spheres
    that cannot be shown, by words of `PackError`."""

    low: NDArray[np.float32]
    high: NDArray[np.float32]
    min_radius: float
    max_radius: float
    wrong: dict[str, int]

    def check(self) -> None:
        """Raise SceneError for the first sphere that cannot be shown."""
        if self.wrong:
            word = min(self.wrong, key=lambda each: self.wrong[each])
            name, problem = _WRONG[word]
            raise SceneError(f"{name}: sphere {self.wrong[word]} {problem}")


def decode_info(info: NDArray[np.void]) -> PackReport:
    """Return what a PackInfo, structured (1,), says; lengths are NaN where nothing was packed."""
    row, words = info[0], layout.enum_values("PackError").items()
    rows = row["first_wrong"].tolist()
    wrong = {word: rows[code] for word, code in words if rows[code] != ALL_ONES}
    least, most = (float(_decode_keys(key)) for key in (row["min_radius"], ~row["max_radius"]))
    return PackReport(_decode_keys(row["low"]), _decode_keys(~row["high"]), least, most, wrong)


def _decode_keys(keys: Any) -> NDArray[np.float32]:
    """Return the numbers of keys (`float_key` of the kernels), float32 of the same shape."""
    keys = np.asarray(keys, np.uint32)
    bits: NDArray[np.uint32] = np.where(keys & 0x80000000, keys ^ 0x80000000, ~keys)
    return bits.view(np.float32)
