"""Pictures as SVG and PDF, and legends that are saved alone."""

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image as Pillow

import raytracer
from raytracer import Annotations, Axes, Camera, Legend, Outline, Scene, SphereSet, TextLabel
from raytracer.drawing.shapes import point_of
from raytracer.errors import OutputError
from raytracer.scene.coloring.scale import ColorScale

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
    width, height = (size / point_of(300, 200, None) for size in (300, 200))
    assert f"/MediaBox [ 0 0 {width:g} {height:g} ]".encode() in data


def test_a_pdf_without_matplotlib_is_refused_before_rendering(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(OutputError, match=r"pip install 'raytracer\[plot\]'"):
        picture(None).save(tmp_path / "a.pdf")
    assert not list(tmp_path.iterdir())
