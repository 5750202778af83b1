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

from raytracer.benchmark.cuda.guarded_memory import Memory
from raytracer.errors import BackendError

if TYPE_CHECKING:
    from raytracer.benchmark.cuda.session import Session
    from raytracer.benchmark.products.problem import Operand, Problem
    from raytracer.benchmark.runner import Plan

WORKSPACE = 64 << 20  # bytes; twice what PyTorch gives on Hopper
PROPOSALS = 8
ROUNDS = 3  # launches of each proposal, of which the shortest counts

# Values of cublasLt.h, cublas_api.h and library_types.h.
_TYPES = {"float32": 0, "uint16": 14}  # CUDA_R_32F, and CUDA_R_16BF, whose bits uint16 has
_COMPUTE_32F = 68
_TRANSPOSED_A, _TRANSPOSED_B = 3, 4
_OP_N, _OP_T = 0, 1
_MAX_WORKSPACE = 1
_NAMES = ("libcublasLt.so.13", "libcublasLt.so.12", "libcublasLt.so")


class _Proposal(ctypes.Structure):
    """cublasLtMatmulHeuristicResult_t."""

    _fields_ = (
        ("algorithm", ctypes.c_uint64 * 8),
        ("workspace", ctypes.c_size_t),
        ("state", ctypes.c_int),
        ("waves", ctypes.c_float),
        ("reserved", ctypes.c_int * 4),
    )


class Product:
    """One product of row-major matrices, C (m, n) = A (m, k) B, with the fastest algorithm.

    In the column-major view of the library, C transposed is B transposed times A transposed.
    """

    def __init__(
        self, session: Session, problem: Problem, types: tuple[int, int], workspace: int
    ) -> None:
        """Time the proposals.

        Args:
            session: the GPU.
            problem: sizes and addresses, B stored as (k, n), or as (n, k) in bfloat16.
            types: of A and B, and of C, by their numbers in the library.
            workspace: address of WORKSPACE bytes.

        Raises:
            ImportError: the library is not installed.
            BackendError: it refuses the product.
        """
        self._library, self._session = _library(), session
        a, b, c = problem.a, problem.b, problem.c
        self._addresses = a.address, b.address, c.address, workspace
        self._one, self._zero = ctypes.c_float(1), ctypes.c_float(0)
        self._product = ctypes.c_void_p()
        self._handle = _handle()
        self._call("cublasLtMatmulDescCreate", ctypes.byref(self._product), _COMPUTE_32F, 0)
        for key, value in (
            (_TRANSPOSED_A, _OP_T if b.size == 2 else _OP_N),
            (_TRANSPOSED_B, _OP_N),
        ):
            number = ctypes.c_int32(value)
            name = "cublasLtMatmulDescSetAttribute"
            self._call(name, self._product, key, ctypes.byref(number), ctypes.c_size_t(4))
        self._a, self._b = self._layout(types[0], a), self._layout(types[0], b)
        self._c = self._layout(types[1], c)
        self._best = self._fastest(self._proposals())

    def launch(self) -> None:
        """Queue the product."""
        self._run(self._best)

    def _layout(self, kind: int, operand: Operand) -> ctypes.c_void_p:
        """Describe a matrix, whose rows are columns to the library."""
        layout = ctypes.c_void_p()
        rows, cols = ctypes.c_uint64(operand.cols), ctypes.c_uint64(operand.rows)
        pitch = ctypes.c_int64(operand.pitch)
        self._call("cublasLtMatrixLayoutCreate", ctypes.byref(layout), kind, rows, cols, pitch)
        return layout

    def _proposals(self) -> list[_Proposal]:
        preference, room = ctypes.c_void_p(), ctypes.c_size_t(WORKSPACE)
        self._call("cublasLtMatmulPreferenceCreate", ctypes.byref(preference))
        name = "cublasLtMatmulPreferenceSetAttribute"
        self._call(name, preference, _MAX_WORKSPACE, ctypes.byref(room), ctypes.c_size_t(8))
        results, count = (_Proposal * PROPOSALS)(), ctypes.c_int()
        layouts = (self._b, self._a, self._c, self._c)
        self._call(
            "cublasLtMatmulAlgoGetHeuristic", self._handle, self._product, *layouts, preference,
            PROPOSALS, results, ctypes.byref(count),
        )  # fmt: skip
        self._call("cublasLtMatmulPreferenceDestroy", preference)
        return [each for each in results[: count.value] if each.state == 0]

    def _fastest(self, proposals: list[_Proposal]) -> _Proposal:
        if not proposals:
            raise BackendError("cuBLASLt proposes no algorithm")
        times = [
            min(self._session.cold(partial(self._run, each), ROUNDS, False)) for each in proposals
        ]
        return proposals[times.index(min(times))]

    def _run(self, proposal: _Proposal) -> None:
        a, b, c, workspace = map(ctypes.c_void_p, self._addresses)
        stream = ctypes.c_void_p(int(self._session.stream.handle))
        self._call(
            "cublasLtMatmul", self._handle, self._product, ctypes.byref(self._one),
            b, self._b, a, self._a, ctypes.byref(self._zero), c, self._c, c, self._c,
            ctypes.byref(proposal), workspace, ctypes.c_size_t(WORKSPACE), stream,
        )  # fmt: skip

    def _call(self, name: str, *arguments: Any) -> None:
        if status := getattr(self._library, name)(*arguments):
            raise BackendError(f"cuBLASLt: {name} failed with status {status}")


def prepare(session: Session, plan: Plan, memory: Memory) -> Callable[[], Any]:
    """Return a function that queues a product of the bench; C has the type of our output.

    Args:
        session: the GPU.
        plan: a product, matmul or matmul_bf16.
        memory: the inputs a and b.

    Raises:
        ImportError: the library is not installed.
        BackendError: it refuses the product.
    """
    (output,) = plan.op.output_arrays(plan.axes, plan.dtype).values()
    own = Memory(session, {"c": output.nbytes, "workspace": WORKSPACE})
    problem = plan.op.problem(
        plan.axes, plan.dtype, lambda name: (own if name == "c" else memory).address(name)
    )
    inputs = plan.op.input_arrays(plan.axes, plan.dtype)["a"]
    types = _TYPES[inputs.dtype], _TYPES[output.dtype]
    product = Product(session, problem, types, own.address("workspace"))

    def enqueue(_memory: Memory = own) -> None:
        product.launch()

    enqueue()
    session.wait()
    return enqueue


def version() -> str:
    """Return the version of the library."""
    number = _library().cublasLtGetVersion
    number.restype = ctypes.c_size_t
    return str(number())


@cache
def _handle() -> ctypes.c_void_p:
    """Return the handle of the library, which is made once: that takes long."""
    handle = ctypes.c_void_p()
    if status := _library().cublasLtCreate(ctypes.byref(handle)):
        raise BackendError(f"cuBLASLt: cublasLtCreate failed with status {status}")
    return handle


@cache
def _library() -> ctypes.CDLL:
    """Load the library; raise ImportError without one."""
    for name in [*_installed(), *_NAMES]:
        try:
            return ctypes.CDLL(name)
        except OSError:
            continue
    raise ImportError("cuBLASLt is not installed")


def _installed() -> list[str]:
    """Return the libraries of NVIDIA's Python packages, which PyTorch requires."""
    spec = find_spec("nvidia")
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return [str(path) for folder in folders for path in Path(folder).glob("*/lib/libcublasLt.so.*")]
