"""The bench's operations as functions of NumPy arrays, on the GPU.

>>> from raytracer import ops
>>> c = ops.vecadd(a, b)                              # the fastest variant that the GPU can run
>>> c = ops.matmul(a, b, variant="04_shared_tiles")

`names()` lists them; `raytracer bench --list` prints their axes, types and variants.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from raytracer.benchmark.operations import OPERATIONS
from raytracer.benchmark.operations.base import Op, bfloat16_bits, from_bfloat16

__all__ = ["Operation", "bfloat16_bits", "from_bfloat16", "names"]


@dataclass(frozen=True)
class Operation:
    """An operation as a function of arrays.

    Attributes:
        declared: the definition of the operation.
    """

    declared: Op

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
        from raytracer.benchmark.call import call  # imports the backends

        return call(self.declared, arrays, variant, dtype)

    def __repr__(self) -> str:
        return f"raytracer.ops.{self.declared.name}: {self.declared.summary}"


def names() -> list[str]:
    """Return the names of the operations, sorted."""
    return list(OPERATIONS)


def __getattr__(name: str) -> Callable[..., Any]:
    if name not in OPERATIONS:
        raise AttributeError(f"module 'raytracer.ops' has no operation {name!r}")
    return Operation(OPERATIONS[name])


def __dir__() -> list[str]:
    return [*__all__, *names()]
