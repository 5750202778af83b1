"""Exports as users make them: whole files, USD read back by its package, and refusals."""

import json
import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import CapsuleSet, Scene, SphereSet, UserError
from raytracer.commands.cli import main
from raytracer.drawing.fonts import typeset

ATOMS = "3\nProperties=species:S:1:pos:R:3:charge:R:1\nO 0 0 0 -0.8\nH 1 0 0 0.4\nH 0 1 0 0.4\n"


@pytest.fixture
def atoms(tmp_path: Path) -> Path:
    path = tmp_path / "water.xyz"
    path.write_text(ATOMS)
    return path


def head_of(page: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="head">(.*?)</script>', page)
    assert found is not None
    head: dict[str, Any] = json.loads(found[1])
    return head


def test_a_page_needs_nothing_else(atoms: Path, tmp_path: Path) -> None:
    target = raytracer.export(atoms, tmp_path / "water.html", backend="cpu", samples=1)
    page = target.read_text(encoding="utf-8")
    assert head_of(page)["spheres"] == 3
    links = re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]*)""", page)
    assert set(links) <= {"data:,"}
    assert not re.search(r"\bimport\b.*from|@import|url\(", page)
    outside = set(re.findall(r"https?://[^\s\"'<]*", page))
    assert outside <= {"http://www.w3.org/2000/svg"}  # a name of XML, which nobody opens
    assert page.endswith("</html>\n")


def test_it_takes_the_settings_of_style(atoms: Path, tmp_path: Path) -> None:
    styles: list[dict[str, Any]]
    styles = [{}, {"color_by": "charge"}, {"color_by": "charge", "map": "magma"}]
    pages = [
        raytracer.export(atoms, tmp_path / "a.html", backend="cpu", **style).read_bytes()
        for style in styles
    ]
    assert len(set(pages)) == 3
    with pytest.raises(TypeError, match="unexpected keyword argument 'colour_by'"):
        raytracer.export(atoms, tmp_path / "a.html", colour_by="charge")  # type: ignore[call-arg]


def test_a_title_that_is_markup_stays_text(atoms: Path, tmp_path: Path) -> None:
    title = "</script><b>&"
    target = raytracer.export(
        atoms,
        tmp_path / "a.html",
        annotations={"texts": [raytracer.TextLabel(title)]},
        backend="cpu",
    )
    page = target.read_text(encoding="utf-8")
    assert title not in page
    assert "<b>" not in page


@pytest.mark.parametrize("unit", ["meter", "e", "1e5", "-Å", "μm"])
def test_any_unit_of_a_scale_bar_is_in_the_page(unit: str, atoms: Path) -> None:
    """Only the number is typeset: that of "1e5" has an exponent."""
    target = atoms.with_suffix(".html")
    words = ["-o", str(target), f"--scale-bar=unit={unit}", "--ortho", "--backend", "cpu", "-q"]
    assert main(["export", str(atoms), *words]) == 0
    assert head_of(target.read_text(encoding="utf-8"))["bar"]["unit"] == unit


@pytest.mark.parametrize(
    ("text", "expected"),
    [("-2.5e6", "−2.5×10⁶"), ("1e-07", "10⁻⁷"), ("-3", "−3"), ("-inf", "−inf"), ("nan", "nan"),
     ("Dec 5", "Dec 5"), ("e", "e"), ("", ""), ("-Å", "-Å"), ("2e", "2e")],
)  # fmt: skip
def test_numbers_are_typeset_and_other_texts_are_unchanged(text: str, expected: str) -> None:
    assert typeset(text) == expected


def test_the_command_writes_what_it_says(
    atoms: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(atoms.parent)
    assert main(["export", "water.xyz", "--backend", "cpu", "--size", "64x48"]) == 0
    assert "wrote water.html:" in capsys.readouterr().out
    assert main(["export", "water.xyz", "--backend", "cpu", "--json"]) == 0
    about = json.loads(capsys.readouterr().out)
    assert about["output"] == "water-2.html"  # the first one is kept
    assert about["bytes"] == (atoms.parent / "water-2.html").stat().st_size
    assert head_of((atoms.parent / "water.html").read_text())["size"] == [64, 48]


def test_columns_are_named_and_files_are_shown_together(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("a,b,c,size\n0,0,0,1\n3,0,0,1\n")
    (tmp_path / "two.csv").write_text("a,b,c,size\n0,3,0,1\n")
    files = [str(tmp_path / name) for name in ("one.csv", "two.csv")]
    target = tmp_path / "both.html"
    names = "--columns=x=a,y=b,z=c,radius=size"
    assert main(["export", *files, names, "-o", str(target), "--backend", "cpu", "-q"]) == 0
    assert head_of(target.read_text(encoding="utf-8"))["spheres"] == 3


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("figure.htm", "an export ends in .html"),
        ("figure", "an export ends in .html"),
        ("figure.glb", "an export ends in .html"),
        ("nowhere/figure.html", "there is no folder"),
    ],
)
def test_a_wrong_path_is_refused_before_the_scene_is_read(
    name: str, words: str, tmp_path: Path
) -> None:
    with pytest.raises(UserError, match=words) as caught:
        raytracer.export(tmp_path / "no such scene.xyz", tmp_path / name)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.filterwarnings("ignore::raytracer.RaytracerWarning")
def test_nothing_is_no_figure(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to export"):
        raytracer.export(Scene([]), tmp_path / "a.html", backend="cpu")
    assert list(tmp_path.iterdir()) == []


def test_a_panorama_is_refused(atoms: Path, tmp_path: Path) -> None:
    camera = raytracer.Camera(position=(0.0, 0.0, 5.0), type="panorama")
    with pytest.raises(UserError, match="no panorama camera"):
        raytracer.export(atoms, tmp_path / "a.html", camera=camera, backend="cpu")
    assert not (tmp_path / "a.html").exists()


def test_what_a_page_does_not_show_is_told(tmp_path: Path) -> None:
    scene = Scene.from_arrays(np.eye(3), 0.3)
    with pytest.warns(raytracer.RaytracerWarning, match="does not show outlines"):
        raytracer.export(scene, tmp_path / "a.html", annotations={"outline": True}, backend="cpu")


def test_columns_that_do_not_fit_are_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("raytracer.exporting.page.MAX_BYTES", 20_000)
    rng = np.random.default_rng(0)
    count = 3000
    columns = {"small": np.arange(count), "noise": rng.normal(size=count)}
    scene = Scene.from_arrays(rng.uniform(-1, 1, (count, 3)), 0.05, columns=columns)
    with pytest.warns(raytracer.RaytracerWarning, match="columns .*noise.* are left out"):
        target = raytracer.export(scene, tmp_path / "a.html", look="plain", backend="cpu")
    names = [each["name"] for each in head_of(target.read_text())["columns"]]
    assert "noise" not in names


def column_names(path: Path) -> set[str]:
    return {each["name"] for each in head_of(path.read_text(encoding="utf-8"))["columns"]}


def test_a_column_that_cannot_be_read_is_named_and_left_out(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("x,y,z,tag,mass\n0,0,0,1,5\n1,0,0,2,6\n0,1,0,B3,7\n")
    with pytest.warns(raytracer.RaytracerWarning, match=r"column 'tag' is left out.*'B3'"):
        page = raytracer.export(tmp_path / "a.csv", tmp_path / "a.html", backend="cpu")
    assert column_names(page) == {"mass"}


@pytest.fixture
def pxr() -> Any:
    return pytest.importorskip("pxr", reason="the extra usd is missing")


def scene() -> Scene:
    spheres = Scene.from_arrays(
        [[1e4, 0.0, 0.0], [1e4, 2.0, 0.0]], [0.5, 0.25],
        colors=np.array([[255, 0, 0], [0, 128, 0]], np.uint8),
        columns={"charge": [0.5, -1.5], "flow rate": [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]},
    )  # fmt: skip
    rod = CapsuleSet([[1e4, 0.0, 0.0]], [[1e4, 2.0, 0.0]], 0.125, color=(0.0, 0.0, 1.0))
    return Scene(spheres.spheres, capsules=[rod])


@pytest.mark.parametrize("suffix", ["usdc", "usda", "usd"])
def test_points_have_places_widths_and_colours(pxr: Any, suffix: str, tmp_path: Path) -> None:
    from pxr import Usd, UsdGeom

    path = raytracer.export(scene(), tmp_path / f"points.{suffix}", backend="cpu")
    stage = Usd.Stage.Open(str(path))
    assert stage.GetDefaultPrim().GetPath() == "/figure"
    points = UsdGeom.Points(stage.GetPrimAtPath("/figure/spheres"))
    to_world = np.array(points.ComputeLocalToWorldTransform(Usd.TimeCode.Default()))
    places = np.array(points.GetPointsAttr().Get(), np.float64) @ to_world[:3, :3] + to_world[3, :3]
    np.testing.assert_allclose(places, [[1e4, 0, 0], [1e4, 2, 0]], atol=1e-6)
    widths = np.array(points.GetWidthsAttr().Get())
    np.testing.assert_allclose(widths, [1.0, 0.5], rtol=1e-6)
    color = np.array(points.GetDisplayColorAttr().Get())
    np.testing.assert_allclose(color, [[1.0, 0.0, 0.0], [0.0, 0.2158605, 0.0]], atol=1e-5)  # linear
    primvars = UsdGeom.PrimvarsAPI(points)
    np.testing.assert_allclose(primvars.GetPrimvar("charge").Get(), [0.5, -1.5])
    np.testing.assert_allclose(primvars.GetPrimvar("flow_rate").Get(), [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("up", "axis"),
    [
        ((0, 0, 1), "Z"), ((0, 0, -1), "Z"), ((0.1, 0.2, 0.9), "Z"),
        ((0, 1, 0), "Y"), ((0, -1, 0), "Y"), ((0.1, 0.9, 0.2), "Y"),
    ],
)  # fmt: skip
def test_the_upward_axis_is_that_of_the_camera(
    pxr: Any, up: tuple[float, float, float], axis: str, tmp_path: Path
) -> None:
    """Figures would lie on their side in Blender."""
    from pxr import Usd, UsdGeom

    seen = scene()
    seen.camera = raytracer.Camera(position=(1e4, -9, 3), look_at=(1e4, 0, 0), up=up)
    path = raytracer.export(seen, tmp_path / "points.usda", backend="cpu")
    assert UsdGeom.GetStageUpAxis(Usd.Stage.Open(str(path))) == axis


def test_columns_of_integers_stay_exact(pxr: Any, tmp_path: Path) -> None:
    from pxr import Usd, UsdGeom

    columns = {
        "id": np.array([2**24 + 1, -5]),
        "far": np.array([2**53 + 1, -(2**40)]),
        "hash": np.array([2**64 - 1, 0], np.uint64),
        "cell": np.array([[2**24 + 1, 0, -1], [1, 2, 3]]),
    }
    scene = Scene.from_arrays([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], 0.5, columns=columns)
    path = raytracer.export(scene, tmp_path / "points.usda", backend="cpu")
    stage = Usd.Stage.Open(str(path))
    primvars = UsdGeom.PrimvarsAPI(stage.GetPrimAtPath("/figure/spheres"))
    for name, values in columns.items():
        assert np.array(primvars.GetPrimvar(name).Get()).tolist() == values.tolist(), name
    kinds = [str(primvars.GetPrimvar(name).GetTypeName()) for name in columns]
    assert kinds == ["int[]", "int64[]", "uint64[]", "int3[]"]


def test_what_points_do_not_show_is_told(pxr: Any, tmp_path: Path) -> None:
    scene = Scene(Scene.from_arrays(np.eye(3), 0.3).spheres, clip=raytracer.Clip(remove="x > 0.5"))
    annotations = {"outline": True, "texts": [raytracer.TextLabel("water")], "axes": True}
    words = "USD does not show clipping planes, texts, axes, outlines"
    with pytest.warns(raytracer.RaytracerWarning, match=words):
        raytracer.export(scene, tmp_path / "a.usda", annotations=annotations, backend="cpu")


def test_bonds_are_curves(pxr: Any, tmp_path: Path) -> None:
    from pxr import Usd, UsdGeom

    path = raytracer.export(scene(), tmp_path / "points.usdc", backend="cpu")
    stage = Usd.Stage.Open(str(path))
    curves = UsdGeom.BasisCurves(stage.GetPrimAtPath("/figure/bonds"))
    assert list(curves.GetCurveVertexCountsAttr().Get()) == [2]
    np.testing.assert_allclose(curves.GetWidthsAttr().Get(), [0.25, 0.25])
    ends = np.array(curves.GetPointsAttr().Get())
    np.testing.assert_allclose(ends[1] - ends[0], [0, 2, 0], atol=1e-5)


def test_without_its_package_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pxr", None)
    with pytest.raises(UserError, match=r"pip install 'raytracer\[usd\]'"):
        raytracer.export(Scene([SphereSet(np.eye(3), 0.2)]), tmp_path / "points.usdc")
    assert list(tmp_path.iterdir()) == []


PXR = """
import os, signal, time
try:
    os.kill(os.getpid(), signal.{name})
    time.sleep(0.05)
