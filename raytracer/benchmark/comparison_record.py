"""The record of a comparison with another renderer: what is saved as JSON, typed.

Times are milliseconds.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from raytracer.benchmark.record import DIALECT, EXACT, Device, Versions


@EXACT
class Summary(TypedDict):
    """What times say."""

    median: float
    min: float
    q1: float
    """First quartile."""
    q3: float
    """Third quartile."""


@EXACT
class SideRecord(TypedDict):
    """One renderer's figures on one scene."""

    frame: Summary
    build: Summary
    frame_ms: list[float]
    build_ms: list[float]
    bytes_per_sphere: float | None
    hits: int | None
    """Camera rays that meet a sphere."""
    lit: int | None
    """Of these, the ones that the light reaches."""


@EXACT
class ComparisonRow(TypedDict):
    """One scene."""

    scene: str
    spheres: int
    size: list[int]
    """Width and height in pixels."""
    ours: SideRecord
    peers: dict[str, SideRecord]
    """By the peer's mode."""
    fastest: str
    """The peer's mode that the ratios are to."""
    peer_build: Summary
    """Of all its modes together."""
    frame_ratio: float
    """Ours by the peer's."""
    build_ratio: float
    agree: bool | None
    """Whether both hit and lit the same but for rounding; null where nothing was counted."""


@EXACT
class Comparison(TypedDict):
    """Our renderer beside another, scene by scene."""

    peer: str
    """Name and version."""
    note: str
    date: str
    """ISO 8601, UTC."""
    command: str
    device: Device
    load_average: float
    kernel_digest: str
    sources_digest: str
    """Of every C++ and CUDA source."""
    versions: Versions
    rows: list[ComparisonRow]


def schema() -> dict[str, Any]:
    """The JSON Schema of a comparison (draft 2020-12)."""
    return {"$schema": DIALECT, **TypeAdapter(Comparison).json_schema()}
