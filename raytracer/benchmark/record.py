"""The record of `raytracer bench`, as saved in JSON, and its JSON Schema.

Times are seconds, sizes bytes, rates per second. Records of other versions may have further keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, cast

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from typing_extensions import TypedDict

from raytracer.backends.base import Device as ComputeDevice
from raytracer.errors import DataFileError, shown

FORMAT: Literal[1] = 1
DIALECT = "https://json-schema.org/draft/2020-12/schema"

Kind = Literal["variant", "mine", "peer", "cpu", "copy", "stage"]
Status = Literal["ok", "wrong", "skipped", "failed"]

CHECKED = with_config(ConfigDict(allow_inf_nan=False, use_attribute_docstrings=True))
Seconds = Annotated[float, Field(gt=0)]


@CHECKED
class Times(TypedDict):
    """Statistics of samples of a time."""

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


@CHECKED
class Resources(TypedDict, total=False):
    """Resources of a kernel on the GPU."""

    compiler: str
    """That made the machine code, with its release."""
    registers: int
    """Per thread."""
    shared: int
    """Static shared memory of a block, in bytes."""
    spilled: int
    """Bytes of registers spilled, as reported by ptxas."""


@CHECKED
class Row(TypedDict):
    """A row of a result: a kernel, a library or a stage."""

    label: str
    title: str
    kind: Kind
    status: Status
    """Only rows with status "ok" are timed."""
    reason: str
    """Why the status is not "ok", in one sentence."""
    time: NotRequired[Times]
    samples: NotRequired[list[float]]
    """All samples of the time."""
    resources: NotRequired[Resources]
    version: NotRequired[str]
    """Version of the library of a peer."""
    shows: NotRequired[str]
    """Contents of the picture of a render kernel."""
    msamples: NotRequired[float]
    """Million samples of pixels per second (render ladder)."""
    mspheres: NotRequired[float]
    """Million spheres per second (stages, trees and moves)."""
    bytes_per_sphere: NotRequired[float]
    nodes: NotRequired[int]
    """Nodes of a tree."""
    cost_per_ray: NotRequired[float]
    """Expected cost of a ray that meets the root, relative to a visit of a node."""


@CHECKED
class WorkDone(TypedDict):
    """Operations and bytes of one call."""

    flop: float
    bytes_read: float
    bytes_written: float


@CHECKED
class Clock(TypedDict, total=False):
    """What the driver tells while a kernel runs."""

    sm_mhz: int
    watts: int
    held_back_by: list[str]
    gpu_percent: int
    memory_percent: int
    memory_used: int


@CHECKED
class Ceilings(TypedDict, total=False):
    """Ceilings of the GPU, measured in the same run."""

    copy_gbps: float
    fma_tflops: float


@CHECKED
class Device(TypedDict, total=False):
    """The device of a run."""

    device: str
    """Name by the driver or the system."""
    name: str
    """Name of the backend."""
    compute_capability: str
    architecture: str
    memory_total: int
    multiprocessors: int
    cuda_driver: str
    driver: str
    binding: str
    """Python binding of the driver, with its version."""
    l2_bytes: int
    ceilings: Ceilings
    isa: str
    """Instruction set of the CPU."""
    threads: int


@CHECKED
class Result(TypedDict):
    """One benchmark at one size."""

    op: str
    """Name of the operation; "render", "tone ..." or "build"."""
    axes: dict[str, int | str]
    """Sizes by name; for "render" and "build" also the name of the scene."""
    dtype: str
    input: str
    """Distribution of the input values, or the scene."""
    mode: str
    work: WorkDone
    note: str
    rows: list[Row]
    failed: NotRequired[str]
    """Why nothing was timed."""
    backend: NotRequired[str]
    device: NotRequired[Device]
    memory_used: NotRequired[int]
    clock: NotRequired[Clock]
    traced: NotRequired[list[int]]
    """Width and height of the smallest picture while the camera moves."""


@CHECKED
class Versions(TypedDict):
    """Versions of the software."""

    raytracer: str
    python: str
    numpy: str


@CHECKED
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
    """Version of nvcc or NVRTC, whichever compiles."""
    kernel_digest: str
    """Digest of all CUDA sources."""
    load_average: float
    versions: Versions
    results: list[Result]


def row(label: str, title: str, kind: Kind, status: Status = "ok", reason: str = "") -> Row:
    """Create a row without times."""
    return {"label": label, "title": title, "kind": kind, "status": status, "reason": reason}


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


def device_of(backend: ComputeDevice) -> Device:
    """Return the properties of a device, without the memory that happens to be free."""
    details = {key: value for key, value in backend.describe().items() if key != "memory_free"}
    return cast(Device, {"name": backend.name} | details)


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a record (draft 2020-12)."""
    return {"$schema": DIALECT, **TypeAdapter(Record).json_schema()}


def validated(content: object, source: str) -> Record:
    """Return the content of a saved record; raise DataFileError if it is none."""
    try:
        TypeAdapter(Record).validate_python(content, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        place = shown(".".join(map(str, first["loc"])) or "the whole")
        raise DataFileError(
            f"{source}: is not a record of `raytracer bench --save`: {place}: {first['msg']}"
        ) from error
    return cast("Record", content)
