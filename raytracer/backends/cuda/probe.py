"""GPUs of this machine, and missing parts of a CUDA installation.

Kernels and compilers are imported where a driver is found.
"""

import ctypes
from contextlib import suppress
from pathlib import Path
from typing import Any

from raytracer.backends.cuda import driver
from raytracer.config.errors import RaytracerError
from raytracer.system.cuda_driver import LIBRARY, NO_DEVICE, suggest_start_remedy


def explain_missing(device: int = 0) -> str | None:
    """Return what a device lacks to run kernels and how to get it; None if it lacks nothing."""
    try:
        return _find_missing_driver(device) or _find_missing_kernels(device)
    except RaytracerError as error:  # of a binding
        return str(error)


def list_devices() -> list[dict[str, Any]]:
    """Return what is known of each GPU, with the binding and the compiler in use; memory in bytes.
    The list is empty if CUDA cannot be used."""
    from raytracer.backends.cuda.compile import describe_compiler

    compiler, count = "", 0
    with suppress(RaytracerError):  # no binding, or nvcc does not start
        count = 0 if _find_missing_driver(0) else driver.load().Device.count()
        compiler = describe_compiler()
    return [describe_device(number) | {"compiler": compiler or "none"} for number in range(count)]


def describe_device(ordinal: int) -> dict[str, Any]:
    context = driver.get_primary_context(ordinal)
    free, total = context.measure_memory()
    version = context.driver.get_driver_version()  # 13000 of 13.0
    return {
        "device": context.device.name(),
        "compute_capability": "{}.{}".format(*context.device.compute_capability()),
        "architecture": context.arch,
        "memory_free": free,
        "memory_total": total,
        "multiprocessors": context.multiprocessors,
        "cuda_driver": f"{version // 1000}.{version % 1000 // 10}",
        "driver": _read_driver_release(),
        "binding": driver.format_label(),
    }


def _find_missing_driver(device: int) -> str | None:
    """Return what the driver library lacks. A binding is recommended only if there is a GPU."""
    try:
        cuda = ctypes.CDLL(LIBRARY)
    except OSError:
        return f"no NVIDIA driver is installed ({LIBRARY} is not found): install the GPU's driver"
    if status := cuda.cuInit(0):
        text = ctypes.c_char_p(b"no reason is known")
        cuda.cuGetErrorString(status, ctypes.byref(text))
        said = (text.value or b"").decode()
        what = f"the NVIDIA driver does not start: {said} (CUDA error {status})"
        return f"{what}: {suggest_start_remedy(status)}"
    count = ctypes.c_int(0)
    if cuda.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return f"no GPU can be used: {suggest_start_remedy(NO_DEVICE)}"
    if device >= count.value:
        return f"there is no GPU {device}: the driver finds {count.value}, counted from 0"
    return None


def _find_missing_kernels(device: int) -> str | None:
    """Return why the kernels of a device are neither compiled nor can be compiled, or None."""
    from raytracer.backends.cuda import compile as compiler
    from raytracer.backends.cuda.kernel import check_supported, production
    from raytracer.backends.cuda.kernel_selection import PRODUCTION

    arch = driver.format_architecture(driver.load().Device(device).compute_capability())
    made_for, has = compiler.read_cuda_version(), driver.load().get_driver_version() // 1000
    for kernel in map(production, PRODUCTION):
        check_supported(kernel, arch)
        can_compile = bool(compiler.describe_compiler()) and made_for <= has
        if can_compile or compiler.find_ready_made(kernel.translation_unit, arch):
            continue
        if made_for:
            return (
                f"{compiler.describe_compiler()} is too new for the driver: update the driver, or "
                "take that of CUDA 12: `pip install 'raytracer[cuda12]'`, with RAYTRACER_NVCC=none"
            )
        get = compiler.GET_COMPILER
        return f"there is neither a compiled kernel for {arch} nor a compiler: {get}"
    return None


def _read_driver_release() -> str | None:
    """Return the driver release, for example "580.65.06"; None if it is unknown."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        return None
    words = text.splitlines()[0].split() if text else []
    return next((word for word in words if word.replace(".", "").isdigit() and "." in word), None)
