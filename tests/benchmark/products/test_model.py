"""Tiles, the model of waves that chooses among them, a device's choice, and the divided work."""

import random
import re
import struct
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.kernel_sources import discover_variants
from raytracer.benchmark.cuda.session import SizeError
from raytracer.benchmark.operations import OPERATIONS
from raytracer.benchmark.products.kernel import choose, load_tile
from raytracer.benchmark.products.model import (
    MAX_PARTS,
    SIMT,
    Choice,
    candidates,
    clusters_at_once,
    ranked,
)
from raytracer.benchmark.products.tiles import (
    CHUNK,
    SHARED_LIMIT,
    WARPS,
    Problem,
    Shape,
    TensorTile,
    Units,
    every_compilation,
    list_kernels,
    make_problem,
    shapes_for,
)
from raytracer.system.resources import kernels_folder

OPS = [("matmul", "float32"), ("matmul_bf16", "bfloat16"), ("matmul_bf16", "bfloat16_out")]


def problem(name: str, dtype: str, m: int, n: int, k: int, base: int = 0) -> Problem:
    return make_problem(OPERATIONS[name].at({"m": m, "n": n, "k": k}, dtype), lambda _: base)


def fastest(given: Problem, *shapes: Shape, early: bool = False) -> Choice:
    return min(candidates(given, shapes, 132, early), key=lambda choice: choice.seconds)


@pytest.mark.parametrize(("name", "dtype"), OPS)
def test_every_candidate_covers_c_and_fits_the_device(name: str, dtype: str) -> None:
    draw = random.Random(1)
    for _ in range(8):
        m, n, k = (int(2 ** draw.uniform(0, 15)) for _ in range(3))
        given = problem(name, dtype, m, n, k)
        for choice in candidates(given, shapes_for(given, clusters=True), 132):
            tile, units = choice.tile, choice.units
            assert units.tile_rows * tile.rows * tile.cluster >= m
            assert units.tile_cols * tile.cols >= n
            assert units.steps * tile.depth >= k
            assert choice.blocks > 0
            # Clusters that divide a tile wait for no other one, so that any number may run.
            assert choice.blocks <= 132 * tile.per_multiprocessor or tile.parts > 1
            assert units.split_tiles <= units.tiles
            assert units.workers <= max(units.tiles, MAX_PARTS * units.split_tiles)
            assert choice.seconds > 0


@pytest.mark.parametrize(("name", "dtype"), OPS)
def test_tiles_fit_into_shared_memory(name: str, dtype: str) -> None:
    given = problem(name, dtype, 4096, 4096, 4096)
    for tile in (each for shape in shapes_for(given, True) for each in list_kernels(shape, given)):
        assert tile.shared <= SHARED_LIMIT // tile.per_multiprocessor
        assert tile.threads * tile.per_multiprocessor <= 2048
        if isinstance(tile, TensorTile):
            assert tile.groups * tile.blocks * 64 == tile.rows * (2 if tile.turns else 1)
            assert tile.buffers[0] >= 3
            rows, cols = tile.stored
            assert rows * cols * tile.c_size == CHUNK
            assert tile.cols >= cols
            assert tile.box_cols % 8 == 0  # swizzled in groups of eight
            assert tile.box_cols <= tile.cols <= tile.box_cols * tile.cluster
            assert tile.box_cols - tile.cols / tile.cluster < 8
        else:
            warp_rows, warp_cols, groups, _ = WARPS[tile.rows, tile.cols]
            assert (tile.rows, tile.cols) == (64 * warp_rows, 16 * groups * warp_cols)


def test_clusters_that_run_at_once_are_those_of_the_driver() -> None:
    """As an H200's cuOccupancyMaxActiveClusters says, by blocks of a cluster and of a processor."""
    driver = {(2, 6): 396, (3, 6): 248, (5, 6): 146, (7, 6): 101, (8, 6): 92, (3, 4): 163,
              (6, 4): 79, (8, 4): 62, (3, 2): 79, (8, 2): 30, (2, 1): 66, (4, 1): 30}  # fmt: skip
    assert {each: clusters_at_once(*each, 132) for each in driver} == driver


