"""Kernels for skinny products: their forms, and the model that chooses one."""

from __future__ import annotations

import random
import struct
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.backends.cuda.sources import kernels_root
from raytracer.benchmark import operations
from raytracer.benchmark.products.model import Choice, proposals, skinny_candidates
from raytracer.benchmark.products.problem import Problem
from raytracer.benchmark.products.skinny import (
    SHARED,
    THREADS,
    SkinnyTile,
    every_macros,
    pitch_of,
    unroll_of,
)
from raytracer.compile_all import jobs

pytestmark = pytest.mark.slow

OPS = [("matmul", "float32"), ("matmul_bf16", "bfloat16"), ("matmul_bf16", "bfloat16_out")]
SIZES = [
    (1, 1, 1), (1, 50, 700), (3, 2, 333), (300, 5, 64), (9, 130, 257), (37, 17, 40), (64, 40, 96),
    (2, 1030, 31), (70, 90, 3), (3, 9, 20_480),
]  # fmt: skip


def problem(
    name: str, dtype: str, size: tuple[int, int, int], transposed: frozenset[str] = frozenset()
) -> Problem:
    place = {"a": 1 << 20, "b": 1 << 30, "c": 1 << 40}.__getitem__
    axes = dict(zip("mnk", size, strict=True))
    return operations.find(name).problem(axes, dtype, place, transposed)


def forms(given: Problem) -> list[Choice]:
    return list(skinny_candidates(given, 132))


