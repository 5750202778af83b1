"""Legend and texts over drafts, which have fewer pixels than the window: they are drawn apart."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pyglet

from raytracer.viewer.messages import Frame

Size = tuple[int, int]


class FixedLayer:
    """Draws the legend and the texts of a scene over pictures that do not have them yet.

    What depends on the camera, as a scale bar, is left to the pictures at rest.
    """

    def __init__(self) -> None:
        self._made: tuple[object, Size] = (None, (0, 0))  # plan and size of the sprite
        self._sprite: Any = None

    def draw(self, frame: Frame | None) -> None:
        """Draw them over a frame, unless its picture has them."""
        if frame is None:
            return
        plan = frame.request.loaded_scene.job.plan
        if plan is None or (not frame.draft and hasattr(frame.picture, "pixels")):
            return
        if self._made != (plan, frame.request.size):
            self._made = plan, frame.request.size
            self._sprite = _sprite(frame)
        if self._sprite is not None:
            self._sprite.draw()


def _sprite(frame: Frame) -> Any:
    """Return legend and texts as a sprite; None if there are none."""
    loaded, view = frame.request.loaded_scene, frame.request.buffers.view
    plan = loaded.job.plan
    assert plan is not None
    wanted = plan.annotations
    if wanted.legend is None and not wanted.texts:
        return None
    width, height = frame.request.size
    pixels = np.zeros((height, width, 4), np.uint8)
    fixed = replace(plan, annotations=replace(wanted, axes=None, scale_bar=None))
    fixed.draw_fixed(pixels, view, loaded.job.space)
    image = pyglet.image.ImageData(width, height, "RGBA", pixels.tobytes(), pitch=-4 * width)
    return pyglet.sprite.Sprite(image)
