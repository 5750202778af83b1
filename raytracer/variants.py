"""Kernels for CUDA: what the lines at the top of each file say of it.

The product's are `kernels/cuda/NAME.cu` and chosen by name. Those of the bench's ladders are
variants of an operation, `kernels/ladders/OP/NN_name.cu`. Their first lines say what they are::

    // title: Warp tiles
    // idea: each warp computes a 64 x 32 tile, so that a value
    //       loaded once is used 32 times
    // block: 16x16
    // grid: ceil(n / 64), ceil(m / 64)
    // shared: 4 * 2 * 64 * 32
    // flags: --fmad=false
    // needs: sm_80+
    // source: where the idea comes from

`block` is the thread block (x, y, z). `needs` lists the architectures, separated by commas:
`sm_80+` admits that compute capability and every later one, `sm_90a` only itself. `flags` are
options for nvcc. `grid` is the grid (x, y, z) and `shared` the dynamic shared memory in
bytes, by arithmetic in the operation's axes, `sm` (the device's multiprocessors) and `block`
(threads of a block), with + - * / //, ceil, floor, min and max.

Of variants alone: `tile` and `layout` are for people; of the operation "render", `layout` says how
the scene lies in memory, and `shows` what a rung of the ladder puts into its picture
(raytracer.benchmark.pictures). A rung that is a kernel of the product includes its file and names
it, `product: render_packet`: what the rung's header does not say, that kernel's does.

A chain of kernels says `steps: 3`: the entries op, op_2 and op_3 run one after the other with the
same grid and arguments, and `scratch` is the memory in bytes, by the same arithmetic, whose address
each gets after those of the outputs. `constant: d` has the input d copied into the kernel's
`__constant__` array c_d before the first launch. `maps: a 128x64 swizzle128, c 64x32` has tensor
maps of these arrays, with boxes of so many rows and columns, put into `__constant__ CUtensorMap
c_map_a` and `c_map_c`; `a 64x64 as low` would be `c_map_low`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import prod
from typing import TYPE_CHECKING, Any

from raytracer import resources
from raytracer.arithmetic import ExpressionError, whole_numbers
from raytracer.errors import RaytracerError, suggestion

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from importlib.resources.abc import Traversable

KEYS = ("title", "idea", "block", "needs", "source")
KERNEL_KEYS = ("grid", "shared", "scratch", "flags")
LADDER_KEYS = ("steps", "constant", "tile", "layout", "shows")
EVERY_KEY = (*KEYS, *KERNEL_KEYS, *LADDER_KEYS, "maps", "product")
# Options for nvcc that a header may ask for: those that change arithmetic or registers. Others
# could bring in files that the key of a cubin knows nothing of.
FLAGS = ("fmad", "ftz", "maxrregcount", "prec-div", "prec-sqrt", "use_fast_math")
PRODUCT = "cuda"  # folder of kernels/ with what renders
LADDERS = "ladders"  # folder of kernels/ with a folder for each operation
MAX_STEPS = 9
MAX_BOX = 256  # CUDA driver API, cuTensorMapEncodeTiled
MAX_BLOCK_THREADS = 1024  # CUDA programming guide, table of technical specifications

_FILE_NAME = re.compile(r"(\d\d)_([a-z0-9]+(?:_[a-z0-9]+)*)\.cu")
_HEADER_LINE = re.compile(r"//\s?([a-z]+):\s*(.*)")
_CONTINUATION = re.compile(r"//\s{2,}(\S.*)")
_BLOCK = re.compile(r"\d+(?:\s*x\s*\d+){0,2}")
_MAP = re.compile(r"([a-z]\w*) (\d+)x(\d+)(?: swizzle(32|64|128))?(?: as (\w+))?")
_FLAG = re.compile(r"--([a-z_-]+)(?:=\w+)?")
_ARCHITECTURE = re.compile(r"sm_(\d+)([af]?)")


class VariantError(RaytracerError):
    """A variant's file name or header is wrong."""


@dataclass(frozen=True)
class Requirement:
    """One entry of a `needs:` line."""

    capability: int  # compute capability times ten: 80, 90, 120
    suffix: str  # "a" or "f" where the file uses features of one architecture, else ""
    and_later: bool

    def admits(self, arch: str) -> bool:
        """Whether code for `arch` ("sm_90a") can be made from the file."""
        capability, suffix = split_architecture(arch)
        if self.and_later:
            return capability >= self.capability
        return (capability, suffix) == (self.capability, self.suffix)

    def __str__(self) -> str:
        return f"sm_{self.capability}{self.suffix}{'+' if self.and_later else ''}"


