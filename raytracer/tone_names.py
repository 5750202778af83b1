"""Tone curves and meters by name: the command line lists them without importing what they do."""

CURVES = ("linear", "reinhard", "aces", "agx")
"""Tone curves: the words of the kernels' `ToneCurve`."""

METERS = ("covered", "all")
"""Which pixels decide an automatic exposure."""
