"""Selection of the device: the one that is named, or the best one that works."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from raytracer.errors import BackendError, shown_value

if TYPE_CHECKING:
    from raytracer.backends.base import Device

NAMES = ("auto", "cpu", "cuda")
GPU = re.compile(r"cuda:([0-9]{1,4})")
"""One of several GPUs, by its number."""


def select(name: str = "auto", threads: int = 0) -> Device:
    """Return the device of a name."""
    from raytracer.backends.cpu import CpuDevice

    numbered = GPU.fullmatch(name) if isinstance(name, str) else None
    if not isinstance(name, str) or (name not in NAMES and numbered is None):
        raise BackendError(
            f"there is no backend {shown_value(name)}: choose one of {', '.join(NAMES)}, or a GPU "
            "by its number, as cuda:1"
        )
    if name == "cpu":
        return CpuDevice(threads)
    number = int(numbered[1]) if numbered else 0
    reason = _why_not_cuda(number)
    if reason is None:
        from raytracer.backends.cuda.run import CudaDevice

        return CudaDevice(number, threads)
    if name != "auto":
        raise BackendError(f"the cuda backend cannot run here: {reason}")
    return CpuDevice(threads, {"cuda": reason})


def devices() -> list[dict[str, Any]]:
    """Return the CPU and every GPU that CUDA finds, or what is missing for CUDA.

    Returns:
        Dictionaries with `backend`, `available`, `reason` (None, or what is missing and how to get
        it) and `details`.
    """
    cpu = _entry("cpu", select("cpu").describe())
    reason = _why_not_cuda()
    if reason is not None:
        return [cpu, _entry("cuda", {}, reason)]
    from raytracer.backends.cuda import probe

    return [cpu, *(_entry("cuda", details) for details in probe.devices())]


def _entry(backend: str, details: dict[str, Any], reason: str | None = None) -> dict[str, Any]:
    return {
        "backend": backend,
        "available": reason is None,
        "reason": reason,
        "details": details,
    }


def _why_not_cuda(number: int = 0) -> str | None:
    """Return why CUDA cannot render on a GPU and what to do; None if it can."""
    from raytracer.backends.cuda.probe import why_not

    return why_not(number)
