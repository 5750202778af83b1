"""Colours, sizes and selections that follow the columns of particles."""
