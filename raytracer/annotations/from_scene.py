"""Takes from a scene what its annotations need: box, colour scales, labels, background."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.labels import Named
from raytracer.annotations.plan import Plan
from raytracer.annotations.texts import Short
from raytracer.drawing.fonts import typeset
from raytracer.errors import SceneError, naming
from raytracer.scene.annotations import IN_SCENE, Annotations
from raytracer.scene.coloring.expression import Texts
from raytracer.scene.coloring.scale import ColorScale
from raytracer.scene.colors import linear_to_srgb
from raytracer.scene.length_unit import length_unit
from raytracer.scene.particles.labels import element_symbols
from raytracer.scene.scene import Scene
from raytracer.scene.simulation_box import box_of, triple
from raytracer.scene.sphere_set import SphereSet
from raytracer.settings import RenderSettings
from raytracer.warning import warn

MAX_LABELS = 20_000  # maximum number of spheres with labels; more than a few hundred cannot be read


def plan_of(
    scene: Scene,
    settings: RenderSettings,
    annotations: Annotations,
    values: Mapping[str, Any] | None = None,
) -> Plan:
    """Return the plan of what is drawn over the pictures of a scene; values: further ones that
    texts may name in braces. Raises SceneError: the scene lacks something that is to be drawn."""
    bar = annotations.scale_bar
    if bar is not None and bar.unit is None and bar.factor == 1.0:
        annotations = replace(annotations, scale_bar=replace(bar, unit=length_unit(scene)))
    bottom, top = scene.background.edges()
    target = scene.camera.look_at if scene.camera is not None else None
    box = annotations.box
    if bar is not None and (scene.camera is None or scene.camera.type == "perspective"):
        warn(
            "scale_bar: with perspective, the bar is valid only at the distance of the point that "
            'the camera looks at: use --ortho, or type = "orthographic" under [camera]'
        )
    axes, tips = annotations.axes, None
    if axes is not None and axes.place in IN_SCENE:
        from raytracer.scene.glyphs.box import axes_at

        tips = axes_at(scene, axes, box)[0]
    return Plan(
        annotations, settings.dpi, bottom, top, scene.background.transparent,
        None if target is None else triple(target),
        scales_of(scene) if annotations.legend is not None else (),
        box_of(scene, box) if box is not None and box.style == "lines" else None,
        labelled(scene, annotations.labels.by) if annotations.labels is not None else None,
        tips, {**values_of(scene), **(values or {})}, _mesh_numbers(scene),
    )  # fmt: skip


def values_of(scene: Scene) -> dict[str, Any]:
    frames = (spheres.file.frame for spheres in scene.spheres if spheres.file is not None)
    time = next((each.time for each in scene.spheres if each.time is not None), None)
    times = {} if time is None else {"time": Short(time.value), "time_unit": time.unit}
    return {
        "title": scene.title,
        "file": Path(scene.source).name,
        "spheres": scene.count,
        "frame": next((frame for frame in frames if frame is not None), 0),
        **times,
    }


def scales_of(scene: Scene) -> tuple[ColorScale, ...]:
    """Return the colour scales of a scene, or the colours of its elements or types. Raises
    SceneError: it has neither."""
    scales = tuple(scene.color_scales) or tuple(_label_scales(scene.spheres))
    if not scales:
        raise SceneError(
            "legend: no spheres are coloured by a column, element or type: leave the legend "
            "out, or set --color-by"
        )
    return scales


def _label_scales(sets: Sequence[SphereSet]) -> Iterator[ColorScale]:
    """Yield one scale for all sets coloured by label, if there are any."""
    colors: dict[str, tuple[float, ...]] = {}
    are_elements = True
    for each in sets:
        spheres = each.cell or each
        labels = spheres.labels
        if labels is None or spheres.color_id is None or not spheres.count:
            continue
        palette = _palette(spheres)
        symbols = element_symbols(labels)
        for place in np.unique(labels.ids).tolist():
            rows = np.unique(spheres.color_id[labels.ids == place])
            if len(rows) > 1:  # colours that follow something else
                return
            name = symbols[place] or labels.names[place]
            red, green, blue = np.clip(palette[rows[0]][:3], 0.0, 1.0).tolist()
            colors.setdefault(name, (red, green, blue))
            are_elements &= symbols[place] is not None
    if colors:
        label = "element" if are_elements else "type"
        yield ColorScale(list(colors.values()), "categorical", label=label, names=tuple(colors))


def labelled(scene: Scene, by: str) -> Named:
    """Return the spheres of a scene with their labels. Raises SceneError: a file has no such
    column, or there are too many spheres."""
    if scene.count > MAX_LABELS:
        raise SceneError(
            f"labels: the scene has {scene.count:,} spheres, and at most {MAX_LABELS:,} can be "
            "labelled: show fewer spheres, or leave the labels out"
        )
    centers, colors = [np.zeros((0, 3))], [np.zeros((0, 3))]
    texts: list[str] = []
    for spheres in scene.spheres:
        if spheres.count:
            placed = np.asarray(spheres.centers, np.float64) @ spheres.transform.linear().T
            centers.append(placed + spheres.transform.translate)
            palette = _palette(spheres)
            palette = palette if spheres.color_id is None else palette[spheres.color_id]
            colors.append(np.broadcast_to(palette, (spheres.count, 3)))
        texts += _texts(spheres, by, len(texts))
    return Named(np.concatenate(centers), texts, np.concatenate(colors))


def _palette(spheres: SphereSet) -> NDArray[np.float64]:
    """Return the colours in the order of a set, or of its ids, sRGB in 0..1, (K, 3)."""
    colors = np.asarray(spheres.color)
    values = colors / 255.0 if colors.dtype == np.uint8 else colors.astype(np.float64)
    return linear_to_srgb(values) if spheres.color_space == "linear" else values


def _texts(spheres: SphereSet, by: str, first: int) -> list[str]:
    if by == "index" and spheres.file is None:
        return [str(first + row) for row in range(spheres.count)]
    with naming("labels.by"):
        values = spheres.columns.value(by)
    if isinstance(values, Texts):
        return [values.names[index] for index in values.ids.tolist()]
    return [_word(value) for value in values.tolist()]


def _word(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace").strip()
    if isinstance(value, list):
        return ", ".join(map(_word, value))
    return typeset(f"{value:.4g}") if isinstance(value, float) else str(value)


def _mesh_numbers(scene: Scene) -> tuple[int, ...]:
    """Return the number of the first triangle of each mesh, and the one after the last."""
    counts = [mesh.count for mesh in scene.meshes if mesh.count]
    first = scene.count + scene.solid_count - sum(counts)
    return tuple(accumulate(counts, initial=first)) if counts else ()
