"""NVRTC: NVIDIA's compiler for device code as a library, which needs no toolkit.

It has no standard headers, and of CUDA's those that lie in a toolkit or in NVIDIA's wheels.
"""

import os
import re
from collections.abc import Callable, Sequence
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from raytracer.config.errors import BackendError

TOOLKITS = ("CUDA_HOME", "CUDA_PATH", "CUDA_ROOT")
"""Variables that name the folder of a CUDA toolkit."""

HEADERS = {
    # Of the driver's API, kernels use the type of tensor maps alone.
    "cuda.h": "struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };",
    "stdint.h": """typedef signed char int8_t;
typedef short int16_t;
typedef int int32_t;
typedef long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
""",
    "type_traits": """namespace std {
template <bool, class T, class> struct conditional { using type = T; };
template <class T, class F> struct conditional<false, T, F> { using type = F; };
template <bool B, class T, class F> using conditional_t = typename conditional<B, T, F>::type;
}
""",
}
"""What kernels need of headers that NVRTC cannot read, by their names."""

OPTIONS = (
    # GCC's name, which NVRTC before 13.5 lacks, by the operator of its parser for that purpose.
    "-D__builtin_offsetof(T, member)=__INTADDR__(&((T*)0)->member)",
    "-default-device",  # constexpr functions may be called, as with nvcc
    "--ptxas-options=-v",
)
RELEASE = re.compile(r"\bV(\d+\.\d+\.\d+)")  # in what nvcc prints, and in the head of PTX


@cache
def read_release() -> str:
    """Return the release, like "13.0.88"; "" if NVRTC is not installed."""
    try:
        text = compile_text(b"", "empty.cu", "compute_80", ())[0]
    except (ImportError, RuntimeError, BackendError):
        return ""
    match = RELEASE.search(text.decode(errors="replace"))
    return match[1] if match else "of an unknown release" if text else ""


def compile_text(text: bytes, name: str, arch: str, options: Sequence[str]) -> tuple[bytes, str]:
    """Return machine code, nothing where NVRTC refuses, and the log; PTX of an architecture like
    "compute_80"."""
    from cuda.bindings import nvrtc

    names, contents = ([each.encode() for each in part] for part in (HEADERS, HEADERS.values()))
    program = _ask(nvrtc.nvrtcCreateProgram, text, name.encode(), len(names), contents, names)
    try:
        given = (
            *options,
            *OPTIONS,
            *_find_cache_option(),
            f"-arch={arch}",
            *_list_folder_options(),
        )
        words = [each.encode() for each in given]
        (status,) = nvrtc.nvrtcCompileProgram(program, len(words), words)
        log = _read_text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog, program)
        output = log.rstrip(b"\0").decode(errors="replace")
        if status:
            return b"", output or str(status)
        if arch.startswith("compute_"):
            return _read_text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX, program), output
        return _read_text(nvrtc.nvrtcGetCUBINSize, nvrtc.nvrtcGetCUBIN, program), output
    finally:
        nvrtc.nvrtcDestroyProgram(program)


def collect_identity() -> tuple[str, ...]:
    """Return what the same kernel and options depend on, for the name of a cubin."""
    return (
        "NVRTC",
        read_release(),
        *OPTIONS,
        *HEADERS.values(),
        *_list_folder_options(),
        _digest_header(),
    )


@cache
def _digest_header() -> str:
    """Return a digest of a header that every release of CUDA changes; "" without headers."""
    versions = (
        Path(each.removeprefix("-I"), "cuda_runtime_api.h") for each in _list_folder_options()
    )
    version = next(filter(Path.is_file, versions), None)
    return blake2b(version.read_bytes(), digest_size=8).hexdigest() if version else ""


@cache
def _find_cache_option() -> tuple[str, ...]:
    """Return the option against the driver's cache: cubins are kept here, with their log."""
    from cuda.bindings import nvrtc

    return ("--no-cache",) if _ask(nvrtc.nvrtcVersion) >= (12, 9) else ()


@cache
def _list_folder_options() -> tuple[str, ...]:
    """Return the options for the folders with CUDA's headers: of wheels, then of a toolkit."""
    spec = find_spec("nvidia")
    wheels = [Path(each) for each in spec.submodule_search_locations or ()] if spec else []
    folders = [
        *(folder for each in wheels for folder in sorted(each.glob("cu*/include"))),
        *(Path(os.environ[name], "include") for name in TOOLKITS if os.environ.get(name)),
        Path("/usr/local/cuda/include"),
    ]
    return tuple(f"-I{folder}" for folder in folders if (folder / "cuda_bf16.h").is_file())


def _read_text(size: Callable[..., Any], get: Callable[..., Any], program: Any) -> bytes:
    # Written in place: never into bytes, of which those with one value are shared by the process.
    room = bytearray(int(_ask(size, program)))
    _ask(get, program, room)
    return bytes(room)


def _ask(call: Callable[..., tuple[Any, ...]], *arguments: Any) -> Any:
    status, *values = call(*arguments)
    if status:
        raise BackendError(f"NVRTC: {call.__name__} failed: {status}")
    return values[0] if len(values) == 1 else tuple(values)
