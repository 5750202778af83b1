"""Functions of the kernels called from Python over arrays: tests/probe, compiled for each target.

A target is an instruction set of the CPU, as its lanes ("avx2") or as plain floats
("avx2 scalar"), or "cuda". The functions, with the inputs and outputs of each, are listed in
tests/probe/functions.h.
"""

import ctypes
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from raytracer.backends.cuda.cache import collect_includes, compute_digest, find_included
from raytracer.packing.view import make_frame
from raytracer.system import layout
from raytracer.system.resources import kernels_folder
from support.libraries import library

SOURCES = Path(__file__).parents[1] / "probe"
ISAS = ("portable", "avx2", "avx512")
TARGETS = (*ISAS, *(f"{isa} scalar" for isa in ISAS), "cuda")
# Members of Uniform in functions.h: structs by name, tables, then four whole and four real numbers.
STRUCTS = {
    "camera": "Camera",
    "frame": "Frame",
    "light": "Light",
    "large": "LargeSphere",
    "node": "Node",
    "tone": "ToneArgs",
}

TABLES = {"emitters": ("Emitter", 4), "sky": ("EnvironmentTexel", 64)}

Floats = NDArray[np.float32]
# inputs (I, N), rows of outputs, structured (): Uniform -> outputs (O, N)
Run = Callable[[str, Floats, int, NDArray[np.void]], Floats]


def listed(text: str) -> list[tuple[str, tuple[int, int, bool]]]:
    """The rows of a list of functions: name, then inputs, outputs and whether it takes lanes."""
    rows = re.findall(r"\b([ES])\((\w+), (\d+), (\d+)\)", text)
    return [
        (name, (int(inputs), int(outputs), kind == "E")) for kind, name, inputs, outputs in rows
    ]


@cache
def functions() -> dict[str, tuple[int, int, bool]]:
    """Inputs and outputs of each function by its name, and whether it takes lanes."""
    return dict(listed((SOURCES / "functions.h").read_text(encoding="utf-8")))


@cache
def uniform_dtype() -> np.dtype[Any]:
    """What is the same for all rows: struct Uniform of functions.h."""
    members: list[Any] = [(name, layout.struct_dtype(struct)) for name, struct in STRUCTS.items()]
    members += [
        (name, layout.struct_dtype(struct), rows) for name, (struct, rows) in TABLES.items()
    ]
    return np.dtype([*members, ("integer", np.int32, 4), ("number", np.float32, 4)])


class Probe:
    """The functions on one target.

    is_cuda: some functions are the hardware's approximations. has_fma: a multiply-add rounds once.
    """

    def __init__(self, target: str, run: Run) -> None:
        self.target = target
        self.is_cuda = target == "cuda"
        self.has_fma = not target.startswith("portable")
        self._run = run

    def __call__(self, function: str, *columns: ArrayLike, **uniform: Any) -> Floats:
        """Outputs of a function of functions.h, float32 (N, outputs).

        columns: its inputs in order, (N,) or (N, k), or of one row for all; integers pass as bits.
        uniform: members of Uniform: dictionaries of fields, rows of tables, or numbers.
        """
        inputs, outputs, _ = functions()[function]
        parts = [_as_bits(column) for column in columns]
        count = max(len(part) for part in parts)
        rows = np.concatenate([np.broadcast_to(p, (count, p.shape[1])) for p in parts], axis=1)
        assert rows.shape[1] == inputs, f"{function} takes {inputs} numbers"
        values = np.zeros((), uniform_dtype())
        for name, value in uniform.items():
            if name == "frame":
                values[name] = make_frame(**value)[0]
            elif name in TABLES:
                values[name][: len(value)] = value
            elif isinstance(value, dict):
                for field, number in value.items():
                    values[name][field] = number
            else:
                values[name][: np.size(value)] = value
        return self._run(function, np.ascontiguousarray(rows.T), outputs, values).T


def _as_bits(column: ArrayLike) -> Floats:
    """A column of rows, float32 (N, k)."""
    given = np.asarray(column)
    if given.dtype.kind in "iu":
        given = given.astype(np.uint32).view(np.float32)
    given = np.atleast_1d(given.astype(np.float32, copy=False))
    return given[:, None] if given.ndim == 1 else given


# ---- CPU


