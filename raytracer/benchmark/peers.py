"""Implementations of operations by libraries, on the stream of the bench.

PyTorch receives copies of the inputs as tensors. CUB, compiled from the headers of the toolkit, and
cuBLASLt use the arrays of the bench.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.benchmark import cublaslt
from raytracer.benchmark.operations.base import Arrays, Peer

if TYPE_CHECKING:
    from raytracer.benchmark.cuda.guarded_memory import Memory
    from raytracer.benchmark.cuda.session import Session
    from raytracer.benchmark.runner import Plan

CUB = Path(__file__).parent / "cub"


def prepare(
    peer: Peer, session: Session, plan: Plan, memory: Memory, arrays: Arrays
) -> Callable[[], Any]:
    """Return a function that queues a peer's work; raise ImportError if it is not installed."""
    if peer.package == "cub":
        return _compiled(peer, session, plan, memory, arrays)
    if peer.package == "cublaslt":
        return cublaslt.prepare(session, plan, memory)
    return _torch(peer, session, arrays)


def _torch(peer: Peer, session: Session, arrays: Arrays) -> Callable[[], Any]:
    """Return the work of PyTorch, on copies of the inputs."""
    if find_spec("torch") is None:
        raise ImportError("torch is not installed")
    torch = import_module("torch")
    if not torch.cuda.is_available():
        raise ImportError("this PyTorch has no CUDA")
    stream = torch.cuda.ExternalStream(int(session.stream.handle))
    # int16 in place of uint16: PyTorch has few unsigned types.
    signed = {k: a.view("i2") if a.dtype == "u2" else a for k, a in arrays.items()}
    tensors = {name: torch.from_numpy(array).cuda() for name, array in signed.items()}
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        assert peer.make is not None
        work = peer.make(torch, tensors)
        work()
    stream.synchronize()

    def enqueue() -> None:
        with torch.cuda.stream(stream):
            work()

    return enqueue


def _compiled(
    peer: Peer, session: Session, plan: Plan, memory: Memory, arrays: Arrays
) -> Callable[[], Any]:
    """Return the launch of a compiled library, on the inputs of the bench and separate outputs."""
    from raytracer.benchmark.cuda.guarded_memory import Memory
    from raytracer.benchmark.cuda.shared_library import Launcher, build

    path = build(CUB / f"{plan.op.name}.cu", session.arch, plan.op.macros(plan.axes, plan.dtype))
    library = Launcher(path, plan.op.sizes(plan.axes))
    scratch_bytes = library.scratch_bytes()
    outputs = plan.op.output_arrays(plan.axes, plan.dtype)
    sizes = {name: output.nbytes for name, output in outputs.items()}
    results = Memory(session, {**sizes, "scratch": max(scratch_bytes, 1)})
    places = [memory.address(name) for name in arrays] + [results.address(name) for name in outputs]
    scratch = results.address("scratch")

    def enqueue(_memory: Memory = results) -> None:  # keeps it alive
        library.launch(scratch, scratch_bytes, places, int(session.stream.handle))

    enqueue()
    session.wait()
    return enqueue


def version(package: str) -> str:
    """Return the version of a package, for records."""
    if package == "cublaslt":
        return cublaslt.version()
    if package == "cub":
        from raytracer.backends.cuda.compile import find_nvcc, nvcc_version

        nvcc = find_nvcc()
        return nvcc_version(nvcc).splitlines()[-1] if nvcc else "unknown"
    return str(getattr(import_module(package), "__version__", "unknown"))
