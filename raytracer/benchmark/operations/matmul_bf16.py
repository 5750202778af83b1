"""C = A B of bfloat16 matrices, summed in float32."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from raytracer.benchmark.operations.base import (
    PERIOD,
    Arrays,
    Axes,
    Op,
    Output,
    Peer,
    Work,
    bfloat16_bits,
    draw,
    from_bfloat16,
)
from raytracer.benchmark.operations.matmul import stored, triton_product
from raytracer.benchmark.products.problem import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import NDArray


OUT = "bfloat16_out"  # C in bfloat16, too


class MatMulBf16(Op):
    """The product of bfloat16 matrices on the tensor cores; both are stored along k.

    NumPy has no bfloat16: the inputs are uint16 arrays of bits, from
    `raytracer.ops.bfloat16_bits`.
    """

    name = "matmul_bf16"
    summary = "C = A B of bfloat16 matrices, A row-major, B column-major, C in float32"
    axes = {"m": 4096, "n": 4096, "k": 4096}  # noqa: RUF012
    awkward = (
        {"m": 1, "n": 1, "k": 1},
        {"m": 3, "n": 1030, "k": 5},
        {"m": 37, "n": 45, "k": 29},  # rows not aligned to 16 bytes
        {"m": 129, "n": 131, "k": 136},
        {"m": 1027, "n": 7, "k": 40},
        {"m": 260, "n": 518, "k": 328},  # 16-byte rows, tails of every tile
        {"m": 256, "n": 512, "k": 512},  # whole tiles
        {"m": 385, "n": 1284, "k": 1096},
    )
    dtypes = ("bfloat16", OUT)
    note = "The libraries write C in bfloat16, half the bytes of float32: --dtype bfloat16_out too."

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """a (m, k) and b (n, k), the columns of B."""
        return {"a": (axes["m"], axes["k"]), "b": (axes["n"], axes["k"])}

    def values(
        self, shape: tuple[int, ...], dtype: str, distribution: str, seed: int
    ) -> NDArray[Any]:
        """Draw the bits of bfloat16 values, which repeat as those of `draw`."""
        import numpy as np

        distinct = (min(int(np.prod(shape, dtype=np.int64)), PERIOD),)
        return np.resize(bfloat16_bits(draw(distinct, "float32", distribution, seed)), shape)

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """c (m, n): float32, or the bits of bfloat16."""
        return {"c": Output((axes["m"], axes["n"]), "uint16" if dtype == OUT else "float32")}

    def reference(self, inputs: Arrays) -> Arrays:
        """The product of the rounded values in float64."""
        a, b = (from_bfloat16(inputs[name]).astype("f8") for name in ("a", "b"))
        return {"c": a @ b.T}

    def cpu(self, inputs: Arrays) -> Arrays:
        """The product of the same values in float32 by NumPy's BLAS."""
        return {"c": from_bfloat16(inputs["a"]) @ from_bfloat16(inputs["b"]).T}

    def work(self, axes: Axes, dtype: str) -> Work:
        """m n k multiply-adds; every matrix moved once."""
        m, n, k = self.sizes(axes)
        return Work(2 * m * n * k, 2 * (m * k + k * n), (2 if dtype == OUT else 4) * m * n)

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Products of bfloat16 are exact in float32; the sum of k terms is rounded, and then C."""
        if dtype == OUT:
            # Rounding is at most 2^-8 of a value; of few values the norm is off by as much.
            return 2**-8 + 1e-4
        return 1e-4 * max(1.0, sqrt(axes["k"] / 4096))

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """m and k from a, n from b."""
        (m, k), n = inputs["a"].shape, inputs["b"].shape[0]
        return {"m": m, "n": n, "k": k}

    def dtype_of(self, inputs: Arrays) -> str:
        """Return "bfloat16": NumPy has no such dtype."""
        return "bfloat16"

    def problem(
        self,
        axes: Axes,
        dtype: str,
        address: Callable[[str], int],
        transposed: frozenset[str] = frozenset(),
    ) -> Problem:
        """a by rows, b by columns."""
        m, n, k = self.sizes(axes)
        return Problem(
            m,
            n,
            k,
            stored(address("a"), (m, k), 2, "a" in transposed),
            stored(address("b"), (n, k), 2, "b" in transposed),
            stored(address("c"), (m, n), 2 if dtype == OUT else 4),
        )

    peers = (
        Peer("cuBLAS (PyTorch)", lambda tensors, _: torch_matmul_bf16(tensors)),
        Peer("cuBLASLt, best of its proposals", package="cublaslt"),
        Peer(
            "Triton (Inductor)",
            lambda tensors, _: triton_matmul_bf16(tensors),
            "triton",
        ),
    )


def torch_matmul_bf16(tensors: dict[str, Any]) -> Callable[[], Any]:
    """Return the product of PyTorch, C in bfloat16, into allocated memory."""
    import torch

    a, b = (tensors[name].view(torch.bfloat16) for name in ("a", "b"))
    out = torch.empty((a.shape[0], b.shape[0]), dtype=a.dtype, device=a.device)
    return lambda: torch.matmul(a, b.t(), out=out)


def triton_matmul_bf16(tensors: dict[str, Any]) -> Callable[[], Any]:
    """Return the fastest product among the Triton templates of Inductor."""
    import torch

    a, b = (tensors[name].view(torch.bfloat16) for name in ("a", "b"))
    return triton_product(a, b.t())


OP = MatMulBf16()
