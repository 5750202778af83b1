"""The bench on one GPU: kernels launched and timed, guarded arrays, graphs, tensor maps, libraries.

Nothing here is imported until a GPU is asked for, and PyCUDA only inside functions.
"""
