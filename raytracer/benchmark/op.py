"""The definition of an operation: arguments, reference, permitted errors and work.

The arguments of a kernel `kernels/ladders/<op>/NN_name.cu` are the addresses of the inputs, then
those of the outputs, in the order of `Op.inputs` and `Op.outputs`, then `Op.sizes` as long long.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.benchmark.record import Work
from raytracer.config.arguments import check_whole, check_word
from raytracer.config.errors import UserError

Axes = Mapping[str, int]
Arrays = dict[str, "NDArray[Any]"]

# Distributions of input values. They affect power and bank conflicts, so records state them.
DISTRIBUTIONS = ("normal", "uniform", "constant", "sorted", "zeros")
PERIOD = 4_194_301  # distinct values, a prime: rows of larger arrays, which repeat them, differ


@dataclass(frozen=True)
class Peer:
    """An implementation by PyTorch, timed in the same run if it is installed.

    make: takes PyTorch and the inputs as its tensors on the GPU, by name (16-bit patterns are
    int16: `.view(torch.bfloat16)`); returns a function without arguments that launches the work on
    the current stream.
    """

    name: str  # in tables
    make: Callable[[Any, dict[str, Any]], Callable[[], Any]]
    dtypes: tuple[str, ...] = ()  # types of the operation that it has; all if empty


@dataclass(kw_only=True)
class Op:
    """An operation of the bench, at its default sizes, or `at` others. Shapes are words that are an
    axis, an axis + a number, or a number."""

    name: str  # and that of its folder of kernels
    summary: str  # one sentence
    axes: Axes  # sizes by name, in the order of the kernel's arguments
    inputs: Mapping[str, str]  # shape of each input by name
    outputs: Mapping[str, str]
    input_type: str = ""  # of all inputs, if it is not that of the operation
    output_type: str = ""
    compute: Callable[[Arrays], Arrays]  # by NumPy, in the type of its inputs
    flop: Callable[[Axes], float] = lambda _: 0  # operations of one call
    awkward: tuple[Axes, ...]  # small sizes to check kernels at, with incomplete tiles first
    dtypes: tuple[str, ...] = ("float32",)  # types of the operation, the default first
    distributions: tuple[str, ...] = ("normal", "uniform", "constant", "zeros")
    peers: tuple[Peer, ...] = ()
    note: str = ""  # printed under the table
    sums: int = 1  # successive sums of products, each of which rounds
    is_exact: bool = False  # whether results are whole numbers that must be equal
    clears: bool = False  # whether outputs are set to zero before each call, in the time
    has_offset: bool = False  # whether the axis `offset` shifts the arrays (`offsets`)
    # definitions with which kernels are compiled, for sizes and a type
    macros: Callable[[Axes, str], dict[str, str]] = lambda _axes, _dtype: {}
    # sizes of the axes that are macros and no arguments
    macro_sizes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    dtype: str = ""  # of `dtypes`
    distribution: str = "normal"  # of values
    seed: int = 1
    transposed: frozenset[str] = frozenset()  # inputs of a product whose arrays are the transposes
    is_product = False  # whether the output is the product of `factors`

    def __post_init__(self) -> None:
        self.dtype = self.dtype or self.dtypes[0]

    def at(self, sizes: Axes, dtype: str = "", **others: Any) -> Self:
        """Return the operation with sizes of some axes, and with other fields; raise UserError for
        unknown axes and impossible sizes."""
        known = [*self.axes, "offset"] if self.has_offset else self.axes
        for name, size in sizes.items():
            check_word(name, self.name, known, "axis")
            check_whole(size, f"{self.name}: {name}", int(name != "offset"))
            supported = self.macro_sizes.get(name, (size,))
            if size not in supported:
                words = ", ".join(map(str, supported))
                raise UserError(f"{self.name}: {name} = {size}: give one of {words}")
        made = replace(self, axes={**self.axes, **sizes}, dtype=dtype or self.dtype, **others)
        try:
            _ = made.arrays
        except ValueError:  # more bytes than addresses
            given = ", ".join(f"{name} = {size}" for name, size in made.axes.items())
            raise UserError(f"{self.name}: {given}: no memory has such arrays") from None
        return made

    @property
    def input_arrays(self) -> Arrays:
        """Arrays as the inputs by name, without values, in the order of the arguments."""
        dtype = self.input_type or self.dtype
        return {name: _array(text, self.axes, dtype) for name, text in self.inputs.items()}

    @property
    def output_arrays(self) -> Arrays:
        """Arrays as the outputs by name, without values, in the order of the arguments."""
        dtype = self.output_type or self.dtype
        return {name: _array(text, self.axes, dtype) for name, text in self.outputs.items()}

    @property
    def arrays(self) -> Arrays:
        return self.input_arrays | self.output_arrays

    def values(self) -> Arrays:
        """Draw the inputs by name, C-contiguous."""
        return {
            name: draw(array.shape, str(array.dtype), self.distribution, self.seed + number)
            for number, (name, array) in enumerate(self.input_arrays.items())
        }

    def check(self, inputs: Arrays) -> None:
        """Raise UserError for inputs of the right shapes and types whose values are not allowed."""

    def reference(self, inputs: Arrays) -> Arrays:
        """Return the correct outputs by name: float64, or exact integers."""
        if self.is_exact:
            return self.compute(inputs)
        return self.compute({name: array.astype("f8") for name, array in inputs.items()})

    @property
    def rounding(self) -> float:
        """The permitted error of a value, in the sum of the magnitudes of its terms: eight units of
        the last place for each of successive sums. Long sums in any order have less, as their
        errors are random."""
        unit = 2.0**-53 if self.dtype == "float64" else 2.0**-24
        return 8.0 * self.sums * unit

    def permitted(self, inputs: Arrays, expected: Arrays) -> Arrays:
        """Return the permitted error of each value of `expected`, the reference for inputs."""
        magnitudes = self.compute({name: np.abs(a.astype("f8")) for name, a in inputs.items()})
        return {name: self.rounding * magnitudes[name] for name in expected}

    def part(self, inputs: Arrays, rows: "slice | NDArray[Any]") -> Arrays:
        """Return the inputs of some rows of the outputs. rows: a slice, or their numbers."""
        axis = next(iter(self.outputs.values())).split()[0]
        return {
            name: array[rows] if self.inputs[name].split()[0] == axis else array
            for name, array in inputs.items()
        }

    def factors(self, inputs: Arrays) -> tuple["NDArray[Any]", "NDArray[Any]"]:
        """Return A (m, k) and B (k, n) of a product in float64, copies."""
        raise NotImplementedError

    @property
    def work(self) -> Work:
        """The work of one call: each input is read once, each output written once."""
        arrays = self.input_arrays, self.output_arrays
        read, written = (sum(a.nbytes for a in each.values()) for each in arrays)
        return {"flop": self.flop(self.axes), "bytes_read": read, "bytes_written": written}

    @property
    def sizes(self) -> tuple[int, ...]:
        """The sizes among the arguments of a kernel."""
        others = ("offset", *self.macro_sizes)
        return tuple(size for name, size in self.axes.items() if name not in others)

    @property
    def offsets(self) -> dict[str, int]:
        """The bytes between an aligned address and the start of an array, by its name.

        They are one, two, three, … times `offset` values: different places in 16 bytes.
        """
        values = self.axes.get("offset", 0)
        return {name: k * values * a.itemsize for k, (name, a) in enumerate(self.arrays.items(), 1)}

    @property
    def launch_names(self) -> dict[str, int]:
        """The names of the expressions in kernel headers: axes, and bytes of a value."""
        return {**self.axes, "bytes": next(iter(self.input_arrays.values())).itemsize}

    def find_axis_sizes(self, inputs: Arrays) -> dict[str, int]:
        """Return the axes of inputs; raise ValueError for a wrong number of dimensions."""
        axes = dict[str, int]()
        for name, text in self.inputs.items():
            words, shape = list(_words(text)), inputs[name].shape
            if len(words) != len(shape):
                raise ValueError(f"{name} has the shape {shape}")
            for (axis, added), size in zip(words, shape, strict=True):
                if axis in self.axes:
                    axes.setdefault(axis, size - added)
        return axes

    def find_dtype(self, inputs: Arrays) -> str:
        """Return the dtype of the operation for inputs."""
        return str(next(iter(inputs.values())).dtype)


def _words(text: str) -> Iterator[tuple[str, int]]:
    """Yield name (or number) and added number of each word of a shape."""
    for word in text.split():
        name, _, added = word.partition("+")
        yield name, int(added or 0)


def _array(text: str, axes: Axes, dtype: str) -> NDArray[Any]:
    """Return an array of the shape that a text like "n bins+1" describes, without its values."""
    shape = [(axes[name] if name in axes else int(name)) + more for name, more in _words(text)]
    return np.broadcast_to(np.zeros((), dtype), shape)


def parse_sizes(names: str, sizes: str) -> tuple[Axes, ...]:
    """Return axes by name for sizes like "1 2, 3 4, 5"; one may leave out the last names."""
    rows = (map(int, each.split()) for each in sizes.split(","))
    return tuple(dict(zip(names.split(), row, strict=False)) for row in rows)


def draw(shape: tuple[int, ...], dtype: str, distribution: str, seed: int) -> NDArray[Any]:
    """Draw random values, reproducible by arguments.

    dtype: "float32", "float64" or "uint8" (normal: mean 110, sigma 25, like grey levels).
    distribution: one of DISTRIBUTIONS; uniform is -1..1, or 0..255 for bytes.
    """
    count, is_byte = prod(shape), dtype == "uint8"
    generator = np.random.default_rng(seed)
    distinct = min(count, PERIOD)
    if distribution == "zeros":
        return np.zeros(shape, dtype)
    if distribution == "constant":
        return np.full(shape, 110 if is_byte else 0.5, dtype)
    if distribution == "uniform":
        values = generator.uniform(*((0, 256) if is_byte else (-1, 1)), distinct)
    else:
        values = generator.standard_normal(distinct)
        if is_byte:
            values = np.clip(110 + 25 * values, 0, 255)
    values = values.astype(dtype)
    if count > distinct:
        values = np.resize(values, count)
    if distribution == "sorted":
        values.sort()
    return values.reshape(shape)


def bfloat16_bits(values: NDArray[Any]) -> NDArray[Any]:
    """Round float32 values to nearest even bfloat16; return the bits as uint16."""
    words = np.ascontiguousarray(values, np.float32).view(np.uint32)
    half = np.uint32(0x7FFF) + ((words >> np.uint32(16)) & np.uint32(1))
    return ((words + half) >> np.uint32(16)).astype(np.uint16)


def from_bfloat16(bits: NDArray[Any]) -> NDArray[Any]:
    """Convert bfloat16 bits (uint16) to float32."""
    words: NDArray[Any] = bits.astype(np.uint32) << np.uint32(16)
    return np.asarray(words.view(np.float32))
