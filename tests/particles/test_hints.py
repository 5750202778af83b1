"""Files that are not read as they are: one sentence says what to do."""

import zipfile
from pathlib import Path

import pytest

from raytracer.config.errors import DataFileError
from raytracer.model.data_file import DataFile
from raytracer.model.particle_source import FrameTime
from raytracer.particles.read import count_frames, read
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
        ("state.xml", STATE, "is not XML .no element found"),
        ("job.mop", MOPAC, "files ending in '.mop' cannot be read; supported are"),
        ("job.gin", GULP, "files ending in '.gin' cannot be read; supported are"),
        ("run.xdmf", "<Xdmf/>", "lists other files: name these"),
        ("run.xmf", "<Xdmf/>", "lists other files: name these"),
        ("run.case", "FORMAT", "lists other files: name these"),
        ("a.pkl", "?", "cannot be read; it can run programs when it is opened: save its arrays"),
        ("a.sav", "?", "cannot be read; save its columns as .csv"),
        ("a.rcp", "?", "cannot be read; export its points as .ply"),
        ("a.restart", "?", "cannot be read; read it with LAMMPS"),
        ("a.txt", "to be done\n", "there are no columns x, y and z"),
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


def test_an_archive_in_archives(tmp_path: Path) -> None:
    content, name = b"x,y,z\n1,2,3\n", "a.csv"
    for depth in range(5):
        with zipfile.ZipFile(tmp_path / f"{depth}.zip", "w") as archive:
            archive.writestr(name, content)
        content, name = (tmp_path / f"{depth}.zip").read_bytes(), f"{depth}.zip"
    assert len(read(tmp_path / "3.zip").centers) == 1
    with pytest.raises(DataFileError, match="is compressed more than 4 times"):
        read(tmp_path / "4.zip")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "with variables and zones"),
        ("ZONE I=3\n1 2 3\n", "is incomplete: a zone of 3 points and 3 variables has 3 values"),
        ("ZONE T=a\n1 2 3\n", "zone 1 does not state its number of points, as in I=100"),
        ("ZONE I=1\n1 2 three\n", "could not convert string to float"),
        ("ZONE I=1\n", "zone 1 has no values"),
        ("ZONE I=1 VARLOCATION=([3]=CELLCENTERED)\n1 2 3\n", "has values of cells"),
    ],
)
def test_wrong_texts_of_tecplot(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(DataFileError, match=sentence):
        read(write(tmp_path / "a.tec", f'VARIABLES = "x" "y" "z"\n{text}'))


def test_zones_of_tecplot_are_parts_or_frames(tmp_path: Path) -> None:
    head, rows = "VARIABLES = X, Y, Z\n", "0 2*1\n3 4 5\n"
    parts = read(write(tmp_path / "a.tec", f"{head}ZONE I=2\n{rows}zone i=1,j=2,k=1\n{rows}"))
    assert parts.centers.tolist() == [[0, 1, 1], [3, 4, 5]] * 2
    times = "".join(f"ZONE I=2, SOLUTIONTIME={time}\n{rows}" for time in (0.5, 1.5))
    path = write(tmp_path / "b.tec", head + times)
    assert count_frames(path) == 2
    frame = read(DataFile(path, frame=1))
    assert (len(frame.centers), frame.time) == (2, FrameTime(1.5))
