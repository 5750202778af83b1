"""Parts of a scene by name: those made of data of particles, and what is drawn over pictures."""

GLYPHS = {
    "arrows": "vector", "trails": "last", "contacts": "file", "shape": "kind", "ribbons": "color",
    "polyhedra": "pairs", "isosurface": "level",
}  # fmt: skip
"""Parts of a scene that are made of the data of particles, each with the field that a value alone
sets."""

ANNOTATIONS = {
    "legend": "Legend", "scale_bar": "ScaleBar", "axes": "Axes", "texts": "TextLabel",
    "labels": "Labels", "box": "SimulationBox", "outline": "Outline", "depth_cue": "DepthCue",
}  # fmt: skip
"""What is drawn over pictures, and the names of the classes."""
