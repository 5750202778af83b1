"""The bench on one GPU: launches, timing, guarded arrays, graphs, tensor maps, libraries.

These modules are imported when a GPU is used, and bindings of the driver inside functions only.
"""
