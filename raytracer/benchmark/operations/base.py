"""What an operation of the bench declares: arguments, axes, reference, tolerance and work.

A new operation is one file in this folder with one subclass of `Op` and an instance named `OP`.
A kernel `kernels/ladders/<op>/NN_name.cu` is called with the addresses of the inputs, then those of
the outputs, in the order of the dictionaries below, then `Op.sizes` as long long.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError, suggestion

if TYPE_CHECKING:
    from numpy.typing import NDArray

Axes = Mapping[str, int]
Arrays = dict[str, "NDArray[Any]"]

# How inputs are drawn; the choice changes power draw and conflicts, so it is always printed.
DISTRIBUTIONS = ("normal", "uniform", "constant", "sorted", "zeros")
PERIOD = 1 << 22  # values drawn afresh; larger arrays repeat them, which no kernel can notice


@dataclass(frozen=True)
class Work:
    """What one call computes and moves: each input read once, each output written once."""

    flop: float
    bytes_read: float
    bytes_written: float

    @property
    def bytes(self) -> float:
        """Read and written together."""
        return self.bytes_read + self.bytes_written


@dataclass(frozen=True)
class Count:
    """Another way to count the same call, that tables elsewhere use: shown beside `Work`."""

    label: str  # what is counted
    flop: float
    bytes: float


@dataclass(frozen=True)
class Output:
    """An output array, before it is computed."""

    shape: tuple[int, ...]
    dtype: str  # of NumPy
    clear: bool = False  # set to zero before each call, inside the timing (kernels that add)

    @property
    def nbytes(self) -> int:
        """Its size in bytes."""
        import numpy as np

        size = np.dtype(self.dtype).itemsize
        for extent in self.shape:
            size *= extent
        return size


def nothing(_arrays: dict[str, Any], _axes: Axes) -> Callable[[], Any]:
    """For peers that no Python library makes."""
    raise NotImplementedError


@dataclass(frozen=True)
class Peer:
    """A library's way to compute the same, timed in the same run where it is installed.

    make: takes the inputs as arrays of the library on the GPU, by name (PyTorch gets 16-bit
        patterns as int16: `.view(torch.bfloat16)`), and the axes; returns a function without
        arguments that launches the work on the current stream.
    package: "torch", "triton" (through PyTorch), "cupy"; or "cub": raytracer/benchmark/cub/OP.cu
        is compiled with the toolkit's headers, and `make` is not used.
    """

    name: str  # "PyTorch add"
    make: Callable[[dict[str, Any], Axes], Callable[[], Any]] = nothing
    package: str = "torch"
    instead_of: str = ""  # a package that is preferred where it is installed
    dtypes: tuple[str, ...] = ()  # of the op for which it exists; all if empty


class Op(ABC):
    """One operation of the bench."""

    name: str
    summary: str  # one sentence
    axes: Mapping[str, int]  # names in the kernel's order, with the default sizes
    awkward: tuple[Mapping[str, int], ...]  # small sizes at which a kernel is checked, tails first
    dtypes: tuple[str, ...] = ("float32",)
    distributions: tuple[str, ...] = ("normal", "uniform", "constant", "zeros")
    peers: tuple[Peer, ...] = ()
    note: str = ""  # printed under the table

    @abstractmethod
    def inputs(self, axes: Axes, dtype: str, distribution: str, seed: int) -> Arrays:
        """The input arrays by name, in the kernel's order, C-contiguous."""

    @abstractmethod
    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """The outputs by name, in the kernel's order."""

    @abstractmethod
    def reference(self, inputs: Arrays) -> Arrays:
        """The outputs by name as they should be: float64, or exact integers."""

    @abstractmethod
    def work(self, axes: Axes, dtype: str) -> Work:
        """What one call computes and moves."""

    def count(self, axes: Axes, dtype: str) -> Count | None:
        """The count that circulates, where it differs from `work`; None if there is none."""
        return None

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Greatest relative error in the Frobenius norm; 0 asks for equality."""
        return 1e-6 if dtype != "float64" else 1e-14

    def sizes(self, axes: Axes) -> tuple[int, ...]:
        """The whole numbers at the end of the kernel's arguments."""
        return tuple(axes[name] for name in self.axes)

    def macros(self, axes: Axes, dtype: str) -> dict[str, str]:
        """Macros that the kernel is compiled with."""
        return {}

    def sizes_in_macros(self) -> frozenset[str]:
        """Axes that the macros fix: a change of size is another compilation."""
        axes, dtype = self.resolve({}), self.dtypes[0]
        macros = self.macros(axes, dtype)
        return frozenset(
            name for name in axes if self.macros({**axes, name: axes[name] + 1}, dtype) != macros
        )

    def cpu(self, inputs: Arrays) -> Arrays | None:
        """The NumPy form, timed where there is no GPU; None if there is none."""
        return None

    def resolve(self, given: Axes) -> dict[str, int]:
        """The sizes of all axes: those given, and the defaults.

        Raises UserError for an unknown axis or a size below 1.
        """
        for name, size in given.items():
            if name not in self.axes:
                hint = suggestion(name, list(self.axes))
                raise UserError(f"{self.name} has no axis {name!r}; {hint}")
            if size < 1:
                raise UserError(f"{self.name}: {name} = {size}: give 1 or more")
        return {**self.axes, **given}

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """The axes of given inputs, for calls from Python; the first input's shape by default."""
        first = next(iter(inputs.values()))
        return dict(zip(self.axes, first.shape, strict=True))

    def dtype_of(self, inputs: Arrays) -> str:
        """The op's dtype of given inputs."""
        return str(next(iter(inputs.values())).dtype)


def draw(shape: tuple[int, ...], dtype: str, distribution: str, seed: int) -> NDArray[Any]:
    """Random values; the same for the same arguments.

    dtype: "float32", "float64", "uint8" (normal: mean 110, sigma 25, as grey levels are).
    distribution: one of DISTRIBUTIONS; uniform is -1..1, or 0..255 for bytes.
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
    if dtype == "uint8":
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
    """float32 values rounded to nearest even bfloat16, as uint16 patterns."""
    import numpy as np

    words = np.ascontiguousarray(values, np.float32).view(np.uint32)
    half = np.uint32(0x7FFF) + ((words >> np.uint32(16)) & np.uint32(1))
    return ((words + half) >> np.uint32(16)).astype(np.uint16)


def from_bfloat16(bits: NDArray[Any]) -> NDArray[Any]:
    """float32 values of uint16 bfloat16 patterns."""
    import numpy as np

    words: NDArray[Any] = bits.astype(np.uint32) << np.uint32(16)
    return np.asarray(words.view(np.float32))


def relative_error(values: NDArray[Any], reference: NDArray[Any]) -> float:
    """‖found - wanted‖ / ‖wanted‖ in float64; infinite where something is not finite."""
    import numpy as np

    if values.shape != reference.shape:
        raise ValueError(f"{values.shape} against {reference.shape}")
    # Equal infinities and NaNs of the reference would be equal too: only differences count.
    difference = values.astype(np.float64) - reference.astype(np.float64)
    if not np.isfinite(difference).all():
        return float("inf")
    norm = float(np.linalg.norm(difference.ravel()))
    scale = float(np.linalg.norm(reference.astype(np.float64).ravel()))
    return norm if scale == 0 else norm / scale


def _bytes(generator: Any, count: int, distribution: str) -> NDArray[Any]:
    import numpy as np

    if distribution == "uniform":
        return np.asarray(generator.integers(0, 256, count, dtype=np.uint8))
    return np.asarray(np.clip(generator.normal(110, 25, count), 0, 255).astype(np.uint8))
