"""CUDA kernels and their headers.

Production kernels are `kernels/cuda/NAME.cu`, selected by name. The kernels of the bench are
variants of an operation, `kernels/ladders/OP/NN_name.cu`, found by listing the folder; one between
two numbers has the first one and a letter, `NNb_name.cu`. The first lines of each file are its
header, `// key: value`; kernels/README.md describes all keys.
"""

import ast
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, NamedTuple

from raytracer.config.errors import RaytracerError, suggest
from raytracer.system.resources import kernels_folder

PRODUCT = "cuda"  # folder of kernels/ with the production kernels
LADDERS = "ladders"  # folder of kernels/ with a folder for each operation

REQUIRED = ("title", "idea", "block", "source")
KEYS = (
    *REQUIRED, "grid", "threads", "shared", "flags", "needs", "product",
    "constant", "alignment", "layout", "shows", "dtypes", "sizes", "maps", "best", "steps",
    "scratch",
)  # fmt: skip
# Options for nvcc that a header may set: those that affect arithmetic or registers. Other options
# could read files that the cache key of a cubin does not cover.
FLAGS = ("fmad", "ftz", "maxrregcount", "prec-div", "prec-sqrt", "use_fast_math")
OLDEST = "sm_75+"  # of the GPUs that kernels are compiled for: `needs` without an entry
MAX_BLOCK_THREADS = 1024  # CUDA programming guide, table of technical specifications

MAX_EXPRESSION = 1000  # letters of grid, shared or threads, which bounds the work, too
MAX_VALUE = 2**63
MAX_LAUNCH = 2**31 - 1  # blocks along x, and bytes

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "ceil": math.ceil, "floor": math.floor, "max": max, "min": min
}  # fmt: skip
_OPERATIONS: dict[type[ast.operator], Callable[[Fraction, Fraction], Any]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
}  # fmt: skip
_NOT_EVALUATED = (AttributeError, SyntaxError, TypeError, ValueError, RecursionError, MemoryError)
_ARCHITECTURE = re.compile(r"(?:sm|compute)_(\d+)([af]?)")
_FILE_NAME = re.compile(r"(\d\d)([a-z]?)_([a-z0-9]+(?:_[a-z0-9]+)*)\.cu")
_HEADER_LINE = re.compile(r"//\s?([a-z]+):\s*(.*)")
_CONTINUATION = re.compile(r"//\s{2,}(\S.*)")


class VariantError(RaytracerError):
    """The file name or the header of a variant is invalid."""


class MapRequest(NamedTuple):
    """A tensor map of a variant: the boxes of a matrix that the copy engine (TMA) transfers."""

    array: str  # an input or output of the operation
    rows: int  # of a box
    cols: int
    swizzle: int  # bytes of a row within which 16-byte pieces are permuted: 0, 32, 64 or 128


class BestSizes(NamedTuple):
    """Sizes at which a variant is the fastest (`best:`)."""

    axis: str
    sizes: tuple[int, ...]
    dtype: str  # "": all types


# Of keys with entries: what one looks like, what is made of it, and what to say of others.
_ENTRIES: dict[str, tuple[str, Callable[[re.Match[str]], Any], str]] = {
    "block": (
        r"(\d+)(?:\s*x\s*(\d+))?(?:\s*x\s*(\d+))?",
        lambda match: tuple(int(size or 1) for size in match.groups()),
        "is not a thread block: write it like 128 or 16x16, with 1 to "
        f"{MAX_BLOCK_THREADS} threads in all",
    ),
    "needs": (
        r"sm_\d+[af+]?",
        lambda match: match[0],
        "is not an architecture: write sm_80+ for that and all later ones, or sm_90a for that one "
        "alone",
    ),
    "maps": (
        r"([a-z]\w*) (\d+)x(\d+)(?: swizzle(32|64|128))?",
        lambda match: MapRequest(match[1], int(match[2]), int(match[3]), int(match[4] or 0)),
        "is not a tensor map: write an array, rows x columns of a box and the swizzle, like "
        "a 128x64 swizzle128",
    ),
    "best": (
        r"([a-z]\w*)((?: \d+)+)(?: ([a-z]\w*))?",
        lambda match: BestSizes(match[1], tuple(map(int, match[2].split())), match[3] or ""),
        "does not name sizes: write an axis with its sizes and, if it matters, a type, like "
        "n 4 8 float32",
    ),
    "steps": (r"[2-9]", lambda match: int(match[0]), "is no number of kernels: give 2 to 9"),
    "flags": (
        rf"--({'|'.join(FLAGS)})(?:=\w+)?",
        lambda match: match[0],
        f"give options of nvcc out of {', '.join(f'--{name}' for name in FLAGS)}, like "
        "--fmad=false",
    ),
}


