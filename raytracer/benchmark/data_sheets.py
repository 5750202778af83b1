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


_SHEET, _ADA = "NVIDIA data sheet", "NVIDIA Ada whitepaper"
_BLACKWELL = "NVIDIA RTX Blackwell whitepaper"
SHEETS = {
    "H200": Sheet(989.5, 67, 4800, _SHEET),
    "H100 80GB HBM3": Sheet(989.5, 67, 3350, _SHEET),  # SXM
    "A100-SXM4-80GB": Sheet(312, 19.5, 2039, _SHEET),
    "A100-SXM4-40GB": Sheet(312, 19.5, 1555, _SHEET),
    "A100 80GB PCIe": Sheet(312, 19.5, 1935, _SHEET),
    "A100-PCIE-40GB": Sheet(312, 19.5, 1555, _SHEET),
    "L40S": Sheet(362, 91.6, 864, _SHEET),
    "L40": Sheet(181, 90.5, 864, _SHEET),
    "A40": Sheet(149.7, 37.4, 696, _SHEET),
    "T4": Sheet(0, 8.1, 320, _SHEET),
    "GeForce RTX 4090": Sheet(165.2, 82.6, 1008, _ADA),
    "GeForce RTX 5090": Sheet(209.5, 104.8, 1792, _BLACKWELL),
    "RTX PRO 6000 Blackwell Workstation Edition": Sheet(503.8, 125, 1792, _BLACKWELL),
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
