"""Settings of a call that override those of a scene."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from raytracer.appearance.coloring import SETTINGS
from raytracer.config.fields import split_settings
from raytracer.model.settings import RenderSettings

if TYPE_CHECKING:
    from raytracer.appearance.coloring.style import StyleSettings
    from raytracer.model.annotations import Annotations
    from raytracer.rendering.view_settings import ViewSettings


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
        render, others = split_settings(settings or {}, RenderSettings)
        given = {name: value for name, value in others.items() if value is not None}
        style = {name: given.pop(name) for name in SETTINGS if name in given}
        if isinstance(annotations, Mapping) and annotations:
            from raytracer.model.annotations import Annotations

            Annotations().changed(annotations)
        checked = RenderSettings(**render)
        made: dict[str, Any] = {"render": {name: getattr(checked, name) for name in render}}
        if style:
            from raytracer.appearance.coloring.style import StyleSettings

            made["style"] = StyleSettings(**style)
        if given:
            from raytracer.rendering.view_settings import ViewSettings

            made["view"] = ViewSettings(**given)
        return cls(**made, annotations=annotations)

    @property
    def columns(self) -> list[str]:
        """Names of the columns that the settings need."""
        return [name for each in (self.style, self.view) if each for name in each.columns]
