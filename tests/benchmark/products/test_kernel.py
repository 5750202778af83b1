"""What a product of any size chooses on a device, without a GPU."""

from types import SimpleNamespace
from typing import Any

import pytest

from raytracer.backends.cuda import compile as compiler
from raytracer.benchmark.cuda.session import SizeError
from raytracer.benchmark.operations import OPERATIONS
from raytracer.benchmark.products.kernel import choose
from raytracer.benchmark.products.model import Choice
from raytracer.benchmark.products.tiles import (
    SHARED_LIMIT,
    SIMT_SHAPES,
    Problem,
    kernels_of,
    problem_of,
)
from raytracer.variants import discover


def product(name: str, *size: int) -> Problem:
    op = OPERATIONS[name]
    return problem_of(op.at(dict(zip("mnk", size, strict=True)), op.dtypes[-1]), lambda _: 0)


def chosen(name: str, *size: int, arch: str = "sm_90a", limit: int = SHARED_LIMIT) -> Choice:
    session: Any = SimpleNamespace(arch=arch, multiprocessors=132, shared_limit=limit)
    return choose(session, discover(name)[-1], product(name, *size))


@pytest.fixture(autouse=True)
def compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tiles are available, also without nvcc."""
    monkeypatch.setattr(compiler, "version", lambda: "nvcc")


@pytest.mark.parametrize("arch", ["sm_86", "sm_120"])
def test_tiles_fit_the_shared_memory_of_the_device(arch: str) -> None:
    size, limit = (1536, 1536, 16_384), 99 << 10
    assert chosen("matmul", *size, arch=arch, limit=limit).tile.shared <= limit
    given = product("matmul", *size)
    assert max(kernels_of(shape, given)[0].shared for shape in SIMT_SHAPES) > limit
    with pytest.raises(SizeError, match="more shared memory than this GPU has"):
        chosen("matmul", *size, arch=arch, limit=1024)


def test_without_a_compiler_the_fastest_tile_at_hand_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = (1024, 1024, 1024)
    monkeypatch.setattr(compiler, "version", lambda: "")
    shipped = {"WARP_ROWS": "1", "WARP_COLS": "4", "PARTS": "1"}
    monkeypatch.setattr(compiler, "ready_made", lambda *given: given[-1].items() >= shipped.items())
    assert chosen("matmul", *size).tile.macros().items() >= shipped.items()
    monkeypatch.setattr(compiler, "ready_made", lambda *_: None)
    with pytest.raises(compiler.NoCompilerError, match=r"no tile of 15_any_size.cu .* sm_90a"):
        chosen("matmul", *size)
