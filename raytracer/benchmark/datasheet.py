"""Peaks of GPUs from data sheets, printed beside the measured ceilings."""

from __future__ import annotations

from raytracer.benchmark.record import DataSheet

# By a part of the name that the driver reports, longer names first: memory in GB/s, TFLOP/s of
# float32, float64 and bfloat16 (dense, on tensor cores), and the source.
CARDS = {
    "H200 NVL": (4800, 60.3, 30.2, 835.5, "NVIDIA H200 data sheet"),
    "H200": (4800, 66.9, 33.5, 989.5, "NVIDIA H200 data sheet (SXM)"),
    "H100 PCIe": (2039, 51.2, 25.6, 756.5, "NVIDIA H100 data sheet (PCIe)"),
    "H100": (3350, 66.9, 33.5, 989.5, "NVIDIA H100 data sheet (SXM)"),
    "A100-SXM4-80GB": (2039, 19.5, 9.7, 312, "NVIDIA A100 data sheet (80 GB SXM)"),
    "A100": (1555, 19.5, 9.7, 312, "NVIDIA A100 data sheet (40 GB)"),
    "RTX PRO 6000": (1792, 126, 1.97, 503.8, "NVIDIA RTX Blackwell PRO architecture paper"),
    "RTX 5090": (1792, 104.8, 1.64, 209.5, "NVIDIA RTX Blackwell architecture paper"),
    "RTX 3090": (936, 35.6, 0.56, 71, "NVIDIA GA102 architecture paper"),
}


def card(device: str) -> DataSheet | None:
    """Return the entry for a device name; None if there is none."""
    for name, (memory, float32, float64, bfloat16, source) in CARDS.items():
        if name in device:
            return DataSheet(
                name=name, memory=memory, float32=float32, float64=float64, bfloat16=bfloat16,
                source=source,
            )  # fmt: skip
    return None