class LaunchConfiguration(NamedTuple):
    """Launch configuration of a variant for one set of sizes."""

    grid: tuple[int, int, int]
    shared: int  # dynamic shared memory in bytes
    block: tuple[int, int, int]
    scratch: int = 0  # bytes of memory that the kernels of a variant share


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """A production kernel: `kernels/cuda/NAME.cu`."""

    name: str
    path: Path
    translation_unit: Path  # the file that is compiled: `path`, or that of the same kernel
    place: str  # the path for messages, from kernels/ on
    title: str
    idea: str
    block: tuple[int, int, int]
    source: str
    needs: tuple[str, ...] = (OLDEST,)  # "sm_90a", or "sm_80+" for that and all later ones
    grid: str = ""
    shared: str = "0"
    scratch: str = "0"
    used: str = ""  # threads of a block that depend on the sizes, at most those of `block`
    flags: tuple[str, ...] = ()  # options for nvcc

    @property
    def label(self) -> str:
        """The name in records and on the command line."""
        return self.name

    @property
    def threads(self) -> int:
        return math.prod(self.block)

    def admits(self, arch: str) -> bool:
        """Whether it can be compiled for `arch`, like "sm_80" or "sm_90a"."""
        own = split_architecture(arch)
        pairs = [(need, split_architecture(need.removesuffix("+"))) for need in self.needs]
        return any(p == own or (need.endswith("+") and p[0] <= own[0]) for need, p in pairs)

    def configure_launch(
        self, axes: Mapping[str, int], multiprocessors: int
    ) -> LaunchConfiguration:
        """Evaluate grid, block and shared memory for sizes by name. Raises VariantError."""
        names = {**axes, "sm": multiprocessors, "block": self.threads}
        if not self.grid:
            raise VariantError(
                f"{self.place}: the header lacks a value for 'grid'; add `// grid: …`"
            )
        try:
            texts = self.grid, self.shared, self.used or str(self.threads), self.scratch
            grid, shared, used, scratch = (evaluate_whole_numbers(text, names) for text in texts)
        except VariantError as error:
            raise VariantError(f"{self.place}: {error}") from error
        numbers = len(shared) == len(used) == len(scratch) == 1 and len(grid) <= 3
        sizes = (*grid, *shared)
        is_within = min(sizes) >= 0 and max(sizes) <= MAX_LAUNCH
        if not numbers or not is_within or not 1 <= used[0] <= self.threads:
            raise VariantError(
                f"{self.place}: grid {grid} with shared {shared} and threads {used} of a block of "
                f"{self.threads} is not a valid launch"
            )
        x, y, z = (max(size, 1) for size in (*grid, 1, 1)[:3])
        block = (used[0], 1, 1) if self.used else self.block
        return LaunchConfiguration((x, y, z), shared[0], block, scratch[0])


@dataclass(frozen=True, kw_only=True)
class Variant(Kernel):
    """One implementation of an operation: `kernels/ladders/OP/NN_name.cu`."""

    op: str
    number: int
    letter: str = ""  # of a variant between two numbers
    constant: str = ""
    alignment: str = ""  # "any": arrays may begin anywhere
    maps: tuple[MapRequest, ...] = ()
    steps: int = 1  # kernels: the entry of the operation, then those with _2, _3, …
    sizes: str = ""  # "any": raytracer.benchmark.products chooses compilation and grid
    best: tuple[BestSizes, ...] = ()
    dtypes: str = ""
    layout: str = ""
    shows: str = ""
    product: Kernel | None = None  # the production kernel that it is
    folder: Path | None = None  # of the kernels among which a user's own is compiled

    @property
    def label(self) -> str:
        """Number and name as in the file name, like "05_warp_tiles"."""
        return f"{self.number:02d}{self.letter}_{self.name}"

    @property
    def entries(self) -> list[str]:
        """The names of its kernels, in the order of their launches."""
        return [self.op, *(f"{self.op}_{step}" for step in range(2, self.steps + 1))]

    def supports(self, dtype: str) -> bool:
        """Whether it computes with a type of the operation; by default with all of them."""
        return not self.dtypes or dtype in self.dtypes.split()


