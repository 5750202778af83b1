"""Every variant of every operation against its reference, at awkward sizes, on the GPU."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from raytracer import ops as functions
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.kernel_sources import Variant, discover_variants
from raytracer.benchmark import operations as ops
from raytracer.benchmark.cuda.session import RefusedError, Session, SizeError
from raytracer.benchmark.op import Op
from raytracer.benchmark.operation_benchmark import wrong
from raytracer.config.errors import RaytracerError, UserError
from raytracer.system.resources import choose_thread_count
from support.alone import alone

pytestmark = pytest.mark.gpu

CASES = [
    pytest.param(name, variant, dtype, id=f"{name}-{variant.label}-{dtype}")
    for name in ops.OPERATIONS
    for variant in discover_variants(name)
    for dtype in ops.OPERATIONS[name].dtypes
]


def compile_everything(arch: str) -> None:
    """All that the tests below load, on all cores: one after the other takes many minutes."""
    jobs = set()
    for name in ops.OPERATIONS:
        op = ops.OPERATIONS[name]
        for variant in discover_variants(name):
            if variant.sizes or not variant.admits(arch):
                continue
            for dtype in op.dtypes:
                for given in op.awkward:
                    macros = tuple(sorted(op.macros(op.at(given).axes, dtype).items()))
                    jobs.add((Path(str(variant.path)), macros))
    if not compiler.describe_compiler():
        return

    def run(job: tuple[Path, tuple[tuple[str, str], ...]]) -> None:
        with suppress(RaytracerError):  # the test of the variant will say it
            compiler.load_cubin(job[0], arch, notify=lambda _: None, macros=dict(job[1]))

    with ThreadPoolExecutor(min(choose_thread_count(), 16)) as pool:
        list(pool.map(run, jobs))


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    from conftest import backend_missing

    if reason := backend_missing("cuda"):
        pytest.skip(f"cuda: {reason}")
    with Session() as opened:
        with alone("operations"):
            compile_everything(opened.arch)
        yield opened


@pytest.mark.parametrize(("name", "variant", "dtype"), CASES)
def test_variant_agrees_with_the_reference(
    session: Session, name: str, variant: Variant, dtype: str
) -> None:
    op = ops.OPERATIONS[name]
    ran = 0
    try:
        for given in op.awkward:
            with suppress(SizeError):
                assert wrong(session, op.at(given, dtype), variant) == ""
                ran += 1
        for distribution in op.distributions:
            at = op.at(op.awkward[-1], dtype, distribution=distribution, seed=7)
            assert wrong(session, at, variant) == ""
    except RefusedError as error:
        pytest.skip(str(error))
    assert ran >= 2 if needs_alignment(op, variant) else ran == len(op.awkward)


def needs_alignment(op: Op, variant: Variant) -> bool:
    """Whether a variant refuses sizes whose rows or arrays do not begin at multiples of 16 bytes.

    Tensor maps need such rows, vectors such arrays.
    """
    shifted = any(any(op.at(each).offsets.values()) for each in op.awkward)
    return bool(variant.maps) or (shifted and variant.alignment != "any")


@pytest.mark.parametrize(
    ("name", "variant", "dtype"),
    [case for case in CASES if ops.OPERATIONS[str(case.values[0])].has_offset],
)
def test_arrays_at_every_place_in_16_bytes(
    session: Session, name: str, variant: Variant, dtype: str
) -> None:
    """Lengths around the multiples of a load; a rung that needs aligned arrays refuses each."""
    op = ops.OPERATIONS[name]
    width = 16 // np.dtype(dtype).itemsize
    first = next(iter(op.axes))
    small = {each: 1 + 8 * (each == "bins") for each in op.axes}
    lengths = [1, width - 1, width, width + 1, 2 * width - 1, 2 * width + 1, 4096 + width + 1]
    try:
        for offset in range(1, width):
            for length in lengths:
                axes = {**small, first: length, "offset": offset}
                at = op.at(axes, dtype, seed=offset)
                if variant.alignment == "any":
                    assert wrong(session, at, variant) == ""
                else:
                    with pytest.raises(SizeError, match="begin at multiples of 16 bytes"):
                        wrong(session, at, variant)
    except RefusedError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ops.OPERATIONS)
def test_op_is_a_function(session: Session, name: str) -> None:
    op = ops.OPERATIONS[name]
    inputs = op.at(op.awkward[-1], seed=5).values()
    function = getattr(functions, name)
    found = function(*inputs.values())
    first = found[0] if isinstance(found, tuple) else found
    wanted = next(iter(op.reference(inputs).values()))
    assert first.shape == wanted.shape
    assert np.linalg.norm(first - wanted) <= 0.05 * np.linalg.norm(wanted)
    with pytest.raises(UserError, match="no variant"):
        function(*inputs.values(), variant="99_none")
