"""The bench: what an operation or a part of the renderer takes, checked first, beside its peers.

`raytracer bench` runs benchmarks: every name of `benchmarks` follows the protocol of `benchmark`,
and what it gives has the form of `record`. It uses the renderer, which knows nothing of it.

Whole renderers are compared by programs of their own: `python -m raytracer.benchmark.embree --help`
on the CPU, `python -m raytracer.benchmark.optix --help` on a GPU; `python -m
raytracer.benchmark.table RECORD.json` prints such a record again.
"""
