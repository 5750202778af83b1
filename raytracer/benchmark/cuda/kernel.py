"""Variants loaded on one GPU: compilation, constant memory, launches."""

from collections.abc import Mapping
from math import prod
from typing import Any

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin, usage
from raytracer.benchmark.cuda import tensor_map
from raytracer.benchmark.cuda.timing import Enqueue, RefusedError, Session, SizeError
from raytracer.benchmark.record import Resources
from raytracer.variants import Variant

Located = tuple[int, tuple[int, ...], int]  # an array: address, shape, bytes of a value

# Bytes of dynamic shared memory that need no attribute (CUDA programming guide, specifications).
PLAIN_SHARED = 48 << 10


def load(session: Session, variant: Variant, macros: Mapping[str, str]) -> tuple[Any, Cubin]:
    """Return the module of a variant, compiled now if it is not cached, and its code."""
    source, root = variant.translation_unit, variant.folder
    cubin = compiler.load(source, session.arch, root, shipped=root is None, macros=macros)
    return session.driver.module_from_buffer(cubin.code), cubin


def resources(function: Any, cubin: Cubin) -> Resources:
    return {
        "compiler": cubin.compiler,
        "registers": int(function.num_regs),
        "shared": int(function.shared_size_bytes),
        "spilled": usage(cubin.log).spilled,
    }


class LoadedKernel:
    """A variant, compiled with macros and loaded."""

    def __init__(self, session: Session, variant: Variant, macros: Mapping[str, str]) -> None:
        """Load a variant; raise RefusedError if it cannot run."""
        self.variant, self._session = variant, session
        self._module, cubin = load(session, variant, macros)
        try:
            self._function = self._module.get_function(variant.op)
        except session.driver.LogicError:
            raise RefusedError(
                f'lacks the entry: extern "C" __global__ void {variant.op}(…)'
            ) from None
        self.resources = resources(self._function, cubin)

    def fill(self, arrays: Mapping[str, Located]) -> None:
        """Fill the constant memory that the header names: inputs, as often as they fit
        (`constant:`), and tensor maps (`maps:`).

        Maps are not kernel arguments, because launches pack arguments without the padding that
        their alignment requires. Raises SizeError if the rows of a matrix are not aligned.
        """
        session = self._session
        for name in self.variant.constant.split():
            if name not in arrays:
                raise RefusedError(f"constant: there is no input {name!r}")
            address, shape, size = arrays[name]
            nbytes = prod(shape) * size
            target, room = self._constant(f"c_{name}", nbytes)
            for place in range(target, target + room, nbytes):
                session.driver.memcpy_dtod_async(place, address, nbytes, session.stream)
        for request in self.variant.maps:
            if request.array not in arrays:
                raise RefusedError(f"maps: there is no matrix {request.array!r}")
            box = request.rows, request.cols
            encoded = tensor_map.encode(*arrays[request.array], box, request.swizzle)
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
        """Return a function that queues a launch.

        axes: names of the expressions in the header, and their values. pointers: of inputs, then
        outputs. sizes: the integers at the end of the arguments.
        """
        session, function = self._session, self._function
        launch = self.variant.launch(axes, session.multiprocessors)
        shared, limit = launch.shared + self.resources["shared"], session.shared_limit
        if shared > limit:
            raise SizeError(f"needs {shared:,} bytes of shared memory; a block may have {limit:,}")
        if launch.shared > PLAIN_SHARED:
            names = session.driver.function_attribute
            function.set_attribute(names.MAX_DYNAMIC_SHARED_SIZE_BYTES, launch.shared)
        function.prepare(["P"] * len(pointers) + ["q"] * len(sizes))

        def enqueue() -> None:
            function.prepared_async_call(
                launch.grid, launch.block, session.stream, *pointers, *sizes,
                shared_size=launch.shared,
            )  # fmt: skip

        return enqueue
