"""What is drawn over a picture."""

from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Annotations, Axes, Legend, ScaleBar
from raytracer.appearance.coloring.scale import ColorScale
from support.previews import finished, opened

overlay = pytest.importorskip("raytracer.viewer.overlay", reason="the extra preview is missing")
BAR = ColorScale("viridis", "linear", 0.0, 1.0, "speed")


@pytest.mark.parametrize("more", [{"axes": Axes()}, {"scale_bar": ScaleBar()}])
def test_over_a_draft_there_is_nothing_that_depends_on_the_camera(more: dict[str, Any]) -> None:
    """It would lag behind while the camera moves."""
    found = []
    for shown in ({}, more):
        scene = raytracer.Scene(
            [raytracer.SphereSet([[0, 0, 0]], 1.0)],
            raytracer.Camera(type="orthographic", position=(0, 0, 9), height=4.0),
            color_scales=[BAR],
        )
        annotations = Annotations(legend=Legend(), **shown)
        with opened(scene, size=(240, 180), annotations=annotations) as session:
            picture = finished(session)
            found.append((overlay._draw_legend_and_texts(picture.frame), picture.pixels))
    assert found[0][0].any()
    np.testing.assert_array_equal(found[1][0], found[0][0])
    assert (found[1][1] != found[0][1]).any(), "the picture at rest has it"


@pytest.mark.parametrize("room", [(0, 5), (5, 0)])
def test_no_text_is_laid_out_without_room_for_a_letter(
    room: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(overlay, "count_letters", lambda *_: room)
    box = overlay.WindowRect(0, 0, 40, 40)
    assert overlay.TextBlock((0.0, 0.0), 96)._lay_out("a text", box) is None
