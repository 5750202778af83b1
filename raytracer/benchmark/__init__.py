"""The bench: benchmarks of operations and of parts of the renderer, with checks and libraries.

`raytracer bench` runs benchmarks. All of them are listed in `registry`, are a
`benchmark.Benchmark`, and return the results of a `record.Record`. The bench imports the renderer,
never the reverse.
"""
