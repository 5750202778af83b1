"""The gradient of elements against its definition."""

import itertools

import pytest

from raytracer.benchmark import operations as ops


@pytest.mark.parametrize("n", [2, 3, 5])
def test_gradient_against_the_definition(n: int) -> None:
    op = ops.OPERATIONS["contraction"]
    inputs = op.values({"elements": 2, "n": n}, "float32", "normal", 4)
    u, d = inputs["u"].astype(float), inputs["d"].astype(float)
    found = op.reference(inputs)
    for e, i, j, k in itertools.product(range(2), range(n), range(n), range(n)):
        x = sum(d[i, m] * u[e, m, j, k] for m in range(n))
        y = sum(d[j, m] * u[e, i, m, k] for m in range(n))
        z = sum(d[k, m] * u[e, i, j, m] for m in range(n))
        assert found["gx"][e, i, j, k] == pytest.approx(x, abs=1e-12)
        assert found["gy"][e, i, j, k] == pytest.approx(y, abs=1e-12)
        assert found["gz"][e, i, j, k] == pytest.approx(z, abs=1e-12)
