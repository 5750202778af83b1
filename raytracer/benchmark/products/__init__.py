"""Matrix products of any size: tiles, division of the work, and a model of waves that chooses both.

A rung whose header has `tiles:` is a body of kernel templates (matmul_bf16/product.cuh and
matmul/unit_pipeline.cuh in kernels/ladders) and the tiles that it may use. Each tile, with the
layouts of the operands, is a cubin of its own, compiled when it is first chosen. Kernels for few
rows, columns or steps are chosen in the same way (matmul/skinny.cuh, matmul/direct_product.cuh).
"""

from __future__ import annotations

from raytracer.benchmark.products.choice import Choice, choose
from raytracer.benchmark.products.layout import Operand, Problem
from raytracer.benchmark.products.units import Units

__all__ = ["Choice", "Operand", "Problem", "Units", "choose"]
