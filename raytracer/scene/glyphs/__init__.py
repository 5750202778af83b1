"""Glyphs: solids made of what data say: arrows, trails, contacts, the simulation box and axes."""
