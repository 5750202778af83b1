"""What `raytracer scene check` says about a scene."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from raytracer import memory
from raytracer.files.access import STANDARD_INPUT, path_of

if TYPE_CHECKING:
    from raytracer.buffers import SceneBuffers
    from raytracer.scene.scene import Light, Scene


def describe(file: str) -> dict[str, Any]:
    """Load a scene with all its data and pack it; gives what is in it, as JSON types.

    Raises UserError with what is wrong.
    """
    from raytracer.scene.load import load
    from raytracer.scene.pack import camera_of, pack, packed_looks

    scene = load(file)
    packed = memory.Need(scene.count, 1, 1, looks=packed_looks(scene)).stages["pack"]
    memory.require_room(file, packed, "to be checked")
    buffers = pack(scene)
    camera = _fields(camera_of(scene, scene.render, buffers))
    if scene.camera is None or scene.camera.fit:
        camera["fit"] = scene.camera.fit if scene.camera else True
        camera |= {"fitted": f"to {scene.render.width}x{scene.render.height} pixels"}
    found = {"title": scene.title, "caption": scene.caption, "spheres": scene.count}
    return found | {
        "files": _files(file, scene),
        "bounds": _bounds(buffers),
        "sets": [_spheres(index, scene) for index in range(len(scene.spheres))],
        "camera": camera,
        "lights": _lights(scene),
        "materials": {name: _fields(material) for name, material in scene.materials.items()},
        "render": asdict(scene.render),
    }


def _files(file: str, scene: Scene) -> list[dict[str, Any]]:
    """Every file that was read, the scene file or the particles first."""
    from raytracer.scene.compose import is_outside

    own = path_of(file)
    data = {each.file.path: each.file.size for each in scene.spheres if each.file is not None}
    sizes = {own.absolute(): own.stat().st_size} | data if own != STANDARD_INPUT else data
    found: list[dict[str, Any]] = []
    for path, size in sizes.items():
        row: dict[str, Any] = {"file": str(path), "bytes": size}
        if path != own.absolute() and is_outside(own.absolute().parent, path):
            row["outside"] = str(path.resolve())
        found.append(row)
    return found


def _bounds(buffers: SceneBuffers) -> dict[str, list[float]]:
    """Corners of the box around all spheres, and the range of radii, in scene units."""
    if buffers.count == 0:
        return {}
    low, high = [], []
    for axis, center in zip((buffers.x, buffers.y, buffers.z), buffers.center, strict=True):
        low.append(float(center + buffers.scale * float((axis - buffers.radius).min())))
        high.append(float(center + buffers.scale * float((axis + buffers.radius).max())))
    radii = [buffers.scale * float(edge) for edge in (buffers.radius.min(), buffers.radius.max())]
    return {"low": low, "high": high, "radii": radii}


def _spheres(index: int, scene: Scene) -> dict[str, Any]:
    """One sphere set."""
    spheres = scene.spheres[index]
    name = spheres.material if isinstance(spheres.material, str) else "its own"
    found = {"spheres": spheres.count, "material": name}
    return found | ({"file": spheres.source} if spheres.source else {})


def _lights(scene: Scene) -> list[dict[str, Any]] | str:
    if scene.lights is None:
        return "one from the camera's upper left"
    return [_light(light) for light in scene.lights]


def _light(light: Light) -> dict[str, Any]:
    kind = type(light).__name__.removesuffix("Light").lower()
    return {"type": kind} | _fields(light)


def _fields(value: Any) -> dict[str, Any]:
    """The fields of a dataclass that are set."""
    return {key: item for key, item in asdict(value).items() if item is not None}
