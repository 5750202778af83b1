"""The operations of the bench: a table of `Op` in each module of this folder."""

from raytracer.benchmark.operations import elements, elementwise, histograms, products
from raytracer.benchmark.operations.base import Op

OPERATIONS: dict[str, Op] = {
    op.name: op
    for op in sorted(
        (*elementwise.OPS, *elements.OPS, *histograms.OPS, *products.OPS), key=lambda op: op.name
    )
}
"""All operations by name, sorted."""
