"""Geometry of meshes: normals for smooth shading with sharp edges, and bodies, on which side of
their triangles these are."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Doubles = NDArray[np.float64]
Numbers = NDArray[np.int64]


def corner_normals(vertices: Doubles, triangles: NDArray[np.int32], crease: float) -> Doubles:
    """Return unit normals at the corners of triangles of vertices (V, 3), (T, 3, 3): means of the
    triangles around that are connected across smooth edges, of less than `crease` degrees, weighted
    by their angles (Thürmer, Wüthrich, J. Graphics Tools 3(1), 1998)."""
    corners = vertices[triangles]
    edges = np.roll(corners, -1, axis=1) - corners
    across = np.cross(edges[:, 0], edges[:, 1])
    flat = unit_vectors(across)
    along = unit_vectors(edges)
    cosine = -(along * np.roll(along, 1, axis=1)).sum(axis=2)
    weight = np.arccos(np.clip(cosine, -1.0, 1.0))
    group = _group_corners(triangles, flat, np.cos(np.radians(crease)))
    weighted = (weight[..., None] * flat[:, None]).reshape(-1, 3).T
    sums = np.stack([np.bincount(group, each, minlength=1) for each in weighted], axis=1)
    normals = unit_vectors(sums)[group].reshape(-1, 3, 3)
    lost = ~normals.any(axis=2)  # opposite triangles
    normals[lost] = np.broadcast_to(flat[:, None], normals.shape)[lost]
    return normals


def unit_vectors(vectors: NDArray[Any]) -> Doubles:
    """Return unit vectors, float64; zeros remain."""
    largest = np.abs(vectors).max(axis=-1, keepdims=True)
    scaled = np.divide(vectors, largest, out=np.zeros(vectors.shape), where=largest > 0.0)
    length = np.sqrt(np.square(scaled).sum(axis=-1, keepdims=True))
    return np.asarray(np.divide(scaled, length, out=scaled, where=length > 0.0))


def _group_corners(triangles: NDArray[np.int32], flat: Doubles, least_cosine: float) -> Numbers:
    """Return for each corner the number of a group with the same normal, int64 (3 T,)."""
    ends = triangles.astype(np.int64)
    begins, ends = ends.ravel(), np.roll(ends, -1, axis=1).ravel()
    key = np.minimum(begins, ends) * (int(ends.max(initial=0)) + 1) + np.maximum(begins, ends)
    order = np.argsort(key, kind="stable")
    twins = np.flatnonzero(key[order[1:]] == key[order[:-1]])
    first, second = order[twins], order[twins + 1]
    cosine = (flat[first // 3] * flat[second // 3]).sum(axis=1)
    smooth = (cosine > least_cosine) & (begins[first] == ends[second])
    by_vertex = triangles.ravel().astype(np.int64)
    if smooth.all():
        return by_vertex
    is_sharp = np.zeros(int(by_vertex.max()) + 1, bool)
    sharp = first[~smooth]
    is_sharp[begins[sharp]] = is_sharp[ends[sharp]] = True
    # the corners of both triangles at both ends of a smooth edge
    one, other = first[smooth], second[smooth]
    after = [corner - corner % 3 + (corner + 1) % 3 for corner in (one, other)]  # in the triangle
    links = np.concatenate([np.c_[one, after[1]], np.c_[after[0], other]])
    links = links[is_sharp[by_vertex[links[:, 0]]]]
    apart = is_sharp[by_vertex]
    group = np.where(apart, len(is_sharp) + np.arange(len(by_vertex)), by_vertex)
    group[apart] = len(is_sharp) + find_components(len(by_vertex), links)[apart]
    return group


def find_components(count: int, links: Numbers) -> Numbers:
    """Return the least number that each of `count` numbers is connected with by links, (L, 2)."""
    label = np.arange(count)
    while len(links):
        least = label[links].min(axis=1)
        np.minimum.at(label, links[:, 0], least)
        np.minimum.at(label, links[:, 1], least)
        while (label[label] != label).any():
            label = label[label]
        ends = label[links]
        links = ends[ends[:, 0] != ends[:, 1]]
    return label


def find_inward_triangles(
    corners: NDArray[np.float64], places: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which triangles of a closed mesh, (T, 3, 3), are clockwise from outside of the
    material, (T,). places: numbers of the corners, equal where they meet, (T, 3). Once the volume
    of all is positive, a body of negative volume is a cavity inside of another, and is to be turned
    elsewhere."""
    links = places[:, [0, 1, 1, 2]].reshape(-1, 2)
    label = find_components(int(places.max(initial=-1)) + 1, links)[places[:, 0]]
    _, body = np.unique(label, return_inverse=True)
    count = int(body.max(initial=-1)) + 1
    low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
    np.minimum.at(low, body, corners.min(axis=1))
    np.maximum.at(high, body, corners.max(axis=1))
    a, b, c = np.moveaxis(corners - (0.5 * (low + high))[body][:, None], 1, 0)
    volume = np.bincount(body, (a * np.cross(b, c)).sum(axis=1), count)
    sign = -1.0 if volume.sum() < 0.0 else 1.0
    inward = sign * volume < 0.0
    is_solid = ~inward
    for each in np.flatnonzero(inward):
        around = is_solid & (low < low[each]).all(axis=1) & (high > high[each]).all(axis=1)
        point = corners[np.argmax(body == each), 0]
        inward[each] = not any(
            abs(solid_angles(corners[body == other] - point).sum()) > 2.0 * np.pi
            for other in np.flatnonzero(around)
        )
    return (inward if sign > 0.0 else ~inward)[body]


def solid_angles(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the signed solid angles of triangles (T, 3, 3) from the origin, (T,): of a closed mesh
    around it, a full turn (van Oosterom, Strackee, IEEE Trans. Biomed. Eng. 30(2), 1983)."""
    a, b, c = np.moveaxis(corners, 1, 0)
    x, y, z = np.linalg.norm(corners, axis=2).T
    volume = (a * np.cross(b, c)).sum(axis=1)
    weight = x * y * z + (a * b).sum(axis=1) * z + (b * c).sum(axis=1) * x + (a * c).sum(axis=1) * y
    return np.asarray(2.0 * np.arctan2(volume, weight))
