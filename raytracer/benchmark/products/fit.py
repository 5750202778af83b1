"""Fits the constants of the model of waves (costs.py) to measured times, and writes constants.py.

    cd renders/records/products
    python -m raytracer.benchmark.products.fit {bf16-5,bf16-6,fp32-*}.json.xz

The files come from raytracer/benchmark/products/measure.py, compressed or not; earlier times of
bfloat16 are those of tensor maps that fetch 256 bytes into the L2 cache at a time. What counts is
the order of the choices of one size: errors are those of logarithms, less most of their mean over
the size, and weigh less the slower a choice is than the fastest. (Gauss-Newton with numeric
derivatives, damped.) Printed for every group of sizes: the geometric mean of the ratio to cuBLASLt
of what the model chooses, that of the fastest choices, which no model can exceed, and the share of
the latter.
"""

from __future__ import annotations

import argparse
import json
import lzma
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import variants
from raytracer.benchmark import operations
from raytracer.benchmark.products import constants, costs
from raytracer.benchmark.products.choice import band_of, starts
from raytracer.benchmark.products.features import Features, features, own_key
from raytracer.benchmark.products.layout import Problem
from raytracer.benchmark.products.tile import SimtTile, tile_of
from raytracer.benchmark.products.units import Units
from raytracer.variants import Variant
from raytracer.variants.header import parse_tiles

Array = NDArray[np.float64]

MULTIPROCESSORS = 132  # of the device that the times come from
NEAR, LEAST = 3.0, 0.03  # weights: exp(-NEAR (t / fastest - 1)) + LEAST
MEAN = 0.25  # of the mean error of a size, which no choice depends on
ROBUST = 0.1  # errors of logarithms above this weigh less
PRIOR = 0.02  # pull to the values before: constants that no time depends on stay
GROUP_WEIGHTS = {"any": 0.7, "thin": 0.2}
STEPS = 60


@dataclass
class Times:
    """Choices that were timed, all sizes behind each other.

    Attributes:
        features: arrays.
        keys: of the tiles' own constants.
        key: of each choice, a place in `keys`.
        size: of each choice, a place among the sizes.
        seconds: microseconds.
        peers: microseconds, of each size.
        groups: of each size.
        labels: of each choice, for messages.
    """

    features: Features
    keys: list[str]
    key: NDArray[np.int64]
    size: NDArray[np.int64]
    seconds: Array
    peers: Array
    groups: list[str]
    labels: list[str]

    @property
    def fastest(self) -> Array:
        """Microseconds of the fastest choice, of each size."""
        least = np.full(len(self.peers), np.inf)
        np.minimum.at(least, self.size, self.seconds)
        return least


def read(op: str, records: Sequence[dict[str, Any]]) -> Times:
    """Return the times of one operation, those of the tiles of its last rung."""
    rows, labels, groups = list[tuple[float, ...]](), list[str](), list[str]()
    peers = list[float]()
    keys: dict[str, int] = {}
    tiles = {str(tile) for tile in _last_rung(op).tiles}
    for record in records:
        if not record.get("rows"):
            continue
        found = operations.find(op)
        axes = {name: record[name] for name in "mnk"}
        problem = found.problem(axes, found.dtypes[-1], lambda _: 0)
        for row in record["rows"]:
            if row["tile"] not in tiles:
                continue
            tile, units = _choice(problem, row)
            if isinstance(tile, SimtTile) and _outdated(record, tile):
                continue
            if row["early"] and True not in starts(tile, units, MULTIPROCESSORS):
                continue
            key = keys.setdefault(own_key(tile), len(keys))
            numbers = features(problem, tile, units, row["early"], MULTIPROCESSORS)
            seconds = min(row["seconds"], row.get("again", np.inf))
            rows.append((*numbers, key, len(peers), seconds * 1e6))
            how = "early" if row["early"] else "late"
            labels.append(f"{row['tile']} {units.workers} {units.split_tiles} {how}")
        if not rows or rows[-1][-2] != len(peers):
            continue  # none of its times counts
        peers.append(min(record["peer"]) * 1e6)
        groups.append(f"{record['group']} ({axes['m']}, {axes['n']}, {axes['k']})")
    table = np.array(rows, np.float64).T
    *columns, key, size, seconds = table
    return Times(Features(*columns), list(keys), key.astype(int), size.astype(int), seconds,
                 np.array(peers), groups, labels)  # fmt: skip


