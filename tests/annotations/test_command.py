"""Annotations from scene files and the command line."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

from raytracer.cli import main

SCENE = """
title = "Ball"
[render]
width = 160
height = 120
samples = 1
[camera]
type = "orthographic"
fit = true
[[spheres]]
centers = [[0, 0, 0], [3, 1, 0]]
radius = 1.0
"""


@pytest.fixture(autouse=True)
def scene(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A scene file in the current folder."""
    monkeypatch.chdir(tmp_path)
    Path("ball.toml").write_text(SCENE)


def pixels(*arguments: str, scene: str = "ball.toml") -> NDArray[np.uint8]:
    """The picture that the command writes."""
    assert main(["render", scene, "-o", "out.png", "-q", "--backend", "cpu", *arguments]) == 0
    return np.asarray(Pillow.open("out.png"))


@pytest.mark.parametrize(
    ("table", "options"),
    [
        ("[axes]", ["--axes"]),
        ('[axes]\nplace = "top"', ["--axes=top"]),
        ("[scale_bar]\nlength = 2", ["--scale-bar=2"]),
        ('[outline]\nwidth = 3\ncolor = "navy"', ["--outline=width=3,color=navy"]),
        ("[box]\nedges = [[3, 0, 0], [0, 2, 0], [1, 0, 3]]\norigin = [-1, -1, -1]",
         ["--box=edges=[[3,0,0],[0,2,0],[1,0,3]],origin=[-1,-1,-1]"]),
        ('[depth_cue]\ncolor = "red"', ["--depth-cue=red"]),
        ("[labels]", ["--labels=index"]),
        ('[[texts]]\ntext = "{title}: {spheres}"', ["--title", "{title}: {spheres}"]),
    ],
)  # fmt: skip
def test_a_table_and_an_option_draw_the_same(table: str, options: list[str]) -> None:
    plain = pixels()
    Path("drawn.toml").write_text(f"{SCENE}\n{table}\n")
    from_file, from_option = pixels(scene="drawn.toml"), pixels(*options)
    np.testing.assert_array_equal(from_file, from_option)
    assert (from_file != plain).any()
    if not table.startswith("[["):
        switched_off = pixels(f"{options[0].partition('=')[0]}=off", scene="drawn.toml")
        np.testing.assert_array_equal(switched_off, plain)


def test_box_and_labels_come_from_the_file() -> None:
    Path("cell.xyz").write_text(
        '2\nLattice="4 0 0 0 4 0 0 0 4" Properties=species:S:1:pos:R:3:charge:R:1\n'
        "Si 0 0 0 1.5\nO 2 2 2 -0.75\n"
    )
    size = ("--width", "160", "--height", "120", "--samples", "1")
    plain = pixels(*size, scene="cell.xyz")
    for option in ("--box", "--labels=element", "--labels=charge", "--labels"):
        assert (pixels(*size, option, scene="cell.xyz") != plain).any()
    assert main(["render", "cell.xyz", "--labels=charg"]) == 2


def test_a_png_states_its_dpi() -> None:
    pixels("--dpi", "300")
    with Pillow.open("out.png") as picture:
        assert picture.info["dpi"] == pytest.approx((300, 300), abs=0.01)
    pixels()
    with Pillow.open("out.png") as picture:
        assert "dpi" not in picture.info


def test_a_picture_without_annotations_loads_nothing_for_them() -> None:
    code = (
        "import sys; from raytracer.cli import main;"
        "main(['render', 'ball.toml', '-q', '--backend', 'cpu']);"
        "print([name for name in sys.modules if 'annotation' in name or name == 'PIL'])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stdout.strip() == "[]", result.stderr