@dataclass(frozen=True)
class MapRequest:
    """A tensor map that a variant asks for: how TMA cuts boxes out of a matrix."""

    array: str  # an input or output of the operation
    rows: int  # of a box
    cols: int
    swizzle: int = 0  # bytes of a row whose 16-byte pieces are exchanged: 0, 32, 64 or 128
    name: str = ""  # where two maps of one array need two names

    @property
    def constant(self) -> str:
        """The name of the map in the kernel's constant memory."""
        return f"c_map_{self.name or self.array}"


@dataclass(frozen=True)
class Launch:
    """How a variant is launched for given sizes."""

    grid: tuple[int, int, int]
    shared: int  # dynamic shared memory in bytes
    scratch: int = 0  # bytes of device memory that the steps hand on


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """One kernel of the product: `kernels/cuda/NAME.cu`."""

    name: str
    title: str
    idea: str
    block: tuple[int, int, int]
    needs: tuple[Requirement, ...]
    source: str
    path: Traversable
    grid: str = ""
    shared: str = "0"
    scratch: str = "0"
    flags: tuple[str, ...] = ()  # options for nvcc

    @property
    def label(self) -> str:
        """What it is called in records and on the command line."""
        return self.name

    @property
    def place(self) -> str:
        """Where the file is in the sources, for messages."""
        return f"kernels/{PRODUCT}/{self.path.name}"

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return prod(self.block)

    @cached_property
    def code(self) -> str:
        """The text of the file."""
        return self.path.read_text(encoding="utf-8")

    def admits(self, arch: str) -> bool:
        """Whether it can be compiled for `arch`, for instance "sm_80" or "sm_90a"."""
        return any(requirement.admits(arch) for requirement in self.needs)

    def launch(self, axes: Mapping[str, int], multiprocessors: int) -> Launch:
        """The grid and the dynamic shared memory for given sizes.

        axes: of the operation, by name. multiprocessors: of the device.
        Raises VariantError where the header's arithmetic makes no sense.
        """
        names = {**axes, "sm": multiprocessors, "block": self.threads}
        if not self.grid:
            raise VariantError(
                f"{self.place}: the header lacks a value for 'grid'; add `// grid: …`"
            )
        try:
            sizes = whole_numbers(self.grid, names)
            shared = whole_numbers(self.shared, names)
            scratch = whole_numbers(self.scratch, names)
        except ExpressionError as error:
            raise VariantError(f"{self.place}: {error}") from error
        memory = (*shared, *scratch)
        if len(sizes) > 3 or len(memory) != 2 or min(*sizes, *memory) < 0:
            raise VariantError(
                f"{self.place}: grid {sizes} with shared {shared} and scratch {scratch} "
                "is no launch"
            )
        x, y, z = (max(size, 1) for size in (*sizes, 1, 1)[:3])
        return Launch((x, y, z), *memory)


@dataclass(frozen=True, kw_only=True)
class Variant(Kernel):
    """One rung of a ladder: a way to compute an operation, `kernels/ladders/OP/NN_name.cu`."""

    op: str
    number: int
    steps: str = "1"
    constant: str = ""
    maps: tuple[MapRequest, ...] = ()
    tile: str = ""
    layout: str = ""
    shows: str = ""

    @property
    def label(self) -> str:
        """Number and name as in the file's name, for instance "05_warp_tiles"."""
        return f"{self.number:02d}_{self.name}"

    @property
    def place(self) -> str:
        """Where the file is in the sources, for messages."""
        return f"kernels/{LADDERS}/{self.op}/{self.path.name}"

    @property
    def entries(self) -> tuple[str, ...]:
        """Names of its kernels, in the order they run."""
        return (self.op, *(f"{self.op}_{step}" for step in range(2, int(self.steps) + 1)))


def split_architecture(arch: str) -> tuple[int, str]:
    """Split "sm_90a" into (90, "a"); raises VariantError for anything else."""
    match = _ARCHITECTURE.fullmatch(arch)
    if match is None:
        raise VariantError(f"{arch!r} is not a GPU architecture: write it like sm_80 or sm_90a")
    return int(match[1]), match[2]


