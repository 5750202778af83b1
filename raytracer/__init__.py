"""Renders spheres, from three to hundreds of millions.

>>> import raytracer
>>> image = raytracer.render(raytracer.load("scenes/three_balls.toml"))
>>> image.save("three_balls.png")

The public names are imported on first use, so that `import raytracer` costs nothing.
"""

from importlib import import_module

from raytracer._version import __version__ as __version__

# Where the public names live; `__init__.pyi` has them for type checkers.
_HOMES = {
    name: f"raytracer.{module}"
    for module, names in {
        "animation.animate": "Animation animate",
        "backends.select": "devices",
        "benchmark.compare": "compare_records format_comparison",
        "benchmark.occupancy": "explain_record",
        "benchmark.plot": "plot_comparison plot_record",
        "benchmark.report": "format_record",
        "benchmark.run": "bench",
        "browser.serve": "serve show",
        "system.device_array": "DeviceArray",
        "config.errors": "RaytracerError UserError",
        "exporting.export": "export",
        "film.film": "Film",
        "film.image": "Image",
        "film.statistics": "Statistics",
        "config.tone_settings": "ToneSettings",
        "rendering.live_scene": "LiveScene",
        "in_situ.live_view": "LiveView live",
        "rendering.measurements": "Measurements measure",
        "rendering.pipeline": "render",
        "model.animation": "AnimationSettings Keyframe",
        "model.annotations": "Annotations Axes DepthCue Labels Legend Outline ScaleBar "
        "SimulationBox TextLabel",
        "model.background": "Background Ground",
        "model.camera": "Camera",
        "model.clip": "Clip",
        "appearance.coloring.scale": "ColorScale",
        "appearance.columns": "Columns",
        "model.environment": "Environment",
        "appearance.glyphs.settings": "Arrows Contacts Isosurface Polyhedra Ribbons Shape Trails",
        "model.lights": "Ambient DirectionalLight DiskLight Light PointLight RectangleLight",
        "scene_files.load": "load",
        "model.materials": "Material Principled",
        "model.mesh": "Mesh",
        "particles.plugins": "ParticleFormat ParticleFrame",
        "model.scene": "Scene",
        "model.solids": "CapsuleSet ConeSet EllipsoidSet",
        "model.sphere_set": "SphereSet",
        "model.transform": "Transform",
        "model.settings": "RenderSettings",
        "viewer.preview": "PreviewResult preview",
        "config.warning": "RaytracerWarning",
    }.items()
    for name in names.split()
}

__all__ = sorted([*_HOMES, "__version__"])


def __getattr__(name: str) -> object:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'raytracer' has no attribute {name!r}")
    value = getattr(import_module(home), name)
    if hasattr(value, "__dict__"):
        import_module("raytracer.config.fields").document(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
