"""The bench's operations as functions of NumPy arrays, on the GPU.

>>> from raytracer import ops
>>> c = ops.vecadd(a, b)                              # the fastest variant that the GPU can run
>>> c = ops.matmul(a, b, variant="04_shared_tiles")

`names()` lists them; `raytracer bench --list` prints their axes, types and variants.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda.compile import NoCompilerError
from raytracer.backends.kernel_sources import sort_by_preference
from raytracer.benchmark.cuda.session import Session, SizeError
from raytracer.benchmark.op import Arrays, Op, bfloat16_bits, from_bfloat16
from raytracer.benchmark.operation_benchmark import compute, select
from raytracer.benchmark.operations import OPERATIONS
from raytracer.config.arguments import check_text, check_word
from raytracer.config.errors import BackendError, UserError

__all__ = ["Operation", "bfloat16_bits", "from_bfloat16", "names"]


@dataclass(frozen=True)
class Operation:
    """An operation as a function of arrays."""

    declared: Op  # its definition

    def __call__(
        self, *arrays: NDArray[Any], variant: str | None = None, dtype: str | None = None
    ) -> Any:
        """Compute the operation on the GPU.

        Args:
            *arrays: the inputs, in order, as NumPy arrays.
            variant: label, name or number; by default the fastest one that the device can run:
                the last one, unless headers of kernels name another for the sizes (`best:`).
            dtype: a type of the operation, like "bfloat16_out" for a product in bfloat16; by
                default that of the arrays.

        Returns:
            The output, or a tuple of outputs.

        Raises:
            UserError: number, dtype or shape of the arrays is wrong.
            BackendError: there is no usable GPU.
        """
        op, inputs = matched(self.declared, arrays)
        if dtype is not None:
            op = op.at({}, check_word(dtype, op.name, op.dtypes, "type"))
        words = [] if variant is None else [check_text(variant, "variant")]
        variants = [each for each in select(op, words) if each.supports(op.dtype)]
        if not variants:
            raise UserError(f"{variant} of {op.name} does not compute {op.dtype}")
        with Session() as session:
            supported = [each for each in variants if each.admits(session.arch)]
            if not supported:
                raise BackendError(f"no variant of {op.name} runs on {session.arch}")
            order = sort_by_preference(supported, op.axes, op.dtype)
            fortran = {name for name, a in inputs.items() if a.ndim == 2 and a.flags.fnc}
            for each in order:
                # Transposes are uploaded.
                sized = op.at({}, transposed=frozenset(fortran if each.sizes else ()))
                contiguous = {
                    name: np.ascontiguousarray(a.T if name in sized.transposed else a)
                    for name, a in inputs.items()
                }
                try:
                    outputs, _ = compute(session, sized, each, contiguous)
                    break
                except (SizeError, NoCompilerError):
                    if each is order[-1]:
                        raise
        results = tuple(outputs.values())
        return results[0] if len(results) == 1 else results

    def __repr__(self) -> str:
        return f"raytracer.ops.{self.declared.name}: {self.declared.summary}"


def matched(op: Op, arrays: tuple[NDArray[Any], ...]) -> tuple[Op, Arrays]:
    """Return the operation at their sizes and the arrays by name; raise UserError if number, dtype
    or shape is wrong."""
    try:
        if len(arrays) != len(op.inputs):
            raise ValueError(f"{len(arrays)} given")
        inputs = {name: np.asarray(array) for name, array in zip(op.inputs, arrays, strict=True)}
        axes = op.find_axis_sizes(inputs)
    except (TypeError, ValueError) as error:
        form = ", ".join(f"{name} ({shape})" for name, shape in op.inputs.items())
        raise UserError(f"{op.name} takes arrays {form}: {error}") from error
    dtype = op.find_dtype(inputs)
    if dtype not in op.dtypes:
        raise UserError(f"{op.name} takes {' or '.join(op.dtypes)} arrays, not {dtype}")
    op = op.at(axes, dtype)
    for name, expected in op.input_arrays.items():
        array = inputs[name]
        if array.shape != expected.shape or array.dtype != expected.dtype:
            raise UserError(
                f"{op.name}: {name} is {array.dtype} {array.shape}, expected "
                f"{expected.dtype} {expected.shape}"
            )
    op.check(inputs)
    return op, inputs


def names() -> list[str]:
    """Return the names of the operations, sorted."""
    return list(OPERATIONS)


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in OPERATIONS:
        raise AttributeError(f"module 'raytracer.ops' has no operation {name!r}")
    return Operation(OPERATIONS[name])


def __dir__() -> list[str]:
    return [*__all__, *names()]
