"""The rung of any size on one GPU: compiled tiles, tensor maps, aligned copies, launches."""

from __future__ import annotations

import struct
from dataclasses import dataclass, replace
from typing import Any

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.check import translated
from raytracer.backends.cuda.driver import bindings
from raytracer.benchmark.cuda import tensor_map
from raytracer.benchmark.cuda.kernel import Enqueue, SizeError, require, resources
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.products.model import AnyTile, Choice, proposals
from raytracer.benchmark.products.problem import Operand, Problem
from raytracer.benchmark.products.tiles import TensorTile, has_clusters
from raytracer.benchmark.record import Resources
from raytracer.variants.kernel import Variant

PROPOSALS = {2: 16, 4: 8}  # of the model that the bench times, by bytes of a value of A and B
ALIGN_BLOCKS, ALIGN_THREADS = 8, 256  # blocks of a multiprocessor
SAMPLES, SAMPLE, MAX_LAUNCHES = 3, 200e-6, 24  # of a choice that is timed: graphs, seconds of one
TENSOR_ARGS, ROWS_ARGS = 512, 40  # bytes of ProductArgs and RowsToAlign


@dataclass
class Loaded:
    """A tile on the device."""

    module: Any  # with the product and the copy to aligned rows
    function: Any  # the product
    cubin: Cubin
    shared: int = 0  # bytes of dynamic shared memory that blocks may have: the most of any launch


