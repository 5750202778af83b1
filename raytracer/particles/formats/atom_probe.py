"""Reconstructions of atom probes (.pos, .epos): positions, and ratios of mass to charge."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.particles.array_source import ArraySource

POS = [(name, ">f4") for name in ("x", "y", "z", "mass_to_charge")]
EPOS = [
    *POS,
    *((name, ">f4") for name in ("time_of_flight", "voltage", "pulse_voltage", "x_d", "y_d")),
    ("pulses", ">i4"),
    ("ions", ">i4"),
]
"""Fields of a particle, big endian; x_d and y_d are places on the detector."""


class Source(ArraySource):
    noun = "field"
    memory = 3

    def read(self) -> dict[str, NDArray[Any]]:
        fields = EPOS if self.variant == ".epos" else POS
        if self.file.size % (4 * len(fields)):
            raise self.error(
                "is incomplete, or not an atom probe file: its size is not a "
                f"multiple of {4 * len(fields)} bytes"
            )
        rows = np.frombuffer(self.content(), fields)
        return {name: rows[name].astype(kind[1:]) for name, kind in fields}
