"""The fused operators against closed forms and identities, on Gauss-Lobatto and Gauss points."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import legendre

from raytracer.benchmark import operations as ops
from raytracer.benchmark.operations.elements import OPS
from raytracer.errors import UserError


def lobatto(n: int) -> tuple[Any, Any]:
    """Gauss-Lobatto points of -1..1 and their weights."""
    last = legendre.Legendre.basis(n - 1)
    points = np.concatenate([[-1.0], last.deriv().roots().real, [1.0]])
    return points, 2 / (n * (n - 1) * last(points) ** 2)


def derivative(points: Any) -> Any:
    """The matrix of the derivative at the points."""
    powers = points[:, None] ** np.arange(len(points))
    slopes = np.arange(len(points)) * points[:, None] ** np.maximum(np.arange(len(points)) - 1, 0)
    return slopes @ np.linalg.inv(powers)


def cube(values: Any) -> Any:
    """Products of three values, one an axis."""
    return values[:, None, None] * values[:, None] * values


@pytest.mark.parametrize("n", [2, 3, 5])
def test_gradient_against_the_definition(n: int) -> None:
    op = ops.find("contraction")
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


def test_diffusion_is_the_energy_of_a_polynomial() -> None:
    points, weights = lobatto(7)
    x, y, z = np.meshgrid(points, points, points, indexing="ij")
    u = (x**2 + y * z)[None]
    identity = np.array([1, 0, 0, 1, 0, 1])[:, None, None, None] * cube(weights)
    inputs = {"u": u, "d": derivative(points), "g": identity[None]}
    w = ops.find("diffusion").reference(inputs)["v"]
    # the integral of 4 x^2 + z^2 + y^2 over the cube of edge 2
    assert (u * w).sum() == pytest.approx(8 * (4 + 1 + 1) / 3)


def test_diffusion_by_loops_is_symmetric_and_forgets_constants() -> None:
    op = ops.find("diffusion")
    inputs = op.values({"elements": 2, "n": 3}, "float64", "normal", 3)
    u, g, d = inputs.values()
    slopes = [np.zeros_like(u) for _ in range(3)]
    for i, j, k, m in np.ndindex(3, 3, 3, 3):
        slopes[0][:, i, j, k] += d[i, m] * u[:, m, j, k]
        slopes[1][:, i, j, k] += d[j, m] * u[:, i, m, k]
        slopes[2][:, i, j, k] += d[k, m] * u[:, i, j, m]
    places = {(0, 0): 0, (0, 1): 1, (0, 2): 2, (1, 1): 3, (1, 2): 4, (2, 2): 5}
    wanted = np.zeros_like(u)
    for a, b in np.ndindex(3, 3):
        flux = g[:, places[min(a, b), max(a, b)]] * slopes[b]
        for i, j, k, m in np.ndindex(3, 3, 3, 3):
            place = [i, j, k]
            place[a] = m
            wanted[:, *place] += d[(i, j, k)[a], m] * flux[:, i, j, k]
    np.testing.assert_allclose(op.reference(inputs)["v"], wanted, atol=1e-12)
    other = inputs | {"u": np.random.default_rng(9).standard_normal(u.shape)}
    left = (other["u"] * wanted).sum()
    assert left == pytest.approx((u * op.reference(other)["v"]).sum())
    flat = {"u": np.ones_like(u), "d": derivative(lobatto(3)[0]), "g": g}
    assert abs(op.reference(flat)["v"]).max() < 1e-12


def test_mass_integrates_products_exactly() -> None:
    n = 6
    nodes, (points, weights) = lobatto(n)[0], legendre.leggauss(n)
    power = np.arange(n)
    b = points[:, None] ** power @ np.linalg.inv(nodes[:, None] ** power)
    inputs = {"u": cube(nodes ** (n - 1))[None], "b": b, "w": cube(weights)[None]}
    v = ops.find("mass").reference(inputs)["v"]
    assert (inputs["u"] * v).sum() == pytest.approx((2 / (2 * n - 1)) ** 3)


def test_mass_against_one_large_matrix() -> None:
    op = ops.find("mass")
    inputs = op.values({"elements": 2, "n": 3}, "float64", "normal", 3)
    u, weights, b = inputs.values()
    whole = np.kron(np.kron(b, b), b)
    wanted = [whole.T @ (weights[e].ravel() * (whole @ u[e].ravel())) for e in range(2)]
    np.testing.assert_allclose(op.reference(inputs)["v"].reshape(2, -1), wanted, atol=1e-12)


def test_advection_is_the_velocity_times_the_slope() -> None:
    points, _ = lobatto(5)
    x, y, z = np.meshgrid(points, points, points, indexing="ij")
    velocity = np.stack([y, 2 + z, x * z])
    inputs = {"u": (x * y + z**3)[None], "d": derivative(points), "c": velocity[None]}
    wanted = y * y + (2 + z) * x + x * z * 3 * z**2
    np.testing.assert_allclose(ops.find("advection").reference(inputs)["v"][0], wanted, atol=1e-12)


@pytest.mark.parametrize("n", [1, 17, 21])
def test_n_without_kernels_is_refused(n: int) -> None:
    for op in OPS:
        with pytest.raises(UserError, match=f"n = {n}: give"):
            op.resolve({"n": n})