def discover_variants(op: str, root: Path | None = None) -> list[Variant]:
    """Return the variants of an operation, by number; raise VariantError for invalid ones."""
    sources = _list_sources((root or kernels_folder()) / LADDERS / op)
    if not sources:
        hint = suggest(op, list_operations(root))
        raise VariantError(f"there is no operation {op!r} with GPU variants; {hint}")
    return list(map(read_variant, sources))


def list_operations(root: Path | None = None) -> list[str]:
    """Return the operations with variants under kernels/ladders/, sorted."""
    folders = sorted((root or kernels_folder()).glob(f"{LADDERS}/*/"))
    return [folder.name for folder in folders if _list_sources(folder)]


def read_variant(path: Path) -> Variant:
    """Read one variant from its file; raise VariantError for an invalid name or header."""
    place = f"kernels/{LADDERS}/{path.parent.name}/{path.name}"
    match = _FILE_NAME.fullmatch(path.name)
    if match is None:
        raise VariantError(
            f"{place}: a variant's file is called NN_name.cu, with two digits, perhaps a letter, "
            "and lower-case words joined by underscores"
        )
    header, kernel = parse_header(path, place), None
    if name := header.pop("product", ""):
        text = path.read_text(encoding="utf-8")
        if "flags" in header or not all(line.startswith("//") for line in text.splitlines()):
            raise VariantError(
                f"{place}: a variant with `product: {name}` is that kernel: it has no code and no "
                "`flags:`"
            )
        kernel = read_production_kernel(name, path.parents[2])
        header = parse_header(kernel.path, kernel.place) | header
    return Variant(
        op=path.parent.name, number=int(match[1]), letter=match[2], name=match[3], path=path,
        product=kernel, translation_unit=kernel.path if kernel else path,
        **_parse_values(header, place),
    )  # fmt: skip


def read_production_kernel(name: str, root: Path | None = None) -> Kernel:
    """Return a production kernel by name, like "render_packet"; raise VariantError without one."""
    path = (root or kernels_folder()) / PRODUCT / f"{name}.cu"
    if not path.is_file():
        hint = suggest(name, [each.stem for each in _list_sources(path.parent)])
        raise VariantError(f"there is no kernel {name!r} in kernels/{PRODUCT}; {hint}")
    place = f"kernels/{PRODUCT}/{path.name}"
    return Kernel(
        name=name,
        path=path,
        translation_unit=path,
        **_parse_values(parse_header(path, place), place),
    )


def read_production_kernels(root: Path | None = None) -> list[Kernel]:
    """Return all production kernels, by name."""
    return [
        read_production_kernel(path.stem, root)
        for path in _list_sources((root or kernels_folder()) / PRODUCT)
    ]


def parse_flags(path: Path) -> tuple[str, ...]:
    """Return the options for nvcc in the header of a kernel."""
    return _parse_entries(parse_header(path, path.name).get("flags", ""), "flags", path.name)


