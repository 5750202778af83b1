"""What annotations need of a scene: its box, colour scales, labels, the colour of its background."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.annotations.labels import Named
from raytracer.annotations.plan import Plan
from raytracer.errors import SceneError, shown_value
from raytracer.scene.colors import linear_to_srgb
from raytracer.scene.particles.source import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.annotations.settings import Annotations, SimulationBox
    from raytracer.scene.coloring.scale import ColorScale
    from raytracer.scene.scene import Scene
    from raytracer.scene.spheres import SphereSet
    from raytracer.settings import RenderSettings

MOST_LABELS = 20_000
"""Most spheres that can have labels; more than a few hundred cannot be read."""


def plan_of(
    scene: Scene, settings: RenderSettings, annotations: Annotations, transparent: bool
) -> Plan:
    """Return what is drawn over the pictures of a scene.

    Args:
        scene: with the arrays of its spheres.
        settings: of the render.
        annotations: what to draw.
        transparent: whether the background is left out, also where the scene has one.

    Raises:
        SceneError: the scene does not have what is to be drawn.
    """
    bottom, top = scene.background.edges()
    target = scene.camera and scene.camera.look_at
    return Plan(
        annotations,
        settings.dpi,
        bottom,
        top,
        transparent or scene.background.transparent,
        (float(target[0]), float(target[1]), float(target[2])) if target is not None else None,
        scales_of(scene) if annotations.legend is not None else (),
        "",
        box_of(scene, annotations.box) if annotations.box is not None else None,
        labelled(scene, annotations.labels.by) if annotations.labels is not None else None,
        values_of(scene),
    )


def values_of(scene: Scene) -> dict[str, Any]:
    """Return what texts may name in braces."""
    from pathlib import Path

    return {
        "title": scene.title,
        "file": Path(scene.source).name,
        "spheres": scene.count,
    }


def scales_of(scene: Scene) -> tuple[ColorScale, ...]:
    """Return the colour scales of a scene. Raises SceneError if it has none."""
    found = tuple(scene.color_scales)
    if not found:
        raise SceneError(
            "legend: no spheres are coloured by a column, so there is no scale to show: "
            "leave the legend out"
        )
    return found


def box_of(scene: Scene, wanted: SimulationBox) -> Box:
    """Return the simulation box: as given, or that of the first file that has one.

    Raises:
        SceneError: there is none, or it has no volume.
    """
    if wanted.edges is not None:
        box = Box(wanted.origin or (0.0, 0.0, 0.0), wanted.edges)
    else:
        boxes = [box for spheres in scene.spheres if (box := getattr(spheres, "box", None))]
        if not boxes:
            raise SceneError(
                "box: the files of the scene state no simulation box: give its edges, "
                "edges = [[x, y, z], [x, y, z], [x, y, z]], or leave the box out"
            )
        box = boxes[0] if wanted.origin is None else Box(wanted.origin, boxes[0].edges)
    edges = np.array(box.edges, np.float64)
    lengths = np.linalg.norm(edges, axis=1)
    if not lengths.all() or abs(np.linalg.det(edges / lengths[:, None])) < 1e-9:
        raise SceneError("box.edges: the three edges lie in a plane; give those of a cell")
    return box


def labelled(scene: Scene, by: str) -> Named:
    """Return the spheres of a scene with their labels.

    Raises:
        SceneError: a file has no such column, or there are too many spheres.
    """
    if scene.count > MOST_LABELS:
        raise SceneError(
            f"labels: {scene.count:,} spheres are more than can have labels, {MOST_LABELS:,}: "
            "show fewer spheres, or leave the labels out"
        )
    centers, texts, colors = [], [], []
    for spheres in scene.spheres:
        if spheres.count:
            placed = np.asarray(spheres.centers, np.float64) @ spheres.transform.linear().T
            centers.append(placed + spheres.transform.translate)
            colors.append(_colors(spheres))
        texts += _texts(spheres, by, len(texts))
    if not centers:
        return Named(np.zeros(0, np.int64), np.zeros((0, 3)), [], np.zeros((0, 3)))
    return Named(np.arange(len(texts)), np.concatenate(centers), texts, np.concatenate(colors))


def _colors(spheres: SphereSet) -> NDArray[np.float64]:
    """Return the colours of a set, sRGB in 0..1, (N, 3)."""
    colors = np.asarray(spheres.color)
    values = colors / 255.0 if colors.dtype == np.uint8 else colors.astype(np.float64)
    if spheres.color_space == "linear":
        values = linear_to_srgb(np.clip(values, 0.0, 1.0))
    if spheres.color_id is not None:
        values = values[spheres.color_id]
    return np.broadcast_to(values, (spheres.count, 3))


def _texts(spheres: SphereSet, by: str, first: int) -> list[str]:
    """Return the labels of a set; first: number of its first sphere in the scene."""
    if by == "index":
        return [str(first + row) for row in range(spheres.count)]
    raise SceneError(f"labels.by: {shown_value(by)} is not known")
