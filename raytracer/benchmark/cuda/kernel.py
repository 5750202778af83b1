"""Variants loaded on one GPU: constant memory, tensor maps, launches; ceilings of the GPU."""

import statistics
import struct
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from math import prod
from typing import Any, Literal

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin, parse_usage
from raytracer.backends.cuda.driver import load_bindings
from raytracer.backends.kernel_sources import Variant, discover_variants
from raytracer.benchmark.cuda.session import Enqueue, Memory, RefusedError, Session, SizeError
from raytracer.benchmark.record import Ceilings, Resources
from raytracer.config.errors import RaytracerError

Located = tuple[int, tuple[int, ...], int]  # an array: address, shape, bytes of a value

# Bytes of dynamic shared memory that need no attribute (CUDA programming guide, specifications).
PLAIN_SHARED = 48 << 10

MAP_BYTES = 128  # of a CUtensorMap
PITCH = 16  # the bytes from row to row of a tensor map must be a multiple of this
TYPES = {2: 9, 4: 7}  # of matrices, by the bytes of a value: bfloat16 and float32
SWIZZLES = {0: 0, 32: 1, 64: 2, 128: 3}
PROMOTION = 2  # of what the L2 cache fetches: its lines of 128 bytes

COPY_BYTES = 1 << 30
TIMES = 12
MMA_FLOP = 1 << 24  # of a thread: half a millisecond on most GPUs
# Of the kernels of kernels/ladders/ceiling: the ceiling, FLOP of a thread in a round, rounds.
LOOPS: dict[str, tuple[Literal["fma_tflops", "mma_tflops"], int, int]] = {
    "fma": ("fma_tflops", 16, 1 << 14),
    "mma": ("mma_tflops", 4096, MMA_FLOP // 4096),
    "wgmma": ("mma_tflops", 16384, MMA_FLOP // 16384),
}


def load(session: Session, variant: Variant, macros: Mapping[str, str]) -> tuple[Any, Cubin]:
    """Return the module of a variant, compiled now if it is not cached, and its code."""
    source, root = variant.translation_unit, variant.folder
    cubin = compiler.load_cubin(source, session.arch, root, shipped=root is None, macros=macros)
    return session.driver.module_from_buffer(cubin.code), cubin


def resources(function: Any, cubin: Cubin) -> Resources:
    return {
        "compiler": cubin.compiler,
        "registers": int(function.num_regs),
        "shared": int(function.shared_size_bytes),
        "spilled": parse_usage(cubin.log).spilled,
    }


class LoadedKernel:
    """A variant, compiled with macros and loaded."""

    def __init__(self, session: Session, variant: Variant, macros: Mapping[str, str]) -> None:
        """Load a variant; raise RefusedError if it cannot run."""
        self.variant, self._session = variant, session
        self._module, cubin = load(session, variant, macros)
        self._functions = list(map(self._function, variant.entries))
        # Of the kernel with the most registers, which is the first one where there is a single one.
        largest = max(self._functions, key=lambda each: int(each.num_regs))
        self.resources = resources(largest, cubin)

    def _function(self, name: str) -> Any:
        try:
            return self._module.get_function(name)
        except self._session.driver.LogicError:
            raise RefusedError(f'lacks the entry: extern "C" __global__ void {name}(…)') from None

    def fill(self, arrays: Mapping[str, Located]) -> None:
        """Fill the constant memory that the header names: inputs, as often as they fit
        (`constant:`), and tensor maps (`maps:`).

        Maps are not kernel arguments, because launches pack arguments without the padding that
        their alignment requires. Raises SizeError if the rows of a matrix are not aligned.
        """
        session, constants = self._session, self.variant.constant.split()
        if unknown := {*constants, *(each.array for each in self.variant.maps)} - arrays.keys():
            raise RefusedError(f"constant, maps: there is no array {', '.join(unknown)}")
        for name in constants:
            address, shape, size = arrays[name]
            nbytes = prod(shape) * size
            target, room = self._constant(f"c_{name}", nbytes)
            for place in range(target, target + room, nbytes):
                session.driver.memcpy_dtod_async(place, address, nbytes, session.stream)
        for request in self.variant.maps:
            box = request.rows, request.cols
            encoded = tensor_map(*arrays[request.array], box, request.swizzle)
            target, _ = self._constant(f"c_map_{request.array}", len(encoded))
            session.driver.memcpy_htod(target, encoded)

    def _constant(self, name: str, nbytes: int) -> tuple[int, int]:
        """Return address and bytes of a constant array; raise RefusedError if `nbytes`, once or
        several times, do not fill it."""
        try:
            target, size = self._module.get_global(name)
        except self._session.driver.LogicError:
            raise RefusedError(f"lacks __constant__ {name}") from None
        if size < nbytes or size % nbytes:
            raise RefusedError(f"{name} has {size} bytes instead of {nbytes}")
        return int(target), int(size)

    def bind(self, axes: Mapping[str, int], pointers: list[int], sizes: tuple[int, ...]) -> Enqueue:
        """Return a function that queues a launch, or one of each step.

        axes: names of the expressions in the header, and their values. pointers: of inputs, then
        outputs; memory that the steps share (`scratch:`) follows. sizes: the integers at the end of
        the arguments.
        """
        session = self._session
        launch = self.variant.configure_launch(axes, session.multiprocessors)
        self.resources["threads"] = prod(launch.block)
        self.resources["dynamic_shared"] = launch.shared
        shared, limit = launch.shared + self.resources["shared"], session.shared_limit
        if shared > limit:
            raise SizeError(f"needs {shared:,} bytes of shared memory; a block may have {limit:,}")
        scratch = session.driver.mem_alloc(launch.scratch) if launch.scratch else None
        places = pointers if scratch is None else [*pointers, int(scratch)]
        for function in self._functions:
            if launch.shared > PLAIN_SHARED:
                names = session.driver.function_attribute
                function.set_attribute(names.MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.shared)
            function.prepare(["P"] * len(places) + ["q"] * len(sizes))

        def enqueue(_scratch: Any = scratch) -> None:  # keeps it alive
            for function in self._functions:
                function.prepared_async_call(
                    launch.grid, launch.block, session.stream, *places, *sizes,
                    shared_size=launch.shared,
                )  # fmt: skip

        return enqueue


def tensor_map(
    address: int, shape: tuple[int, ...], size: int, box: tuple[int, int], swizzle: int = 0,
    pitch: int | None = None,
) -> bytes:  # fmt: skip
    """Return how the GPU's bulk copy engine (TMA) cuts boxes out of a row-major matrix, as the 128
    bytes that a kernel takes by value.

    address: on the device, a multiple of 16. shape: rows and columns. size: bytes of a value. box:
        rows and columns that one copy brings, each at most 256; what lies outside of the matrix
        arrives as zeros and is not written. swizzle: 0, 32, 64 or 128; a row of the box then has
        at most that many bytes. pitch: values from row to row; by default those of a row.

    Raises SizeError where rows are no multiple of 16 bytes, BackendError for what the driver
    refuses.
    """
    rows, cols = shape
    row_bytes = (cols if pitch is None else pitch) * size
    if row_bytes % PITCH:
        raise SizeError(f"TMA needs rows of a multiple of {PITCH} bytes; these have {row_bytes}")
    driver = load_bindings()
    cu = driver.cu
    encoded = driver.ask(
        cu.cuTensorMapEncodeTiled, cu.CUtensorMapDataType(TYPES[size]), 2, address,
        [cu.cuuint64_t(each) for each in (cols, rows)], [cu.cuuint64_t(row_bytes)],
        [cu.cuuint32_t(each) for each in box[::-1]], [cu.cuuint32_t(1) for _ in box],
        cu.CUtensorMapInterleave.CU_TENSOR_MAP_INTERLEAVE_NONE,
        cu.CUtensorMapSwizzle(SWIZZLES[swizzle]), cu.CUtensorMapL2promotion(PROMOTION),
        cu.CUtensorMapFloatOOBfill.CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
    )  # fmt: skip
    return struct.pack("<16Q", *map(int, encoded.opaque))


def ceilings(session: Session) -> Ceilings:
    """Measure the copy rate (GB/s, read + written), FP32 multiply-adds, and products of bfloat16 on
    the tensor cores (TFLOP/s).

    Ceilings that cannot be measured (no free memory, no compiler, no such instructions) are
    omitted.
    """
    found: Ceilings = {}
    with suppress(RaytracerError):
        nbytes = min(COPY_BYTES, int(session.driver.mem_get_info()[0]) // 8 // 256 * 256)
        with Memory(session, {"a": nbytes, "b": nbytes}) as memory:
            memory.clear("a")
            places = memory.address("b"), memory.address("a")
            copy = partial(session.driver.memcpy_dtod_async, *places, nbytes, session.stream)
            found["copy_gbps"] = 2 * nbytes / statistics.median(_seconds(session, copy)) * 1e-9
    for variant in discover_variants("ceiling"):
        with suppress(RaytracerError):
            if variant.admits(session.arch):
                name = LOOPS[variant.name][0]
                found[name] = max(found.get(name, 0.0), loop_tflops(session, variant))
    return found


def loop_tflops(session: Session, variant: Variant, mask: int = 0xFFFFFFFF) -> float:
    """Measure the TFLOP/s of a loop over an instruction: of multiply-adds the median of some
    launches, of tensor cores the fastest one, since these reach the power limit within
    milliseconds. mask: of the bits of the operands of tensor cores."""
    name, flop, rounds = LOOPS[variant.name]
    with Memory(session, {"out": 256}) as memory:
        memory.clear("out")
        if name == "mma_tflops":
            session.fill(memory.address("out"), 4, mask)
        launch = LoadedKernel(session, variant, {}).bind({}, [memory.address("out")], (rounds,))
        threads = variant.configure_launch({}, session.multiprocessors).grid[0] * variant.threads
        seconds = _seconds(session, launch)
    best = min(seconds) if name == "mma_tflops" else statistics.median(seconds)
    return float(flop) * rounds * threads / best * 1e-12


def _seconds(session: Session, launch: Enqueue) -> list[float]:
    session.cold(launch, 4, False)
    return session.cold(launch, TIMES, False)
