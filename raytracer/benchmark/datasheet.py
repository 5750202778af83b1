"""Peaks of GPUs from data sheets, printed beside the measured ceilings."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Card:
    """Peaks of a GPU: memory in GB/s, TFLOP/s by type (dense; BF16 on tensor cores)."""

    name: str  # a part of the name that the driver reports
    memory: float
    float32: float
    float64: float
    bfloat16: float
    source: str


# Longer names first: the first one contained in the name of the device is used.
CARDS = (
    Card("H200 NVL", 4800, 60.3, 30.2, 835.5, "NVIDIA H200 data sheet"),
    Card("H200", 4800, 66.9, 33.5, 989.5, "NVIDIA H200 data sheet (SXM)"),
    Card("H100 PCIe", 2039, 51.2, 25.6, 756.5, "NVIDIA H100 data sheet (PCIe)"),
    Card("H100", 3350, 66.9, 33.5, 989.5, "NVIDIA H100 data sheet (SXM)"),
    Card("A100-SXM4-80GB", 2039, 19.5, 9.7, 312, "NVIDIA A100 data sheet (80 GB SXM)"),
    Card("A100", 1555, 19.5, 9.7, 312, "NVIDIA A100 data sheet (40 GB)"),
    Card("RTX PRO 6000", 1792, 126, 1.97, 503.8, "NVIDIA RTX Blackwell PRO architecture paper"),
    Card("RTX 5090", 1792, 104.8, 1.64, 209.5, "NVIDIA RTX Blackwell architecture paper"),
    Card("RTX 3090", 936, 35.6, 0.56, 71, "NVIDIA GA102 architecture paper"),
)


def card(device: str) -> Card | None:
    """Return the entry for a device name; None if there is none."""
    return next((entry for entry in CARDS if entry.name in device), None)
