"""The CUDA backend: finds the device, compiles the kernels and runs them through PyCUDA.

Nothing here is imported until a GPU is asked for, and PyCUDA only inside functions.
"""
