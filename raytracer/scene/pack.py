"""Scene to buffers: recentred and scaled in float64, colours to linear light, then float32.

Nothing of the size of all spheres is made in float64: blocks of rows are transformed and written
straight into the float32 arrays that the backends use.
"""

from __future__ import annotations

from math import radians, tan
from typing import TYPE_CHECKING

from ..buffers import SceneBuffers
from ..errors import SceneError
from ..settings import RenderSettings
from . import fit
from .lighting import pack_frame, pack_lights
from .looks import CAMERA_TYPES, Camera, Material
from .paint import pack_colors
from .placing import Space, place, render_space
from .scene import Scene

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def pack(scene: Scene, settings: RenderSettings | None = None) -> SceneBuffers:
    """Turn a scene into the arrays that a backend renders.

    Args:
        scene: what to show.
        settings: None takes the scene's own.

    Returns:
        The buffers; see `SceneBuffers` for shapes and spaces.

    Raises:
        SceneError: a sphere that float32 cannot hold, or a camera that fits nothing.
    """
    import numpy as np

    settings = settings or scene.render
    sets = [s for s in scene.spheres if s.count]
    space = render_space(sets)
    spheres = place(sets, space)
    color, color_id, color_mode = pack_colors(sets)
    materials, material_id = _pack_materials(scene)
    camera, axes = _pack_camera(scene.camera or Camera(), spheres, space, settings)
    lights = pack_lights(scene, space, axes)
    frame = pack_frame(scene, settings)
    frame["color_mode"] = color_mode
    frame["light_count"] = len(lights)
    frame["material_count"] = len(materials)
    frame["material_mode"] = int(len(material_id) > 0)
    return SceneBuffers(
        *spheres, color, color_id, material_id, camera, lights, materials, frame,
        center=np.asarray(space.center, np.float64), scale=space.scale,
    )  # fmt: skip


def _pack_materials(scene: Scene) -> tuple[NDArray[np.void], NDArray[np.int32]]:
    """Return the different materials in use, and which sphere has which unless all are alike."""
    import numpy as np

    from ..layout import dtype

    sets = [s for s in scene.spheres if s.count]
    used: dict[Material, int] = {}
    of_set = [used.setdefault(scene.material_of(s), len(used)) for s in sets]
    if not used:
        used[Material()] = 0
    materials = np.zeros(len(used), dtype("Material"))
    for material, index in used.items():
        for name in ("ambient", "diffuse", "specular", "shininess", "mirror"):
            materials[index][name] = getattr(material, name)
    if len(used) == 1:
        return materials, np.zeros(0, np.int32)
    counts = [s.count for s in sets]
    return materials, np.repeat(np.array(of_set, np.int32), counts)


def _pack_camera(
    camera: Camera, spheres: fit.Spheres, space: Space, settings: RenderSettings
) -> tuple[NDArray[np.void], fit.Basis]:
    """Return the camera in render space and the axes of its view."""
    import numpy as np

    from ..layout import dtype

    aspect = settings.width / settings.height
    axes = fit.basis(np.array(camera.backward(), np.float64), np.array(camera.up, np.float64))
    half = tan(radians(camera.vertical_fov) / 2.0)
    if camera.fit or camera.position is None:
        if camera.type == "perspective":
            eye = fit.perspective(spheres, axes, half, aspect)
        else:
            eye, half = fit.orthographic(spheres, axes, aspect)
    else:
        eye = space.point(camera.position)
        if camera.height is not None and camera.type == "orthographic":
            half = camera.height / 2.0 / space.scale
    packed = np.zeros(1, dtype("Camera"))
    packed["kind"] = CAMERA_TYPES.index(camera.type)
    packed["origin"] = eye
    packed["forward"] = axes.forward
    packed["right"] = axes.right * (half * aspect)
    packed["up"] = axes.up * half
    if not all(np.isfinite(packed[name]).all() for name in ("origin", "right", "up")):
        raise SceneError("camera.position: too far from the spheres for 32-bit numbers; move it")
    return packed, axes