def discover(op: str, root: Traversable | None = None) -> list[Variant]:
    """The variants of an operation, by number.

    op: name of the folder under kernels/ladders/, for instance "render".
    root: the kernels folder; the one shipped with the package by default.
    Raises VariantError for an unknown operation, a bad file name or header, or a number that
    is used twice.
    """
    folder = _ladders(root).joinpath(op)
    if not folder.is_dir():
        hint = suggestion(op, operations(root))
        raise VariantError(f"there is no operation {op!r} with GPU variants; {hint}")
    variants = sorted((read(op, path, root) for path in _sources(folder)), key=lambda v: v.number)
    for first, second in pairwise(variants):
        if first.number == second.number:
            raise VariantError(
                f"kernels/{LADDERS}/{op}: {first.path.name} and {second.path.name} have the same "
                "number; give one of them another"
            )
    return variants


def operations(root: Traversable | None = None) -> list[str]:
    """Names of the folders under kernels/ladders/ that hold variants, sorted."""
    ladders = _ladders(root)
    folders = (path for path in ladders.iterdir() if path.is_dir()) if ladders.is_dir() else ()
    return sorted(folder.name for folder in folders if any(_sources(folder)))


def read(op: str, path: Traversable, root: Traversable | None = None) -> Variant:
    """Read one variant from its file; raises VariantError where name or header are wrong.

    root: the kernels folder, with the kernel of the product that the file may name.
    """
    place = f"kernels/{LADDERS}/{op}/{path.name}"
    match = _FILE_NAME.fullmatch(path.name)
    if match is None:
        raise VariantError(
            f"{place}: a variant's file is called NN_name.cu, with two digits and "
            "lower-case words joined by underscores"
        )
    header = _full_header(path.read_text(encoding="utf-8"), place, root)
    if header.get("steps", "1") not in map(str, range(1, MAX_STEPS + 1)):
        raise VariantError(f"{place}: steps {header['steps']!r}: give 1 to {MAX_STEPS}")
    own: dict[str, Any] = {key: header[key] for key in LADDER_KEYS if header.get(key)}
    return Variant(
        op=op,
        number=int(match[1]),
        name=match[2],
        path=path,
        maps=_parse_maps(header.get("maps", ""), place),
        **_common(header, place),
        **own,
    )


def product(name: str, root: Traversable | None = None) -> Kernel:
    """A kernel of the product by name, for instance "render_packet".

    root: the kernels folder; the one shipped with the package by default.
    Raises VariantError if there is none of that name, or its header is wrong.
    """
    path = (root or resources.kernels()).joinpath(PRODUCT, f"{name}.cu")
    if not path.is_file():
        raise VariantError(
            f"there is no kernel {name!r} in kernels/{PRODUCT}; "
            f"{suggestion(name, _product_names(root))}"
        )
    place = f"kernels/{PRODUCT}/{path.name}"
    header = _parse_header(path.read_text(encoding="utf-8"), place)
    _require(header, place)
    if beyond := [key for key in header if key not in (*KEYS, *KERNEL_KEYS)]:
        raise VariantError(f"{place}: {beyond[0]!r} is for the bench's ladders; leave it out")
    return Kernel(name=name, path=path, **_common(header, place))


def products(root: Traversable | None = None) -> list[Kernel]:
    """Every kernel of the product, by name."""
    return [product(name, root) for name in _product_names(root)]


def flags_of(path: Traversable, root: Traversable | None = None) -> tuple[str, ...]:
    """The options for nvcc that a kernel's header asks for.

    root: the kernels folder, with the kernel of the product that the file may name.
    Raises VariantError for one that is not among FLAGS.
    """
    header = _inherited(_parse_header(path.read_text(encoding="utf-8"), path.name), root)
    return _parse_flags(header.get("flags", ""), path.name)


def _product_names(root: Traversable | None) -> list[str]:
    folder = (root or resources.kernels()).joinpath(PRODUCT)
    found = _sources(folder) if folder.is_dir() else ()
    return sorted(path.name.removesuffix(".cu") for path in found)


