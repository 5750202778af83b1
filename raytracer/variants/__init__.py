"""CUDA kernels and their headers.

Production kernels are `kernels/cuda/NAME.cu`, selected by name. The kernels of the bench are
variants of an operation, `kernels/ladders/OP/NN_name.cu`, found by listing the folder. The first
lines of each file are its header:

    // title: Warp tiles
    // idea: each warp computes a 64 x 32 tile, so that a value
    //       loaded once is used 32 times
    // block: 16x16
    // grid: ceil(n / 64), ceil(m / 64)
    // needs: sm_80+
    // source: origin of the idea

kernels/README.md describes all keys.
"""