def cpu(target: str, cache_folder: Path) -> Probe:
    """The functions on an instruction set of this CPU.

    cache_folder: where libraries are kept from one run of the tests to the next.
    """
    isa, _, scalar = target.partition(" ")
    built = _library(isa, cache_folder)
    size = ctypes.c_int.in_dll(built, "layout_table").value
    assert size == uniform_dtype().itemsize, "STRUCTS are not the members of Uniform"
    pointer = ctypes.c_void_p

    def run(name: str, rows: Floats, outputs: int, uniform: NDArray[np.void]) -> Floats:
        kind = "scalar" if scalar or not functions()[name][2] else "wide"
        out = np.full((outputs, rows.shape[1]), np.nan, np.float32)
        entry = getattr(built, f"{kind}_{name}")
        entry.argtypes = pointer, pointer, ctypes.c_int64, pointer
        entry.restype = None
        entry(rows.ctypes.data, out.ctypes.data, rows.shape[1], uniform.ctypes.data)
        return out

    return Probe(target, run)


def _library(isa: str, folder: Path) -> ctypes.CDLL:
    """The shared library of an instruction set, compiled as the extension is."""
    build = (kernels_folder() / "CMakeLists.txt").read_text(encoding="utf-8")
    options = re.search(r"target_compile_options\(rt_options INTERFACE\s+([^)]*)\)", build)
    flags = re.search(rf"rt_add_isa\({isa}\b\s*([^)]*)\)", build)
    assert options is not None
    assert flags is not None
    return library(
        folder, isa, '#include "cpu.cpp"\n', *options[1].split(), *flags[1].split(),
        f"-DRT_ISA={isa}", f"-DRT_ISA_{isa.upper()}=1",
    )  # fmt: skip


# ---- CUDA


def cubin(arch: str) -> bytes:
    """The functions compiled for an architecture, "sm_90a", and kept; raises CompileError."""
    from raytracer.backends.cuda import cache
    from raytracer.backends.cuda.compile import compile_source, make_cubin_name
    from support.alone import alone

    root, source = kernels_folder(), SOURCES / "cuda.cu"
    texts = [(SOURCES / name).read_text(encoding="utf-8") for name in ("cuda.cu", "functions.h")]
    functions, closure = SOURCES / "functions.h", dict[str, bytes]()
    for header in find_included(functions, functions.read_bytes(), root.resolve()):
        closure |= collect_includes(header, root)
    key = compute_digest(closure, arch, *texts)
    # of any kernel of the product: its digest of the compiler is the same
    compiler = make_cubin_name(root / "cuda" / "render_list.cu", arch, root).split(".")[3]
    name = f"probe-cuda.{arch}.{key}.{compiler}.cubin"
    with alone("probe"):
        found = cache.find_cubin(name, root)
        if found is None:
            found = compile_source(source, arch, root)
            cache.write_cubin(cache.make_own_folder(), name, found)
    return found.code


def cuda() -> Probe:
    """The functions on the first GPU."""
    from raytracer.backends.cuda.driver import get_primary_context

    context = get_primary_context(0)
    code = cubin(context.arch)
    with context.activate() as driver:
        module = driver.module_from_buffer(code)
        size = np.zeros(1, np.int32)
        driver.memcpy_dtoh(size, module.get_global("layout_table")[0])
    assert size[0] == uniform_dtype().itemsize, "STRUCTS are not the members of Uniform"

    def run(name: str, rows: Floats, outputs: int, uniform: NDArray[np.void]) -> Floats:
        count = rows.shape[1]
        out = np.full((outputs, count), np.nan, np.float32)
        with context.activate() as driver:
            memory = [driver.mem_alloc(max(a.nbytes, 4)) for a in (rows, out, uniform)]
            rows_at, out_at, uniform_at = map(int, memory)
            driver.memcpy_htod(rows_at, rows.tobytes())
            driver.memcpy_htod(uniform_at, uniform.tobytes())
            entry = module.get_function(f"scalar_{name}")
            entry.prepare("PPqP")
            grid, stream = (-(-count // 128), 1, 1), driver.Stream(0)
            entry.prepared_async_call(grid, (128, 1, 1), stream, rows_at, out_at, count, uniform_at)
            stream.synchronize()
            driver.memcpy_dtoh(out, out_at)
            for each in memory:
                each.free()
        return out

    return Probe("cuda", run)
