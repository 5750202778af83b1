"""Checked opening and reading of files; complete files or none when writing."""
