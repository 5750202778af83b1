"""The definition of an operation: inputs, outputs, axes, reference, tolerance and work.

A new operation is one module in this folder with a subclass of `Op` and an instance named `OP`.
The arguments of a kernel `kernels/ladders/<op>/NN_name.cu` are the addresses of the inputs, then
those of the outputs, in the order of the dictionaries below, then `Op.sizes` as long long.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError, suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.benchmark.products.problem import Problem

Axes = Mapping[str, int]
Arrays = dict[str, "NDArray[Any]"]

# Distributions of input values. They affect power and bank conflicts, so records state them.
DISTRIBUTIONS = ("normal", "uniform", "constant", "few", "sorted", "zeros")
FEW = 4  # distinct values of "few", in random order
PERIOD = 4_194_301  # distinct values, a prime: rows of larger arrays, which repeat them, differ


@dataclass(frozen=True)
class Work:
    """Operations and bytes of one call: each input read once, each output written once."""

    flop: float
    bytes_read: float
    bytes_written: float

    @property
    def bytes(self) -> float:
        """Bytes read plus bytes written."""
        return self.bytes_read + self.bytes_written


@dataclass(frozen=True)
class Count:
    """An alternative count of the same call, used in published tables; shown beside `Work`."""

    label: str  # description of the count
    flop: float
    bytes: float


@dataclass(frozen=True)
class Output:
    """Shape and type of an output array."""

    shape: tuple[int, ...]
    dtype: str  # of NumPy
    clear: bool = False  # set to zero before each call, included in the time

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        import numpy as np

        size = np.dtype(self.dtype).itemsize
        for extent in self.shape:
            size *= extent
        return size


def nothing(_arrays: dict[str, Any], _axes: Axes) -> Callable[[], Any]:
    """Placeholder for peers that are not called from Python."""
    raise NotImplementedError


@dataclass(frozen=True)
class Peer:
    """An implementation by a library, timed in the same run if the library is installed.

    Attributes:
        make: takes the inputs as arrays of the library on the GPU, by name (for PyTorch, 16-bit
            patterns are int16: `.view(torch.bfloat16)`), and the axes; returns a function without
            arguments that launches the work on the current stream.
        package: "torch", "triton" (through PyTorch), "cupy"; or "cub":
            raytracer/benchmark/cub/OP.cu is compiled with the headers of the toolkit; or "cublaslt"
            (raytracer/benchmark/cublaslt.py). For these `make` is not used.
    """

    name: str  # "PyTorch add"
    make: Callable[[dict[str, Any], Axes], Callable[[], Any]] = nothing
    package: str = "torch"
    instead_of: str = ""  # a package that is preferred if it is installed
    dtypes: tuple[str, ...] = ()  # supported dtypes of the op; all if empty


class Op(ABC):
    """An operation of the bench."""

    name: str
    summary: str  # one sentence
    axes: Mapping[str, int]  # names in the kernel's order, with the default sizes
    optional_axes: frozenset[str] = frozenset()  # "offset": of arrays, in numbers (`offsets`)
    # Whether all of our kernels take arrays at the address of any number, without `alignment: any`.
    any_address: bool = False
    awkward: tuple[Mapping[str, int], ...]  # small sizes at which kernels are checked, tails first
    dtypes: tuple[str, ...] = ("float32",)
    distributions: tuple[str, ...] = ("normal", "uniform", "constant", "zeros")
    peers: tuple[Peer, ...] = ()
    note: str = ""  # printed under the table
    macro_sizes: Mapping[str, tuple[int, ...]] = {}  # of axes that are macros

    def inputs(self, axes: Axes, dtype: str, distribution: str, seed: int) -> Arrays:
        """Return the input arrays by name, in the order of the arguments, C-contiguous."""
        shapes = self.shapes(axes)
        assert shapes is not None
        return {
            name: self.values(shape, dtype, distribution, seed + number)
            for number, (name, shape) in enumerate(shapes.items())
        }

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]] | None:
        """Return the shapes of the inputs by name if all values are independent random numbers.

        At sizes drawn at random a part of the outputs of such an operation is checked (`part`).
        """
        return None

    def input_shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """Return the shapes of the inputs by name, whatever their values."""
        shapes = self.shapes(axes)
        assert shapes is not None
        return shapes

    def check(self, inputs: Arrays) -> None:  # noqa: B027 - any values are allowed by default
        """Raise UserError for inputs of the right shapes and types whose values are not allowed."""

    def values(
        self, shape: tuple[int, ...], dtype: str, distribution: str, seed: int
    ) -> NDArray[Any]:
        """Draw values of an input as the kernels take them."""
        return draw(shape, dtype, distribution, seed)

    @abstractmethod
    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """Return the outputs by name, in the order of the arguments."""

    @abstractmethod
    def reference(self, inputs: Arrays) -> Arrays:
        """Return the correct outputs by name: float64, or exact integers."""

    @abstractmethod
    def work(self, axes: Axes, dtype: str) -> Work:
        """Return operations and bytes of one call."""

    def count(self, axes: Axes, dtype: str) -> Count | None:
        """Return the count of published tables if it differs from `work`, else None."""
        return None

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Return the tolerated relative error in the Frobenius norm; 0 for equality."""
        return 1e-6 if dtype != "float64" else 1e-14

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        """Return the integers at the end of the arguments."""
        return tuple(axes[name] for name in self.axes)

    def offsets(self, axes: Axes, dtype: str) -> dict[str, int]:
        """Return the bytes between an aligned address and the start of an array, by its name.

        Args:
            axes: sizes; the offset of `optional_axes` only where it was asked for.
            dtype: data type.
        """
        return {}

    def launch_names(self, axes: Axes, dtype: str) -> dict[str, int]:
        """Return the names of the expressions in kernel headers: the axes, by default."""
        return dict(axes)

    def macros(self, axes: Axes, dtype: str) -> dict[str, str]:
        """Return the macros with which kernels are compiled."""
        return {}

    def sizes_in_macros(self) -> frozenset[str]:
        """Return the axes that are macros: another size is another compilation."""
        axes, dtype = self.resolve({}), self.dtypes[0]
        macros = self.macros(axes, dtype)
        return frozenset(
            name for name in axes if self.macros({**axes, name: axes[name] + 1}, dtype) != macros
        )

    def problem(
        self,
        axes: Axes,
        dtype: str,
        address: Callable[[str], int],
        transposed: frozenset[str] = frozenset(),
    ) -> Problem:
        """Return the matrices of a product; for variants that choose among tiles.

        Args:
            axes: sizes.
            dtype: data type.
            address: returns the address of an array on the device by name.
            transposed: inputs whose arrays are the transposes of those of `inputs`.
        """
        raise NotImplementedError(f"{self.name} is not a matrix product")

    def cpu(self, inputs: Arrays) -> Arrays | None:
        """Compute with NumPy, which is timed without a GPU; None if there is no such form."""
        return None

    def resolve(self, sizes: Axes) -> dict[str, int]:
        """Return the sizes of all axes: those of `sizes`, and defaults.

        Raises:
            UserError: an axis is unknown, or a size is below 1.
        """
        for name, size in sizes.items():
            if name not in self.axes and name not in self.optional_axes:
                hint = suggestion(name, list(self.axes))
                raise UserError(f"{self.name} has no axis {name!r}; {hint}")
            if size < (name in self.axes):
                least = int(name in self.axes)
                raise UserError(f"{self.name}: {name} = {size}: give {least} or more")
        return {**self.axes, **sizes}

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """Return the axes of inputs; by default the shape of the first input."""
        first = next(iter(inputs.values()))
        return dict(zip(self.axes, first.shape, strict=True))

    def dtype_of(self, inputs: Arrays) -> str:
        """Return the dtype of the operation for inputs."""
        return str(next(iter(inputs.values())).dtype)


