"""Marks in a layer over the picture: rims of the selected particles, and lines of the box.

A rim marks each visible selected particle: a colour could be mistaken for that of an element or a
value, and would hide it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.outline import cover_outlines
from raytracer.annotations.projection import Projection
from raytracer.annotations.surface import NONE, trace_strips
from raytracer.appearance.glyphs.vectors import has_semi_axes
from raytracer.drawing import raster
from raytracer.model.annotations import Outline
from raytracer.model.scene import Scene
from raytracer.model.sphere_set import SphereSet
from raytracer.viewer.messages import RenderRequest

RIM = (255, 0, 255)  # of the line, sRGB: magenta between two dark edges, unlike any colour
WIDTH, EDGES = 2.0, 4.5  # of the line without and with edges, in pixels of the full picture


def mark_primitives(
    scene: Scene, particles: Sequence[SphereSet], mask: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Return which primitives of a scene are selected, and False for a miss: bool (M + 1,).

    mask: which of `particles` are selected, bool (N,).
    """
    ellipsoids = np.zeros(len(mask), np.bool_)
    if scene.count != len(mask) and scene.shape is not None:  # some particles are ellipsoids
        are = [has_semi_axes(each.columns, scene.shape.axes) for each in particles]
        ellipsoids = np.repeat(are, [each.count for each in particles])
    selected = np.zeros(scene.count + scene.solid_count + 1, np.bool_)
    selected[: scene.count] = mask[~ellipsoids][: scene.count]
    last = len(selected) - 1 - sum(mesh.count for mesh in scene.meshes)
    selected[last - np.count_nonzero(ellipsoids) : last] = mask[ellipsoids]
    return selected


def draw_marks(
    request: RenderRequest, size: tuple[int, int], fine: int, check: Callable[[], None]
) -> NDArray[np.uint8] | None:
    """Return the marks over a picture, uint8 (h, w, 4), straight alpha; None without any."""
    loaded = request.loaded_scene
    view = request.job.view.with_size(*size)
    factor = size[0] / request.size[0]
    plan, box = loaded.job.plan, None
    if plan is not None:
        box = plan.box_lines(view, loaded.job.space, factor)
    if loaded.marked is None and box is None:
        return None
    projection = Projection.of(view, loaded.job.space)
    wide, line = (
        Outline(width=max(points * factor, least)) for points, least in ((EDGES, 2.0), (WIDTH, 1.0))
    )
    layer = np.zeros((size[1], size[0], 4), np.uint8)
    margin = 1.0 + wide.width / 2.0
    for strip in trace_strips(
        loaded.job.scene, view, projection, (0, 0, *size), fine, margin, box is not None
    ):
        check()
        if box is not None:
            box.update_visibility(strip)
        if loaded.marked is None:
            continue
        ids = strip.id
        chosen = loaded.marked[np.minimum(ids, len(loaded.marked) - 1)]
        only = replace(strip, id=np.where(chosen, ids, np.uint32(NONE)))
        alpha = cover_outlines(only, wide, projection.space.scale)
        part = np.divide(cover_outlines(only, line, projection.space.scale), alpha,
                         where=alpha > 0.0, out=np.zeros_like(alpha))  # fmt: skip
        rows = layer[strip.y0 : strip.y1]
        rows[..., :3] = np.minimum(part, 1.0)[..., None] * RIM
        rows[..., 3] = alpha * 255.0
    if box is not None:
        box.draw()
        raster.draw(box.sheet.shapes, layer)
    return layer


def draw_layer_over(
    pixels: NDArray[np.uint8], layer: NDArray[np.uint8] | None
) -> NDArray[np.uint8]:
    """Return a picture with a layer stretched over it, both uint8 (h, w, 4), straight alpha."""
    if layer is None:
        return pixels
    from PIL import Image

    picture, over = Image.fromarray(pixels), Image.fromarray(layer)
    if over.size != picture.size:
        over = over.resize(picture.size, Image.Resampling.BILINEAR)
    return np.asarray(Image.alpha_composite(picture, over))
