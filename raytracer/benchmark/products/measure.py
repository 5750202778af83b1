"""Times of all choices of a product at sizes drawn at random: what the model of waves is fitted on.

    python -m raytracer.benchmark.products.measure matmul_bf16 --count 200 --seed 1 -o times.json

Every size is one record: its axes, the time of cuBLASLt's best proposal, and a row for every tile
and division that was timed (raytracer/benchmark/products/fit.py reads them). Times are those of
replayed graphs, in seconds: the least of three samples, in two rounds over the choices.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from raytracer import variants
from raytracer.benchmark import cublaslt, operations, random_sizes
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.operations.base import bfloat16_bits, from_bfloat16, relative_error
from raytracer.benchmark.products.choice import Choice, candidates
from raytracer.benchmark.products.features import own_key
from raytracer.benchmark.products.kernel import ProductKernel
from raytracer.benchmark.products.layout import Problem
from raytracer.benchmark.products.tile import SimtTile, tile_of
from raytracer.errors import RaytracerError

VALUES = 4_194_301  # drawn; a prime number, so that rows do not repeat
SLOW, SLOWER = 2.0, 1.35  # times the fastest: not timed closely, not timed again
SAMPLE = 300e-6  # seconds of a replayed graph
LAUNCHES = 24  # of a graph, at most
CHECKED = 1 << 15  # values of C that are compared at its begin and at its end


class Bench:
    """Memory, a kernel and its peer on one GPU."""

    def __init__(self, session: Session, op: str, rung: str, root: Path | None, most: int) -> None:
        """Allocate matrices of `most` values each."""
        self.session, self.op = session, operations.find(op)
        self.dtype = self.op.dtypes[-1]
        self.size = 2 if op == "matmul_bf16" else 4
        found = [v for v in variants.discover(op, root) if v.tiles]
        self.variant = next(v for v in reversed(found) if v.name.startswith(rung))
        self.kernel = ProductKernel(session, self.variant, root)
        allocate = session.driver.mem_alloc
        self.memory = {name: allocate(most * self.size + 4096) for name in "abc"}
        self.workspace = allocate(cublaslt.WORKSPACE)
        rng = np.random.default_rng(7)
        values = rng.standard_normal(VALUES, np.float32)
        bits = bfloat16_bits(values) if self.size == 2 else values
        for name in "ab":
            at, end = int(self.memory[name]), int(self.memory[name]) + most * self.size
            while at < end:
                count = min(bits.nbytes, end - at)
                session.driver.memcpy_htod(at, np.ascontiguousarray(bits[: count // self.size]))
                at += bits.nbytes

    def problem(self, axes: dict[str, int]) -> Problem:
        """Return a problem in this memory."""
        return self.op.problem(axes, self.dtype, lambda name: int(self.memory[name]))

    def peer(self, axes: dict[str, int]) -> Callable[[], Any]:
        """Return cuBLASLt's best proposal."""
        a, b, c = (int(self.memory[name]) for name in "abc")
        types = ("bfloat16", "uint16") if self.size == 2 else ("float32", "float32")
        sizes = (axes["m"], axes["n"], axes["k"])
        product = cublaslt.Product(
            self.session, sizes, types, self.size == 2, (a, b, c, int(self.workspace))
        )
        return product.launch

    def result(self, axes: dict[str, int]) -> Any:
        """Return the first and the last values of C on the host."""
        self.session.wait()
        every = axes["m"] * axes["n"]
        values = np.empty((2, min(CHECKED, every)), np.uint16 if self.size == 2 else np.float32)
        for part, begin in zip(values, (0, every - values.shape[1]), strict=True):
            self.session.driver.memcpy_dtoh(part, int(self.memory["c"]) + begin * self.size)
        return from_bfloat16(values) if self.size == 2 else values

    def rough(self, launch: Callable[[], Any]) -> float:
        """Return seconds of a launch, timed once."""
        launch()
        return float(self.session.hot(launch, 2, 1))

    def seconds(self, launch: Callable[[], Any], estimate: float, samples: int = 3) -> float:
        """Return the least seconds of a launch in a replayed graph."""
        count = max(1, min(LAUNCHES, int(SAMPLE / estimate)))
        if count < 3:
            return float(min(self.session.hot(launch, count, 1) for _ in range(samples)))

        def work() -> None:
            for _ in range(count):
                launch()

        graph = self.session.captured(work)
        graph.launch()
        times = [self.session.hot(graph.launch, 1, 1) / count for _ in range(samples)]
        self.session.wait()
        return float(min(times))

    def choices(self, problem: Problem, most: int) -> list[Choice]:
        """Return the choices that the model expects to be fast, and every kind of tile once."""
        found = sorted(
            candidates(
                problem,
                [each for each in self.variant.tiles if not each.form],  # fit_skinny.py has those
                self.variant.schedule == "parts",
                self.session.multiprocessors,
                self.kernel.copies,
                bool(self.variant.start),
            ),
            key=lambda choice: choice.seconds,
        )
        least = found[0].seconds
        first = found[:most]
        kinds = {own_key(choice.tile) for choice in first}
        for choice in found[most:]:
            if own_key(choice.tile) not in kinds and choice.seconds < 2 * least:
                kinds.add(own_key(choice.tile))
                first.append(choice)
        return first


