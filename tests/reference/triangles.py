"""Where rays meet triangles, float64: every ray against every triangle."""

import numpy as np

from reference.scene import Array


def weights(a: Array, b: Array, c: Array, origin: Array, direction: Array) -> tuple[Array, Array]:
    """Return t and the weights of the corners where lines meet the planes of triangles.

    By the volumes of the tetrahedra between a ray and the edges. NaN or infinite where a line is
    parallel to a plane.

    Args:
        a, b, c, origin, direction: (..., 3).

    Returns:
        t (...) and weights (..., 3), which are not negative in a triangle.
    """
    u, v, w = a - origin, b - origin, c - origin
    volumes = np.stack(
        [
            (np.cross(w, v) * direction).sum(axis=-1),
            (np.cross(u, w) * direction).sum(axis=-1),
            (np.cross(v, u) * direction).sum(axis=-1),
        ],
        axis=-1,
    )
    with np.errstate(all="ignore"):
        share = volumes / volumes.sum(axis=-1, keepdims=True)
        point = share[..., :1] * u + share[..., 1:2] * v + share[..., 2:] * w
        return (point * direction).sum(axis=-1), share


def nearest(corners: Array, origin: Array, direction: Array) -> tuple[Array, Array]:
    """Return t of the nearest hit in front of each ray and the number of its triangle.

    Args:
        corners: (T, 3, 3).
        origin, direction: (N, 3), unit vectors.

    Returns:
        t (N,), infinite without a hit, and numbers (N,).
    """
    a, b, c = (corners[None, :, k] for k in range(3))
    t, share = weights(a, b, c, origin[:, None], direction[:, None])
    inside = (share >= 0).all(axis=-1) & (t > 0)
    t = np.where(inside, t, np.inf)
    return t.min(axis=1), t.argmin(axis=1)


def normal(corners: Array) -> Array:
    """Return unit normals of triangles (..., 3, 3), by their winding, (..., 3)."""
    across = np.cross(
        corners[..., 1, :] - corners[..., 0, :], corners[..., 2, :] - corners[..., 0, :]
    )
    return np.asarray(across / np.linalg.norm(across, axis=-1, keepdims=True))


def sphere(levels: int) -> tuple[Array, Array]:
    """Return vertices (V, 3) on the unit sphere and triangles (T, 3), seen counterclockwise from
    outside: an icosahedron of which every triangle was divided into four, `levels` times."""
    golden = (1 + 5**0.5) / 2
    around = [(-1, golden), (1, golden), (-1, -golden), (1, -golden)]
    vertices = np.array(
        [(x, y, 0) for x, y in around] + [(0, x, y) for x, y in around]
        + [(y, 0, x) for x, y in around]
    )  # fmt: skip
    vertices /= np.linalg.norm(vertices, axis=1, keepdims=True)
    away = np.linalg.norm(vertices[:, None] - vertices[None], axis=-1)
    edge = away[away > 0].min() * 1.01
    faces = [
        (i, j, k)
        for i in range(12)
        for j in range(i)
        for k in range(j)
        if max(away[i, j], away[j, k], away[k, i]) < edge
    ]
    triangles = np.array(faces)
    corners = vertices[triangles]
    inward = (normal(corners) * corners[:, 0]).sum(axis=-1) < 0
    triangles[inward] = triangles[inward][:, ::-1]
    for _ in range(levels):
        edges = np.sort(
            np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        )
        pairs, number = np.unique(edges, axis=0, return_inverse=True)
        ab, bc, ca = number.reshape(3, -1) + len(vertices)
        middles = vertices[pairs].sum(axis=1)
        middles /= np.linalg.norm(middles, axis=1, keepdims=True)
        vertices = np.concatenate([vertices, middles])
        a, b, c = triangles.T
        parts = (a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)
        triangles = np.concatenate([np.stack(part, axis=1) for part in parts])
    return vertices, triangles
