"""Animations: trajectories and moving cameras, rendered to movies and numbered pictures."""
