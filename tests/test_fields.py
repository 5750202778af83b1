"""A field is defined once: options, documentation and keyword arguments follow."""

from dataclasses import fields
from runpy import run_path
from typing import Any

import click
import numpy as np
import pytest

import raytracer
from raytracer import RenderSettings, ToneSettings
from raytracer.cli import program
from raytracer.errors import suggestion
from raytracer.fields import definitions
from raytracer.settings import FILTERS
from raytracer.synonyms import NAMES
from support.modules import PACKAGE
from support.pages import DOCS

PUBLIC = [
    getattr(raytracer, name)
    for name in ("RenderSettings", "ToneSettings", "Camera", "Background", "Ambient", "Material",
                 "PointLight", "DirectionalLight", "Transform")
]  # fmt: skip


@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
def test_public_classes_document_every_field(kind: Any) -> None:
    for each in fields(kind):
        assert f"\n    {each.name}: " in kind.__doc__


@pytest.mark.parametrize(
    ("kind", "command"),
    [(RenderSettings, "render"), (ToneSettings, "render"), (ToneSettings, "tone")],
)
def test_every_setting_is_an_option_with_its_range(kind: Any, command: str) -> None:
    known = program.get_command(click.Context(program), command)
    assert known is not None
    options = {param.name: param for param in known.params}
    for name, definition in definitions(kind).items():
        option = options[name]
        assert isinstance(option, click.Option)
        assert option.opts[0] == definition.option_name
        assert option.help is not None
        assert definition.summary in option.help
        assert definition.kind.limits() in option.help
        assert "default: " in option.help


def test_keyword_arguments_are_the_settings() -> None:
    stub = (PACKAGE / "keywords.pyi").read_text(encoding="utf-8")
    made = run_path(str(DOCS / "keyword_types.py"))["stub"]()
    assert stub == made, "python docs/keyword_types.py"


@pytest.mark.parametrize(
    ("name", "hint"), [("widht", "width"), ("spp", "samples"), ("backnd", "backend")]
)
def test_an_unknown_argument_of_render_names_the_nearest(name: str, hint: str) -> None:
    render: Any = raytracer.render
    with pytest.raises(TypeError, match=rf"'{name}'; did you mean '{hint}'\?$"):
        render(raytracer.Scene(), **{name: 3})


def test_values_are_compared_hashed_and_shown() -> None:
    one, same, other = RenderSettings(samples=3), RenderSettings(samples=3), RenderSettings()
    assert one == same
    assert hash(one) == hash(same)
    assert one != other
    assert one != ToneSettings()
    assert len({one, same, other}) == 2
    assert eval(repr(one), {"RenderSettings": RenderSettings}) == one


def test_filter_radii() -> None:
    radii = [RenderSettings(filter=f).resolved_filter_radius for f in FILTERS]
    assert radii == [0.0, 0.5, 1.0, 1.5]
    assert RenderSettings(filter="tent", filter_radius=2.0).resolved_filter_radius == 2.0
    assert RenderSettings(filter="point", filter_radius=2.0).resolved_filter_radius == 0.0


def test_override_keeps_what_is_none() -> None:
    settings = RenderSettings(samples=7).override(width=np.int64(10), samples=None, shadows=False)
    assert (settings.width, settings.samples, settings.shadows) == (10, 7, False)
    assert type(settings.width) is int
    with pytest.raises(raytracer.UserError, match=r"render\.width"):
        settings.override(width=0)


def test_a_suggestion_lists_what_there_is_where_nothing_is_near() -> None:
    assert suggestion("colour", ["color", "radius"]) == "did you mean 'color'?"
    assert suggestion("zzz", ["color", "radius"]) == "known are color, radius"
    assert suggestion("zzz", [str(number) for number in range(20)]).endswith("10, 11, ...")
    assert suggestion("zzz", []) == "none is known here"


def test_synonyms_are_written_as_they_are_looked_up() -> None:
    for ours, words in NAMES.items():
        assert words == words.lower().replace("-", "_")
        assert ours not in words.split()
