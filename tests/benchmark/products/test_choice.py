"""Tiles and the model of waves that chooses among them."""

from __future__ import annotations

import json
import lzma
import random
from pathlib import Path

import pytest

from raytracer import variants
from raytracer.benchmark.operations import find
from raytracer.benchmark.products import Problem, Units, choose
from raytracer.benchmark.products.choice import MOST_PARTS, candidates, proposals
from raytracer.benchmark.products.features import clusters_at_once, starts_early
from raytracer.benchmark.products.skinny import SkinnyTile
from raytracer.benchmark.products.tile import (
    CHUNK,
    SHARED_LIMIT,
    SIMT_SHAPES,
    SimtTile,
    TensorTile,
    tile_of,
)
from raytracer.variants import TileRequest, Variant, VariantError
from raytracer.variants.header import parse_tiles

OPS = [("matmul", "float32"), ("matmul_bf16", "bfloat16"), ("matmul_bf16", "bfloat16_out")]
RUNGS = [
    (each, dtype)
    for name, dtype in OPS
    for each in variants.discover(name)
    if each.tiles and each.supports(dtype)
]


def problem(name: str, dtype: str, m: int, n: int, k: int, base: int = 0) -> Problem:
    return find(name).problem({"m": m, "n": n, "k": k}, dtype, lambda _: base)


@pytest.mark.parametrize(("rung", "dtype"), RUNGS)
def test_every_candidate_covers_c_and_fits_the_device(rung: Variant, dtype: str) -> None:
    draw = random.Random(1)
    for _ in range(20):
        m, n, k = (int(2 ** draw.uniform(0, 15)) for _ in range(3))
        given = problem(rung.op, dtype, m, n, k)
        for choice in candidates(given, rung.tiles, rung.schedule == "parts", 132):
            tile, units = choice.tile, choice.units
            rows, cols = (n, m) if tile.swapped else (m, n)
            assert units.tile_rows * tile.cluster_rows >= rows
            assert units.tile_cols * tile.cluster_cols >= cols
            assert units.steps * tile.depth >= k
            assert choice.blocks > 0
            # Clusters that divide a tile wait for no other one, so that any number may run.
            most = 132 * tile.per_multiprocessor
            assert choice.blocks <= most or tile.parts > 1 or isinstance(tile, SkinnyTile)
            assert units.split_tiles <= units.tiles
            assert units.workers <= max(units.tiles, MOST_PARTS * units.split_tiles)
            assert choice.seconds > 0


@pytest.mark.parametrize(("rung", "dtype"), RUNGS)
def test_tiles_of_the_header_fit_into_shared_memory(rung: Variant, dtype: str) -> None:
    for request in (each for each in rung.tiles if not each.form):
        tile = tile_of(request, problem(rung.op, dtype, 4096, 4096, 4096))
        assert tile.shared <= SHARED_LIMIT // tile.per_multiprocessor
        assert tile.threads * tile.per_multiprocessor <= 2048
        if isinstance(tile, TensorTile):
            assert tile.groups * tile.blocks * 64 == tile.rows * (2 if request.turns else 1)
            assert tile.stages >= 3
            rows, cols = tile.stored
            assert rows * cols * tile.c_size == CHUNK
            assert tile.cols >= (rows if tile.swapped else cols)
            assert tile.box_cols % 8 == 0  # swizzled in groups of eight
            assert tile.box_cols <= tile.cols <= tile.box_cols * request.cluster
            assert tile.box_cols - tile.cols / request.cluster < 8
            assert tile.rows % (8 * request.across) == 0


@pytest.mark.parametrize("op", ["matmul", "matmul_bf16"])
def test_the_rung_that_times_proposals_has_the_kernels_of_the_rung_before(op: str) -> None:
    """`compile_all` compiles one of them, and for the rung before all kinds."""
    before, timed = variants.discover(op)[-2:]
    assert int(timed.proposals) > 1 == int(before.proposals)
    assert timed.tiles == before.tiles
    assert _code(timed) == _code(before)


def _code(rung: Variant) -> list[str]:
    return [line for line in rung.code.splitlines() if not line.startswith("//")]


def test_widths_of_a_header_are_tiles_of_their_own() -> None:
    found = parse_tiles("128x64..96 by 16 cluster 2 swapped, 64x64 cluster 2x2", "a test")
    assert [str(each) for each in found] == [
        *(f"128x{width} cluster 2 swapped" for width in (64, 80, 96)),
        "64x64 cluster 2x2",
    ]
    with pytest.raises(VariantError, match="several widths like"):
        parse_tiles("64x64..128", "a test")


