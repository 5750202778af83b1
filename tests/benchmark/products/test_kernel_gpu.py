"""Products of any size, layout, alignment and distance between rows, beside float64."""

import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from conftest import backend_missing
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.kernel_sources import Variant, discover_variants
from raytracer.benchmark.cuda.session import Memory, Session
from raytracer.benchmark.op import Arrays, bfloat16_bits
from raytracer.benchmark.operation_benchmark import wrong
from raytracer.benchmark.operations import OPERATIONS
from raytracer.benchmark.products.kernel import bind
from raytracer.benchmark.products.model import Choice, candidates, ranked
from raytracer.benchmark.products.tiles import TENSOR_SHAPES, Operand, Problem, Shape
from raytracer.benchmark.verification import Expected
from raytracer.system.resources import choose_thread_count
from support.alone import alone

pytestmark = pytest.mark.gpu

DTYPES = {"float32": "matmul", "bfloat16": "matmul_bf16", "bfloat16_out": "matmul_bf16"}
ALIGNED = (8, 16, 8)  # values between rows, which are rounded up to multiples of 8 values
SIZES = [
    (1, 1, 1), (1, 1000, 700), (1000, 1, 333), (37, 45, 29), (129, 131, 1031), (264, 520, 328),
    (385, 1284, 517), (100, 64, 9000), (1024, 512, 512), (1030, 2050, 64), (2, 3, 4100),
    (700, 700, 16), (32_768, 33, 70), (33, 32_768, 70), (40, 24, 32_768),
]  # fmt: skip


@dataclass(frozen=True)
class Case:
    """A product: sizes, type, and how each matrix lies in memory."""

    size: tuple[int, int, int]
    dtype: str
    transposed: frozenset[str]
    extra: tuple[int, int, int]  # values between the rows of a, b and c
    offset: int  # values before the first

    def __str__(self) -> str:
        layout = "".join(sorted(self.transposed)) or "none"
        return f"{self.dtype}-{'x'.join(map(str, self.size))}-{layout}-{self.extra}-{self.offset}"


def cases() -> list[Case]:
    """Every size in two layouts for each type."""
    draw, made = random.Random(5), []
    for dtype in DTYPES:
        for i, size in enumerate(SIZES):
            for odd in (False, True):
                layout = frozenset("ab"[j] for j in range(2) if (i + odd) >> j & 1)
                a, b, c = [draw.randrange(9) for _ in range(3)] if odd else ALIGNED
                made.append(Case(size, dtype, layout, (a, b, c), draw.randrange(8) if odd else 0))
    return made


@dataclass
class Stored:
    """A matrix in a buffer on the host."""

    buffer: NDArray[Any]
    operand: Operand

    def matrix(self) -> NDArray[Any]:
        """View the stored rows."""
        o = self.operand
        return np.lib.stride_tricks.as_strided(
            self.buffer[o.address :], (o.rows, o.cols), (o.pitch * o.size, o.size), writeable=True
        )


