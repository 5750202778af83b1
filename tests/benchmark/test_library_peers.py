"""Which libraries take part in the bench, and how they are called: with stand-ins for them."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest

from raytracer.benchmark import peers
from raytracer.benchmark.operations.base import Peer
from raytracer.benchmark.operations.vecadd import OP


class Stream:
    """A stream of CuPy's: a context, and something to wait for."""

    def __init__(self, handle: int) -> None:
        self.handle = handle
        self.waits = 0

    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...

    def synchronize(self) -> None:
        """Nothing runs behind our back."""
        self.waits += 1


@pytest.fixture
def cupy(monkeypatch: pytest.MonkeyPatch) -> Any:
    """A CuPy that computes with NumPy, and no PyTorch."""
    module: Any = ModuleType("cupy")
    module.__version__ = "0.stand-in"
    module.asarray, module.empty_like, module.add = np.array, np.empty_like, np.add
    device = SimpleNamespace(synchronize=lambda: None)
    module.cuda = SimpleNamespace(ExternalStream=Stream, Device=lambda: device)
    monkeypatch.setitem(sys.modules, "cupy", module)
    known = {"cupy": object(), "torch": None, "triton": None}
    monkeypatch.setattr(peers, "find_spec", known.get)
    return module


def test_cupy_stands_in_for_a_missing_torch(cupy: Any) -> None:
    taking_part = [peer.name for peer in OP.peers if peers.wanted(peer, "float32")]
    assert "CuPy add" in taking_part
    (peer,) = [peer for peer in OP.peers if peer.package == "cupy"]
    arrays = OP.inputs({"n": 5}, "float32", "normal", 1)
    session: Any = SimpleNamespace(stream=SimpleNamespace(handle=17))
    plan: Any = SimpleNamespace(axes={"n": 5})
    calls: list[Any] = []
    cupy.add = lambda a, b, out: calls.append(np.add(a, b, out=out))
    peers.prepare(peer, session, plan, SimpleNamespace(), arrays)()  # type: ignore[arg-type]
    assert len(calls) == 2
    assert (calls[0] == arrays["a"] + arrays["b"]).all()
    assert peers.version("cupy") == "0.stand-in"


def test_torch_is_preferred_to_cupy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda _: object())
    assert "CuPy add" not in [p.name for p in OP.peers if peers.wanted(p, "float32")]


def test_a_missing_library_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    session: Any = SimpleNamespace()
    with pytest.raises(ImportError, match="triton is not installed"):
        peers.prepare(Peer("Triton", package="triton"), session, session, session, {})


def test_types_that_a_library_lacks_are_left_out() -> None:
    assert not peers.wanted(Peer("x", package="cub", dtypes=("float64",)), "float32")
