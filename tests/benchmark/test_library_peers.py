"""Libraries of the bench: what is missing is named, and cuBLASLt computes the products."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from raytracer.benchmark import cublaslt, peers
from raytracer.benchmark.cuda.guarded_memory import Memory
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.operations import find
from raytracer.benchmark.operations.base import Peer, relative_error
from raytracer.benchmark.runner import Plan, loaded


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise OSError(name)

    for module in (peers, cublaslt):
        monkeypatch.setattr(module, "find_spec", lambda _: None)
    monkeypatch.setattr(ctypes, "CDLL", missing)
    session: Any = None
    with pytest.raises(ImportError, match="torch is not installed"):
        peers.prepare(Peer("PyTorch"), session, session, session, {})
    with pytest.raises(ImportError, match="cuBLASLt is not installed"):
        cublaslt._library.__wrapped__()


@pytest.mark.gpu
@pytest.mark.parametrize(
    ("name", "dtype"),
    [("matmul", "float32"), ("matmul_bf16", "bfloat16"), ("matmul_bf16", "bfloat16_out")],
)
def test_cublaslt_computes_the_product(cuda: str, name: str, dtype: str) -> None:
    op = find(name)
    axes = {"m": 264, "n": 520, "k": 328}
    plan = Plan(op, axes, dtype)
    arrays, output = plan.values(), plan.outputs["c"]
    result = np.empty(output.shape, output.dtype)
    with Session() as session, loaded(session, plan, arrays) as memory:
        with Memory(session, {"workspace": cublaslt.WORKSPACE}) as room:
            problem = op.problem(axes, dtype, memory.address)
            try:
                launch = cublaslt.fastest(session, problem, room.address("workspace"))
            except ImportError as error:
                pytest.skip(str(error))
            memory.poison("c")
            launch()
            session.wait()
        memory.download("c", result)
        assert not memory.overrun("c")
    off = relative_error(result, op.reference(arrays)["c"])
    assert off <= op.tolerance(axes, dtype)