except BaseException:  # as the initialisation of its modules in C++
    pass
Sdf = Tf = Usd = UsdGeom = Vt = None
"""


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT", "SIGHUP"])
def test_a_signal_during_the_import_of_usd_ends_the_command(
    name: str, atoms: Path, tmp_path: Path
) -> None:
    (tmp_path / "pxr.py").write_text(PXR.format(name=name))
    words = [sys.executable, "-m", "raytracer", "export", str(atoms), "-o", "a.usda"]
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [*words, "--backend", "cpu"], cwd=tmp_path, capture_output=True, text=True, check=False,
        env=environment,
    )  # fmt: skip
    assert done.returncode == 128 + getattr(signal, name), done.stderr
    assert done.stderr.strip().startswith("raytracer: stopped by ")
    assert not (tmp_path / "a.usda").exists()


@pytest.mark.parametrize(
    "words",
    [
        ["render", "water.xyz", "--samples", "1", "-o", "{}.png", "--film", "{}.npz"],
        ["export", "water.xyz", "-o", "{}.html"],
        ["animate", "water.xyz", "--turntable", "0.1s", "--samples", "1", "-o", "{}_%d.png"],
        ["scene", "generate", "cloud", "--count", "9", "-o", "{}.npz"],
        ["measure", "water.xyz", "-o", "{}.csv"],
    ],
)
def test_a_line_break_in_the_name_of_an_output_is_escaped(
    words: list[str], atoms: Path, monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:  # fmt: skip
    monkeypatch.chdir(atoms.parent)
    name = "a\nraytracer: all is well"
    size = ["--size", "16x12"] if words[0] in ("render", "animate") else []
    assert main([*(word.replace("{}", name) for word in words), *size]) == 0
    said = capsys.readouterr().out
    assert "a\\nraytracer: all is well" in said
    assert "\nraytracer: all" not in said
    if words[0] == "render":
        assert main(["tone", f"{name}.npz", "-o", f"{name}.png"]) == 0
        assert capsys.readouterr().out.count("\n") == 1
