"""From a .cu file to machine code for one architecture, through the cubin cache.

nvcc compiles where there is one, else NVRTC; the production kernels have the same registers with
both. PyCUDA's `compile` would need the driver library, and hides the log of the assembler.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from pathlib import Path
from threading import Lock

from raytracer.backends.cuda import cache as cubins
from raytracer.backends.cuda import nvrtc
from raytracer.backends.cuda.cache import Cubin, collect_includes, compute_digest
from raytracer.backends.cuda.driver import GET
from raytracer.backends.kernel_sources import parse_flags, split_architecture
from raytracer.config.errors import BackendError
from raytracer.files.output import cache_folder
from raytracer.system.resources import kernels_folder

# Of every kernel; a kernel's header adds its own. The product's have --fmad=false there, no fused
# multiply-add but where a kernel writes one, and never --use_fast_math: the same numbers as on the
# CPU are worth more than the few per cent. For a profiler, NVCC_APPEND_FLAGS=-lineinfo adds the
# lines of the sources: the instructions are the same, and the code is three times as large.
FLAGS = ("-std=c++17", "-O3")
# Variables that change what nvcc makes of the same command line.
ENVIRONMENT = ("NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS", "NVCC_CCBIN")
PTX = "compute_80"  # what is shipped for devices newer than any code that is shipped
GET_COMPILER = f"{GET}; or install the CUDA toolkit, or point RAYTRACER_NVCC at its nvcc"
_announced: set[tuple[str, str]] = set()  # kernels and architectures of messages
_locks: defaultdict[str, Lock] = defaultdict(Lock)  # held while one is found or compiled

Notify = Callable[[str], None]
Macros = Mapping[str, str]


class CompileError(BackendError):
    """The compiler refused a kernel; the message is its log."""

    max_sentences = 1000


class NoCompilerError(BackendError):
    """There is neither machine code of a kernel nor a compiler."""


def list_compatible(arch: str) -> list[str]:
    """Return the architectures whose code runs on a device of `arch`, the best first.

    A device runs its own code, that of earlier devices with the same major capability without
    code of their own, and PTX, which the driver compiles.
    """
    capability, suffix = split_architecture(arch)
    first = capability // 10 * 10
    earlier = [f"sm_{each}" for each in range(capability - (not suffix), first - 1, -1)]
    return [arch, *earlier, *([PTX] if capability >= split_architecture(PTX)[0] else [])]


def find_nvcc() -> Path | None:
    """Return nvcc: $RAYTRACER_NVCC, on the PATH, or in the toolkit's folder; None if missing."""
    name = os.environ.get("RAYTRACER_NVCC") or "nvcc"
    folders = [os.environ[each] for each in nvrtc.TOOLKITS if os.environ.get(each)]
    others = [*(f"{folder}/bin" for folder in folders), "/usr/local/cuda/bin"]
    for folder in [None, *(others if name == "nvcc" else ())]:
        if path := shutil.which(name, path=folder):
            return Path(path)
    return None


