"""The fit of the model: it finds the constants that times were made with."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from raytracer.benchmark.operations import find
from raytracer.benchmark.products import fit, model, skinny
from raytracer.benchmark.products.fit import Times


@pytest.fixture(autouse=True)
def constants_before() -> Iterator[None]:
    before = {size: fit.flat(size) for size in (2, 4)}
    yield
    for size, values in before.items():
        fit.put(size, values)


def test_constants_are_put_where_they_came_from() -> None:
    values = fit.flat(4)
    fit.put(4, [2 * each for each in values])
    assert model.SIMT["launch"] == 2 * values[list(model.SIMT).index("launch")]
    assert fit.flat(4) == [2 * each for each in values]
    assert skinny.FACTORS[2][0] == fit.flat(2)[len(model.TENSOR) + 2 * len(model.TENSOR_TILES)]


def spread(times: list[Times]) -> float:
    """How far predicted ratios of the choices of a size are from those of their times."""
    errors = [np.log(np.array(each.predicted()) / each.seconds) for each in times]
    return float(np.mean([error.std() for error in errors]))


def test_a_fit_finds_the_constants_that_times_were_made_with(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fit, "ROUNDS", 4)
    op, generator = find("matmul"), np.random.default_rng(3)
    times = []
    for m, n, k in ((700, 900, 1500), (256, 512, 8000), (3, 900, 3000), (1300, 1024, 513)):
        given = op.problem({"m": m, "n": n, "k": k}, "float32", lambda _: 0)
        found = model.proposals(given, 132, count=120)[::2]
        times.append(Times(given, 132, found, [choice.seconds for choice in found]))
    right = np.array(fit.flat(4))
    fit.put(4, (right * np.exp(generator.normal(0, 0.2, len(right)))).tolist())
    share, before = fit.share(times), spread(times)
    assert before > 0.03
    fit.fit(times)
    assert spread(times) < 0.3 * before
    assert fit.share(times) >= share
