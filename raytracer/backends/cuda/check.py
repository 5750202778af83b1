"""Messages for errors of CUDA, and checks of memory, architecture and struct layout."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from raytracer.errors import BackendError, MemoryNeedError, RaytracerError
from raytracer.memory import size_text

if TYPE_CHECKING:
    from raytracer.layout import Table
    from raytracer.variants import Kernel

# Fragments of the driver's messages (cuGetErrorString), and what to do.
_MEANINGS = (
    (
        "timed out",
        "the operating system stopped a launch that held the display too long: close other "
        "programs that use the GPU, or render with --backend cpu",
    ),
    ("no kernel image", "the cubin is for another GPU: clear the cubin cache and try again"),
    ("busy or unavailable", "another program holds the GPU for itself: stop it and try again"),
    ("insufficient for", "the NVIDIA driver is too old for this CUDA: update it"),
)


@contextmanager
def translated(driver: Any) -> Iterator[None]:
    """Translate exceptions of PyCUDA into those of `errors`; other bindings raise these."""
    try:
        yield
    except driver.Error as error:
        if isinstance(error, RaytracerError):
            raise
        raise explain(str(error)) from error


def explain(message: str) -> RaytracerError:
    """Return an error with a remedy for a message of the driver."""
    text = " ".join(message.split())
    if "out of memory" in text:
        return MemoryNeedError(
            f"the GPU's memory is full ({text}): stop other programs that use it, render fewer "
            "spheres or a smaller picture, or use --backend cpu"
        )
    for fragment, meaning in _MEANINGS:
        if fragment in text:
            return BackendError(f"CUDA: {meaning} ({text})")
    return BackendError(
        f"CUDA failed: {text}; restart the process, and if it happens again, use --backend cpu and "
        "report it with the output of `raytracer devices`"
    )


def check_memory(parts: dict[str, int], free: int, spheres: int, gpus: int = 1) -> None:
    """Refuse a scene that the device, or each of several with these bytes, cannot hold."""
    need = sum(parts.values())
    if need <= free:
        return
    largest = max(parts, key=lambda name: parts[name])
    fit = int(spheres * free / need)
    where = "GPU memory" if gpus == 1 else f"memory on each of {gpus} GPUs"
    raise MemoryNeedError(
        f"the scene needs {size_text(need)} of {where} (most of it {largest}: "
        f"{size_text(parts[largest])}) and {size_text(free)} are free: about {fit:,} of its "
        f"{spheres:,} spheres would fit, or render with --backend cpu"
    )


UNLISTED = ("ImageLattice",)
"""Structs of kernels that not all of them know; their numbers have four bytes each."""


def flatten(table: Table) -> list[int]:
    """Return a table in the form of kernels/core/layout.h: size of each struct, field offsets."""
    return [
        number
        for name, (size, fields) in table.items()
        if name not in UNLISTED
        for number in (size, *(offset for _, _, _, offset in fields))
    ]


def check_supported(kernel: Kernel, arch: str) -> None:
    if not kernel.admits(arch):
        needs = ", ".join(map(str, kernel.needs))
        raise BackendError(f"{kernel.place} needs {needs}; this GPU is {arch}")


def check_layout(kernel_table: Sequence[int], table: Table, kernel: str) -> None:
    """Refuse a kernel whose struct layout differs from that of the extension."""
    if list(kernel_table) != flatten(table):
        raise BackendError(
            f"{kernel} and the compiled extension lay out structs differently: they come from "
            "different versions; reinstall the package, so that both are built from the same "
            "sources"
        )
