"""The record of `raytracer bench`: what is saved as JSON, typed, and its JSON Schema.

Times are seconds, sizes bytes, rates per second.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Literal, NotRequired, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from raytracer.errors import DataFileError, shown

if TYPE_CHECKING:
    from raytracer.backends.base import Device as ComputeDevice

FORMAT: Literal[1] = 1
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Kind = Literal["variant", "mine", "peer", "cpu", "copy", "stage"]
Status = Literal["ok", "wrong", "skipped", "failed"]

EXACT = with_config(ConfigDict(extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True))


Seconds = Annotated[float, Field(gt=0)]


@EXACT
class Times(TypedDict):
    """What samples of a time say."""

    median: Seconds
    min: Seconds
    q1: Seconds
    """First quartile."""
    q3: Seconds
    """Third quartile."""
    noise: float
    """(q3 - q1) / median."""
    count: int
    """Samples."""


@EXACT
class Resources(TypedDict, total=False):
    """What a kernel takes of the GPU."""

    kernel: str
    """Its label; of the render ladder."""
    registers: int
    """Of a thread."""
    shared: int
    """Static shared memory of a block, in bytes."""
    spilled: int
    """Bytes of registers spilled, as the assembler says."""
    shared_bytes: int
    """As `shared`; of the render ladder."""
    local_bytes: int
    """Local memory of a thread, in bytes; of the render ladder."""


@EXACT
class Rays(TypedDict, total=False):
    """A number for each kind of ray."""

    primary: float
    shadow: float
    reflection: float


@EXACT
class Row(TypedDict):
    """One competitor: a kernel, a library, a stage."""

    label: str
    title: str
    kind: Kind
    status: Status
    """Only rows that are "ok" are timed."""
    reason: str
    """Why a row is not ok, in one sentence."""
    time: NotRequired[Times]
    samples: NotRequired[list[float]]
    """Every time that was measured."""
    resources: NotRequired[Resources]
    version: NotRequired[str]
    """Of a peer's library."""
    bytes: NotRequired[int]
    """Bytes that this row moves, where that is not the work of the operation."""
    ncu: NotRequired[list[dict[str, float]]]
    """Nsight Compute's counters of each of its kernels."""
    shows: NotRequired[str]
    """What a rung of the render ladder puts into its picture."""
    rays: NotRequired[Rays]
    """Rays of a frame."""
    mrays: NotRequired[float]
    """Million rays of all kinds a second."""
    mrays_by_kind: NotRequired[Rays]
    mspheres: NotRequired[float]
    """Million spheres a second; of stages."""
    bytes_per_sphere: NotRequired[float]
    upload: NotRequired[Times]
    """Bringing the scene to the device."""


@EXACT
class WorkDone(TypedDict):
    """What one call computes and moves."""

    flop: float
    bytes_read: float
    bytes_written: float


@EXACT
class OtherCount(TypedDict):
    """Another way to count the same call."""

    label: str
    flop: float
    bytes: float


@EXACT
class Clock(TypedDict, total=False):
    """What NVML says while a kernel runs."""

    sm_mhz: int
    watts: int
    held_back_by: list[str]
    gpu_percent: int
    memory_percent: int
    memory_used: int


@EXACT
class RaysByBounce(TypedDict):
    """Rays of a frame of one sample, by bounce."""

    shadow: list[int]
    reflection: list[int]


@EXACT
class Ceilings(TypedDict, total=False):
    """What the card gives at best, measured in the same run."""

    copy_gbps: float
    fma_tflops: float


@EXACT
class DataSheet(TypedDict):
    """What the maker says of the card: GB/s, and TFLOP/s by type."""

    name: str
    memory: float
    float32: float
    float64: float
    bfloat16: float
    source: str


@EXACT
class Device(TypedDict, total=False):
    """What it ran on."""

    device: str
    """The name that the driver or the system gives."""
    name: str
    """Of the backend."""
    compute_capability: str
    architecture: str
    memory_total: int
    multiprocessors: int
    cuda_driver: str
    driver: str
    l2_bytes: int
    ceilings: Ceilings
    data_sheet: DataSheet
    isa: str
    """Instruction set of the CPU."""
    threads: int


@EXACT
class Result(TypedDict):
    """One benchmark at one size."""

    op: str
    """Name of the operation; "render", "tone ..." or "preview"."""
    axes: dict[str, int | str]
    """Sizes by name; of "render" the name of the scene too."""
    dtype: str
    input: str
    """Distribution of the input values, or the scene."""
    mode: str
    work: WorkDone
    note: str
    rows: list[Row]
    count: NotRequired[OtherCount | None]
    failed: NotRequired[str]
    """Why nothing was timed."""
    backend: NotRequired[str]
    device: NotRequired[Device]
    memory_used: NotRequired[int]
    clock: NotRequired[Clock]
    hits: NotRequired[int]
    """Camera rays that meet a sphere."""
    rays_by_bounce: NotRequired[RaysByBounce]
    traced: NotRequired[list[int]]
    """Width and height of the coarsest picture while moving."""


@EXACT
class Versions(TypedDict):
    """Of what was run."""

    raytracer: str
    python: str
    numpy: str


@EXACT
class Record(TypedDict):
    """A run of `raytracer bench`."""

    format: Literal[1]
    date: str
    """ISO 8601, UTC."""
    command: str
    backend: Literal["cpu", "cuda"]
    device: Device
    why_no_gpu: str
    compiler: str
    """What nvcc says of its version."""
    kernel_digest: str
    """Of every CUDA source."""
    load_average: float
    versions: Versions
    results: list[Result]


def row(label: str, title: str, kind: Kind, status: Status = "ok", reason: str = "") -> Row:
    """A row before anything was timed."""
    return {"label": label, "title": title, "kind": kind, "status": status, "reason": reason}


def device_of(backend: ComputeDevice) -> Device:
    """What a device reports of itself, without the memory that happens to be free."""
    details = {key: value for key, value in backend.describe().items() if key != "memory_free"}
    return cast(Device, {"name": backend.name} | details)


def schema() -> dict[str, Any]:
    """The JSON Schema of a record (draft 2020-12)."""
    schema_ = TypeAdapter(Record).json_schema()
    return {"$schema": DIALECT, **schema_}


def validated(content: object, source: str) -> Record:
    """The content of a saved record; raises DataFileError. source: the file, for the message."""
    try:
        TypeAdapter(Record).validate_python(content, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = shown(".".join(map(str, first["loc"])) or "the whole")
        raise DataFileError(
            f"{source}: is no record of `raytracer bench --save`: {place}: {first['msg']}"
        ) from error
    return cast(Record, content)
