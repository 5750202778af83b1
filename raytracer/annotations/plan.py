"""Plans: what is drawn over the pictures of a scene, for any camera, size and crop.

A plan is made when a scene is loaded; the scene may be released afterwards.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import accumulate
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations import axes, legend, outline, scale_bar, texts
from raytracer.annotations.box import BoxLines
from raytracer.annotations.labels import LabeledSpheres, SeenLabels, label_spheres
from raytracer.annotations.projection import Projection
from raytracer.annotations.sheet import Backdrop, Sheet
from raytracer.annotations.surface import (
    COARSEST,
    Strip,
    find_depth_range,
    rays_per_axis,
    trace_strips,
)
from raytracer.appearance.coloring.scale import ColorScale
from raytracer.appearance.columns import find_length_unit
from raytracer.backends.base import DeviceScene
from raytracer.config.errors import UserError
from raytracer.config.warning import warn
from raytracer.drawing import raster
from raytracer.drawing.fonts import find_missing_letters
from raytracer.drawing.overlay import Overlay
from raytracer.drawing.shapes import Text
from raytracer.film.film import Crop, Pixels
from raytracer.model.annotations import IN_SCENE, Annotations, DepthCue
from raytracer.model.colors import linear_to_srgb, parse_color, srgb_to_linear
from raytracer.model.particle_source import Box
from raytracer.model.render_space import Space
from raytracer.model.scene import Scene
from raytracer.model.settings import RenderSettings
from raytracer.model.simulation_box import find_box, to_triple
from raytracer.packing.framing import Room, Surroundings
from raytracer.packing.view import View

AIR = 4.0  # distance that a fitted camera leaves between the spheres and texts or legend, in points
MAX_ROOM = 0.35  # maximum part of the width or the height of a picture that is left free at a side


@dataclass(frozen=True, eq=False)
class OverlayPlan:
    annotations: Annotations
    dpi: float | None = None  # pixels of an inch
    backdrop: Backdrop | None = None  # the background's lower and upper edge, unless transparent
    target: tuple[float, float, float] | None = None  # of the camera; None: the spheres' middle
    scales: tuple[ColorScale, ...] = ()  # of the legend
    box: Box | None = None  # of the file or of the annotation
    named: LabeledSpheres | None = None  # spheres with labels
    axes: NDArray[np.float64] | None = None  # in the scene: origin and tips, (4, 3)
    values: dict[str, Any] = field(default_factory=dict)  # of {title} and others in texts
    meshes: tuple[int, ...] = ()  # number of the first triangle of each mesh, and after the last

    def overlay(self, scene: DeviceScene, view: View, space: Space, crop: Crop) -> Overlay:
        """Return the overlay of a crop, x0, y0, x1, y1, of the picture of a view."""
        plan, projection = self.with_background(view), Projection.of(view, space)
        sheet, wanted = plan.sheet(*view.size), self.annotations
        line, cue = wanted.outline, wanted.depth_cue
        shape = crop[3] - crop[1], crop[2] - crop[0]
        fog, lines = (None if each is None else np.zeros(shape, np.float32) for each in (cue, line))
        hidden: list[BoxLines | SeenLabels] = []
        if self.box is not None and wanted.box is not None:
            hidden.append(BoxLines(self.box, wanted.box, sheet, projection))
        if self.named is not None and wanted.labels is not None:
            hidden.append(SeenLabels(self.named, wanted.labels, sheet, projection))
        near, far = (0.0, 0.0) if cue is None else _fog_depths(cue, scene, view, projection)
        for strip in self._strips(scene, view, projection, crop, bool(hidden)):
            rows = slice(strip.y0 - crop[1], strip.y1 - crop[1])
            if line is not None and lines is not None:
                whole = replace(strip, id=_with_meshes_as_one(strip.id, self.meshes))
                lines[rows] = outline.cover_outlines(whole, line, projection.space.scale)
            if cue is not None and fog is not None:
                fog[rows] = _fade_by_depth(strip, near, far, cue.strength, plan.backdrop is None)
            for each in hidden:
                each.update_visibility(strip)
        for each in hidden:
            each.draw()
        plan._draw(sheet, projection)
        _warn_of_missing_letters(sheet)
        faded = None if fog is None else (fog, plan._fog_color(crop, view.height))
        outlined = None if line is None or lines is None else (lines, parse_color(line.color))
        return Overlay(sheet.shapes, crop, sheet.point, faded, outlined)

    def _strips(
        self, scene: DeviceScene, view: View, projection: Projection, crop: Crop, hides: bool
    ) -> Iterator[Strip]:
        """Yield the first hits of a crop, as far as fog, outlines and what spheres hide need."""
        line, cue = self.annotations.outline, self.annotations.depth_cue
        if line is None and cue is None and not hides:
            return
        fine = COARSEST if line is None else rays_per_axis(*view.size)
        margin = 1.0 if line is None else 1.0 + line.width / 2.0
        has_depth = hides or cue is not None or (line is not None and line.needs_depth)
        yield from trace_strips(scene, view, projection, crop, fine, margin, has_depth)

    def draw_fixed(self, pixels: Pixels, view: View, space: Space) -> None:
        """Draw over a whole picture, (h, w, 4), in place, all that does not depend on visible
        spheres."""
        sheet = self.with_background(view).sheet(*view.size)
        with suppress(UserError):  # a window may be too small for what its pictures show
            self._draw(sheet, Projection.of(view, space))
            raster.draw(sheet.shapes, pixels)

    def box_lines(self, view: View, space: Space, scale: float = 1.0) -> BoxLines | None:
        """Return the edges of the box as lines over a picture, or None; scale: width of the picture
        divided by that of the one that the width of lines is for."""
        if self.box is None or self.annotations.box is None:
            return None
        dpi = None if self.dpi is None else self.dpi * scale
        sheet = replace(self.with_background(view), dpi=dpi).sheet(*view.size)
        return BoxLines(self.box, self.annotations.box, sheet, Projection.of(view, space))

    def with_background(self, view: View) -> Self:
        """Return the plan of pictures with the background of a view, which a window changes."""
        if view.backdrop is None:
            return replace(self, backdrop=None)
        bottom, top = map(to_triple, linear_to_srgb(np.array(view.backdrop)))
        return replace(self, backdrop=(bottom, top))

    def reserved_room(self, width: int, height: int) -> Surroundings:
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
        return Sheet(width, height, self.dpi, self.backdrop)

    def _fog_color(self, crop: Crop, height: int) -> NDArray[np.float32]:
        """Return the colour into which each row fades, sRGB in 0..1, float32 (h, 3): that of the
        background, interpolated in linear light."""
        cue, white = self.annotations.depth_cue, (1.0, 1.0, 1.0)
        ends = self.backdrop or (white, white)
        if cue is not None and cue.color is not None:
            ends = (parse_color(cue.color),) * 2
        part = 1.0 - (np.arange(crop[1], crop[3])[:, None] + 0.5) / height
        low, high = srgb_to_linear(ends)
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
        for label in self.annotations.texts:
            texts.draw(sheet, label, self.values)
        if self.annotations.legend is not None:
            for scale in self.scales:
                legend.draw(sheet, self.annotations.legend, scale)

    def target_depth(self, projection: Projection) -> float:
        """Return the depth at which the scale bar is right, render space."""
        if not projection.perspective:
            return 1.0
        target = np.array(self.target or projection.space.center, np.float64)
        depth = float(projection.depth(projection.space.point(target[None]))[0])
        if depth <= 0.0:  # the target is behind a camera that was moved: the spheres' middle
            depth = max(float(projection.depth(np.zeros((1, 3)))[0]), 1e-6)
        return depth


def make_plan(
    scene: Scene,
    settings: RenderSettings,
    annotations: Annotations,
    values: Mapping[str, Any] | None = None,
) -> OverlayPlan:
    """Return the plan of what is drawn over the pictures of a scene; values: further ones that
    texts may name in braces. Raises SceneError: the scene lacks something that is to be drawn."""
    bar, box, tripod = annotations.scale_bar, annotations.box, annotations.axes
    if bar is not None and bar.unit is None and bar.factor == 1.0:
        annotations = replace(
            annotations, scale_bar=replace(bar, unit=find_length_unit(scene.spheres))
        )
    if bar is not None and (scene.camera is None or scene.camera.type == "perspective"):
        warn(
            "scale_bar: with perspective, the bar is valid only at the distance of the point that "
            'the camera looks at: use --ortho, or type = "orthographic" under [camera]'
        )
    tips = None
    if tripod is not None and tripod.place in IN_SCENE:
        from raytracer.appearance.glyphs.box import locate_axes

        tips = locate_axes(replace(scene, annotations=annotations), tripod)
    target = scene.camera.look_at if scene.camera is not None else None
    counts = [mesh.count for mesh in scene.meshes if mesh.count]
    first = scene.count + scene.solid_count - sum(counts)  # triangle of all meshes
    return OverlayPlan(
        annotations, settings.dpi,
        None if scene.background.transparent else scene.background.edges(),
        None if target is None else to_triple(target),
        legend.find_scales(scene) if annotations.legend is not None else (),
        find_box(scene, box) if box is not None and box.style == "lines" else None,
        label_spheres(scene, annotations.labels.by) if annotations.labels is not None else None,
        tips, {**texts.collect_values(scene), **(values or {})},
        tuple(accumulate(counts, initial=first)),
    )  # fmt: skip


def _warn_of_missing_letters(sheet: Sheet) -> None:
    lacking = find_missing_letters(shape.text for shape in sheet.shapes if isinstance(shape, Text))
    if lacking:
        warn(
            f"no font of this system has the characters {lacking}, which are drawn as boxes: "
            "install one that has them, as Noto Sans"
        )


def _with_meshes_as_one(numbers: NDArray[np.uint32], meshes: Sequence[int]) -> NDArray[np.uint32]:
    """Return numbers with that of the first triangle in place of all of a mesh: no lines within."""
    first = np.array(meshes[:-1], np.uint32)
    if not len(first):
        return numbers
    of_meshes = (numbers >= first[0]) & (numbers < meshes[-1])
    merged = numbers.copy()
    merged[of_meshes] = first[np.searchsorted(first, numbers[of_meshes], side="right") - 1]
    return merged


def _fog_depths(
    cue: DepthCue, scene: DeviceScene, view: View, projection: Projection
) -> tuple[float, float]:
    near, far = (0.0, 0.0) if cue.near and cue.far else find_depth_range(scene, view, projection)
    near = near if cue.near is None else cue.near / projection.space.scale
    return near, far if cue.far is None else cue.far / projection.space.scale


def _fade_by_depth(
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
