"""Tables in text beyond .csv: tabs, spaces, and tables without names."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raytracer import RaytracerWarning, load
from raytracer.scene.elements import find
from raytracer.scene.particles.read import read
from support.particle_files import refusal, write


def test_tabs(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", "x\ty\tz\tradius\n1\t2\t3\t0.5\n")
    np.testing.assert_array_equal(read(path).centers, [[1, 2, 3]])
    np.testing.assert_array_equal(read(path).radius, [0.5])


@pytest.mark.parametrize("suffix", [".txt", ".dat", ".asc"])
def test_a_table_of_savetxt(tmp_path: Path, suffix: str) -> None:
    points = np.random.default_rng(3).normal(size=(9, 4))
    path = tmp_path / f"a{suffix}"
    np.savetxt(path, points, header="x y z mass")
    scene = load(path)
    np.testing.assert_array_equal(scene.spheres[0].centers, points[:, :3])
    assert scene.describe(8).values == {"mass": points[8, 3]}


@pytest.mark.parametrize("comment", ["", "# made by hand\n\n"])
def test_a_table_without_names(tmp_path: Path, comment: str) -> None:
    points = np.random.default_rng(4).normal(size=(9, 5))
    rows = "".join(" ".join(map(repr, row)) + "\n" for row in points.tolist())
    path = write(tmp_path / "a.txt", comment + rows)
    with pytest.warns(RaytracerWarning, match="the first three are taken as x, y and z"):
        scene = load(path)
    np.testing.assert_array_equal(scene.spheres[0].centers, points[:, :3])
    assert scene.describe(8).values == {"column 4": points[8, 3], "column 5": points[8, 4]}


def test_what_is_no_table(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert "there is no column 'x'" in refusal(write(tmp_path / "a.txt", "to be done\n"), capsys)
    two = write(tmp_path / "b.txt", "1 2\n3 4\n")
    assert "line 1 holds numbers; it must name the columns" in refusal(two, capsys)


def test_labels_of_a_table(tmp_path: Path) -> None:
    text = 'x,y,z,species\n0,0,0,"Cu"\n3,0,0,O\n6,0,0,"Cu"\n'
    data = read(write(tmp_path / "a.csv", text))
    np.testing.assert_array_equal(data.radius, [find(name).radius for name in ("Cu", "O", "Cu")])
    assert data.labels is not None
    assert data.labels.line == 2
    types = read(write(tmp_path / "b.csv", text.replace("species", "type")))
    assert types.labels is not None
    assert types.labels.says == "types"
    sized = read(write(tmp_path / "c.csv", "x,y,z,radius,r,g,b,element\n0,0,0,1,1,0,0,Cu\n"))
    assert sized.labels is None
