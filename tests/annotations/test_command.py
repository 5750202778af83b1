"""Annotations from scene files and the command line; SVG, PDF, and legends saved alone."""

import sys
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

import raytracer
from raytracer import Annotations, Axes, Camera, Legend, Outline, Scene, SphereSet, TextLabel
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.commands.cli import main
from raytracer.config.errors import OutputError
from raytracer.drawing.shapes import pixels_per_point

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


SVG = "{http://www.w3.org/2000/svg}"
SCALE = ColorScale("magma", "linear", 0.0, 10.0, "speed", "m/s")


def picture(annotations: Annotations | None, **options: Any) -> raytracer.Image:
    """One sphere, 300x200."""
    camera = Camera(position=(0, 0, 10), look_at=(0, 0, 0), type="orthographic", height=10.0)
    scene = Scene([SphereSet([[0.0, 0.0, 0.0]], 3.0)], camera, color_scales=[SCALE])
    settings: dict[str, Any] = {"width": 300, "height": 200, "samples": 2, "backend": "cpu"}
    return raytracer.render(scene, annotations=annotations, **settings, **options)


def test_an_svg_has_the_picture_and_texts_over_it(tmp_path: Path) -> None:
    drawn = Annotations(axes=Axes(), texts=[TextLabel("a < b & x⁻³")], legend=Legend())
    picture(drawn, dpi=100.0).save(tmp_path / "a.svg")
    root = ElementTree.parse(tmp_path / "a.svg").getroot()
    assert root.get("width") == "216.0000pt"  # 300 pixels at 100 to an inch
    assert root.get("viewBox") == "0 0 300 200"
    texts = [element.text for element in root.iter(f"{SVG}text")]
    assert {"a < b & x", "−3", "x", "y", "z", "speed (m/s)", "10"} <= set(texts)
    assert len(list(root.iter(f"{SVG}image"))) == 2  # the picture, and the bar
    assert list(root.iter(f"{SVG}polyline"))
    tips = [element.get("fill") or "" for element in root.iter(f"{SVG}polygon")]
    heads = [bytes.fromhex(fill[1:7]) for fill in tips]
    assert sorted(head.index(max(head)) for head in heads) == [0, 1], (
        "x red, y green; z is seen end-on"
    )


def test_an_embedded_picture_has_outlines_but_no_texts(tmp_path: Path) -> None:
    from base64 import b64decode
    from io import BytesIO

    title, line = TextLabel("Title"), Outline(width=3.0, color="red")
    outlined = picture(Annotations(outline=line)).to_uint8()
    picture(Annotations(texts=[title], outline=line)).save(tmp_path / "a.svg")
    image = next(ElementTree.parse(tmp_path / "a.svg").getroot().iter(f"{SVG}image"))
    data = b64decode(str(image.get("href")).partition(",")[2])
    np.testing.assert_array_equal(np.asarray(Pillow.open(BytesIO(data))), outlined)


def test_a_pdf(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    drawn = Annotations(axes=Axes(), texts=[TextLabel("Title x²")], legend=Legend())
    image = picture(drawn)
    image.save(tmp_path / "a.pdf")
    data = (tmp_path / "a.pdf").read_bytes()
    assert data.startswith(b"%PDF")
    assert b"SourceSansPro" in data
    width, height = (size / pixels_per_point(300, 200, None) for size in (300, 200))
    assert f"/MediaBox [ 0 0 {width:g} {height:g} ]".encode() in data


def test_a_pdf_without_matplotlib_is_refused_before_rendering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OutputError, match=r"pip install 'raytracer\[plot\]'"):
        picture(None).save(tmp_path / "a.pdf")
    assert not list(tmp_path.glob("*a.pdf*"))
