"""Which render kernel suits a scene and a view.

All of them give the same film, bit for bit; they differ in how rays find spheres. The limits were
measured on an H200 with random and example scenes (docs/kernels/figures.md, "The render ladder").
"""

from itertools import combinations
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import Spheres, count_of, taken
from raytracer.view import View

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

FEATURES = ("RT_LARGE_SPHERES", "RT_MIRRORS", "RT_INTEGRATORS")
"""What kernels can be compiled without: macros of kernels/integrator/features.h."""

DRAFTS = ("RT_DRAFTS",)  # drafts with ambient occlusion: what they keep of surfaces takes registers

OCCLUSION = (*DRAFTS, *FEATURES[:2])
"""What kernels for `ao` are compiled without, beside DRAFTS, where the scene has no mirrors and no
large spheres."""

WITHOUT_PATHS = ("RT_PATH_INTEGRATOR",)  # without `path`: for `direct` and `ao`

WITHOUT_LOCAL = ("RT_LOCAL_INTEGRATORS",)
"""Without `direct` and `ao`: for `path`. A kernel is never without both."""

RARE = ("RT_NESTED", "RT_SHADOW_CATCHER")
"""Solids of glass within each other, and grounds that catch shadows."""

FILTERS = ("RT_ALPHA_CLIP",)
"""Opacity, grounds that fade, clipping planes, light straight through glass."""

MATERIALS_AND_EMITTERS = ("RT_ALL_MATERIALS", "RT_EMITTERS")
"""Materials other than Phong's, spheres that send out light, environment maps."""

LARGE = FEATURES[:1]  # large spheres, of which plain scenes have none

LIGHTS = ("RT_LIGHTS",)
"""Lights that a scene lists."""

SKY_LIT = (*LIGHTS, "RT_MIRRORS")
"""Lights and mirrors, which scenes that their sky alone lights have not: what `path` keeps for them
takes registers."""

COMMON_DRAFTS = (*WITHOUT_PATHS, *RARE, *MATERIALS_AND_EMITTERS)
"""What kernels with paths for drafts are compiled without, unless the picture needs it."""

PATH_VARIANTS = (
    (),
    COMMON_DRAFTS,
    WITHOUT_LOCAL,
    *((*WITHOUT_LOCAL, *RARE, *light) for light in ((), MATERIALS_AND_EMITTERS)),
    *((*WITHOUT_PATHS, *DRAFTS, *RARE, *light) for light in ((), MATERIALS_AND_EMITTERS)),
    *((*DRAFTS, *RARE, *FILTERS, *light) for light in ((), MATERIALS_AND_EMITTERS)),
    *(
        (*WITHOUT_LOCAL, *RARE, *FILTERS, *large, *light, *lights)
        for large in ((), LARGE)
        for light in ((), MATERIALS_AND_EMITTERS)
        for lights in ((), SKY_LIT)
    ),
)
"""The sets of features that PATHS is compiled without."""

CAPSULE_FEATURES = ("RT_INTEGRATORS", "RT_FULL_SHADING")
"""What CAPSULES can be compiled without: all but `direct` with Phong's materials."""

CAPSULE_VARIANTS = (
    (*WITHOUT_LOCAL, *RARE),
    (*WITHOUT_PATHS, *DRAFTS, *RARE, *MATERIALS_AND_EMITTERS),
    COMMON_DRAFTS,
)
"""For pictures that need paths: with `path`; with `direct` or `ao` and Phong's materials; and
drafts of these."""

ROUND_FEATURES = (*CAPSULE_FEATURES, "RT_FORMS", "RT_LARGE_SPHERES", "RT_MIRRORS")
"""What CAPSULES can be compiled without for atoms, bonds and lines: other forms than spheres and
round capsules too (kernels/geom/solid.h), large spheres and mirrors."""

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


def sampled(columns: Spheres) -> NDArray[np.float32]:
    """Return some spheres from all parts of the scene, float32 (at most 512, 4)."""
    count = count_of(columns)
    rows = np.arange(0, count, -(-count // SAMPLED) or 1)
    return np.stack(taken(columns, rows), axis=1)


def kernel_for(
    count: int, nodes: int, some: NDArray[np.float32], camera: NDArray[np.void], height: int
) -> str:
    """The name of the render kernel for a view of so many spheres and nodes; some: spheres, as
    `sampled` gives them. height: of the picture."""
    if count <= MAX_LISTED:
        return LIST
    if nodes <= 1 or median_radius(some, camera, height) < MIN_PACKET_RADIUS:
        return THREADS
    return PACKETS


def missing_features(view: View) -> tuple[str, ...]:
    """Which of FEATURES a picture of spheres does not need, of PATH_FEATURES with paths."""
    if view.needs_path_tracing:
        return _missing_with_paths(view)
    if view.integrator != "direct":
        if view.draft:
            return ()
        if view.large_count > 0 or view.mirrors:
            return DRAFTS
        return OCCLUSION if view.light_count > 0 else (*OCCLUSION, *LIGHTS)
    needed = (view.large_count > 0, view.mirrors, False)
    return tuple(name for name, is_needed in zip(FEATURES, needed, strict=True) if not is_needed)


def _missing_with_paths(view: View) -> tuple[str, ...]:
    """Return one of PATH_VARIANTS."""
    if view.catches_shadows:
        return ()
    is_path = view.integrator == "path"
    if view.nests:
        return WITHOUT_LOCAL if is_path else ()
    light = () if view.has_principled or view.has_emitters else MATERIALS_AND_EMITTERS
    if view.draft:
        return COMMON_DRAFTS if light else ()
    if view.hides or view.transparent_shadows:
        return (*(WITHOUT_LOCAL if is_path else (*WITHOUT_PATHS, *DRAFTS)), *RARE, *light)
    if is_path:
        large = () if view.large_count > 0 else LARGE
        lights = () if view.light_count > 0 or view.has_mirrors else SKY_LIT
        return (*WITHOUT_LOCAL, *RARE, *FILTERS, *large, *light, *lights)
    return (*DRAFTS, *RARE, *FILTERS, *light)


def missing_with_capsules(view: View, has_forms: bool) -> tuple[str, ...]:
    """Which features a picture of a scene with capsules does not need; has_forms: whether there are
    cones, ellipsoids or flat ends."""
    if view.needs_path_tracing or view.integrator != "direct":
        if view.nests or view.catches_shadows:
            return ()
        with_paths, others, drafts = CAPSULE_VARIANTS
        if view.integrator == "path":
            return with_paths
        if view.has_principled or view.has_emitters:
            return ()
        return drafts if view.draft else others
    needs_more = has_forms or view.mirrors or view.large_count > 0
    return CAPSULE_FEATURES if needs_more else ROUND_FEATURES


def every_variant(kernel: str) -> list[tuple[str, ...]]:
    """The sets of features that a kernel of PRODUCTION is compiled without, the empty one first."""
    if kernel == CAPSULES:
        return [(), CAPSULE_FEATURES, ROUND_FEATURES, *CAPSULE_VARIANTS]
    if kernel == PATHS:
        return list(PATH_VARIANTS)
    *others, integrators = FEATURES
    without = [chosen for n in range(len(others) + 1) for chosen in combinations(others, n)]
    made = [
        (),
        DRAFTS,
        OCCLUSION,
        (*OCCLUSION, *LIGHTS),
        *((*chosen, integrators) for chosen in without),
    ]
    return [each for each in made if (kernel, each) not in UNMADE]


def median_radius(spheres: NDArray[np.float32], camera: NDArray[np.void], height: int) -> float:
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
