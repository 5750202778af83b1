"""Matrix products by cuBLASLt: the fastest of the algorithms that its heuristic proposes.

PyTorch takes the first proposal. The library is that of NVIDIA's Python packages or of the toolkit;
it is called through ctypes with a workspace, on the arrays of the bench.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.errors import BackendError

if TYPE_CHECKING:
    from raytracer.benchmark.cuda.guarded_memory import Memory
    from raytracer.benchmark.cuda.session import Enqueue, Session
    from raytracer.benchmark.products.problem import Problem
    from raytracer.benchmark.runner import Plan

WORKSPACE = 64 << 20  # bytes; twice what PyTorch gives on Hopper
PROPOSALS = 8
ROUNDS = 3  # launches of each proposal; the shortest counts

# Values of cublasLt.h, cublas_api.h and library_types.h.
TYPES = {2: 14, 4: 0}  # CUDA_R_16BF and CUDA_R_32F by the bytes of a value
COMPUTE_32F = 68
TRANSPOSED_FIRST = 3
MAX_WORKSPACE = 1
NAMES = ("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so")


class Proposal(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t, which begins with the algorithm."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


def prepare(session: Session, plan: Plan, memory: Memory) -> Callable[[], Any]:
    """Return a function that queues a product of the bench into separate memory."""
    from raytracer.benchmark.cuda.guarded_memory import Memory

    results = Memory(session, {"c": plan.outputs["c"].nbytes, "workspace": WORKSPACE})
    places = {name: memory.address(name) for name in plan.op.inputs} | {"c": results.address("c")}
    problem = plan.op.problem(plan.axes, plan.dtype, places.__getitem__)
    launch = fastest(session, problem, results.address("workspace"))

    def enqueue(_memory: Memory = results) -> None:  # keeps it alive
        launch()

    return enqueue


def fastest(session: Session, problem: Problem, workspace: int) -> Enqueue:
    """Return a function that queues a product by the fastest proposal of the library.

    The library takes matrices by columns, so it computes the transpose of C. A and B are stored as
    in the bench, B of bfloat16 by columns; `Operand.transposed` is not supported.

    Args:
        session: the GPU.
        problem: the matrices.
        workspace: address of WORKSPACE bytes.

    Raises:
        ImportError: the library is not installed.
        BackendError: it refuses the product.
    """
    a, b, c = problem.a, problem.b, problem.c
    product = _made("MatmulDesc", COMPUTE_32F, TYPES[4])
    _set("MatmulDesc", product, TRANSPOSED_FIRST, ctypes.c_int32(b.size == 2))
    preference = _made("MatmulPreference")
    _set("MatmulPreference", preference, MAX_WORKSPACE, ctypes.c_uint64(WORKSPACE))
    of_a, of_b, of_c = (  # rows are columns to the library
        _made(
            "MatrixLayout", TYPES[each.size], ctypes.c_uint64(each.cols),
            ctypes.c_uint64(each.rows), ctypes.c_int64(each.pitch),
        )
        for each in (a, b, c)
    )  # fmt: skip
    proposals, count = (Proposal * PROPOSALS)(), ctypes.c_int()
    _call(
        "cublasLtMatmulAlgoGetHeuristic", _handle(), product, of_b, of_a, of_c, of_c, preference,
        PROPOSALS, proposals, ctypes.byref(count),
    )  # fmt: skip
    one, zero = ctypes.c_float(1), ctypes.c_float(0)
    at_a, at_b, at_c = (ctypes.c_void_p(each.address) for each in (a, b, c))

    def run(proposal: Proposal) -> None:
        _call(
            "cublasLtMatmul", _handle(), product, ctypes.byref(one), at_b, of_b, at_a, of_a,
            ctypes.byref(zero), at_c, of_c, at_c, of_c, ctypes.byref(proposal),
            ctypes.c_void_p(workspace), ctypes.c_size_t(WORKSPACE),
            ctypes.c_void_p(int(session.stream.handle)),
        )  # fmt: skip

    launches = [partial(run, each) for each in proposals[: count.value] if each.state == 0]
    if not launches:
        raise BackendError("cuBLASLt proposes no algorithm")
    return min(launches, key=lambda launch: min(session.cold(launch, ROUNDS, False)))


def version() -> str:
    """Return the version of the library."""
    number = _library().cublasLtGetVersion
    number.restype = ctypes.c_size_t
    return str(number())


def _made(name: str, *arguments: Any) -> ctypes.c_void_p:
    """Create an object of the library."""
    made = ctypes.c_void_p()
    _call(f"cublasLt{name}Create", ctypes.byref(made), *arguments)
    return made


def _set(kind: str, target: ctypes.c_void_p, key: int, value: Any) -> None:
    """Set an attribute of a descriptor."""
    size = ctypes.c_size_t(ctypes.sizeof(value))
    _call(f"cublasLt{kind}SetAttribute", target, key, ctypes.byref(value), size)


def _call(name: str, *arguments: Any) -> None:
    if status := getattr(_library(), name)(*arguments):
        raise BackendError(f"cuBLASLt: {name} failed with status {status}")


@cache
def _handle() -> ctypes.c_void_p:
    """Return the handle of the library, whose creation takes long."""
    return _made("")


@cache
def _library() -> ctypes.CDLL:
    """Load the library: that of NVIDIA's Python packages, which PyTorch requires, or another."""
    spec = find_spec("nvidia")
    folders = map(Path, (spec and spec.submodule_search_locations) or ())
    installed = [str(path) for each in folders for path in each.glob("*/lib/libcublasLt.so.*")]
    for name in (*installed, *NAMES):
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise ImportError("cuBLASLt is not installed")