def stored(
    values: NDArray[Any] | None, shape: tuple[int, int], dtype: str, case: Case, which: int
) -> Stored:
    """Store a matrix with the pitch of the case; its address is the index of the first value."""
    name = "abc"[which]
    transposed = name in case.transposed
    rows, cols = shape[::-1] if transposed else shape
    pitch = cols + case.extra[which]
    if case.extra == ALIGNED:
        pitch = -(-pitch // 8) * 8
    buffer = np.zeros(case.offset + rows * pitch, dtype)
    made = Stored(
        buffer, Operand(case.offset, rows, cols, pitch, np.dtype(dtype).itemsize, transposed)
    )
    if values is not None:
        made.matrix()[:] = values.T if transposed else values
    return made


def make(case: Case) -> tuple[list[Stored], Arrays]:
    """Return a, b, c, and the inputs as the operation has them."""
    m, n, k = case.size
    generator = np.random.default_rng(m + n + k)
    a, b = generator.standard_normal((m, k), "f4"), generator.standard_normal((k, n), "f4")
    c_type = {"float32": "f4", "bfloat16": "f4", "bfloat16_out": "u2"}[case.dtype]
    c = stored(None, (m, n), c_type, case, 2)
    if case.dtype == "float32":
        both = [stored(a, (m, k), "f4", case, 0), stored(b, (k, n), "f4", case, 1)]
        return [*both, c], {"a": a, "b": b}
    bits_a, bits_b = bfloat16_bits(a), bfloat16_bits(b.T)
    both = [stored(bits_a, (m, k), "u2", case, 0), stored(bits_b, (n, k), "u2", case, 1)]
    return [*both, c], {"a": bits_a, "b": bits_b}


def problem(case: Case, matrices: list[Stored], at: list[int]) -> Problem:
    """Return the problem with the buffers at device addresses."""
    placed = [
        replace(each.operand, address=address + each.operand.address * each.operand.size)
        for each, address in zip(matrices, at, strict=True)
    ]
    return Problem(*case.size, *placed)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    if reason := backend_missing("cuda"):
        pytest.skip(f"cuda: {reason}")
    with Session() as session:
        with alone("products"):
            compile_everything(session)
        yield session


def rung(name: str) -> Variant:
    return discover_variants(name)[-1]


def kinds() -> list[Shape]:
    """Return a tile of every kind for bfloat16, with the width beside the least one."""
    found = dict[tuple[int, str, int], list[Shape]]()
    for each in TENSOR_SHAPES:
        found.setdefault((each.rows, each.kind, each.parts), []).append(each)
    return [same[min(1, len(same) - 1)] for same in found.values()]


def compile_everything(session: Session) -> None:
    """Compile the chosen tiles of all cases on all cores."""
    if not compiler.describe_compiler():
        return
    jobs = set()
    for case in cases():
        variant = rung(DTYPES[case.dtype])
        if variant.admits(session.arch):
            given = problem(case, make(case)[0], [0, 0, 0])
            choice = ranked(given, session.multiprocessors)[0]
            jobs.add((str(variant.path), tuple(sorted(choice.tile.macros().items()))))
    with ThreadPoolExecutor(min(choose_thread_count(), 16)) as pool:
        list(
            pool.map(
                lambda job: compiler.load_cubin(
                    Path(job[0]), session.arch, notify=lambda _: None, macros=dict(job[1])
                ),
                jobs,
            )
        )


def compare(
    session: Session, case: Case, choices: Callable[[Problem], Iterable[Choice | None]]
) -> int:
    """Launch choices twice: C agrees with float64 and is the same again, nothing else changes.

    Returns:
        The number of choices.
    """
    op = OPERATIONS[DTYPES[case.dtype]]
    variant = rung(op.name)
    if not variant.admits(session.arch):
        pytest.skip(f"{variant.label} does not run on {session.arch}")
    matrices, inputs = make(case)
    c, tried = matrices[2], 0
    expected = Expected(op.at(dict(zip("mnk", case.size, strict=True)), case.dtype), inputs)
    inside = Stored(np.zeros_like(c.buffer), c.operand)
    inside.matrix()[:] = 1
    between = np.repeat(inside.buffer == 0, inside.buffer.itemsize)
    sizes = {name: each.buffer.nbytes for name, each in zip("abc", matrices, strict=True)}
    with Memory(session, sizes) as memory:
        for name, each in zip("abc", matrices, strict=True):
            memory.upload(name, each.buffer)
        given = problem(case, matrices, [memory.address(name) for name in "abc"])
        for choice in choices(given):
            launch, _ = bind(session, variant, given, choice)
            results = []
            for _ in range(2):
                memory.poison("c")
                launch()
                session.wait()
                memory.download("c", c.buffer)
                results.append(c.buffer.copy())
                assert not memory.overrun("c"), choice
            assert expected.fault({"c": c.matrix().copy()}) == "", choice
            first, second = (each.view("u1") for each in results)
            assert (first == second).all(), f"{choice}: the sums depend on time"
            assert (first[between] == 0xFF).all(), f"{choice}: values between rows were written"
            tried += 1
    return tried


@pytest.mark.parametrize("case", cases(), ids=str)
def test_product_agrees_with_float64(session: Session, case: Case) -> None:
    assert compare(session, case, lambda _: [None])


@pytest.mark.parametrize("shape", kinds(), ids=str)
def test_tiles_of_every_kind_agree_with_float64(session: Session, shape: Shape) -> None:
    tried = 0
    for size, odd in (((712, 1096, 328), False), ((523, 389, 1037), True), ((40, 24, 72), False)):
        extra = (3, 5, 1) if odd else ALIGNED
        case = Case(size, "bfloat16_out", frozenset(), extra, 3 if odd else 0)
        tried += compare(
            session, case, lambda given: candidates(given, [shape], session.multiprocessors)
        )
    assert tried  # no kind suits all sizes: several parts of a tile need few tiles


@pytest.mark.parametrize("name", ["matmul", "matmul_bf16"])
def test_only_the_first_of_random_sizes_compiles(
    name: str, session: Session, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """And all agree with float64."""
    variant, draw, compiled = rung(name), random.Random(9), list[Any]()
    if not (compiler.describe_compiler() and variant.admits(session.arch)):
        pytest.skip(f"{variant.label} cannot be compiled for {session.arch}")
    compile_source = compiler.compile_source

    def counted(*given: Any) -> Any:
        compiled.append(given)
        return compile_source(*given)

    monkeypatch.setattr(compiler, "compile_source", counted)
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path))
    monkeypatch.delenv("RAYTRACER_CUBINS", raising=False)
    first = None
    for _ in range(20):
        m, n, k = (int(2 ** draw.uniform(0, 11)) for _ in range(3))
        op = OPERATIONS[name].at({"m": m, "n": n, "k": k})
        assert wrong(session, op, variant) == ""
        first = first or len(compiled)
        assert len(compiled) == first <= 32
