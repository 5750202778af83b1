"""The rungs of the sources of the ladders: each idea has its file.

A row of a source: the operation, the words of the source, and the rung that teaches them.
"""

import pytest

from raytracer.backends.kernel_sources import discover_variants
from raytracer.benchmark.operations import OPERATIONS
from raytracer.benchmark.peers import find_peers
from raytracer.benchmark.run import listing

# Notes of a playground of CUDA kernels: additions, products, a ray tracer, a histogram.
PLAYGROUND = [
    ("vecadd", "one thread block", "01_one_block"),
    ("vecadd", "many thread blocks", "02_many_blocks"),
    ("vecadd", "blocks of 1024: latency tolerance", "04_large_blocks"),
    ("vecadd", "at most 16 blocks per multiprocessor", "03_grid_stride"),
    ("vecadd", "vector loads", "05_vector_loads"),
    ("vecadd", "streaming hints", "06_streamed"),
    ("vecadd", "one piece per thread", "07_one_piece"),
    ("matrixadd", "by rows", "01_by_rows"),
    ("matrixadd", "row-major, coalesced", "03_coalesced"),
    ("matrixadd", "as a vector", "04_as_vector"),
    ("matmul", "a thread per row and column", "01_naive"),
    ("matmul", "coalesced: threads exchanged", "02_coalesced"),
    ("matmul", "coalesced: B column-major", "03_columns_of_b"),
    ("matmul", "tiles in shared memory", "04_shared_tiles"),
    ("matmul", "a column of eight per thread", "05_column_of_eight"),
    ("matmul", "an 8 x 8 microtile by elements: 0.25 FLOP per byte", "06_single_elements"),
    ("matmul", "outer products: 2 FLOP per byte", "07_outer_products_rolled"),
    ("matmul", "outer products, #pragma unroll", "08_outer_products"),
    ("matmul", "vector loads", "09_vector_loads"),
    ("matmul", "warp tiles", "10_warp_tiles"),
    ("matmul", "asynchronous stages", "11_async_stages"),
    ("matmul", "any size", "15_any_size"),
    ("histogram", "atomicAdd on global bins", "01_global_atomics"),
    ("histogram", "bins in shared memory, merged", "02_shared_bins"),
    ("histogram", "vector loads", "03_vector_loads"),
    ("histogram", "copies per lane", "04_lane_copies"),
    ("histogram_bins", "copies of the bins", "03_copies"),
    ("render", "a simple orthographic ray tracer", "01_linear_list"),
    ("render", "constant memory", "04_constant_memory"),
    ("render", "array of structs to struct of arrays", "02_struct_of_arrays"),
    ("render", "__launch_bounds__", "05_launch_bounds"),
    ("render", "perspective camera", "06_perspective"),
    ("render", "Phong shading", "07_phong"),
    ("render", "hard shadows", "08_shadows"),
    ("render", "anti-aliasing", "10_antialiasing"),
    ("render", "build a BVH, traverse it", "11_binary_bvh"),
    ("render", "wide tree", "12_wide_bvh"),
    ("render", "packets", "13_packet"),
]
# Builders of trees, as they were published one after the other.
TREES = [
    ("build", "radix tree of Morton codes (Karras 2012)", "01_lbvh"),
    ("build", "locally-ordered clustering (Meister, Bittner 2018)", "02_ploc"),
    ("build", "hierarchical PLOC (Benthin et al. 2024)", "03_hploc"),
    ("build", "wide quantised nodes (Ylitie et al. 2017)", "04_wide_nodes"),
]
# Contractions of matrix-free solvers.
CONTRACTIONS = [
    *((f"contraction_{axis}", f"to each spatial axis: {axis}", "01_naive") for axis in "xyz"),
    *((f"contraction_{axis}", f"to each spatial axis: {axis}", "02_line") for axis in "xyz"),
    ("contraction", "naive", "01_naive"),
    ("contraction", "shared memory", "03_shared"),
    ("contraction", "shared memory, no conflicts", "04_no_conflicts"),
    ("contraction", "register tiled", "05_register_tiles"),
    ("contraction", "register tiled, const A", "06_constant_operator"),
    ("contraction", "register tiled, 4 elements per block", "07_four_elements"),
    ("contraction", "register tiled, explicit unroll", "08_explicit_unroll"),
    ("contraction", "to do: eliminate shared memory bank conflicts", "09_padded_lines"),
    ("contraction", "to do: vectorized loads from shared", "10_vector_loads"),
    ("contraction", "to do: pipelining likely not worth it", "11_pipelined"),
    ("contraction", "whole lines of memory", "12_whole_lines"),
    *(
        (op, f"fused operators: {words}", rung)
        for op in ("mass", "diffusion", "advection")
        for words, rung in (
            ("only performing contractions", "01_chain"),
            ("via fusion", "02_fused"),
            ("staged", "03_staged"),
        )
    ),
]
# Products of bfloat16 on tensor cores, with the copy engine.
TENSOR_CORES = [
    ("matmul_bf16", "WMMA", "01_wmma"),
    ("matmul_bf16", "v0: cp.async, ldmatrix, mma.sync, swizzle", "02_mma_swizzled"),
    ("matmul_bf16", "v1: TMA, CU_TENSOR_MAP_SWIZZLE_64B", "05_tma_swizzle64"),
    ("matmul_bf16", "v1: TMA, CU_TENSOR_MAP_SWIZZLE_128B", "06_tma_swizzle128"),
    ("matmul_bf16", "to do: warp specialisation", "07_tma_specialised"),
    ("matmul_bf16", "Hopper: wgmma", "03_wgmma"),
    ("matmul_bf16", "Hopper: order for L2", "03b_l2_order"),
    ("matmul_bf16", "Hopper: wgmma, warps that copy", "04_wgmma_specialised"),
    ("matmul_bf16", "Hopper: TMA and wgmma", "08_tma_wgmma"),
    ("matmul_bf16", "Hopper: persistent blocks", "09_persistent"),
    ("matmul_bf16", "Hopper: TMA stores", "10_tma_store"),
    ("matmul_bf16", "Hopper: clusters", "11_cluster"),
    ("matmul_bf16", "any size", "12_any_size"),
]