def shifted(offset: int, itemsizes: Mapping[str, int]) -> dict[str, int]:
    """Return one, two, three, … times an offset in numbers, as bytes by name of the array.

    The arrays then begin at different places in 16 bytes.

    Args:
        offset: in numbers.
        itemsizes: bytes of a number of each array.
    """
    return {name: k * offset * size for k, (name, size) in enumerate(itemsizes.items(), 1)}


def draw(shape: tuple[int, ...], dtype: str, distribution: str, seed: int) -> NDArray[Any]:
    """Draw random values, reproducible by arguments.

    Args:
        shape: of the array.
        dtype: "float32", "float64" or "uint8" (normal: mean 110, sigma 25, like grey levels).
        distribution: one of DISTRIBUTIONS; uniform is -1..1, or 0..255 for bytes; few are FEW of
            these values.
        seed: of the generator.

    Raises:
        UserError: the distribution is unknown.
    """
    import numpy as np

    count = int(np.prod(shape, dtype=np.int64))
    generator = np.random.default_rng(seed)
    distinct = min(count, PERIOD)
    if distribution == "zeros":
        return np.zeros(shape, dtype)
    if distribution == "constant":
        return np.full(shape, 110 if dtype == "uint8" else 0.5, dtype)
    if distribution not in DISTRIBUTIONS:
        raise UserError(f"input {distribution!r}; {suggestion(distribution, DISTRIBUTIONS)}")
    if distribution == "few":
        values = generator.choice(_few(generator, dtype), distinct)
    elif dtype == "uint8":
        values = _bytes(generator, distinct, distribution)
    elif distribution == "uniform":
        values = generator.uniform(-1, 1, distinct).astype(dtype)
    else:
        values = generator.standard_normal(distinct).astype(dtype)
    if count > distinct:
        values = np.resize(values, count)
    if distribution == "sorted":
        values.sort()
    return values.reshape(shape)


