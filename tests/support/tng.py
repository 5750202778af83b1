"""TNG trajectories, uncompressed, whose frame sets hold what a test asks for."""

import struct
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

GENERAL, MOLECULES, FRAME_SET, BOX, POSITIONS, VELOCITIES = (
    0,
    1,
    2,
    1 << 28,
    (1 << 28) + 1,
    0x10000002,
)
NAMES = {GENERAL: b"GENERAL INFO", MOLECULES: b"MOLECULES", FRAME_SET: b"TRAJECTORY FRAME SET",
         BOX: b"BOX SHAPE", POSITIONS: b"POSITIONS", VELOCITIES: b"VELOCITIES"}  # fmt: skip
ATOMS = 3

Data = Mapping[int, tuple[int, int, Sequence[int]]]
"""By kind of block: first frame with data, stride, steps of the values."""


def values(kind: int, step: int) -> NDArray[np.float32]:
    """Return what a block holds at a step, in nm: a box whose z edge is 9 + step, or coordinates of
    three atoms, the first (step, 0.1, 0.2)."""
    if kind == BOX:
        return np.diag([9.0, 9.0, 9.0 + step]).astype(np.float32)
    return (np.arange(3 * ATOMS).reshape(ATOMS, 3) / 10 + [step, 0, 0]).astype(np.float32)


def block(order: str, kind: int, content: bytes) -> bytes:
    name = NAMES[kind] + b"\0"
    head = struct.pack(order + "QQQ16x", 48 + len(name), len(content), kind)
    return head + name + struct.pack(order + "Q", 8) + content


def data_block(order: str, kind: int, first: int, stride: int, steps: Sequence[int]) -> bytes:
    content = struct.pack(order + "BBBQQQQ", 2, 1 if kind == BOX else 3, 1, 9 if kind == BOX else 3,
                          0, first, stride)  # fmt: skip
    if kind != BOX:
        content += struct.pack(order + "QQ", 0, ATOMS)
    numbers = np.array([values(kind, step) for step in steps], f"{order}f4")
    return block(order, kind, content + numbers.tobytes())


def tng(sets: Sequence[tuple[int, int, Data]], order: str = "<") -> bytes:
    """Return a trajectory of argon; sets: first frame, number of frames, blocks."""
    q = order + "Q"
    argon = [struct.pack(order + "QQ", 1, 1), b"Ar\0", struct.pack(order + "5Q", 1, ATOMS, 1, 1, 1),
             struct.pack(q, 1), b"\0", struct.pack(order + "QQ", 1, 1), b"Ar\0",
             struct.pack(order + "QQ", 1, 1), b"Ar\0Ar\0", struct.pack(q, 0)]  # fmt: skip
    molecules = block(order, MOLECULES, b"".join(argon))

    def general(first: int, last: int) -> bytes:
        numbers = struct.pack(order + "qB6q", 0, 0, 100, first, last, 100, 10000, -9)
        return block(order, GENERAL, bytes(9) + numbers)

    bodies = [b"".join(data_block(order, kind, *about) for kind, about in blocks.items())
              for _, _, blocks in sets]  # fmt: skip
    head = len(block(order, FRAME_SET, bytes(80)))
    starts = [len(general(0, 0)) + len(molecules)]
    for body in bodies:
        starts.append(starts[-1] + head + len(body))
    places = [-1, *starts[:-1], -1]
    parts = [general(places[1], places[-2]), molecules]
    for number, ((first, count, _), body) in enumerate(zip(sets, bodies, strict=True)):
        links = (places[number + 2], places[number], -1, -1, -1, -1)
        content = struct.pack(order + "8q2d", first, count, *links, first * 1e-12, 1e-12)
        parts += [block(order, FRAME_SET, content), body]
    return b"".join(parts)


def every(count: int, in_set: int, steps: Mapping[int, Sequence[int]], order: str = "<") -> bytes:
    """Return a trajectory of `count` frames in sets; `steps` of each kind of block."""
    sets = []
    for first in range(0, count, in_set):
        end, blocks = min(first + in_set, count), {}
        for kind, at in steps.items():
            if found := [step for step in at if first <= step < end]:
                stride = at.step if isinstance(at, range) else 1
                blocks[kind] = (found[0], stride, found)
        sets.append((first, end - first, blocks))
    return tng(sets, order)
