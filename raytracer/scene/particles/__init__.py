"""Particle files: readers, their columns, and the resulting spheres."""

CASE = ".foam"
"""Ending of the empty file that marks a case of OpenFOAM, with its clouds in folders beside it."""