def bfloat16_bits(values: NDArray[Any]) -> NDArray[Any]:
    """Round float32 values to nearest even bfloat16; return the bits as uint16."""
    import numpy as np

    words = np.ascontiguousarray(values, np.float32).view(np.uint32)
    half = np.uint32(0x7FFF) + ((words >> np.uint32(16)) & np.uint32(1))
    return ((words + half) >> np.uint32(16)).astype(np.uint16)


def from_bfloat16(bits: NDArray[Any]) -> NDArray[Any]:
    """Convert bfloat16 bits (uint16) to float32."""
    import numpy as np

    words: NDArray[Any] = bits.astype(np.uint32) << np.uint32(16)
    return np.asarray(words.view(np.float32))


def relative_error(values: NDArray[Any], reference: NDArray[Any]) -> float:
    """Return ‖values - reference‖ / ‖reference‖ in float64; infinite if one is not finite.

    Values of uint16 are the bits of bfloat16.
    """
    import numpy as np

    if values.dtype == np.uint16:  # bits of bfloat16
        values = from_bfloat16(values)
    if values.shape != reference.shape:
        raise ValueError(f"{values.shape} against {reference.shape}")
    # Of equal infinities and NaNs the difference is NaN, too: not finite.
    difference = values.astype(np.float64) - reference.astype(np.float64)
    if not np.isfinite(difference).all():
        return float("inf")
    norm = float(np.linalg.norm(difference.ravel()))
    scale = float(np.linalg.norm(reference.astype(np.float64).ravel()))
    return norm if scale == 0 else norm / scale


def _few(generator: Any, dtype: str) -> NDArray[Any]:
    """Draw FEW distinct values, some on either side of the middle."""
    import numpy as np

    if dtype == "uint8":
        return np.asarray(generator.choice(256, FEW, replace=False).astype(dtype))
    return np.asarray(generator.uniform(np.arange(FEW), np.arange(1, FEW + 1)) * 2 / FEW - 1, dtype)


def _bytes(generator: Any, count: int, distribution: str) -> NDArray[Any]:
    import numpy as np

    if distribution == "uniform":
        return np.asarray(generator.integers(0, 256, count, dtype=np.uint8))
    return np.asarray(np.clip(generator.normal(110, 25, count), 0, 255).astype(np.uint8))
