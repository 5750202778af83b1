"""The drawing of the packages on the page docs/how_it_works.md."""

from __future__ import annotations

import runpy
from typing import Any
from xml.etree import ElementTree

import pytest

from support.modules import graph
from support.pages import DOCS


@pytest.fixture(scope="module")
def drawing() -> dict[str, Any]:
    return runpy.run_path(str(DOCS / "extensions" / "drawing.py"))


def reached(arrows: dict[str, set[str]], name: str) -> set[str]:
    return arrows[name].union(*(reached(arrows, target) for target in arrows[name]))


def test_imports_go_downwards(drawing: dict[str, Any]) -> None:
    arrows = drawing["units"](graph())
    place = {name: at for at, row in enumerate(drawing["rows"](arrows)) for name in row}
    assert set(place) == set(arrows)
    assert all(place[name] < place[target] for name in arrows for target in arrows[name])
    assert {"scene/", "backends/", "pipeline"} <= set(arrows)


def test_arrows_left_out_follow_from_the_others(drawing: dict[str, Any]) -> None:
    arrows = drawing["units"](graph())
    fewer = drawing["reduced"](arrows)
    assert sum(map(len, fewer.values())) < sum(map(len, arrows.values()))
    for name in arrows:
        assert reached(fewer, name) == reached(arrows, name)


def test_every_box_is_inside_the_drawing(drawing: dict[str, Any]) -> None:
    arrows = drawing["units"](graph())
    root = ElementTree.fromstring(drawing["svg"](arrows))
    width, height = (float(end) for end in root.attrib["viewBox"].split()[2:])
    sides = ("x", "y", "width", "height")
    boxes = [{side: float(rect.attrib[side]) for side in sides} for rect in root.iter("rect")]
    assert len(boxes) == len(arrows)
    for box in boxes:
        assert 0 <= box["x"] <= width - box["width"]
        assert 0 <= box["y"] <= height - box["height"]
