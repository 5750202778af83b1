"""Clock, power, utilisation, memory and throttle reasons of the GPU, read through NVML."""

from __future__ import annotations

import ctypes
from contextlib import suppress

from raytracer.benchmark.record import Clock

SM_CLOCK = 1  # NVML_CLOCK_SM
# Bits of nvmlClocksThrottleReasons, without idle and settings of the user.
REASONS = {
    0x4: "power limit",
    0x8: "hardware slowdown",
    0x20: "thermal limit",
    0x40: "hardware thermal limit",
    0x80: "power brake",
}


class _Utilization(ctypes.Structure):
    _fields_ = (("gpu", ctypes.c_uint), ("memory", ctypes.c_uint))


class _Memory(ctypes.Structure):
    _fields_ = tuple((name, ctypes.c_ulonglong) for name in ("total", "free", "used"))


def read(bus_id: str) -> Clock:
    """Read SM clock (MHz), power (W), throttle reasons, utilisation (%) and memory in use (bytes).

    bus_id: PCI address, like "0000:3B:00.0". Utilisation is that of the last sampling period of
    NVML; {} without NVML.
    """
    try:
        nvml = ctypes.CDLL("libnvidia-ml.so.1")
        if nvml.nvmlInit_v2():
            return {}
    except (OSError, AttributeError):
        return {}
    clock: Clock = {}
    with suppress(AttributeError):
        handle = ctypes.c_void_p()
        if not nvml.nvmlDeviceGetHandleByPciBusId_v2(bus_id.encode(), ctypes.byref(handle)):
            clock = _query(nvml, handle)
        nvml.nvmlShutdown()
    return clock


def _query(nvml: ctypes.CDLL, handle: ctypes.c_void_p) -> Clock:
    clock: Clock = {}
    number, reasons = ctypes.c_uint(), ctypes.c_ulonglong()
    if not nvml.nvmlDeviceGetClockInfo(handle, SM_CLOCK, ctypes.byref(number)):
        clock["sm_mhz"] = number.value
    if not nvml.nvmlDeviceGetPowerUsage(handle, ctypes.byref(number)):
        clock["watts"] = round(number.value / 1000)
    if not nvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle, ctypes.byref(reasons)):
        clock["held_back_by"] = [name for bit, name in REASONS.items() if reasons.value & bit]
    busy, memory = _Utilization(), _Memory()
    if not nvml.nvmlDeviceGetUtilizationRates(handle, ctypes.byref(busy)):
        clock["gpu_percent"], clock["memory_percent"] = busy.gpu, busy.memory
    if not nvml.nvmlDeviceGetMemoryInfo(handle, ctypes.byref(memory)):
        clock["memory_used"] = memory.used
    return clock
