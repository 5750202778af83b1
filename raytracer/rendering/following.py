"""Following: the spheres of a scene on a device take the places of those of another state of it.

Render space and all else stay, as in a `LiveScene`: a picture has the bytes of one of the other
state that is packed anew in this space. No array of the other state is packed on the host.
"""

from collections.abc import Mapping, Sequence
from copy import copy
from itertools import accumulate
from typing import Any

import numpy as np

from raytracer.backends.base import DeviceScene
from raytracer.model.arrays import align
from raytracer.model.colors import linear_rgb
from raytracer.model.render_space import REACH
from raytracer.model.scene import Scene
from raytracer.model.solids import SolidSet
from raytracer.model.sphere_set import SphereSet, raw_attribute
from raytracer.packing import pack
from raytracer.packing.buffers import SceneBuffers
from raytracer.packing.large_spheres import RATIO
from raytracer.rendering.motion_blur import has_table_entry
from raytracer.rendering.overrides import SceneOverrides
from raytracer.rendering.pipeline import PreparedScene, load_with_overrides
from raytracer.scene_files.source import InputSource
from raytracer.system.device_array import DeviceArray
from raytracer.system.layout import enum_value

FIXED = (
    "camera", "lights", "ambient", "background", "materials", "render", "ground", "clip",
    "environment", "capsules", "cones", "ellipsoids", "meshes",
)  # fmt: skip
"""Parts of a scene that stay as they are packed."""

NOT_PACKED = (
    "data", "file", "labels", "rows", "source", "where", "scales", "made_for", "particles",
    "of_set", "velocity", "keys",
)  # fmt: skip
"""Attributes of sets that are no part of a picture."""

MAX_DRIFT = 16.0
"""Units of render space up to which most spheres lie, and its inverse: beyond, float32 coordinates
would be less precise than in a space of their own."""

SAMPLE = 1 << 10
"""Spheres that are sampled for this."""


def _can_follow(buffers: SceneBuffers, old: Scene, new: Scene) -> bool:
    """Return whether a state differs in its spheres alone, and these can be moved in place."""
    pairs = list(zip(_fill_colors(old), _fill_colors(new), strict=False))
    return (
        old.count == new.count > 0
        and len(pairs) == len(_fill_colors(old)) == len(_fill_colors(new))
        and all(_is_alike(old, one, new, other) for one, other in pairs)
        and (len(pairs) == 1 or all(one.transform == pairs[0][0].transform for one, _ in pairs))
        and all(_is_same(getattr(old, name), getattr(new, name)) for name in FIXED)
        and not _has_table_entry(new, buffers)
        and _is_near([other for _, other in pairs], buffers)
    )


def follow(device_scene: DeviceScene, buffers: SceneBuffers, old: Scene, new: Scene) -> None:
    """Move and recolour the spheres of a scene, which `prepare_in_place` allows. Raises
    SceneError for a sphere that cannot be shown; what it shows stays as it was."""
    pairs = list(zip(_fill_colors(old), _fill_colors(new), strict=True))
    ends = _ends([each.count for _, each in pairs])
    sets = [each for _, each in pairs]
    moved = [
        k
        for k, (one, other) in enumerate(pairs)
        if any(
            not _is_same(raw_attribute(one, n), raw_attribute(other, n))
            for n in ("centers", "radius")
        )
    ]
    if len(moved) > 1 and not any(map(_is_there, sets)):
        groups = [sets]  # the tree is refitted once
    else:
        groups = [[sets[k]] for k in moved]
    first_color, space = first_color_rows(buffers, sets), buffers.space
    for group in groups:
        first = ends[sets.index(group[0])]
        arrays = {"positions": _centers(group), "radii": _radii(group)}
        device_scene.update(space.update(group, first, **arrays))
    for (one, other), first, row in zip(pairs, ends, first_color, strict=False):
        if not _is_same(_colors(one), _colors(other)):
            change = space.update([other], first, first_color=row, **pack.color_arguments(other))
            device_scene.update(change)


def first_color_rows(buffers: SceneBuffers, sets: Sequence[SphereSet]) -> list[int]:
    """Return the first row of the colours of each set, and the row after the last."""
    if buffers.view.frame["scene"]["color_mode"][0] == enum_value("ColorMode", pack.PER_SPHERE):
        return _ends([each.count for each in sets])
    return _ends([len(raw_attribute(each, "color")) if each.count else 0 for each in sets])


def prepare_in_place(
    job: PreparedScene,
    scene: Scene,
    overrides: SceneOverrides,
    values: Mapping[str, Any] | None = None,
) -> PreparedScene | None:
    """Return a job of another state in the memory of a job, to `follow`; None: it cannot be there.
    overrides, values: as `prepare` was given for the state before."""
    assert job.kept is not None
    old, buffers = job.kept
    is_blurred = job.blur is not None or any(each.keys for each in scene.spheres)
    if not job.scene.can_update or scene.count != old.count or is_blurred:
        return None
    new, plan = load_with_overrides(InputSource.of(scene), overrides, values)
    if not _can_follow(buffers, old, new):
        return None
    about = job.about | {"scene": job.about["scene"] | {"digest": ""}}
    return job.fresh_copy(kept=(new, buffers), plan=plan, about=about)


