"""Kernels for skinny products: their forms, and the model that chooses one."""

from __future__ import annotations

import json
import lzma
import random
import struct
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import variants
from raytracer.backends.cuda.sources import kernels_root
from raytracer.benchmark import operations
from raytracer.benchmark.products import Problem, choose, fit_skinny, skinny_costs
from raytracer.benchmark.products.choice import Choice, candidates
from raytracer.benchmark.products.skinny import (
    SHARED,
    THREADS,
    SkinnyTile,
    every_macros,
    pitch_of,
    unroll_of,
)
from raytracer.compile_all import jobs
from raytracer.variants import Variant, VariantError
from raytracer.variants.header import parse_tiles

OPS = [("matmul", "float32"), ("matmul_bf16", "bfloat16"), ("matmul_bf16", "bfloat16_out")]
RECORDS = Path(__file__).parents[3] / "renders/records/skinny"
SIZES = [
    (1, 1, 1), (1, 50, 700), (3, 2, 333), (300, 5, 64), (9, 130, 257), (37, 17, 40), (64, 40, 96),
    (2, 1030, 31), (70, 90, 3), (3, 9, 20_480),
]  # fmt: skip


def rung(name: str) -> Variant:
    return next(each for each in variants.discover(name) if each.name == "skinny")


def problem(
    name: str, dtype: str, size: tuple[int, int, int], transposed: frozenset[str] = frozenset()
) -> Problem:
    place = {"a": 1 << 20, "b": 1 << 30, "c": 1 << 40}.__getitem__
    axes = dict(zip("mnk", size, strict=True))
    return operations.find(name).problem(axes, dtype, place, transposed)


def forms(name: str, given: Problem) -> list[Choice]:
    requests = [each for each in rung(name).tiles if each.form]
    return list(candidates(given, requests, True, 132, early=True))


def test_requests_of_a_header() -> None:
    found = parse_tiles("skinny 1..3, skinny 16, direct 4x4, 64x64", "a test")
    labels = ["skinny 1", "skinny 2", "skinny 3", "skinny 16", "direct 4x4", "64x64"]
    assert [str(each) for each in found] == labels
    assert [each.form for each in found] == ["skinny"] * 4 + ["direct", ""]
    wrong = ("skinny", "skinny x", "skinny 0", "skinny 17", "skinny 5..2", "direct 4", "direct 2x2")
    for entry in (*wrong, "direct 0x4", "direct 4x1"):
        with pytest.raises(VariantError, match="is not a kernel for skinny products: write"):
            parse_tiles(entry, "a test")


def test_a_rung_with_these_kernels_is_launched_early(tmp_path: Path) -> None:
    """By the driver, which takes the blocks of a cluster as an attribute."""
    path = tmp_path / "01_few.cu"
    text = rung("matmul").path.read_text(encoding="utf-8")
    path.write_text(text)
    assert variants.read("matmul", path).start == "early"
    path.write_text(text.replace("// start: early\n", ""))
    with pytest.raises(VariantError, match=r"01_few.cu: kernels for skinny products need"):
        variants.read("matmul", path)


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
    found = forms(name, given)
    assert found
    draw = random.Random(k)
    for choice in draw.sample(found, min(4, len(found))):
        result = computed(choice, given, memory).reshape(m, n)
        assert (result == a @ b).all(), choice


@pytest.mark.parametrize(("name", "dtype"), OPS)
def test_forms_fit_shared_memory_and_are_compiled_by_the_checks(name: str, dtype: str) -> None:
    draw, variant = random.Random(4), rung(name)
    compiled = {
        tuple(sorted(macros.items()))
        for request in variant.tiles
        if request.form
        for macros in every_macros(
            request, 2 if dtype != "float32" else 4, 4 - 2 * dtype.endswith("out")
        )
    }
    every = {job.macros for job in jobs(kernels_root(), ["sm_90a"], every_size=True)
             if job.kernel.place == variant.place}  # fmt: skip
    assert compiled <= every
    some = {
        job.macros for job in jobs(kernels_root(), ["sm_90a"]) if job.kernel.place == variant.place
    }
    rows = [macros for macros in map(dict, some) if "SKINNY_ROWS" in macros]
    assert {macros["SKINNY_ROWS"] for macros in rows if "PACK" in macros} == {"1", "16"}
    assert {macros.get("DIRECT_COLS") for macros in rows} == {None, "1", "4"}
    for _ in range(60):
        thin = int(2 ** draw.uniform(0, 6))
        m, n, k = draw.sample([thin, *(int(2 ** draw.uniform(0, 14)) for _ in "ab")], 3)
        for choice in forms(name, problem(name, dtype, (m, n, k))):
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
        tiles = [each.tile for each in forms(name, given)]
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
        choice = choose(problem(name, dtype, (m, n, k)), rung(name).tiles, True, 132, True, True)
        tile = choice.tile
        return tile.request.form if isinstance(tile, SkinnyTile) else "tile"

    assert kind(4096, 4096, 4096) == kind(1000, 777, 500) == "tile"
    assert kind(1, 4096, 4096) == kind(2, 4097, 8193) == kind(473, 2, 448) == "skinny"
    assert kind(8193, 2, 1) == kind(300, 200, 1) == "direct"


