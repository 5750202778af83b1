"""Implementations of operations by PyTorch, on copies of the inputs and the stream of the bench."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

from raytracer.benchmark.cuda.timing import Session
from raytracer.benchmark.operations.base import Arrays, Peer


def prepare(peer: Peer, session: Session, arrays: Arrays) -> tuple[Callable[[], Any], str]:
    """Return a function that queues a peer's work, and the version of PyTorch; raise ImportError
    without PyTorch for CUDA."""
    torch: Any = import_module("torch")
    if not torch.cuda.is_available():
        raise ImportError("this PyTorch has no CUDA")
    stream = torch.cuda.ExternalStream(int(session.stream.handle))
    # int16 in place of uint16: PyTorch has few unsigned types.
    signed = {k: a.view("i2") if a.dtype == "u2" else a for k, a in arrays.items()}
    tensors = {name: torch.from_numpy(array).cuda() for name, array in signed.items()}
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        work = peer.make(torch, tensors)
        work()
    stream.synchronize()

    def enqueue() -> None:
        with torch.cuda.stream(stream):
            work()

    return enqueue, str(torch.__version__)
