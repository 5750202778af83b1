"""Shapes and texts over a picture, as pixels, SVG and PDF."""
