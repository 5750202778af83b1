"""The matrix products: references, bfloat16 rounding, grids."""

from itertools import product

import numpy as np
import pytest

from raytracer.benchmark.operations import OPERATIONS, base

KERNELS = ["matmul", "matmul_bf16"]


@pytest.mark.parametrize("name", KERNELS)
def test_reference_is_the_sum_of_products(name: str) -> None:
    op = OPERATIONS[name]
    axes = {"m": 3, "n": 4, "k": 5}
    inputs = op.values(axes, op.dtypes[0], "normal", 1)
    a, b = inputs["a"], inputs["b"]
    if name == "matmul_bf16":
        a, b = base.from_bfloat16(a), base.from_bfloat16(b).T
    wanted = np.zeros((3, 4))
    for i, j, q in product(range(3), range(4), range(5)):
        wanted[i, j] += float(a[i, q]) * float(b[q, j])
    assert op.reference(inputs)["c"].dtype == np.float64
    np.testing.assert_allclose(op.reference(inputs)["c"], wanted, rtol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_check_sees_one_missing_term(name: str) -> None:
    op = OPERATIONS[name]
    axes = dict(op.awkward[-1])
    inputs = op.values(axes, op.dtypes[0], "normal", 3)
    short = {key: value.copy() for key, value in inputs.items()}
    short["a"][:, -1] = 0
    error = base.relative_error(op.reference(short)["c"], op.reference(inputs)["c"])
    assert error > 10 * op.tolerance(axes, op.dtypes[0])


def test_bfloat16_is_rounded_to_nearest_even() -> None:
    step = 2.0**-7  # of bfloat16 between 1 and 2
    values = np.array([1, 1 + step / 2, 1 + 1.5 * step, 1 + 0.5001 * step, -1 - step / 2], "f4")
    wanted = [1, 1, 1 + 2 * step, 1 + step, -1]
    np.testing.assert_array_equal(base.from_bfloat16(base.bfloat16_bits(values)), wanted)


def test_bfloat16_values_stay_as_they_are() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    values = base.from_bfloat16(bits)
    finite = np.isfinite(values)
    np.testing.assert_array_equal(base.bfloat16_bits(values[finite]), bits[finite])


def test_a_correctly_rounded_product_of_one_value_passes() -> None:
    op, dtype = OPERATIONS["matmul_bf16"], "bfloat16_out"
    axes = op.resolve({"m": 1, "n": 1, "k": 1})
    errors = []
    for seed in range(200):
        exact = op.reference(op.values(axes, dtype, "normal", seed))["c"]
        errors.append(base.relative_error(base.bfloat16_bits(exact.astype("f4")), exact))
    assert 0.0035 < max(errors) <= op.tolerance(axes, dtype) < 0.005
