"""Spheres packed in the memory of a GPU before there is a tree over them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from time import sleep
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda.driver import get_primary_context
from raytracer.backends.cuda.kernel import load_pass
from raytracer.backends.cuda.memory import COLOR_BYTES, RECORD_BYTES, DeviceMemory
from raytracer.backends.cuda.pack import Packer, PackReport, decode_info
from raytracer.backends.cuda.transfer import get_staging
from raytracer.packing.buffers import NONE, DeviceRecords, Reach, SphereColumns
from raytracer.packing.sphere_update import OutOfRangeError, SphereUpdate
from raytracer.system import layout
from raytracer.system.device_array import DeviceArray

ENTRY = "sphere_reach"

CHUNK_ROWS = 1 << 22
"""Rows of an array of the host that are copied at a time: at most 96 MiB of positions."""

PAUSE = 1e-4
"""Seconds between two copies: locks are not fair, and waiting threads need time to acquire them."""

ARRAYS = ("positions", "radii", "colors")


class PlacedSpheres(DeviceRecords):
    """Records of spheres by number on a GPU, with room for that of a ground, and colours."""

    def __init__(
        self, number: int, memory: DeviceMemory, parts: list[tuple[int, float, float]],
        on_host: Callable[[slice], SphereColumns],
    ) -> None:  # fmt: skip
        super().__init__(parts, on_host)
        self.number = number
        self._context, self.memory = get_primary_context(number), memory  # "records", "color"

    @property
    def _is_there(self) -> bool:
        return self.memory.address("records") != 0

    def taken(self, rows: NDArray[np.int64]) -> SphereColumns:
        if not self._is_there:
            return super().taken(rows)
        memory, found = self.memory, np.empty((len(rows), 4), np.float32)
        arguments = np.zeros(1, layout.struct_dtype("ReachArgs"))
        with self._context.lock, self._context.activate():
            arguments["rows"] = memory.allocate("rows", rows.nbytes)
            arguments["picked"] = memory.allocate("picked", found.nbytes)
            get_staging(self.number).to_device(np.ascontiguousarray(rows), memory.address("rows"))
            arguments["row_count"] = len(rows)
            self._launch(arguments, len(rows))
            get_staging(self.number).to_host(memory.address("picked"), found)
        return SphereColumns(*np.ascontiguousarray(found.T))

    def reach(
        self, normals: NDArray[np.float64], center: NDArray[np.float64] | None, limit: float,
        skipped: NDArray[np.intp] = NONE,
    ) -> Reach:  # fmt: skip
        if len(skipped) or not self._is_there:
            return super().reach(normals, center, limit, skipped)
        arguments = np.zeros(1, layout.struct_dtype("ReachArgs"))
        arguments["normals"][0, : normals.size] = normals.ravel()
        arguments["normal_count"], arguments["count"] = len(normals), self.size
        arguments["limit"] = np.inf if center is None else limit
        arguments["center"] = 0.0 if center is None else center
        with self._context.lock, self._context.activate():
            parts = self._launch(arguments, self.size)
            get_staging(self.number).to_host(self.memory.address("parts"), parts)
        for name in ("reached", "distance"):  # of no sphere
            parts[name][parts[name] == np.finfo(np.float64).min] = -np.inf
        distance, reached = parts["distance"].max(), parts["reached"].max(0)[: len(normals)]
        farthest = parts["farthest"][parts["distance"] == distance].min()
        return reached.tolist(), int(parts["far"].sum()), int(farthest), float(distance)

    def _launch(self, arguments: NDArray[np.void], count: int) -> NDArray[np.void]:
        """Queue the kernel over some spheres, and return room for what its blocks leave."""
        kernel = load_pass(self.number, ENTRY, "ReachArgs")
        grid = kernel.grid(n=count)
        parts = np.empty(grid[0], layout.struct_dtype("SphereReach"))
        arguments["records"] = self.memory.address("records")
        arguments["parts"] = self.memory.allocate("parts", parts.nbytes)
        kernel.launch(grid, arguments, get_staging(self.number).stream)
        return parts

    def release(self) -> None:
        self.memory.close()


def place_spheres(
    number: int, spheres: Sequence[SphereUpdate], colors: Sequence[SphereUpdate],
    on_host: Callable[[slice], SphereColumns], gpus: Sequence[int] = (),
) -> PlacedSpheres | None:  # fmt: skip
    """Pack spheres in the memory of a GPU, or striped over several; see `Placer`."""
    context = get_primary_context(number)
    memory, parts = DeviceMemory(context, gpus), []
    count, rows = (sum(each.count for each in updates) for updates in (spheres, colors))
    with context.lock, context.activate():
        memory.allocate("records", RECORD_BYTES * (count + 1))
        memory.allocate("color", COLOR_BYTES * rows)
    with Packer(number) as packer, suppress(OutOfRangeError):
        for update in (*spheres, *colors):
            packed = _pack(packer, number, memory, update)
            if packed.wrong:
                break
            parts.append((update.count, packed.min_radius, packed.max_radius))
        else:
            return PlacedSpheres(number, memory, parts[: len(spheres)], on_host)
    memory.close()
    return None


def _pack(packer: Packer, number: int, memory: DeviceMemory, update: SphereUpdate) -> PackReport:
    """Pack one set, chunk by chunk where an array is of the host, and return what was packed."""
    context = get_primary_context(number)
    info = np.empty(1, layout.struct_dtype("PackInfo"))
    with context.lock, context.activate():
        address = memory.allocate("info", info.nbytes)
    arrays = [getattr(update, name) for name in ARRAYS]
    is_whole = all(each is None or isinstance(each, DeviceArray) for each in arrays)
    step = update.count if is_whole else CHUNK_ROWS
    for start in range(0, update.count, step):
        if start:
            sleep(PAUSE)
        with context.lock, context.activate():
            packer.pack(
                _cut_part(update, start, min(start + step, update.count)),
                memory.address("records"), memory.address("color"), address,
                get_staging(number).stream, clear=not start,
            )  # fmt: skip
    with context.lock, context.activate():
        get_staging(number).to_host(address, info)
    return decode_info(info)


def _cut_part(update: SphereUpdate, start: int, stop: int) -> SphereUpdate:
    if stop - start == update.count:
        return update
    arrays: dict[str, Any] = {name: getattr(update, name) for name in ARRAYS}
    parts = {n: a[start:stop] for n, a in arrays.items() if a is not None and len(a) > 1}
    return replace(
        update, first=update.first + start, count=stop - start,
        first_color=update.first_color + start, **parts,
    )  # fmt: skip
