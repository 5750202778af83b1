"""Variants loaded on one GPU: compilation, constant memory, launches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import ptxas
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.check import translated
from raytracer.benchmark.cuda import tensor_map
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.record import Resources
from raytracer.errors import RaytracerError
from raytracer.variants.kernel import Kernel, Variant

Enqueue = Callable[[], Any]
Matrix = tuple[int, tuple[int, ...], int]  # address, rows and columns, bytes of a value

# CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, for releases of PyCUDA without the name.
MAX_DYNAMIC_SHARED = 8


class RefusedError(RaytracerError):
    """The device cannot run a kernel."""


class SizeError(RefusedError):
    """A kernel does not support these sizes."""


def require(variant: Kernel, arch: str) -> None:
    """Raise RefusedError if an architecture cannot run a kernel."""
    if not variant.admits(arch):
        needs = ", ".join(map(str, variant.needs))
        raise RefusedError(f"needs {needs}; this GPU is {arch}")


def resources(functions: Sequence[Any], cubin: Cubin) -> Resources:
    return {
        "compiler": cubin.compiler,
        "registers": max(int(each.num_regs) for each in functions),
        "shared": max(int(each.shared_size_bytes) for each in functions),
        "spilled": ptxas.usage(cubin.log).spilled,
    }


class LoadedKernel:
    """A variant, compiled with macros and loaded."""

    def __init__(
        self,
        session: Session,
        variant: Variant,
        macros: Mapping[str, str],
    ) -> None:
        """Load a variant, compiled now if it is not cached; raise RefusedError if it cannot run."""
        require(variant, session.arch)
        source, root = variant.translation_unit, variant.folder
        cubin = compiler.load(source, session.arch, root, shipped=root is None, macros=macros)
        self.variant, self._session, self._cubin = variant, session, cubin
        with translated(session.driver):
            self._module = session.driver.module_from_buffer(cubin.code)
            self._functions = [self._entry(name) for name in variant.entries]

    def _entry(self, name: str) -> Any:
        try:
            return self._module.get_function(name)
        except self._session.driver.LogicError:
            raise RefusedError(f'lacks the entry: extern "C" __global__ void {name}(…)') from None

    def resources(self) -> Resources:
        return resources(self._functions, self._cubin)

    def fill_constants(self, inputs: Mapping[str, tuple[int, int]]) -> None:
        """Copy inputs named in the header (`constant:`) into constant memory, as often as they fit.

        inputs: address on the device and bytes by name.
        """
        for name in self.variant.constant.split():
            if name not in inputs:
                raise RefusedError(f"constant: there is no input {name!r}")
            address, nbytes = inputs[name]
            target, copies = self._constant(f"c_{name}", nbytes)
            driver = self._session.driver
            with translated(driver):
                for copy in range(copies):
                    place = int(target) + copy * nbytes
                    driver.memcpy_dtod_async(place, address, nbytes, self._session.stream)

    def fill_maps(self, matrices: Mapping[str, Matrix]) -> None:
        """Create the tensor maps of the header (`maps:`) in constant memory.

        They are not kernel arguments, because launches pack arguments without the padding that
        their alignment requires. Raises SizeError if the rows of a matrix are not aligned.
        """
        for request in self.variant.maps:
            if request.array not in matrices:
                raise RefusedError(f"maps: there is no matrix {request.array!r}")
            address, shape, size = matrices[request.array]
            box = request.rows, request.cols
            try:
                encoded = tensor_map.encode(address, shape, size, box, request.swizzle)
            except tensor_map.PitchError as error:
                raise SizeError(f"{request.array}: {error}") from error
            target, _ = self._constant(request.constant, tensor_map.BYTES)
            with translated(self._session.driver):
                self._session.driver.memcpy_htod(target, encoded)

    def _constant(self, name: str, nbytes: int) -> tuple[Any, int]:
        """Return the address of a constant array and how often the bytes fit.

        Raise RefusedError if they do not fill it.
        """
        driver = self._session.driver
        with translated(driver):
            try:
                target, size = self._module.get_global(name)
            except driver.LogicError:
                raise RefusedError(f"lacks __constant__ {name}") from None
        if size < nbytes or size % nbytes:
            raise RefusedError(f"{name} has {size} bytes instead of {nbytes}")
        return target, size // nbytes

    def bind(self, axes: Mapping[str, int], pointers: list[int], sizes: tuple[int, ...]) -> Enqueue:
        """Return a function that queues one launch of each step.

        axes: names of the expressions in the header, and their values. pointers: of inputs, then
        outputs. sizes: the integers at the end of the arguments.
        """
        launch = self.variant.launch(axes, self._session.multiprocessors)
        shared = launch.shared + self.resources()["shared"]
        if shared > self._session.shared_limit:
            limit = self._session.shared_limit
            raise SizeError(f"needs {shared:,} bytes of shared memory; a block may have {limit:,}")
        driver, stream = self._session.driver, self._session.stream
        with translated(driver):
            scratch = [driver.mem_alloc(launch.scratch)] if launch.scratch else []
            addresses = [*pointers, *map(int, scratch)]
            for function in self._functions:
                if launch.shared > 48 << 10:
                    names = driver.function_attribute
                    key = getattr(names, "MAX_DYNAMIC_SHARED_SIZE_BYTES", None)
                    function.set_attribute(key or names(MAX_DYNAMIC_SHARED), launch.shared)
                function.prepare(["P"] * len(addresses) + ["q"] * len(sizes))
        block = launch.block or self.variant.block
        arguments, steps = (*addresses, *sizes), self._functions

        def enqueue(_memory: Any = scratch) -> None:  # keeps the scratch memory alive
            for function in steps:
                function.prepared_async_call(
                    launch.grid, block, stream, *arguments, shared_size=launch.shared
                )

        return enqueue
