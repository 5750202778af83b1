"""Arrays in a page, deflated and written in base64: its spheres and rods, and their columns.

Each array is stored byte plane by byte plane (all low bytes, then all next ones), as it is or as
differences from the row before, whichever deflates better.
"""

import zlib
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.plan import OverlayPlan
from raytracer.annotations.projection import Projection
from raytracer.appearance.coloring.expression import Texts
from raytracer.appearance.columns import shared_names, shared_values, warn_of_left_out
from raytracer.appearance.glyphs.shared import find_rows_by_id
from raytracer.exporting.figure import UNLIT, Figure, Grid, Rods
from raytracer.model.scene import Scene
from raytracer.model.simulation_box import box_edges
from raytracer.particles.columns import index_labels

LEVEL, FAST_LEVEL = 9, 5  # of deflation
LARGE = 8 << 20  # bytes from which arrays are deflated fast
SAMPLE = 1 << 18  # rows that tell which form deflates better

PALETTE = 1 << 16  # maximum number of colours that are numbered
SKY_LEVELS = 60  # finer than the noise of what is measured; even, so that the middle is a level

DIGITS = 6  # of a number that is shown


@dataclass(frozen=True)
class Section:
    """An array encoded as text; about: what a reader needs: "rows", "planes", "delta"."""

    about: dict[str, Any]
    text: bytes