def test_a_cluster_more_than_fits_takes_another_turn() -> None:
    times = {}
    for rows in (17, 18):  # tiles, one below the other; 17 clusters of 6 fit beside each other
        given = problem("matmul", "float32", 128 * rows, 128, 8192)
        times[rows] = fastest(given, Shape(128, 128, parts=6)).seconds
    assert times[18] > 1.6 * times[17]


# Tile, workers, tiles that are divided along k, and early start.
CHOICES = [
    ("float32", (1024, 1024, 1024), ("64x128 parts 2", 128, 0, False)),
    ("float32", (2048, 2048, 2048), ("128x256", 128, 0, True)),
    ("float32", (4096, 4096, 4096), ("128x256", 132, 116, True)),
    ("float32", (8192, 8192, 8192), ("128x256", 132, 68, True)),
    ("float32", (256, 512, 448), ("64x64 parts 7", 32, 0, False)),
    ("float32", (576, 256, 14720), ("64x128", 264, 18, False)),
    ("bfloat16_out", (1024, 1024, 1024), ("64x128", 128, 0, True)),
    ("bfloat16_out", (2048, 2048, 2048), ("128x256", 128, 0, True)),
    ("bfloat16_out", (4096, 4096, 4096), ("128x176 cluster 2 turns", 64, 0, False)),
    ("bfloat16_out", (8192, 8192, 8192), ("128x192 cluster 2 turns", 66, 0, True)),
    ("bfloat16_out", (256, 256, 8192), ("64x128 parts 8", 8, 0, True)),
    ("bfloat16_out", (523, 389, 1037), ("64x64", 63, 0, True)),
]


@pytest.mark.parametrize(("dtype", "size", "expected"), CHOICES)
def test_choices_are_those_that_were_measured(
    dtype: str, size: tuple[int, int, int], expected: tuple[str, int, int, bool]
) -> None:
    name = "matmul" if dtype == "float32" else "matmul_bf16"
    choice = ranked(problem(name, dtype, *size), 132)[0]
    units, tile = choice.units, choice.tile
    label = f"{tile.rows}x{tile.cols}{tile.kind}{f' parts {tile.parts}' * (tile.parts > 1)}"
    assert (label, units.workers, units.split_tiles, choice.early) == expected


def test_struct_has_the_fields_of_the_kernels() -> None:
    text = (kernels_folder() / "ladders/matmul/units.cuh").read_text(encoding="utf-8")
    body = text[text.index("struct Units {") : text.index("// First step of a worker")]
    names = re.findall(r"\w+(?=[,;])", re.sub(r"//.*", "", body))
    units = Units(2, 3, 5, 7, 11, 13, 17)
    assert names == ["tile_rows", "tile_cols", "steps", "split_tiles", "snap", "band"]
    assert struct.unpack("<6i", units.packed()) == tuple(getattr(units, name) for name in names)


def chosen(name: str, *size: int, arch: str = "sm_90a", limit: int = SHARED_LIMIT) -> Choice:
    session: Any = SimpleNamespace(arch=arch, multiprocessors=132, shared_limit=limit)
    return choose(
        session, discover_variants(name)[-1], problem(name, OPERATIONS[name].dtypes[-1], *size)
    )


@pytest.mark.parametrize("arch", ["sm_86", "sm_120"])
def test_tiles_fit_the_shared_memory_of_the_device(
    arch: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "describe_compiler", lambda: "nvcc")  # all tiles are available
    size, limit = (4096, 4096, 4096), 48 << 10
    assert chosen("matmul", *size, arch=arch, limit=limit).tile.shared <= limit
    assert chosen("matmul", *size, arch=arch, limit=99 << 10).tile.shared > limit
    with pytest.raises(SizeError, match="more shared memory than this GPU has"):
        chosen("matmul", *size, arch=arch, limit=1024)


def test_without_a_compiler_the_fastest_tile_at_hand_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    size = (1024, 1024, 1024)
    monkeypatch.setattr(compiler, "describe_compiler", lambda: "")
    shipped = {"WARP_ROWS": "1", "WARP_COLS": "4", "PARTS": "1"}
    monkeypatch.setattr(
        compiler, "find_ready_made", lambda *given: given[-1].items() >= shipped.items()
    )
    assert chosen("matmul", *size).tile.macros().items() >= shipped.items()
    monkeypatch.setattr(compiler, "find_ready_made", lambda *_: None)
    with pytest.raises(compiler.NoCompilerError, match=r"no tile of 15_any_size.cu .* sm_90a"):
        chosen("matmul", *size)


