"""Estimates the memory of a job, and refuses jobs that do not fit before they begin.

The estimate is an upper bound, at most 1.6 times the memory that is used or 240 MiB above it, of
what is added to the process: by building the tree, or by the tree and the picture together,
whichever is larger.
`tests/memory/test_estimate.py` compares it with the memory that is used.
"""

from dataclasses import dataclass, replace

from raytracer.config.errors import MemoryNeedError, UserError
from raytracer.system.resources import available_memory, choose_thread_count

MIB = 1 << 20
ELSEWHERE = "use a part of it, or a machine with more memory"
SMALLER = "use fewer spheres and a smaller picture"

PACKED, BUILD, TREE = 16, 40, 32
"""Bytes of a sphere: x, y, z and radius; two copies with numbers, to build; with its nodes."""

MIN_PLACED = 1 << 20  # spheres of the host from which a GPU packs them, a part at a time
MOVING = 36  # bytes of a sphere that moves on the host: by number, its old tree
MOVED = 48  # bytes of a sphere that moves while the shutter is open: its offset, and where it is
STAGED = 128 * MIB  # bytes of page-locked memory for copies to a GPU, and what its driver adds
SOLID, SOLID_LEAF = 144, 32  # additional bytes of other solids: to build, and in the tree
TRIANGLE, TRIANGLE_LEAF = 600, 64  # further bytes of a triangle: to be packed, and in the tree
FILM, PARTS = 16, 36  # bytes of a pixel: float32 sums of four channels; a second film and counts
HITS = 8 * MIB  # bytes of first hits that are turned into output variables at a time
BLOOM, OVERLAY, WINDOW = 200, 48, 72  # bytes of a pixel; a window has copies, and draft planes
DENOISE, MAX_DENOISE = 720, 3000 * MIB  # bytes of a pixel; at the maximum there are tiles
EXR_ROWS = 48  # rows that OpenEXR compresses at a time, with their copies

THREAD, FIXED = 3 * MIB, 120 * MIB
"""Bytes of a thread that renders or encodes, and of modules, archives, OpenGL, the allocator, and
matplotlib or a strip of first hits."""

SPARE = 8 * MIB  # bytes that a proposal leaves free, because free memory changes between runs
SMALLER_BY = 0.9  # of both sides, until a proposed picture fits


@dataclass(frozen=True)
class MemoryEstimate:
    """The memory that a render allocates after the scene is loaded."""

    count: int = 0  # spheres, capsules and other solids
    width: int = 0
    height: int = 0
    appearance: int = 0  # bytes of packed colours, colour ids and material ids
    kept: int = 0  # bytes of the scene that stay beside the tree; negative: that are given back
    threads: int = 0
    solids: int = 0  # of `count`, that are not spheres
    triangles: int = 0  # of the solids
    tree_there: bool = False  # whether a GPU builds the tree in its own memory
    bits: int = 8
    aov_channels: int = 0  # of the output variables, those of a film that goes on too
    film: str = ""  # ".npz" or ".exr" if the film is saved
    begun: bool = False  # whether the film is in memory already
    window: bool = False  # whether a window shows it while samples are added
    denoise: bool = False
    bloom: bool = False
    parts: bool = False  # whether the noise is measured, with a second film and counts of samples
    overlay: bool = False
    moves: bool = False  # whether the spheres move later (`LiveScene`)
    numbered: bool = False  # whether each sphere is asked about, those of periodic images too

    @property
    def placed_there(self) -> bool:
        """Whether a GPU packs the spheres, of which the host then has no columns."""
        return self.tree_there and self.count >= MIN_PLACED and not self.solids

    @property
    def packed(self) -> int:
        spheres = PACKED * self.count * (not self.placed_there)
        return spheres + SOLID * self.solids + TRIANGLE * self.triangles + self.appearance

    @property
    def picture(self) -> int:
        pixels, aovs = self.width * self.height, 4 * self.aov_channels
        film = FILM * (not self.begun) + PARTS * self.parts
        later = BLOOM * self.bloom + OVERLAY * self.overlay + WINDOW * self.window
        size = (film + aovs + self.bits // 2 + later) * pixels
        if self.film == ".exr":  # the mean, and a plane for each channel
            size += (3 * FILM + aovs) * (pixels + EXR_ROWS * self.width)
        return size + min(DENOISE * pixels, MAX_DENOISE) * self.denoise + 4 * HITS * bool(aovs)

    @property
    def extra(self) -> int:
        """Bytes that the job adds to the memory of the process."""
        build, tree = STAGED, 0
        if not self.tree_there:
            leaf = SOLID_LEAF if self.solids else 0
            build = (BUILD + leaf) * self.count
            tree = (TREE + leaf + MOVING * self.moves) * self.count
            tree += TRIANGLE_LEAF * self.triangles
        render = self.appearance + tree + self.picture
        threads = min(choose_thread_count(self.threads), -(-self.width * self.height // 4096))
        most = max(self.packed + build + self.kept, render + self.kept, self.picture)
        return most + threads * THREAD + FIXED


def require_host(need: MemoryEstimate) -> None:
    """Refuse a render that does not fit into the memory of this machine, container or shell, and
    propose a picture that fits."""
    available = available_memory()
    if available is None or need.extra <= available:
        return
    remedy = SMALLER
    room, smaller = available - min(SPARE, available // 8), need
    while min(smaller.width, smaller.height) > 1 and smaller.extra > room:
        width, height = int(SMALLER_BY * smaller.width), int(SMALLER_BY * smaller.height)
        smaller = replace(smaller, width=width, height=height)
    if smaller.extra <= room:
        remedy = f"a picture of {smaller.width}x{smaller.height} fits, or a part of it by crop"
    raise MemoryNeedError(
        f"{need.count:,} spheres at {need.width}x{need.height} need about "
        f"{format_size(need.extra)} of memory and {format_size(available)} is free: {remedy}"
    )


def require_count(count: int, most: int, backend: str) -> None:
    """Refuse more spheres than the backend supports."""
    if count > most:
        other = ", or render on a GPU" if backend == "cpu" else ""
        raise UserError(
            f"the scene has {count:,} spheres and the {backend} backend takes at most {most:,}: "
            f"use fewer{other}"
        )


def require_room(
    source: str, size: int, purpose: str = "to be read", remedy: str = ELSEWHERE
) -> None:
    """Refuse data that need more memory than is free, before they are read or generated."""
    free = available_memory()
    if free is not None and size > free:
        raise MemoryNeedError(
            f"{source}: needs about {format_size(size)} of memory {purpose} and "
            f"{format_size(free)} is free: {remedy}"
        )


def format_size(count: float) -> str:
    """Return a number of bytes with its unit: "3 MiB"."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.1f} GiB" if unit == "GiB" else f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:,.1f} TiB"
