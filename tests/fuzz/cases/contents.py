"""Content of files, as bytes: arrays, archives, pictures, films."""

from __future__ import annotations

import io
import json
import struct
import zipfile
import zlib
from typing import Any

import numpy as np


def npz(compression: int = zipfile.ZIP_STORED, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", compression) as archive:
        for name, array in arrays.items():
            archive.writestr(f"{name}.npy", npy(array))
    return stream.getvalue()


def npy(array: Any) -> bytes:
    stream = io.BytesIO()
    np.save(stream, np.asanyarray(array), allow_pickle=True)
    return stream.getvalue()


def header(text: str, data: bytes = b"", version: int = 1) -> bytes:
    """An .npy file with this header."""
    body = text.encode("latin-1").ljust(118) + b"\n"
    length = struct.pack("<H" if version == 1 else "<I", len(body))
    return b"\x93NUMPY" + bytes([version, 0]) + length + body + data


def raw(members: dict[str, bytes], comment: bytes = b"") -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.comment = comment
        for name, content in members.items():
            archive.writestr(name, content)
    return stream.getvalue()


def altered(archive: bytes, method: int) -> bytes:
    """An archive whose members say another method of compression."""
    data = bytearray(archive)
    struct.pack_into("<H", data, 8, method)
    struct.pack_into("<H", data, data.index(b"PK\1\2") + 10, method)
    return bytes(data)


def encrypted(archive: bytes) -> bytes:
    data = bytearray(archive)
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    return bytes(data)


def chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def picture(*chunks: bytes) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes(13)) + b"".join(chunks)


def about(text: str) -> bytes:
    return picture(chunk(b"tEXt", b"raytracer\0" + text.encode("latin-1", "backslashreplace")))


def film(**changes: Any) -> bytes:
    """A film of 4 x 3 pixels as .npz; changes of its metadata, or of its arrays."""
    said = {
        "format": 2,
        "samples": 1,
        "place": [0, 0],
        "size": [4, 3],
        "metadata": {},
        "backdrop": {"bottom": [1, 1, 1], "top": [1, 1, 1]},
    }
    parts: dict[str, Any] = {"sums": np.ones((3, 4, 4), np.float32)}
    for name, value in changes.items():
        (parts if isinstance(value, np.ndarray) else said)[name] = value
    stream = io.BytesIO()
    np.savez(stream, **({"film": np.array(json.dumps(said))} | parts))
    return stream.getvalue()
