"""Readers of particle files, one module per format; `registry.py` lists them."""
