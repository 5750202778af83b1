"""The record of `raytracer bench`, as saved in JSON.

Times are seconds, sizes bytes, rates per second. Records of other versions may have further keys.
"""

from collections.abc import Mapping
from functools import cache, partial
from pathlib import Path
from types import UnionType
from typing import (
    Annotated,
    Any,
    Literal,
    NotRequired,
    TypedDict,
    get_args,
    get_origin,
    get_type_hints,
    is_typeddict,
)

from raytracer.config.arguments import (
    check_items,
    check_mapping,
    check_real,
    check_text,
    check_whole,
)
from raytracer.config.errors import DataFileError, UserError, quote, quote_value
from raytracer.files.access import check_path, load_json, open_file

FORMAT: Literal[1] = 1
MAX_BYTES = 1 << 28  # of a file

Kind = Literal["variant", "mine", "peer", "cpu", "copy", "stage"]
Status = Literal["ok", "wrong", "skipped", "failed"]

POSITIVE = "above 0"
Seconds = Annotated[float, POSITIVE]
Rate = Annotated[float, POSITIVE]


class Times(TypedDict):
    """Statistics of samples of a time."""

    median: Seconds
    min: float
    q1: float  # first quartile
    q3: float  # third quartile
    noise: float  # (q3 - q1) / median
    count: int  # samples


class Resources(TypedDict, total=False):
    """Resources of a kernel on the GPU."""

    compiler: str  # that made the machine code, with its release
    registers: int  # per thread
    shared: int  # static shared memory of a block, in bytes
    dynamic_shared: int  # shared memory of the launch, in bytes of a block
    threads: int  # of a block
    spilled: int  # bytes of registers spilled, as reported by ptxas


class Row(TypedDict):
    """A row of a result: a kernel, a library or a stage."""

    label: str
    title: str
    kind: Kind
    status: Status  # only rows with status "ok" are timed
    reason: str  # why the status is not "ok", in one sentence
    time: NotRequired[Times]
    samples: NotRequired[list[Seconds]]  # all samples of the time
    groups: NotRequired[list[int]]  # samples of each turn, one after another
    resources: NotRequired[Resources]
    version: NotRequired[str]  # version of the library of a peer
    clock: NotRequired["Clock"]  # while it runs
    shows: NotRequired[str]  # contents of the picture of a render kernel
    msamples: NotRequired[float]  # million samples of pixels per second (render ladder)
    mrays: NotRequired[float]  # million rays per second (build ladder)
    mspheres: NotRequired[float]  # million spheres per second (stages, trees and moves)
    bytes_per_sphere: NotRequired[float]
    nodes: NotRequired[int]  # nodes of a tree


class Work(TypedDict):
    """Operations and bytes of one call."""

    flop: float
    bytes_read: float
    bytes_written: float


class Clock(TypedDict, total=False):
    """What the driver tells while a kernel runs."""

    sm_mhz: int
    watts: int
    held_back_by: list[str]


class Ceilings(TypedDict, total=False):
    """Rates that a GPU cannot exceed: measured in the same run, or of its data sheet."""

    copy_gbps: Rate  # bytes read and written
    fma_tflops: Rate  # float32 multiply-adds, without tensor cores
    mma_tflops: Rate  # bfloat16 with sums in float32, on tensor cores


class Device(TypedDict, total=False):
    """The device of a run."""

    device: str  # name by the driver or the system
    compute_capability: str
    architecture: str
    memory_total: int
    multiprocessors: int
    cuda_driver: str
    driver: str
    binding: str  # Python binding of the driver, with its version
    ceilings: Ceilings
    peak: Ceilings  # of the data sheet, where it is known
    peak_source: str
    isa: str  # instruction set of the CPU
    threads: int


class Result(TypedDict):
    """One benchmark at one size."""

    op: str  # name of the operation; "render", "tone ...", "build ..." or "live"
    axes: dict[str, int | str]  # sizes by name, and the name of the scene where there is one
    dtype: str
    input: str  # distribution of the input values, or the scene
    mode: str
    work: Work
    note: str
    rows: list[Row]
    failed: NotRequired[str]  # why nothing was timed
    memory_used: NotRequired[int]
    kernels: NotRequired[dict[str, str]]  # digests of what was measured, by source (`sources.py`)
    input_sets: NotRequired[int]  # of the timed launches, at different addresses


