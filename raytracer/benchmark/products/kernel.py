"""The rung of any size on one GPU: compiled tiles, tensor maps, aligned copies, launches."""

import struct
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.kernel_sources import Variant
from raytracer.benchmark.cuda.kernel import MAP_BYTES, load, resources, tensor_map
from raytracer.benchmark.cuda.session import Enqueue, Session, SizeError
from raytracer.benchmark.products.model import Choice, ranked
from raytracer.benchmark.products.tiles import (
    Operand,
    Problem,
    TensorTile,
    every_compilation,
    has_clusters,
)
from raytracer.benchmark.record import Resources
from raytracer.system.resources import choose_thread_count

ALIGN_BLOCKS, ALIGN_THREADS = 8, 256  # blocks of a multiprocessor
TENSOR_ARGS, ROWS_ARGS = 512, 40  # bytes of ProductArgs and RowsToAlign


def choose(session: Session, variant: Variant, problem: Problem) -> Choice:
    """Return tile and division of the work of a product: the model's first that can run. Raises
    SizeError or NoCompilerError if none can."""
    source, arch = variant.translation_unit, session.arch
    every = ranked(problem, session.multiprocessors, has_clusters(arch))
    fitting = [choice for choice in every if choice.tile.shared <= session.shared_limit]
    if not fitting:
        raise SizeError("every tile needs more shared memory than this GPU has")
    for choice in fitting:
        macros = choice.tile.macros()
        if compiler.describe_compiler() or compiler.find_ready_made(
            source, arch, variant.folder, macros
        ):
            return choice
    raise compiler.NoCompilerError(
        f"no tile of {source.name} is compiled for {arch}, and there is no compiler: "
        f"{compiler.GET_COMPILER}"
    )


def load_tile(
    session: Session, variant: Variant, problem: Problem, macros: dict[str, str]
) -> tuple[Any, Cubin]:
    """Load the kernel of a tile. If it is compiled now, so are all others for products like this
    one, of any size, which other sizes will need."""
    source, arch, root = variant.translation_unit, session.arch, variant.folder
    is_new = compiler.find_cubin(source, arch, root, root is None, macros) is None
    module, cubin = load(session, variant, macros)
    if is_new and compiler.describe_compiler() and cubin.path is not None:  # which is kept
        compile_one = partial(compiler.load_cubin, source, arch, root, lambda _: None, root is None)
        every = every_compilation(problem, has_clusters(arch))
        pool = ThreadPoolExecutor(choose_thread_count())
        try:
            for each in [pool.submit(compile_one, macros=macros) for macros in every]:
                each.result()
        finally:  # also by a signal: those that have not begun are left
            pool.shutdown(cancel_futures=True)
    return module, cubin


def bind(
    session: Session, variant: Variant, problem: Problem, choice: Choice | None = None
) -> tuple[Enqueue, Resources]:
    """Return a function that queues a product, by default as `choose` says, and its resources."""
    choice = choice or choose(session, variant, problem)
    tile, driver = choice.tile, session.driver
    module, cubin = load_tile(session, variant, problem, tile.macros())
    function = module.get_function(variant.op)
    function.set_attribute(driver.function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES, tile.shared)
    steps: list[Enqueue] = []
    memory: list[Any] = []  # scratch memory and aligned copies
    scratch = _scratch(session, choice, memory)
    if isinstance(tile, TensorTile):
        copied = not problem.a.aligned, not problem.b.aligned
        pack: Callable[..., bytes] = _tensor_arguments
    else:
        copied, pack = tile.copied, _simt_arguments
    if any(copied):
        problem, align = _aligned(session, problem, copied, module, memory)
        steps.append(align)
    sizes = choice.blocks, tile.threads, tile.shared
    launch = driver.Launch(function, sizes, pack(problem, choice, *scratch), choice.early)

    def enqueue(_memory: Any = memory) -> None:  # keeps it alive
        for step in steps:
            step()
        launch.queue(session.stream)

    used = resources(function, cubin)
    used["threads"], used["dynamic_shared"] = tile.threads, tile.shared
    return enqueue, used


