"""Packing: scenes as arrays for a backend, in render space and linear light."""
