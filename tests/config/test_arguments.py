"""Arguments of the Python interface: defined once, refused by their names."""

from collections.abc import Callable
from dataclasses import fields
from enum import Enum
from pathlib import Path
from runpy import run_path
from types import SimpleNamespace
from typing import Any

import click
import numpy as np
import pytest

import raytracer
from raytracer import (
    Camera,
    CapsuleSet,
    Material,
    RenderSettings,
    Scene,
    SphereSet,
    ToneSettings,
    UserError,
)
from raytracer.commands.cli import program
from raytracer.config.errors import suggest
from raytracer.config.fields import find_definitions
from raytracer.config.synonyms import NAMES
from raytracer.files.access import check_path
from raytracer.model.key_types import ColorRule
from raytracer.model.settings import FILTERS
from support.modules import PACKAGE
from support.pages import DOCS

BALL = SphereSet([[0, 0, 0]], 1.0)


TWO: Any = np.array([1, 2])
THREE: Any = 3
WORD: Any = "x"
LIST: Any = [1, 2]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: raytracer.render(Scene([BALL]), annotations=TWO), "annotations: "),
        (
            lambda: list(raytracer.animate(Scene([BALL]), turntable="1s", annotations=TWO)),
            "annotations: ",
        ),
        (lambda: CapsuleSet([[0, 0, 0]], [[1, 0, 0]], 1.0, names=THREE), "names: 3 is not a dict"),
        (lambda: CapsuleSet([[0, 0, 0]], [[1, 0, 0]], 1.0, names=TWO), "names: "),
        (lambda: CapsuleSet([[0, 0, 0]], [[1, 0, 0]], 1.0, names={"starts": THREE}), "names: 3"),
        (lambda: raytracer.ConeSet([[0, 0, 0]], [[1, 0, 0]], 1.0, 0.5, names=TWO), "names: "),
        (lambda: raytracer.EllipsoidSet([[0, 0, 0]], [1, 1, 1], names=WORD), "names: 'x'"),
        (lambda: raytracer.Mesh(np.eye(3), [[0, 1, 2]], names=THREE), "names: 3 is not a dict"),
        (lambda: raytracer.Mesh(np.eye(3), [[0, 1, 2]], names=TWO), "names: "),
        (lambda: raytracer.Animation(plan=LIST), "plan: must be Plan, not list"),
        (lambda: raytracer.Animation(plan=THREE), "plan: must be Plan, not int"),
        (
            lambda: SphereSet([[0, 0, 0]], 1.0, labels=THREE),
            "labels: must be ParticleLabels, not int",
        ),
        (lambda: SphereSet([[0, 0, 0]], 1.0, labels=TWO), "labels: must be ParticleLabels"),
        (lambda: SphereSet([[0, 0, 0]], 1.0, velocity=[[1, 2], [3]]), "velocity: "),
        (lambda: Scene([BALL], color_scales=TWO), "color_scales: "),
        (lambda: raytracer.bench("vecadd", axes=TWO), "axes: "),
    ],
)
def test_arguments_of_a_wrong_type_are_refused_by_their_names(
    call: Callable[[], Any], words: str
) -> None:
    with pytest.raises(UserError) as caught:
        call()
    assert words in str(caught.value)


class Word(str, Enum):  # noqa: UP042 - `str` of its values is not their text
    """Texts with names."""

    TENT = "tent"
    RED = "red"
    FLAT = "flat"
    SMOOTH = "smooth"
    BY = "by=length"
    FILE = "a.npz"


def test_texts_and_numbers_of_subclasses_are_used() -> None:
    width: Any = np.int16(7)
    settings = RenderSettings(width=width, filter=Word.TENT)
    assert (settings.width, settings.filter, type(settings.filter)) == (7, "tent", str)
    assert ToneSettings(tone=np.str_("agx"), exposure=np.str_("auto")).automatic
    assert SphereSet([[0, 0, 0]], np.float64(2.0), Word.RED).radius == 2.0
    rods = CapsuleSet([[0, 0, 0]], [[1, 0, 0]], 0.1, caps=Word.FLAT, color_change=Word.SMOOTH)
    assert (rods.caps, type(rods.caps), rods.even_colors) == ("flat", str, True)
    assert check_path(Word.FILE) == Path("a.npz")
    assert ColorRule().checked(Word.BY, "color").color_by == "length"


