"""Measured memory beside the estimate."""
