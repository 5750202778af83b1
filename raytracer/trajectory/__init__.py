"""Frames of what is shown: where they come from, smoothed and unwrapped."""
