"""What is drawn over the picture of a page."""

from __future__ import annotations

from typing import Any

from raytracer.annotations import axes, scale_bar
from raytracer.annotations.plan import Plan
from raytracer.annotations.projection import Projection
from raytracer.annotations.sheet import Sheet
from raytracer.drawing.fonts import CAP_HEIGHT, typeset
from raytracer.drawing.svg import hex_color, svg
from raytracer.pipeline import Job
from raytracer.scene.annotations import IN_SCENE


def overlay_of(job: Job) -> dict[str, Any]:
    """Return texts and legend as SVG, and where scale bar and axes are for any view."""
    made: dict[str, Any] = {"overlay": "", "bar": None, "axes": None}
    if job.plan is None:
        return made
    projection = Projection.of(job.view, *job.space)
    plan = job.plan.over(job.view)
    sheet, wanted = plan.sheet(projection.width, projection.height), plan.annotations
    plan.draw_at_edges(sheet)
    size = (0, 0, projection.width, projection.height)
    made["overlay"] = svg(sheet.drawing, None, sheet.point, size, "").partition("\n")[2]
    if wanted.scale_bar is not None:
        made["bar"] = _bar(plan, sheet, projection)
    if wanted.axes is not None and wanted.axes.place not in IN_SCENE:
        made["axes"] = _tripod(plan, sheet, projection)
    return made


def _bar(plan: Plan, sheet: Sheet, projection: Projection) -> dict[str, Any]:
    """Return where the scale bar is and how long; the page makes another for another distance."""
    bar = plan.annotations.scale_bar
    assert bar is not None
    per_unit = projection.pixels_per_unit(plan.target_depth(projection))
    scale_bar.draw(sheet, bar, per_unit)
    box, ink = sheet.boxes[-1], sheet.ink(bar.color, bar.place)
    rim = sheet.halo(ink)
    return {
        "place": bar.place, "x": box.x, "y": box.y, "width": box.width,
        "size": sheet.letters(bar.size, "scale_bar"), "ink": hex_color(ink),
        "rim": None if rim is None else hex_color(rim), "length": bar.length,
        "unit": typeset(bar.unit or ""), "perUnit": per_unit / bar.factor,
        "share": scale_bar.SHARE, "thick": scale_bar.THICK,
    }  # fmt: skip


def _tripod(plan: Plan, sheet: Sheet, projection: Projection) -> dict[str, Any]:
    """Return where the axes are, in pixels, for the page, which turns them."""
    wanted = plan.annotations.axes
    assert wanted is not None
    length, size, names, reach, (x, y), colors = axes.take(sheet, wanted)
    return {
        "place": wanted.place, "x": x, "y": y, "reach": reach, "length": length,
        "size": size, "names": names, "colors": [hex_color(color) for color in colors],
        "rim": None if sheet.rim is None else hex_color(sheet.rim),
        "shaft": axes.SHAFT, "head": axes.HEAD, "beyond": axes.BEYOND, "cap": CAP_HEIGHT,
    }  # fmt: skip
