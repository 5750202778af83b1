"""Products of matrices: float32 by multiply-adds, bfloat16 on the tensor cores."""

from collections.abc import Callable
from functools import partial
from math import sqrt
from typing import Any

from raytracer.benchmark.operations.base import (
    Array,
    Arrays,
    Axes,
    Op,
    Peer,
    bfloat16_bits,
    draw,
    from_bfloat16,
    sizes_of,
)

BFLOAT16_OUT = "bfloat16_out"  # C in bfloat16, too


class Product(Op):
    """C = A B."""

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Allow for rounding errors that grow with the square root of k."""
        return self.rounding * 1e-5 * max(1.0, sqrt(axes["k"] / 4096))


class ProductBf16(Product):
    """A product of bfloat16 matrices, which are uint16 arrays of bits: NumPy has no bfloat16."""

    def input_arrays(self, axes: Axes, dtype: str) -> dict[str, Array]:
        """Return a (m, k) and b (n, k), the columns of B."""
        return super().input_arrays(axes, "uint16")

    def output_arrays(self, axes: Axes, dtype: str) -> dict[str, Array]:
        """Return c (m, n): float32, or the bits of bfloat16."""
        return super().output_arrays(axes, "uint16" if dtype == BFLOAT16_OUT else "float32")

    def values(self, axes: Axes, dtype: str, distribution: str, seed: int) -> Arrays:
        return {
            name: bfloat16_bits(draw(array.shape, "float32", distribution, seed + number))
            for number, (name, array) in enumerate(self.input_arrays(axes, dtype).items())
        }

    def reference(self, inputs: Arrays) -> Arrays:
        a, b = (from_bfloat16(inputs[name]).astype("f8") for name in ("a", "b"))
        return {"c": a @ b.T}

    def tolerance(self, axes: Axes, dtype: str) -> float:
        """Products of bfloat16 are exact in float32; the sum of k terms is rounded, and then C."""
        if dtype == BFLOAT16_OUT:
            # Rounding is at most 2^-8 of a value; of few values the norm is off by as much.
            return 2**-8 + 1e-4
        return super().tolerance(axes, dtype)

    def dtype_of(self, inputs: Arrays) -> str:
        """Return "bfloat16"; other arrays are refused by their own type."""
        return "bfloat16"


def torch_matmul(torch: Any, of: dict[str, Any]) -> Callable[[], Any]:
    """Return the product of PyTorch, in float32 and not in TF32, or C in bfloat16."""
    torch.backends.cuda.matmul.allow_tf32 = False
    a, b = of["a"], of["b"]
    if a.dtype == torch.int16:
        a, b = a.view(torch.bfloat16), b.view(torch.bfloat16).t()
    out = torch.empty((a.shape[0], b.shape[1]), dtype=a.dtype, device=a.device)
    return partial(torch.matmul, a, b, out=out)


OPS = (
    Product(
        name="matmul",
        summary="C = A B of row-major float32 matrices, without tensor cores",
        axes={"m": 4096, "n": 4096, "k": 4096},
        inputs={"a": "m k", "b": "k n"},
        outputs={"c": "m n"},
        compute=lambda arrays: {"c": arrays["a"] @ arrays["b"]},
        flop=lambda axes: 2 * axes["m"] * axes["n"] * axes["k"],
        awkward=sizes_of(
            "m n k",
            # Rows not aligned to 16 bytes; tails of every tile; whole tiles; tails.
            "1 1 1, 3 1030 5, 37 45 29, 129 130 131, 1027 7 33, 260 516 100, 256 512 256,"
            "385 1284 517",
        ),
        peers=(Peer("cuBLAS (PyTorch, TF32 off)", torch_matmul),),
        note="TF32 is off for PyTorch too. 2 m n k FLOP: a multiply-add counts as two.",
    ),
    ProductBf16(
        name="matmul_bf16",
        summary="C = A B of bfloat16 matrices, A row-major, B column-major, C in float32",
        axes={"m": 4096, "n": 4096, "k": 4096},
        inputs={"a": "m k", "b": "n k"},
        outputs={"c": "m n"},
        compute=lambda arrays: {"c": from_bfloat16(arrays["a"]) @ from_bfloat16(arrays["b"]).T},
        flop=lambda axes: 2 * axes["m"] * axes["n"] * axes["k"],
        rounding=10,
        awkward=sizes_of(
            "m n k",
            # Rows not aligned to 16 bytes; tails of every tile; whole tiles; tails.
            "1 1 1, 3 1030 5, 37 45 29, 129 131 136, 1027 7 40, 260 518 328, 256 512 512,"
            "385 1284 1096",
        ),
        dtypes=("bfloat16", BFLOAT16_OUT),
        peers=(Peer("cuBLAS (PyTorch)", torch_matmul),),
        note="PyTorch writes C in bfloat16, half the bytes of float32: --dtype bfloat16_out too.",
    ),
)
