"""Structures in MMTF, whose atoms are those of the same structure in other formats."""

from pathlib import Path

import numpy as np
import pytest

import raytracer
from raytracer.commands.cli import main
from raytracer.config.warning import collect_warnings
from raytracer.files.access import open_file
from raytracer.model.data_file import DataFile
from raytracer.particles.read import open_frame
from support.mmtf import IDENTITY, MOVED, Residue, Transform, write_mmtf

pytest.importorskip("chemfiles")

TURNED = (-1.0, 0.0, 0.0, 30.0, 0.0, -1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)
LEFT_OUT = "copies of its chains that make up biological assemblies are left out"
CHAINS: list[list[Residue]] = [
    [("ALA", [("N", "N", (0.0, 0.0, 0.0)), ("CA", "C", (1.5, 0.0, 0.0))]),
     ("GLY", [("N", "N", (3.0, 0.0, 0.0))])],
    [("GLY", [("O", "O", (0.0, 8.0, 0.0))])],
]  # fmt: skip
PLACES = np.array([[0, 0, 0], [1.5, 0, 0], [3, 0, 0], [0, 8, 0]])

ASSEMBLIES: dict[str, tuple[list[list[Transform]], bool]] = {
    "none": ([], False),
    "as deposited": ([[((0, 1), IDENTITY)]], False),
    "parts": ([[((0,), IDENTITY)], [((1,), IDENTITY)]], False),
    "twice": ([[((0, 1), IDENTITY), ((0, 1), MOVED)]], True),
    "one chain twice": ([[((0, 1), IDENTITY), ((1,), TURNED)]], True),
    "two of them": ([[((0, 1), IDENTITY), ((0, 1), MOVED)], [((0,), TURNED)]], True),
    "elsewhere": ([[((0, 1), MOVED)]], True),
}  # fmt: skip
"""By name: assemblies, and whether they hold more than what was deposited."""


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file in one folder, which one process may read."""
    return tmp_path_factory.mktemp("mmtf") / "a.mmtf"


@pytest.mark.parametrize("name", ASSEMBLIES)
def test_atoms_are_the_deposited_ones(name: str, path: Path) -> None:
    assemblies, has_copies = ASSEMBLIES[name]
    write_mmtf(path, CHAINS, assemblies=assemblies)
    with collect_warnings() as told:
        scene = raytracer.load(path)
    np.testing.assert_allclose(scene.spheres[0].centers, PLACES, atol=1e-6)
    assert scene.columns["residue_id"].tolist() == [1, 1, 2, 3]
    assert [LEFT_OUT in each for each in told] == [True] * has_copies


def test_of_every_model(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Said once, by a movie and by `info`."""
    assemblies = [[(range(6), IDENTITY), (range(6), MOVED)]]
    write_mmtf(path, CHAINS, models=3, assemblies=assemblies)
    with collect_warnings():
        for frame in range(3):
            found = raytracer.load(path, frame).spheres[0].centers
            np.testing.assert_allclose(found, PLACES + np.array([0, 0, 5 * frame]), atol=1e-6)
    assert main(["info", str(path), "--frame", "1"]) == 0
    output = capsys.readouterr()
    assert "particles  4\n" in output.out
    assert output.err.count(LEFT_OUT) == 1
    options = ["--size", "16x12", "--samples", "1", "--backend", "cpu"]
    assert main(["animate", str(path), *options, "-o", f"{path.parent}/a.gif"]) == 0
    assert capsys.readouterr().err.count(LEFT_OUT) == 1


def test_bonds_are_among_the_atoms_that_are_shown(path: Path) -> None:
    """Those of copies and of further locations are left out."""
    assemblies = [[((0, 1), IDENTITY), ((0, 1), MOVED)]]
    for locations, pairs in (("", [[0, 3], [1, 2]]), ("  B ", [[0, 3], [1, 2]])):
        write_mmtf(path, CHAINS, assemblies=assemblies, bonds=[(1, 2), (0, 3)], locations=locations)
        with (
            open_file(path) as stream,
            open_frame(DataFile(path), stream) as source,
            collect_warnings(),
        ):
            assert source.bonds is not None
            assert sorted(map(sorted, source.bonds.tolist())) == pairs
    atoms = [("N", "N", (0.0, 0.0, 0.0)), ("N", "N", (0.3, 0.0, 0.0)), ("CA", "C", (1.5, 0.0, 0.0))]
    chains = [[("ALA", atoms), *CHAINS[1]]]
    write_mmtf(path, chains, locations="AB  ", bonds=[(1, 3), (2, 3)])
    with (
        open_file(path) as stream,
        open_frame(DataFile(path), stream) as source,
        collect_warnings(),
    ):
        assert source.bonds is not None
        assert source.bonds.tolist() == [[1, 2]]


def test_first_locations_are_shown(path: Path) -> None:
    """As by PDB and mmCIF."""
    atoms = [("N", "N", (0.0, 0.0, 0.0)), ("N", "N", (0.3, 0.0, 0.0)), ("CA", "C", (1.5, 0.0, 0.0))]
    write_mmtf(path, [[("ALA", atoms)]], locations="AB ")
    with collect_warnings() as told:
        scene = raytracer.load(path)
    expected = np.array([[0.0, 0.0, 0.0], [1.5, 0.0, 0.0]])
    np.testing.assert_allclose(scene.spheres[0].centers, expected, atol=1e-6)
    assert ["alternate locations" in each for each in told] == [True]


@pytest.mark.parametrize(
    ("names", "locations", "kept"),
    [(("SER", "THR"), "AABB", [0.0, 1.0]), (("SER", "SER"), "AABB", [0.0, 1.0]),
     # residues 52 and 52A, whose insertion codes chemfiles does not tell
     (("SER", "THR"), "    ", [0.0, 1.0, 4.0, 5.0]),
     (("SER", "THR"), " A  ", [0.0, 1.0, 4.0, 5.0])],
)  # fmt: skip
def test_residues_in_one_place(
    names: tuple[str, str], locations: str, kept: list[float], path: Path
) -> None:
    residues: list[Residue] = [
        (name, [("CA", "C", (4.0 * k, 0.0, 0.0)), ("CB", "C", (4.0 * k + 1.0, 0.0, 0.0))])
        for k, name in enumerate(names)
    ]
    write_mmtf(path, [residues], locations=locations, numbers=[52, 52])
    with collect_warnings() as told:
        scene = raytracer.load(path)
    assert np.asarray(scene.spheres[0].centers)[:, 0].tolist() == kept
    assert ["alternate locations" in each for each in told] == [True] * (len(kept) < 4)
