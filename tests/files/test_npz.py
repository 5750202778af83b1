"""Arrays of NumPy in files: every flipped, cut or lying byte is refused, as NumPy does."""

import io
import re
import struct
import zipfile
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pytest

import raytracer
from raytracer import load
from raytracer.config.errors import DataFileError, UserError
from raytracer.files import npz as files_npz
from raytracer.files.access import open_file
from raytracer.files.npz import Archive, read_npy
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
    with open_file(path) as file, Archive(file) as archive:
        for name, array in arrays.items():
            found = archive.array(name)
            np.testing.assert_array_equal(found, array)
            assert found.dtype == array.dtype
        for row in range(4):
            found = archive.array("cube", row)
            np.testing.assert_array_equal(found, arrays["cube"][row])
        np.testing.assert_array_equal(archive.array("flat", 5), 5)


@saves
@pytest.mark.parametrize("piece", [8, 100, 1000, 1 << 20])
def test_an_item_in_fortran_order_is_that_of_numpy(
    save: Any, piece: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Values are read in pieces of some distances, or one by one."""
    monkeypatch.setattr(files_npz, "PIECE", piece)
    shapes = {"stack": (3, 7, 5), "long": (100, 3), "wide": (2, 50), "flat": (9,), "one": (1, 4)}
    arrays = {
        name: np.asfortranarray(np.arange(np.prod(shape), dtype=">i4").reshape(shape))
        for name, shape in shapes.items()
    }
    path = write(tmp_path / "a.npz", npz(save, **arrays))
    with open_file(path) as file, Archive(file) as archive:
        for name, array in arrays.items():
            for row in (0, len(array) - 1):
                np.testing.assert_array_equal(archive.array(name, row), array[row])
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
        with open_file(tmp_path / f"{name}.npy") as file:
            np.testing.assert_array_equal(read_npy(file, len(array) - 1), array[-1])


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("form", ["npy", "npz"])
def test_a_file_that_becomes_shorter_while_it_is_read_is_told(
    form: str, order: Literal["C", "F"], tmp_path: Path
) -> None:
    """Another process writes it anew; through a memory map this process would end by SIGBUS."""
    array = np.asarray(np.zeros((100_000, 3)), order=order)
    path = tmp_path / f"a.{form}"
    np.save(path, array) if form == "npy" else np.savez(path, a=array)
    with open_file(path) as file:
        if form == "npz":
            with Archive(file) as archive:
                path.write_bytes(path.read_bytes()[:5000])
                with pytest.raises(DataFileError, match="is incomplete"):
                    archive.array("a", 99_999)
        else:
            path.write_bytes(path.read_bytes()[:5000])
            with pytest.raises(DataFileError, match="is incomplete"):
                read_npy(file, 99_999)


def test_no_file_of_a_user_is_mapped_into_memory() -> None:
    """What another process cuts off would end this one by SIGBUS."""
    package = Path(raytracer.__file__).parent
    word = re.compile(r"\bmmap\b(?!=False)|memmap(?!=False)|mmap_mode|memory_map|use_mmap=True")
    found = {
        path.relative_to(package).as_posix()
        for path in package.rglob("*.py")
        if word.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"in_situ/memory.py"}  # memory without a name that two processes share


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