class Record(TypedDict):
    """A run of `raytracer bench`."""

    format: Literal[1]
    date: str  # ISO 8601, UTC
    command: str
    backend: Literal["cpu", "cuda"]
    device: Device
    why_no_gpu: str
    compiler: str  # version of nvcc or NVRTC, whichever compiles
    kernel_digest: str  # digest of all CUDA sources
    load_average: float
    versions: dict[str, str]  # of raytracer, python and numpy
    results: list[Result]
    seed: NotRequired[int]  # of random sizes


def read_record(path: str | Path) -> Record:
    """Read a record that `raytracer bench --save` wrote.

    Raises:
        UserError: the file cannot be read or is no record.
    """
    path = check_path(path)
    with open_file(path) as file:
        try:
            values = load_json(file.read(MAX_BYTES).decode("utf-8"), file.source)
        except (ValueError, RecursionError):
            raise DataFileError(f"{file.source}: {NO_RECORD} (it is not JSON)") from None
        return validate_record(values, file.source)


NO_RECORD = "is no record of `raytracer bench --save`"


def validate_record(values: Any, source: str) -> Record:
    """Return values as a record; raise UserError, with the first field that is wrong."""
    try:
        record: Record = _checked(values, Record, "")
    except UserError as error:
        raise DataFileError(f"{source}: {NO_RECORD} ({error.sentences[0]})") from None
    return record


_fields = cache(partial(get_type_hints, include_extras=True))


def _checked(value: Any, hint: Any, place: str) -> Any:
    """Return a value of JSON that has a type of this module, without unknown keys. Raises
    UserError: it has another type; the message begins with its place, "results.0.op"."""
    origin, arguments = get_origin(hint), get_args(hint)
    if is_typeddict(hint):
        return _checked_table(value, hint, place)
    if origin is NotRequired:
        return _checked(value, arguments[0], place)
    if origin is Literal:
        if value not in arguments:
            known = " or ".join(map(repr, arguments))
            raise UserError(f"{place}: must be {known}, not {quote_value(value)}")
        return value
    if origin is list:
        return [_checked(each, arguments[0], f"{place}.{i}")
                for i, each in enumerate(check_items(value, place))]  # fmt: skip
    if origin is dict:
        return {key: _checked(each, arguments[1], f"{place}.{quote(key)}")
                for key, each in check_mapping(value, place).items()}  # fmt: skip
    if origin is UnionType:  # int | str
        return check_text(value, place) if isinstance(value, str) else check_whole(value, place)
    if origin is Annotated:
        return check_real(value, place, 0.0, above=True)
    if hint is str:
        return check_text(value, place)
    if hint is int:
        return check_whole(value, place)
    return value if isinstance(value, float) else check_real(value, place)  # perhaps NaN


def _checked_table(value: Any, hint: Any, place: str) -> dict[str, Any]:
    start = f"{place}." if place else ""
    if not place and not isinstance(value, dict):
        raise UserError("it is not a JSON object")
    table, fields = check_mapping(value, place), _fields(hint)
    for name in fields:
        if name in hint.__required_keys__ and name not in table:
            raise UserError(f"{start}{name}: is missing")
    return {name: _checked(table[name], each, f"{start}{name}")
            for name, each in fields.items() if name in table}  # fmt: skip


def moved(work: Work) -> float:
    """Return the bytes that are read and written."""
    return work["bytes_read"] + work["bytes_written"]


def row(label: str, title: str = "", kind: Kind = "variant") -> Row:
    """Create a row without times."""
    return {"label": label, "title": title, "kind": kind, "status": "ok", "reason": ""}


def result(
    op: str, axes: Mapping[str, int | str], rows: list[Row], mode: str, values: str
) -> Result:
    """Create a result of float32 without work and note; values: the distribution, or the scene."""
    return {
        "op": op,
        "axes": dict(axes),
        "dtype": "float32",
        "input": values,
        "mode": mode,
        "work": {"flop": 0, "bytes_read": 0, "bytes_written": 0},
        "note": "",
        "rows": rows,
    }
