"""Compressed particle files: the same spheres as unpacked, and what is refused."""

import bz2
import gzip
import lzma
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.scene.particles import compressed
from raytracer.scene.particles.read import read
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
    assert "the file is damaged or hostile" in complaint(path)
    monkeypatch.setattr(compressed, "memory_share", lambda _: 1 << 20)
    assert "the free memory" in complaint(path)
