"""Memory layouts of a scene for the variants of the render ladder (`layout:` of the header)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from raytracer.arguments import one_of
from raytracer.buffers import Bvh, SceneBuffers
from raytracer.errors import UserError
from raytracer.layout import code


def arrange(layout: str, buffers: SceneBuffers, tree: Bvh) -> Bvh:
    """Return the arrays of a layout of the wide tree; raise UserError for an unknown layout."""
    one_of(layout, "a render kernel", LAYOUTS, "layout", UserError)
    return LAYOUTS[layout](buffers, tree)


def _list(_: SceneBuffers, tree: Bvh) -> Bvh:
    """The same spheres without nodes."""
    return replace(tree, nodes=tree.nodes[:0])


def _soa(buffers: SceneBuffers, tree: Bvh) -> Bvh:
    """Struct of arrays x, y, z, radius: float32 (4, N)."""
    return replace(_list(buffers, tree), spheres=np.ascontiguousarray(tree.spheres.T))


def _aos(buffers: SceneBuffers, tree: Bvh) -> Bvh:
    """Array of structs centre, radius, colour: float32 (N, 7)."""
    mode = int(buffers.frame["scene"]["color_mode"][0])
    if mode == code("ColorMode", "uniform"):
        colors = np.broadcast_to(buffers.color[0], (len(tree.order), 3))
    else:
        per_sphere = mode == code("ColorMode", "per-sphere")
        colors = (buffers.color if per_sphere else buffers.color[buffers.color_id])[tree.order]
    records = np.concatenate([tree.spheres, colors], axis=1, dtype=np.float32)
    return replace(_list(buffers, tree), spheres=records)


LAYOUTS: dict[str, Callable[[SceneBuffers, Bvh], Bvh]] = {
    "": lambda _, tree: tree,  # wide compressed nodes; spheres float32 (N, 4) in leaf order
    "list": _list,
    "soa": _soa,
    "aos": _aos,
}
