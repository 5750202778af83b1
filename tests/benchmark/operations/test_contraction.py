"""The contraction: its reference against its definition, its declarations against the headers."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from raytracer.benchmark.operations.contraction import OP


@pytest.mark.parametrize("n", [2, 3, 5])
def test_reference_against_the_definition(n: int) -> None:
    inputs = OP.inputs({"elements": 2, "n": n}, "float32", "normal", 4)
    u, d = inputs["u"].astype(float), inputs["d"].astype(float)
    found = OP.reference(inputs)
    for e, i, j, k in itertools.product(range(2), range(n), range(n), range(n)):
        x = sum(d[i, m] * u[e, m, j, k] for m in range(n))
        y = sum(d[j, m] * u[e, i, m, k] for m in range(n))
        z = sum(d[k, m] * u[e, i, j, m] for m in range(n))
        assert found["gx"][e, i, j, k] == pytest.approx(x, abs=1e-12)
        assert found["gy"][e, i, j, k] == pytest.approx(y, abs=1e-12)
        assert found["gz"][e, i, j, k] == pytest.approx(z, abs=1e-12)


def test_derivative_of_polynomials_is_exact() -> None:
    n = 6
    x = np.cos(np.pi * np.arange(n) / (n - 1))  # Chebyshev points
    powers = x[:, None] ** np.arange(n)
    slopes = np.arange(n) * x[:, None] ** np.maximum(np.arange(n) - 1, 0)
    d = slopes @ np.linalg.inv(powers)
    u = (x[:, None, None] ** 3 * x[:, None] ** 2 * x + x)[None]
    found = OP.reference({"u": u, "d": d})
    fields = {
        "gx": 3 * x[:, None, None] ** 2 * x[:, None] ** 2 * x,
        "gy": 2 * x[:, None, None] ** 3 * x[:, None] * x,
        "gz": x[:, None, None] ** 3 * x[:, None] ** 2 + 0 * x + 1,
    }
    for name, wanted in fields.items():
        np.testing.assert_allclose(found[name][0], wanted, atol=1e-12)


def test_the_count_that_circulates_is_a_third_of_the_flop_and_a_quarter_of_the_bytes() -> None:
    count = OP.count({"elements": 100_000, "n": 8}, "float32")
    assert (count.bytes, count.flop) == (204_800_000, 819_200_000)