@cache
def read_nvcc_version(nvcc: Path) -> str:
    done = subprocess.run([nvcc, "--version"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BackendError(f"{nvcc} --version fails: {(done.stderr or done.stdout).strip()}")
    return done.stdout.strip()


def describe_compiler() -> str:
    """The compiler in use and its release, like "nvcc 13.0.88" or "NVRTC 13.0.88"; "" of none."""
    if nvcc := find_nvcc():
        match = nvrtc.RELEASE.search(read_nvcc_version(nvcc))
        return f"nvcc {match[1]}" if match else "nvcc"
    return f"NVRTC {nvrtc.read_release()}" if nvrtc.read_release() else ""


def read_cuda_version() -> int:
    match = re.search(r"(\d+)\.", describe_compiler())
    return int(match[1]) if match else 0


def collect_flags(source: Path, macros: Macros | None = None) -> tuple[str, ...]:
    """Return the options for a kernel: every kernel's, those of its header, and the macros."""
    defined = (f"-D{name}={value}" for name, value in sorted((macros or {}).items()))
    return (*FLAGS, *parse_flags(source), *defined)


def make_cubin_name(
    source: Path, arch: str, root: Path | None = None, macros: Macros | None = None
) -> str:
    """Return the name that covers everything a cubin is made from; without a compiler, a pattern
    for those of any compiler."""
    identity: tuple[str, ...] = ()  # what the same kernel and options depend on
    if nvcc := find_nvcc():
        identity = read_nvcc_version(nvcc), *(os.environ.get(name, "") for name in ENVIRONMENT)
    elif describe_compiler():
        identity = nvrtc.collect_identity()
    closure = collect_includes(source, root or kernels_folder())
    key = compute_digest(closure, arch, *collect_flags(source, macros))
    compiler = compute_digest({}, *identity)[:8] if identity else "*"
    return f"{source.parent.name}-{source.stem}.{arch}.{key}.{compiler}.cubin"


def load_cubin(
    source: Path, arch: str, root: Path | None = None, notify: Notify | None = None,
    shipped: bool = True, macros: Macros | None = None,
) -> Cubin:  # fmt: skip
    """Return the cubin of a kernel: shipped, cached, or compiled now and kept.

    source: the .cu file. arch: "sm_90a". root: the kernels folder; the package's by default.
    notify: called with a line before a compilation; by default it goes to standard error.
    shipped: whether a cubin that came with the package will do.
    """
    name = make_cubin_name(source, arch, root, macros)
    with _locks[name]:  # several GPUs need the same code at the same time
        if found := cubins.find_cubin(name, root or kernels_folder(), shipped):
            return found
        notify = notify or partial(print, "raytracer:", file=sys.stderr, flush=True)
        stem = name.split(".")[0]
        # A product of any size has many instances, by its macros: one message is for all.
        is_new = not macros or (stem, arch) not in _announced
        if (made_by := describe_compiler()) and is_new:
            _announced.add((stem, arch))
            notify(f"compiling {stem} for {arch} by {made_by} (once; the result is kept)")
        try:
            cubin = compile_source(source, arch, root, macros)
        except BackendError:
            if shipped and (other := find_ready_made(source, arch, root, macros)):
                return other
            raise
        try:
            return replace(cubin, path=cubins.write_cubin(cache_folder("cubins"), name, cubin))
        except OSError as error:
            notify(f"the cubin cannot be kept ({error}): set RAYTRACER_CACHE to a folder that "
                   "only you can write")  # fmt: skip
            return cubin


def find_cubin(
    source: Path, arch: str, root: Path | None, shipped: bool, macros: Macros | None = None
) -> Cubin | None:
    """Return what `load_cubin` would return without compiling, or None."""
    return cubins.find_cubin(
        make_cubin_name(source, arch, root, macros), root or kernels_folder(), shipped
    )


def find_ready_made(
    source: Path, arch: str, root: Path | None = None, macros: Macros | None = None
) -> Cubin | None:
    """Return code that was compiled before and runs on a device of `arch`, or None."""
    names = (make_cubin_name(source, each, root, macros) for each in list_compatible(arch))
    return next(
        filter(None, (cubins.find_cubin(name, root or kernels_folder()) for name in names)), None
    )


def compile_source(
    source: Path, arch: str, root: Path | None = None, macros: Macros | None = None
) -> Cubin:
    """Run the compiler, whatever the cache holds; raises as `load_cubin` does."""
    made_by = describe_compiler()
    if not made_by:
        raise NoCompilerError(
            f"there is no cubin of {source.name} for {arch} and no compiler: {GET_COMPILER}"
        )
    options = [*collect_flags(source, macros), "-I", str(root or kernels_folder())]
    if nvcc := find_nvcc():
        code, log = _compile_by_nvcc(nvcc, source, arch, options)
    else:
        known = [each for each in options if each != "-O3"]  # which is its default
        code, log = nvrtc.compile_text(source.read_bytes(), str(source), arch, known)
    # Without the times of the compiler: the same sources give the same file.
    lines = [line for line in log.splitlines() if "Compile time" not in line]
    if not code:
        kernel = f"{source.parent.name}/{source.name}"
        raise CompileError(f"{made_by} cannot compile {kernel} for {arch}:", *lines)
    return Cubin(code, "\n".join(lines), compiler=made_by)


def _compile_by_nvcc(nvcc: Path, source: Path, arch: str, options: list[str]) -> tuple[bytes, str]:
    """Return machine code, nothing where nvcc refuses, and the log."""
    with tempfile.TemporaryDirectory(prefix="raytracer-") as folder:
        output = Path(folder, "kernel.cubin")
        kind = "-ptx" if arch.startswith("compute_") else "-cubin"
        target = [kind, f"-arch={arch}", "-Xptxas", "-v", "-o", str(output), str(source)]
        command = [str(nvcc), *options, *target]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        code = output.read_bytes() if done.returncode == 0 else b""
        end = b"\0" if code and kind == "-ptx" else b""  # PTX is text for the driver
        return code + end, f"{done.stdout}{done.stderr}"
