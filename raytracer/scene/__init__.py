"""Scenes: what can be said, read from files, and packed for a backend."""
