"""CUDA sources of the bench, compiled by g++ for the CPU, at sizes drawn at random."""

import ctypes
import re
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer.backends.kernel_sources import Variant, discover_variants
from raytracer.benchmark import operations as ops
from raytracer.benchmark.op import Op
from raytracer.benchmark.verification import Expected
from support.libraries import library

MULTIPROCESSORS = 1
GUARD = 64  # bytes before and behind every output

pytestmark = pytest.mark.slow


class Index(ctypes.Structure):
    """Three sizes."""

    _fields_ = [(name, ctypes.c_uint) for name in "xyz"]


def generator(*parameters: object) -> np.random.Generator:
    """A generator for one test: its draws do not depend on which tests ran before."""
    return np.random.default_rng([11, zlib.crc32(repr(parameters).encode())])


def compiled(variant: Variant, macros: dict[str, str], folder: Path) -> ctypes.CDLL:
    """Compile a kernel; the library has `go(grid, block, arguments)` and its constants."""
    text = (
        '#include "cuda_on_cpu.h"\n#define asm if (false) asm\n'  # prefetches
        f'#include "{variant.path}"\n'
        'extern "C" void go(Index grid, Index block, const std::uint64_t* arguments) {\n'
        + "".join(f"  launch({entry}, grid, block, arguments);\n" for entry in variant.entries)
        + "}\n"
        "#ifdef RT_OPERATOR_COPIES\n"
        'extern "C" int copies() { return RT_OPERATOR_COPIES; }\n'
        "#endif\n"
    )
    flags = ["-pthread", "-ffp-contract=off", *(f"-D{name}={macros[name]}" for name in macros)]
    code = variant.path.read_text(encoding="utf-8")
    if dynamic := re.search(r"extern __shared__ (\w+) ", code):
        flags.append(f"-DSHARED_TYPE={dynamic[1]}")
    elif "  __shared__ " in code:
        flags.append("-DSTATIC_SHARED")
    return library(folder, "kernel", text, *flags)


def aligned(count: int, offset: int) -> Any:
    """`count` bytes that begin `offset` bytes behind a multiple of 256."""
    room = np.full(count + 512 + offset + GUARD, 0xFF, np.uint8)
    begin = -room.ctypes.data % 256 + 256 + offset
    return room[begin : begin + count], room


def run(name: str, rung: int, dtype: str, axes: dict[str, int], folder: Path) -> None:
    """Compare one rung with the reference at one size."""
    op = ops.OPERATIONS[name].at(axes, dtype)
    (variant,) = (each for each in discover_variants(name) if each.number == rung)
    compare(variant, compiled(variant, op.macros(op.axes, dtype), folder), op)


def compare(variant: Variant, built: ctypes.CDLL, op: Op) -> None:
    """Compare a kernel with the reference, and look for writes beside the outputs."""
    launch = variant.configure_launch(op.launch_names, MULTIPROCESSORS)
    inputs, offsets = op.at({}, seed=3).values(), op.offsets
    pointers: list[int] = []
    kept, rooms = [], {}
    for key, array in inputs.items():
        copy, room = aligned(array.nbytes, offsets.get(key, 0))
        copy[:] = array.reshape(-1).view(np.uint8)
        kept.append(room)
        pointers.append(copy.ctypes.data)
    outputs = {}
    for key, output in op.output_arrays.items():
        outputs[key], rooms[key] = aligned(output.nbytes, offsets.get(key, 0))
        if op.clears:
            outputs[key][:] = 0
        pointers.append(outputs[key].ctypes.data)
    for key in variant.constant.split():
        operator = inputs[key].tobytes()
        copies = built.copies()
        target = (ctypes.c_char * (len(operator) * copies)).in_dll(built, f"c_{key}")
        ctypes.memmove(target, operator * copies, len(operator) * copies)
    if launch.scratch:
        scratch, room = aligned(launch.scratch, 0)
        kept.append(room)
        pointers.append(scratch.ctypes.data)
    arguments = (ctypes.c_uint64 * 16)(*pointers, *op.sizes)
    built.go(Index(*launch.grid), Index(*(launch.block or variant.block)), arguments)
    found = {
        key: outputs[key].view(output.dtype).reshape(output.shape)
        for key, output in op.output_arrays.items()
    }
    assert Expected(op, inputs).fault(found) == "", (op.axes, op.dtype)
    for key in outputs:
        room, begin = rooms[key], outputs[key].ctypes.data - rooms[key].ctypes.data
        assert (room[:begin] == 0xFF).all(), f"{key}: written before it"
        assert (room[begin + outputs[key].nbytes :] == 0xFF).all(), f"{key}: written behind it"
    if launch.scratch:
        assert (kept[-1][-GUARD:] == 0xFF).all(), "written behind the memory of the steps"


