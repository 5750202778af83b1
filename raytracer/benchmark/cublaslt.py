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
    from raytracer.benchmark.cuda.session import Session
    from raytracer.benchmark.runner import Plan

WORKSPACE = 64 << 20  # bytes; twice what PyTorch gives on Hopper
PROPOSALS = 8
FEW, LONG = (
    3,
    3e-3,
)  # seconds; the first proposals of longer products are timed, since others are no faster
NEAR = 1.15  # times the shortest: proposals that are timed again, several launches in a row

# Values of cublasLt.h, cublas_api.h and library_types.h.
_TYPES = {
    "float32": 0,
    "bfloat16": 14,
    "uint16": 14,
}  # CUDA_R_32F, CUDA_R_16BF (uint16 has its bits)
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
        self,
        session: Session,
        sizes: tuple[int, int, int],
        types: tuple[str, str],
        b_by_columns: bool,
        addresses: tuple[int, int, int, int],
    ) -> None:
        """Ask for proposals, and time them.

        Args:
            session: the GPU.
            sizes: m, n and k.
            types: of A and B, and of C.
            b_by_columns: whether B is stored as (n, k) rather than (k, n).
            addresses: of A, B, C and of WORKSPACE bytes.

        Raises:
            ImportError: the library is not installed.
            BackendError: it refuses the product.
        """
        self._library, self._session, self._addresses = _library(), session, addresses
        (m, n, k), (inputs, output) = sizes, (_TYPES[types[0]], _TYPES[types[1]])
        self._one, self._zero = ctypes.c_float(1), ctypes.c_float(0)
        self._product = ctypes.c_void_p()
        self._handle = _handle()
        self._call("cublasLtMatmulDescCreate", ctypes.byref(self._product), _COMPUTE_32F, 0)
        for key, value in (
            (_TRANSPOSED_A, _OP_T if b_by_columns else _OP_N),
            (_TRANSPOSED_B, _OP_N),
        ):
            given = ctypes.c_int32(value)
            name = "cublasLtMatmulDescSetAttribute"
            self._call(name, self._product, key, ctypes.byref(given), ctypes.c_size_t(4))
        self._b = self._layout(inputs, k, n) if b_by_columns else self._layout(inputs, n, k)
        self._a, self._c = self._layout(inputs, k, m), self._layout(output, n, m)
        self._best = self._fastest(self._proposals())

    def launch(self) -> None:
        """Queue the product."""
        self._run(self._best)

    def _layout(self, kind: int, rows: int, cols: int) -> ctypes.c_void_p:
        """Describe a column-major matrix without gaps."""
        layout = ctypes.c_void_p()
        extents = (ctypes.c_uint64(rows), ctypes.c_uint64(cols), ctypes.c_int64(rows))
        self._call("cublasLtMatrixLayoutCreate", ctypes.byref(layout), kind, *extents)
        return layout

    def _proposals(self) -> list[_Proposal]:
        preference, room = ctypes.c_void_p(), ctypes.c_size_t(WORKSPACE)
        self._call("cublasLtMatmulPreferenceCreate", ctypes.byref(preference))
        name = "cublasLtMatmulPreferenceSetAttribute"
        self._call(name, preference, _MAX_WORKSPACE, ctypes.byref(room), ctypes.c_size_t(8))
        found, count = (_Proposal * PROPOSALS)(), ctypes.c_int()
        layouts = (self._b, self._a, self._c, self._c)
        self._call(
            "cublasLtMatmulAlgoGetHeuristic", self._handle, self._product, *layouts, preference,
            PROPOSALS, found, ctypes.byref(count),
        )  # fmt: skip
        self._call("cublasLtMatmulPreferenceDestroy", preference)
        return [each for each in found[: count.value] if each.state == 0]

    def _fastest(self, proposals: list[_Proposal]) -> _Proposal:
        if not proposals:
            raise BackendError("cuBLASLt proposes no algorithm")
        times = list[float]()
        for each in proposals:
            times.append(self._session.cold(partial(self._run, each), 2, False)[-1])
            if min(times) > LONG and len(times) == FEW:
                break
        near = [i for i, seconds in enumerate(times) if seconds <= NEAR * min(times)]
        if len(near) > 1 and min(times) <= LONG:
            count = max(2, min(16, int(0.5e-3 / min(times))))
            for i in near:
                run = partial(self._run, proposals[i])
                times[i] = min(self._session.hot(run, count, 1) for _ in range(2))
        return proposals[min(near, key=times.__getitem__)]

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
    from raytracer.benchmark.cuda.guarded_memory import Memory

    axes, output = plan.axes, plan.op.output_arrays(plan.axes, plan.dtype)["c"]
    own = Memory(session, {"c": output.nbytes, "workspace": WORKSPACE})
    addresses = (
        memory.address("a"), memory.address("b"), own.address("c"), own.address("workspace"),
    )  # fmt: skip
    product = Product(
        session,
        (axes["m"], axes["n"], axes["k"]),
        (plan.op.dtypes[0] if plan.op.name == "matmul_bf16" else plan.dtype, output.dtype),
        plan.op.name == "matmul_bf16",
        addresses,
    )

    def enqueue(_held: Memory = own) -> None:
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
