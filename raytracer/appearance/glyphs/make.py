"""Add glyphs to a scene: box, axes, arrows, trails, contacts, ribbons, polyhedra and others."""

from collections.abc import Container
from dataclasses import replace
from typing import Any

from raytracer.appearance.glyphs.shared import GlyphSet
from raytracer.config.errors import SceneError
from raytracer.config.field_types import import_name
from raytracer.model.annotations import IN_SCENE
from raytracer.model.arrays import silence_numpy
from raytracer.model.parts import GLYPHS
from raytracer.model.scene import SOLIDS, Scene


@silence_numpy()
def with_glyphs(scene: Scene) -> Scene:
    """Return a scene with the glyphs of its settings added."""
    wanted = _list_makers(scene)
    scene = without_glyphs(scene, kept=wanted)
    there = {each.made_for for each in scene.solids}
    added: list[Any] = []
    scales = list(scene.color_scales)
    for name, (maker, settings) in wanted.items():
        if name in there:
            continue
        glyphs: GlyphSet = import_name(f"raytracer.appearance.glyphs.{maker}")(scene, settings)
        for solids in glyphs.solids:
            solids.made_for, solids.scales = name, list(glyphs.scales)
            try:
                scene.material_of(solids)
            except SceneError as error:
                raise SceneError(f"{name}.material: {error}") from None
        added += glyphs.solids
        scales += glyphs.scales
    solids_of: Any = {
        field: [*getattr(scene, field), *(each for each in added if each.noun == noun)]
        for noun, field in SOLIDS.items()
    }
    return replace(scene, color_scales=scales, **solids_of)


def without_glyphs(scene: Scene, kept: Container[str] = ()) -> Scene:
    """Return a scene without generated glyphs and their scales, except the `kept`."""
    gone = [each for each in scene.solids if each.made_for and each.made_for not in kept]
    if not gone:
        return scene
    old = {id(scale) for solids in gone for scale in solids.scales}
    left: Any = {f: [e for e in getattr(scene, f) if e not in gone] for f in SOLIDS.values()}
    scales = [scale for scale in scene.color_scales if id(scale) not in old]
    return replace(scene, color_scales=scales, **left)


def particle_opacities(scene: Scene) -> list[float]:
    """Return the opacities of all particles that glyphs state; ribbons fade their atoms alone."""
    glyphs = (getattr(scene, name) for name in GLYPHS if name != "ribbons")
    stated = (getattr(each, "particles", None) for each in glyphs)
    return [each for each in stated if each is not None]


def with_faded_particles(scene: Scene) -> Scene:
    """Apply the particle opacity of glyphs; hide particles shown as ellipsoids and ribbons."""
    opacity = min(particle_opacities(scene), default=1.0)
    shown = [] if opacity == 0.0 else list(scene.spheres)
    if scene.ribbons is not None and shown:
        from raytracer.appearance.glyphs.ribbons import hide_ribbon_atoms

        shown = hide_ribbon_atoms(scene, scene.ribbons)
    if scene.shape is not None:
        from raytracer.appearance.glyphs.vectors import has_semi_axes

        shown = [each for each in shown if not has_semi_axes(each.columns, scene.shape.axes)]
    if opacity != 1.0:
        shown = [spheres.faded(opacity) for spheres in shown]
    return replace(scene, spheres=shown)


def _list_makers(scene: Scene) -> dict[str, tuple[str, Any]]:
    """Return the functions that make the glyphs of a scene, by name, with their settings."""
    wanted = {name: (f"{name}:make_{name}", getattr(scene, name)) for name in GLYPHS}
    if scene.annotations is not None:
        box, axes = scene.annotations.box, scene.annotations.axes
        rods = box if box is not None and box.style == "rods" else None
        arrows = axes if axes is not None and axes.place in IN_SCENE else None
        wanted |= {"box": ("box:make_box", rods), "axes": ("box:make_axes", arrows)}
    return {name: each for name, each in wanted.items() if each[1] is not None}
