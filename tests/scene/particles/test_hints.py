"""Files that are not read as they are: one sentence says what to do."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from raytracer.errors import DataFileError
from raytracer.scene.particles.read import read
from support.particle_files import write

TEMPLATE = "# a molecule\n\n2 atoms\n\nCoords\n\n1 0 0 0\n2 1 0 0\n\nTypes\n\n1 1\n2 1\n"
STATE = (
    '<?xml version="1.0" ?>\n<State>\n<Positions>\n<Position x="0" y="1" z="2"/>\n</Positions>\n'
)
MOPAC = "PM7 XYZ\nwater\n\nO 0.1 1 0.2 1 0.3 1\nH 0.9 1 0.2 1 0.3 1\nH 0.1 1 0.9 1 0.3 1\n"
GULP = "opti\ncell\n9 9 9 90 90 90\nfractional\nNa core 0.0 0.1 0.2\nCl core 0.5 0.5 0.5\n"


@pytest.mark.parametrize(
    ("name", "content", "sentence"),
    [
        ("molecule.txt", TEMPLATE, "molecule template: read it with LAMMPS, and write it by write"),
        ("state.xml", STATE, "this kind of XML is not known: save its positions as .xyz or .csv"),
        ("job.mop", MOPAC, "may be the input of a program: save its positions as .xyz"),
        ("job.gin", GULP, "may be the input of a program: save its positions as .xyz"),
        ("run.pvd", "<VTKFile/>", "lists other files: name these"),
        ("run.xmf", "<Xdmf/>", "lists other files: name these"),
    ],
)
def test_what_to_do(tmp_path: Path, name: str, content: str, sentence: str) -> None:
    with pytest.raises(DataFileError, match=sentence):
        read(write(tmp_path / name, content))


def test_an_archive_of_several_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for name in "abcd":
            archive.writestr(f"{name}.csv", "x,y,z\n1,2,3\n")
    with pytest.raises(DataFileError, match=r"4 files \(a.csv, b.csv, c.csv, ...\): unpack it"):
        read(tmp_path / "a.zip")


def test_a_dump_of_a_grid(tmp_path: Path) -> None:
    text = "ITEM: TIMESTEP\n0\nITEM: GRID SIZE nx ny nz\n1 1 1\nITEM: GRID CELLS f_a\n0.5\n"
    with pytest.raises(DataFileError, match="values on a grid, which has no particles: render the"):
        read(write(tmp_path / "grid.dump", text))
