"""Particle files: readers, the columns that they offer, and the spheres that these make."""
