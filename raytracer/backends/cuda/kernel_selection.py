"""Which render kernel suits a scene and a view.

All of them give the same film, bit for bit; they differ in how rays find spheres. The limits were
measured on an H200 with random and example scenes (docs/kernels/figures.md, "The render ladder").
"""

from functools import cache
from itertools import product
from math import inf, sqrt
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.packing.buffers import Spheres
from raytracer.packing.view import View

LIST = "render_list"  # every sphere for every ray, out of constant memory
THREADS = "render_thread"  # each camera ray walks the tree alone
PACKETS = "render_packet"  # the camera rays of a tile walk the tree together
PATHS = "render_path"  # camera rays as PACKETS, any material, light and integrator
CAPSULES = "render_capsules"  # as PATHS, of scenes with capsules: one kernel for all their pictures
PRODUCTION = (LIST, THREADS, PACKETS, PATHS, CAPSULES)

IMAGES = {"RT_IMAGES": "1"}
"""Macros of kernels of scenes with periodic images, which are compiled when one is rendered."""

OF_IMAGES = (THREADS, PATHS, "first_hits")  # kernels of such scenes

MAX_LISTED = 20
"""Spheres up to which testing all of them is faster than a tree (crossover at about 24)."""

MIN_PACKET_RADIUS = 0.45
"""Median radius in pixels below which most spheres of a packet are met by none of its rays."""

# What kernels can be compiled without: macros of kernels/integrator/features.h and shade/bsdf.h.
FEATURES = ("RT_LARGE_SPHERES", "RT_MIRRORS", "RT_INTEGRATORS")
LARGE = FEATURES[:1]  # large spheres, of which plain scenes have none
DRAFTS = ("RT_DRAFTS",)  # drafts with ambient occlusion: what they keep of surfaces takes registers
OCCLUSION = (*DRAFTS, *FEATURES[:2])  # for `ao` in scenes without mirrors and large spheres
WITHOUT_PATHS = ("RT_PATH_INTEGRATOR",)  # for `direct` and `ao`
WITHOUT_LOCAL = ("RT_LOCAL_INTEGRATORS",)  # for `path`; a kernel is never without both
RARE = ("RT_NESTED", "RT_SHADOW_CATCHER")  # glass within glass, grounds that catch shadows
FILTERS = ("RT_ALPHA_CLIP",)  # opacity, fading grounds, clipping planes, light straight through
EMITTERS = ("RT_EMITTERS",)  # spheres that send out light, environment maps
MATERIALS_AND_EMITTERS = ("RT_ALL_MATERIALS", *EMITTERS)  # also materials other than Phong's
LIGHTS = ("RT_LIGHTS",)  # lights that a scene lists
# lights and mirrors, for scenes that their sky alone lights: what `path` keeps takes registers
SKY_LIT = (*LIGHTS, "RT_MIRRORS")
COMMON_DRAFTS = (*WITHOUT_PATHS, *RARE, *MATERIALS_AND_EMITTERS)  # for drafts with paths
CAPSULE_FEATURES = ("RT_INTEGRATORS", "RT_FULL_SHADING")  # all but `direct` with Phong's materials
# for atoms, bonds and lines: other forms than spheres and round capsules (kernels/geom/solid.h)
ROUND_FEATURES = (*CAPSULE_FEATURES, "RT_FORMS", "RT_LARGE_SPHERES", "RT_MIRRORS")

UNMADE: dict[tuple[str, tuple[str, ...]], tuple[str, ...]] = {
    (LIST, FEATURES[1:]): FEATURES[2:],
    (LIST, FEATURES[::2]): FEATURES[2:],
    (THREADS, FEATURES[1:]): (),
    (THREADS, FEATURES[::2]): (),
    (THREADS, FEATURES[2:]): (),
    (LIST, OCCLUSION): DRAFTS,
    (LIST, (*OCCLUSION, *LIGHTS)): DRAFTS,
}
"""Variants that are not worth a compilation, and what those are without that render their pictures:
few spheres, or spheres below a pixel, with mirrors or large ones."""

SAMPLED = 512  # spheres of which the median is taken

PERSPECTIVE = 0  # Camera.kind


