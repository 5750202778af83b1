"""Snapshots of Gadget-2 in several files, and documents of YAML as frames."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer.scene.particles.data_file import DataFile
from raytracer.scene.particles.read import frame_count, read, source_of
from raytracer.scene.particles.together import parts_of
from support.particle_files import write

POINTS = np.random.default_rng(7).uniform(size=(6, 3)).astype("f4")


def part(rows: slice, gas: int, files: int = 3) -> bytes:
    """Return a file of a snapshot in format 1, whose first particles are gas."""
    points = POINTS[rows]
    counts = [gas, len(points) - gas, 0, 0, 0, 0]
    total = [2, 4, 0, 0, 0, 0]
    head = struct.pack("<6i6ddd2i6i2id", *counts, *[1.0] * 6, 0.5, 0, 0, 0, *total, 0, files, 2.0)
    ids = np.arange(6, dtype="u4")[rows]
    blocks: list[Any] = [head.ljust(256, b"\0"), points, np.zeros_like(points), ids]
    blocks += [np.full(gas, 3.0, "f4")] if gas else []
    data = [each if isinstance(each, bytes) else each.tobytes() for each in blocks]
    return b"".join(struct.pack("<I", len(b)) + b + struct.pack("<I", len(b)) for b in data)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for number, (rows, gas) in enumerate(((slice(0, 3), 2), (slice(0, 0), 0), (slice(3, 6), 0))):
        write(tmp_path / f"snap_003.{number}", part(rows, gas))
    return tmp_path


@pytest.mark.parametrize("named", [0, 2])
def test_all_files_of_a_snapshot(folder: Path, named: int) -> None:
    path = folder / f"snap_003.{named}"
    np.testing.assert_array_equal(read(path).centers, POINTS)
    with source_of(path) as source:
        assert source.count == 6
        assert len(source.further_files) == 2
        columns = source.load(["id", "mass"])
    np.testing.assert_array_equal(columns["id"], range(6))
    np.testing.assert_array_equal(columns["mass"], np.ones(6))


def test_energies_of_gas_in_some_of_the_files(folder: Path) -> None:
    with source_of(folder / "snap_003.0") as source:
        energies = source.load(["internal_energy"])["internal_energy"]
    np.testing.assert_array_equal(energies, [3.0, 3.0, *[np.nan] * 4])


def test_a_missing_file_of_a_snapshot(folder: Path) -> None:
    (folder / "snap_003.2").unlink()
    particles = read(folder / "snap_003.0")
    assert len(particles.centers) == 3
    assert "one of 3 files of a snapshot, and some of the others are miss" in str(particles.notes)


@pytest.mark.parametrize("name", ["snap", "snap.x", "snap.7", "snap_0"])
def test_names_without_a_number_have_no_parts(tmp_path: Path, name: str) -> None:
    for number in range(2):
        write(tmp_path / f"snap.{number}", b"")
    assert parts_of(tmp_path / name, 2) == []


def document(step: int, count: int = 2) -> str:
    rows = "".join(f"  - [ {n} , {step}.5 , {n}.25 , 0.5 , ]\n" for n in range(count))
    return f"---\ncreator: LAMMPS\ntimestep: {step}\nkeywords: [ id, x, y, z ]\ndata:\n{rows}"


def test_documents_are_frames(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = write(tmp_path / "a.yaml", "".join(f"{document(step)}...\n" for step in range(4)))
    assert frame_count(path) == 4
    with source_of(path) as source:
        assert source.frames == 4
    assert read(DataFile(path, frame=2)).centers[0, 0] == 2.5


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (f"{document(0)}...\n{document(1)}...\n{document(2)}"[:-7], 2),  # is being written
        (document(0) + document(1), 2),  # without ends
        ("%YAML 1.1\n---\n- [0, 0, 0]\n- [1, 2, 3]\n- [2, 2, 3]\n", 1),
    ],
)
def test_numbers_of_documents(tmp_path: Path, text: str, count: int) -> None:
    pytest.importorskip("yaml")
    assert frame_count(write(tmp_path / "a.yaml", text)) == count
