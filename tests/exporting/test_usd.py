"""Points for other programs, read back by USD's own package."""

from __future__ import annotations

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