def _list_sources(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.cu"))


def parse_header(path: Path, place: str) -> dict[str, str]:
    """Read the `// key: value` lines before the first line that is not a comment."""
    header: dict[str, str] = {}
    key = None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.startswith("//"):
            break
        if match := _HEADER_LINE.fullmatch(line.rstrip()):
            key, value = match.groups()
            if key not in KEYS:
                hint = suggest(key, KEYS)
                raise VariantError(f"{place}, line {number}: unknown key {key!r}; {hint}")
            if key in header:
                raise VariantError(f"{place}, line {number}: {key!r} occurs twice; keep one")
            header[key] = value.strip()
        elif key is not None and (match := _CONTINUATION.fullmatch(line.rstrip())):
            header[key] = f"{header[key]} {match[1]}".strip()
    return header


def _parse_entries(text: str, key: str, place: str) -> tuple[Any, ...]:
    """Return what the entries of a key say; raise VariantError for those of another form."""
    pattern, made, otherwise = _ENTRIES[key]
    entries = list(filter(None, re.split(r"\s*,\s*|\s+(?=--)", text)))
    matches = [re.fullmatch(pattern, entry) for entry in entries]
    if None in matches:
        raise VariantError(f"{place}: {key} {entries[matches.index(None)]!r} {otherwise}")
    return tuple(made(match) for match in matches if match)


def _parse_values(header: dict[str, str], place: str) -> dict[str, Any]:
    """Return the fields that a header sets; raise VariantError for invalid ones."""
    for key in REQUIRED:
        if not header.get(key):
            raise VariantError(f"{place}: the header lacks a value for {key!r}; add `// {key}: …`")
    values: dict[str, Any] = {key: value for key, value in header.items() if value}
    values |= {key: _parse_entries(values[key], key, place) for key in _ENTRIES if key in values}
    (values["block"],) = values["block"]
    if "steps" in values:
        (values["steps"],) = values["steps"]
    if not 1 <= math.prod(values["block"]) <= MAX_BLOCK_THREADS:
        raise VariantError(f"{place}: block {header['block']!r} {_ENTRIES['block'][2]}")
    return values | {"place": place, "used": values.pop("threads", "")}


def evaluate_whole_numbers(text: str, names: Mapping[str, int]) -> tuple[int, ...]:
    """Evaluate expressions that are separated by commas; division of sizes is exact.

    text: like "ceil(n / 128), ceil(m / 128)", of + - * / //, ceil, floor, min and max. Raises
    VariantError for other text, and where a value is not a whole number.
    """
    if len(text) > MAX_EXPRESSION:
        raise VariantError(f"an expression has {len(text):,} letters: at most {MAX_EXPRESSION}")
    try:
        parsed = ast.parse(f"({text},)", mode="eval").body
        values = [_evaluate(each, names) for each in parsed.elts]  # type: ignore[attr-defined]
    except ZeroDivisionError:
        raise VariantError(f"{text!r} divides by zero") from None
    except _NOT_EVALUATED as error:
        raise VariantError(f"{text!r} is not understood here: {error}") from None
    for value in values:
        if abs(value) > MAX_VALUE:
            raise VariantError(f"{text!r} gives a number beyond 2^63")
        if value.denominator != 1:
            raise VariantError(f"{text!r} gives {value}, not a whole number: use ceil( )")
    return tuple(map(int, values))


def _evaluate(node: ast.expr, names: Mapping[str, int]) -> Fraction:
    """Evaluate an expression. Raises TypeError: it has other operations, or names."""
    match node:
        case ast.Constant(value=int(number)) if not isinstance(number, bool):
            return Fraction(number)
        case ast.Name(id=name) if name in names:
            return Fraction(names[name])
        case ast.Name(id=name):
            raise TypeError(f"{name!r} is not one of {', '.join(names)}")
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_evaluate(operand, names)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            return Fraction(_OPERATIONS[type(op)](_evaluate(left, names), _evaluate(right, names)))
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in _FUNCTIONS:
            return Fraction(_FUNCTIONS[name](*(_evaluate(each, names) for each in args)))
    raise TypeError(f"an expression has + - * / //, {', '.join(_FUNCTIONS)}")


def sort_by_preference(
    variants: Sequence[Variant], axes: Mapping[str, int], dtype: str
) -> list[Variant]:
    """Order variants: those that are the fastest ones at these sizes, then from the last on."""
    later = sorted(variants, key=lambda each: each.label, reverse=True)

    def is_best(each: Variant) -> bool:
        return any(b.dtype in ("", dtype) and axes.get(b.axis) in b.sizes for b in each.best)

    return sorted(later, key=is_best, reverse=True)


def split_architecture(arch: str) -> tuple[int, str]:
    """Split an architecture like "sm_90a" into compute capability and suffix: (90, "a")."""
    match = _ARCHITECTURE.fullmatch(arch)
    if match is None:
        raise VariantError(f"{arch!r} is not a GPU architecture: write it like sm_80 or sm_90a")
    return int(match[1]), match[2]
