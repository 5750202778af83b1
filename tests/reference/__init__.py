"""A float64 brute-force renderer in NumPy: the independent proof that pictures are right.

It shares no code with the kernels: every ray is tested against every sphere, nothing is
approximated, nothing is fast. Small pictures (96x64) and a few hundred spheres are its range.
"""

from reference.check import HitCheck, LightCheck, check_hits, check_lit
from reference.hit import closest_hit, occluded
from reference.scene import Light, Material, RefScene, View, camera_rays
from reference.shade import render, render_bounds

__all__ = [
    "HitCheck",
    "Light",
    "LightCheck",
    "Material",
    "RefScene",
    "View",
    "camera_rays",
    "check_hits",
    "check_lit",
    "closest_hit",
    "occluded",
    "render",
    "render_bounds",
]