def test_a_swapped_tile_computes_the_transpose_of_c() -> None:
    given = problem("matmul_bf16", "bfloat16_out", 256, 8192, 512)
    other = given.swapped
    assert (other.m, other.n, other.k) == (8192, 256, 512)
    assert (other.a, other.b, other.c) == (given.b, given.a, given.c)
    plain, swapped = TileRequest(128, 256), TileRequest(128, 256, swapped=True)
    (first,) = proposals(given, [plain], False, 132)
    (turned,) = proposals(other, [swapped], False, 132)
    assert (first.units.tile_rows, first.units.tile_cols) == (2, 32)
    assert first.units == turned.units
    assert turned.tile.macros()["SWAPPED"] == "1"
    assert "SWAPPED" not in first.tile.macros()


def test_clusters_of_four_run_where_they_fit() -> None:
    given = problem("matmul_bf16", "bfloat16_out", 8192, 8192, 512)
    (choice,) = proposals(given, [TileRequest(64, 128, 2, across=2)], False, 132)
    assert choice.tile.cluster == 4
    assert choice.units.workers <= 30  # the driver's cuOccupancyMaxActiveClusters
    assert choice.tile.macros()["ACROSS"] == choice.tile.macros()["CLUSTER"] == "2"


def test_proposals_are_distinct_and_in_order() -> None:
    rung = variants.discover("matmul_bf16")[-1]
    given = problem("matmul_bf16", "bfloat16_out", 1408, 1344, 12288)
    found = proposals(given, rung.tiles, True, 132, True, True, 8)
    assert len(set(found)) == len(found) == 8
    assert [each.seconds for each in found] == sorted(each.seconds for each in found)
    assert found[0] == choose(given, rung.tiles, True, 132, True, True)


def test_parts_are_taken_where_whole_tiles_leave_most_multiprocessors_idle() -> None:
    thin = problem("matmul_bf16", "bfloat16_out", 256, 512, 16384)
    choice = choose(thin, [TileRequest(128, 256)], True, 132)
    assert choice.units.split_tiles == choice.units.tiles == 4
    assert choice.blocks > 4
    even = problem("matmul_bf16", "bfloat16_out", 128 * 132, 256, 4096)
    assert choose(even, [TileRequest(128, 256)], True, 132).units.split_tiles == 0


def test_places_of_clusters_are_those_that_the_driver_told() -> None:
    path = Path(__file__).parents[3] / "renders/records/products/fp32-2.json.xz"
    told = json.loads(lzma.decompress(path.read_bytes()))["clusters"]
    assert len(told) == 19
    given = problem("matmul", "float32", 256, 256, 256)
    for name, clusters in told.items():
        (request,) = parse_tiles(name, "record")
        tile = tile_of(request, given)
        assert clusters_at_once(tile.parts, tile.per_multiprocessor, 132) == clusters, name


def test_a_cluster_more_than_fits_takes_another_turn() -> None:
    tiles = [TileRequest(128, 128, parts=6)]
    times = {}
    for rows in (17, 18):  # tiles, one below the other; 17 clusters of 6 fit beside each other
        given = problem("matmul", "float32", 128 * rows, 128, 8192)
        times[rows] = choose(given, tiles, True, 132).seconds
    assert times[18] > 1.6 * times[17]


def test_few_tiles_are_divided_among_as_many_workers_on_each_multiprocessor() -> None:
    given = problem("matmul", "float32", 576, 256, 14720)  # 36 tiles
    workers = {
        choice.units.workers
        for choice in candidates(given, [TileRequest(64, 64)], True, 132)
        if choice.units.snap > 1
    }
    assert workers == {132, 264, 396, 528}  # not 792, more than 16 for a tile


def test_a_cluster_for_each_tile_divides_k() -> None:
    small = problem("matmul_bf16", "bfloat16_out", 256, 256, 8192)
    choice = choose(small, [TileRequest(64, 64), TileRequest(64, 64, parts=8)], False, 132)
    assert choice.tile.parts == 8
    assert choice.blocks == 16 * 8
    assert choice.tile.macros()["PARTS"] == "8"
    short = problem("matmul_bf16", "bfloat16_out", 256, 256, 64)  # one step
    assert list(candidates(short, [TileRequest(64, 64, parts=2)], True, 132)) == []