@pytest.mark.parametrize(
    ("op", "words", "rung"), [*PLAYGROUND, *TREES, *CONTRACTIONS, *TENSOR_CORES]
)
def test_an_idea_of_a_source_has_its_rung(op: str, words: str, rung: str) -> None:
    assert rung in {each.label for each in discover_variants(op)}, f"no rung teaches “{words}”"


@pytest.mark.parametrize(
    ("op", "sizes", "dtypes"),
    [
        ("matmul", {"m": 16384, "n": 16384, "k": 16384}, ["float32", "int32"]),
        ("contraction", {"elements": 100_000, "n": 8}, ["float32", "float64"]),
        ("contraction", {"elements": 100_000, "n": 20}, ["float32", "float64"]),
        ("histogram", {"n": 100_000_000}, ["uint8"]),
        ("vecadd", {"n": 1 << 28}, ["float32"]),
    ],
)
def test_sizes_of_the_sources(op: str, sizes: dict[str, int], dtypes: list[str]) -> None:
    for dtype in dtypes:
        assert OPERATIONS[op].at(sizes, dtype).axes == sizes


def test_copies_from_pageable_and_pinned_memory() -> None:
    text = listing(["copy"])
    assert "pageable" in text
    assert "pinned" in text


def test_the_histogram_on_the_cpu_is_a_peer() -> None:
    """The source compares with a loop on the CPU: 0.27 s for 100M keys."""
    assert "one_core.cu" in {peer.path.name for peer in find_peers("histogram")}


def test_the_copy_engine_and_mma_run_on_the_cards_of_the_source() -> None:
    """Those of the RTX 5090 and the RTX PRO 6000."""
    able = [each.label for each in discover_variants("matmul_bf16") if each.admits("sm_120")]
    assert able == [
        "01_wmma", "02_mma_swizzled", "05_tma_swizzle64", "06_tma_swizzle128", "07_tma_specialised"
    ]  # fmt: skip


def test_integers_are_multiplied_up_to_the_register_tiles() -> None:
    numbers = [each.number for each in discover_variants("matmul") if each.supports("int32")]
    assert numbers == list(range(1, 9))
