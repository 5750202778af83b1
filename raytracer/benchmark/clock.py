"""Clock, power and throttle reasons of the GPU, as nvidia-smi tells them."""

import subprocess
from contextlib import suppress

from raytracer.benchmark.record import Clock

QUERY = "clocks.sm,power.draw,clocks_throttle_reasons.active"
TIMEOUT = 10.0  # seconds
# Bits of the throttle reasons, without idle and settings of the user (nvml.h).
REASONS = {
    0x4: "power limit",
    0x8: "hardware slowdown",
    0x20: "thermal limit",
    0x40: "hardware thermal limit",
    0x80: "power brake",
}


def read(bus_id: str) -> Clock:
    """Return what the driver tells of the last sampling period; {} without nvidia-smi.

    bus_id: PCI address, like "0000:3B:00.0".
    """
    command = ["nvidia-smi", f"--id={bus_id}", f"--query-gpu={QUERY}"]
    clock: Clock = {}
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        done = subprocess.run(
            [*command, "--format=csv,noheader,nounits"],
            capture_output=True, text=True, check=True, timeout=TIMEOUT,
        )  # fmt: skip
        sm, watts, active = map(str.strip, done.stdout.split(","))
        clock["sm_mhz"] = int(sm)
        clock["watts"] = round(float(watts))
        reasons = int(active, 16)
        clock["held_back_by"] = [name for bit, name in REASONS.items() if reasons & bit]
    return clock