def sample_spheres(columns: Spheres) -> NDArray[np.float32]:
    """Return some spheres from all parts of the scene, float32 (at most 512, 4)."""
    count = columns.size
    rows = np.arange(0, count, -(-count // SAMPLED) or 1)
    return np.stack(columns.taken(rows), axis=1)


def choose_kernel(
    count: int, nodes: int, some: NDArray[np.float32], camera: NDArray[np.void], height: int
) -> str:
    """The name of the render kernel for a view of so many spheres and nodes; some: spheres, as
    `sample_spheres` gives them. height: of the picture."""
    if count <= MAX_LISTED:
        return LIST
    if nodes <= 1 or measure_median_radius(some, camera, height) < MIN_PACKET_RADIUS:
        return THREADS
    return PACKETS


def find_missing_features(view: View) -> tuple[str, ...]:
    """Which features a picture of spheres does not need."""
    if view.needs_path_tracing:
        return _find_missing_with_paths(view)
    if view.integrator != "direct":
        if view.draft:
            return ()
        if view.large_count > 0 or view.mirrors:
            return DRAFTS
        return OCCLUSION if view.light_count > 0 else (*OCCLUSION, *LIGHTS)
    needed = (view.large_count > 0, view.mirrors, False)
    return tuple(name for name, is_needed in zip(FEATURES, needed, strict=True) if not is_needed)


def _find_missing_with_paths(view: View) -> tuple[str, ...]:
    if view.catches_shadows:
        return ()
    is_path = view.integrator == "path"
    if view.nests:
        return WITHOUT_LOCAL if is_path else ()
    light: tuple[str, ...] = ()
    if not (view.has_principled or view.has_emitters):
        light = MATERIALS_AND_EMITTERS
    elif is_path and not view.has_emitters:
        light = EMITTERS
    if view.draft:
        return COMMON_DRAFTS if light == MATERIALS_AND_EMITTERS else ()
    if view.hides or view.transparent_shadows:
        return (*(WITHOUT_LOCAL if is_path else (*WITHOUT_PATHS, *DRAFTS)), *RARE, *light)
    if is_path:
        large = () if view.large_count > 0 else LARGE
        is_lit = view.light_count > 0 or view.has_mirrors or view.has_emitters
        lights = () if is_lit else SKY_LIT
        return (*WITHOUT_LOCAL, *RARE, *FILTERS, *large, *light, *lights)
    return (*DRAFTS, *RARE, *FILTERS, *light)


def find_missing_with_capsules(view: View, has_forms: bool) -> tuple[str, ...]:
    """Which features a picture of a scene with capsules does not need; has_forms: whether there are
    cones, ellipsoids or flat ends."""
    if view.needs_path_tracing or view.integrator != "direct":
        if view.nests or view.catches_shadows:
            return ()
        if view.integrator == "path":
            return (*WITHOUT_LOCAL, *RARE)
        if view.has_principled or view.has_emitters:
            return ()
        drafts = () if view.draft else DRAFTS
        return (*WITHOUT_PATHS, *drafts, *RARE, *MATERIALS_AND_EMITTERS)
    needs_more = has_forms or view.mirrors or view.large_count > 0
    return CAPSULE_FEATURES if needs_more else ROUND_FEATURES


@cache
def list_variants(kernel: str) -> list[tuple[str, ...]]:
    """The sets of features that a kernel of PRODUCTION is compiled without: those that a picture
    may ask for. The empty one is the first."""
    found: dict[tuple[str, ...], None] = {(): None}
    for integrator, flags in product(("direct", "ao", "path"), product((0, 1), repeat=len(_READ))):
        view: Any = SimpleNamespace(integrator=integrator, **dict(zip(_READ, flags, strict=True)))
        if kernel == CAPSULES:
            found |= {find_missing_with_capsules(view, forms): None for forms in (False, True)}
        elif view.needs_path_tracing == (kernel == PATHS):
            missing = find_missing_features(view)
            found[UNMADE.get((kernel, missing), missing)] = None
    return list(found)


_READ = (
    "needs_path_tracing", "draft", "catches_shadows", "nests", "hides",
    "has_principled", "has_emitters", "transparent_shadows", "light_count", "large_count",
    "mirrors", "has_mirrors",
)  # fmt: skip
"""What of a view these functions read."""


def measure_median_radius(
    spheres: NDArray[np.float32], camera: NDArray[np.void], height: int
) -> float:
    """The median radius of the spheres, (N, 4), in view, in pixels; infinite where none is."""
    view: Any = camera[0]
    axes = np.stack([view["forward"], view["right"], view["up"]])
    half_width, half_height = (sqrt(float(axis @ axis)) for axis in axes[1:])
    depth, across, up = axes @ (spheres[:, :3] - view["origin"]).T
    radius = spheres[:, 3]
    # half the picture's size at the sphere is that many times half_width and half_height
    extent = depth if view["kind"] == PERSPECTIVE else np.ones_like(depth)
    seen = (depth > 0) & (np.abs(across) <= half_width * (half_width * extent + radius))
    seen &= np.abs(up) <= half_height * (half_height * extent + radius)
    shares = radius[seen] / extent[seen]
    if not len(shares):
        return inf
    middle = len(shares) // 2
    return float(np.partition(shares, middle)[middle]) * height / (2 * half_height)
