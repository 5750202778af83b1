"""Selection of the device: the one that is named, or the best one that works."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from raytracer.config.errors import BackendError, quote_value
from raytracer.system.resources import choose_thread_count

if TYPE_CHECKING:
    from raytracer.backends.base import Device

NAMES = ("auto", "cpu", "cuda")
GPUS = re.compile(r"cuda:(all|[0-9]{1,4}(,[0-9]{1,4})*)")  # GPUs by their numbers, or all of them


def select_device(name: str | Device = "auto", threads: int = 0) -> Device:
    """Return the device of a name, or one that is there."""
    from raytracer.backends.base import CpuDevice

    choose_thread_count(threads)
    if hasattr(name, "max_spheres"):
        return name  # type: ignore[return-value]
    if not isinstance(name, str) or (name not in NAMES and not GPUS.fullmatch(name)):
        raise BackendError(
            f"there is no backend {quote_value(name)}: choose one of {', '.join(NAMES)}, a GPU by "
            "its number, as cuda:1, or several, as cuda:0,1 or cuda:all"
        )
    if name == "cpu":
        return CpuDevice(threads)
    numbers = [int(number) for number in re.findall("[0-9]+", name)] or [0]
    if len(set(numbers)) < len(numbers):
        raise BackendError(f"the backend {name} names a GPU twice: give each number once")
    reason = next(filter(None, map(_explain_missing_cuda, numbers)), None)
    if reason is not None and name == "auto":
        return CpuDevice(threads, {"cuda": reason})
    if reason is not None:
        raise BackendError(
            f"the cuda backend cannot run here: {reason}; to render without it, use the backend cpu"
        )
    from raytracer.backends.cuda.run import CudaDevice

    if name == "cuda:all":
        from raytracer.backends.cuda.driver import load

        numbers = list(range(load().Device.count()))
    gpus = [CudaDevice(number, threads) for number in numbers]
    if len(gpus) == 1:
        return gpus[0]
    from raytracer.backends.group import DeviceGroup

    return DeviceGroup(gpus)


def devices() -> list[dict[str, Any]]:
    """Return the CPU and every GPU that CUDA finds, or what is missing for CUDA.

    They have `backend`, `available`, `reason` (None, or what is missing) and `details`.
    """
    from raytracer.backends.cuda.probe import list_devices as gpus

    reason = _explain_missing_cuda()
    of_cuda = [{}] if reason else gpus()
    found = [("cpu", None, select_device("cpu").describe())]
    return [
        {"backend": name, "available": why is None, "reason": why, "details": details}
        for name, why, details in (*found, *(("cuda", reason, each) for each in of_cuda))
    ]


def _explain_missing_cuda(number: int = 0) -> str | None:
    """Return why CUDA cannot render on a GPU and what to do; None if it can."""
    from raytracer.backends.cuda.probe import explain_missing

    return explain_missing(number)
