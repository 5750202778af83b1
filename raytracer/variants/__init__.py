"""CUDA kernels and their headers.

Production kernels are `kernels/cuda/NAME.cu`, selected by name. The kernels of the bench are
variants of an operation, `kernels/ladders/OP/NN_name.cu`, found by listing the folder. The first
lines of each file are its header:

    // title: Warp tiles
    // idea: each warp computes a 64 x 32 tile, so that a value
    //       loaded once is used 32 times
    // block: 16x16
    // grid: ceil(n / 64), ceil(m / 64)
    // shared: 4 * 2 * 64 * 32
    // flags: --fmad=false
    // needs: sm_80+
    // source: origin of the idea

Keys of every kernel:

- `block`: the thread block (x, y, z).
- `grid`, `shared`: the grid (x, y, z) and the dynamic shared memory in bytes, as arithmetic
  expressions (+ - * / //, ceil, floor, min, max) of the axes of the operation, `sm` (number of
  multiprocessors of the device), `block` (threads per block) and, for elements, `bytes` (of a
  number).
- `threads`: threads of a block that depend on the sizes, an expression like `grid`; at most those
  of `block`.
- `needs`: architectures, separated by commas. `sm_80+` admits compute capability 8.0 and all later
  ones, `sm_90a` that architecture alone.
- `flags`: options for nvcc.

Keys of variants only:

- `layout`, `shows`: of the operation "render", the memory layout of the scene and what the picture
  of the variant contains (raytracer.benchmark.render_levels).
- `product`: the production kernel that the variant is, like `render_packet`. The file has no code,
  and keys that are missing in its header are taken from that of the kernel.
- `steps`: number of kernels in a chain. With `steps: 3` the entry functions op, op_2 and op_3 are
  launched in this order with the same grid and arguments.
- `scratch`: device memory of a chain in bytes, an expression like `grid`. Its address follows those
  of the outputs.
- `constant`: `constant: d` copies the input d into the `__constant__` array c_d before the first
  launch, as often as it fits.
- `alignment`: `any` if arrays may begin at the address of any number; otherwise they begin at
  multiples of 16 bytes.
- `sizes`: `any` for a matrix product of which raytracer.benchmark.products chooses grid, threads
  and macros for each size. Such a variant has no `grid`.
- `best`: where the variant is the fastest one, `always` or an axis with sizes and perhaps a type,
  like `n 4 8 float32, n 2`. `raytracer.ops` takes such a variant, otherwise the last one.
- `dtypes`: the types of the operation that the variant computes with; all of them by default.
- `maps`: tensor maps. `maps: a 128x64 swizzle128, c 64x32` creates maps of these arrays, with the
  rows and columns of a box, in `__constant__ CUtensorMap c_map_a` and `c_map_c`; `a 64x64 as low`
  creates `c_map_low`.
"""

from __future__ import annotations

from raytracer.variants.discovery import (
    discover,
    flags_of,
    operations,
    product,
    products,
    read,
)
from raytracer.variants.kernel import (
    LADDERS,
    PRODUCT,
    Best,
    Kernel,
    Launch,
    MapRequest,
    Requirement,
    Variant,
    VariantError,
    preferred,
    split_architecture,
)

__all__ = [
    "LADDERS",
    "PRODUCT",
    "Best",
    "Kernel",
    "Launch",
    "MapRequest",
    "Requirement",
    "Variant",
    "VariantError",
    "discover",
    "flags_of",
    "operations",
    "preferred",
    "product",
    "products",
    "read",
    "split_architecture",
]
