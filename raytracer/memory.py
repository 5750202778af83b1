"""Estimates of the memory that a job needs, and refusal of jobs that do not fit.

The estimate is that of the peak resident memory with the interpreter: the memory that the process
holds now, and the addition of the largest stage. It is made before the spheres are packed, and
again when the hierarchy is built and its size is known. It is an upper bound, at most 10% or 48 MB
above the measured peak; `tests/memory/measure.py` compares the two, docs/robustness.md has the
figures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from math import prod

from raytracer.errors import MemoryNeedError, UserError
from raytracer.layout import draft_shape
from raytracer.resources import (
    available_address_space,
    available_memory,
    busy_threads,
    held_memory,
    peak_memory,
    thread_count,
)

MIB = 1 << 20
ELSEWHERE = "use a part of it, or a machine with more memory"

# Bytes per sphere. Packed: x, y, z and radius, float32.
PACKED = 16
# Two copies of spheres and their numbers during the build; nodes grow while the first copy shrinks.
BUILD = 40
# Spheres in leaf order and the order, which stay.
LEAVES = 20
# Nodes of 80 bytes. As few as there are as a rule: the lowest have eight slots of four spheres.
NODES = 3
# As many as there can be. Above the lowest, which hold nine spheres or more, every slot is used: N
# nodes have 7 N + 1 slots that lead to spheres and not to nodes.
MOST_NODES = 12
# Of a capsule, beyond a sphere: half of its axis and the row of its other colour; while it is
# packed, both of its ends, float64 and float32.
SOLID, PACK_SOLID = 16, 96
# Of spheres and capsules alike where there are capsules: records of 32 bytes instead of 16.
BUILD_SOLIDS, LEAF_SOLIDS = 32, 16
# Address space of the build beyond what it touches: nodes before and after they are gathered.
BUILD_SPACE = 24

# Bytes per pixel. Float32 sums of four channels.
FILM = 16
# The samples of a pixel.
COUNT = 4
# Output variables of a film.
AOVS = {
    "depth": 4,
    "normal": 12,
    "albedo": 12,
    "id": 4,
    "position": 12,
    "samples": 4,
    "denoising_albedo": 12,
    "denoising_normal": 12,
}
INTEGERS = ("id", "samples")

# Bytes of first hits that are turned into output variables at a time, and what is made of them.
HITS = 8 * MIB
HITS_PEAK = 4 * HITS
# Denoising: its library, bytes per pixel of its network up to a limit, beyond which it works in
# tiles, and of the film without noise, the guides and the copies that it reads and writes.
DENOISER, NETWORK, MOST_NETWORK, DENOISED = 16 * MIB, 600, 2900 * MIB, 120
OVERLAY = 16
"""Bytes a pixel of what is drawn over a picture: fading, outlines, and a copy of the picture."""

STRIP_RAYS, MOST_STRIP = 1600, 72 * MIB
"""Bytes a pixel, and most bytes, of the first hits and edges of a strip of the picture."""

# Bloom, per pixel: the light, what is spread, a mirrored plane and its transform, and a copy of the
# film.
BLOOM = 200
# A thread of the renderer: two waves of rays, and shadow rays for each of up to eight lights.
SCRATCH = MIB // 2
QUEUE = 310_000
QUEUES = 8
TILE = 64
# A thread that packs or encodes: blocks of rows in float64, compressed blocks that wait.
BLOCKS = 3 * MIB
# Rows that OpenEXR compresses at a time, and how often it has them in memory: as they are, as bytes
# side by side, and compressed.
EXR_ROWS, EXR_BUFFERS = 16, 3
# NumPy writes arrays to archives in pieces of this size, of which it makes copies.
ARCHIVE = 34 * MIB
# Matplotlib, imported and drawing.
PLOT = 72 * MIB
# Bytes per pixel behind a window: a copy of the film while samples are added, and pictures that are
# painted, wait and are shown.
BEHIND_WINDOW = FILM + 3 * 4
# Of OpenGL, as Mesa's software rasterizer has it: code, and bytes per pixel of the window's buffers
# and the texture.
OPENGL, OPENGL_PIXEL = 20 * MIB, 12
# Spheres that the camera of a window is kept out of, and bytes of each, while they are looked for:
# of centre and radius, and of numbers; of as many others that they are chosen from, numbers again.
OBSTACLES, OBSTACLE, CANDIDATE = 1 << 18, 40, 24
# The part of a stage that small arrays and the allocator may add.
MARGIN = 50
# Memory that a proposal leaves free: what is free changes between two runs of the same command.
SPARE = 8 * MIB
# Modules that are imported on the way, and memory that the allocator keeps.
MODULES = 14 * MIB
# Address space that each thread reserves: its stack and its part of the heap.
THREAD_SPACE = 74 * MIB


@dataclass(frozen=True)
class Output:
    """The results that are made of a film.

    Args:
        bits: of the picture, per channel.
        aovs: names of the output variables that are rendered.
        film: ".npz" or ".exr" if the film is saved, otherwise "".
        half: whether an .exr has 16-bit floats.
        histogram: whether a histogram is drawn.
        begun: whether the film is in memory already.
        carried: names of the output variables that it has.
        window: whether a window shows it while samples are added.
        denoise: whether noise is removed.
        bloom: whether the picture has bloom.
        parts: whether the noise is measured, with a second film.
        drawn: whether anything is drawn over the picture.
        counts: whether pixels have their own numbers of samples, with the means as another film.
    """

    bits: int = 8
    aovs: tuple[str, ...] = ()
    film: str = ""
    half: bool = False
    histogram: bool = False
    begun: bool = False
    carried: tuple[str, ...] = ()
    window: bool = False
    denoise: bool = False
    bloom: bool = False
    parts: bool = False
    drawn: bool = False
    counts: bool = False


@dataclass(frozen=True)
class Need:
    """The memory that a render allocates after the scene is loaded.

    count: spheres, capsules and other solids. width, height: pixels that are rendered.
    solids: those of them that are no spheres: with any, all take the memory of capsules.
    looks: bytes of packed colours, colour ids and material ids.
    scene: bytes of the loaded scene that are given back after packing.
    kept: bytes of the scene and its packed arrays that stay.
    lights, threads: numbers; threads 0 is every core.
    output: what is made of the film.
    nodes: bytes per sphere of the hierarchy's nodes.
    tree: bytes of the hierarchy, where it is built; `nodes` then has no meaning.
    ready: bytes of the scene that its backend holds on the host and gives back when the film is
        saved; None before it is there.
    """

    count: int
    width: int
    height: int
    looks: int = 0
    scene: int = 0
    kept: int = 0
    lights: int = 1
    threads: int = 0
    output: Output = field(default_factory=Output)
    nodes: int = NODES
    tree: int = 0
    ready: int | None = None
    solids: int = 0

    @property
    def stages(self) -> dict[str, int]:
        """Bytes at the peak of each stage."""
        pixels, out = self.width * self.height, self.output
        # What is there while samples are added, and when all of them are.
        resident = self.looks + self.hierarchy - self.scene + self.kept
        rendered = -self.scene
        if self.ready is not None:
            resident, rendered = 0, -self.ready
        film = 0 if out.begun else FILM * pixels
        picture = film + out.bits // 2 * pixels
        aovs = sum(AOVS[name] for name in out.aovs) * pixels
        drawn = 0 if not out.histogram else PLOT
        near = min(self.count, OBSTACLES)
        obstacles = OBSTACLE * near + CANDIDATE * min(self.count - near, near)
        window = film + BEHIND_WINDOW * pixels + OPENGL + OPENGL_PIXEL * pixels + obstacles
        window += _draft(self.width, self.height)
        finished = self._finishing(pixels)
        halves = FILM * pixels if out.parts else 0
        counted = (FILM + COUNT) * pixels if out.counts else 0
        return self._preparing | {
            "render": resident + film + halves + counted + self.renderers * self.scratch,
            "develop": resident + picture + counted + finished,
            "variables": resident + picture + aovs + (HITS_PEAK if aovs else 0),
            "film": rendered + picture + aovs + self._saving(FILM * pixels + aovs, pixels),
            "picture": rendered + picture + aovs + self._encoding(pixels),
            "histogram": rendered + picture + aovs + drawn,
            "window": resident + self.renderers * self.scratch + window if out.window else 0,
        }

    def _finishing(self, pixels: int) -> int:
        """Return the bytes of what is done to light before the tone curve."""
        size = BLOOM * pixels if self.output.bloom else 0
        if self.output.drawn:
            size += OVERLAY * pixels + min(STRIP_RAYS * pixels, MOST_STRIP)
        if self.output.denoise:
            size += DENOISER + min(NETWORK * pixels, MOST_NETWORK) + DENOISED * pixels
        return size

    @property
    def _preparing(self) -> dict[str, int]:
        """Bytes at the peak of the stages before the scene is on the device."""
        if self.ready is not None:
            return {}
        packed = PACKED * self.count + SOLID * self.solids + self.looks
        built = BUILD + (BUILD_SOLIDS if self.solids else 0)
        return {
            "pack": packed + (PACK_SOLID * self.solids) + self.workers * BLOCKS,
            "build": packed + built * self.count - self.scene,
        }

    @property
    def hierarchy(self) -> int:
        """Bytes of nodes, and of the spheres in leaf order."""
        own = LEAVES + self.nodes + (LEAF_SOLIDS if self.solids else 0)
        return self.tree or own * self.count

    @property
    def workers(self) -> int:
        """Threads that pack."""
        return min(thread_count(), 16, 1 + (self.count >> 15))

    @property
    def renderers(self) -> int:
        """Threads that render: at most one for each tile."""
        return min(thread_count(self.threads), -(-self.width // TILE) * -(-self.height // TILE))

    @property
    def scratch(self) -> int:
        """Bytes of a thread that renders."""
        return SCRATCH + QUEUE * min(max(self.lights, 1), QUEUES)

    @property
    def extra(self) -> int:
        """Bytes that the largest stage adds to the memory of the process."""
        largest = max(*self.stages.values(), 0)
        return largest + largest // MARGIN + MODULES

    @property
    def total(self) -> int:
        """Peak resident memory of the process in bytes, as far as it is known now.

        Completed stages count with their estimates, not with their measured memory.
        """
        peak = peak_memory() if self.ready is None else 0
        return max(held_memory() + self.extra, peak)

    @property
    def address_space(self) -> int:
        """Bytes of address space that the process adds to its own."""
        threads = max(self.workers, thread_count(self.threads))
        space = max(self.stages.get("build", 0) + BUILD_SPACE * self.count, self.extra)
        return space + 3 * MODULES + threads * THREAD_SPACE

    def _saving(self, film: int, pixels: int) -> int:
        """Return the bytes for saving a film of that size."""
        if self.output.film == ".npz":
            return min(ARCHIVE, 2 * film)
        if self.output.film != ".exr":
            return 0
        # The mean, a plane for each channel, and what OpenEXR compresses at a time.
        half = self.output.half
        aovs = (*self.output.aovs, *self.output.carried)
        # Integers are handed over as they are.
        variables = sum(AOVS[n] // (2 if half else 1) for n in aovs if n not in INTEGERS)
        whole = sum(AOVS[n] for n in aovs if n in INTEGERS)
        # Halves: the mean and its coverage, which is in float32 too. Floats: mean and sums.
        planes = 5 * 2 + 4 if half else 8 * 4
        block = min(EXR_ROWS, self.height) * (planes + variables + whole) * self.width
        return (FILM + planes + variables) * pixels + EXR_BUFFERS * block

    def _encoding(self, pixels: int) -> int:
        """Return the bytes for writing the picture."""
        raw = 4 * pixels * self.output.bits // 8
        return min(2 * raw, busy_threads(self.threads) * BLOCKS)


_told = 0


def told() -> int:
    """Return the largest estimate of this process so far in bytes; 0 before the first."""
    return _told


def _tell(total: int) -> None:
    global _told
    _told = max(_told, total)


def device(need: Need) -> int:
    """Return the bytes that a render allocates on a GPU: scene, film, and picture or first hits."""
    pixels = need.width * need.height
    hits = min(48 * pixels, HITS) if need.output.aovs or need.output.denoise else 0
    picture = need.output.bits // 2 * pixels
    film = FILM * pixels + (_draft(need.width, need.height) if need.output.window else 0)
    return need.looks + need.hierarchy + film + max(picture, hits)


def _draft(width: int, height: int) -> int:
    """Return the bytes that a draft with ambient occlusion keeps of its surfaces."""
    return 4 * prod(draft_shape(height, width))


def require_host(need: Need) -> None:
    """Refuse a render that does not fit into the memory of this machine, container or shell.

    Raises:
        MemoryNeedError: it does not fit; the message proposes a size that does.
    """
    _tell(need.total)
    require(need, available_memory(), lambda n: n.extra)
    if need.ready is None:  # threads that have come and gone have left their address space behind
        space = "address space (ulimit -v or -d)"
        most = replace(need, nodes=MOST_NODES)
        require(most, available_address_space(), lambda n: n.address_space, space)


def require_device(need: Need, available: int) -> None:
    """Refuse a render that does not fit into `available` bytes of GPU memory; see `require`."""
    require(need, available, device, "GPU memory")


def require(
    need: Need, available: int | None, size: Callable[[Need], int], where: str = "memory"
) -> None:
    """Refuse a render that does not fit.

    Args:
        need: of the render.
        available: bytes; None, if they are unknown, refuses nothing.
        size: function from a need to its bytes.
        where: name of the memory in the message.

    Raises:
        MemoryNeedError: it does not fit; the message proposes a size that does.
    """
    if available is None or size(need) <= available:
        return
    raise MemoryNeedError(
        f"{need.count:,} spheres at {need.width}x{need.height} need about "
        f"{size_text(size(need))} of {where} and {size_text(available)} is free: "
        f"{_what_fits(need, available - min(SPARE, available // 8), size)}"
    )


def require_tone(source: str, width: int, height: int, output: Output, threads: int) -> None:
    """Refuse to develop a loaded film if its picture does not fit.

    Args:
        source: name of the film in messages.
        width, height: of the film in pixels.
        output: bits of the picture, and whether a histogram is drawn.
        threads: 0 takes every core that the process may use.

    Raises:
        MemoryNeedError: it does not fit.
    """
    need = Need(0, width, height, threads=threads, output=output)
    smaller = replace(output, bits=8, histogram=False)
    remedy = "use a machine with more memory"
    if smaller != output:
        less = replace(need, output=smaller).extra
        remedy = f"without histogram and with 8 bits it takes {size_text(less)}"
    require_room(source, need.extra, "to be developed", remedy)


def require_count(count: int, most: int, backend: str) -> None:
    """Refuse more spheres than a device takes.

    Args:
        count: spheres of the scene.
        most: `max_spheres` of the device.
        backend: its name.

    Raises:
        UserError: there are more.
    """
    if count > most:
        other = ", or render on a GPU" if backend == "cpu" else ""
        raise UserError(
            f"the scene has {count:,} spheres and the {backend} backend takes at most {most:,}: "
            f"use fewer{other}"
        )


def has_room(size: int) -> bool:
    """Whether `size` bytes fit into memory; True if the free memory is unknown."""
    return _fits(size, _free())


def _free() -> int | None:
    """Return the free bytes of memory or address space; None if they are unknown."""
    known = [b for b in (available_memory(), available_address_space()) if b is not None]
    return min(known) if known else None


def _fits(size: int, free: int | None) -> bool:
    return free is None or size + (MODULES if size > MODULES else 0) <= free


def require_room(
    source: str, size: int, purpose: str = "to be read", remedy: str = ELSEWHERE
) -> None:
    """Refuse data that do not fit, before they are read or generated.

    Args:
        source: name of the file in messages.
        size: largest number of bytes in memory.
        purpose: end of "needs about ... of memory", for the message.
        remedy: for the message.

    Raises:
        MemoryNeedError: they do not fit.
    """
    _tell(max(held_memory() + size + MODULES, peak_memory()))
    free = _free()
    if free is not None and not _fits(size, free):
        raise MemoryNeedError(
            f"{source}: needs about {size_text(size)} of memory {purpose} and "
            f"{size_text(free)} is free: {remedy}"
        )


def _what_fits(need: Need, available: int, size: Callable[[Need], int]) -> str:
    """Return a proposal for the message: fewer threads, a smaller picture or fewer spheres.

    The proposal fits also with the largest number of nodes.
    """
    need = replace(need, nodes=MOST_NODES)

    def fits(changed: Need) -> bool:
        return size(changed) <= available

    if fits(replace(need, threads=1)):
        threads = _largest(thread_count(need.threads), lambda t: fits(replace(need, threads=t)))
        return f"{threads} of {thread_count(need.threads)} threads fit, by threads"

    def smaller(steps: int) -> Need:
        # The same shape, a whole number of times 8 pixels wide.
        width = 8 * steps
        return replace(need, width=width, height=max(width * need.height // need.width, 1))

    if steps := _largest(need.width // 8, lambda steps: fits(smaller(steps))):
        found = smaller(steps)
        return f"a picture of {found.width}x{found.height} fits, or a part of it by crop"

    def fewer(count: int) -> Need:
        share = count / max(need.count, 1)
        looks, scene, kept = (int(n * share) for n in (need.looks, need.scene, need.kept))
        return replace(need, count=count, looks=looks + 1, scene=scene, kept=kept)

    # Once the spheres are with the backend, what they take is no part of what is still needed.
    most = need.count if need.ready is None else 0
    if count := _largest(most, lambda count: fits(fewer(count))):
        return f"at most {count:,} spheres fit"
    return "use fewer spheres and a smaller picture"


def _largest(most: int, fits: Callable[[int], bool]) -> int:
    """Return the largest number from 1 to `most` that fits; 0 if none does. `fits` is monotonic."""
    low, high = 0, most
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if fits(middle) else (low, middle - 1)
    return low


def size_text(count: float) -> str:
    """Return a number of bytes with its unit: "3 MiB"."""
    for unit in ("bytes", "KiB", "MiB", "GiB"):
        if count < 1024:
            return f"{count:.1f} GiB" if unit == "GiB" else f"{count:.0f} {unit}"
        count /= 1024
    return f"{count:,.1f} TiB"
