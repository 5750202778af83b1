"""Packing: a scene to the arrays that a backend renders, in render space and linear light."""
