"""Settings of a call that override those of a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError, naming
from raytracer.fields import definitions
from raytracer.scene import GLYPHS
from raytracer.scene.coloring import SETTINGS
from raytracer.settings import LOOKS, RenderSettings

if TYPE_CHECKING:
    from raytracer.scene.annotations import Annotations
    from raytracer.scene.coloring.style import StyleSettings
    from raytracer.scene.scene import Scene


@dataclass(frozen=True)
class SceneOverrides:
    """Settings of a call: style, those of render and view by name, and annotations; None: the
    scene's."""

    style: StyleSettings | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    annotations: Annotations | Mapping[str, Any] | None = None

    @classmethod
    def of(
        cls,
        settings: Mapping[str, Any] | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
    ) -> SceneOverrides:
        """Sort the settings of a call; None is ignored. Raises UserError."""
        given = {name: value for name, value in (settings or {}).items() if value is not None}
        if "mesh" in given:  # read here, once for all frames
            from raytracer.scene.mesh_option import meshes_of

            given["mesh"] = meshes_of(given["mesh"])
        style = {name: given.pop(name) for name in SETTINGS if name in given}
        if not style:
            return cls(None, given, annotations)
        from raytracer.scene.coloring.style import StyleSettings

        return cls(StyleSettings(**style), given, annotations)

    @property
    def columns(self) -> list[str]:
        texts = [
            each
            for name in ("radius", "opacity")
            if isinstance(each := self.settings.get(name), str)
        ]
        glyphs = {k: v for k in GLYPHS if (v := self.settings.get(k))}
        motion = self._columns_of_motion()
        if self.style is None and not texts and not glyphs and not motion:
            return []
        from raytracer.scene.coloring.style import columns_in

        names = [*(self.style.columns if self.style else ()), *columns_in(*texts), *motion]
        if glyphs:
            from raytracer.scene.glyphs.settings import columns_said

            names += columns_said(glyphs)
        return names

    def _columns_of_motion(self) -> list[str]:
        """Return the names of the columns that motion blur may need."""
        velocity = self.settings.get("velocity")
        if not self.settings.get("shutter") and velocity is None:
            return []
        from raytracer.scene.field_types import Velocity
        from raytracer.scene.glyphs.vectors import columns_needed
        from raytracer.scene.motion import VELOCITY

        named = VELOCITY if velocity is None else velocity
        return ["id", *columns_needed(Velocity().checked(named, "velocity", UserError))]


def apply_overrides(scene: Scene, overrides: SceneOverrides) -> Scene:
    """Apply the settings of a call to a scene, and make its glyphs."""
    scene = _annotated(scene, overrides.annotations)
    settings = dict(overrides.settings)
    if overrides.style is not None:
        # If the rest is faded, selection multiplies the opacities, so these are set first.
        opacity = settings.pop("opacity", None) if overrides.style.rest is not None else None
        scene = _styled(scene, overrides.style, settings, opacity)
    return _with_glyphs(_changed(scene, settings))


def _annotated(scene: Scene, changes: Annotations | Mapping[str, Any] | None) -> Scene:
    if changes is None or changes == {}:
        return scene
    from raytracer.scene.annotations import Annotations

    if not isinstance(changes, Annotations):
        changes = (scene.annotations or Annotations()).changed(changes)
    return replace(scene, annotations=changes)


def _check_particles(scene: Scene, name: str) -> None:
    """Raise UserError for a setting of particles where meshes are the scene."""
    if name and scene.meshes and not scene.spheres and len(scene.meshes) == len(scene.solids):
        raise UserError(f"{name}: is for particles, but the scene has meshes alone")


def _styled(
    scene: Scene, style: StyleSettings, settings: Mapping[str, Any], opacity: float | str | None
) -> Scene:
    """Apply colours by data and a selection; `opacity` of all particles, or None."""
    from raytracer.scene.coloring.apply import styled

    named = (name for name in definitions(type(style)) if getattr(style, name) is not None)
    _check_particles(scene, next(named, ""))
    for name in ("color_by", "palette"):
        if "color" in settings and getattr(style, name) is not None:
            raise UserError(f"color: give either color, one colour for all, or {name}")
    with naming(scene.source):
        return styled(scene, style, opacity=opacity)


def _changed(scene: Scene, settings: Mapping[str, Any]) -> Scene:
    of_view = dict(settings)
    of_render = {name: of_view.pop(name) for name in definitions(RenderSettings) if name in of_view}
    _check_particles(scene, "radius" if "radius" in of_view else "")
    render = scene.render.override(**of_render)
    if "look" in of_render:  # as it is defined, unless the call says more
        render = render.override(brightness=of_render.get("brightness", 1.0))
    placed = "light" in of_render or ("placement" in of_render and LOOKS[render.look].key > 0.0)
    if of_view or placed:
        from raytracer.scene.view_settings import ViewSettings, lit

        scene = ViewSettings(**of_view).applied_to(scene)
        if placed:
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
