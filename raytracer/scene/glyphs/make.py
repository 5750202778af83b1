"""A scene with the glyphs that it asks for: box, axes, arrows, trails, contacts."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from raytracer.errors import SceneError
from raytracer.scene.annotations import IN_SCENE
from raytracer.scene.arrays import quiet

if TYPE_CHECKING:
    from collections.abc import Callable, Container

    from raytracer.scene.glyphs.shared import Made
    from raytracer.scene.scene import Scene, SphereSet


@quiet()
def with_glyphs(scene: Scene) -> Scene:
    """Return a scene with the glyphs that it asks for; those that it has stay.

    Args:
        scene: with all of its particles, in their places and colours; a box and axes of its
            annotations may be solid.

    Raises:
        SceneError: the data do not have what a glyph is made of.
    """
    wanted = dict(_makers(scene))
    scene = without_glyphs(scene, kept=wanted)
    there = {each.made_for for each in (*scene.capsules, *scene.cones, *scene.ellipsoids)}
    added: list[Any] = []
    scales = list(scene.color_scales)
    for name, make in wanted.items():
        if name in there:
            continue
        made = make()
        for capsules in made.capsules:
            capsules.made_for, capsules.scales = name, made.scales
            try:
                scene.material_of(capsules)
            except SceneError as error:
                raise SceneError(f"{name}.material: {error}") from None
        added += made.capsules
        scales += made.scales
    return replace(
        scene,
        capsules=[*scene.capsules, *(each for each in added if each.noun == "capsule")],
        cones=[*scene.cones, *(each for each in added if each.noun == "cone")],
        ellipsoids=[*scene.ellipsoids, *(each for each in added if each.noun == "ellipsoid")],
        color_scales=scales,
    )


def without_glyphs(scene: Scene, kept: Container[str] = ()) -> Scene:
    """Return a scene without the glyphs that were made of its data, and without their scales.

    Args:
        scene: the scene.
        kept: names of those that stay.
    """
    there = (*scene.capsules, *scene.cones, *scene.ellipsoids)
    gone = [each for each in there if each.made_for and each.made_for not in kept]
    if not gone:
        return scene
    old = {id(scale) for capsules in gone for scale in capsules.scales}
    return replace(
        scene,
        capsules=[each for each in scene.capsules if each not in gone],
        cones=[each for each in scene.cones if each not in gone],
        ellipsoids=[each for each in scene.ellipsoids if each not in gone],
        color_scales=[scale for scale in scene.color_scales if id(scale) not in old],
    )


def with_faded_particles(scene: Scene) -> Scene:
    """Return a scene whose particles have the opacity that arrows, trails or contacts say.

    Those that are shown as ellipsoids are no spheres.
    """
    opacity = _opacity(scene)
    if opacity is None and scene.shape is None:
        return scene
    shown = [_faded(spheres, opacity) for spheres in scene.spheres]
    if (shape := scene.shape) is not None:
        from raytracer.scene.glyphs.ellipsoids import has_axes

        shown = [each for each in shown if each is not None and not has_axes(each.columns, shape)]
    return replace(scene, spheres=[spheres for spheres in shown if spheres is not None])


def _makers(scene: Scene) -> list[tuple[str, Callable[[], Made]]]:
    """Return the names of the glyphs that are asked for, and what makes them."""
    from raytracer.scene.glyphs.shared import Made

    annotations = scene.annotations
    found: list[tuple[str, Callable[[], Made]]] = []
    if (arrows := scene.arrows) is not None:
        from raytracer.scene.glyphs.arrows import arrows_of

        found.append(("arrows", lambda: arrows_of(scene, arrows)))
    if (trails := scene.trails) is not None:
        from raytracer.scene.glyphs.trails import trails_of

        found.append(("trails", lambda: trails_of(scene, trails)))
    if (contacts := scene.contacts) is not None:
        from raytracer.scene.glyphs.contacts import contacts_of

        found.append(("contacts", lambda: contacts_of(scene, contacts)))
    if (shape := scene.shape) is not None:
        from raytracer.scene.glyphs.ellipsoids import ellipsoids_of

        found.append(("shape", lambda: ellipsoids_of(scene, shape)))
    box = annotations.box if annotations is not None else None
    axes = annotations.axes if annotations is not None else None
    if box is not None and box.style == "rods":
        from raytracer.scene.glyphs.box import box_shapes

        found.append(("box", lambda: Made(box_shapes(scene, box), [])))
    if axes is not None and axes.place in IN_SCENE:
        from raytracer.scene.glyphs.box import axes_shapes

        found.append(("axes", lambda: Made(axes_shapes(scene, axes, box), [])))
    return found


def _opacity(scene: Scene) -> float | None:
    """Return the opacity of particles beside glyphs; None leaves it."""
    said = [each.particles for each in (scene.arrows, scene.trails, scene.contacts) if each]
    return min((each for each in said if each is not None), default=None)


def _faded(spheres: SphereSet, opacity: float | None) -> SphereSet | None:
    """Return a set with an opacity; None if it is hidden."""
    if opacity is None:
        return spheres
    if opacity == 0.0:
        return None
    faded = copy(spheres)
    own: Any = 1.0 if spheres.opacity is None else spheres.opacity
    faded.opacity = own * opacity
    return faded
