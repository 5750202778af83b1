"""Memory layouts of a scene for the variants of the render ladder (`layout:` of the header)."""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raytracer.arguments import one_of
from raytracer.buffers import Bvh, SceneBuffers
from raytracer.layout import code

LAYOUTS = {
    "": "wide compressed nodes; spheres float32 (N, 4) in leaf order",
    "list": "the same spheres without nodes",
    "soa": "struct of arrays x, y, z, radius: float32 (4, N)",
    "aos": "array of structs centre, radius, colour: float32 (N, 7)",
}


def arrange(layout: str, buffers: SceneBuffers, tree: Bvh) -> Bvh:
    """Return the arrays of a layout of the wide tree; raise UserError for an unknown layout."""
    if not one_of(layout, "a render kernel", LAYOUTS, "layout"):
        return tree
    spheres = tree.spheres
    if layout == "soa":
        spheres = np.ascontiguousarray(spheres.T)
    elif layout == "aos":
        spheres = np.concatenate([spheres, _colors(buffers)[tree.order]], axis=1, dtype=np.float32)
    return replace(tree, nodes=tree.nodes[:0], spheres=spheres)


def _colors(buffers: SceneBuffers) -> NDArray[np.float32]:
    """Return the colour of each sphere, float32 (N, 3)."""
    mode = int(buffers.frame["scene"]["color_mode"][0])
    if mode == code("ColorMode", "uniform"):
        return np.broadcast_to(buffers.color[0], (buffers.count, 3))
    return (
        buffers.color
        if mode == code("ColorMode", "per-sphere")
        else buffers.color[buffers.color_id]
    )