def test_matrices_of_more_than_32_bits_of_values_have_no_form() -> None:
    given = problem("matmul", "float32", (8, 4096, 4096))
    assert forms("matmul", given)
    wide = replace(given, b=replace(given.b, pitch=1 << 20))  # of 4096 rows
    assert forms("matmul", wide) == []


def test_threads_and_steps_are_counted_by_31_bits() -> None:
    def labels(*size: int) -> set[str]:
        m, n, k = size
        given = problem("matmul_bf16", "bfloat16_out", (m, n, k))
        return {choice.tile.label for choice in forms("matmul_bf16", given)}

    assert {"direct 1x1", "direct 4x4"} <= labels(2, 1_000_000_000, 1)
    many = labels(2, 1_100_000_000, 1)  # a thread for each value of C
    assert "direct 1x1" not in many
    assert {"direct 4x4", "skinny 2"} <= many
    assert labels(1, 1, (1 << 31) - 1) == set()
    assert labels(1, 1, 1 << 30)


@pytest.mark.parametrize("name", ["fp32", "bf16"])
def test_the_model_chooses_forms_near_the_fastest_that_was_measured(name: str) -> None:
    path = RECORDS / f"{name}.json.xz"
    made: dict[str, Any] = json.loads(lzma.decompress(path.read_bytes()))
    found = operations.find(made["op"])
    # Some sizes were timed twice, the second time with more forms.
    fullest = {
        tuple(each["size"]): each for each in sorted(made["sizes"], key=lambda e: len(e["rows"]))
    }
    shares = []
    for record in fullest.values():
        axes = dict(zip("mnk", record["size"], strict=True))
        given = found.problem(axes, found.dtypes[-1], lambda _: 0)
        seconds = {tuple(what): each for *what, each in record["rows"]}
        expected = {
            key: choice.seconds
            for tile, choice in fit_skinny.forms(made["op"], given)
            if (key := tuple(fit_skinny.described(tile, choice.early))) in seconds
        }
        chosen = min(expected, key=expected.__getitem__)
        shares.append(min(map(seconds.__getitem__, expected)) / seconds[chosen])
    assert len(shares) > 150
    assert np.exp(np.mean(np.log(shares))) > 0.92
    assert min(shares) > 0.4


@pytest.mark.parametrize("name", ["matmul", "matmul_bf16"])
def test_a_fit_finds_the_factors_that_times_were_made_with(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    records = []
    for size in fit_skinny.sizes(name, [5], 8)[:24]:
        given = operations.find(name).problem(
            dict(zip("mnk", size, strict=True)), "float32" if name == "matmul" else "bfloat16_out",
            lambda _: 0,
        )  # fmt: skip
        rows = [
            [*fit_skinny.described(tile, choice.early), choice.seconds]
            for tile, choice in fit_skinny.forms(name, given)
        ]
        records.append({"size": size, "peer": 1e-5, "rows": rows})
    made = {"op": name, "sizes": records}
    counts, times, weights = fit_skinny.read(made)["skinny"]
    factors = fit_skinny.fitted(counts, times, weights)
    assert (factors >= 0).all()
    assert np.abs(counts @ factors / times - 1).mean() < 0.01
    wanted = skinny_costs.SKINNY[4 if name == "matmul" else 2]
    assert factors[0] == pytest.approx(wanted[0], rel=0.2)  # the launch
    path = tmp_path / "times.json"
    path.write_text(json.dumps(made))
    assert fit_skinny.main(["fit", str(path)]) == 0
    assert "direct 1x1" in capsys.readouterr().out
