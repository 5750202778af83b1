"""The matrix products: references, bfloat16 rounding, and the layouts the kernels count on."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest

from raytracer import variants
from raytracer.benchmark.operations import base, find

BANKS, BANK_BYTES = 32, 4
KERNELS = ["matmul", "matmul_bf16"]


def swizzled(row: int, chunk: int) -> int:
    """Byte offset in a tile of rows of 128 bytes: kernels/ladders/matmul_bf16/tile.cuh."""
    return row * 128 + ((chunk ^ (row & 7)) << 4)


def swizzle_128(address: int) -> int:
    """The hardware's 128-byte swizzle: address bits 4..6 XOR bits 7..9."""
    return address ^ (address >> 7 & 7) << 4


def swizzle_64(address: int) -> int:
    """The hardware's 64-byte swizzle: address bits 4..5 XOR bits 7..8."""
    return address ^ (address >> 7 & 3) << 4


def banks(address: int, size: int) -> set[int]:
    """The shared-memory banks of some bytes."""
    return {(address + i) // BANK_BYTES % BANKS for i in range(0, size, BANK_BYTES)}


@pytest.mark.parametrize("name", KERNELS)
def test_reference_is_the_sum_of_products(name: str) -> None:
    op = find(name)
    axes = {"m": 3, "n": 4, "k": 5}
    inputs = op.inputs(axes, op.dtypes[0], "normal", 1)
    a, b = inputs["a"], inputs["b"]
    if name == "matmul_bf16":
        a, b = base.from_bfloat16(a), base.from_bfloat16(b).T
    wanted = np.zeros((3, 4))
    for i, j, q in product(range(3), range(4), range(5)):
        wanted[i, j] += float(a[i, q]) * float(b[q, j])
    assert op.reference(inputs)["c"].dtype == np.float64
    np.testing.assert_allclose(op.reference(inputs)["c"], wanted, rtol=1e-14)


@pytest.mark.parametrize("name", KERNELS)
def test_check_sees_one_missing_term(name: str) -> None:
    op = find(name)
    axes = dict(op.awkward[-1])
    inputs = op.inputs(axes, op.dtypes[0], "normal", 3)
    short = {key: value.copy() for key, value in inputs.items()}
    short["a"][:, -1] = 0
    error = base.relative_error(op.reference(short)["c"], op.reference(inputs)["c"])
    assert error > 10 * op.tolerance(axes, op.dtypes[0])


def test_bfloat16_is_rounded_to_nearest_even() -> None:
    step = 2.0**-7  # of bfloat16 between 1 and 2
    values = np.array([1, 1 + step / 2, 1 + 1.5 * step, 1 + 0.5001 * step, -1 - step / 2], "f4")
    wanted = [1, 1, 1 + 2 * step, 1 + step, -1]
    np.testing.assert_array_equal(base.from_bfloat16(base.bfloat16_bits(values)), wanted)


def test_bfloat16_values_stay_as_they_are() -> None:
    bits = np.arange(1 << 16, dtype=np.uint16)
    values = base.from_bfloat16(bits)
    finite = np.isfinite(values)
    np.testing.assert_array_equal(base.bfloat16_bits(values[finite]), bits[finite])


def test_a_correctly_rounded_product_of_one_value_passes() -> None:
    op, dtype = find("matmul_bf16"), "bfloat16_out"
    axes = op.resolve({"m": 1, "n": 1, "k": 1})
    errors = []
    for seed in range(200):
        exact = op.reference(op.inputs(axes, dtype, "normal", seed))["c"]
        errors.append(base.relative_error(base.bfloat16_bits(exact.astype("f4")), exact))
    assert 0.0035 < max(errors) <= op.tolerance(axes, dtype) < 0.005


def test_swizzle_is_the_hardware_s() -> None:
    for row, chunk in product(range(64), range(8)):
        assert swizzled(row, chunk) == swizzle_128(row * 128 + chunk * 16)


def test_swizzle_moves_nothing_out_of_its_row_and_loses_nothing() -> None:
    places = [swizzled(row, chunk) for row, chunk in product(range(16), range(8))]
    assert sorted(places) == list(range(0, 16 * 128, 16))
    assert all(place // 128 == i // 8 for i, place in enumerate(places))


def test_a_step_of_16_values_commutes_with_the_swizzle() -> None:
    # wgmma's descriptor of step s starts 32 s bytes into the tile: the XOR takes the final address
    for row, step, half in product(range(64), range(4), range(2)):
        assert swizzle_128(row * 128 + 32 * step + 16 * half) == swizzled(row, 2 * step + half)


@pytest.mark.parametrize("first", range(0, 64, 8))
@pytest.mark.parametrize("chunk", range(8))
def test_eight_rows_of_a_matrix_meet_every_bank_once(first: int, chunk: int) -> None:
    rows = range(first, first + 8)
    met = [bank for row in rows for bank in banks(swizzled(row, chunk), 16)]
    assert sorted(met) == list(range(BANKS))
    plain = {bank for row in rows for bank in banks(row * 128 + chunk * 16, 16)}
    assert len(plain) == 4, "without the XOR the rows share four banks"


@pytest.mark.parametrize("chunk", range(4))
def test_rows_of_64_bytes_are_free_of_conflicts_with_the_64_byte_swizzle(chunk: int) -> None:
    met = [bank for row in range(8) for bank in banks(swizzle_64(row * 64 + chunk * 16), 16)]
    assert sorted(met) == list(range(BANKS))


def lanes() -> list[tuple[int, int]]:
    """Row and column of every lane of a warp, as kernels/ladders/matmul/lanes.cuh has them."""
    return [(lane >> 1 & 7, (lane & 1) | (lane >> 3 & 2)) for lane in range(32)]


def test_lanes_cover_their_warp_s_tile_once() -> None:
    assert sorted(lanes()) == list(product(range(8), range(4)))


def test_lanes_may_share_their_16_byte_loads() -> None:
    # Half a warp is served at once where lanes 2i and 2i + 1, or i and i + 2, agree.
    for lane, (row, col) in enumerate(lanes()):
        assert row == lanes()[lane ^ 1][0]
        assert col == lanes()[lane ^ 2][1]
    for half in (lanes()[:16], lanes()[16:]):
        for starts in ({row * 16 for row, _ in half}, {col * 16 for _, col in half}):
            met = [bank for start in starts for bank in banks(start, 16)]
            assert len(met) == len(set(met))


@pytest.mark.parametrize("stride", [132, 128 + 4, 256 + 4])
def test_transposing_copies_meet_different_banks(stride: int) -> None:
    # kernels/ladders/matmul/pipeline.cuh: a warp copies 8 steps of k x 4 rows of A, 4 bytes each
    met = {(step * stride + row) % BANKS for step, row in product(range(8), range(4))}
    assert len(met) == BANKS


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("size", [1, 127, 128, 129, 1000])
def test_grids_cover_every_tile(name: str, size: int) -> None:
    axes = {"m": size, "n": 2 * size + 1, "k": 3}
    for variant in (each for each in variants.discover(name) if each.grid):
        blocks = np.prod(variant.launch(axes, 132).grid)
        tile = {int(edge) for edge in re.findall(r"/ (\d+)\)", variant.grid)}
        assert blocks * max(tile) ** 2 >= size * (2 * size + 1), variant.label


@pytest.mark.parametrize(
    ("rows", "cols", "band"), [(1, 1, 16), (3, 5, 2), (33, 7, 16), (16, 16, 16)]
)
def test_tile_order_visits_every_tile_once(rows: int, cols: int, band: int) -> None:
    # kernels/ladders/matmul/tile_order.cuh
    seen = []
    for block in range(rows * cols):
        number, within = divmod(block, band * cols)
        height = min(band, rows - number * band)
        seen.append((number * band + within % height, within // height))
    assert sorted(seen) == list(product(range(rows), range(cols)))
