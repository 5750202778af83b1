"""References of operations against their definitions; the rounding to bfloat16."""

import itertools

import numpy as np
import pytest

from raytracer.benchmark import op as op_module
from raytracer.benchmark import operations
from raytracer.benchmark.operations import OPERATIONS

OP = OPERATIONS["histogram_bins"]
RNG = np.random.default_rng(5)


def test_bytes_against_a_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operations, "PIECE", 1000)
    keys = np.random.default_rng(3).integers(0, 256, 3001, dtype=np.uint8)
    bins = [keys.tolist().count(value) for value in range(256)]
    assert OPERATIONS["histogram"].reference({"keys": keys})["bins"].tolist() == bins


@pytest.mark.parametrize("dtype", OP.dtypes)
@pytest.mark.parametrize("distribution", OP.distributions)
def test_sizes_at_random_against_a_loop(dtype: str, distribution: str) -> None:
    for _ in range(3):
        axes = {"n": int(2 ** RNG.uniform(0, 11)), "bins": int(2 ** RNG.uniform(0, 12))}
        inputs = OP.at(axes, dtype, distribution=distribution, seed=7).values()
        keys, edges = inputs["keys"], inputs["edges"]
        bins = [0] * axes["bins"]
        lower, upper = edges[0], edges[-1]
        for key in keys:
            if lower <= key < upper:
                if dtype == "float32":
                    at = int((key - lower) * (np.float32(axes["bins"]) / (upper - lower)))
                else:
                    at = (int(key) - int(lower)) // (int(edges[1]) - int(lower))
                bins[min(at, axes["bins"] - 1)] += 1
        assert OP.reference(inputs)["counts"].tolist() == bins


def test_values_that_are_no_numbers_or_outside_are_not_counted() -> None:
    keys = np.array([np.nan, np.inf, -np.inf, -3.0, 3.0, 0.0], "f4")
    edges = np.array([-3, 0, 3], "f4")
    assert OP.compute({"keys": keys, "edges": edges})["counts"].tolist() == [1, 1]


@pytest.mark.parametrize("n", [2, 3, 5])
def test_gradient_against_the_definition(n: int) -> None:
    op = OPERATIONS["contraction"]
    inputs = op.at({"elements": 2, "n": n}, seed=4).values()
    u, d = inputs["u"].astype(float), inputs["d"].astype(float)
    found = op.reference(inputs)
    for e, i, j, k in itertools.product(range(2), range(n), range(n), range(n)):
        x = sum(d[i, m] * u[e, m, j, k] for m in range(n))
        y = sum(d[j, m] * u[e, i, m, k] for m in range(n))
        z = sum(d[k, m] * u[e, i, j, m] for m in range(n))
        assert found["gx"][e, i, j, k] == pytest.approx(x, abs=1e-12)
        assert found["gy"][e, i, j, k] == pytest.approx(y, abs=1e-12)
        assert found["gz"][e, i, j, k] == pytest.approx(z, abs=1e-12)


KERNELS = ["matmul", "matmul_bf16"]


@pytest.mark.parametrize("name", KERNELS)
def test_reference_is_the_sum_of_products(name: str) -> None:
    op = OPERATIONS[name]
    inputs = op.at({"m": 3, "n": 4, "k": 5}).values()
    a, b = inputs["a"], inputs["b"]
    if name == "matmul_bf16":
        a, b = op_module.from_bfloat16(a), op_module.from_bfloat16(b).T
    wanted = np.zeros((3, 4))
    for i, j, q in itertools.product(range(3), range(4), range(5)):
        wanted[i, j] += float(a[i, q]) * float(b[q, j])
    assert op.reference(inputs)["c"].dtype == np.float64
    np.testing.assert_allclose(op.reference(inputs)["c"], wanted, rtol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_check_sees_one_missing_term(name: str) -> None:
    op = OPERATIONS[name].at(OPERATIONS[name].awkward[-1], seed=3)
    inputs = op.values()
    short = {key: value.copy() for key, value in inputs.items()}
    short["a"][:, -1] = 0
    wanted = op.reference(inputs)
    errors = np.abs(op.reference(short)["c"] - wanted["c"])
    assert np.median(errors / op.permitted(inputs, wanted)["c"]) > 10


def test_bfloat16_is_rounded_to_nearest_even() -> None:
    step = 2.0**-7  # of bfloat16 between 1 and 2
    values = np.array([1, 1 + step / 2, 1 + 1.5 * step, 1 + 0.5001 * step, -1 - step / 2], "f4")
    wanted = [1, 1, 1 + 2 * step, 1 + step, -1]
    np.testing.assert_array_equal(op_module.from_bfloat16(op_module.bfloat16_bits(values)), wanted)


def test_bfloat16_values_stay_as_they_are() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    values = op_module.from_bfloat16(bits)
    finite = np.isfinite(values)
    np.testing.assert_array_equal(op_module.bfloat16_bits(values[finite]), bits[finite])


def test_a_correctly_rounded_product_of_one_value_passes() -> None:
    op = OPERATIONS["matmul_bf16"].at({"m": 1, "n": 1, "k": 1}, "bfloat16_out")
    shares = []
    for seed in range(200):
        inputs = op.at({}, seed=seed).values()
        exact = op.reference(inputs)
        rounded = op_module.from_bfloat16(op_module.bfloat16_bits(exact["c"].astype("f4")))
        shares.append(abs(rounded - exact["c"])[0, 0] / op.permitted(inputs, exact)["c"][0, 0])
    assert 0.9 < max(shares) <= 1.0
