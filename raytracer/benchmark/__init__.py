"""Measures the renderer against its peers, on the same spheres, camera and light.

`python -m raytracer.benchmark.embree --help` on the CPU, `python -m raytracer.benchmark.optix
--help` on a GPU; `python -m raytracer.benchmark.table RECORD.json` prints a saved record again.
"""
