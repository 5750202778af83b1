"""The division of products among workers: every step once, borders where the kernels put them."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest

from raytracer.benchmark.products import Units
from raytracer.resources import kernels

CASES = [
    Units(1, 1, 1, 1),
    Units(3, 5, 7, 4),
    Units(3, 5, 7, 4, split_tiles=3, snap=2),
    Units(1, 2, 64, 132, split_tiles=2, snap=1),
    Units(1, 1, 5, 5, split_tiles=1),
    Units(16, 9, 40, 132, split_tiles=12, snap=4, band=4),
    Units(16, 9, 40, 66, split_tiles=12 + 66, snap=4, band=3),
    Units(2, 3, 1, 4, split_tiles=6, snap=1),
]


@pytest.mark.parametrize("units", CASES)
def test_every_step_of_every_tile_belongs_to_one_worker(units: Units) -> None:
    steps = [
        (unit.tile, step)
        for worker in range(units.workers)
        for unit in units.of(worker)
        for step in range(unit.first, unit.last)
    ]
    assert sorted(steps) == [
        (tile, step) for tile in range(units.tiles) for step in range(units.steps)
    ]


@pytest.mark.parametrize("units", CASES)
def test_only_the_first_unit_of_a_worker_begins_inside_of_a_tile(units: Units) -> None:
    # It is the one whose sums are handed over: a worker has one place for them.
    for worker in range(units.workers):
        assert all(unit.first == 0 for unit in list(units.of(worker))[1:])


@pytest.mark.parametrize("units", CASES)
def test_later_parts_of_a_tile_are_those_of_the_next_workers(units: Units) -> None:
    # as Units::for_later_parts of units.cuh finds them
    for worker in range(units.workers):
        for unit in units.of(worker):
            if unit.first > 0 or unit.last == units.steps:
                continue
            at, found, other = unit.tile * units.steps + unit.last, [], worker
            while at < (unit.tile + 1) * units.steps:
                other += 1
                after = min((unit.tile + 1) * units.steps, units.border(other + 1))
                if after > at:
                    found.append(other)
                at = max(at, after)
            wanted = [
                w
                for w in range(units.workers)
                if w != worker and any(u.tile == unit.tile for u in units.of(w))
            ]
            assert found == wanted


def test_no_part_is_shorter_than_the_snap() -> None:
    units = Units(1, 14, 50, 12, split_tiles=14, snap=4)
    parts = [unit for worker in range(12) for unit in units.of(worker)]
    assert min(unit.last - unit.first for unit in parts) >= 4


def test_workers_have_equal_shares() -> None:
    units = Units(10, 14, 64, 132, split_tiles=8 + 132, snap=1)
    shares = [sum(u.last - u.first for u in units.of(worker)) for worker in range(132)]
    assert max(shares) - min(shares) <= 1


def test_struct_has_the_fields_of_the_kernels() -> None:
    text = (Path(str(kernels())) / "ladders/matmul/units.cuh").read_text(encoding="utf-8")
    body = text[text.index("struct Units {") : text.index("// First step of a worker")]
    names = re.findall(r"\w+(?=[,;])", re.sub(r"//.*", "", body))
    units = Units(2, 3, 5, 7, 11, 13, 17)
    assert names == ["tile_rows", "tile_cols", "steps", "split_tiles", "snap", "band"]
    assert struct.unpack("<6i", units.packed()) == tuple(getattr(units, name) for name in names)
