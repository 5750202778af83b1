"""Fits the constants of the model to times of this GPU, and prints them for model.py.

    python docs/research/product_model.py matmul_bf16 --count 200 --seed 1  # needs SciPy

At each random size the choices that the model puts first are timed, and some others. What counts is
the order of the choices of one size: errors are those of logarithms, less their mean over the size,
and weigh less the slower a choice is than the fastest.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from raytracer.backends.kernel_sources import discover_variants
from raytracer.benchmark import operations
from raytracer.benchmark.products import model
from raytracer.benchmark.products.model import Choice
from raytracer.benchmark.products.tiles import Problem, make_problem

FIRST, OTHERS = 16, 8  # choices that are timed at a size
SAMPLES, SAMPLE, MAX_LAUNCHES = 3, 200e-6, 24  # of a choice: graphs, seconds of one, its launches
SMALLEST, LARGEST = 256, 16_384  # of m, n and k
NEAR, LEAST = 3.0, 0.03  # weights: exp(-NEAR (t / fastest - 1)) + LEAST
PRIOR = 0.02  # pull to the values before: constants that no time depends on stay
ROUNDS = 12

Array = NDArray[np.float64]


class Times(NamedTuple):
    """Seconds of some choices at one size."""

    problem: Problem
    multiprocessors: int
    choices: list[Choice]
    seconds: list[float]

    def predicted(self) -> list[float]:
        """Return the seconds that the model predicts."""
        return [_predicted(self.problem, self.multiprocessors, c) for c in self.choices]


def _predicted(problem: Problem, multiprocessors: int, choice: Choice) -> float:
    return model.predicted(problem, choice.tile, choice.units, multiprocessors, choice.early)


def constants(size: int) -> dict[str, dict[Any, Any]]:
    """Return the constants of products whose values have `size` bytes, by name."""
    if size == 2:
        return {"TENSOR": model.TENSOR, "TENSOR_TILES": model.TENSOR_TILES}
    return {"SIMT": model.SIMT, "SIMT_TILES": model.SIMT_TILES}


def put(size: int, values: Sequence[float]) -> None:
    """Set the constants to values in the order of `flat`."""
    left = iter(values)
    for name, table in constants(size).items():
        target: dict[Any, Any] = getattr(model, name)
        for key, value in table.items():
            own = tuple(next(left) for _ in value) if isinstance(value, tuple) else next(left)
            target[key] = own


def flat(size: int) -> list[float]:
    """Return the constants as one list."""
    tables = (value for table in constants(size).values() for value in table.values())
    return [x for each in tables for x in (each if isinstance(each, tuple) else (each,))]


def fit(times: Sequence[Times]) -> None:
    """Set the constants to those that suit the times best; those that are 0 stay 0."""
    size = times[0].problem.a.size
    first = np.array(flat(size))
    used, of_size = first > 0, np.repeat(np.arange(len(times)), [len(t.seconds) for t in times])
    measured = np.log(np.concatenate([t.seconds for t in times]))
    slower = np.concatenate([np.array(t.seconds) / min(t.seconds) - 1 for t in times])
    weights = np.exp(-NEAR * slower) + LEAST
    before = np.log(first[used])

    def errors(logarithms: Array) -> Array:
        values = first.copy()
        values[used] = np.exp(logarithms)
        put(size, values.tolist())
        raw = np.log(np.concatenate([t.predicted() for t in times])) - measured
        mean = np.bincount(of_size, weights * raw) / np.bincount(of_size, weights)
        pull = np.sqrt(PRIOR) * (logarithms - before)
        return np.concatenate([np.sqrt(weights) * (raw - mean[of_size]), pull])

    errors(least_squares(errors, before, max_nfev=ROUNDS).x)


def share(times: Sequence[Times]) -> float:
    """Return the time of the fastest choices by that of the model's, the geometric mean."""
    ratios = [min(t.seconds) / t.seconds[int(np.argmin(t.predicted()))] for t in times]
    return float(np.exp(np.mean(np.log(ratios))))


def drawn_sizes(count: int, seed: int) -> Iterator[dict[str, int]]:
    """Yield log-uniform sizes, half of them multiples of 64."""
    generator = np.random.default_rng(seed)
    for number in range(count):
        step = 64 if number % 2 else 1
        sizes = SMALLEST * (LARGEST / SMALLEST) ** generator.random(3) // step * step
        yield {name: int(size) for name, size in zip("mnk", sizes, strict=True)}


def measure(name: str, count: int, seed: int) -> Iterator[Times]:
    """Time choices of an operation at random sizes on the GPU."""
    from raytracer.benchmark.cuda.session import Session
    from raytracer.benchmark.operation_benchmark import loaded
    from raytracer.benchmark.products.kernel import bind

    op, draw = operations.OPERATIONS[name], random.Random(seed)
    with Session() as session:
        variant = discover_variants(name)[-1]

        def seconds_of(problem: Problem, choice: Choice) -> float:
            launch, _ = bind(session, variant, problem, choice)
            launches = max(1, min(MAX_LAUNCHES, int(SAMPLE / choice.seconds)))
            graph = session.recorded(launch, launches)
            return min(session.hot(graph, 1, 1) for _ in range(SAMPLES)) / launches

        for axes in drawn_sizes(count, seed):
            sized = op.at(axes, op.dtypes[-1], seed=seed)
            with loaded(session, sized, sized.values()) as memory:
                problem = make_problem(sized, memory.address)
                found = list(dict.fromkeys(model.ranked(problem, session.multiprocessors)))
                chosen = found[:FIRST] + draw.sample(found[FIRST:], min(OTHERS, len(found[FIRST:])))
                seconds = [seconds_of(problem, choice) for choice in chosen]
            yield Times(problem, session.multiprocessors, chosen, seconds)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, fit and print."""
    parser = argparse.ArgumentParser(prog="product_model.py")
    parser.add_argument("op", choices=("matmul", "matmul_bf16"))
    parser.add_argument("--count", type=int, default=200, help="sizes")
    parser.add_argument("--seed", type=int, default=1, help="of the sizes")
    options = parser.parse_args(arguments)
    times = list(measure(options.op, options.count, options.seed))
    before = share(times)
    fit(times)
    print(f"# {len(times)} sizes; speed of the model's choices by the fastest: {before:.3f} before")
    print(f"# and {share(times):.3f} after the fit")
    for name, table in constants(times[0].problem.a.size).items():
        for key, value in table.items():
            short = np.array(value).round(6).tolist()
            print(f"{name}[{key!r}] = {tuple(short) if isinstance(short, list) else short}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
