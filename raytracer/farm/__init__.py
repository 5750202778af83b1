"""Renders with several workers: processes of this machine, or of a Dask cluster."""
