"""Matrix products of any size, which `raytracer.ops` computes.

A model of waves (model.py) chooses a tile of C (tiles.py) and a division of the work.
Each tile is a compilation of one file with macros of its own, 15_any_size.cu or 12_any_size.cu in
kernels/ladders. There are few tiles, and all are compiled with the first one: sizes are arguments.
"""
