"""Times of the kernels for skinny products, and the constants that predict them.

    python -m raytracer.benchmark.products.fit_skinny measure matmul -o times.json
    python -m raytracer.benchmark.products.fit_skinny fit times.json

The first command, on a GPU, times all forms of these kernels at the thin sizes of random draws and
at multiples of 64 with few rows or columns, each in a replayed graph, beside cuBLASLt's best
proposal. The second one prints the constants of skinny_costs.py: factors that are not negative,
with which the sum of squared relative errors is least, errors of slow forms counting less.
"""

from __future__ import annotations

import argparse
import json
import lzma
import random
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import variants
from raytracer.benchmark import operations, random_sizes
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.operations.base import relative_error
from raytracer.benchmark.products.choice import Choice, candidates
from raytracer.benchmark.products.layout import Problem
from raytracer.benchmark.products.measure import Bench
from raytracer.benchmark.products.skinny import MOST_ROWS, SkinnyTile
from raytracer.benchmark.products.skinny_costs import features
from raytracer.errors import RaytracerError
from raytracer.variants import TileRequest

MULTIPROCESSORS = 132  # of an H200, where a record does not say
STEPS = 4000  # of the descent
LATE = 12  # every so many forms are also timed without an early launch

Size = tuple[int, int, int]
Array = NDArray[np.float64]


def sizes(op: str, seeds: Sequence[int], aligned: int) -> list[Size]:
    """Return sizes: thin ones of the random draws, and multiples of 64 with few rows or columns."""
    found = operations.find(op)
    drawn = [each.axes for seed in seeds for each in random_sizes.draw(found, 200, seed)]
    thin = [(a["m"], a["n"], a["k"]) for a in drawn if min(a.values()) <= MOST_ROWS]
    draw = random.Random(11)
    for i in range(aligned):
        few = int(2 ** draw.uniform(0, 5))
        n, k = (int(2 ** draw.uniform(7, 13.3)) // 64 * 64 for _ in "nk")
        thin.append((few, n, k) if i % 4 else (n, few, k))
    draw.shuffle(thin)
    return list(dict.fromkeys(thin))


def forms(
    op: str, problem: Problem, multiprocessors: int = MULTIPROCESSORS
) -> Iterator[tuple[SkinnyTile, Choice]]:
    """Yield the forms of the last rung for a problem, on a device."""
    rung = [each for each in variants.discover(op) if any(t.form for t in each.tiles)][-1]
    requests: list[TileRequest] = [each for each in rung.tiles if each.form]
    for choice in candidates(problem, requests, True, multiprocessors, early=True):
        assert isinstance(choice.tile, SkinnyTile)
        yield choice.tile, choice


def described(tile: SkinnyTile, early: bool) -> list[Any]:
    """Return what tells a form from the others of a product."""
    return [tile.label, tile.swapped, tile.step_bits, tile.col_bits, tile.parts, early]


def measure(op: str, wanted: Sequence[Size]) -> dict[str, Any]:
    """Return a record: the seconds of the library and of all forms at each size."""
    records = []
    with Session() as session:
        many = session.multiprocessors
        most = max(max(m * n, m * k, n * k) for m, n, k in wanted)
        bench = Bench(session, op, "skinny", None, most)
        for size in wanted:
            axes = dict(zip("mnk", size, strict=True))
            problem, peer = bench.problem(axes), bench.peer(axes)
            peer()
            expected, rough = bench.result(axes), bench.rough(peer)
            rows = []
            for i, (tile, choice) in enumerate(forms(op, problem, many)):
                if not choice.early and i % LATE != 1:
                    continue
                launch = bench.kernel.bind(problem, choice)
                launch()
                error = relative_error(bench.result(axes), expected)
                if not error < (6e-3 if bench.size == 2 else 1e-4):
                    raise RaytracerError(f"{size}: {tile} is wrong by {error:.2g}")
                seconds = bench.seconds(launch, rough, samples=2)
                rows.append([*described(tile, choice.early), seconds])
            records.append({"size": size, "peer": bench.seconds(peer, rough), "rows": rows})
    return {"op": op, "multiprocessors": many, "sizes": records}


def read(made: dict[str, Any]) -> dict[str, tuple[Array, Array, Array]]:
    """Return counts, seconds and weights of each kind of kernel: skinny, direct 1x1, direct 4x4."""
    op, many = made["op"], made.get("multiprocessors", MULTIPROCESSORS)
    found = operations.find(op)
    rows: dict[str, list[tuple[tuple[float, ...], float, float]]] = {}
    for record in made["sizes"]:
        axes = dict(zip("mnk", record["size"], strict=True))
        problem = found.problem(axes, found.dtypes[-1], lambda _: 0)
        known = {tuple(described(tile, c.early)): (tile, c) for tile, c in forms(op, problem, many)}
        least = min((row[-1] for row in record["rows"]), default=0.0)
        for *what, seconds in record["rows"]:
            if tuple(what) not in known:
                continue
            tile, choice = known[tuple(what)]
            numbers = features(problem, tile, choice.units, many, choice.early)
            kind = tile.label if tile.is_direct else "skinny"
            rows.setdefault(kind, []).append((numbers, seconds * 1e6, least / seconds))
    return {
        kind: (np.array([f for f, *_ in each]), *np.array([r for _, *r in each]).T)
        for kind, each in rows.items()
    }


def fitted(counts: Array, times: Array, weights: Array) -> Array:
    """Return factors that are not negative, by coordinate descent on the squared errors."""
    scaled = counts * (weights / times)[:, None]
    gram, right = scaled.T @ scaled, scaled.T @ weights
    factors = np.zeros(len(right))
    for _ in range(STEPS):
        for i, own in enumerate(np.diag(gram)):
            if own > 0:
                factors[i] = max(0.0, factors[i] + (right[i] - gram[i] @ factors) / own)
    return factors


def report(made: dict[str, Any]) -> Iterator[str]:
    """Yield the fitted constants, and how far predictions are off."""
    for kind, (counts, times, weights) in read(made).items():
        factors = fitted(counts, times, weights)
        off = np.abs(np.log(counts @ factors / times)).mean()
        yield f"{kind}: {len(times)} times, mean error {off:.2f}"
        yield f"  ({', '.join(repr(float(f'{each:.3g}')) for each in factors)})"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, or print constants."""
    parser = argparse.ArgumentParser(prog="python -m raytracer.benchmark.products.fit_skinny")
    commands = parser.add_subparsers(dest="command", required=True)
    timing = commands.add_parser("measure", help="time all forms on a GPU")
    timing.add_argument("op", choices=["matmul", "matmul_bf16"])
    timing.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3], help="of the draws")
    timing.add_argument("--aligned", type=int, default=64, help="sizes of multiples of 64")
    timing.add_argument("-o", "--output", type=Path, required=True)
    fit = commands.add_parser("fit", help="print the constants")
    fit.add_argument("times", nargs="+", type=Path)
    options = parser.parse_args(arguments)
    if options.command == "measure":
        record = measure(options.op, sizes(options.op, options.seeds, options.aligned))
        options.output.write_text(json.dumps(record))
        return 0
    for path in options.times:
        data = path.read_bytes()
        made = json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
        print(made["op"], *report(made), sep="\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
