"""The settings as keyword arguments, for type checkers, from their dataclasses.

    python docs/keyword_types.py > raytracer/keywords.pyi

A test compares the two.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

from raytracer.appearance.coloring.style import StyleSettings
from raytracer.model.settings import MeasureSettings, RenderSettings
from raytracer.model.source_settings import SourceSettings
from raytracer.rendering.view_settings import ViewSettings

HEAD = '''"""Settings as keyword arguments, for type checkers; None keeps the scene's.

`python docs/keyword_types.py` writes this file from the settings.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from typing import Any, TypedDict

from raytracer.appearance.coloring.scale_types import Limit
from raytracer.appearance.glyphs import settings as glyphs
from raytracer.model.background import Background, Ground
from raytracer.model.camera import Camera
from raytracer.model.clip import Clip
from raytracer.model.colors import Color
from raytracer.model.environment import Environment
from raytracer.model.lights import Light
from raytracer.model.mesh import Mesh
from raytracer.model.views import Triple
'''

WIDER = {
    "camera": "str | PathLike[str] | Camera",
    "velocity": "str | Sequence[str | float]",
    "range": "str | tuple[Limit, Limit]",
    "replicate": "int | str | Sequence[int]",
    "bonds": "bool | str | float | Mapping[str, float]",
    "bond_color": "Color | Mapping[str, Any]",
}
"""What an argument may be, where the setting that is made of it has another type."""


def stub() -> str:
    """Return the content of `raytracer/keywords.pyi`."""
    return "\n".join(_lines())


def _lines() -> Iterator[str]:
    yield HEAD
    yield from _class("SourceKeywords(TypedDict, total=False)", SourceSettings)
    yield from _class("ViewKeywords(TypedDict, total=False)", ViewSettings, StyleSettings)
    yield from _class("Keywords(ViewKeywords, total=False)", RenderSettings)
    yield from _class("MeasureKeywords(SourceKeywords, ViewKeywords, total=False)", MeasureSettings)
    yield "class FileKeywords(SourceKeywords, Keywords, total=False): ..."
    yield ""


def _class(head: str, *kinds: type) -> Iterator[str]:
    yield f"class {head}:"
    for each in (each for kind in kinds for each in fields(kind)):
        kind = WIDER.get(each.name, str(each.type).removesuffix(" | None"))
        yield f"    {each.name}: {kind} | None"
    yield ""


if __name__ == "__main__":
    print(stub(), end="")
