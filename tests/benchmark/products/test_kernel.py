"""What a launch of a product passes to the driver, without a GPU."""

from __future__ import annotations

import struct
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from raytracer import variants
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.benchmark.cuda import tensor_map
from raytracer.benchmark.cuda.kernel import SizeError
from raytracer.benchmark.operations import find
from raytracer.benchmark.products import kernel as products
from raytracer.benchmark.products.kernel import ProductKernel
from raytracer.benchmark.products.model import Choice, candidates, proposals
from raytracer.benchmark.products.problem import Problem
from raytracer.benchmark.products.tiles import SHARED_LIMIT, SIMT_SHAPES, Shape, kernels_of

MAP = 128  # bytes


class Driver:
    """Stands for the driver in both bindings; notes launches."""

    LogicError = KeyError
    function_attribute = SimpleNamespace(MAX_DYNAMIC_SHARED_SIZE_BYTES=8)

    def __init__(self, entries: tuple[str, ...]) -> None:
        self.entries, self.launches, self.taken = entries, list[tuple[Any, ...]](), 0
        self.shared = list[int]()

    def module_from_buffer(self, _: bytes) -> Any:
        return SimpleNamespace(get_function=self.function)

    def function(self, name: str) -> Any:
        if name not in self.entries:
            raise KeyError(name)
        made = SimpleNamespace(name=name, formats=[], num_regs=1, shared_size_bytes=0)
        made.prepare = made.formats.extend
        made.set_attribute = lambda key, value: self.shared.append(value)

        def launch(grid: Any, block: Any, _: Any, arguments: bytes, shared_size: int = 0) -> None:
            assert made.formats == [f"{len(arguments)}s"]
            self.launches.append((name, grid, block, arguments, shared_size))

        made.prepared_async_call = launch
        return made

    def Launch(  # noqa: N802
        self,
        function: Any,
        sizes: tuple[int, int, int],
        arguments: bytes,
        early: bool,
        cluster: int,
    ) -> Any:
        blocks, threads, shared = sizes
        assert early in (False, True)
        assert cluster == 0 or blocks % cluster == 0
        launched = (function.name, (blocks, 1, 1), (threads, 1, 1), arguments, shared)
        return SimpleNamespace(queue=lambda _: self.launches.append(launched))

    def tensor_map(
        self, _: int, address: int, extents: Any, row_bytes: int, box: Any, *__: int
    ) -> bytes:
        """A map holds its address, extents, pitch and box."""
        return struct.pack("<6Q", address, *extents, row_bytes, *box).ljust(MAP, b"\0")

    def mem_alloc(self, size: int) -> int:
        self.taken += 1 << 30
        assert size > 0
        return self.taken


Bind = Callable[..., Driver]


@pytest.fixture
def bind(monkeypatch: pytest.MonkeyPatch) -> Bind:
    """Return a function that launches a product, of a tile or of what is chosen."""
    monkeypatch.setattr(compiler, "is_available", lambda *_: True)  # also without nvcc

    def run(
        name: str,
        dtype: str,
        size: tuple[int, int, int],
        shape: Shape | None = None,
        pitch_c: int = 0,
        replayed: Callable[..., list[float]] | None = None,
        shared_limit: int = SHARED_LIMIT,
        arch: str = "sm_90a",
    ) -> Driver:
        variant = variants.discover(name)[-1]
        driver = Driver((name, "align_operands"))
        session: Any = SimpleNamespace(
            arch=arch,
            driver=driver,
            multiprocessors=132,
            shared_limit=shared_limit,
            stream=SimpleNamespace(handle=0),
            fill=lambda *_: None,
            replayed=replayed,
        )
        cubin = SimpleNamespace(code=b"", log="")
        monkeypatch.setattr(compiler, "load", lambda *_, **__: cubin)
        monkeypatch.setattr(products, "translated", lambda _: nullcontext())
        monkeypatch.setattr(tensor_map, "bindings", lambda: driver)
        monkeypatch.setattr(products, "bindings", lambda: driver)
        address = {"a": 1 << 20, "b": 1 << 21, "c": 1 << 22}
        problem = product(name, dtype, size, address.__getitem__)
        if pitch_c:
            problem = replace(problem, c=replace(problem.c, pitch=pitch_c))
        chosen = choice_of(problem, shape) if shape else None
        ProductKernel(session, variant, timed=replayed is not None).bind(problem, chosen)()
        return driver

    return run


