"""GPUs of this machine, and missing parts of a CUDA installation."""

from __future__ import annotations

import ctypes
import importlib
import importlib.util
import sys
from pathlib import Path
from typing import Any

from raytracer.errors import RaytracerError

GET_PYCUDA = (
    "`pip install 'raytracer[cuda]'` builds it, with a C++ compiler and the CUDA toolkit, which it "
    "looks for beside the first nvcc on PATH; `conda install -c conda-forge pycuda cuda-nvcc "
    "cxx-compiler` brings it ready-made, with what the kernels need"
)
GET_NVCC = "install the CUDA toolkit, or point RAYTRACER_NVCC at its nvcc"


def why_not(device: int = 0) -> str | None:
    """Return what a device lacks to run kernels and how to get it; None if it lacks nothing.

    Driver and GPU are checked first, because no package can supply them, then PyCUDA and nvcc.

    Args:
        device: number of the GPU.
    """
    return _driver_missing(device) or _pycuda_missing() or _kernels_missing(device)


def devices() -> list[dict[str, Any]]:
    """Return name, compute capability, architecture, memory, processors and driver of each GPU.

    Memory is in bytes. The list is empty if CUDA cannot be used; `why_not` returns the reason.
    """
    if _driver_missing(0) or _pycuda_missing():
        return []
    from raytracer.backends.cuda.context import load_driver

    return [device_details(ordinal) for ordinal in range(load_driver().Device.count())]


def device_details(ordinal: int) -> dict[str, Any]:
    """Return one entry of `devices`."""
    from raytracer.backends.cuda.compile import architecture
    from raytracer.backends.cuda.context import primary_context

    context = primary_context(ordinal)
    free, total = context.memory()
    device, attribute = context.device, context.driver.device_attribute
    capability = device.compute_capability()
    return {
        "device": device.name(),
        "compute_capability": "{}.{}".format(*capability),
        "architecture": architecture(capability),
        "memory_free": free,
        "memory_total": total,
        "multiprocessors": device.get_attribute(attribute.MULTIPROCESSOR_COUNT),
        "cuda_driver": _version(context.driver.get_driver_version()),
        "driver": _driver_release(),
    }


def _driver_missing(device: int) -> str | None:
    """Return what the driver library lacks. PyCUDA is recommended only if there is a GPU."""
    library = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"
    try:
        cuda = ctypes.CDLL(library)
    except OSError:
        return f"no NVIDIA driver is installed ({library} is not found): install the GPU's driver"
    if status := cuda.cuInit(0):
        return f"the NVIDIA driver does not start: {_status_text(cuda, status)}"
    count = ctypes.c_int(0)
    if cuda.cuDeviceGetCount(ctypes.byref(count)) or count.value == 0:
        return "the NVIDIA driver finds no GPU (does CUDA_VISIBLE_DEVICES hide it?)"
    if device >= count.value:
        return f"there is no GPU {device}: the driver finds {count.value}, counted from 0"
    return None


def _status_text(cuda: Any, status: int) -> str:
    text = ctypes.c_char_p()
    if cuda.cuGetErrorString(status, ctypes.byref(text)) == 0 and text.value:
        return f"{text.value.decode()} (CUDA error {status})"
    return f"CUDA error {status}"


def _pycuda_missing() -> str | None:
    if importlib.util.find_spec("pycuda") is None:
        return f"PyCUDA is not installed: {GET_PYCUDA}"
    try:
        importlib.import_module("pycuda.driver")
    except ImportError as error:
        return f"PyCUDA does not load ({error}): reinstall it for this driver and NumPy"
    return None


def _kernels_missing(device: int) -> str | None:
    """Return why the kernels of a device are neither compiled nor can be compiled, or None."""
    from raytracer.backends.cuda.check import check_supported
    from raytracer.backends.cuda.choose import PRODUCTION
    from raytracer.backends.cuda.compile import architecture, is_available
    from raytracer.backends.cuda.context import load_driver
    from raytracer.backends.cuda.kernel import production

    try:
        arch = architecture(load_driver().Device(device).compute_capability())
        for kernel in map(production, PRODUCTION):
            check_supported(kernel, arch)
            if not is_available(kernel.translation_unit, arch):
                return f"nvcc is missing and no compiled kernel for {arch} is at hand: {GET_NVCC}"
    except RaytracerError as error:
        return str(error)
    return None


def _version(number: int) -> str:
    """13000 -> "13.0"."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _driver_release() -> str | None:
    """Return the driver release, for example "580.65.06"; None if it is unknown."""
    try:
        text = Path("/proc/driver/nvidia/version").read_text()
    except OSError:
        return None
    words = text.splitlines()[0].split() if text else []
    return next((word for word in words if word.replace(".", "").isdigit() and "." in word), None)
