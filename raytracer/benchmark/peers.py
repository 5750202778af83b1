"""Libraries' ways to compute the same, through PyTorch on the bench's own stream."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from raytracer.ops.base import Arrays, Axes, Peer


def prepare(peer: Peer, arrays: Arrays, axes: Axes, stream: int) -> Callable[[], Any]:
    """A function that queues the peer's work on a stream (its handle).

    Raises ImportError where the package is missing, and what the library raises.
    """
    if find_spec(peer.package) is None or find_spec("torch") is None:
        raise ImportError(f"{peer.package} is not installed")
    torch = import_module("torch")
    if not torch.cuda.is_available():
        raise ImportError("this PyTorch has no CUDA")
    ours = torch.cuda.ExternalStream(int(stream))
    # TF32 would be another contract: FP32 products here are FP32.
    torch.backends.cuda.matmul.allow_tf32 = False
    tensors = {name: torch.from_numpy(_signed(array)).cuda() for name, array in arrays.items()}
    torch.cuda.synchronize()
    with torch.cuda.stream(ours):
        work = peer.make(tensors, axes)
        work()
    ours.synchronize()

    def enqueue() -> None:
        with torch.cuda.stream(ours):
            work()

    return enqueue


def version(package: str) -> str:
    """The version of a package, for records."""
    return str(getattr(import_module(package), "__version__", "unknown"))


def _signed(array: Any) -> Any:
    """16-bit patterns as int16: PyTorch knows few unsigned types."""
    return array.view("i2") if array.dtype == "u2" else array
