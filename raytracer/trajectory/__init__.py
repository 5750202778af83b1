"""Frames of trajectories: their sources, smoothing and unwrapping."""
