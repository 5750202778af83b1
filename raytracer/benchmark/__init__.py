"""The bench: benchmarks of operations and of parts of the renderer, with checks and libraries.

`raytracer bench` runs benchmarks. All of them are listed in `registry`, implement the protocol
`benchmark.Benchmark`, and return the results of a `record.Record`. The bench imports the renderer,
never the reverse.

Separate programs compare with other renderers: `python -m raytracer.benchmark.embree --help` on the
CPU and `python -m raytracer.benchmark.optix --help` on a GPU. `python -m raytracer.benchmark.table
RECORD.json` prints the record of such a comparison.
"""
