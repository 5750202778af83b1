"""NVIDIA GPUs as devices: kernels are compiled, loaded and launched.

These modules are imported only when a GPU is searched for, and a binding of the driver by
`driver.load` only.
"""
