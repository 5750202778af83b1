"""Scene to buffers: recentred and scaled in float64, colours to linear light, then float32.

Nothing of the size of all spheres is made in float64: blocks of rows are transformed and written
straight into the float32 arrays that the backends use.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from raytracer.buffers import SceneBuffers
from raytracer.errors import naming
from raytracer.scene.camera import Camera
from raytracer.scene.materials import Material, pack_material
from raytracer.scene.packing.large_spheres import find_large
from raytracer.scene.packing.lighting import ambient_of, environment, pack_lights
from raytracer.scene.packing.pack_colors import color_bytes, pack_colors
from raytracer.scene.packing.pose import Pose, posed
from raytracer.scene.packing.render_space import Space, place, render_space
from raytracer.settings import LOOKS, RenderSettings
from raytracer.view import frame_of
from raytracer.warning import warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.packing.framing import Outliers, Spheres
    from raytracer.scene.scene import Scene


def pack(scene: Scene, settings: RenderSettings | None = None) -> SceneBuffers:
    """Turn a scene into the arrays that a backend renders; see `pack_with_camera`."""
    return pack_with_camera(scene, settings)[0]


def pack_with_camera(
    scene: Scene, settings: RenderSettings | None = None
) -> tuple[SceneBuffers, Camera]:
    """Turn a scene into the arrays that a backend renders.

    Args:
        scene: what to show.
        settings: None takes the scene's own.

    Returns:
        The buffers (see `SceneBuffers` for shapes and spaces), and the camera of the picture, with
        the position that it was fitted to.

    Raises:
        SceneError: a sphere that float32 cannot hold, or a camera that fits nothing.
    """
    with naming(scene.source):
        return _packed(scene, settings or scene.render)


def _packed(scene: Scene, settings: RenderSettings) -> tuple[SceneBuffers, Camera]:
    """Return arrays and camera; see `pack_with_camera`."""
    import numpy as np

    from raytracer.layout import code

    sets = [s for s in scene.spheres if s.count]
    space = render_space(sets)
    spheres = place(sets, space)
    color, color_id, color_mode = pack_colors(sets)
    materials, material_id = _pack_materials(scene)
    aspect = settings.width / settings.height
    stand, stated = posed(scene.camera or Camera(), spheres, space, aspect)
    _warn_of(stand.outliers, spheres, space)
    camera = stand.pack(aspect)
    lights = pack_lights(scene.lights, space, stand.axes, settings)
    large_id, large = find_large(sets, space, spheres[3])
    frame = _pack_frame(
        replace(scene, camera=stated),
        settings,
        space.scale,
        large_count=len(large),
        color_mode=code("ColorMode", color_mode),
        light_count=len(lights),
        material_count=len(materials),
        material_mode=code("MaterialMode", "indexed" if len(material_id) else "uniform"),
    )
    for ids in (color_id, material_id):
        ids.setflags(write=False)  # a backend checks them once, and copies those that may change
    buffers = SceneBuffers(
        *spheres, color, color_id, material_id, camera, lights, materials, frame,
        center=np.asarray(space.center, np.float64), scale=space.scale,
        large_id=large_id, large=large,
    ).check()  # fmt: skip
    return buffers, stated


def _pack_frame(
    scene: Scene, settings: RenderSettings, scale: float, **tables: int
) -> NDArray[np.void]:
    """Return the whole picture as one frame, structured (1,).

    Args:
        scene: for its background and ambient light.
        settings: size and sampling.
        scale: length of a unit of render space, in scene units.
        tables: the frame's counts and modes, which say how tables of the scene are read.
    """
    ambient = ambient_of(scene.ambient, scene.lights, LOOKS[settings.look])
    return frame_of(
        **settings.packed(scale),
        x1=settings.width,
        y1=settings.height,
        **environment(scene.background, ambient, scene.camera),
        **tables,
    )


def _warn_of(outliers: Outliers | None, spheres: Spheres, space: Space) -> None:
    """Say how many spheres a fitted camera leaves out, and how to include them."""
    if outliers is None:
        return
    verb = "is" if outliers.total == 1 else "are"
    row = outliers.farthest
    center = zip(spheres[:3], space.center, strict=True)
    place = [float(axis[row]) * space.scale + middle for axis, middle in center]
    digit = max(map(abs, place)) * 1e-6  # float32 holds about as much
    shown = ", ".join(f"{0.0 if abs(v) < digit else v:g}" for v in place)
    warn(
        f"{outliers.total:,} of {len(spheres[0]):,} spheres {verb} far away from the others and "
        f"left out of the frame, the farthest sphere {row} at ({shown}): to frame every sphere, "
        'say fit = "all" under [camera] in a scene file, or Camera(fit="all")'
    )


def packed_looks(scene: Scene) -> int:
    """Return the bytes that colours, colour ids and material ids will take when packed."""
    sets = [s for s in scene.spheres if s.count]
    count = sum(s.count for s in sets)
    same = len({scene.material_of(s) for s in sets}) < 2
    return color_bytes(sets) + (0 if same else 4 * count)


def nbytes(scene: Scene) -> int:
    """Return the bytes of the arrays of a scene, each memory counted once."""
    owners: dict[int, int] = {}
    for spheres in scene.spheres:
        for array in (spheres.centers, spheres.radius, spheres.color, spheres.color_id):
            owner: Any = array
            while getattr(getattr(owner, "base", None), "nbytes", None) is not None:
                owner = owner.base
            owners[id(owner)] = getattr(owner, "nbytes", 0)
    return sum(owners.values())


def camera_of(
    scene: Scene, settings: RenderSettings, buffers: SceneBuffers | None = None
) -> Camera:
    """Return the camera of a scene in scene units, with the position that it is fitted to.

    Args:
        scene: what to show.
        settings: for the size of the picture.
        buffers: what `pack` made of it; None places the spheres anew.

    Raises:
        SceneError: a sphere that float32 cannot hold.
    """
    with naming(scene.source):
        return _camera_of(scene, settings, buffers)


def _camera_of(scene: Scene, settings: RenderSettings, buffers: SceneBuffers | None) -> Camera:
    """Return the camera; see `camera_of`."""
    camera = scene.camera or Camera()
    if not camera.fit and camera.look_at is not None and camera.zoom == 1.0:
        return camera.settled()
    if buffers is None:
        sets = [s for s in scene.spheres if s.count]
        space = render_space(sets)
        spheres = place(sets, space)
    else:
        x, y, z = (float(v) for v in buffers.center)
        space = Space((x, y, z), buffers.scale)
        spheres = buffers.x, buffers.y, buffers.z, buffers.radius
    return posed(camera, spheres, space, settings.width / settings.height)[1]


def retake(
    buffers: SceneBuffers, scene: Scene, settings: RenderSettings, stand: Pose
) -> SceneBuffers:
    """Return the same spheres and materials with another camera, light, background or size.

    Args:
        buffers: what `pack` made of the scene's spheres; its arrays are shared.
        scene: for its lights, ambient light and background.
        settings: size and sampling.
        stand: the camera.

    Raises:
        SceneError: a camera that float32 cannot hold.
    """
    x, y, z = (float(v) for v in buffers.center)
    with naming(scene.source):
        space = Space((x, y, z), buffers.scale)
        lights = pack_lights(scene.lights, space, stand.axes, settings)
        same = ("color_mode", "material_count", "material_mode", "large_count")
        tables = {name: int(buffers.frame["scene"][name][0]) for name in same}
        frame = _pack_frame(scene, settings, buffers.scale, light_count=len(lights), **tables)
        camera = stand.pack(settings.width / settings.height)
    return replace(buffers, camera=camera, lights=lights, frame=frame)


def _pack_materials(scene: Scene) -> tuple[NDArray[np.void], NDArray[np.int32]]:
    """Return the different materials in use, and which sphere has which unless all are alike."""
    import numpy as np

    from raytracer.layout import dtype

    sets = [s for s in scene.spheres if s.count]
    used: dict[Material, int] = {}
    of_set = [used.setdefault(scene.material_of(s), len(used)) for s in sets]
    if not used:
        used[Material()] = 0
    materials = np.zeros(len(used), dtype("Material"))
    for material, index in used.items():
        pack_material(material, materials[index])
    if len(used) == 1:
        return materials, np.zeros(0, np.int32)
    counts = [s.count for s in sets]
    return materials, np.repeat(np.array(of_set, np.int32), counts)
