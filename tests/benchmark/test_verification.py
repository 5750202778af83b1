"""Comparisons of large results: what is compared of them, and what is found."""

import numpy as np
import pytest

from raytracer.benchmark.op import Arrays, Op
from raytracer.benchmark.operations import OPERATIONS, Product
from raytracer.benchmark.verification import SAMPLED, SMALL_BLOCK, Expected


class CountedProduct(Product):
    """A product that counts how often it is computed in float64."""

    computed = 0

    def factors(self, inputs: Arrays) -> tuple[np.ndarray, np.ndarray]:
        type(self).computed += 1
        return super().factors(inputs)


def correct(op: Op) -> tuple[Expected, Arrays]:
    """Return the comparison of an operation, and outputs that are correct."""
    inputs = op.values()
    wanted = op.reference(inputs)
    outputs = {name: wanted[name].astype(array.dtype) for name, array in op.output_arrays.items()}
    return Expected(op, inputs), outputs


SUMS = OPERATIONS["vecadd"].at({"n": 40 * SMALL_BLOCK + 3}, seed=5)
PRODUCT = OPERATIONS["matmul"].at({"m": 150, "n": 130, "k": 70}, seed=5)


@pytest.mark.parametrize("op", [SUMS, PRODUCT], ids=["sums", "product"])
def test_one_wrong_value_anywhere_is_found_by_a_complete_comparison(op: Op) -> None:
    expected, outputs = correct(op)
    assert expected.fault(outputs) == ""
    flat = outputs["c"].reshape(-1)
    places = np.random.default_rng(3).integers(0, len(flat), 10).tolist()
    for place in [0, len(flat) - 1, *places]:
        kept, flat[place] = flat[place], flat[place] + 1.0
        assert expected.fault(outputs), place
        flat[place] = kept


@pytest.mark.parametrize("op", [SUMS, PRODUCT], ids=["sums", "product"])
def test_a_comparison_of_blocks_reads_only_these(op: Op) -> None:
    expected, outputs = correct(op)
    drawn = [expected.draw_blocks() for _ in range(3)]
    assert len({tuple((b.start, b.stop) for b in blocks or ()) for blocks in drawn}) > 1
    for blocks in drawn:
        assert blocks is not None
        assert 2 < len(blocks) <= SAMPLED
        assert (blocks[0].start, blocks[-1].stop) == (0, len(outputs["c"]))
        partial = np.full_like(outputs["c"], np.nan)
        for rows in blocks:
            partial[rows] = outputs["c"][rows]
        assert expected.fault({"c": partial}, blocks) == ""
        partial[blocks[1].start] += 1.0
        found = expected.fault({"c": partial}, blocks)
        assert found.startswith(f"c[{blocks[1].start}"), found


def test_a_product_is_computed_once_for_all_comparisons() -> None:
    op = CountedProduct(**vars(PRODUCT))
    expected, outputs = correct(op)
    before = CountedProduct.computed
    for _ in range(3):
        assert expected.fault(outputs) == ""
        assert expected.fault(outputs, expected.draw_blocks()) == ""
    assert CountedProduct.computed == before
