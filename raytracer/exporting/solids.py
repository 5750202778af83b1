"""The spheres and rods of a page, as sections."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.plan import Plan
from raytracer.annotations.projection import Projection
from raytracer.exporting.figure import UNLIT, Figure, Rods
from raytracer.exporting.grid import Grid
from raytracer.exporting.sections import Section, section_of
from raytracer.scene.glyphs.shared import rows_by_id
from raytracer.scene.simulation_box import segments

PALETTE = 1 << 16  # maximum number of colours that are numbered
SKY_LEVELS = 60  # finer than the noise of what is measured; even, so that the middle is a level


def sphere_sections(
    figure: Figure, grid: Grid, sky: NDArray[np.float32]
) -> Iterator[tuple[str, Section]]:
    """Yield the sections of the spheres by name; sky: float32 (N, 4), of `sky_visibility`."""
    if not len(figure.radius):
        return
    codes = grid.codes(figure.positions)
    for axis, name in enumerate("xyz"):
        yield name, section_of(codes[:, axis])
    yield from _unless_even("radius", grid.radius_codes(figure.radius))
    yield from _color_sections("color", figure.colors)
    yield from _unless_even("material", figure.material)
    levels = np.clip(sky * np.array([1.0, 0.5, 0.5, 0.5]) + [0.0, 0.5, 0.5, 0.5], 0.0, 1.0)
    rounded = np.rint(SKY_LEVELS * levels).astype(np.uint8)
    for part in range(4):
        yield from _unless_even(f"sky{part}", rounded[:, part])


def _unless_even(name: str, values: NDArray[Any]) -> Iterator[tuple[str, Section]]:
    """Yield a section; a single row if all rows are alike."""
    yield name, section_of(values[:1] if (values == values[0]).all() else values)


def _color_sections(name: str, colors: NDArray[np.uint8]) -> Iterator[tuple[str, Section]]:
    """Yield the distinct colours and the number of each row's, or the colours if they are many."""
    words = np.ascontiguousarray(colors).view(np.uint32).ravel()
    table, ids = np.unique(words, return_inverse=True)
    if len(table) <= PALETTE:
        # neighbouring numbers are neighbouring colours of a map, whose lightness rises
        lightness = table.view(np.uint8).reshape(-1, 4) @ np.array([2, 7, 1, 0])
        order = np.argsort(lightness, kind="stable")
        rank = np.empty(len(order), np.uint32)
        rank[order] = np.arange(len(order))
        yield f"{name}_table", section_of(table[order])
        small = np.uint8 if len(table) <= 256 else np.uint16
        yield from _unless_even(name, rank[ids.ravel()].astype(small))
        return
    for part, letter in enumerate("rgba"):
        yield from _unless_even(f"{name}_{letter}", colors[:, part])


def with_box(rods: Rods, plan: Plan | None, projection: Projection) -> Rods:
    """Return rods, and the edges of the box as thin ones that have no shade."""
    if plan is None or plan.box is None or plan.annotations.box is None:
        return rods
    wanted, sheet = plan.annotations.box, plan.sheet(projection.width, projection.height)
    origin = projection.to_render_space(np.array(plan.box.origin, np.float64))
    ends = np.array(segments(origin, np.array(plan.box.edges, np.float64) / projection.scale))
    middle = ends.reshape(-1, 3).mean(axis=0)
    depth = max(float(projection.depth(middle[None])[0]), 1e-6)
    per_unit = projection.pixels_per_unit(depth) * projection.scale
    width = max(wanted.width * sheet.point, 1.0)
    ink = [round(255 * value) for value in sheet.ink(wanted.color)] + [255]
    count = len(ends)
    edges = Rods(
        ends[:, 0].astype(np.float32),
        ends[:, 1].astype(np.float32),
        np.full(count, width / 2.0 / per_unit, np.float32),
        np.full((count, 2, 4), ink, np.uint8),
        np.full(count, UNLIT, np.uint8),
        np.zeros(count, np.uint8),
    )
    pairs: Any = zip(rods, edges, strict=True)
    return Rods(*map(np.concatenate, pairs))


def rod_sections(
    rods: Rods, grid: Grid, figure: Figure, sky: NDArray[np.float32]
) -> Iterator[tuple[str, Section]]:
    """Yield the sections of rods by name; figure and sky: of the spheres that they connect."""
    if not len(rods.radius):
        return
    for end in ("start", "end"):
        for axis, name in enumerate("xyz"):
            yield f"rod_{end}_{name}", section_of(getattr(rods, end)[:, axis])
    yield from _unless_even("rod_radius", rods.radius)
    for side, name in enumerate(("rod_color", "rod_end_color")):
        yield from _color_sections(name, rods.colors[:, side])
    yield from _unless_even("rod_form", rods.form)
    yield from _unless_even("rod_material", rods.material)
    light = np.mean([_sky_at(each, grid, figure, sky) for each in (rods.start, rods.end)], axis=0)
    yield from _unless_even("rod_sky", np.rint(SKY_LEVELS * light).astype(np.uint8))


def _sky_at(
    points: NDArray[np.float32], grid: Grid, figure: Figure, sky: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return the share of the sky of the spheres that begin and end bonds at points, (C,); at other
    points the mean of all spheres."""
    if not len(sky):
        return np.ones(len(points), np.float32)
    mean = np.float32(np.clip(sky[:, 0].mean(), 0.0, 1.0))

    def keys(positions: NDArray[np.float32]) -> NDArray[np.uint64]:
        # a coarser grid, so that the roundings of a centre and of an end are the same
        cells = np.rint((positions - grid.low) / (4.0 * grid.step)).astype(np.uint64)
        return cells[:, 0] << np.uint64(42) | cells[:, 1] << np.uint64(21) | cells[:, 2]

    rows = rows_by_id(keys(figure.positions), keys(points))
    return np.where(rows >= 0, np.clip(sky[rows, 0], 0.0, 1.0), mean).astype(np.float32)
