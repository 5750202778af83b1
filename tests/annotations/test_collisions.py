"""Annotations that do not overlap, units of scale bars, and the resolution that files state."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.annotations.from_scene import length_unit
from raytracer.annotations.labels import _apart
from raytracer.annotations.sheet import Sheet
from raytracer.drawing.shapes import Text

SMALL: dict[str, Any] = {"width": 240, "height": 180, "samples": 1, "backend": "cpu"}


def texts_of(image: Any) -> list[str]:
    assert image.overlay is not None
    return [each.text for each in image.overlay.drawing.shapes if isinstance(each, Text)]


def test_labels_keep_apart_and_the_nearer_one_stays() -> None:
    rng = np.random.default_rng(1)
    centers, sizes = rng.uniform(0, 300, (400, 2)), rng.uniform(5, 40, (400, 2))
    depths = rng.permutation(400).astype(float)
    kept = _apart(centers, sizes, depths)
    gaps = np.abs(centers[:, None] - centers) - (sizes[:, None] + sizes) / 2
    overlap = np.asarray((gaps < 0).all(axis=2) & ~np.eye(400, dtype=bool))
    assert not overlap[np.ix_(kept, kept)].any()
    for row in set(range(400)) - set(kept.tolist()):
        assert any(overlap[row, other] and depths[other] < depths[row] for other in kept)
    assert len(_apart(centers[:0], sizes[:0], depths[:0])) == 0


@pytest.mark.parametrize("first", ["bottom", "top", "left", "right"])
def test_boxes_at_different_places_do_not_overlap(first: str) -> None:
    sheet = Sheet(300, 200, dpi=72.0)
    wide = first in ("bottom", "top")
    sheet.take(first, *((250.0, 20.0) if wide else (40.0, 170.0)))
    for corner in ("bottom-left", "bottom-right", "top-left", "top-right"):
        sheet.take(corner, 60.0, 30.0)
    for index, box in enumerate(sheet.boxes):
        assert not any(box.overlaps(other) for other in sheet.boxes[:index])
        assert 0.0 <= box.x <= 300 - box.width
        assert 0.0 <= box.y <= 200 - box.height


def test_a_picture_without_room_keeps_places_at_the_edge() -> None:
    sheet = Sheet(100, 40, dpi=72.0)
    sheet.take("bottom", 90.0, 30.0)
    x, y = sheet.take("bottom-left", 30.0, 30.0)
    assert (x, y) == (12.0, 40 - 12 - 30)


@pytest.mark.parametrize(
    ("name", "text", "unit"),
    [
        ("a.xyz", "2\n\nC 0 0 0\nO 0 0 1.2\n", "Å"),
        ("a.csv", "x [m],y [m],z [m]\n0,0,0\n1,1,1\n", "m"),
        ("b.csv", "Pos.x [mm],Pos.y [mm],Pos.z [mm]\n0,0,0\n1,1,1\n", "mm"),
        ("c.csv", "x,y,z\n0,0,0\n1,1,1\n", ""),
    ],
)
def test_a_scale_bar_has_the_unit_of_the_file(
    tmp_path: Path, name: str, text: str, unit: str
) -> None:
    path = tmp_path / name
    path.write_text(text)
    assert length_unit(raytracer.load(path)) == unit
    with raytracer.warning.collected():
        image = raytracer.render(path, annotations={"scale_bar": True}, **SMALL)
        stated = raytracer.render(path, annotations={"scale_bar": {"unit": "pc"}}, **SMALL)
        none = raytracer.render(path, annotations={"scale_bar": {"unit": ""}}, **SMALL)
    (shown,) = texts_of(image)
    assert shown.partition(" ")[2] == unit
    assert texts_of(stated)[0].endswith(" pc")
    assert " " not in texts_of(none)[0]


def test_ink_contrasts_with_the_background_at_its_place() -> None:
    white, black = (1.0, 1.0, 1.0), (0.0, 0.0, 0.0)
    sheet = Sheet(100, 100, paper=(0.6, 0.6, 0.6), edges=(black, white))
    inks = [sheet.ink(None, place) for place in ("bottom-left", "top", "right", "")]
    assert inks == [white, black, black, black]
    assert sheet.ink("white", "top") == white
