"""Arrays of NumPy in files: every flipped, cut or lying byte is refused, as NumPy does."""

import io
import struct
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

from raytracer import load
from raytracer.errors import DataFileError, UserError
from raytracer.files.access import opened
from raytracer.files.npz import Archive
from support.particle_files import npz, write

CENTERS = np.arange(3000.0).reshape(-1, 3)
saves = pytest.mark.parametrize("save", [np.savez, np.savez_compressed])


def sentence(path: Path, content: bytes) -> str:
    with pytest.raises(DataFileError) as caught:
        load(write(path, content))
    return str(caught.value)


@saves
def test_each_flipped_byte_of_the_values_is_noticed(tmp_path: Path, save: Any) -> None:
    whole = npz(save, centers=CENTERS, radii=np.ones(1000))
    assert load(write(tmp_path / "a.npz", whole)).count == 1000
    with zipfile.ZipFile(io.BytesIO(whole)) as archive:
        end = archive.start_dir
    for at in range(200, end, 997):
        broken = bytearray(whole)
        broken[at] ^= 4
        try:
            found = load(write(tmp_path / "a.npz", bytes(broken)))
        except UserError:
            continue
        # What is not summed: the local header's time, sizes and extra field, which nobody reads.
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
    assert "array 'radii'" in sentence(tmp_path / "a.npz", bytes(cut))


def header(shape: str) -> bytes:
    """How a .npy file of float64 begins."""
    head = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}}}".ljust(502) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode()


@pytest.mark.parametrize(
    "shape",
    [
        "(1000000000000, 3)",
        "(-1, 3)",
        f"({'9' * 200}, 3)",
        "(1001, 3)",
        f"(0, {1 << 63})",
        "(3), )",
    ],
)
def test_a_lying_header_is_a_broken_file(tmp_path: Path, shape: str) -> None:
    array = header(shape) + CENTERS.tobytes()
    assert ": " in sentence(tmp_path / "a.npy", array)
    for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        stream = io.BytesIO()
        with zipfile.ZipFile(stream, "w", method) as archive:
            archive.writestr("centers.npy", array)
        assert "array 'centers'" in sentence(tmp_path / "a.npz", stream.getvalue())


def test_a_bomb_is_not_unpacked(tmp_path: Path) -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("centers.npy", header("(100000000, 3)") + bytes(1 << 26))
    assert "is incomplete" in sentence(tmp_path / "a.npz", stream.getvalue())


def test_encrypted_and_unknown_methods_are_sentences(tmp_path: Path) -> None:
    whole = npz(centers=CENTERS, radii=np.ones(1000))
    place = whole.find(b"PK\1\2")
    encrypted = bytearray(whole)
    encrypted[place + 8] |= 1
    assert "encrypted" in sentence(tmp_path / "a.npz", bytes(encrypted))
    unknown = bytearray(whole)
    unknown[place + 10] = 77
    assert "cannot be read" in sentence(tmp_path / "a.npz", bytes(unknown))


@saves
@pytest.mark.parametrize("order", ["C", "F"])
def test_arrays_are_those_of_numpy(save: Any, order: Literal["C", "F"], tmp_path: Path) -> None:
    arrays = {
        "flat": np.arange(6, dtype=">i2"),
        "cube": np.asarray(np.arange(24.0).reshape(4, 3, 2), order=order),
        "none": np.zeros((0, 3), np.float32),
        "one": np.array(7),
    }
    path = write(tmp_path / "a.npz", npz(save, **arrays))
    with opened(path) as file, Archive(file) as archive:
        for name, array in arrays.items():
            found = archive.array(name)
            np.testing.assert_array_equal(found, array)
            assert found.dtype == array.dtype
        if order == "C":
            np.testing.assert_array_equal(archive.array("cube", 2), arrays["cube"][2])


def test_a_frame_beyond_the_end_of_its_array_is_refused(tmp_path: Path) -> None:
    """The bytes behind it are those of another array."""
    stream = io.BytesIO()
    np.lib.format.write_array(stream, np.zeros((2, 4, 3)))
    lying = stream.getvalue().replace(b"(2, 4, 3)", b"(5, 4, 3)")
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("centers.npy", lying)
        archive.writestr("other.npy", npz(x=np.ones(1000)))
    with pytest.raises(DataFileError, match="array 'centers': is incomplete"):
        load(tmp_path / "a.npz", frame=3)