def test_parts_of_multiply_adds_take_the_place_of_the_stages() -> None:
    small = problem("matmul", "float32", 256, 512, 448)
    choice = choose(small, [TileRequest(64, 64), TileRequest(64, 64, parts=7)], False, 132)
    assert choice.tile.parts == 7
    assert choice.blocks == 4 * 8 * 7
    assert choice.tile.macros()["PARTS"] == "7"
    tile = tile_of(TileRequest(128, 256, parts=2), small)
    assert tile.shared == 128 * 256 * 4  # all sums of the tile, more than the stages


@pytest.mark.parametrize(
    ("request_", "workers", "early"),
    [
        (TileRequest(128, 256), 132, True),  # all multiprocessors
        (TileRequest(128, 256), 66, True),  # the next launch fits beside this one
        (TileRequest(128, 256), 90, False),
        (TileRequest(128, 128, cluster=2), 60, False),
        (TileRequest(128, 128, cluster=2), 66, True),
        (TileRequest(64, 64, parts=4), 20, False),
        (TileRequest(64, 64, parts=4), 30, True),
    ],
)
def test_launches_are_early_where_their_blocks_lie_evenly(
    request_: TileRequest, workers: int, early: bool
) -> None:
    tile = tile_of(request_, problem("matmul_bf16", "bfloat16_out", 4096, 4096, 4096))
    assert starts_early(tile, Units(1, workers, 8, workers), 132) == early


def test_multiply_adds_start_early_only_by_that_rule() -> None:
    few = problem("matmul", "float32", 512, 512, 512)
    tiles = [TileRequest(64, 64), TileRequest(128, 128, parts=4)]
    found = list(candidates(few, tiles, True, 132, early=True))
    assert {choice.early for choice in found} == {False, True}
    assert all(choice.early == starts_early(choice.tile, choice.units, 132) for choice in found)
    many = problem("matmul", "float32", 4096, 4096, 512)
    assert choose(many, tiles, True, 132, early=True).early
    assert not choose(many, tiles, True, 132).early


def test_operands_are_copied_to_aligned_rows_where_that_pays() -> None:
    tiles = [TileRequest(128, 256)]
    large = problem("matmul", "float32", 4096, 4095, 4096)
    alone = choose(large, tiles, True, 132)
    copied = choose(large, tiles, True, 132, copies=True)
    assert isinstance(alone.tile, SimtTile)
    assert isinstance(copied.tile, SimtTile)
    assert (alone.tile.wide_b, copied.tile.wide_b) == (False, True)
    assert copied.tile.copied == (False, True)
    assert copied.seconds < alone.seconds
    few = choose(problem("matmul", "float32", 8, 4095, 4096), tiles, True, 132, copies=True)
    assert isinstance(few.tile, SimtTile)
    assert few.tile.copied == (False, False)
    aligned = choose(problem("matmul", "float32", 64, 64, 64), tiles, True, 132, copies=True)
    assert isinstance(aligned.tile, SimtTile)
    assert aligned.tile.copied == (False, False)


def test_wide_copies_need_aligned_rows_along_the_tile() -> None:
    request = TileRequest(128, 128)
    macros = tile_of(request, problem("matmul", "float32", 64, 64, 64)).macros()
    assert (macros["WIDE_A"], macros["WIDE_B"]) == ("0", "1")
    assert tile_of(request, problem("matmul", "float32", 64, 63, 64)).macros()["WIDE_B"] == "0"
    moved = problem("matmul", "float32", 64, 64, 64, base=4)
    assert tile_of(request, moved).macros()["WIDE_B"] == "0"
    assert "UNALIGNED_C" not in tile_of(request, problem("matmul", "float32", 64, 64, 63)).macros()
    assert tile_of(request, moved).macros()["UNALIGNED_C"] == "1"
    both = find("matmul").problem(
        {"m": 64, "n": 64, "k": 64}, "float32", lambda _: 0, frozenset("ab")
    )
    macros = tile_of(request, both).macros()
    assert [macros[name] for name in ("ALONG_M", "ALONG_K", "WIDE_A", "WIDE_B")] == list("1110")


def test_shapes_have_the_rows_and_columns_that_their_warps_cover() -> None:
    for (rows, cols), (warp_rows, warp_cols, groups, _) in SIMT_SHAPES.items():
        assert (rows, cols) == (64 * warp_rows, 16 * groups * warp_cols)


def test_rows_that_are_not_aligned_are_told_from_those_that_are() -> None:
    given = problem("matmul_bf16", "bfloat16", 5, 6, 9)
    assert not given.a.aligned
    assert given.a.aligned_pitch == 16
    assert given.a.moved(512).aligned
    assert problem("matmul_bf16", "bfloat16", 5, 6, 16).b.aligned
