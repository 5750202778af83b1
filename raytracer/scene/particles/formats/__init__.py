"""Readers of particle files, one module a format; `registry.py` lists them."""
