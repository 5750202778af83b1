"""What is exported of a packed scene: spheres and rods with their colours."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import CONE, ELLIPSOID, EVEN, FLAT, SceneBuffers
from raytracer.pipeline import Job
from raytracer.scene.colors import linear_to_srgb
from raytracer.scene.packing.pack import OPAQUE
from raytracer.warning import warn

Floats = NDArray[np.float32]
Bytes = NDArray[np.uint8]


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
        n, form = buffers.spheres, buffers.form
        solids = len(buffers.axis)
        rods = int((form & ELLIPSOID < CONE).sum()) if len(form) else solids  # they are first
        if others := solids - rods:
            warn(
                f"{others:,} cones, ellipsoids and triangles (arrows, meshes) are left out: "
                "exports contain only spheres and capsules"
            )
        placed = np.stack([buffers.x, buffers.y, buffers.z], axis=1)
        surfaces = n + rods
        colors = np.empty((surfaces, 4), np.uint8)
        colors[:, :3] = _colors(
            buffers, np.arange(surfaces, dtype=np.int32) if rods else None, surfaces
        )
        opacity = buffers.opacity[:surfaces]
        colors[:, 3] = np.rint(opacity * (255.0 / OPAQUE)) if len(opacity) else 255
        material = buffers.material_id[:surfaces]
        materials = (
            np.minimum(material, 255).astype(np.uint8)
            if len(material)
            else np.zeros(surfaces, np.uint8)
        )
        of_rods = slice(n, surfaces)
        both = np.repeat(colors[of_rods, None], 2, axis=1)
        ends = buffers.end_row[:rods]
        own = ends > 0
        both[own, 1, :3] = _colors(buffers, ends[own], int(own.sum()))
        form = form[:rods] if len(form) else np.zeros(rods, np.uint8)
        is_flat = form & (CONE | ELLIPSOID | FLAT) == FLAT
        bits = FLAT_ENDS * is_flat + EVEN_COLORS * (form & EVEN > 0)
        return cls(
            placed[:n], buffers.radius[:n], colors[:n], materials[:n],
            Rods(
                placed[of_rods] - buffers.axis[:rods], placed[of_rods] + buffers.axis[:rods],
                buffers.radius[of_rods], both, bits.astype(np.uint8), materials[of_rods],
            ),
        )  # fmt: skip


def _colors(buffers: SceneBuffers, rows: NDArray[np.int32] | None, count: int) -> Bytes:
    """Return the sRGB codes of rows, (count, 3); None: of the first ones."""
    codes = np.rint(255.0 * linear_to_srgb(np.clip(buffers.color, 0.0, 1.0))).astype(np.uint8)
    if len(codes) == 1:
        return np.broadcast_to(codes, (count, 3))
    ids = buffers.color_id
    picked = slice(count) if rows is None else rows
    return codes[ids[picked]] if len(ids) else codes[picked]


def warn_of_what_is_left_out(job: Job, export: str, more: Mapping[str, bool]) -> None:
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
