"""The binding of CUDA's driver that is in use: PyCUDA where it is installed, else cuda-bindings.

`load` returns a module with PyCUDA's names of the calls that kernels need: `pycuda.driver` itself,
or `cuda_bindings`, which has these names over NVIDIA's cuda-bindings. What PyCUDA lacks (graphs,
launch attributes, tensor maps, textures of OpenGL) is in `cuda_bindings` alone, and serves with
both.
"""

import os
import sys
from contextlib import suppress
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from raytracer.backends.cuda.check import translated
from raytracer.errors import BackendError

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"  # file of the driver

VARIABLE = "RAYTRACER_CUDA_BINDING"
MODULES = {"pycuda": "pycuda.driver", "cuda-bindings": "raytracer.backends.cuda.cuda_bindings"}
"""By name of the distribution, the first choice first."""
PACKAGES = {"pycuda": "pycuda", "cuda-bindings": "cuda.bindings"}
GET = (
    "`pip install 'raytracer[cuda]'` brings cuda-bindings and NVRTC ('raytracer[cuda12]' for a "
    "driver older than 580)"
)


@cache
def load() -> Any:
    """Return the module of the binding, initialised."""
    driver = import_module(MODULES[chosen()])
    with translated(driver):
        driver.init()
    return driver


@cache
def chosen() -> str:
    """Return the binding in use, by the name of its distribution."""
    wanted = os.environ.get(VARIABLE)
    if wanted and wanted not in MODULES:
        raise BackendError(f"{VARIABLE} is {wanted!r}: set it to {' or '.join(MODULES)}")
    failures = []
    for name in [wanted] if wanted else MODULES:
        if not is_installed(name):
            continue
        try:
            import_module(MODULES[name])
        except ImportError as error:
            failures.append(f"{name} does not load ({error})")
        else:
            return name
    if failures:
        raise BackendError(f"{'; '.join(failures)}: reinstall it; {GET}")
    if wanted:
        raise BackendError(f"{wanted} is not installed, which {VARIABLE} names: unset it; {GET}")
    raise BackendError(f"a Python binding of the driver is not installed: {GET}")


@cache
def label() -> str:
    from importlib.metadata import PackageNotFoundError, version  # imports zipfile

    with suppress(PackageNotFoundError):
        return f"{chosen()} {version(chosen())}"
    return chosen()  # installed without its metadata


def bindings() -> Any:
    """Return the module `cuda_bindings`, whatever binding is in use, for what PyCUDA lacks."""
    try:
        return import_module(MODULES["cuda-bindings"])
    except ImportError as error:
        raise BackendError(f"this needs cuda-bindings ({error}): {GET}") from error


def call(name: str, *arguments: Any) -> Any:
    """Call the driver through cuda-bindings, with either binding; return what it gives."""
    module = bindings()
    return module.ask(getattr(module.cu, name), *arguments)


def is_installed(name: str) -> bool:
    """Whether a binding is there, by the name of its distribution."""
    try:
        return find_spec(PACKAGES[name]) is not None
    except ModuleNotFoundError:  # of the package around it
        return False
