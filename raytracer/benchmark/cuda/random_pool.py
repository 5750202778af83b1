"""Random values on the device, of which the inputs at many sizes are parts.

Drawing and uploading a gigabyte takes the host a second; at 200 sizes that is most of a run. The
values are drawn once, a prime number of them, so that rows of a matrix do not repeat, and copied
behind each other on the device.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from raytracer.backends.cuda.check import translated
from raytracer.benchmark.cuda.guarded_memory import Memory, PlacedMemory, padded
from raytracer.benchmark.operations.base import Axes, Indices, Op
from raytracer.errors import MemoryNeedError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.benchmark.cuda.session import Session

PERIOD = 4_194_301  # values; the greatest prime below 2^22
SHARE = 0.45  # of the free memory, for a size: the largest inputs and outputs may be of two sizes
LEAST = 1 << 10  # bytes, if no size fits


@dataclass(frozen=True)
class DeviceArray:
    """An input on the device; PyTorch and CuPy take it as it is.

    Attributes:
        shape: of the array.
        values: the values that repeat, on the host.
        begin: place of the first element among them.
        address: on the device.
    """

    shape: tuple[int, ...]
    values: NDArray[Any]
    begin: int
    address: int

    @property
    def dtype(self) -> Any:
        """Type of an element, of NumPy."""
        return self.values.dtype

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return _count(self.shape) * int(self.values.itemsize)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """The protocol of arrays on a GPU; uint16 as int16, as PyTorch takes it."""
        kind = "<i2" if self.values.dtype.str == "<u2" else self.values.dtype.str
        return {"shape": self.shape, "typestr": kind, "data": (self.address, False), "version": 3}

    def take(self, indices: Indices) -> NDArray[Any]:
        """Return a part of the array on the host.

        Args:
            indices: along each axis; None: all.
        """
        import numpy as np

        along = [np.arange(n) if i is None else i for i, n in zip(indices, self.shape, strict=True)]
        flat = np.zeros((1,) * len(self.shape), np.int64)
        for axis, (index, extent) in enumerate(zip(along, self.shape, strict=True)):
            new = index.reshape([-1 if axis == other else 1 for other in range(len(self.shape))])
            flat = flat * extent + new
        return self.values[(self.begin + flat) % len(self.values)]


class RandomPool:
    """Memory for inputs and outputs of an operation at any of some sizes; must be closed."""

    def __init__(
        self, session: Session, op: Op, dtype: str, distribution: str, sizes: Iterable[Axes],
        seed: int,
    ) -> None:  # fmt: skip
        """Take the memory that the largest size needs, or most of what is free, and fill it.

        Args:
            session: the GPU.
            op: an operation with `shapes`.
            dtype: its type.
            distribution: of the values.
            sizes: axes of all calls.
            seed: of the values.
        """
        self._session, self._op, self._dtype = session, op, dtype
        self._values = op.values((PERIOD,), dtype, distribution, seed)
        room = int(session.free_memory() * SHARE)
        needs = [
            (sum(self._inputs(axes).values()), sum(self._outputs(axes).values())) for axes in sizes
        ]
        fitting = [each for each in needs if sum(each) <= room] or [(LEAST, LEAST)]
        self._room = max(i for i, _ in fitting), max(o for _, o in fitting)
        self._taken: list[Any] = []
        try:
            with translated(session.driver):
                for each in self._room:
                    self._taken.append(session.driver.mem_alloc(each))
                self._fill()
        except BaseException:
            self.close()
            raise

    def _inputs(self, axes: Axes) -> dict[str, int]:
        """Return the bytes that inputs take."""
        shapes, size = self._op.shapes(axes), int(self._values.itemsize)
        assert shapes is not None
        return {name: padded(_count(shape) * size) for name, shape in shapes.items()}

    def _outputs(self, axes: Axes) -> dict[str, int]:
        return {n: padded(o.nbytes) for n, o in self._op.outputs(axes, self._dtype).items()}

    def _fill(self) -> None:
        """Upload the values, then double them on the device."""
        from raytracer.backends.cuda.transfer import staging

        base, size = int(self._taken[0]), self._room[0]
        once = self._values[: -(-size // int(self._values.itemsize))]
        done = min(int(once.nbytes), size // int(once.itemsize) * int(once.itemsize))
        staging(self._session.ordinal).to_device(once[: done // int(once.itemsize)], base)
        while done < size:
            piece = min(done, size - done)
            self._session.driver.memcpy_dtod_async(base + done, base, piece, self._session.stream)
            done += piece
        self._session.wait()

    def place(self, axes: Axes) -> tuple[Memory, dict[str, DeviceArray]]:
        """Return memory and inputs of a size; the outputs are poisoned.

        Raises:
            MemoryNeedError: the arrays do not fit.
        """
        inputs, outputs = self._inputs(axes), self._outputs(axes)
        needed = sum(inputs.values()), sum(outputs.values())
        if any(need > room for need, room in zip(needed, self._room, strict=True)):
            raise MemoryNeedError(f"{sum(needed) >> 20} MiB of device memory are not free")
        shapes = self._op.shapes(axes)
        assert shapes is not None
        arrays: dict[str, DeviceArray] = {}
        at = 0
        for name, room in inputs.items():
            begin = at // int(self._values.itemsize)
            place = int(self._taken[0]) + at
            arrays[name] = DeviceArray(shapes[name], self._values, begin, place)
            at += room
        addresses = {name: array.address for name, array in arrays.items()}
        addresses |= _behind(int(self._taken[1]), outputs)
        sizes = {name: array.nbytes for name, array in arrays.items()}
        sizes |= {n: o.nbytes for n, o in self._op.outputs(axes, self._dtype).items()}
        memory = PlacedMemory(self._session, sizes, addresses)
        for name in outputs:
            memory.poison(name)
        return memory, arrays

    def close(self) -> None:
        """Release the memory."""
        with translated(self._session.driver):
            while self._taken:
                self._taken.pop().free()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


def _behind(begin: int, sizes: Mapping[str, int]) -> dict[str, int]:
    """Return addresses one behind the other."""
    places, at = {}, begin
    for name, size in sizes.items():
        places[name] = at
        at += size
    return places


def _count(shape: tuple[int, ...]) -> int:
    count = 1
    for extent in shape:
        count *= extent
    return count