def _full_header(text: str, place: str, root: Traversable | None) -> dict[str, str]:
    """The header with what it takes over; raises VariantError for a key that is missing."""
    header = _inherited(_parse_header(text, place), root)
    _require(header, place)
    return header


def _inherited(header: dict[str, str], root: Traversable | None) -> dict[str, str]:
    """A rung that is a kernel of the product has its header, where its own says nothing."""
    if "product" not in header:
        return header
    made = product(header["product"], root)
    place = f"kernels/{PRODUCT}/{made.path.name}"
    return _parse_header(made.code, place) | header


def _common(header: dict[str, str], place: str) -> dict[str, Any]:
    """The fields of every kernel."""
    return {
        "title": header["title"],
        "idea": header["idea"],
        "block": _parse_block(header["block"], place),
        "needs": _parse_needs(header["needs"], place),
        "source": header["source"],
        "flags": _parse_flags(header.get("flags", ""), place),
        **{key: header[key] for key in ("grid", "shared", "scratch") if header.get(key)},
    }


def _ladders(root: Traversable | None) -> Traversable:
    return (root or resources.kernels()).joinpath(LADDERS)


def _sources(folder: Traversable) -> Iterator[Traversable]:
    return (path for path in folder.iterdir() if path.name.endswith(".cu"))


def _parse_header(text: str, place: str) -> dict[str, str]:
    """The `// key: value` lines before the first line that is not a comment."""
    header: dict[str, str] = {}
    key = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("//"):
            break
        if match := _HEADER_LINE.fullmatch(line.rstrip()):
            key, value = match.groups()
            if key not in EVERY_KEY:
                hint = suggestion(key, EVERY_KEY)
                raise VariantError(f"{place}, line {number}: unknown key {key!r}; {hint}")
            if key in header:
                raise VariantError(f"{place}, line {number}: {key!r} is given twice; keep one")
            header[key] = value.strip()
        elif key is not None and (match := _CONTINUATION.fullmatch(line.rstrip())):
            header[key] = f"{header[key]} {match[1]}".strip()
    return header


def _require(header: dict[str, str], place: str) -> None:
    for key in KEYS:
        if not header.get(key):
            raise VariantError(f"{place}: the header lacks a value for {key!r}; add `// {key}: …`")


def _parse_flags(text: str, place: str) -> tuple[str, ...]:
    for word in text.split():
        match = _FLAG.fullmatch(word)
        if match is None or match[1] not in FLAGS:
            raise VariantError(
                f"{place}: flags {word!r}: give options of nvcc out of "
                f"{', '.join(f'--{name}' for name in FLAGS)}, like --fmad=false"
            )
    return tuple(text.split())


def _parse_block(text: str, place: str) -> tuple[int, int, int]:
    sizes = [int(size) for size in text.split("x")] if _BLOCK.fullmatch(text) else []
    if not sizes or not 1 <= prod(sizes) <= MAX_BLOCK_THREADS:
        raise VariantError(
            f"{place}: block {text!r} is not a thread block: write it like 128 or 16x16, "
            f"with 1 to {MAX_BLOCK_THREADS} threads in all"
        )
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def _parse_maps(text: str, place: str) -> tuple[MapRequest, ...]:
    requests = []
    for entry in filter(None, (part.strip() for part in text.split(","))):
        match = _MAP.fullmatch(entry)
        if match is None or not all(1 <= int(match[i]) <= MAX_BOX for i in (2, 3)):
            raise VariantError(
                f"{place}: maps {entry!r} is no tensor map: write an array, rows x columns of a "
                f"box (each at most {MAX_BOX}) and the swizzle, like a 128x64 swizzle128"
            )
        array, rows, cols, swizzle, name = match.groups()
        requests.append(MapRequest(array, int(rows), int(cols), int(swizzle or 0), name or ""))
    return tuple(requests)


def _parse_needs(text: str, place: str) -> tuple[Requirement, ...]:
    requirements = []
    for entry in (part.strip() for part in text.split(",")):
        match = _ARCHITECTURE.fullmatch(entry.removesuffix("+"))
        and_later = entry.endswith("+")
        if match is None or (and_later and match[2]):
            raise VariantError(
                f"{place}: needs {entry!r} is not an architecture: write sm_80+ for that and "
                "all later ones, or sm_90a for that one alone"
            )
        requirements.append(Requirement(int(match[1]), match[2], and_later))
    return tuple(requirements)