def drawn_sizes(count: int) -> Iterator[tuple[int, int, int]]:
    """Yield sizes from 1 to 16,384, half of them multiples of 8."""
    draw = random.Random(8)
    for number in range(count):
        unit = 8 if number % 2 else 1
        m, n, k = (max(1, int(2 ** draw.uniform(0, 14)) // unit) * unit for _ in range(3))
        yield m, n, k


@pytest.mark.parametrize("arch", ["sm_80", "sm_90a"])
@pytest.mark.parametrize("transposed", ["", "a", "b", "ab"])
@pytest.mark.parametrize(("name", "dtype"), OPS)
def test_all_sizes_are_served_by_a_few_compilations(
    name: str, dtype: str, transposed: str, arch: str
) -> None:
    clusters = arch == "sm_90a"
    op = OPERATIONS[name].at({}, dtype, transposed=frozenset(transposed))
    few = every_compilation(make_problem(op, lambda _: 0), clusters)
    assert 4 <= len(few) <= 32
    for m, n, k in drawn_sizes(60):
        given = make_problem(op.at({"m": m, "n": n, "k": k}), lambda _: 0)
        for choice in ranked(given, 108, clusters):
            assert choice.tile.macros() in few


@pytest.mark.parametrize("keeps", [True, False])
@pytest.mark.parametrize(("name", "count"), [("matmul", 22), ("matmul_bf16", 32)])
def test_only_the_first_of_random_sizes_compiles(
    name: str, count: int, keeps: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    """Where the cache cannot be written, each size compiles one kernel."""
    compiled = list[dict[str, str]]()

    def compile_source(_source: Path, _arch: str, _root: Any, macros: dict[str, str]) -> Cubin:
        compiled.append(macros)
        return Cubin(b"code", "", compiler="nvcc 13.0.88")

    cache = tmp_path / "cache"
    if not keeps:
        cache.write_text("a file")
    monkeypatch.setenv("RAYTRACER_CACHE", str(cache))
    monkeypatch.delenv("RAYTRACER_CUBINS", raising=False)
    monkeypatch.setattr(compiler, "describe_compiler", lambda: "nvcc 13.0.88")
    monkeypatch.setattr(compiler, "find_nvcc", lambda: None)
    monkeypatch.setattr(compiler, "compile_source", compile_source)
    monkeypatch.setattr(compiler, "_announced", set())
    driver = SimpleNamespace(module_from_buffer=lambda code: code)
    session: Any = SimpleNamespace(
        arch="sm_90a", multiprocessors=132, shared_limit=SHARED_LIMIT, driver=driver
    )
    variant = discover_variants(name)[-1]
    used = set[tuple[str, ...]]()
    for number, size in enumerate(drawn_sizes(20), start=1):
        given = problem(name, OPERATIONS[name].dtypes[0], *size)
        macros = choose(session, variant, given).tile.macros()
        module, _ = load_tile(session, variant, given, macros)
        assert module == b"code"
        used.add(tuple(macros.values()))
        assert len(compiled) == (count if keeps else number), f"size {number}"
    assert len(used) >= 4
    assert capfd.readouterr().err.count("compiling") == 1


def test_only_parts_of_clusters_store_single_values(monkeypatch: pytest.MonkeyPatch) -> None:
    """To rows of C that are not aligned; blocks with a tile of their own exchange them first."""
    given = problem("matmul", "float32", 512, 511, 2048)
    assert not given.c.aligned

    def seconds(**other: float) -> dict[bool, list[float]]:
        for name, value in other.items():
            monkeypatch.setitem(SIMT, f"tile {name}", value)
        found: dict[bool, list[float]] = {True: [], False: []}
        for each in candidates(given, shapes_for(given, clusters=True), 132):
            found[each.tile.parts > 1].append(each.seconds)
        monkeypatch.undo()
        return found

    usual, scattered, exchanged = seconds(), seconds(scattered=9.0), seconds(exchanged=9.0)
    assert usual[False] == scattered[False]
    assert usual[True] == exchanged[True]
    for found, in_parts in ((scattered, True), (exchanged, False)):
        pairs = zip(usual[in_parts], found[in_parts], strict=True)
        assert any(slower > before for before, slower in pairs)