def make_section(array: NDArray[Any]) -> Section:
    """Return one number a row, of 1, 2 or 4 bytes, as a section; (N,)."""
    words = np.ascontiguousarray(array)
    words = words.view(f"u{words.dtype.itemsize}")
    sample = words[: min(len(words), SAMPLE)]
    delta = bool(
        array.dtype.kind in "iu"
        and len(zlib.compress(_split_planes(_encode_differences(sample)), FAST_LEVEL))
        < len(zlib.compress(_split_planes(sample), FAST_LEVEL))
    )
    planes = _split_planes(_encode_differences(words) if delta else words)
    data = zlib.compress(planes, FAST_LEVEL if len(planes) > LARGE else LEVEL)
    count = len(words)
    about = {"rows": count, "planes": len(planes) // max(count, 1), "delta": delta}
    return Section(about, b64encode(data))


def _encode_differences(words: NDArray[Any]) -> NDArray[np.uint32]:
    """Return differences from the row before, small ones of both signs as small numbers."""
    step = np.diff(words.astype(np.uint32), prepend=np.uint32(0)).view(np.int32)
    return ((step << 1) ^ (step >> 31)).view(np.uint32)


def _split_planes(words: NDArray[Any]) -> bytes:
    """Return the bytes of numbers, plane by plane from the lowest, without empty high planes."""
    width = words.dtype.itemsize
    planes = words.astype(f"<u{width}").view(np.uint8).reshape(-1, width)
    most = int(words.max()) if len(words) else 0
    used = max((most.bit_length() + 7) // 8, 1)
    return b"".join(planes[:, k].tobytes() for k in range(used))


def make_sphere_sections(
    figure: Figure, grid: Grid, sky: NDArray[np.float32]
) -> Iterator[tuple[str, Section]]:
    """Yield the sections of the spheres by name; sky: float32 (N, 4), of
    `measure_sky_visibility`."""
    if not len(figure.radius):
        return
    codes = grid.encode_positions(figure.positions)
    for axis, name in enumerate("xyz"):
        yield name, make_section(codes[:, axis])
    yield from _merge_equal_rows("radius", grid.encode_radii(figure.radius))
    yield from _make_color_sections("color", figure.colors)
    yield from _merge_equal_rows("material", figure.material)
    levels = np.clip(sky * np.array([1.0, 0.5, 0.5, 0.5]) + [0.0, 0.5, 0.5, 0.5], 0.0, 1.0)
    rounded = np.rint(SKY_LEVELS * levels).astype(np.uint8)
    for part in range(4):
        yield from _merge_equal_rows(f"sky{part}", rounded[:, part])


def _merge_equal_rows(name: str, values: NDArray[Any]) -> Iterator[tuple[str, Section]]:
    """Yield a section; a single row if all rows are alike."""
    yield name, make_section(values[:1] if (values == values[0]).all() else values)


def _make_color_sections(name: str, colors: NDArray[np.uint8]) -> Iterator[tuple[str, Section]]:
    """Yield the distinct colours and the number of each row's, or the colours if they are many."""
    words = np.ascontiguousarray(colors).view(np.uint32).ravel()
    table, ids = np.unique(words, return_inverse=True)
    if len(table) <= PALETTE:
        # neighbouring numbers are neighbouring colours of a map, whose lightness rises
        lightness = table.view(np.uint8).reshape(-1, 4) @ np.array([2, 7, 1, 0])
        order = np.argsort(lightness, kind="stable")
        rank = np.empty(len(order), np.uint32)
        rank[order] = np.arange(len(order))
        yield f"{name}_table", make_section(table[order])
        small = np.uint8 if len(table) <= 256 else np.uint16
        yield from _merge_equal_rows(name, rank[ids.ravel()].astype(small))
        return
    for part, letter in enumerate("rgba"):
        yield from _merge_equal_rows(f"{name}_{letter}", colors[:, part])


def add_box(rods: Rods, plan: OverlayPlan | None, projection: Projection) -> Rods:
    """Return rods, and the edges of the box as thin ones that have no shade."""
    if plan is None or plan.box is None or plan.annotations.box is None:
        return rods
    wanted, sheet = plan.annotations.box, plan.sheet(projection.width, projection.height)
    origin = projection.space.point(np.array(plan.box.origin, np.float64))
    ends = box_edges(origin, np.array(plan.box.edges, np.float64) / projection.space.scale)
    middle = ends.reshape(-1, 3).mean(axis=0)
    depth = max(float(projection.depth(middle[None])[0]), 1e-6)
    per_unit = projection.pixels_per_unit(depth) * projection.space.scale
    width = max(wanted.width * sheet.point, 1.0)
    ink = [round(255 * value) for value in sheet.choose_ink(wanted.color)] + [255]
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


def make_rod_sections(
    rods: Rods, grid: Grid, figure: Figure, sky: NDArray[np.float32]
) -> Iterator[tuple[str, Section]]:
    """Yield the sections of rods by name; figure and sky: of the spheres that they connect."""
    if not len(rods.radius):
        return
    for end in ("start", "end"):
        for axis, name in enumerate("xyz"):
            yield f"rod_{end}_{name}", make_section(getattr(rods, end)[:, axis])
    yield from _merge_equal_rows("rod_radius", rods.radius)
    for side, name in enumerate(("rod_color", "rod_end_color")):
        yield from _make_color_sections(name, rods.colors[:, side])
    yield from _merge_equal_rows("rod_form", rods.form)
    yield from _merge_equal_rows("rod_material", rods.material)
    light = np.mean([_find_sky(each, grid, figure, sky) for each in (rods.start, rods.end)], axis=0)
    yield from _merge_equal_rows("rod_sky", np.rint(SKY_LEVELS * light).astype(np.uint8))


def _find_sky(
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

    rows = find_rows_by_id(keys(figure.positions), keys(points))
    return np.where(rows >= 0, np.clip(sky[rows, 0], 0.0, 1.0), mean).astype(np.float32)


def make_column_sections(
    scene: Scene, room: int
) -> tuple[list[dict[str, Any]], dict[str, Section]]:
    """Return descriptions of the columns of all sets, and their sections, as far as there is room;
    those that colours follow come first."""
    sets = [each for each in scene.spheres if each.count]
    if not sets:
        return [], {}
    shown = " ".join(scale.title for scale in scene.color_scales)
    names = sorted(shared_names(sets), key=lambda name: name not in shown)
    about: list[dict[str, Any]] = []
    sections: dict[str, Section] = {}
    omitted: list[str] = []
    if any(each.rows is not None for each in sets):
        rows = [np.arange(each.count) if each.rows is None else each.rows for each in sets]
        sections["rows"] = make_section(np.concatenate(rows).astype(np.uint32))
        room -= len(sections["rows"].text)
    for name in names:
        if room < scene.count // 8:
            omitted.append(name)
        elif (values := shared_values(name, sets)) is not None:
            entry, parts = _describe_column(values, f"column{len(about)}_", name)
            size = sum(len(section.text) for section in parts.values())
            size += sum(map(len, entry.get("words", ())))
            if size > room:
                omitted.append(name)
            else:
                about.append({"name": name, **entry, "unit": sets[0].columns.unit(name)})
                sections |= parts
                room -= size
    warn_of_left_out(omitted, "the page would be too large")
    return about, sections


def _describe_column(
    values: list[NDArray[Any] | Texts], key: str, name: str
) -> tuple[dict[str, Any], dict[str, Section]]:
    """Return the description and the sections of a column, whose names begin with `key`."""
    if any(isinstance(each, Texts) for each in values):
        return _describe_words(values, key, name)
    column = np.concatenate([each for each in values if not isinstance(each, Texts)])
    wide = column.reshape(len(column), -1)
    kind = _find_kind(wide)
    with np.errstate(over="ignore", under="ignore"):
        cast = wide.astype(kind)
    about: dict[str, Any] = {"parts": wide.shape[1], "kind": kind}
    if kind[0] == "f":
        about["digits"] = DIGITS
    sections: dict[str, Section] = {}
    for part, numbers in enumerate(cast.T):
        if numbers.itemsize < 8:
            sections[f"{key}{part}"] = make_section(numbers)
            continue
        halves = numbers.astype(f"<{kind}").view("<u4").reshape(-1, 2)
        sections |= {f"{key}{part}_low": make_section(halves[:, 0]),
                     f"{key}{part}_high": make_section(halves[:, 1])}  # fmt: skip
    return about, sections


def _find_kind(values: NDArray[Any]) -> str:
    """Return the narrowest type that keeps all integers, or the range of all other numbers."""
    if values.dtype.kind == "f":
        if values.itemsize <= 4:
            return "f4"
        sizes = np.abs(values[np.isfinite(values) & (values != 0)])
        limits = np.finfo(np.float32)
        fits = not sizes.size or (limits.tiny <= sizes.min() and sizes.max() <= limits.max)
        return "f4" if fits else "f8"
    least, most = (int(values.min()), int(values.max())) if values.size else (0, 0)
    if least >= -(2**31) and most < 2**31:
        return "i4"
    return "i8" if most < 2**63 else "u8"


def _describe_words(
    values: list[NDArray[Any] | Texts], key: str, name: str
) -> tuple[dict[str, Any], dict[str, Section]]:
    places: dict[str, int] = {}
    ids = []
    for each in values:
        texts = each if isinstance(each, Texts) else Texts(*index_labels(each, name))
        table = [places.setdefault(text, len(places)) for text in texts.names]
        ids.append(np.array(table, np.uint32)[texts.ids])
    about = {"parts": 1, "kind": "text", "words": list(places)}
    return about, {f"{key}0": make_section(np.concatenate(ids))}
