"""How much memory a render needs, and a refusal in one sentence where it will not fit."""

from __future__ import annotations

from dataclasses import dataclass

from raytracer.errors import MemoryNeedError, UserError
from raytracer.resources import available_memory

# Bytes a sphere. Packed: x, y, z and radius, float32.
PACKED = 16
# What the build of the BVH holds at its peak, its result included: two copies of spheres and order,
# and the nodes. A cloud of 10,000,000 equal spheres takes 43.
BUILD = 56
# Nodes, spheres in leaf order and the order, which stay; the same cloud takes 23.
BVH = 32
# Bytes a pixel: float32 sums of four channels, and the encoded picture with its copy.
FILM = 16
ENCODE = 16


@dataclass(frozen=True)
class Need:
    """Bytes that one render allocates on the host and, on a GPU, on the device.

    fixed: independent of the spheres (the film and its encoding).
    per_sphere: times `count`, everything that grows with the scene.
    """

    count: int
    width: int
    height: int
    fixed: int
    per_sphere: int

    @property
    def total(self) -> int:
        """Bytes in all."""
        return self.fixed + self.per_sphere * self.count


def host(count: int, width: int, height: int, color_bytes: int = 0) -> Need:
    """What a render allocates on the host once the scene is loaded.

    color_bytes: bytes a sphere of colours, colour ids and material ids.
    """
    return Need(count, width, height, (FILM + ENCODE) * width * height,
                PACKED + BUILD + color_bytes)  # fmt: skip


def device(count: int, width: int, height: int, color_bytes: int = 0) -> Need:
    """What a render allocates on a GPU."""
    return Need(count, width, height, FILM * width * height, BVH + color_bytes)


def require(need: Need, available: int | None, where: str = "memory") -> None:
    """Refuse a render that will not fit.

    available: bytes; None if unknown, which refuses nothing.
    Raises MemoryNeedError that says what would fit.
    """
    if available is None or need.total <= available:
        return
    raise MemoryNeedError(
        f"{need.count:,} spheres at {need.width}x{need.height} need about "
        f"{size_text(need.total)} of {where} and {size_text(available)} is free: "
        f"{_what_fits(need, available)}"
    )


def require_host(need: Need) -> None:
    """Refuse a render that will not fit into the memory of this machine or container."""
    require(need, available_memory())


def require_count(count: int, most: int, backend: str) -> None:
    """Refuse more spheres than the kernels of a backend can count.

    most: its `max_spheres`. Raises UserError.
    """
    if count > most:
        other = ", or render on a GPU" if backend == "cpu" else ""
        raise UserError(
            f"the scene has {count:,} spheres and the {backend} backend takes at most {most:,}: "
            f"use fewer{other}"
        )


def require_room(source: str, size: int, purpose: str = "to be read") -> None:
    """Refuse data that will not fit, before they are read or made.

    source: the file, as messages call it. size: bytes in memory, rather too few than too many.
    Raises MemoryNeedError.
    """
    available = available_memory()
    if available is not None and size > available:
        raise MemoryNeedError(
            f"{source}: needs about {size_text(size)} of memory {purpose} and "
            f"{size_text(available)} is free: use a part of it, or a machine with more memory"
        )


def _what_fits(need: Need, available: int) -> str:
    left = available - need.fixed
    if left > need.per_sphere:
        return f"at most {left // need.per_sphere:,} spheres fit"
    left = available - need.per_sphere * need.count
    pixel = need.fixed // (need.width * need.height)
    # The same shape, a whole number of times 8 pixels wide.
    width = int((left / pixel * need.width / need.height) ** 0.5) // 8 * 8 if left > 0 else 0
    height = width * need.height // need.width
    if height:
        return f"a picture of {width}x{height} fits, or a part of it by crop"
    return "use fewer spheres and a smaller picture"


def size_text(count: float) -> str:
    """Bytes for people."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.1f} GiB" if unit == "GiB" else f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:,.1f} TiB"
