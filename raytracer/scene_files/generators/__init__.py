"""Generators: a module here without a leading underscore has `block` or `build`."""
