"""Settings of a call that override those of a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError, naming
from raytracer.fields import definitions, split
from raytracer.scene import GLYPHS
from raytracer.scene.coloring import SETTINGS
from raytracer.settings import LOOKS, RenderSettings

if TYPE_CHECKING:
    from raytracer.scene.annotations import Annotations
    from raytracer.scene.coloring.style import StyleSettings
    from raytracer.scene.scene import Scene
    from raytracer.scene.view_settings import ViewSettings


@dataclass(frozen=True)
class SceneOverrides:
    """Settings of a call: style, view, those of the render by name, and annotations; None: the
    scene's."""

    style: StyleSettings | None = None
    view: ViewSettings | None = None
    render: Mapping[str, Any] = field(default_factory=dict)
    annotations: Annotations | Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls,
        settings: Mapping[str, Any] | SceneOverrides | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
    ) -> SceneOverrides:
        """Check and sort the settings of a call; None is ignored. Raises UserError."""
        if isinstance(settings, SceneOverrides):
            return settings
        render, others = split(settings or {}, RenderSettings)
        given = {name: value for name, value in others.items() if value is not None}
        style = {name: given.pop(name) for name in SETTINGS if name in given}
        if isinstance(annotations, Mapping) and annotations:
            from raytracer.scene.annotations import Annotations

            Annotations().changed(annotations)
        checked = RenderSettings(**render)
        made: dict[str, Any] = {"render": {name: getattr(checked, name) for name in render}}
        if style:
            from raytracer.scene.coloring.style import StyleSettings

            made["style"] = StyleSettings(**style)
        if given:
            from raytracer.scene.view_settings import ViewSettings

            made["view"] = ViewSettings(**given)
        return cls(**made, annotations=annotations)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the settings need."""
        return [name for each in (self.style, self.view) if each for name in each.columns]


def apply_overrides(scene: Scene, overrides: SceneOverrides) -> Scene:
    """Apply the settings of a call to a scene, and make its glyphs."""
    scene = _annotated(scene, overrides.annotations)
    style, view = overrides.style, overrides.view
    if style is not None:
        opacity = None
        if view is not None and style.rest is not None:
            # If the rest is faded, selection multiplies the opacities, so these are set first.
            opacity, view = view.opacity, replace(view, opacity=None)
        scene = _styled(
            scene, style, opacity, has_color=view is not None and view.color is not None
        )
    return _with_glyphs(_changed(scene, overrides.render, view))


def _annotated(scene: Scene, changes: Annotations | Mapping[str, Any] | None) -> Scene:
    if changes is None or changes == {}:
        return scene
    from raytracer.scene.annotations import Annotations

    if not isinstance(changes, Annotations):
        changes = (scene.annotations or Annotations()).changed(changes)
    return replace(scene, annotations=changes)


def _check_particles(scene: Scene, name: str) -> None:
    if name and scene.meshes and not scene.spheres and len(scene.meshes) == len(scene.solids):
        raise UserError(f"{name}: is for particles, but the scene has meshes alone")


def _styled(
    scene: Scene, style: StyleSettings, opacity: float | str | None, has_color: bool
) -> Scene:
    """Apply colours by data and a selection; `opacity` of all particles, or None."""
    from raytracer.scene.coloring.apply import styled

    named = (name for name in definitions(type(style)) if getattr(style, name) is not None)
    _check_particles(scene, next(named, ""))
    for name in ("color_by", "palette"):
        if has_color and getattr(style, name) is not None:
            raise UserError(f"color: give either color, one colour for all, or {name}")
    with naming(scene.source):
        return styled(scene, style, opacity=opacity)


def _changed(scene: Scene, changes: Mapping[str, Any], view: ViewSettings | None) -> Scene:
    render = scene.render.override(**changes)
    if "look" in changes:  # as it is defined, unless the call says more
        render = render.override(brightness=changes.get("brightness", 1.0))
    if view is not None:
        _check_particles(scene, "" if view.radius is None else "radius")
        scene = view.applied_to(scene)
    if "light" in changes or ("placement" in changes and LOOKS[render.look].key > 0.0):
        from raytracer.scene.view_settings import lit

        scene = lit(scene, render)
    if render.shading == "flat":
        render = render.override(look="flat", integrator="direct", brightness=1.0)
        scene = replace(scene, lights=None, ambient=None, environment=None)
    return replace(scene, render=render)


def _with_glyphs(scene: Scene) -> Scene:
    is_drawn = scene.annotations is not None and scene.annotations.in_scene
    made_before = any(solids.made_for for solids in scene.solids)  # by an earlier call
    if not (is_drawn or made_before or any(getattr(scene, name) is not None for name in GLYPHS)):
        return scene
    from raytracer.scene.glyphs.make import with_glyphs

    with naming(scene.source):
        return with_glyphs(scene)
