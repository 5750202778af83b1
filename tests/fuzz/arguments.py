"""A fuzzer of the Python interface: odd arguments are used or refused with a UserError.

    python tests/fuzz/arguments.py --cases 40000 [--first 0]

Each case calls one public function with right arguments, of which one or two are replaced by
something odd. Only a `UserError` may come out; what is made must be usable. The exit code is 1 if
anything failed.
"""

from __future__ import annotations

import argparse
import contextlib
import decimal
import fractions
import io
import random
import sys
import tempfile
import traceback
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import raytracer
from raytracer import (
    Ambient,
    Background,
    Camera,
    DirectionalLight,
    Film,
    Material,
    PointLight,
    RenderSettings,
    Scene,
    SphereSet,
    ToneSettings,
    Transform,
    UserError,
)


class Text(str):
    """A text of another type."""


def arrays_of(result: Any) -> Any:
    """An object that gives something as its array; raises what is an exception."""

    def give(*_: Any, **__: Any) -> Any:
        if isinstance(result, Exception):
            raise result
        return result

    return type("Arrays", (), {"__array__": give})()


FOREIGN: list[Callable[[], Any]] = [
    lambda: arrays_of("text"),
    lambda: arrays_of(None),
    lambda: arrays_of(np.ones((2, 3), object)),
    lambda: arrays_of(np.ones((2, 3), "U1")),
    lambda: arrays_of(RuntimeError("no array")),
    lambda: arrays_of(ValueError("no array")),
    lambda: arrays_of(AttributeError("no array")),
    lambda: type("Index", (), {"__index__": lambda _: "1"})(),
    lambda: type("Index", (), {"__index__": lambda _: 10**400})(),
    lambda: type("Length", (), {"__len__": lambda _: -1, "__getitem__": lambda _, n: n})(),
    lambda: type("Length", (), {"__len__": lambda _: 2**62, "__getitem__": lambda _, n: 1.0})(),
    lambda: type("Path", (), {"__fspath__": lambda _: 3})(),
    lambda: type("Path", (), {"__fspath__": lambda _: 1 // 0})(),
    lambda: type("Call", (), {"__call__": lambda *_: 1 // 0})(),
]
"""Objects of other packages that promise an array, a number, items or a path and have none."""


ODD: list[Callable[[], Any]] = [
    lambda: None,
    lambda: True,
    lambda: False,
    lambda: 0,
    lambda: -1,
    lambda: 1,
    lambda: 2**31,
    lambda: 2**63,
    lambda: 2**64,
    lambda: 10**400,
    lambda: -(10**400),
    lambda: 0.0,
    lambda: -0.5,
    lambda: 0.5,
    lambda: 1e-320,
    lambda: 1e308,
    lambda: float("nan"),
    lambda: float("inf"),
    lambda: -float("inf"),
    lambda: 1j,
    lambda: decimal.Decimal("1.5"),
    lambda: decimal.Decimal("NaN"),
    lambda: decimal.Decimal("sNaN"),
    lambda: fractions.Fraction(1, 3),
    lambda: "",
    lambda: "red",
    lambda: "auto",
    lambda: "x" * 100_000,
    lambda: "\0",
    lambda: "\ud800",
    lambda: "\x1b[31m\n",
    lambda: "1",
    lambda: "nan",
    lambda: Text("red"),
    lambda: b"",
    lambda: b"red",
    lambda: bytearray(3),
    lambda: memoryview(b"abc"),
    lambda: [],
    lambda: (),
    lambda: {},
    lambda: set(),
    lambda: [None],
    lambda: [1],
    lambda: [1, 2],
    lambda: [1, 2, 3],
    lambda: (1.0, 2.0, 3.0),
    lambda: [1, 2, 3, 4],
    lambda: ["a", "b", "c"],
    lambda: [[1, 2, 3]],
    lambda: [[1, 2], [3]],
    lambda: ["red", [], "blue"],
    lambda: ["red", None],
    lambda: [[[1]]],
    lambda: {1: 2},
    lambda: {"a": 1},
    lambda: {"a": None},
    lambda: range(3),
    lambda: iter([1, 2, 3]),
    lambda: (n for n in range(3)),
    lambda: object(),
    lambda: object,
    lambda: len,
    lambda: Ellipsis,
    lambda: NotImplemented,
    lambda: slice(3),
    lambda: np.zeros(0),
    lambda: np.zeros((0, 3)),
    lambda: np.zeros(3),
    lambda: np.zeros((2, 3)),
    lambda: np.zeros((3, 3)),
    lambda: np.full((2, 3), np.nan),
    lambda: np.ones((2, 3), complex),
    lambda: np.ones((2, 3), object),
    lambda: np.array(["a", "b"]),
    lambda: np.array(1.0),
    lambda: np.float32(0.5),
    lambda: np.int8(-1),
    lambda: np.uint64(2**63),
    lambda: np.bool_(True),
    lambda: np.datetime64("2020-01-01"),
    lambda: np.ones((2, 3), np.float16),
    lambda: np.ones((2, 3), ">f8"),
    lambda: np.ones((2, 3), bool),
    lambda: np.ma.masked_array([1.0, 2.0], [True, False]),
    lambda: np.ones(2, "f4,f4"),
    lambda: np.ones((1, 2, 3)),
    lambda: np.ones((2, 3))[::-1],
    lambda: np.array([], object),
    lambda: np.array([1, 2], np.int64),
    lambda: np.array([-1, 5]),
    lambda: np.array([2**62, 1]),
    lambda: np.float64("nan"),
    lambda: Path("nowhere"),
    lambda: Path(),
    lambda: Path("/dev/null"),
    lambda: io.BytesIO(b"abc"),
    lambda: Camera(),
    lambda: Material(),
    lambda: Scene(),
    lambda: RenderSettings(),
    lambda: ToneSettings(),
    lambda: Film.blank(2, 2),
    lambda: Transform(),
    lambda: Ambient(),
    lambda: Background(),
    lambda: balls(),
    lambda: [balls()],
    lambda: {"m": Material()},
    lambda: PointLight((0, 0, 0)),
    lambda: [PointLight((0, 0, 0))],
    lambda: ValueError("x"),
    lambda: print,
    lambda: lambda *_: None,
    lambda: [1e308, 1e308, 1e308],
    lambda: [10**400] * 3,
    lambda: ["1", "2", "3"],
    lambda: [True, False, True],
    lambda: "#12",
    lambda: "#ffffff",
]


def balls() -> SphereSet:
    """Two spheres."""
    return SphereSet([[0, 0, 0], [2, 0, 0]], 1.0)


def small(scene: Scene) -> None:
    """Use a scene as a render does, without its pixels."""
    from raytracer.scene.packing.pack import pack

    pack(scene)
    repr(scene)


Call = tuple[Callable[..., Any], dict[str, Any]]


def calls(folder: Path) -> dict[str, Call]:
    """Every public function with right arguments, by name."""
    camera: dict[str, Any] = {
        "position": (3, 2, 6),
        "look_at": (0, 0, 0),
        "up": (0, 1, 0),
        "vertical_fov": 40.0,
    }
    tone: dict[str, Any] = {"exposure": 0.0, "tone": "linear", "white": 4.0, "dither": False}
    tone |= {"meter": "covered", "meter_range": (10.0, 95.0)}
    settings: dict[str, Any] = {
        "width": 4,
        "height": 3,
        "samples": 1,
        "filter": "tent",
        "filter_radius": 1.0,
    }
    settings |= {"seed": 0, "max_depth": 1, "shadows": True}
    scene = Scene([balls()])
    film = raytracer.render(scene, backend="cpu", width=4, height=3, samples=1, threads=1).film
    spheres: dict[str, Any] = {
        "centers": np.zeros((2, 3)),
        "radius": np.ones(2),
        "color": np.ones((2, 3)),
    }
    spheres |= {"color_id": None, "color_space": "srgb", "material": "default", "transform": None}
    spheres |= {"source": "", "names": None, "file": None}
    parts: dict[str, Any] = {
        "spheres": [balls()],
        "camera": Camera(),
        "lights": [PointLight((0, 5, 0))],
    }
    parts |= {"ambient": Ambient(), "background": Background(), "materials": {"m": Material()}}
    parts |= {"render": RenderSettings(width=4, height=3), "title": "", "caption": ""}
    arrays: dict[str, Any] = {
        "centers": np.zeros((2, 3)),
        "radius": 1.0,
        "colors": "red",
        "color_id": None,
    }
    arrays |= {"color_space": "srgb", "material": "default"}
    render: dict[str, Any] = {
        "scene": scene,
        "backend": "cpu",
        **settings,
        "crop": None,
        "threads": 1,
    }
    render |= {"first_sample": None, "film": None, "aovs": ("depth",), "tone": None}
    preview: dict[str, Any] = {
        "scene": scene,
        "backend": "cpu",
        "width": 4,
        "height": 3,
        "samples": 1,
    }
    preview |= {"threads": 1, "tone": None, "watch": False, "offscreen": -1, "screenshot": None}
    bench: dict[str, Any] = {
        "variant": (),
        "axes": None,
        "size": (),
        "dtype": None,
        "backend": "nowhere",
    }
    bench |= {"input": "normal", "mode": "cold", "min_time": 0.0, "peers": False}
    bench |= {"with_file": None, "ncu": False, "scene": ()}
    bench |= {"sizes": None, "seed": 1}
    picture = folder / "a.png"

    def image(**options: Any) -> None:
        made = raytracer.render(scene, backend="cpu", width=2, height=2, samples=1, threads=1)
        made.tonemap(**options).save(picture)

    colored = Scene.from_arrays([[0, 0, 0], [1, 0, 0]], 0.5, columns={"t": [1.0, 2.0]})
    return {
        "Camera": (
            lambda **a: small(Scene([balls()], camera=Camera(**a))),
            camera | {"height": None, "type": "perspective", "fit": None, "direction": None},
        ),
        "PointLight": (
            lambda **a: small(Scene([balls()], lights=[PointLight(**a)])),
            {"position": (0, 1, 0), "color": "red", "intensity": 1.0, "falloff": "none"},
        ),
        "DirectionalLight": (
            lambda **a: small(Scene([balls()], lights=[DirectionalLight(**a)])),
            {"direction": (0, 1, 0), "color": "red", "intensity": 1.0},
        ),
        "Ambient": (
            lambda **a: small(Scene([balls()], ambient=Ambient(**a))),
            {"color": "red", "intensity": 1.0},
        ),
        "Background": (
            lambda **a: small(Scene([balls()], background=Background(**a))),
            {"color": None, "bottom": "red", "top": "blue", "transparent": False},
        ),
        "Material": (
            lambda **a: small(Scene([balls()], materials={"default": Material(**a)})),
            {"ambient": 1.0, "diffuse": 0.9, "specular": 0.1, "shininess": 40.0, "mirror": 0.0},
        ),
        "Transform": (
            lambda **a: small(Scene([SphereSet([[0, 0, 0]], 1.0, transform=Transform(**a))])),
            {"scale": 1.0, "rotate": (0, 0, 0), "translate": (0, 0, 0)},
        ),
        "RenderSettings": (RenderSettings, dict(settings)),
        "ToneSettings": (ToneSettings, dict(tone)),
        "SphereSet": (lambda **a: small(Scene([SphereSet(**a)])), spheres),
        "Scene": (lambda **a: small(Scene(**a)), parts),
        "Scene.from_arrays": (lambda **a: small(Scene.from_arrays(**a)), arrays),
        "Scene.describe": (scene.describe, {"prim_id": 0}),
        "Scene.styled": (
            lambda **a: small(colored.styled(**a)),
            {
                "color_by": "t",
                "map": "magma",
                "range": (0.0, "p99"),
                "color_scale": "linear",
                "color_steps": 4,
                "color_threshold": 1.0,
                "missing_color": "red",
                "color_label": "t",
                "color_unit": "K",
                "select": "t < 5",
                "radius": "0.5*radius",
            },
        ),
        "ColorScale": (
            lambda **a: raytracer.ColorScale(**a).rgb([0.5, 1.0]),
            {
                "map": ["red", "#fff"],
                "kind": "linear",
                "low": 0.0,
                "high": 1.0,
                "label": "t",
                "unit": "",
                "missing": "gray",
                "steps": None,
                "threshold": None,
                "names": (),
            },
        ),
        "ColorScale.rgb": (raytracer.ColorScale().rgb, {"values": [0.0, 1.0]}),
        "Columns": (colored.columns.unit, {"name": "t"}),
        "load": (raytracer.load, {"path": folder / "missing.toml"}),
        "render": (raytracer.render, render),
        "preview": (raytracer.preview, preview),
        "bench": (raytracer.bench, bench),
        "Film.load": (Film.load, {"path": folder / "missing.npz"}),
        "Film.save": (film.save, {"path": folder / "b.npz", "half": False}),
        "Film.blank": (Film.blank, {"width": 4, "height": 3, "crop": None}),
        "Film.tonemap": (film.tonemap, {"bits": 8, "threads": 1, **tone}),
        "Film.statistics": (film.statistics, {"threads": 1, **tone}),
        "Image.tonemap": (image, tone),
        "Image.save": (
            raytracer.render(scene, backend="cpu", width=2, height=2, samples=1).save,
            {"path": picture, "bits": 8},
        ),
    }


def failure(function: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """Call a function; gives what went wrong that must not, or ""."""
    silent = contextlib.redirect_stdout(io.StringIO())
    try:
        with warnings.catch_warnings(), silent, contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", raytracer.RaytracerWarning)
            function(**arguments)
    except UserError as error:
        if not all(sentence.isprintable() for sentence in error.sentences):
            return f"a sentence that does not print: {error!r}"[:300]
    except BaseException as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{Path(last.filename).name}:{last.lineno}"
        try:
            text = str(error)[:200]
        except Exception:
            text = ""
        return f"{type(error).__name__} in {where}: {text}"
    return ""


def shown(value: Any) -> str:
    try:
        return ascii(value)[:80]
    except Exception:
        return "<without a repr>"


def run(cases: int, first: int = 0) -> int:
    """Run so many cases; gives how many failed."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory(prefix="raytracer-fuzz-") as name, contextlib.chdir(name):
        known = calls(Path(name))
        for case, (function, arguments) in known.items():
            said = failure(function, arguments)
            if said:
                raise SystemExit(f"{case} with right arguments: {said}")
        names = list(known)
        for number in range(first, first + cases):
            rng = random.Random(number)
            case = names[number % len(names)]
            function, right = known[case]
            chosen = rng.sample(list(right), min(rng.choice((1, 1, 2)), len(right)))
            odd = {key: rng.choice(rng.choice((ODD, FOREIGN)))() for key in chosen}
            if case in ("bench", "preview"):
                odd["backend"] = "nowhere"  # nothing is measured, and no window turns for ever
            said = failure(function, right | odd)
            if said:
                key = f"{case}: {said}"
                found[key] += 1
                if found[key] == 1:
                    what = ", ".join(f"{name}={shown(value)}" for name, value in odd.items())
                    print(f"case {number}: {case}({what}): {said}", flush=True)
    print(f"{cases:,} cases, {sum(found.values()):,} failures of {len(found)} kinds")
    return sum(found.values())


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Call the public functions with odd arguments.")
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    options = parser.parse_args()
    sys.exit(1 if run(options.cases, options.first) else 0)