def with_color_rows(scene: Scene) -> Scene:
    """Return a scene whose spheres have a colour each in place of one of a palette, whose indices
    do not change in place."""
    changed = copy(scene)
    changed.spheres = list(scene.spheres)
    for place, each in enumerate(scene.spheres):
        if (ids := each.color_id) is not None:
            rows = linear_rgb(each.color, each.color_space)[ids]
            changed.spheres[place] = each.changed(color=rows, color_id=None, color_space="linear")
    return changed


def _fill_colors(scene: Scene) -> list[SphereSet]:
    return [each for each in scene.spheres if each.count]


def _is_there(spheres: SphereSet, *names: str) -> bool:
    """Return whether centres or radii, or one of them, are on a GPU alone."""
    arrays = (raw_attribute(spheres, name) for name in names or ("centers", "radius"))
    return any(isinstance(array, DeviceArray) for array in arrays)


def _centers(sets: Sequence[SphereSet]) -> Any:
    if len(sets) == 1 and _is_there(sets[0], "centers"):
        return raw_attribute(sets[0], "centers")
    return _concatenate([each.centers for each in sets])


def _concatenate(arrays: Sequence[Any]) -> Any:
    return align(arrays[0] if len(arrays) == 1 else np.concatenate(arrays))


def _radii(sets: Sequence[SphereSet]) -> Any:
    """Return the radii of sets, (N,), or (1,) if all spheres have the same."""
    if len(sets) == 1 and _is_there(sets[0], "radius"):
        return raw_attribute(sets[0], "radius")
    first = sets[0].radius
    if all(isinstance(each.radius, float) and each.radius == first for each in sets):
        return np.atleast_1d(first)
    return _concatenate([np.broadcast_to(each.radius, each.count) for each in sets])


def _ends(counts: Sequence[int]) -> list[int]:
    return [0, *accumulate(counts)]


def _is_alike(old: Scene, one: SphereSet, new: Scene, other: SphereSet) -> bool:
    """Return whether sets of two states are packed alike, in other places, sizes and colours."""
    has_rows = one.color_id is None is other.color_id and (
        1 < len(raw_attribute(one, "color")) == len(raw_attribute(other, "color"))
    )
    return (
        one.count == other.count
        and one.transform == other.transform
        and old.material_of(one) == new.material_of(other)
        and one.has_color == other.has_color
        and _is_same(one.opacity, other.opacity)
        and (has_rows or _is_same(_colors(one), _colors(other)))
    )


def _colors(spheres: SphereSet) -> tuple[Any, ...]:
    color = raw_attribute(spheres, "color")
    return color, spheres.color_scale, spheres.color_id, spheres.color_space


def _is_same(one: Any, other: Any) -> bool:
    """Return whether parts of two scenes are packed to the same bytes."""
    if one is other:
        return True
    if isinstance(one, (tuple, list)) and isinstance(other, (tuple, list)):
        return len(one) == len(other) and all(map(_is_same, one, other))
    if type(one) is not type(other):
        return False
    if isinstance(one, np.ndarray):
        return one.shape == other.shape and one.dtype == other.dtype and bool((one == other).all())
    if isinstance(one, (SphereSet, SolidSet)):
        names = [n for n in vars(one) if n not in NOT_PACKED and n.isidentifier()]  # no copies
        return all(_is_same(getattr(one, name), getattr(other, name)) for name in names)
    return bool(one == other)


def _has_table_entry(scene: Scene, buffers: SceneBuffers) -> bool:
    """Return whether something is packed in tables that are made of the spheres, which may have a
    ground below the lowest of them."""
    ground, sets = scene.ground, _fill_colors(scene)
    solids = buffers.radius[buffers.spheres :] if len(buffers.axis) else np.empty(0)
    radii = [each.radius for each in sets if not _is_there(each, "radius")]
    radii += [solids * buffers.space.scale] if len(solids) else []
    low, high = min(map(np.min, radii), default=1.0), max(map(np.max, radii), default=1.0)
    return (
        any(
            has_table_entry(scene, each, first, buffers)
            for each, first in zip(sets, _ends([each.count for each in sets]), strict=False)
        )
        or (ground is not None and (isinstance(ground.height, str) or ground.fade > 0.0))
        or bool(high >= RATIO * low)
    )


def _is_near(sets: Sequence[SphereSet], buffers: SceneBuffers) -> bool:
    """Return whether render space still suits most spheres; those on a GPU are not checked."""
    if any(map(_is_there, sets)):
        return True
    stride = -(-sum(each.count for each in sets) // SAMPLE)
    places, radii = map(
        np.concatenate, zip(*(pack.sample_spheres(e, stride) for e in sets), strict=True)
    )
    reach = (np.abs(places - buffers.space.center).max(axis=1) + radii) / buffers.space.scale
    typical = float(np.quantile(reach, REACH))
    return 1.0 / MAX_DRIFT < typical < MAX_DRIFT
