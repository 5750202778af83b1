"""`raytracer.ops` without a GPU: arguments that are refused, and the kernel that is taken."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pytest

from raytracer import ops
from raytracer.backends.cuda.compile import NoCompilerError
from raytracer.benchmark.cuda.session import SizeError
from raytracer.benchmark.operations import OPERATIONS
from raytracer.config.errors import RaytracerError, UserError

F4, U2 = np.float32, np.uint16


def zeros(*shape: int, dtype: Any = F4) -> Any:
    return np.zeros(shape, dtype)


REFUSED = [
    ("matmul", (zeros(3),), r"takes arrays a \(m k\), b \(k n\): 1 given"),
    ("matmul", (zeros(3), zeros(3)), r"takes arrays a .*: a has the shape \(3,\)"),
    ("matmul", (zeros(3, 2), zeros(3, 2)), r"b is float32 \(3, 2\), expected float32 \(2, 2\)"),
    ("matmul", (zeros(3, 2), zeros(2, 2, dtype="f8")), "b is float64"),
    ("matmul_bf16", (zeros(3, 2, dtype="c8"), zeros(2, 2, dtype="c8")), "a is complex64"),
    ("vecadd", (zeros(3, dtype="c8"), zeros(3, dtype="c8")), "float32 arrays, not complex64"),
    ("matmul", ([[1.0, 2.0], [3.0]], zeros(2, 2)), "takes arrays a"),
    ("histogram", (np.uint8(3),), r"takes arrays keys .*: keys has the shape \(\)"),
    ("histogram_bins", (zeros(3), zeros(1)), "bins: must be at least 1"),
    ("contraction", (zeros(2, 17, 17, 17), zeros(17, 17)), "n = 17: give one of 2, "),
]


@pytest.mark.parametrize(("name", "arrays", "words"), REFUSED)
def test_arrays_that_do_not_fit(name: str, arrays: tuple[Any, ...], words: str) -> None:
    with pytest.raises(UserError, match=words):
        getattr(ops, name)(*arrays)


@pytest.mark.parametrize("options", [{"variant": 3}, {"variant": ""}, {"dtype": np.float32}])
def test_options_that_are_no_names(options: dict[str, Any]) -> None:
    with pytest.raises(UserError, match=r"is not text|no variant|there is no type"):
        ops.matmul(zeros(2, 2), zeros(2, 2), **options)


@pytest.mark.parametrize(
    ("edges", "words"),
    [
        (np.array([0, 1, 10, 100], F4), r"edges\[1\] is 1.0 and would be 33.3"),
        (np.array([0, 3, 10], U2), r"edges\[1\] is 3 and would be 5"),
        (np.linspace(0, 65_535, 101).astype(U2), "would be"),  # widths of 655 and 656
        (np.array([0, np.nan, 1], F4), r"edges\[1\] is nan"),
        (np.array([2, 1, 0], F4), "numbers that ascend"),
        (np.array([-np.inf, np.inf], F4), "numbers that ascend"),
        (np.array([-3e38, 0, 3e38], F4), "numbers that ascend"),  # the width overflows
    ],
)
def test_uneven_edges_are_refused(edges: Any, words: str) -> None:
    with pytest.raises(UserError, match=words):
        ops.histogram_bins(np.zeros(3, edges.dtype), edges)


def test_even_edges_may_be_rounded() -> None:
    op = OPERATIONS["histogram_bins"]
    rng = np.random.default_rng(4)
    for _ in range(40):
        lower, width = rng.normal(0, 1e3), 10 ** rng.uniform(-3, 3)
        edges = np.linspace(lower, lower + width, int(rng.integers(2, 5000)), dtype=F4)
        op.check({"keys": zeros(1), "edges": edges})
        count, step = int(rng.integers(1, 200)), int(rng.integers(1, 300))
        whole = (int(rng.integers(0, 5000)) + step * np.arange(count + 1)).astype(U2)
        op.check({"keys": zeros(1, dtype=U2), "edges": whole})
    for dtype in op.dtypes:
        for axes in op.awkward:
            op.check(op.at(axes, dtype, seed=3).values())


class FakeSession:
    """Stands for a GPU."""

    arch = "sm_90a"

    def __enter__(self) -> FakeSession:
        return self

    def __exit__(self, *_: object) -> None:
        pass


def computed(op: Any, arrays: dict[str, Any]) -> tuple[Any, str]:
    """Compute with NumPy what a kernel gets, and say that it wrote nothing else."""
    given = {n: a.T if n in op.transposed else a for n, a in arrays.items()}
    return op.compute(given), ""


Taken = list[tuple[str, dict[str, Any], frozenset[str]]]


@pytest.fixture
def taken(monkeypatch: pytest.MonkeyPatch) -> Taken:
    """What is launched, with NumPy in place of the kernels."""
    launched: Taken = []

    def compute(_: Any, op: Any, source: Any, arrays: dict[str, Any]) -> tuple[Any, str]:
        launched.append((source.label, arrays, op.transposed))
        return computed(op, arrays)

    monkeypatch.setattr(ops, "Session", FakeSession)
    monkeypatch.setattr(ops, "compute", compute)
    return launched


def test_arrays_of_any_strides_are_passed_as_contiguous_ones(taken: Taken) -> None:
    rng = np.random.default_rng(5)
    for _ in range(100):
        m, n, k = (int(each) for each in rng.integers(1, 40, 3))
        a, b = (views(rng, shape) for shape in ((m, k), (k, n)))
        found = ops.matmul(a, b)
        exact = a.astype("f8") @ b.astype("f8")
        np.testing.assert_allclose(found, exact, rtol=1e-5, atol=1e-5)
        _, arrays, transposed = taken[-1]
        assert all(each.flags.c_contiguous for each in arrays.values())
        for name, each in (("a", a), ("b", b)):
            by_columns = each.flags.f_contiguous and not each.flags.c_contiguous
            assert (name in transposed) == by_columns


def views(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    """A matrix as it is, transposed, in a larger one, backwards, repeated, or misaligned."""
    rows, cols = shape
    draw: Any = partial(rng.standard_normal, dtype=F4)
    misaligned = np.zeros(4 * rows * cols + 1, np.uint8)[1:].view(F4).reshape(shape)
    misaligned[:] = draw(shape)
    made = [
        draw(shape),
        draw((cols, rows)).T,
        draw((2 * rows, 3 * cols))[::2, ::3],
        draw(shape)[::-1, ::-1],
        np.broadcast_to(draw((1, cols)), shape),
        misaligned,
    ]
    return made[rng.integers(len(made))]


@pytest.mark.parametrize("error", [SizeError, NoCompilerError])
@pytest.mark.usefixtures("taken")
def test_a_kernel_that_cannot_run_gives_way_to_the_next(
    error: type[RaytracerError], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = list[str]()

    def refusing(_: Any, op: Any, source: Any, arrays: Any) -> Any:
        tried.append(source.label)
        if source.number > 10:
            raise error("not here")
        return computed(op, arrays)

    monkeypatch.setattr(ops, "compute", refusing)
    found = ops.matmul(zeros(2, 3) + 1, zeros(3, 2) + 1)
    assert (found == 3).all()
    assert tried == ["15_any_size", "11_async_stages", "10_warp_tiles"]
    with pytest.raises(error, match="not here"):
        ops.matmul(zeros(2, 3), zeros(3, 2), variant="11")
