"""Bounding volume hierarchies as NumPy arrays; the extension builds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from raytracer._native import core
from raytracer.resources import thread_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.buffers import SceneBuffers


@dataclass(frozen=True)
class Bvh:
    """Wide nodes, and the spheres in the order of the leaves.

    Args:
        nodes: uint8 (M, 80), one node a row, in the layout of the kernels.
        order: int32 (N,), primitive index of each sphere in leaf order.
        spheres: float32 (N, 4), centre and radius in leaf order, render space.
    """

    nodes: NDArray[np.uint8]
    order: NDArray[np.int32]
    spheres: NDArray[np.float32]

    @property
    def nbytes(self) -> int:
        """Bytes of the three arrays together."""
        return int(self.nodes.nbytes + self.order.nbytes + self.spheres.nbytes)


def build(buffers: SceneBuffers, threads: int = 0) -> Bvh:
    """Build the hierarchy over all spheres of a scene.

    Args:
        buffers: the packed scene; zero spheres are allowed.
        threads: 0 takes every core that the process may use.
    """
    nodes, order, spheres = core().build_bvh(
        buffers.x,
        buffers.y,
        buffers.z,
        buffers.radius,
        thread_count(threads),
        buffers.large_id.tolist(),
    )
    return Bvh(nodes, order, spheres)