def product(
    name: str, dtype: str, size: tuple[int, int, int], address: Callable[[str], int]
) -> Problem:
    return find(name).problem(dict(zip("mnk", size, strict=True)), dtype, address)


def choice_of(problem: Problem, shape: Shape) -> Choice:
    return min(candidates(problem, [shape], 132), key=lambda choice: choice.seconds)


def map_of(arguments: bytes, number: int) -> tuple[int, ...]:
    """Address, columns, rows, bytes of a row, and columns and rows of a box."""
    return struct.unpack_from("<6Q", arguments, number * MAP)


def test_maps_and_sizes_of_a_product_of_aligned_matrices(bind: Bind) -> None:
    driver = bind("matmul_bf16", "bfloat16_out", (256, 512, 1024))
    ((name, grid, _, arguments, _),) = driver.launches
    assert name == "matmul_bf16"
    assert len(arguments) == 512
    assert map_of(arguments, 0)[:4] == (1 << 20, 1024, 256, 2048)
    assert map_of(arguments, 1)[:4] == (1 << 21, 1024, 512, 2048)
    assert map_of(arguments, 2)[:4] == (1 << 22, 512, 256, 1024)
    out, pitch, _, _, m, n = struct.unpack_from("<QqQQii", arguments, 3 * MAP)
    assert (out, pitch, m, n) == (1 << 22, 512, 256, 512)
    (mapped,) = struct.unpack_from("<i", arguments, 3 * MAP + 40 + 24)
    assert mapped == 1
    assert 0 < grid[0] <= 132


def test_operands_whose_rows_are_not_aligned_are_copied_first(bind: Bind) -> None:
    driver = bind("matmul_bf16", "bfloat16", (100, 50, 33), Shape(64, 64))
    (align, _, _, rows, _), (name, _, _, arguments, _) = driver.launches
    assert (align, name) == ("align_operands", "matmul_bf16")
    first, second = struct.unpack("<QQqqii", rows[:40]), struct.unpack("<QQqqii", rows[40:])
    assert (first[0], first[2:]) == (1 << 20, (33, 40, 100, 33))
    assert (second[0], second[2:]) == (1 << 21, (33, 40, 50, 33))
    assert map_of(arguments, 0)[:4] == (first[1], 33, 100, 80)
    assert map_of(arguments, 1)[:4] == (second[1], 33, 50, 80)
    (mapped,) = struct.unpack_from("<i", arguments, 3 * MAP + 40 + 24)
    assert mapped == 0  # 50 floats are 200 bytes


@pytest.mark.parametrize(("cols", "mapped"), [(50, 0), (56, 1)])
def test_the_copy_engine_stores_only_whole_pieces_of_rows(
    bind: Bind, cols: int, mapped: int
) -> None:
    """It would write zeros behind the end of a row: what another matrix may have there."""
    driver = bind("matmul_bf16", "bfloat16_out", (100, cols, 64), pitch_c=64)
    arguments = driver.launches[-1][3]
    assert struct.unpack_from("<q", arguments, 3 * MAP + 8) == (64,)
    assert struct.unpack_from("<i", arguments, 3 * MAP + 40 + 24) == (mapped,)


def test_a_launch_with_less_shared_memory_leaves_room_for_those_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    driver = Driver(("matmul",))
    tile = products.Loaded(None, driver.function("matmul"), Cubin(b"", ""))
    monkeypatch.setattr(products, "bindings", lambda: driver)
    for shared in (2000, 1000, 3000):
        tile.allow(shared)
    assert driver.shared == [2000, 2000, 3000]


