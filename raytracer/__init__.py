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
        "device_array": "DeviceArray",
        "errors": "RaytracerError UserError",
        "exporting.export": "export",
        "film.film": "Film",
        "film.image": "Image",
        "film.statistics": "Statistics",
        "film.tone_settings": "ToneSettings",
        "live_scene": "LiveScene",
        "in_situ.live_view": "LiveView live",
        "measurements": "Measurements measure",
        "pipeline": "render",
        "scene.animation": "AnimationSettings Keyframe",
        "scene.annotations": "Annotations Axes DepthCue Labels Legend Outline ScaleBar "
        "SimulationBox TextLabel",
        "scene.background": "Background Ground",
        "scene.camera": "Camera",
        "scene.clip": "Clip",
        "scene.coloring.scale": "ColorScale",
        "scene.columns": "Columns",
        "scene.environment": "Environment",
        "scene.glyphs.settings": "Arrows Contacts Isosurface Polyhedra Ribbons Shape Trails",
        "scene.lights": "Ambient DirectionalLight DiskLight Light PointLight RectangleLight",
        "scene.load": "load",
        "scene.materials": "Material Principled",
        "scene.mesh": "Mesh",
        "scene.particles.plugins": "ParticleFormat ParticleFrame",
        "scene.scene": "Scene",
        "scene.solids": "CapsuleSet ConeSet EllipsoidSet",
        "scene.sphere_set": "SphereSet",
        "scene.transform": "Transform",
        "settings": "RenderSettings",
        "viewer.preview": "PreviewResult preview",
        "warning": "RaytracerWarning",
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
        import_module("raytracer.fields").document(value)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(__all__))
