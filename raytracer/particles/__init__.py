"""Particle files: readers, their columns, and the resulting spheres."""
