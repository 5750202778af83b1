"""Points for other programs, read back by USD's own package."""

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import CapsuleSet, Scene, SphereSet, UserError


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