class ProductKernel:
    """A rung of any size, for any problem."""

    def __init__(self, session: Session, variant: Variant, timed: bool = False) -> None:
        """Remember the rung, whose tiles are loaded when they are chosen; raise RefusedError.

        timed: whether the choices that the model puts first are timed, to take the fastest one. The
        last bits of a sum then depend on which one that is.
        """
        require(variant, session.arch)
        self.variant, self._session, self._timed = variant, session, timed
        self._clusters = has_clusters(session.arch)
        self._loaded: dict[tuple[tuple[str, str], ...], Loaded] = {}
        self._used: Any = None  # the tile that was bound last

    def resources(self) -> Resources:
        """Return the resources of the tile that was bound last."""
        return resources([self._used.function], self._used.cubin)

    def choose(self, problem: Problem) -> Choice:
        """Return tile and division of the work for a problem; timing overwrites C.

        Raises:
            SizeError: the device has too little shared memory for every tile.
            NoCompilerError: there is machine code of no tile, and no nvcc.
        """
        choices = proposals(
            problem,
            self._session.multiprocessors,
            count=PROPOSALS[problem.a.size] if self._timed else 1,
            clusters=self._clusters,
            usable=self._is_usable,
        )
        if len(choices) > 1:
            return min(choices, key=lambda choice: self.seconds(problem, choice))
        if choices:
            return choices[0]
        number, clusters = self._session.multiprocessors, self._clusters
        if not proposals(problem, number, clusters=clusters, usable=self._fits):
            raise SizeError("every tile needs more shared memory than this GPU has")
        raise compiler.NoCompilerError(
            f"no tile of {self.variant.path.name} is compiled for {self._session.arch}, and there "
            f"is no compiler: {compiler.GET_COMPILER}"
        )

    def _fits(self, tile: AnyTile) -> bool:
        return tile.shared <= self._session.shared_limit

    def _is_usable(self, tile: AnyTile) -> bool:
        """Whether a tile runs on the device, and its machine code is at hand or can be made."""
        macros, source = tile.macros(), self.variant.translation_unit
        return self._fits(tile) and (
            tuple(sorted(macros.items())) in self._loaded
            or compiler.is_available(source, self._session.arch, self.variant.folder, macros)
        )

    def seconds(self, problem: Problem, choice: Choice) -> float:
        launches = max(1, min(MAX_LAUNCHES, int(SAMPLE / choice.seconds)))
        return min(self._session.replayed(self.bind(problem, choice), launches, SAMPLES))

    def bind(self, problem: Problem, choice: Choice | None = None) -> Enqueue:
        """Return a function that queues the product, by default with what `choose` returns."""
        choice = choice or self.choose(problem)
        tile = choice.tile
        self._used = loaded = self._load(tile.macros())
        # Launches that were bound before keep the shared memory that they need.
        loaded.shared = max(loaded.shared, tile.shared)
        key = bindings().function_attribute.MAX_DYNAMIC_SHARED_SIZE_BYTES
        loaded.function.set_attribute(key, loaded.shared)
        steps: list[Enqueue] = []
        memory: list[Any] = []  # scratch memory and aligned copies
        with translated(self._session.driver):
            scratch = self._scratch(choice, tile.rows * tile.cols, memory)
            if isinstance(tile, TensorTile):
                copied = not problem.a.aligned, not problem.b.aligned
                pack = _tensor_arguments
            else:
                copied, pack = tile.copied, _simt_arguments
            problem = self._aligned(problem, copied, loaded.module, memory, steps)
            arguments = pack(problem, choice, *scratch)
        stream, sizes = self._session.stream, (choice.blocks, tile.threads, tile.shared)
        launch = bindings().Launch(loaded.function, sizes, arguments, choice.early)

        def enqueue(_memory: Any = memory) -> None:  # keeps it alive
            for step in steps:
                step()
            launch.queue(stream)

        return enqueue

    def _load(self, macros: dict[str, str]) -> Loaded:
        """Return a tile, which is loaded through cuda-bindings: PyCUDA knows no clusters.

        It also would pass the tensor maps of the arguments at a place of its own.
        """
        key = tuple(sorted(macros.items()))
        if key not in self._loaded:
            source, root = self.variant.translation_unit, self.variant.folder
            arch, shipped = self._session.arch, root is None
            cubin = compiler.load(source, arch, root, shipped=shipped, macros=macros)
            module = bindings().module_from_buffer(cubin.code)
            self._loaded[key] = Loaded(module, module.get_function(self.variant.op), cubin)
        return self._loaded[key]

    def _scratch(self, choice: Choice, values: int, memory: list[Any]) -> tuple[int, int]:
        """Allocate sums of parts, of `values` each, and their flags; return the addresses."""
        if not choice.units.split_tiles:
            return 0, 0
        driver, flags = self._session.driver, 4 * 4 * choice.blocks  # up to four warpgroups
        memory.append(driver.mem_alloc(choice.blocks * values * 4))
        memory.append(driver.mem_alloc(flags))
        self._session.fill(int(memory[-1]), flags, 0)
        return int(memory[-2]), int(memory[-1])

    def _aligned(
        self,
        problem: Problem,
        copied: tuple[bool, bool],
        module: Any,
        memory: list[Any],
        steps: list[Enqueue],
    ) -> Problem:
        """Add a step that copies operands to aligned rows; return the problem with the copies."""
        if not any(copied):
            return problem
        function = module.get_function("align_operands")
        moved, arguments = [], b""
        for operand, copy in zip((problem.a, problem.b), copied, strict=True):
            target = operand
            if copy:
                size = operand.rows * operand.aligned_pitch * operand.size
                memory.append(self._session.driver.mem_alloc(size))
                target = replace(operand, address=int(memory[-1]), pitch=operand.aligned_pitch)
            arguments += _rows_to_align(operand, target)
            moved.append(target)
        function.prepare([f"{len(arguments)}s"])
        grid = (ALIGN_BLOCKS * self._session.multiprocessors, 1, 1)
        steps.append(
            lambda: function.prepared_async_call(
                grid, (ALIGN_THREADS, 1, 1), self._session.stream, arguments
            )
        )
        return replace(problem, a=moved[0], b=moved[1])


def _rows_to_align(operand: Operand, target: Operand) -> bytes:
    """Return the struct `RowsToAlign`; without a target there is nothing to do."""
    halves = operand.size // 2  # the kernel copies values of 16 bits
    return struct.pack(
        "<QQqqii",
        operand.address,
        0 if target is operand else target.address,
        operand.pitch * halves,
        target.pitch * halves,
        operand.rows,
        operand.cols * halves,
    ).ljust(ROWS_ARGS, b"\0")


def _map(operand: Operand, box: tuple[int, int], swizzle: int) -> bytes:
    shape, pitch = (operand.rows, operand.cols), operand.pitch
    return tensor_map.encode(operand.address, shape, operand.size, box, swizzle, pitch)


def _tensor_arguments(problem: Problem, choice: Choice, parts: int, flags: int) -> bytes:
    """Return the struct `ProductArgs`."""
    tile, c = choice.tile, problem.c
    assert isinstance(tile, TensorTile)
    depth = tile.depth
    box_a = (depth, 64) if tile.transposed_a else (tile.rows, depth)
    box_b = (depth // tile.cluster, 64) if tile.transposed_b else (tile.box_cols, depth)
    map_c = bytes(tensor_map.BYTES)
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
