"""Points and curves for programs that read USD, as Blender, Houdini and Omniverse.

Blender imports `UsdGeomPoints` as a point cloud, whose points Cycles and EEVEE render as spheres of
their widths. Points of glTF have no radius.
"""

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import InstallError, SceneError
from raytracer.config.warning import warn
from raytracer.exporting.figure import Figure, warn_of_omissions
from raytracer.model.annotations import IN_SCENE, Annotations
from raytracer.model.arrays import silence_numpy
from raytracer.model.colors import srgb_to_linear
from raytracer.model.scene import Scene
from raytracer.rendering.measurements import collect_columns
from raytracer.rendering.pipeline import PreparedScene
from raytracer.system.resources import hold_signals

VERTEX = "vertex"  # interpolation of values of each point
MAX_COLUMN_PARTS = 3  # numbers of a value of a column: USD has primvars of one, two and three


def require_usd() -> None:
    """Raise InstallError if USD's own package is not installed."""
    try:
        with hold_signals():  # its modules swallow the exceptions of handlers
            from pxr import Sdf, Tf, Usd, UsdGeom, Vt  # noqa: F401
    except ImportError as error:
        raise InstallError(
            "files of USD need its package: pip install 'raytracer[usd]'; a page (.html) needs none"
        ) from error


def write_points(job: PreparedScene, figure: Figure, suffix: str, file: BinaryIO) -> None:
    """Write the spheres and capsules of a scene to an open file, as text if the suffix is .usda."""
    from pxr import Sdf, Usd, UsdGeom

    assert job.kept is not None
    scene, wanted = job.kept[0], Annotations() if job.plan is None else job.plan.annotations
    warn_of_omissions(job, "USD", {
        "the legend": wanted.legend is not None,
        "texts": bool(wanted.texts),
        "the scale bar": wanted.scale_bar is not None,
        "axes": wanted.axes is not None and wanted.axes.place not in IN_SCENE,
        "the box": wanted.box is not None and wanted.box.style != "rods",
    })  # fmt: skip
    # the library chooses the format by the ending, which a temporary file does not have
    layer = Sdf.Layer.CreateAnonymous(".usda" if suffix == ".usda" else ".usdc")
    stage = Usd.Stage.Open(layer)
    root = UsdGeom.Xform.Define(stage, "/figure")
    stage.SetDefaultPrim(root.GetPrim())
    z_is_up = job.camera is None or abs(job.camera.upward[2]) >= abs(job.camera.upward[1])
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z if z_is_up else UsdGeom.Tokens.y)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)  # Blender scales by it; scene units stay
    # centred: float32 positions far from the origin would lose their digits
    UsdGeom.XformCommonAPI(root).SetTranslate(job.space.center)
    scale = job.space.scale
    if len(figure.radius):
        points = UsdGeom.Points.Define(stage, "/figure/spheres")
        radius, positions = scale * figure.radius, figure.positions * scale
        extent = UsdGeom.Points.ComputeExtent(*_paint(points, positions, radius, figure.colors))
        points.CreateExtentAttr(extent)
        _add_columns(points, scene)
    if len(figure.rods.radius):
        _add_rods(stage, figure, scale)
    if not layer.Export(str(file.name), args={"format": suffix[1:]} if suffix != ".usd" else {}):
        raise SceneError(f"{Path(file.name).name}: USD cannot write the file")


def _add_rods(stage: Any, figure: Figure, scale: float) -> None:
    from pxr import UsdGeom, Vt

    rods = figure.rods
    ends = np.stack([rods.start, rods.end], axis=1).reshape(-1, 3)
    curves = UsdGeom.BasisCurves.Define(stage, "/figure/bonds")
    curves.CreateTypeAttr(UsdGeom.Tokens.linear)
    counts = np.full(len(rods.radius), 2, np.int32)
    curves.CreateCurveVertexCountsAttr(Vt.IntArray.FromNumpy(counts))
    _paint(curves, ends * scale, np.repeat(scale * rods.radius, 2), rods.colors.reshape(-1, 4))


def _paint(
    shape: Any, positions: NDArray[Any], radius: NDArray[Any], colors: NDArray[np.uint8]
) -> tuple[Any, Any]:
    """Give points or curves positions, widths, linear colours, and opacities where any is not 1;
    return positions and widths."""
    places, widths = _to_usd_floats(positions), _to_usd_floats(2.0 * radius)
    shape.CreatePointsAttr(places)
    shape.CreateWidthsAttr(widths)
    shape.SetWidthsInterpolation(VERTEX)
    linear = srgb_to_linear(colors[:, :3] / 255.0)
    shape.CreateDisplayColorPrimvar(VERTEX).Set(_to_usd_floats(linear))
    if (colors[:, 3] < 255).any():
        shape.CreateDisplayOpacityPrimvar(VERTEX).Set(_to_usd_floats(colors[:, 3] / 255.0))
    return places, widths


def _add_columns(points: Any, scene: Scene) -> None:
    """Add columns of numbers as primvars, which Blender reads as attributes."""
    from pxr import Sdf, Tf, UsdGeom

    primvars = UsdGeom.PrimvarsAPI(points)
    used, omitted = {"displayColor", "displayOpacity", "widths"}, []
    for name, values in collect_columns([each for each in scene.spheres if each.count]).items():
        wide = values.reshape(len(values), -1)
        if values.dtype.kind not in "biuf" or wide.shape[1] not in (1, MAX_COLUMN_PARTS):
            omitted.append(name)
            continue
        word = Tf.MakeValidIdentifier(name)
        while word in used:
            word += "_"
        used.add(word)
        kind, cast = _to_usd_values(wide[:, 0] if wide.shape[1] == 1 else wide)
        primvars.CreatePrimvar(word, getattr(Sdf.ValueTypeNames, kind), VERTEX).Set(cast)
    if omitted:
        warn(f"columns {', '.join(omitted)} are left out: they are no numbers, or more than three")


def _to_usd_values(values: NDArray[Any]) -> tuple[str, Any]:
    """Return USD's type of a column (N,) or (N, 3), and its values; integers stay exact."""
    from pxr import Vt

    is_single, is_whole = values.ndim == 1, values.dtype.kind in "iu" and len(values) > 0
    least, most = (int(values.min()), int(values.max())) if is_whole else (0, 0)
    if is_whole and least >= -(2**31) and most < 2**31:
        kind, array, dtype = ("Int", "Int", "i4") if is_single else ("Int3", "Vec3i", "i4")
    elif is_whole and is_single:
        kind, dtype = ("Int64", "i8") if most < 2**63 else ("UInt64", "u8")
        array = kind
    else:
        return "FloatArray" if is_single else "Float3Array", _to_usd_floats(values)
    cast = np.ascontiguousarray(values, dtype)
    return f"{kind}Array", getattr(Vt, f"{array}Array").FromNumpy(cast)


@silence_numpy()
def _to_usd_floats(values: NDArray[Any]) -> Any:
    """Return numbers (N,) or vectors (N, 3) as those of USD."""
    from pxr import Vt

    kind = Vt.FloatArray if values.ndim == 1 else Vt.Vec3fArray
    return kind.FromNumpy(np.ascontiguousarray(values, np.float32))