def _scratch(session: Session, choice: Choice, memory: list[Any]) -> tuple[int, int]:
    """Allocate sums of parts of a tile, and their flags; return the addresses."""
    if not choice.units.split_tiles:
        return 0, 0
    flags = 4 * 4 * choice.blocks  # up to four warpgroups
    sums = 4 * choice.blocks * choice.tile.rows * choice.tile.cols
    memory += map(session.driver.mem_alloc, (sums, flags))
    session.fill(int(memory[1]), flags, 0)
    return int(memory[0]), int(memory[1])


def _aligned(
    session: Session, problem: Problem, copied: tuple[bool, bool], module: Any, memory: list[Any]
) -> tuple[Problem, Enqueue]:
    """Return the problem with copies of operands that have aligned rows, and what fills them."""
    moved, arguments = [], b""
    for operand, copy in zip((problem.a, problem.b), copied, strict=True):
        target = operand
        if copy:
            size = operand.rows * operand.aligned_pitch * operand.size
            memory.append(session.driver.mem_alloc(size))
            target = replace(operand, address=int(memory[-1]), pitch=operand.aligned_pitch)
        arguments += _rows_to_align(operand, target)
        moved.append(target)
    function = module.get_function("align_operands")
    function.prepare([f"{len(arguments)}s"])
    grid, block = (ALIGN_BLOCKS * session.multiprocessors, 1, 1), (ALIGN_THREADS, 1, 1)
    align = partial(function.prepared_async_call, grid, block, session.stream, arguments)
    return replace(problem, a=moved[0], b=moved[1]), align


def _rows_to_align(operand: Operand, target: Operand) -> bytes:
    """Return the struct `RowsToAlign`; without a target there is nothing to do."""
    halves = operand.size // 2  # the kernel copies values of 16 bits
    addresses = operand.address, 0 if target is operand else target.address
    pitches = operand.pitch * halves, target.pitch * halves
    packed = struct.pack("<QQqqii", *addresses, *pitches, operand.rows, operand.cols * halves)
    return packed.ljust(ROWS_ARGS, b"\0")


def _map(operand: Operand, box: tuple[int, int], swizzle: int) -> bytes:
    shape, pitch = (operand.rows, operand.cols), operand.pitch
    return tensor_map(operand.address, shape, operand.size, box, swizzle, pitch)


def _tensor_arguments(problem: Problem, choice: Choice, parts: int, flags: int) -> bytes:
    """Return the struct `ProductArgs`."""
    tile, c = choice.tile, problem.c
    assert isinstance(tile, TensorTile)
    depth = tile.depth
    box_a = (depth, 64) if tile.transposed_a else (tile.rows, depth)
    box_b = (depth // tile.cluster, 64) if tile.transposed_b else (tile.box_cols, depth)
    map_c = bytes(MAP_BYTES)
    if c.whole_pieces:
        map_c = _map(c, tile.stored, tile.stored[1] * c.size)
    return (
        _map(problem.a, box_a, 128)
        + _map(problem.b, box_b, 128)
        + map_c
        + struct.pack("<QqQQii", c.address, c.pitch, parts, flags, problem.m, problem.n)
        + choice.units.packed()
        + struct.pack("<i", c.whole_pieces)
    ).ljust(TENSOR_ARGS, b"\0")


def _simt_arguments(problem: Problem, choice: Choice, parts: int, flags: int) -> bytes:
    """Return the struct `UnitArgs`."""
    a, b, c = problem.a, problem.b, problem.c
    return (
        struct.pack("<QQQ", a.address, b.address, c.address)
        + struct.pack("<qqq", a.pitch, b.pitch, c.pitch)
        + struct.pack("<QQiiif", parts, flags, problem.m, problem.n, problem.k, 1.0)
        + choice.units.packed()
    )
