"""Snapshots of Gadget-2 in several files, and documents of YAML as frames."""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer.config.errors import UserError
from raytracer.model.data_file import DataFile
from raytracer.particles.read import count_frames, open_source, read
from raytracer.particles.together import find_snapshot_files
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
    with open_source(path) as source:
        assert source.count == 6
        assert len(source.further_files) == 2
        columns = source.load(["id", "mass"])
    np.testing.assert_array_equal(columns["id"], range(6))
    np.testing.assert_array_equal(columns["mass"], np.ones(6))


def test_energies_of_gas_in_some_of_the_files(folder: Path) -> None:
    with open_source(folder / "snap_003.0") as source:
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
    assert find_snapshot_files(tmp_path / name, 2) == []


def document(step: int, count: int = 2) -> str:
    rows = "".join(f"  - [ {n} , {step}.5 , {n}.25 , 0.5 , ]\n" for n in range(count))
    return f"---\ncreator: LAMMPS\ntimestep: {step}\nkeywords: [ id, x, y, z ]\ndata:\n{rows}"


def test_documents_are_frames(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    path = write(tmp_path / "a.yaml", "".join(f"{document(step)}...\n" for step in range(4)))
    assert count_frames(path) == 4
    with open_source(path) as source:
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
    assert count_frames(write(tmp_path / "a.yaml", text)) == count


# A water and a chloride: element, type, charge and x by id; 1 is bonded to 2 and 3.
ATOMS = {
    1: ("O", 1, -0.8, 5.0),
    2: ("H", 2, 0.4, 6.0),
    3: ("H", 2, 0.4, 4.0),
    4: ("Cl", 3, -1.0, 9.0),
}
BONDED = ((1, 2), (1, 3))


def dump_of(ids: list[int]) -> str:
    rows = "".join(f"{each} {ATOMS[each][3]} 1 1\n" for each in ids)
    return (
        f"ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n{len(ids)}\nITEM: BOX BOUNDS ff ff ff\n"
        f"0 20\n0 20\n0 20\nITEM: ATOMS id x y z\n{rows}"
    )


def data_of(ids: list[int]) -> str:
    bonds = [pair for pair in BONDED if {*pair} <= {*ids}]
    rows = "".join(f"{each} 1 {ATOMS[each][1]} {ATOMS[each][2]} 0 0 0\n" for each in ids)
    listed = "".join(f"{n} 1 {i} {j}\n" for n, (i, j) in enumerate(bonds, 1))
    return (
        f"LAMMPS data\n\n{len(ids)} atoms\n{len(bonds)} bonds\n3 atom types\n1 bond types\n"
        "0 20 xlo xhi\n0 20 ylo yhi\n0 20 zlo zhi\n\nMasses\n\n1 16 # O\n2 1 # H\n3 35.5 # Cl\n\n"
        f"Atoms # full\n\n{rows}\n" + ("Bonds\n\n" + listed if bonds else "")
    )


def pdb_of(ids: list[int]) -> str:
    return "".join(
        f"ATOM  {each:5d}  {ATOMS[each][0]:<3} MOL A   1       0.000   0.000   0.000"
        f"  1.00  0.00          {ATOMS[each][0]:>2}\n"
        for each in ids
    )


def gro_of(ids: list[int]) -> str:
    rows = "".join(
        f"    1MOL  {ATOMS[each][0]:>5}{each:5d}   0.000   0.000   0.000\n" for each in ids
    )
    return f"a\n{len(ids)}\n{rows}2 2 2\n"


def xyz_of(ids: list[int]) -> str:
    rows = "".join(f"{ATOMS[each][0]} 0 0 0 {each}\n" for each in ids)
    return f"{len(ids)}\nProperties=species:S:1:pos:R:3:id:I:1\n{rows}"


TOPOLOGIES = {"a.data": data_of, "a.pdb": pdb_of, "a.gro": gro_of, "b.xyz": xyz_of}


@pytest.mark.parametrize("name", TOPOLOGIES)
@pytest.mark.parametrize(
    ("moving", "known", "note"),
    [
        ([1, 2, 3, 4], [1, 2, 3, 4], ""),
        ([4, 2, 1, 3], [3, 1, 4, 2], ""),
        ([3, 1], [2, 4, 1, 3], "lacks atoms of"),
        ([4, 2, 1, 3], [3, 1, 2], "atoms whose ids are not in"),
    ],
)
def test_atoms_of_a_topology_are_matched_by_id(
    name: str, moving: list[int], known: list[int], note: str, tmp_path: Path
) -> None:
    path, topology = tmp_path / "a.lammpstrj", tmp_path / name
    write(path, dump_of(moving))
    write(topology, TOPOLOGIES[name](known))
    expected = [each for each in moving if each in known]
    data = read(DataFile(path, topology=topology))
    assert [note in text for _, text in data.notes] == [True] * bool(note)
    assert np.asarray(data.centers)[:, 0].tolist() == [ATOMS[each][3] for each in expected]
    assert data.labels is not None
    elements = [data.labels.names[each] for each in data.labels.ids]
    assert elements == [ATOMS[each][0] for each in expected]
    with open_source(DataFile(path, topology=topology)) as source:
        assert source.count == len(expected)
        assert source.load(["id"])["id"].tolist() == expected
        if name == "a.data":
            charges = source.load(["q"])["q"].tolist()
            assert charges == [ATOMS[each][2] for each in expected]
            pairs = [] if source.bonds is None else source.bonds.tolist()
            assert sorted(tuple(sorted((expected[i], expected[j]))) for i, j in pairs) == [
                pair for pair in BONDED if {*pair} <= {*expected}
            ]
            assert len(source.bond_columns.get("type", pairs)) == len(pairs)


PLAIN = "4\n\nX 5 1 1\nX 6 1 1\nX 4 1 1\nX 9 1 1\n"


@pytest.mark.parametrize(
    ("trajectory", "topology", "elements", "note"),
    [
        # Without ids on one side, or with ambiguous ones, rows are matched, and this is said.
        (PLAIN, data_of([3, 1, 4, 2]), "H O Cl H", "are matched row by row: if the trajectory is"),
        (PLAIN, data_of([1, 2, 3, 4]), "O H H Cl", ""),
        (dump_of([1, 2, 3, 4]), "4\n\nO 0 0 0\nH 0 0 0\nH 0 0 0\nCl 0 0 0\n", "O H H Cl", ""),
        (dump_of([4, 2, 1, 3]), "4\n\nO 0 0 0\nH 0 0 0\nH 0 0 0\nCl 0 0 0\n", "Cl H O H",
         "b.data.xyz states no ids of atoms: they are counted from 1"),
        (dump_of([1, 2, 2, 4]), data_of([1, 2, 3, 4]), "O H H Cl", "ids of atoms repeat"),
        (PLAIN.replace("X 6", "C 6"), data_of([1, 2, 3, 4]), "O H H Cl",
         "the elements of atoms differ from those of"),
    ],
)  # fmt: skip
def test_atoms_of_a_topology_without_ids(
    trajectory: str, topology: str, elements: str, note: str, tmp_path: Path
) -> None:
    path = write(tmp_path / f"a.{'dump' if 'ITEM' in trajectory else 'xyz'}", trajectory)
    atoms = write(tmp_path / f"b.data{'' if 'Masses' in topology else '.xyz'}", topology)
    data = read(DataFile(path, topology=atoms))
    assert data.labels is not None
    assert [data.labels.names[each] for each in data.labels.ids] == elements.split()
    assert [note in text for _, text in data.notes] == [True] * bool(note)


def test_a_topology_of_other_atoms(tmp_path: Path) -> None:
    path, atoms = write(tmp_path / "a.dump", dump_of([1, 2])), tmp_path / "a.data"
    write(atoms, data_of([3, 4]))
    with pytest.raises(UserError, match=r"no id of an atom is in .*a\.data: give its topology"):
        read(DataFile(path, topology=atoms))
