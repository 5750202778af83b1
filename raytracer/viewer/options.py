"""The checked arguments of `preview`, `serve` and `show`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from raytracer.arguments import function, truth
from raytracer.errors import DataFileError
from raytracer.fields import check_names, takes
from raytracer.film.tone_settings import ToneSettings
from raytracer.pipeline import Notice
from raytracer.resources import thread_count
from raytracer.scene.annotations import Annotations
from raytracer.scene.coloring import STYLE
from raytracer.scene.overrides import SceneOverrides
from raytracer.scene.source import Source
from raytracer.scene.source_settings import SourceSettings
from raytracer.scene.view_settings import ViewSettings, check_shutter
from raytracer.settings import RenderSettings
from raytracer.viewer.watch import Watch


@dataclass(frozen=True)
class ViewOptions:
    source: Source
    overrides: dict[str, Any]  # settings of the render and of the view, by name
    backend: str
    threads: int
    tone: ToneSettings | Mapping[str, Any] | None
    annotations: Annotations | Mapping[str, Any] | None
    watch: Watch | None  # reloads changed files
    adaptive: bool
    notice: Notice | None

    @classmethod
    @takes(SourceSettings, RenderSettings, ViewSettings, STYLE)
    def of(
        cls,
        scene: object,
        *,
        caller: str = "preview",
        backend: str = "auto",
        threads: int = 0,
        tone: ToneSettings | Mapping[str, Any] | None = None,
        annotations: Annotations | Mapping[str, Any] | None = None,
        watch: bool = False,
        adaptive: bool = True,
        notice: Notice | None = None,
        **settings: Any,
    ) -> ViewOptions:
        """Check the arguments of a call of `caller`, which are those of `raytracer.preview`.

        Raises:
            UserError: an argument is wrong, or there is no such file.
            TypeError: there is no argument of that name.
        """
        for name, value in (("watch", watch), ("adaptive", adaptive)):
            truth(value, name)
        function(notice, "notice")
        thread_count(threads)
        ToneSettings.of(tone)
        check_names(cls.of, settings, caller)
        source, overrides = Source.taken(scene, settings)
        SceneOverrides.of(overrides)  # checks them
        check_shutter(overrides)
        if watch and source.path is None:
            raise DataFileError("watch: a scene made in Python has no file to watch: give its path")
        also = [*source.further, *([source.topology] if source.topology else [])]
        watched = Watch(source.path, also) if watch and source.path else None
        return cls(
            source, overrides, backend, threads, tone, annotations, watched, adaptive, notice
        )  # fmt: skip
