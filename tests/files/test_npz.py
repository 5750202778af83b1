"""Arrays of NumPy in files: every flipped, cut or lying byte is refused, as NumPy does."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest
from numpy.lib import format as npy

from raytracer import load
from raytracer.errors import DataFileError, UserError
from raytracer.files.npz import read_header

CENTERS = np.arange(3000.0).reshape(-1, 3)


def npz(compressed: bool = False, /, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


def sentence(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(DataFileError) as caught:
        load(path)
    return str(caught.value)


@pytest.mark.parametrize("compressed", [False, True])
def test_each_flipped_byte_of_the_values_is_noticed(tmp_path: Path, compressed: bool) -> None:
    whole = npz(compressed, centers=CENTERS, radii=np.ones(1000))
    (tmp_path / "a.npz").write_bytes(whole)
    assert load(tmp_path / "a.npz").count == 1000
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        end = archive.start_dir
    for at in range(200, end, 997):
        broken = bytearray(whole)
        broken[at] ^= 4
        try:
            found = load(tmp_path / "a.npz") if (tmp_path / "a.npz").write_bytes(broken) else None
        except UserError:
            continue
        # What is not summed: the local header's time, sizes and extra field, which nobody reads.
        assert found is not None
        assert np.array_equal(found.spheres[0].centers, CENTERS)


def test_a_member_may_not_reach_into_the_directory(tmp_path: Path) -> None:
    whole = npz(centers=CENTERS, radii=np.ones(1000))
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        info = archive.getinfo("radii.npy")
    # The last 200 bytes of the radii are cut out, the directory stays as it is.
    end = info.header_offset + 30 + len("radii.npy") + 20 + info.file_size
    cut = bytearray(whole[: end - 200] + whole[end:])
    at = cut.rfind(b"PK\5\6") + 16
    cut[at : at + 4] = struct.pack("<I", struct.unpack_from("<I", cut, at)[0] - 200)
    text = sentence(tmp_path / "a.npz", bytes(cut))
    assert "array 'radii': does not lie where the archive says" in text
    with pytest.raises((ValueError, zipfile.BadZipFile, EOFError)):
        np.load(tmp_path / "a.npz")["radii"]


@pytest.mark.parametrize(
    "shape", ["(1000000000000, 3)", "(-1, 3)", f"({'9' * 200}, 3)", "(1001, 3)"]
)
def test_a_lying_header_is_a_broken_file(tmp_path: Path, shape: str) -> None:
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}"
    head = head.ljust(502) + "\n"
    array = b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + CENTERS.tobytes()
    assert ": " in sentence(tmp_path / "a.npy", array)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as archive:
            archive.writestr("centers.npy", array)
        assert "array 'centers'" in sentence(tmp_path / "a.npz", stream.getvalue())


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    head = "{'descr': '<f8', 'fortran_order': False, 'shape': (100000000, 3)}".ljust(117) + "\n"
    start = b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("centers.npy", start + bytes(1 << 27))
    assert "says that" in sentence(tmp_path / "a.npz", stream.getvalue())


def test_encrypted_and_unknown_methods_are_sentences(tmp_path: Path) -> None:
    whole = npz(centers=CENTERS, radii=np.ones(1000))
    place = whole.find(b"PK\1\2")
    encrypted = bytearray(whole)
    encrypted[place + 8] |= 1
    assert "is encrypted" in sentence(tmp_path / "a.npz", bytes(encrypted))
    unknown = bytearray(whole)
    unknown[place + 10] = 77
    assert "cannot be read" in sentence(tmp_path / "a.npz", bytes(unknown))


def test_a_directory_of_millions_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names: dict[str, Any] = {f"a{n}": np.zeros(1) for n in range(2000)}
    whole = npz(**names)
    monkeypatch.setattr("raytracer.files.npz.memory_share", lambda ratio: (1 << 20) // ratio)
    assert "its directory takes" in sentence(tmp_path / "a.npz", whole)


def test_sums_of_large_arrays_are_those_of_zlib(tmp_path: Path) -> None:
    values = np.random.default_rng(1).normal(size=(700_000, 3))  # several pieces
    path = tmp_path / "a.npz"
    whole = bytearray(npz(centers=values, radii=np.ones(700_000)))
    path.write_bytes(whole)
    assert np.array_equal(load(path).spheres[0].centers, values)
    with zipfile.ZipFile(path) as archive:
        info = archive.getinfo("centers.npy")
        assert zlib.crc32(archive.read("centers.npy")) == info.CRC
    for at in (info.file_size - 1, info.file_size // 2, 300):
        broken = whole.copy()
        broken[at] ^= 1
        assert "CRC-32" in sentence(path, bytes(broken))


def test_the_compiled_sum_is_that_of_zlib() -> None:
    from raytracer import _core

    random = np.random.default_rng(2)
    values = random.integers(0, 256, 70_000, np.uint8)
    lengths = [*range(301), *random.integers(301, 69_000, 60), 65_537, 69_000]
    for size in map(int, lengths):
        at = int(random.integers(65))  # any alignment
        start = int(random.choice([0, 1, 0xFFFFFFFF]))
        part = values[at : at + size]
        assert _core.crc32(start, part) == zlib.crc32(part.tobytes(), start), (size, at, start)


@pytest.mark.parametrize("threads", [1, 3])
def test_a_file_is_read_with_its_sum(tmp_path: Path, threads: int) -> None:
    from raytracer import _core

    values = np.random.default_rng(3).integers(0, 256, 1_000_003, np.uint8)
    path = tmp_path / "a"
    path.write_bytes(values.tobytes())
    with path.open("rb") as file:
        for offset, size in (
            (0, 1_000_003),
            (5, 262_144),
            (17, 700_000),
            (0, 0),
            (900_000, 200_000),
        ):
            out = np.zeros(size, np.uint8)
            there = values[offset : offset + size]
            start = zlib.crc32(b"before")
            count, found = _core.read_file(file.fileno(), offset, out, start, threads)
            assert count == len(there)
            assert np.array_equal(out[:count], there)
            assert found == zlib.crc32(there.tobytes(), start)
    with pytest.raises(OSError, match="Bad file descriptor"):
        _core.read_file(9999, 0, np.zeros(4, np.uint8), 0, 1)


@pytest.mark.parametrize("dtype", ["|u1", "<i4", "<i8", "<f4", "<f8", "<f2", ">f8", "|b1"])
@pytest.mark.parametrize("shape", [(), (0,), (5,), (0, 3), (4, 3), (3, 2, 2)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_headers_are_those_of_numpy(
    shape: tuple[int, ...], dtype: str, order: Literal["C", "F"]
) -> None:
    stream = io.BytesIO()
    np.save(stream, np.zeros(shape, dtype, order))
    stream.seek(0)
    header = read_header(stream, "a")
    place = stream.tell()
    stream.seek(8)
    expected = npy.read_array_header_1_0(stream)
    assert (header.shape, header.fortran_order, header.dtype) == expected
    assert stream.tell() == place


@pytest.mark.parametrize(
    "text",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (03,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), } + 1",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,, 4), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3 4), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (²,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), }, 'shape': (4,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (3,), 'shape': (4,), }",
    ],
)
def test_headers_that_look_usual_are_refused(text: str) -> None:
    data = text.encode("latin-1").ljust(118) + b"\n"
    stream = io.BytesIO(b"\x93NUMPY\1\0" + struct.pack("<H", len(data)) + data)
    with pytest.raises(DataFileError, match="damaged"):
        read_header(stream, "a")


def test_a_file_is_read_into_any_memory(tmp_path: Path) -> None:
    """Whatever the alignment, not a byte before or behind is written."""
    from raytracer import _core

    values = np.random.default_rng(4).integers(1, 256, 20_000, np.uint8)
    path = tmp_path / "a"
    path.write_bytes(values.tobytes())
    with path.open("rb") as file:
        for begin, size in ((0, 4096), (1, 4095), (4095, 2), (4097, 12_288), (100, 19_000)):
            room = np.zeros(24_576, np.uint8)
            _core.read_file(file.fileno(), 7, room[begin : begin + size], 0, 1)
            assert np.array_equal(room[begin : begin + size], values[7 : 7 + size])
            assert not room[:begin].any()
            assert not room[begin + size :].any()


@pytest.mark.parametrize("descr", ["'|S0'", "'<U0'", "'|V0'", "('<f8', (3,))", "('<f8', (0,))"])
def test_values_without_a_size_take_no_memory(descr: str, tmp_path: Path) -> None:
    """NumPy makes arrays of them that are larger than their headers say."""
    text = f"{{'descr': {descr}, 'fortran_order': False, 'shape': (1073741824, 3), }}\n"
    head = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode()
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as archive:
        archive.writestr("centers.npy", head + bytes(300))
    assert "holds values of the type" in sentence(tmp_path / "a.npz", stream.getvalue())


@pytest.mark.parametrize("shape", ["(0, 9223372036854775807)", "(99999999999999999999, 0)"])
def test_shapes_beyond_numpy_are_impossible(shape: str, tmp_path: Path) -> None:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}\n"
    head = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text.encode()
    assert "impossible shape" in sentence(tmp_path / "a.npy", head)


@pytest.mark.parametrize("compressed", [False, True])
def test_a_size_that_the_file_cannot_hold_is_no_lack_of_memory(
    compressed: bool, tmp_path: Path
) -> None:
    whole = bytearray(npz(compressed, centers=np.zeros((4, 3)), radii=np.ones(4)))
    at = whole.index(b"PK\x01\x02")
    struct.pack_into("<I", whole, at + 24, 0xFFFFFFF0)
    said = sentence(tmp_path / "a.npz", bytes(whole))
    assert "array 'centers'" in said
    assert "memory" not in said


def test_a_damaged_header_is_said_without_the_words_of_a_parser(tmp_path: Path) -> None:
    text = b"{'descr': 'a'*9, 'fortran_order': False, 'shape': (1,), }\n"
    head = b"\x93NUMPY\1\0" + struct.pack("<H", len(text)) + text
    said = sentence(tmp_path / "a.npy", head)
    assert said.endswith("its header is damaged: it describes no array of NumPy")
