"""C = A B of float32 matrices."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING, Any

from raytracer.benchmark.operations.base import Arrays, Axes, Op, Output, Peer, Work
from raytracer.benchmark.products.problem import Operand, Problem

if TYPE_CHECKING:
    from collections.abc import Callable


SAMPLED_ROWS, SAMPLED_COLS = 24, 96  # of a product that is too large for a reference of the whole


class MatMul(Op):
    """The product of two row-major matrices by float32 multiply-adds, without tensor cores."""

    name = "matmul"
    summary = "C = A B of row-major float32 matrices, without tensor cores"
    axes = {"m": 4096, "n": 4096, "k": 4096}  # noqa: RUF012
    awkward = (
        {"m": 1, "n": 1, "k": 1},
        {"m": 3, "n": 1030, "k": 5},
        {"m": 37, "n": 45, "k": 29},
        {"m": 129, "n": 130, "k": 131},  # rows not aligned to 16 bytes
        {"m": 1027, "n": 7, "k": 33},
        {"m": 260, "n": 516, "k": 100},  # 16-byte rows, tails of every tile
        {"m": 256, "n": 512, "k": 256},  # whole tiles
        {"m": 385, "n": 1284, "k": 517},
    )
    note = "TF32 is off for the library too. 2 m n k FLOP: a multiply-add counts as two."

    def shapes(self, axes: Axes) -> dict[str, tuple[int, ...]]:
        """a (m, k) and b (k, n)."""
        return {"a": (axes["m"], axes["k"]), "b": (axes["k"], axes["n"])}

    def outputs(self, axes: Axes, dtype: str) -> dict[str, Output]:
        """c (m, n)."""
        return {"c": Output((axes["m"], axes["n"]), dtype)}

    def reference(self, inputs: Arrays) -> Arrays:
        """The product in float64."""
        return {"c": inputs["a"].astype("f8") @ inputs["b"].astype("f8")}

    def cpu(self, inputs: Arrays) -> Arrays:
        """The product by NumPy's BLAS."""
        return {"c": inputs["a"] @ inputs["b"]}

    def work(self, axes: Axes, dtype: str) -> Work:
        """m n k multiply-adds; every matrix moved once."""
        m, n, k = self.sizes(axes)
        return Work(2 * m * n * k, 4 * (m * k + k * n), 4 * m * n)

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Allow for rounding errors that grow with the square root of k."""
        return 1e-5 * max(1.0, sqrt(axes["k"] / 4096))

    def axes_of(self, inputs: Arrays) -> dict[str, int]:
        """m and k from a, n from b."""
        (m, k), n = inputs["a"].shape, inputs["b"].shape[1]
        return {"m": m, "n": n, "k": k}

    def problem(
        self,
        axes: Axes,
        dtype: str,
        address: Callable[[str], int],
        transposed: frozenset[str] = frozenset(),
    ) -> Problem:
        """a by rows, b by rows."""
        m, n, k = self.sizes(axes)
        return Problem(
            m,
            n,
            k,
            stored(address("a"), (m, k), 4, "a" in transposed),
            stored(address("b"), (k, n), 4, "b" in transposed),
            stored(address("c"), (m, n), 4),
        )

    peers = (
        Peer("cuBLAS (PyTorch, TF32 off)", lambda tensors, _: torch_matmul(tensors)),
        Peer("cuBLASLt, best of its proposals", package="cublaslt"),
        Peer(
            "Triton (Inductor)",
            lambda tensors, _: triton_product(*tensors.values()),
            "triton",
        ),
        Peer("cuBLAS (CuPy)", lambda arrays, _: cupy_matmul(arrays), "cupy", instead_of="torch"),
    )


def stored(address: int, shape: tuple[int, int], size: int, transposed: bool = False) -> Operand:
    """Return a matrix of `shape` without padding, or its transpose as stored."""
    rows, cols = reversed(shape) if transposed else shape
    return Operand(address, rows, cols, cols, size, transposed)


def torch_matmul(tensors: dict[str, Any]) -> Callable[[], Any]:
    """Return the product of PyTorch in float32, into allocated memory."""
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = tensors["a"], tensors["b"]
    out = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    return lambda: torch.matmul(a, b, out=out)


def triton_product(a: Any, b: Any) -> Callable[[], Any]:
    """Return the fastest product of two matrices among the Triton templates of Inductor.

    Compilation and selection take half a minute the first time.
    """
    import logging
    import warnings

    import torch
    from torch._inductor import config

    # Inductor logs templates that do not fit the device at length.
    logging.getLogger("torch._inductor").setLevel(logging.CRITICAL)
    choice = config.patch(max_autotune_gemm_backends="TRITON", autotune_num_choices_displayed=0)
    with choice, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        product = torch.compile(torch.mm, mode="max-autotune-no-cudagraphs", dynamic=False)
        product(a, b)
    return lambda: product(a, b)


def cupy_matmul(arrays: dict[str, Any]) -> Callable[[], Any]:
    """Return the product of CuPy in float32, into allocated memory."""
    import cupy

    a, b = arrays["a"], arrays["b"]
    out = cupy.empty((a.shape[0], b.shape[1]), a.dtype)
    return lambda: cupy.matmul(a, b, out=out)


OP = MatMul()