def computed(choice: Choice, given: Problem, memory: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return C by the loops of the kernel over its argument; every value of C is written once."""
    tile = choice.tile
    assert isinstance(tile, SkinnyTile)
    packed = tile.arguments(given, choice.units)
    few, many = struct.unpack_from("<2Q", packed)
    few_row, few_step, many_step, many_col, c_row, c_col = struct.unpack_from("<6I", packed, 24)
    rows, cols, steps, across, parts, share, chunk = struct.unpack_from("<7i", packed, 48)
    (col_bits,) = struct.unpack_from("<i", packed, 80)
    result = np.full(given.m * given.n, np.nan)

    def value(row: int, col: int, k: NDArray[np.int64]) -> float:
        left = memory[few + row * few_row + k * few_step]
        return float(left @ memory[many + k * many_step + col * many_col])

    def write(row: int, col: int, total: float) -> None:
        if row < rows and col < cols:
            at = row * c_row + col * c_col
            assert np.isnan(result[at])
            result[at] = total

    def squares() -> Iterator[tuple[int, int]]:  # first row and column
        for block in range(choice.blocks // parts):
            yield block // across * tile.rows, block % across * (4 << col_bits)

    if tile.is_direct:
        for number in range(choice.blocks * THREADS):
            row0, col0 = number // across * tile.rows, number % across
            for r in range(tile.rows):
                for v in range(tile.cols):
                    row, col = row0 + r, col0 + v * across
                    if row < rows and col < cols:
                        write(row, col, value(row, col, np.arange(steps)))
        return result
    turn = THREADS >> col_bits
    stride, ahead = turn * tile.pack, unroll_of(tile.pack, tile.value_size)
    assert chunk >= share or chunk % (stride * ahead) == 0
    for row0, col0 in squares():
        for own_col in range(4 << col_bits):
            taken = []
            for part in range(parts):
                first, last = part * share, min(steps, (part + 1) * share)
                for begin in range(first, last, chunk):
                    end = min(last, begin + chunk)
                    assert (end - begin) * pitch_of(tile.rows, tile.pack) * 4 <= tile.shared
                    for own in range(turn):
                        starts = np.arange(begin + own * tile.pack, end, stride)
                        taken.append((starts[:, None] + np.arange(tile.pack)).ravel())
            every = np.concatenate(taken)
            assert (np.sort(every) == np.arange(steps)).all()
            for r in range(tile.rows):
                if row0 + r < rows and col0 + own_col < cols:
                    write(row0 + r, col0 + own_col, value(row0 + r, col0 + own_col, every))
    return result


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("layout", ["", "a", "b", "ab"])
@pytest.mark.parametrize(("name", "dtype"), OPS[::2])
def test_forms_cover_the_product(
    name: str, dtype: str, layout: str, size: tuple[int, int, int]
) -> None:
    given = problem(name, dtype, size, frozenset(layout))
    m, n, k = size
    generator = np.random.default_rng(m + n + k)
    memory = generator.integers(-3, 4, m * k + k * n).astype(np.float64)
    given = replace(
        given,
        a=replace(given.a, address=0),
        b=replace(given.b, address=m * k),
        c=replace(given.c, address=0),
    )
    stored_a = memory[: m * k].reshape(given.a.rows, given.a.cols)
    stored_b = memory[m * k :].reshape(given.b.rows, given.b.cols)
    a = stored_a.T if "a" in layout else stored_a
    b = stored_b if (name == "matmul") != ("b" in layout) else stored_b.T
    found = forms(given)
    assert found
    draw = random.Random(k)
    for choice in draw.sample(found, min(4, len(found))):
        result = computed(choice, given, memory).reshape(m, n)
        assert (result == a @ b).all(), choice


@pytest.mark.parametrize(("name", "dtype"), OPS)
def test_forms_fit_shared_memory_and_are_compiled_by_the_checks(name: str, dtype: str) -> None:
    draw, sizes = random.Random(4), (2 if dtype != "float32" else 4, 4 - 2 * dtype.endswith("out"))
    compiled = {tuple(sorted(each.items())) for each in every_macros(*sizes, sample=False)}
    root = kernels_root()
    assert compiled <= {job.macros for job in jobs(root, ["sm_90a"], every_size=True)}
    rows = [dict(job.macros) for job in jobs(root, ["sm_90a"]) if "any_size" in job.label]
    packed = {macros["SKINNY_ROWS"] for macros in rows if "PACK" in macros}
    assert packed == {"1", "16"}
    assert {macros.get("DIRECT_COLS") for macros in rows} == {None, "1", "4"}
    for _ in range(60):
        thin = int(2 ** draw.uniform(0, 6))
        m, n, k = draw.sample([thin, *(int(2 ** draw.uniform(0, 14)) for _ in "ab")], 3)
        for choice in forms(problem(name, dtype, (m, n, k))):
            tile = choice.tile
            assert isinstance(tile, SkinnyTile)
            assert tuple(sorted(tile.macros().items())) in compiled
            assert tile.shared <= SHARED
            assert choice.seconds > 0
            if not tile.is_direct:
                room = tile.chunk * pitch_of(tile.rows, tile.pack)
                sums = tile.turn * (tile.rows * tile.cols + 1)
                assert tile.shared >= 4 * max(room, sums * (tile.turn * tile.parts > 1))


def test_steps_are_loaded_together_where_they_lie_beside_each_other_and_are_aligned() -> None:
    def packs(dtype: str, size: tuple[int, int, int], shift: int = 0) -> set[int]:
        name = "matmul" if dtype == "float32" else "matmul_bf16"
        given = problem(name, dtype, size, frozenset("b" if name == "matmul" else ""))
        given = replace(given, b=replace(given.b, address=given.b.address + shift))
        tiles = [each.tile for each in forms(given)]
        skinny = [each for each in tiles if isinstance(each, SkinnyTile)]
        return {each.pack for each in skinny if each.step_bits and not each.swapped}

    assert packs("float32", (3, 4096, 4096)) == {4}
    assert packs("float32", (3, 4096, 4098)) == {1}
    assert packs("float32", (3, 4096, 4096), shift=4) == {1}
    assert packs("bfloat16", (3, 4096, 4096)) == {8}
    assert packs("bfloat16", (3, 4096, 4098)) == {2}
    assert packs("bfloat16", (3, 4096, 4099)) == {1}
    assert packs("bfloat16", (3, 4096, 4096), shift=4) == {2}
    assert packs("bfloat16", (12, 4096, 4096)) == {1, 8}  # in two blocks of six rows, or in one


@pytest.mark.parametrize(("name", "dtype"), OPS)
def test_each_kind_is_chosen_where_it_is_the_fastest(name: str, dtype: str) -> None:
    """As measured on an H200."""

    def kind(*size: int) -> str:
        m, n, k = size
        tile = proposals(problem(name, dtype, (m, n, k)), 132)[0].tile
        return tile.label.split()[0] if isinstance(tile, SkinnyTile) else "tile"

    assert kind(4096, 4096, 4096) == kind(1000, 777, 500) == "tile"
    assert kind(1, 4096, 4096) == kind(2, 4097, 8193) == kind(473, 2, 448) == "skinny"
    assert kind(8193, 2, 1) == kind(300, 200, 1) == "direct"


def test_matrices_of_more_than_32_bits_of_values_have_no_form() -> None:
    given = problem("matmul", "float32", (8, 4096, 4096))
    assert forms(given)
    wide = replace(given, b=replace(given.b, pitch=1 << 20))  # of 4096 rows
    assert forms(wide) == []


def test_threads_and_steps_are_counted_by_31_bits() -> None:
    def labels(*size: int) -> set[str]:
        m, n, k = size
        given = problem("matmul_bf16", "bfloat16_out", (m, n, k))
        return {choice.tile.label for choice in forms(given)}

    assert {"direct 1x1", "direct 4x4"} <= labels(2, 1_000_000_000, 1)
    many = labels(2, 1_100_000_000, 1)  # a thread for each value of C
    assert "direct 1x1" not in many
    assert {"direct 4x4", "skinny 2"} <= many
    assert labels(1, 1, (1 << 31) - 1) == set()
    assert labels(1, 1, 1 << 30)
