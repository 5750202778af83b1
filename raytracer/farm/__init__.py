"""Rendering on several workers: processes of this machine, or those of a Dask cluster."""
