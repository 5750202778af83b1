"""Predicted times of products: waves of tiles, with constants fitted on measurements.

    python -m raytracer.benchmark.products.measure matmul_bf16 --count 200 --seed 1 -o times.json
    python -m raytracer.benchmark.products.fit times.json

The second command writes constants.py. On another device only the proportions matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.benchmark.products import constants
from raytracer.benchmark.products.features import Features, features, own_key
from raytracer.benchmark.products.skinny import SkinnyTile
from raytracer.benchmark.products.skinny_costs import seconds_of
from raytracer.benchmark.products.tile import AnyTile, SimtTile

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raytracer.benchmark.products.layout import Problem
    from raytracer.benchmark.products.units import Units

US = 1e-6
SHARP = 8  # of two limits the larger counts; near their crossing a little more
OTHER_TILE = (1.0, 1.0)  # constants of a tile that was not measured


def predicted(
    problem: Problem,
    tile: AnyTile,
    units: Units,
    multiprocessors: int,
    early: bool = True,
) -> float:
    """Return the predicted seconds."""
    if isinstance(tile, SkinnyTile):
        return seconds_of(problem, tile, units, multiprocessors, early)
    f = features(problem, tile, units, early, multiprocessors)
    key = own_key(tile)
    if isinstance(tile, SimtTile):
        own = constants.SIMT_TILES.get(key, OTHER_TILE)
        return float(simt(f, constants.SIMT, *own)) * US
    own = constants.TENSOR_TILES.get(key, OTHER_TILE)
    return float(tensor(f, constants.TENSOR, *own)) * US


def larger(*values: Any) -> Any:
    """Return about the largest of some numbers or arrays."""
    return sum((value**SHARP for value in values), 0.0) ** (1 / SHARP)


def tensor(f: Features, c: Mapping[str, float], efficiency: Any, each: Any) -> Any:
    """Return microseconds of a product on the tensor cores.

    Args:
        f: numbers, or arrays of them.
        c: constants for all tiles.
        efficiency: of the tile: its rate of multiplication, relative to others.
        each: microseconds for first loads and last stores of a tile.
    """
    multiply = f.area * 128 / (c["rate"] * efficiency) * (1 + c["long"] * f.long)
    rate = c["l2"] * c["l2 shared"] ** f.sharers
    unaligned = c["l2 unaligned"] * c["l2 shared unaligned"] ** f.sharers
    rate = rate + (unaligned - rate) * f.unaligned
    load = f.traffic * (1 - c["idle load"] * f.idle) / rate
    step = larger(multiply, load, f.reads / c["shared"], c["shortest step"])
    step = step * (1 + c["crowded"] * f.crowded)
    in_parts = (f.cluster_parts > 0) * 1.0
    step = step * (1 + c["part step"] * in_parts * (f.cluster_parts - 1))
    tile = each + f.area * (c["tile area"] + c["tile ragged"] * f.ragged)
    seconds = c["launch"] - c["early"] * f.early + c["cluster"] * f.cluster + c["first"]
    seconds = seconds + f.steps * step + f.waves * tile
    seconds = seconds + in_parts * (c["exchange"] + c["exchange area"] * f.area)
    seconds = seconds + f.part_steps * step * c["split step"]
    split = c["split"] + f.area * (c["split area"] + c["split part"] * f.parts)
    seconds = seconds + f.split * (tile + split)
    seconds = seconds + f.copies * c["copy"] + f.copied / c["copy rate"]
    return larger(seconds, c["launch"] + f.moved / c["memory"])


def simt(f: Features, c: Mapping[str, float], efficiency: Any, each: Any) -> Any:
    """Return microseconds of a product by multiply-adds; arguments as for `tensor`."""
    unit = f.area * 8 / (c["rate"] * efficiency)  # a step of a block that has the multiprocessor
    in_parts = (f.cluster_parts > 0) * 1.0
    work = (f.steps + f.part_steps * c["split step"]) * f.sharing * unit
    waiting = (f.steps + f.part_steps) * c["shortest step"]
    # A warp that has its scheduler alone waits for its copies of single values.
    work = work * (1 + c["narrow"] * f.narrow / f.turns)
    work = (work**4 + waiting**4) ** 0.25
    seconds = c["launch"] - c["early"] * f.early + c["cluster"] * f.cluster
    seconds = seconds + work * (1 + c["crowded"] * f.crowded)
    store = c["tile area"] + c["tile scattered"] * f.scattered + c["tile exchanged"] * f.exchanged
    seconds = seconds + f.waves * (each + store * f.area * f.sharing)
    exchange = c["exchange"] + c["exchange area"] * f.area * f.sharing
    seconds = seconds + in_parts * (exchange + c["exchange part"] * f.cluster_parts)
    split = f.sharing * f.area * (c["split area"] + c["split part"] * f.parts)
    seconds = seconds + f.split * (each + c["split"] + split)
    seconds = seconds + f.copies * c["copy"] + f.copied / c["copy rate"]
    return larger(seconds, c["launch"] + f.moved / c["memory"])
