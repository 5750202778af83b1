"""Clouds of OpenFOAM."""

import gzip
from pathlib import Path

import numpy as np
import pytest

from raytracer import load
from raytracer.commands.cli import main
from raytracer.config.errors import DataFileError
from raytracer.particles.read import count_frames, read
from support.particle_files import write

HEAD = """/*--- C++ ---*\\
\\*---------*/
FoamFile
{{
    version 2.0;
    format {form};
    class {kind};
    object {name};
}}
// * * * //

"""


def field(folder: Path, name: str, kind: str, values: str, form: str = "ascii") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return write(folder / name, HEAD.format(form=form, kind=kind, name=name) + values)


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """A case with a cloud at two times, the second with one value for all diameters."""
    write(tmp_path / "a.foam", "")
    (tmp_path / "system").mkdir()
    write(tmp_path / "system" / "controlDict", "")
    for time, diameters in (("1e-05", "2\n(\n0.5\n1\n)\n"), ("0.002", "2{0.25}")):
        cloud = tmp_path / time / "lagrangian" / "spray"
        places = f"2\n(\n(1 2 {time}) 7\n(4 5 6) 8\n)\n\n// *** //\n"
        field(cloud, "positions", "Cloud<basicSprayParcel>", places)
        field(cloud, "d", "scalarField", diameters)
        field(cloud, "U", "vectorField", "2\n(\n(1 0 0)\n(0 3 4)\n)\n")
    (tmp_path / "constant").mkdir()
    return tmp_path


@pytest.mark.filterwarnings("ignore")
def test_times_of_a_case_are_frames(case: Path) -> None:
    for path in (case, case / "a.foam"):
        assert count_frames(path) == 2
        first, second = load(path).spheres[0], load(path, frame=1).spheres[0]
        np.testing.assert_array_equal(first.centers, [[1, 2, 1e-5], [4, 5, 6]])
        assert np.asarray(first.radius).tolist() == [0.25, 0.5]
        assert second.centers[0, 2] == 0.002
        assert np.asarray(second.radius).tolist() == [0.125, 0.125]
    assert load(case).describe(1).values["U"] == (0, 3, 4)


def test_one_time(case: Path) -> None:
    path = case / "0.002/lagrangian/spray/positions"
    packed = path.with_name("positions.gz")
    packed.write_bytes(gzip.compress(path.read_bytes()))
    path.unlink()
    data = read(packed)
    assert data.time == (0.002, "s")
    assert len(data.centers) == 2
    assert main(["info", str(packed)]) == 0


@pytest.mark.parametrize(
    ("name", "kind", "values", "form", "said"),
    [
        ("positions", "Cloud<a>", "3((1 2 3) 1\n(1 2 4) 1)", "ascii", "states 3 values, but has 8"),
        ("positions", "Cloud<a>", "2(a)", "binary", "is binary: convert the case to text"),
        ("positions", "Cloud<a>", "1((0 1 0 0) 1 2 3)", "ascii", "coordinates in cells"),
        ("positions", "Cloud<a>", "", "ascii", "has no list of values"),
        ("d", "scalarField", "2(1 b)", "ascii", "d: could not convert string to float"),
    ],
)
def test_what_cannot_be_read(
    case: Path, name: str, kind: str, values: str, form: str, said: str
) -> None:
    field(case / "1e-05/lagrangian/spray", name, kind, values, form)
    with pytest.raises(DataFileError, match=said):
        read(case)


def test_cases_without_one_cloud(case: Path) -> None:
    field(case / "1/lagrangian/other", "positions", "Cloud<a>", "0()")
    with pytest.raises(DataFileError, match=r"several clouds \(other, spray\)"):
        read(case)
    with pytest.raises(DataFileError, match="has no cloud"):
        read(write(case / "constant" / "b.foam", ""))


def test_standard_input_has_no_fields(
    case: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Files of the current folder are not its fields."""
    monkeypatch.chdir(case / "0.002" / "lagrangian" / "spray")
    with Path("positions").open(encoding="utf-8") as stream:
        monkeypatch.setattr("sys.stdin", stream)
        assert main(["scene", "check", "-", "--json"]) == 0
    said = capsys.readouterr().out
    assert '"spheres": 2' in said
    assert "0.125" not in said  # half of the diameter beside it