def arrays_of(result: Any) -> Any:
    """An object that gives something as its array; raises what is an exception."""

    def give(*_: Any, **__: Any) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    return type("Arrays", (), {"__array__": give})()


ORIGIN = [[0, 0, 0]]
UNSHARP = Camera(position=(0, 0, 5), look_at=(0, 0, 0), aperture=0.1, focus=(0, 0, -1e20))

REFUSED: list[tuple[str, Callable[..., Any], dict[str, Any]]] = [
    ("camera.type", Camera, {"type": "fisheye"}),
    ("camera.type", Camera, {"type": 3}),
    ("render.width", RenderSettings, {"width": "7"}),
    ("material.mirror", Material, {"mirror": "0.5"}),
    ("material.mirror", Material, {"mirror": SimpleNamespace(ndim=0)}),  # a dataset of h5py
    ("title", Scene, {"spheres": [BALL], "title": 3}),
    ("spheres", Scene, {"spheres": [Camera()]}),
    ("spheres", Scene, {"spheres": 3}),
    ("materials", Scene, {"spheres": [BALL], "materials": []}),
    ("materials", Scene, {"spheres": [BALL], "materials": {3: Material()}}),
    ("color", SphereSet, {"centers": ORIGIN, "radius": 1.0, "color": "rde"}),
    ("color", SphereSet, {"centers": ORIGIN, "radius": 1.0, "color": object()}),
    ("color", SphereSet, {"centers": ORIGIN, "color": arrays_of(RuntimeError())}),
    ("centers", SphereSet, {"centers": arrays_of("text"), "radius": 1.0}),
    ("centers", SphereSet, {"centers": arrays_of(None), "radius": 1.0}),
    ("radius", SphereSet, {"centers": ORIGIN, "radius": arrays_of(ValueError())}),
    ("scene", raytracer.render, {"scene": object()}),
    ("camera.position", Camera, {"type": "panorama"}),
    ("camera.aperture", Camera, {"type": "orthographic", "fit": True, "aperture": 0.1}),
    ("camera.focus", raytracer.render, {"scene": Scene([BALL], camera=UNSHARP)}),
    ("environment.bottom", raytracer.Environment, {"top": "red"}),
    ("environment", raytracer.Environment, {}),
    ("environment", raytracer.render, {"scene": Scene([BALL]), "environment": "reddish"}),
    ("clip.keep", raytracer.Clip, {}),
    ("clip.keep", raytracer.Clip, {"keep": "x**2 < 1"}),
    ("ground.height", raytracer.render, {"scene": Scene([BALL], ground=raytracer.Ground(1e30))}),
    ("shutter", raytracer.LiveScene, {"scene": Scene([BALL]), "shutter": 0.5}),
    ("opacity", SphereSet, {"centers": ORIGIN, "radius": 1.0, "opacity": 1.5}),
    ("scene", raytracer.render, {"scene": 3}),
    ("path", raytracer.load, {"path": 3}),
    ("threads", raytracer.render, {"scene": Scene([BALL]), "threads": object()}),
]


@pytest.mark.parametrize(("name", "call", "arguments"), REFUSED)
def test_what_is_refused_is_named(
    name: str, call: Callable[..., Any], arguments: dict[str, Any]
) -> None:
    with pytest.raises(UserError) as caught:
        call(**arguments)
    assert str(caught.value).startswith(f"{name}: ")
    assert str(caught.value).isprintable()


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
    for name, definition in find_definitions(kind).items():
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
    ("name", "hint"),
    [("widht", "width"), ("spp", "samples"), ("backnd", "backend"), ("workers", "threads")],
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
    assert suggest("colour", ["color", "radius"]) == "did you mean 'color'?"
    assert suggest("zzz", ["color", "radius"]) == "known are color, radius"
    assert suggest("zzz", [str(number) for number in range(20)]).endswith("10, 11, ...")
    assert suggest("zzz", []) == "none is known here"


def test_synonyms_are_written_as_they_are_looked_up() -> None:
    for ours, words in NAMES.items():
        assert words == words.lower().replace("-", "_")
        assert ours not in words.split()
