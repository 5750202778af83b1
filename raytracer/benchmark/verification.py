"""Results of kernels at any size, compared with float64, or with exact counts.

Sums are compared value by value, in blocks. Products have too many terms for that: some rows,
drawn once for each set of inputs, are compared value by value, and all values by projections. For
signs x, drawn at random, C x equals A (B x), which takes a 64th of the work of the product if x has
64 values (Freivalds, 1979): one wrong value differs from its group by more than rounding does.
"""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.benchmark.op import Arrays, Op, from_bfloat16
from raytracer.system.resources import choose_thread_count

BLOCK, SMALL_BLOCK = 1 << 20, 1 << 16  # values that are compared at once, and those if not all are
SAMPLED = 16  # blocks, or of products rows, of a comparison that is not complete
DRAWN_ROWS = 64  # of products, of which each comparison takes some
GROUP = 64  # columns of a projection
SPREAD = 2.0  # the error of a sum of n values is at most this, times n^0.5, of theirs: all random
# Rounding to bfloat16 is at most 2^-8 of a value, 0.41 of that in the square mean: six of these.
ROUNDED = 2.5 * 2.0**-8


class Expected:
    """The correct outputs of an operation for one set of inputs, `inputs`."""

    def __init__(self, op: Op, inputs: Arrays, seed: int = 0, slack: float = 1.0) -> None:
        """Compute what all comparisons need. seed: of rows, signs and blocks; slack: a factor of
        the permitted errors."""
        self.op, self.inputs, self._slack = op, inputs, slack
        self._random = np.random.default_rng([seed, 77])
        self._whole = op.reference(inputs) if op.is_exact else None
        self._projection = Projection(op, inputs, self._random, slack) if op.is_product else None
        self._rows = Rows(op, inputs, self._random, slack) if op.is_product else None

    def fault(self, outputs: Arrays, blocks: Sequence[slice] | None = None) -> str:
        """Return what is wrong with outputs, with the first wrong value; "" if nothing is.

        blocks: rows to compare, of `draw_blocks`, where only these are known; None: all are.
        """
        if self._whole is not None:
            return _first_fault(outputs, self._whole, dict.fromkeys(self._whole, 0.0))
        if blocks is None:
            if self._projection is not None and (found := self._projection.fault(outputs["c"])):
                return found
            blocks = self._blocks(complete=True)
        compare = self._rows.fault if self._rows else self._compare_block
        with ThreadPoolExecutor(choose_thread_count()) as pool:
            parts = pool.map(lambda rows: compare(outputs, rows), blocks)
            return next((found for found in parts if found), "")

    def draw_blocks(self) -> list[slice] | None:
        """Draw some rows to compare, others in each call; None where all are needed."""
        return None if self._whole is not None else self._blocks(complete=False)

    def _blocks(self, complete: bool) -> list[slice]:
        """Return blocks of rows to compare, the first and the last one among them."""
        if self._rows is not None:
            blocks = self._rows.blocks
        else:
            output = next(iter(self.op.output_arrays.values()))
            rows = len(output)
            step = max(1, (BLOCK if complete else SMALL_BLOCK) * rows // max(output.size, 1))
            blocks = [slice(begin, min(begin + step, rows)) for begin in range(0, rows, step)]
        return blocks if complete else self._draw(blocks)

    def _draw(self, blocks: list[slice]) -> list[slice]:
        """Draw some of the blocks, the first and the last one among them."""
        if len(blocks) <= SAMPLED:
            return blocks
        drawn = self._random.integers(0, len(blocks), SAMPLED - 2).tolist()
        return [blocks[number] for number in sorted({0, len(blocks) - 1, *drawn})]

    def _compare_block(self, outputs: Arrays, rows: slice) -> str:
        """Return the first wrong value of some rows; "" if none is."""
        part = self.op.part(self.inputs, rows)
        expected = self.op.reference(part)
        found = {name: array[rows] for name, array in outputs.items()}
        permitted = {
            name: self._slack * error for name, error in self.op.permitted(part, expected).items()
        }
        return _first_fault(found, expected, permitted, rows.start)


class Rows:
    """Some rows of a product, drawn at random, the first and the last one among them.

    They are computed once, since each computation needs all of B in float64.
    """

    def __init__(self, op: Op, inputs: Arrays, random: np.random.Generator, slack: float) -> None:
        count = len(op.output_arrays["c"])
        drawn = random.permutation(count)[:DRAWN_ROWS]
        numbers = np.unique(np.concatenate([drawn, [0, count - 1]])) if count else drawn
        part = op.part(inputs, numbers)
        expected = op.reference(part)
        permitted = slack * op.permitted(part, expected)["c"]
        rows = zip(expected["c"], permitted, strict=True)
        self._expected = dict(zip(numbers.tolist(), rows, strict=True))
        self.blocks = [slice(number, number + 1) for number in self._expected]

    def fault(self, outputs: Arrays, row: slice) -> str:
        """Return the first wrong value of a row, one of `blocks`; "" if none is."""
        expected, permitted = self._expected[row.start]
        return _first_fault(
            {"c": outputs["c"][row]}, {"c": expected[None]}, {"c": permitted[None]}, row.start
        )


class Projection:
    """Sums of the values of C = A B, with signs, over groups of columns."""

    def __init__(self, op: Op, inputs: Arrays, random: np.random.Generator, slack: float) -> None:
        a, b = op.factors(inputs)
        self._signs = random.choice([-1.0, 1.0], b.shape[1])
        self.sums = a @ self._grouped(b)
        np.abs(a, out=a)
        np.abs(b, out=b)
        magnitudes = a @ _group_sums(b)
        widths = _group_sums(np.ones((1, b.shape[1])))
        spread = np.minimum(SPREAD / np.sqrt(widths), 1.0)
        self._permitted = slack * op.rounding * spread * magnitudes
        self._rounded = slack * ROUNDED if op.output_type == "uint16" else 0.0

    def _grouped(self, rows: NDArray[Any]) -> NDArray[Any]:
        return _group_sums(rows * self._signs)

    def fault(self, c: NDArray[Any]) -> str:
        """Return which columns of which row are wrong; "" if none are."""
        step = max(1, BLOCK // max(c.shape[1], 1))
        for begin in range(0, len(c), step):
            values = _numbers(c[begin : begin + step])
            permitted = self._permitted[begin : begin + step]
            if self._rounded:
                permitted = permitted + self._rounded * np.sqrt(_group_sums(values * values))
            error = np.abs(self._grouped(values) - self.sums[begin : begin + step])
            wrong = ~(error <= permitted)  # NaN is wrong, too
            if wrong.any():
                row, group = np.unravel_index(int(wrong.argmax()), wrong.shape)
                last = min((group + 1) * GROUP, c.shape[1]) - 1
                return (
                    f"c[{begin + row}, {group * GROUP}..{last}]: the sum with signs is off by "
                    f"{error[row, group]:.3g} (at most {permitted[row, group]:.3g})"
                )
        return ""


def _group_sums(rows: NDArray[Any]) -> NDArray[Any]:
    """Return the sums of each GROUP columns, (rows, groups)."""
    starts = np.arange(0, rows.shape[1], GROUP)
    return np.asarray(np.add.reduceat(rows, starts, axis=1))


def _numbers(values: NDArray[Any]) -> NDArray[Any]:
    """Return values in float64; those of uint16 are the bits of bfloat16."""
    return (from_bfloat16(values) if values.dtype == np.uint16 else values).astype(np.float64)


def _first_fault(
    outputs: Arrays, expected: Arrays, permitted: dict[str, Any], first_row: int = 0
) -> str:
    """Return the first value that is off by more than is permitted; "" if none is."""
    for name, correct in expected.items():
        found = outputs[name]
        if found.shape != correct.shape:
            raise ValueError(f"{found.shape} against {correct.shape}")
        values = found if correct.dtype.kind in "iu" else _numbers(found)
        with np.errstate(invalid="ignore"):  # of infinities
            if correct.dtype.kind in "iu":
                wrong = values != correct
            else:
                wrong = ~(np.abs(values - correct) <= permitted[name])  # NaN is wrong, too
        if wrong.any():
            at = np.unravel_index(int(wrong.argmax()), wrong.shape)
            place = ", ".join(map(str, (at[0] + first_row, *at[1:])))
            return f"{name}[{place}] is {values[at]:.9g} instead of {correct[at]:.9g}"
    return ""
