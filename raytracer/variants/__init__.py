"""CUDA kernels and their headers.

Production kernels are `kernels/cuda/NAME.cu`, selected by name. The kernels of the bench are
variants of an operation, `kernels/ladders/OP/NN_name.cu`, found by listing the folder. The first
lines of each file are its header, `// key: value`; kernels/README.md describes all keys.
"""
