"""Columns of particles to colours, sizes and selections; glyphs and bonds."""
