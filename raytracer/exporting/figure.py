"""What is exported of a packed scene: spheres and rods with their colours, and the grid that
positions in a page are rounded to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.config.warning import warn
from raytracer.model.colors import linear_to_srgb
from raytracer.packing.buffers import CONE, ELLIPSOID, EVEN, FLAT, SceneBuffers
from raytracer.packing.pack import OPAQUE
from raytracer.rendering.pipeline import PreparedScene

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


PART_OF_RADIUS = 64  # an error of positions is at most this part of the smallest radius
MIN_BITS, MAX_BITS = 10, 24  # of a coordinate: 2^24 are the integers of a float32
RADIUS_CODES = 65535

FLAT_ENDS, EVEN_COLORS, UNLIT = 1, 2, 4  # bits of the form of a rod


class Rods(NamedTuple):
    """Capsules, (C, 3) in render space; `colors` are sRGB and opacity of both ends, (C, 2, 4);
    `form` has bits, see `UNLIT`."""

    start: Floats
    end: Floats
    radius: Floats
    colors: Bytes
    form: Bytes
    material: Bytes


@dataclass(frozen=True, eq=False)
class Figure:
    """Spheres, (N, 3) in render space, and the rods between them. Colours are sRGB and opacity, (N,
    4)."""

    positions: Floats
    radius: Floats
    colors: Bytes
    material: Bytes
    rods: Rods

    @classmethod
    def of(cls, buffers: SceneBuffers) -> Figure:
        """Return the spheres and capsules of packed buffers; what else there is, is warned of."""
        n, solids = buffers.spheres, len(buffers.axis)
        form = buffers.form if len(buffers.form) else np.zeros(solids, np.uint8)
        rods = int((form & ELLIPSOID < CONE).sum())  # they are first
        if others := solids - rods:
            warn(
                f"{others:,} cones, ellipsoids and triangles (arrows, meshes) are left out: "
                "exports contain only spheres and capsules"
            )
        placed = buffers.centers
        surfaces = n + rods
        colors = np.empty((surfaces, 4), np.uint8)
        colors[:, :3] = _encode_colors(
            buffers, np.arange(surfaces, dtype=np.int32) if rods else None, surfaces
        )
        opacity = buffers.opacity[:surfaces]
        colors[:, 3] = np.rint(opacity * (255.0 / OPAQUE)) if len(opacity) else 255
        materials = np.zeros(surfaces, np.uint8)
        if len(buffers.material_id):
            materials[:] = np.minimum(buffers.material_id[:surfaces], 255)
        of_rods = slice(n, surfaces)
        both = np.repeat(colors[of_rods, None], 2, axis=1)
        ends = buffers.end_row[:rods]
        own = ends > 0
        both[own, 1, :3] = _encode_colors(buffers, ends[own], int(own.sum()))
        form = form[:rods]
        is_flat = form & (CONE | ELLIPSOID | FLAT) == FLAT
        bits = FLAT_ENDS * is_flat + EVEN_COLORS * (form & EVEN > 0)
        return cls(
            placed[:n], buffers.radius[:n], colors[:n], materials[:n],
            Rods(
                placed[of_rods] - buffers.axis[:rods], placed[of_rods] + buffers.axis[:rods],
                buffers.radius[of_rods], both, bits.astype(np.uint8), materials[of_rods],
            ),
        )  # fmt: skip


class Grid(NamedTuple):
    """Where positions are rounded to: low + step * code, render space; of radii their logarithm."""

    low: NDArray[np.float64]  # (3,)
    step: float
    bits: int
    least: float  # the smallest radius
    octave: float  # of the radii, for each step of its code

    @classmethod
    def of(cls, figure: Figure) -> Grid:
        """Return the coarsest grid that is fine enough for all radii."""
        points = [figure.positions, figure.rods.start, figure.rods.end]
        radii = np.concatenate([figure.radius, figure.rods.radius])
        filled = [part for part in points if len(part)]
        low = np.min([part.min(axis=0) for part in filled], axis=0).astype(np.float64)
        high = np.max([part.max(axis=0) for part in filled], axis=0).astype(np.float64)
        extent = float(max((high - low).max(), 1e-30))
        least, most = float(radii.min()), float(radii.max())
        least = max(least, most * 2.0**-40)
        # the error is half of the diagonal of a cell
        cell = 2.0 * least / PART_OF_RADIUS / 3.0**0.5
        bits = int(np.clip(ceil(log2(extent / cell + 1.0)), MIN_BITS, MAX_BITS))
        octave = log2(most / least) / RADIUS_CODES if most > least else 0.0
        return cls(low, extent / (2**bits - 1), bits, least, octave)

    def encode_positions(self, positions: NDArray[np.float32]) -> NDArray[np.uint32]:
        """Return positions as numbers of cells, (N, 3)."""
        return np.rint((positions - self.low) / self.step).astype(np.uint32)

    def encode_radii(self, radius: NDArray[np.float32]) -> NDArray[np.uint16]:
        """Return the logarithms of radii in steps of `octave`, (N,)."""
        if self.octave == 0.0:
            return np.zeros(len(radius), np.uint16)
        ratio = np.maximum(radius.astype(np.float64) / self.least, 1.0)
        return np.rint(np.log2(ratio) / self.octave).astype(np.uint16)


def _encode_colors(buffers: SceneBuffers, rows: NDArray[np.int32] | None, count: int) -> Bytes:
    """Return the sRGB codes of rows, (count, 3); None: of the first ones."""
    codes = np.rint(255.0 * linear_to_srgb(np.clip(buffers.color, 0.0, 1.0))).astype(np.uint8)
    if len(codes) == 1:
        return np.broadcast_to(codes, (count, 3))
    ids = buffers.color_id
    picked = slice(count) if rows is None else rows
    return codes[ids[picked]] if len(ids) else codes[picked]


def warn_of_omissions(job: PreparedScene, export: str, more: Mapping[str, bool]) -> None:
    """Warn of everything in the picture, and of `more`, that an export does not show."""
    assert job.kept is not None
    scene, wanted = job.kept[0], None if job.plan is None else job.plan.annotations
    left_out = {
        "the ground": scene.ground is not None,
        "clipping planes": scene.clip is not None,
        "the environment map": scene.environment is not None,
        **more,
        "labels": wanted is not None and wanted.labels is not None,
        "outlines": wanted is not None and wanted.outline is not None,
        "the depth cue": wanted is not None and wanted.depth_cue is not None,
    }
    if names := [name for name, is_there in left_out.items() if is_there]:
        warn(f"{export} does not show {', '.join(names)}: the picture of `raytracer render` does")
