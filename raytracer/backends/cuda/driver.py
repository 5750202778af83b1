"""The driver of CUDA: the binding in use, what its errors mean, and contexts of devices.

`load` returns a module with PyCUDA's names of the calls that kernels need: `pycuda.driver` itself
where PyCUDA is installed, else `cuda_bindings`, which has these names over NVIDIA's cuda-bindings.
What PyCUDA lacks (graphs, launch attributes, tensor maps, textures of OpenGL) is in
`cuda_bindings` alone, and serves with both.
"""

import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from importlib import import_module
from threading import RLock
from typing import Any

from raytracer.config.errors import BackendError, RaytracerError
from raytracer.system.cuda_driver import explain_driver_error

VARIABLE = "RAYTRACER_CUDA_BINDING"
MODULES = {"pycuda": "pycuda.driver", "cuda-bindings": "raytracer.backends.cuda.cuda_bindings"}
"""By name of the distribution, the first choice first."""
GET = (
    "`pip install 'raytracer[cuda]'` brings cuda-bindings and NVRTC ('raytracer[cuda12]' for a "
    "driver older than 580)"
)


@cache
def load() -> Any:
    """Return the module of the binding, initialised."""
    driver = import_module(MODULES[choose_binding()])
    with translate_errors(driver):
        driver.init()
    return driver


@cache
def choose_binding() -> str:
    """Return the binding in use, by the name of its distribution."""
    wanted = os.environ.get(VARIABLE)
    if wanted and wanted not in MODULES:
        raise BackendError(f"{VARIABLE} is {wanted!r}: set it to {' or '.join(MODULES)}")
    failures = []
    for name in [wanted] if wanted else MODULES:
        try:
            import_module(MODULES[name])
        except ImportError as error:
            failures.append(f"{name} does not load ({error})")
        else:
            return name
    raise BackendError(f"no Python binding of the driver: {'; '.join(failures)}: {GET}")


@cache
def format_label() -> str:
    from importlib.metadata import PackageNotFoundError, version  # imports zipfile

    with suppress(PackageNotFoundError):
        return f"{choose_binding()} {version(choose_binding())}"
    return choose_binding()  # installed without its metadata


def load_bindings() -> Any:
    """Return the module `cuda_bindings`, whatever binding is in use, for what PyCUDA lacks."""
    try:
        return import_module(MODULES["cuda-bindings"])
    except ImportError as error:
        raise BackendError(f"this needs cuda-bindings ({error}): {GET}") from error


def call(name: str, *arguments: Any) -> Any:
    """Call the driver through cuda-bindings, with either binding; return what it gives."""
    module = load_bindings()
    return module.ask(getattr(module.cu, name), *arguments)


@contextmanager
def translate_errors(driver: Any) -> Iterator[None]:
    """Translate exceptions of PyCUDA into those of `errors`; other bindings raise these."""
    try:
        yield
    except driver.Error as error:
        if isinstance(error, RaytracerError):
            raise
        raise explain_driver_error(str(error)) from error


def format_architecture(capability: tuple[int, int]) -> str:
    """Return the architecture of a compute capability, "sm_80", or "sm_90a" if it has its own."""
    major, minor = capability
    return f"sm_{major}{minor}{'a' if capability in ((9, 0), (10, 0)) else ''}"


class PrimaryContext:
    """The primary context of one device, which PyTorch, CuPy and the CUDA runtime use as well;
    everything that talks to the device runs in `activate`.

    It is kept for the life of the process: PyCUDA leaves a released primary context on the driver's
    stack, and retaining it again costs a quarter of a second.
    """

    def __init__(self, ordinal: int) -> None:
        """Retain the context of the device with that number. Raises BackendError."""
        self.driver = load()
        # Held while kernels are launched and waited for: constant memory belongs to one render.
        self.lock = RLock()
        with translate_errors(self.driver):
            self.device = self.driver.Device(ordinal)
            self._context = self.device.retain_primary_context()
        # At the end of the process: PyCUDA's own destructor would detach the context instead of
        # releasing it, which the driver refuses for a primary one.
        weakref.finalize(self, self._context.detach)

    @cached_property
    def arch(self) -> str:
        """The architecture that kernels are compiled for."""
        return format_architecture(self.device.compute_capability())

    @cached_property
    def multiprocessors(self) -> int:
        attribute = self.driver.device_attribute.MULTIPROCESSOR_COUNT
        return int(self.device.get_attribute(attribute))

    @contextmanager
    def activate(self) -> Iterator[Any]:
        """Make the context current for this thread, and put back what was; gives the binding.
        Exceptions of the driver leave it as BackendError or MemoryNeedError."""
        with translate_errors(self.driver):
            self._context.push()
            try:
                yield self.driver
            finally:
                self._context.pop()

    def measure_memory(self) -> tuple[int, int]:
        """Bytes of device memory that are free, and all there are."""
        with self.activate() as driver:
            free, total = driver.mem_get_info()
        return int(free), int(total)


@cache
def get_primary_context(ordinal: int) -> PrimaryContext:
    """Return the context of a device by its number, one for all callers."""
    return PrimaryContext(ordinal)


@cache
def connect(ordinal: int, other: int) -> None:
    """Let a device copy from the memory of another one without the host, if the hardware can."""
    if ordinal == other:
        return
    context, peer = get_primary_context(ordinal), get_primary_context(other)
    with context.activate() as driver, suppress(driver.Error):  # or another library has done it
        context._context.enable_peer_access(peer._context)
