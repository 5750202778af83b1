"""Peak rates of GPUs by their data sheets, which kernels come close to and do not reach.

All are dense: figures "with sparsity" are halved. Those of bfloat16 are with sums in float32, which
are half as fast as others on GeForce GPUs.
"""

from typing import NamedTuple

from raytracer.benchmark.record import Ceilings


class Sheet(NamedTuple):
    """The peak rates of a GPU."""

    bfloat16: float  # TFLOP/s on tensor cores; 0 without
    float32: float  # TFLOP/s
    memory: float  # GB/s
    source: str


_SHEET, _AMPERE = "NVIDIA data sheet", "NVIDIA GA102 whitepaper"
_ADA, _BLACKWELL = "NVIDIA Ada whitepaper", "NVIDIA RTX Blackwell whitepaper"
SHEETS = {
    "H200": Sheet(989.5, 67, 4800, _SHEET),
    "H200 NVL": Sheet(835.5, 60, 4800, _SHEET),
    "GH200 480GB": Sheet(989.5, 67, 4000, _SHEET),
    "H100 80GB HBM3": Sheet(989.5, 67, 3350, _SHEET),  # SXM
    "H100 NVL": Sheet(835.5, 60, 3900, _SHEET),
    "H100 PCIe": Sheet(756.5, 51, 2000, _SHEET),
    "A100-SXM4-80GB": Sheet(312, 19.5, 2039, _SHEET),
    "A100-SXM4-40GB": Sheet(312, 19.5, 1555, _SHEET),
    "A100 80GB PCIe": Sheet(312, 19.5, 1935, _SHEET),
    "A100-PCIE-40GB": Sheet(312, 19.5, 1555, _SHEET),
    "L40S": Sheet(362, 91.6, 864, _SHEET),
    "L40": Sheet(181, 90.5, 864, _SHEET),
    "L4": Sheet(121, 30.3, 300, _SHEET),
    "A40": Sheet(149.7, 37.4, 696, _SHEET),
    "A10": Sheet(125, 31.2, 600, _SHEET),
    "T4": Sheet(0, 8.1, 320, _SHEET),
    "RTX A6000": Sheet(154.8, 38.7, 768, _AMPERE),
    "GeForce RTX 3090": Sheet(71, 35.6, 936, _AMPERE),
    "GeForce RTX 3080": Sheet(59.5, 29.8, 760, _AMPERE),
    "RTX 6000 Ada Generation": Sheet(364.2, 91.1, 960, _ADA),
    "GeForce RTX 4090": Sheet(165.2, 82.6, 1008, _ADA),
    "GeForce RTX 4080": Sheet(97.5, 48.7, 716.8, _ADA),
    "GeForce RTX 5090": Sheet(209.5, 104.8, 1792, _BLACKWELL),
    "GeForce RTX 5080": Sheet(112.6, 56.3, 960, _BLACKWELL),
}
"""Data sheets by the name that the driver has for a GPU, without its maker. Parts of a GPU (MIG)
have other names."""


def find_sheet(device: str) -> Sheet | None:
    """Return the data sheet of a device by its name; None if it is not known."""
    return SHEETS.get(device.removeprefix("NVIDIA ").removeprefix("Tesla ").strip())


def peak_rates(sheet: Sheet) -> Ceilings:
    """Return the rates of a data sheet, as a record has them."""
    found: Ceilings = {"copy_gbps": sheet.memory, "fma_tflops": sheet.float32}
    if sheet.bfloat16:
        found["mma_tflops"] = sheet.bfloat16
    return found
