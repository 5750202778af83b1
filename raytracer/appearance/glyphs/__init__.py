"""Glyphs: solids that show data: arrows, trails, contacts, the simulation box and axes."""
