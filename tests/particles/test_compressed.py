"""Compressed and incomplete particle files: the same spheres, and what is refused."""

import bz2
import gzip
import lzma
import struct
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.particles import compressed
from raytracer.particles.read import open_source, read
from support.particle_files import complaint, write

TABLE = b"x,y,z,mass\n1,2,3,4\n5,6,7,8\n"
XYZ = b"2\n\nO 0 0 0\nH 1 0 0\n"
PACK: dict[str, Callable[[bytes], bytes]] = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
}


def zstandard(data: bytes) -> bytes:
    library = pytest.importorskip("zstandard")
    packed: bytes = library.ZstdCompressor().compress(data)
    return packed


@pytest.mark.parametrize("suffix", [*PACK, ".zst"])
def test_compressed_files_are_read(tmp_path: Path, suffix: str) -> None:
    pack = PACK.get(suffix, zstandard)
    table = write(tmp_path / f"a.csv{suffix}", pack(TABLE))
    np.testing.assert_array_equal(read(table).centers, [[1, 2, 3], [5, 6, 7]])
    scene = load(table)
    assert scene.title == "a"
    assert scene.describe(1).values == {"mass": 8}
    atoms = write(tmp_path / f"a.XYZ{suffix.upper()}", pack(XYZ))
    assert read(atoms).labels is not None
    array = tmp_path / "a.npy"
    np.save(array, np.eye(3))
    assert load(write(tmp_path / f"a.npy{suffix}", pack(array.read_bytes()))).count == 3


def test_a_scene_names_a_file_whose_content_says_that_it_is_compressed(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", gzip.compress(TABLE))
    scene = load(write(tmp_path / "a.toml", '[[spheres]]\nfile = "a.csv"\nradius = 1\n'))
    assert scene.count == 2


@pytest.mark.parametrize(
    ("name", "data", "said"),
    [
        ("a.csv.gz", gzip.compress(TABLE * 100, mtime=0)[:40], "cannot be read as .gz"),
        ("b.csv.gz", TABLE, ""),  # never was compressed
        ("a.foo.gz", gzip.compress(b"?", mtime=0), "files ending in '.foo' cannot be read"),
        ("a.csv.zst", b"\x28\xb5\x2f\xfd", "pip install 'raytracer[zst]'"),
    ],
)
def test_damaged_files_are_refused(
    tmp_path: Path, name: str, data: bytes, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "zstandard", None)
    found = complaint(write(tmp_path / name, data))
    assert said in found
    assert bool(said) == bool(found)


def test_what_unpacks_to_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.csv.bz2", bz2.compress(bytes(1 << 22)))
    monkeypatch.setattr(compressed, "RATIO_BYTES", 1 << 20)
    assert "damaged or hostile" in complaint(path)
    monkeypatch.setattr(compressed, "available_memory", lambda: 1 << 20)
    assert "the free memory" in complaint(path)


POINTS = np.arange(12.0).reshape(4, 3)


def snapshot(counts: list[int], kind: str, blocks: list[np.ndarray]) -> bytes:
    """Return a snapshot of Gadget, format 1, with the blocks after the positions."""
    counts = counts + [0] * (6 - len(counts))
    head = struct.pack("<6i6ddd2i6i2id", *counts, *[0.0] * 6, 0.5, 1.0, 0, 0, *counts, 0, 1, 20.0)
    data = [head.ljust(256, b"\0"), POINTS.astype(kind).tobytes(), *(b.tobytes() for b in blocks)]
    return b"".join(struct.pack("<I", len(b)) + b + struct.pack("<I", len(b)) for b in data)


def particles(kind: str) -> list[np.ndarray]:
    """Return the velocities, identifiers and masses of the particles."""
    return [POINTS.astype(kind), np.arange(4, dtype="u4"), np.ones(4, kind)]


def test_double_precision_of_gas_that_is_half_of_all(tmp_path: Path) -> None:
    blocks = [*particles("f8"), np.array([3.0, 4.0]), np.array([5.0, 6.0])]
    (spheres,) = load(write(tmp_path / "a.gadget", snapshot([2, 2], "f8", blocks))).spheres
    np.testing.assert_array_equal(spheres.columns["internal_energy"], [3, 4, np.nan, np.nan])
    np.testing.assert_array_equal(spheres.columns["density"], [5, 6, np.nan, np.nan])


def test_without_gas_there_are_no_blocks_of_gas(tmp_path: Path) -> None:
    blocks = [*particles("f4"), np.arange(4, dtype="f4")]
    with open_source(write(tmp_path / "a.gadget", snapshot([0, 4], "f4", blocks))) as source:
        assert "internal_energy" not in source.columns
        np.testing.assert_array_equal(source.load(["potential"])["potential"], range(4))


@pytest.mark.parametrize("cut", [4, 10, 60])
def test_a_snapshot_that_is_cut(tmp_path: Path, cut: int) -> None:
    data = snapshot([0, 4], "f4", particles("f4"))
    assert "is incomplete" in complaint(write(tmp_path / "a.gadget", data[:-cut]))


@pytest.mark.parametrize(("pad", "cut"), [(b"\0" * 4, 0), (b"", 0), (b"\0" * 4, 4)])
def test_tipsy_with_and_without_padding(tmp_path: Path, pad: bytes, cut: int) -> None:
    rows = np.ones((4, 9), ">f4")
    rows[:, 1:4] = POINTS
    data = struct.pack(">d5i", 0.5, 4, 3, 0, 4, 0) + pad + rows.tobytes()
    path = write(tmp_path / "a.tipsy", data[: len(data) - cut])
    if cut:
        assert "is damaged" in complaint(path)
    else:
        np.testing.assert_array_equal(load(path).spheres[0].centers, POINTS)


@pytest.mark.parametrize("form", ["ascii", "binary"])
def test_a_point_cloud_that_is_cut(tmp_path: Path, form: str) -> None:
    pytest.importorskip("pypcd4")
    head = "VERSION 0.7\nFIELDS x y z\nSIZE 4 4 4\nTYPE F F F\nCOUNT 1 1 1\nWIDTH 5\nHEIGHT 1\n"
    head += f"VIEWPOINT 0 0 0 1 0 0 0\nPOINTS 5\nDATA {form}\n"
    rows = "".join(f"{x} {y} {z}\n" for x, y, z in POINTS).encode()
    data = rows if form == "ascii" else POINTS.astype("f4").tobytes()
    assert "is incomplete" in complaint(write(tmp_path / "a.pcd", head.encode() + data))


def test_a_last_row_without_x_is_not_left_out(tmp_path: Path) -> None:
    assert complaint(write(tmp_path / "a.csv", "x,y,z\n1,2,3\n4,5,6\nnan,8,9\n"))


@pytest.mark.parametrize("ending", ["xyz", "vtf", "gro", "dump"])
def test_a_cut_file_that_no_reader_opens_is_refused_because_it_is_cut(
    ending: str, tmp_path: Path
) -> None:
    rng = np.random.default_rng(2)
    whole = gzip.compress("\n".join(f"{number:.9f}" for number in rng.random(5000)).encode())
    path = write(tmp_path / f"a.{ending}.gz", whole[: len(whole) // 2])
    assert complaint(path).startswith(f"{path}: cannot be read as .gz (Compressed file ended")
