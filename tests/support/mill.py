"""Files in the format of the guide to formats of one's own."""

import struct

import numpy as np

MAGIC = b"MILLGRNS"


def mill_file(*times: float, count: int = 5) -> bytes:
    """A file in the format of the guide, with frames at some times."""
    data = b""
    for place, time in enumerate(times):
        grains = np.zeros(count, [("position", "<f4", 3), ("radius", "<f4"), ("speed", "<f4")])
        grains["position"][:, 0] = np.arange(count) + place
        grains["radius"] = 0.25
        grains["speed"] = np.arange(count)
        data += struct.pack("<8sId3d", MAGIC, count, time, 8, 9, 10) + grains.tobytes()
    return data