def _outdated(record: dict[str, Any], tile: SimtTile) -> bool:
    """Whether a time is that of a kernel that has changed since."""
    if record["n"] % 4 == 0:
        return False
    # Whole tiles stored single values; narrow copies of few columns read one place many times.
    few = 0 < record["n"] % tile.cols < tile.cols // 2
    return (record.get("rung") != "rows_of_c" and tile.parts == 1) or (few and not tile.wide_b)


def _last_rung(op: str) -> Variant:
    return [each for each in variants.discover(op) if each.tiles][-1]


def _choice(problem: Problem, row: dict[str, Any]) -> tuple[Any, Units]:
    (request,) = parse_tiles(row["tile"], "times")
    tile = tile_of(request, problem)
    if isinstance(tile, SimtTile) and any(row["copied"] or ()):
        tile = tile.with_copies(problem)
    first = problem.swapped if tile.swapped else problem
    shape = -(-first.m // tile.cluster_rows), -(-first.n // tile.cluster_cols)
    steps = -(-problem.k // tile.depth)
    units = Units(*shape, steps, row["workers"], row["split"], row["snap"], band_of(tile))
    return tile, units


@dataclass
class Model:
    """Constants for all tiles, and two for each."""

    shared: dict[str, float]
    tiles: dict[str, tuple[float, float]]
    simt: bool

    def predict(self, times: Times) -> Array:
        """Return microseconds of every choice."""
        own = np.array([self.tiles.get(key, costs.OTHER_TILE) for key in times.keys])[times.key]
        formula = costs.simt if self.simt else costs.tensor
        return np.asarray(formula(times.features, self.shared, own[:, 0], own[:, 1]))

    def values(self, times: Times) -> Array:
        """Return the logarithms of all constants."""
        own = [x for key in times.keys for x in self.tiles.get(key, costs.OTHER_TILE)]
        return np.log([*self.shared.values(), *own])

    def with_values(self, logarithms: Array, times: Times) -> Model:
        """Return a model with other constants."""
        values = [float(value) for value in np.exp(logarithms)]
        own = iter(values[len(self.shared) :])
        tiles = dict(zip(times.keys, zip(own, own, strict=True), strict=True))
        return Model(dict(zip(self.shared, values, strict=False)), self.tiles | tiles, self.simt)


def fitted(model: Model, times: Times) -> Model:
    """Return the model with the constants that suit the times best."""
    weights = _weights(times)
    prior = values = model.values(times)
    damping = 1e-2

    def errors(at: Array) -> Array:
        raw = np.log(model.with_values(at, times).predict(times) / times.seconds)
        total = np.bincount(times.size, weights)
        mean = np.bincount(times.size, weights * raw) / total
        return np.asarray(raw - (1 - MEAN) * mean[times.size])

    def cost(at: Array) -> float:
        scaled = errors(at) / ROBUST
        robust = 2 * ROBUST**2 * (np.sqrt(1 + scaled**2) - 1)
        return float(weights @ robust + PRIOR * np.sum((at - prior) ** 2))

    now = cost(values)
    for _ in range(STEPS):
        error = errors(values)
        columns = [(errors(_moved(values, i)) - error) / DELTA for i in range(len(values))]
        slopes, scale = np.array(columns), weights / np.sqrt(1 + (error / ROBUST) ** 2)
        curvature = (slopes * scale) @ slopes.T + PRIOR * np.eye(len(values))
        slope = slopes @ (scale * error) + PRIOR * (values - prior)
        for _ in range(8):
            damped = curvature + damping * np.diag(np.diag(curvature))
            step = np.clip(-np.linalg.solve(damped, slope), -0.5, 0.5)
            then = cost(values + step)
            if then < now:
                break
            damping *= 4
        if then >= now * (1 - 1e-6):
            break
        values, now, damping = values + step, then, max(damping / 3, 1e-6)
    return model.with_values(values, times)


DELTA = 1e-4


def _moved(values: Array, place: int) -> Array:
    moved = values.copy()
    moved[place] += DELTA
    return moved


def _weights(times: Times) -> Array:
    slower = times.seconds / times.fastest[times.size] - 1
    of_group = [GROUP_WEIGHTS.get(group.split(" (")[0], 1.0) for group in times.groups]
    return np.asarray((np.exp(-NEAR * slower) + LEAST) * np.array(of_group)[times.size])


def report(model: Model, times: Times, worst: int = 0) -> Iterator[str]:
    """Yield lines for all groups, then those of the sizes with the worst choices."""
    predicted = model.predict(times)
    chosen, best = [], []
    for size in range(len(times.peers)):
        places = np.flatnonzero(times.size == size)
        chosen.append(places[np.argmin(predicted[places])])
        best.append(places[np.argmin(times.seconds[places])])
    ratios = times.peers / times.seconds[chosen]
    bounds = times.peers / times.seconds[best]
    names = np.array([group.split(" (")[0] for group in times.groups])
    for name in dict.fromkeys(names):
        mine, bound = ratios[names == name], bounds[names == name]
        yield (
            f"{name:16} {len(mine):4} sizes: chosen {_mean(mine):.3f} of the peer, 10% below "
            f"{np.quantile(mine, 0.1):.2f}, worst {mine.min():.2f}; fastest {_mean(bound):.3f}, "
            f"10% below {np.quantile(bound, 0.1):.2f}, worst {bound.min():.2f}; share "
            f"{_mean(mine / bound):.3f}"
        )
    for size in np.argsort(ratios / bounds)[:worst]:
        c, b = chosen[size], best[size]
        yield (
            f"  {times.groups[size]}: peer {times.peers[size]:.1f}, chose {times.labels[c]} "
            f"{times.seconds[c]:.1f} (predicted {predicted[c]:.1f}), fastest {times.labels[b]} "
            f"{times.seconds[b]:.1f} ({predicted[b]:.1f})"
        )


def _mean(values: Array) -> float:
    return float(np.exp(np.mean(np.log(values))))


def source(models: dict[str, Model]) -> str:
    """Return the text of constants.py."""
    text = [
        '"""Constants of the model of waves (costs.py): microseconds, and rates in their units.',
        "",
        "Made by raytracer/benchmark/products/fit.py; do not edit.",
        '"""',
        "",
    ]
    for name, model in models.items():
        text.append(f"{name} = {{")
        text += [f'    "{key}": {_short(value)},' for key, value in model.shared.items()]
        text += ["}", f"{name}_TILES = {{"]
        text += [
            f'    "{key}": ({_short(one)}, {_short(two)}),'
            for key, (one, two) in sorted(model.tiles.items(), key=lambda item: _order(item[0]))
        ]
        text.append("}")
    return "\n".join(text) + "\n"


def _order(key: str) -> tuple[list[int], str]:
    return [int(number) for number in re.findall(r"\d+", key)], key


def _short(value: float) -> str:
    return repr(float(f"{value:.4g}"))


def main(arguments: Sequence[str] | None = None) -> int:
    """Fit, report, and write the constants."""
    parser = argparse.ArgumentParser(prog="python -m raytracer.benchmark.products.fit")
    parser.add_argument("times", nargs="+", type=Path)
    parser.add_argument("--worst", type=int, default=0, help="sizes to list")
    parser.add_argument("--only", action="store_true", help="report, without a fit")
    parser.add_argument("-o", "--output", type=Path, help="constants.py")
    options = parser.parse_args(arguments)
    models = {
        "TENSOR": Model(constants.TENSOR, constants.TENSOR_TILES, simt=False),
        "SIMT": Model(constants.SIMT, constants.SIMT_TILES, simt=True),
    }
    records: dict[str, list[dict[str, Any]]] = {}
    for path in options.times:
        data = path.read_bytes()
        made = json.loads(lzma.decompress(data) if path.suffix == ".xz" else data)
        sizes = [{**size, "rung": made.get("rung", "")} for size in made["sizes"]]
        records.setdefault(made["op"], []).extend(sizes)
    for op, sizes in records.items():
        name = "SIMT" if op == "matmul" else "TENSOR"
        times = read(op, sizes)
        print(f"{op}: {len(times.peers)} sizes, {len(times.seconds)} times; the constants before:")
        print(*report(models[name], times), sep="\n")
        if not options.only:
            models[name] = fitted(models[name], times)
            print("fitted:")
            print(*report(models[name], times, options.worst), sep="\n")
    if options.output:
        options.output.write_text(source(models))
    return 0


if __name__ == "__main__":
    sys.exit(main())
