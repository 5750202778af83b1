"""Plans: what is drawn over the pictures of a scene, for any camera, size and crop.

A plan is made when a scene is loaded; the scene may be released afterwards.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations import axes, legend, outline, scale_bar, texts
from raytracer.annotations.box import BoxLines, box_lines
from raytracer.annotations.labels import Named, SeenLabels
from raytracer.annotations.projection import Projection
from raytracer.annotations.sheet import Sheet
from raytracer.annotations.surface import COARSEST, Strip, extent, rays_per_axis, strips
from raytracer.backends.base import DeviceScene
from raytracer.drawing import raster
from raytracer.drawing.overlay import Overlay
from raytracer.drawing.shapes import RGB
from raytracer.errors import UserError
from raytracer.film.film import Crop, Pixels
from raytracer.render_space import Space
from raytracer.scene.annotations import Annotations, DepthCue
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.colors import linear_to_srgb, parse_color, srgb_to_linear
from raytracer.scene.packing.framing import Room, Surroundings
from raytracer.scene.particles.source import Box
from raytracer.scene.simulation_box import triple
from raytracer.view import View

AIR = 4.0  # distance that a fitted camera leaves between the spheres and texts or legend, in points
MAX_ROOM = 0.35  # maximum part of the width or the height of a picture that is left free at a side


@dataclass(frozen=True, eq=False)
class Plan:
    annotations: Annotations
    dpi: float | None = None  # pixels of an inch
    bottom: RGB = (1.0, 1.0, 1.0)  # sRGB of the background's edges
    top: RGB = (1.0, 1.0, 1.0)
    transparent: bool = False  # whether pictures have no background
    target: tuple[float, float, float] | None = None  # of the camera; None: the spheres' middle
    scales: tuple[ColorScale, ...] = ()  # of the legend
    box: Box | None = None  # of the file or of the annotation
    named: Named | None = None  # spheres with labels
    axes: NDArray[np.float64] | None = None  # in the scene: origin and tips, (4, 3)
    values: dict[str, Any] = field(default_factory=dict)  # of {title} and others in texts
    meshes: tuple[int, ...] = ()  # number of the first triangle of each mesh, and after the last

    def overlay(self, scene: DeviceScene, view: View, space: Space, crop: Crop) -> Overlay:
        """Return the overlay of a crop, x0, y0, x1, y1, of the picture of a view."""
        projection = Projection.of(view, space)
        sheet = self.over(view).sheet(*view.size)
        fog, lines = _draw_seen(self, sheet, projection, view, scene, crop)
        self._draw(sheet, projection)
        fog_color = None if fog is None else self._fog_color(crop, view.height)
        line = self.annotations.outline
        ink = (0.0, 0.0, 0.0) if line is None else parse_color(line.color)
        return Overlay(sheet.drawing, crop, sheet.point, fog, fog_color, lines, ink)

    def draw_fixed(self, pixels: Pixels, view: View, space: Space) -> None:
        """Draw over a whole picture, (h, w, 4), in place, all that does not depend on visible
        spheres."""
        sheet = self.over(view).sheet(*view.size)
        with suppress(UserError):  # a window may be too small for what its pictures show
            self._draw(sheet, Projection.of(view, space))
            raster.draw(sheet.drawing, pixels)

    def box_lines(self, view: View, space: Space, scale: float = 1.0) -> BoxLines | None:
        """Return the edges of the box as lines over a picture, or None; scale: width of the picture
        divided by that of the one that the width of lines is for."""
        box, wanted = self.box, self.annotations.box
        if box is None or wanted is None:
            return None
        dpi = None if self.dpi is None else self.dpi * scale
        sheet = replace(self.over(view), dpi=dpi).sheet(*view.size)
        return box_lines(box, wanted, sheet, Projection.of(view, space))

    def over(self, view: View) -> Plan:
        """Return the plan of pictures with the background of a view, which a window changes."""
        backdrop = view.backdrop
        if backdrop is None:
            return replace(self, transparent=True)
        bottom, top = map(triple, linear_to_srgb(np.array(backdrop)))
        return replace(self, transparent=False, bottom=bottom, top=top)

    def surroundings(self, width: int, height: int) -> Surroundings:
        """Return what a fitted camera leaves room for: the box, texts and legend."""
        sheet = self.sheet(width, height)
        with suppress(UserError):  # raised when it is drawn
            self.draw_at_edges(sheet)
        sides = dict.fromkeys(("left", "right", "bottom", "top"), 0.0)
        air = AIR * sheet.point
        for box in sheet.boxes:
            free = {
                "left": (box.x + box.width + air) / width, "right": (width - box.x + air) / width,
                "bottom": (height - box.y + air) / height,
                "top": (box.y + box.height + air) / height,
            }  # fmt: skip
            # In a corner along the side where it takes less.
            side = min((each for each in free if each in box.place), key=free.__getitem__)
            sides[side] = max(sides[side], min(free[side], MAX_ROOM))
        return Surroundings(Room(**sides), () if self.box is None else (self.box,))

    def sheet(self, width: int, height: int) -> Sheet:
        """Return an empty sheet for pictures of a size."""
        middle = linear_to_srgb(srgb_to_linear([self.bottom, self.top]).mean(axis=0))
        paper = None if self.transparent else triple(middle)
        return Sheet(width, height, self.dpi, paper, (self.bottom, self.top))

    def _fog_color(self, crop: Crop, height: int) -> NDArray[np.float32]:
        """Return the colour into which each row fades, sRGB in 0..1, float32 (h, 3): that of the
        background, interpolated in linear light."""
        cue = self.annotations.depth_cue
        bottom, top = self.bottom, self.top
        if cue is not None and cue.color is not None:
            bottom = top = parse_color(cue.color)
        elif self.transparent:
            bottom = top = (1.0, 1.0, 1.0)
        part = 1.0 - (np.arange(crop[1], crop[3])[:, None] + 0.5) / height
        low, high = srgb_to_linear([bottom, top])
        return linear_to_srgb(low + part * (high - low)).astype(np.float32)

    def _draw(self, sheet: Sheet, projection: Projection) -> None:
        wanted = self.annotations
        self.draw_at_edges(sheet)
        if wanted.scale_bar is not None:
            per_unit = projection.pixels_per_unit(self.target_depth(projection))
            scale_bar.draw(sheet, wanted.scale_bar, per_unit)
        if wanted.axes is not None and self.axes is not None:
            axes.name_tips(sheet, wanted.axes, self.axes, projection)
        elif wanted.axes is not None:
            axes.draw(sheet, wanted.axes, projection)

    def draw_at_edges(self, sheet: Sheet) -> None:
        """Draw what does not depend on the camera: texts and legend."""
        wanted = self.annotations
        for label in wanted.texts:
            texts.draw(sheet, label, self.values)
        if wanted.legend is not None:
            for scale in self.scales:
                legend.draw(sheet, wanted.legend, scale)

    def target_depth(self, projection: Projection) -> float:
        """Return the depth at which the scale bar is right, render space."""
        target = np.array(self.target or projection.space.center, np.float64)
        depth = float(projection.depth(projection.space.point(target[None]))[0])
        if not projection.perspective:
            return 1.0
        if depth <= 0.0:  # the target is behind a camera that was moved: the spheres' middle
            depth = max(float(projection.depth(np.zeros((1, 3)))[0]), 1e-6)
        return depth


def _draw_seen(
    plan: Plan, sheet: Sheet, projection: Projection, view: View, scene: DeviceScene, crop: Crop
) -> tuple[NDArray[np.float32] | None, NDArray[np.float32] | None]:
    """Draw what spheres may hide, box and labels; return fog and outlines, (h, w) each."""
    wanted, shape = plan.annotations, (crop[3] - crop[1], crop[2] - crop[0])
    line, cue = wanted.outline, wanted.depth_cue
    fog = None if cue is None else np.zeros(shape, np.float32)
    lines = None if line is None else np.zeros(shape, np.float32)
    box = labels = None
    if plan.box is not None and wanted.box is not None:
        box = box_lines(plan.box, wanted.box, sheet, projection)
    if plan.named is not None:
        labels = SeenLabels(plan.named, projection)
    if not any((line, cue, box, labels)):
        return fog, lines
    depths = (0.0, 0.0) if cue is None else _fog_depths(cue, scene, view, projection)
    fine = COARSEST if line is None else rays_per_axis(*view.size)
    margin = 1.0 if line is None else 1.0 + line.width / 2.0
    has_depth = any((cue, box, labels)) or (line is not None and line.needs_depth)
    for strip in strips(scene, view, projection, crop, fine, margin, has_depth):
        rows = slice(strip.y0 - crop[1], strip.y1 - crop[1])
        if line is not None and lines is not None:
            whole = replace(strip, id=_with_meshes_as_one(strip.id, plan.meshes))
            lines[rows] = outline.coverage(whole, line, projection.space.scale)
        if cue is not None and fog is not None:
            fog[rows] = _fading(strip, *depths, cue.strength, plan.transparent)
        if box is not None:
            box.hide(strip)
        if labels is not None:
            labels.find(strip)
    if box is not None:
        box.draw()
    if labels is not None and wanted.labels is not None:
        labels.draw(sheet, wanted.labels)
    return fog, lines


def _with_meshes_as_one(numbers: NDArray[np.uint32], meshes: Sequence[int]) -> NDArray[np.uint32]:
    """Return numbers with that of the first triangle in place of all of a mesh: no lines within."""
    if not meshes:
        return numbers
    first = np.array(meshes[:-1], np.uint32)
    of_meshes = (numbers >= first[0]) & (numbers < meshes[-1])
    merged = numbers.copy()
    merged[of_meshes] = first[np.searchsorted(first, numbers[of_meshes], side="right") - 1]
    return merged


def _fog_depths(
    cue: DepthCue, scene: DeviceScene, view: View, projection: Projection
) -> tuple[float, float]:
    near, far = (0.0, 0.0) if cue.near and cue.far else extent(scene, view, projection)
    near = near if cue.near is None else cue.near / projection.space.scale
    return near, far if cue.far is None else cue.far / projection.space.scale


def _fading(
    strip: Strip, near: float, far: float, strength: float, transparent: bool
) -> NDArray[np.float32]:
    """Return the share of the fade colour in each pixel of a strip, from 0 at depth `near` to
    `strength` at `far`, float32 (h, w); pixels fade less that show part of an opaque background."""
    seen = np.isfinite(strip.depth)
    depth = np.where(seen, strip.depth, np.float32(near))
    part = np.clip((depth - near) / max(far - near, 1e-30), 0.0, 1.0).astype(np.float32)
    mean = strip.pixels(part * np.float32(strength))
    if transparent:
        covered = strip.pixels(seen.astype(np.float32))
        mean = np.divide(mean, covered, out=mean, where=covered > 0.0)
    return mean