def test_the_fastest_of_the_timed_proposals_is_launched(bind: Bind) -> None:
    size, times = (1408, 1344, 12288), iter([5.0, 4.0, 1.0, 3.0, 2.0, *range(6, 17)])
    timed = list[int]()

    def replayed(launch: Callable[[], None], count: int, samples: int) -> list[float]:
        assert count >= 1
        timed.append(samples)
        return [next(times)] * samples

    driver = bind("matmul_bf16", "bfloat16_out", size, replayed=replayed)
    assert len(timed) == 16
    third = proposals(product("matmul_bf16", "bfloat16_out", size, lambda _: 0), 132, count=16)[2]
    ((_, grid, block, _, shared),) = driver.launches
    assert (grid[0], block[0], shared) == (third.blocks, third.tile.threads, third.tile.shared)


def test_arguments_of_a_skinny_product(bind: Bind) -> None:
    ((name, grid, block, arguments, shared),) = bind("matmul", "float32", (5000, 3, 700)).launches
    assert (name, block, len(arguments)) == ("matmul", (256, 1, 1), 88)
    few, many, c = struct.unpack_from("<3Q", arguments)
    assert (few, many, c) == (1 << 21, 1 << 20, 1 << 22)  # the columns of B are the rows
    # values between columns and steps of B, steps and rows of A, columns and rows of C
    assert struct.unpack_from("<6I", arguments, 24) == (1, 3, 1, 700, 1, 3)
    rows, cols, steps, col_blocks, parts, part_steps, chunk, step_bits, col_bits, _ = (
        struct.unpack_from("<10i", arguments, 48)
    )
    assert (rows, cols, steps) == (3, 5000, 700)
    assert col_blocks * (4 << col_bits) >= 5000
    assert grid[0] % (col_blocks * parts) == 0
    assert parts * part_steps >= 700
    assert step_bits + col_bits <= 8
    assert 0 < chunk <= part_steps
    assert shared > 0


@pytest.mark.parametrize("arch", ["sm_86", "sm_120"])
def test_tiles_that_need_more_shared_memory_than_the_device_has_are_not_taken(
    bind: Bind, arch: str
) -> None:
    size, limit = (1536, 1536, 16_384), 99 << 10
    ((*_, shared),) = bind("matmul", "float32", size, shared_limit=limit, arch=arch).launches
    assert shared <= limit
    given = product("matmul", "float32", size, lambda _: 0)
    assert max(kernels_of(shape, given)[0].shared for shape in SIMT_SHAPES) > limit
    with pytest.raises(SizeError, match="more shared memory than this GPU has"):
        bind("matmul", "float32", size, shared_limit=1024)


def test_without_a_compiler_the_fastest_tile_at_hand_is_taken(
    bind: Bind, monkeypatch: pytest.MonkeyPatch
) -> None:
    size = (1024, 1024, 1024)
    shipped = {"WARP_ROWS": "1", "WARP_COLS": "4", "PARTS": "1"}
    asked = list[dict[str, str]]()

    def is_shipped(_: Any, arch: str, __: Any, macros: dict[str, str]) -> bool:
        assert arch == "sm_90a"
        asked.append(macros)
        return macros.items() >= shipped.items()

    monkeypatch.setattr(compiler, "is_available", is_shipped)
    ((_, _, block, _, _),) = bind("matmul", "float32", size).launches
    assert block == (128, 1, 1)
    assert len(asked) > 1
    assert asked[-1].items() >= shipped.items()
    monkeypatch.setattr(compiler, "is_available", lambda *_: False)
    with pytest.raises(compiler.NoCompilerError, match=r"no tile of 15_any_size.cu .* sm_90a"):
        bind("matmul", "float32", size)