@pytest.mark.parametrize(
    ("name", "rung"),
    [
        (name, each.number)
        for name in ops.OPERATIONS
        if "elements" in ops.OPERATIONS[name].axes
        for each in discover_variants(name)
    ],
)
@pytest.mark.parametrize("kind", ["odd", "even"])
def test_elements(name: str, rung: int, kind: str, tmp_path: Path) -> None:
    rng = generator(name, rung, kind)
    n = int(rng.choice(range(3, 8, 2) if kind == "odd" else range(2, 11, 2)))
    dtype = str(rng.choice(["float32", "float64"]))
    elements = int(rng.integers(1, 2 * 256 // n**2 + 3))  # some blocks, the last one not full
    run(name, rung, dtype, {"elements": elements, "n": n}, tmp_path)


@pytest.mark.parametrize("offset", [0, 1, 2])
def test_additions(offset: int, tmp_path: Path) -> None:
    axes = {"n": int(generator(offset).integers(1, 9000)), "offset": offset}
    run("vecadd", 8, "float32", axes, tmp_path)


# Rungs that need nothing that a CPU lacks, with sizes around those of their blocks and pieces.
SIZES = {
    "vecadd": ({"n": 1}, {"n": 4095}, {"n": 16_385}),
    "matmul": (
        {"m": 3, "n": 1030, "k": 5},
        {"m": 37, "n": 45, "k": 29},
        {"m": 130, "n": 132, "k": 40},
    ),
    "matrixadd": ({"rows": 1, "cols": 1}, {"rows": 130, "cols": 67}, {"rows": 5, "cols": 2050}),
}


RUNGS = [
    (name, each.label, dtype)
    for name in SIZES
    for each in discover_variants(name)
    for dtype in ops.OPERATIONS[name].dtypes
    if each.supports(dtype) and each.admits("sm_75")  # later ones have instructions of their own
]


@pytest.mark.parametrize(("name", "rung", "dtype"), RUNGS)
def test_rungs(name: str, rung: str, dtype: str, tmp_path: Path) -> None:
    (variant,) = (each for each in discover_variants(name) if each.label == rung)
    op = ops.OPERATIONS[name]
    built = compiled(variant, op.macros(op.axes, dtype), tmp_path)
    for axes in SIZES[name]:
        compare(variant, built, op.at(axes, dtype))


@pytest.mark.parametrize(
    ("dtype", "most"), [("float32", 2000), ("uint32", 60_000), ("uint16", 60_000)]
)
@pytest.mark.parametrize("rung", [2, 3])
def test_histograms(rung: int, dtype: str, most: int, tmp_path: Path) -> None:
    rng = generator(dtype)
    axes = {"n": int(rng.integers(1, 10_000)), "bins": int(rng.integers(1, most))}
    run("histogram_bins", rung, dtype, axes, tmp_path)


# Rung and type: each way to read keys, which rungs of histogram_bins share.
HISTOGRAMS = [("histogram", rung, "uint8") for rung in range(1, 5)]
HISTOGRAMS += [("histogram_bins", 1, dtype) for dtype in ("float32", "uint32", "uint16")]
HISTOGRAMS += [("histogram_bins", 2, "float32"), ("histogram_bins", 2, "uint16")]
HISTOGRAMS += [("histogram_bins", 3, dtype) for dtype in ("float32", "uint16")]


@pytest.mark.parametrize(("name", "rung", "dtype"), HISTOGRAMS)
def test_keys_at_any_address(name: str, rung: int, dtype: str, tmp_path: Path) -> None:
    """No keys, fewer than to the first aligned address, whole loads between others, and many."""
    op, rng = ops.OPERATIONS[name], generator(name, rung, dtype)
    (variant,) = (each for each in discover_variants(name) if each.number == rung)
    width = 16 // {"uint8": 1, "uint16": 2}.get(dtype, 4)
    built = compiled(variant, op.macros(op.axes, dtype), tmp_path)
    many = int(rng.integers(1000, 5000 if rung < 3 else 20_000))
    for n, offset in ((0, 1), (width - 2, 1), (3 * width, width - 1), (many, 1)):
        axes = {**op.axes, "n": n, "offset": offset}
        if "bins" in axes:
            axes["bins"] = int(rng.integers(1, 2000))
        compare(variant, built, replace(op, axes=axes, dtype=dtype))