def clusters(bench: Bench) -> dict[str, int]:
    """Return how many clusters of each tile run at once."""
    problem = bench.problem(bench.op.resolve({"m": 256, "n": 256, "k": 256}))
    found = {}
    for request in (each for each in bench.variant.tiles if not each.form):
        tile = tile_of(request, problem)
        if tile.parts * tile.cluster > 1:
            try:
                found[tile.label] = bench.kernel.clusters_at_once(tile)
            except RaytracerError as error:
                print(tile.label, error, file=sys.stderr)
    return found


def described(choice: Choice) -> dict[str, Any]:
    """Return a choice as plain values."""
    tile, units = choice.tile, choice.units
    return {
        "tile": tile.label,
        "copied": list(tile.copied) if isinstance(tile, SimtTile) else None,
        "workers": units.workers,
        "split": units.split_tiles,
        "snap": units.snap,
        "early": choice.early,
    }


def measure(bench: Bench, axes: dict[str, int], most: int, until: float) -> dict[str, Any]:
    """Return the record of one size."""
    problem = bench.problem(axes)
    peer = bench.peer(axes)
    peer()
    expected = bench.result(axes)
    rough = bench.rough(peer)
    peers = [bench.seconds(peer, rough)]
    rows: list[tuple[Choice, Callable[[], Any], dict[str, Any]]] = []
    least, bad = rough, []
    for choice in bench.choices(problem, most):
        if time.monotonic() > until:
            break
        try:
            launch = bench.kernel.bind(problem, choice)
            estimate = bench.rough(launch)
            row = described(choice) | {"rough": estimate}
            if estimate < SLOW * least:
                error = relative_error(bench.result(axes), expected)
                if not error < (6e-3 if bench.size == 2 else 1e-4):
                    bad.append(row | {"error": float(error)})
                    continue
            least = min(least, estimate)
            if estimate < SLOW * least:
                row["seconds"] = bench.seconds(launch, estimate)
                rows.append((choice, launch, row))
        except RaytracerError as error:
            bad.append(described(choice) | {"failed": str(error)[:200]})
    fastest = min((row["seconds"] for *_, row in rows), default=0.0)
    for _, launch, row in rows:
        if row["seconds"] < SLOWER * fastest and time.monotonic() < until:
            row["again"] = bench.seconds(launch, row["seconds"])
    peers.append(bench.seconds(peer, rough))
    return {"peer": peers, "rows": [row for *_, row in rows], "bad": bad}


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and write a JSON file."""
    options = _parse(arguments)
    op = operations.find(options.op)
    drawn = random_sizes.draw(op, options.count, options.seed)
    order = np.random.default_rng(options.seed).permutation(len(drawn))
    limit = options.flop
    sizes = [
        drawn[i]
        for i in order
        if 2 * drawn[i].axes["m"] * drawn[i].axes["n"] * drawn[i].axes["k"] < limit
        and drawn[i].group in options.groups
    ]
    most = max((max(s.axes["m"] * s.axes["n"], s.axes["m"] * s.axes["k"], s.axes["n"] * s.axes["k"])
                for s in sizes), default=1)  # fmt: skip
    until = time.monotonic() + options.seconds
    records = []
    with Session() as session:
        bench = Bench(session, options.op, options.rung, options.kernels, most)
        device = session.describe()
        fitting = clusters(bench)
        print(fitting)
        for size in sizes:
            if time.monotonic() > until:
                break
            try:
                record = measure(bench, size.axes, options.choices, until)
            except RaytracerError as error:
                record = {"failed": str(error)[:200]}
            records.append({"group": size.group, **size.axes, **record})
    made = {"op": options.op, "rung": bench.variant.name, "seed": options.seed, "device": device,
            "clusters": fitting}  # fmt: skip
    options.output.write_text(json.dumps(made | {"sizes": records}))
    print(summary(records))
    return 0


def summary(records: Iterable[dict[str, Any]]) -> str:
    """Return one line: sizes, rows, wrong results, and the geometric mean of the best ratio."""
    timed = [record for record in records if record.get("rows")]
    ratios = [min(r["peer"]) / min(row["seconds"] for row in r["rows"]) for r in timed]
    mean = float(np.exp(np.mean(np.log(ratios)))) if ratios else 0.0
    rows, bad = (sum(len(r[key]) for r in timed) for key in ("rows", "bad"))
    return f"{len(timed)} sizes, {rows} times, {bad} bad; fastest choices {mean:.3f} of the peer"


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m raytracer.benchmark.products.measure")
    parser.add_argument("op", choices=["matmul", "matmul_bf16"])
    parser.add_argument("--rung", default="", help="start of its name; the last by default")
    parser.add_argument("--kernels", type=Path, help="folder of the kernels")
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=600.0, help="stop after")
    parser.add_argument("--choices", type=int, default=60, help="of a size, the best by the model")
    parser.add_argument("--flop", type=float, default=1e13, help="of a size, at most")
    parser.add_argument("--groups", nargs="+", default=[name for name, *_ in random_sizes.GROUPS])
    parser.add_argument("-o", "--output", type=Path, required=True)
    return parser.parse_args(arguments)


if __name__ == "__main__":
    sys.exit(main())
