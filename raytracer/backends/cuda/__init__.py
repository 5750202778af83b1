"""NVIDIA GPUs as devices: PyCUDA compiles, loads and launches the kernels.

These modules are imported only when a GPU is searched for, and PyCUDA only inside functions.
"""
