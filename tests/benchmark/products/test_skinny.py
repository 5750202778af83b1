"""Kernels for skinny products: their forms, and the model that chooses one."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from raytracer.backends.cuda.sources import kernels_root
from raytracer.benchmark import operations
from raytracer.benchmark.products.model import Choice, skinny_candidates
from raytracer.benchmark.products.problem import Problem
from raytracer.benchmark.products.skinny import (
    SHARED,
    SkinnyTile,
    every_macros,
    pitch_of,
)
from raytracer.compile_all import jobs

pytestmark = pytest.mark.slow

OPS = [("matmul", "float32"), ("matmul_bf16", "bfloat16"), ("matmul_bf16", "bfloat16_out")]


def problem(
    name: str, dtype: str, size: tuple[int, int, int], transposed: frozenset[str] = frozenset()
) -> Problem:
    place = {"a": 1 << 20, "b": 1 << 30, "c": 1 << 40}.__getitem__
    axes = dict(zip("mnk", size, strict=True))
    return operations.find(name).problem(axes, dtype, place, transposed)


def forms(given: Problem) -> list[Choice]:
    return list(skinny_candidates(given, 132))


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
