"""The record of a comparison with another renderer, as saved in JSON.

Times are milliseconds.
"""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from raytracer.benchmark.record import DIALECT, EXACT, Device, Versions


@EXACT
class Summary(TypedDict):
    """Statistics of times."""

    median: float
    min: float
    q1: float
    """First quartile."""
    q3: float
    """Third quartile."""


@EXACT
class SideRecord(TypedDict):
    """Measurements of one renderer on one scene."""

    frame: Summary
    build: Summary
    frame_ms: list[float]
    build_ms: list[float]
    bytes_per_sphere: float | None
    hits: int | None
    """Camera rays that hit a sphere."""
    lit: int | None
    """Of these, hits that the light reaches."""


@EXACT
class ComparisonRow(TypedDict):
    """One scene."""

    scene: str
    spheres: int
    size: list[int]
    """Width and height in pixels."""
    ours: SideRecord
    peers: dict[str, SideRecord]
    """By mode of the peer."""
    fastest: str
    """Mode of the peer to which the ratios refer."""
    peer_build: Summary
    """Of all modes together."""
    frame_ratio: float
    """Our time divided by that of the peer."""
    build_ratio: float
    agree: bool | None
    """Whether hits and lit pixels are equal within rounding; null if they were not counted."""


@EXACT
class Comparison(TypedDict):
    """Our renderer and a peer, scene by scene."""

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
    """Of all C++ and CUDA sources."""
    versions: Versions
    rows: list[ComparisonRow]


def schema() -> dict[str, Any]:
    """Return the JSON Schema of a comparison (draft 2020-12)."""
    return {"$schema": DIALECT, **TypeAdapter(Comparison).json_schema()}
