"""Packing: spheres to render space, colours to linear light, in float64, then float32.

Compiled code transforms spheres one by one, straight into the float32 arrays of the backends, so no
float64 array has the size of all spheres.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import accumulate
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer._native import core
from raytracer.config.errors import SceneError, prefix_errors
from raytracer.config.warning import warn
from raytracer.model.arrays import align, check_centers, check_radius, silence_numpy
from raytracer.model.camera import Camera
from raytracer.model.colors import DEFAULT_COLOR, linear_rgb
from raytracer.model.extent import GIANT_RADIUS, Subject, find_lowest_height
from raytracer.model.materials import AnyMaterial, Material, pack_material
from raytracer.model.render_space import (
    MAX_COORDINATE,
    Space,
    fit_space,
    transform_rows,
)
from raytracer.model.settings import RenderSettings
from raytracer.model.solids import SolidSet
from raytracer.model.sphere_set import SphereSet, raw_attribute
from raytracer.model.views import Vector
from raytracer.packing.buffers import (
    DeviceColors,
    DeviceRecords,
    SceneBuffers,
    SphereColumns,
    Spheres,
    list_fitted_balls,
)
from raytracer.packing.framing import NOTHING, Surroundings
from raytracer.packing.large_spheres import MAX_LARGE, Exact, pack_large, pack_plane, to_fractions
from raytracer.packing.lighting import (
    background_up,
    choose_ambient,
    pack_background,
    pack_emitters,
    pack_lights,
    rig_axes,
    world_up,
)
from raytracer.packing.pose import Pose, fit_camera
from raytracer.packing.view import View, make_frame
from raytracer.system.layout import empty_structs, enum_value, struct_dtype
from raytracer.system.resources import choose_thread_count

if TYPE_CHECKING:
    from fractions import Fraction

    from raytracer.model.background import Background
    from raytracer.model.clip import Clip
    from raytracer.model.environment import Environment
    from raytracer.model.scene import Scene
    from raytracer.packing.replicated_set import ReplicatedSet
    from raytracer.packing.sphere_update import Placer, SphereUpdate

MAX_SAMPLE = 1 << 14  # spheres sampled for centre and scale: more change them below a percent
OPAQUE = 65535  # opacity 1, the kernels' `kOpaque`
UNIFORM, PER_SPHERE, INDEXED = "uniform", "per-sphere", "indexed"  # words of `ColorMode`


def pack(scene: Scene, settings: RenderSettings | None = None) -> SceneBuffers:
    """Return the arrays that a backend renders; see `pack_with_camera`."""
    return pack_with_camera(scene, settings)[0]


@silence_numpy()
def pack_with_camera(
    scene: Scene,
    settings: RenderSettings | None = None,
    around: Surroundings = NOTHING,
    placer: Placer | None = None,
    repeated: tuple[Scene, ReplicatedSet] | None = None,
    before: SceneBuffers | None = None,
    pose: Pose | None = None,
) -> tuple[SceneBuffers, Camera]:
    """Return the arrays that a backend renders, and the camera with its fitted position.

    Args:
        scene, settings: None takes the settings of the scene.
        around: what a fitted camera shows beside the spheres.
        placer: packs spheres in the memory of a device (`Device.place`).
        repeated: one periodic box whose arrays are enough (`replicated_set.split_images`).
        before: the buffers of a scene whose spheres have changed; render space, ground and
            environment stay the same.
        pose: the camera then; None leaves the view as it was.
    """
    with prefix_errors(scene.source):
        settings = settings or scene.render
        sets = [s for s in scene.spheres if s.count]
        solid_sets = [s for s in scene.solids if s.count]
        # Arrays are the caller's, who may have changed them.
        for spheres_of_set in sets:
            (spheres_of_set.cell or spheres_of_set).check()
        for solids_of_set in solid_sets:
            solids_of_set.check()
        space = before.space if before else choose_render_space(bounding_spheres(scene))
        all_images = scene
        if repeated is not None:
            scene, images = repeated
            sets = list(scene.spheres)
        surfaces = scene.surfaces()
        has_ground = len(surfaces) > len(sets) + len(solid_sets)
        there = None
        if placer is not None and not solid_sets:
            there = _pack_on_device(placer, sets, surfaces, space)
        spheres, painted = (to_render_space(sets, space), None) if there is None else there
        number = spheres.size
        color: NDArray[np.float32] | DeviceColors
        color, color_id, color_mode = painted or pack_colors(
            [*surfaces, *second_color_balls(solid_sets)]
        )
        solids, balls, of_solids = _with_solids(
            spheres, solid_sets, space, has_ground, color_mode != UNIFORM,
            [getattr(scene.material_of(each), "transmission", 0.0) > 0.0 for each in solid_sets],
        )  # fmt: skip
        large_id, large = pack_large(
            solids, number, lambda i: _locate_exactly(sets, space, i), _pack_clip(scene.clip,
            space), MAX_LARGE - has_ground,
        )  # fmt: skip
        if repeated is not None:
            from raytracer.packing.replicated_set import pack_images  # late: few scenes

            if len(large_id) or spheres.radii()[1] > GIANT_RADIUS:  # no part of the subject
                return pack_with_camera(all_images, settings, around, placer, None, before, pose)
            balls, of_solids["images"] = pack_images(spheres, images, space, has_ground)
        materials, material_id = _pack_materials(scene, surfaces, space.scale)
        camera = scene.camera or Camera()
        if before is None:
            aspect = settings.width / settings.height
            pose, camera = fit_camera(camera, balls, space, aspect, add_boxes(scene, around))
            _warn_of_pose(pose, balls, space)
        if has_ground:
            if before is not None and before.has_ground:
                ground = before.large[-1:]
            else:
                ground = _pack_ground(scene, camera, balls, space)
            large_id = np.append(large_id, np.int64(solids.size))
            large = np.concatenate([large, ground])
            last = solids.size + 1
            large["prim"] = np.arange(len(large), dtype=np.uint32) + (last - len(large))
            if before is None and pose is not None and pose.is_below(large[-1]):
                warn("ground.height: the camera is below the ground, which is therefore invisible")
        opacity = _pack_opacity(scene, surfaces)
        of_spheres = material_id[:number] if solid_sets else material_id
        if before is None and settings.resolved_integrator != "path":
            _warn_of_dark(scene, solid_sets)
        emitters, emission = pack_emitters(spheres, color, color_id, materials, of_spheres, opacity)
        is_fading = has_ground and scene.ground.fade > 0  # type: ignore[union-attr]
        nothing = View(empty_structs("Camera"), empty_structs("Light"), materials, make_frame())
        view = (nothing if before is None else before.view).but(
            **emission,
            color_mode=enum_value("ColorMode", color_mode),
            material_count=len(materials),
            material_mode=enum_value("MaterialMode", "indexed" if len(material_id) else "uniform"),
            has_alpha=int(len(opacity) > 0 or is_fading),
        )
        for ids in (color_id, material_id, opacity):
            ids.setflags(write=False)  # a backend copies writeable arrays
        buffers = SceneBuffers(
            solids, color, color_id, material_id, replace(view, materials=materials), space,
            large_id=large_id.astype(np.int32 if solids.size < 2**31 else np.uint32),
            large=large, emitters=emitters, opacity=opacity, **of_solids,
        )  # fmt: skip
        if pose is not None and before is None:
            up = world_up(scene.background, scene.camera, background_up(scene.background, camera))
            view = _pack_view(buffers, replace(scene, camera=camera), settings, pose, up)
            buffers = replace(buffers, view=view)
        elif pose is not None:
            buffers = replace(buffers, view=repack_view(buffers, scene, settings, pose))
        return buffers.check(), camera


def _with_solids(
    spheres: Spheres, sets: Sequence[SolidSet], space: Space, has_ground: bool, has_colors: bool,
    are_glass: Sequence[bool],
) -> tuple[Spheres, Spheres, dict[str, Any]]:  # fmt: skip
    """Return spheres and solids, the balls that a camera fits, and the arrays of the solids."""
    if not sets:
        return spheres, spheres, {}
    from raytracer.packing.solids import pack_solids  # late: few scenes have any

    # positions of all balls, to refuse those too far away
    balls_of_sets = ([to_render_space([ball], space) for ball in s.balls] for s in sets)
    radii = [
        np.maximum.reduce([np.resize(ball[3], each.count) for ball in balls])
        for each, balls in zip(sets, balls_of_sets, strict=True)
    ]
    solids, arrays = pack_solids(spheres, sets, radii, space, has_ground, has_colors, are_glass)
    balls = list_fitted_balls(solids, arrays["axis"], arrays["form"], arrays["shapes"])
    return solids, balls, arrays


def _pack_view(
    buffers: SceneBuffers, scene: Scene, settings: RenderSettings, pose: Pose, up: Vector
) -> View:
    """Return the view of a camera, with what that of the buffers says of the scene's tables."""
    space, camera = buffers.space, pose.pack(settings.width / settings.height)
    lights = pack_lights(scene.lights, space, rig_axes(settings, pose.axes, up), settings)
    sky, of_sky = _pack_sky(buffers, scene, settings)
    clip = _pack_clip(scene.clip, space)
    ambient = choose_ambient(scene.ambient, scene.lights, settings.rig)
    is_caught = buffers.has_ground and scene.ground is not None and scene.ground.shadow_catcher
    tables = _part_fields(buffers, "scene") | {
        "light_count": len(lights),
        "large_count": count_visible_large(buffers.large, buffers.has_ground, pose),
    }
    frame = make_frame(
        **settings.packed(space.scale),
        x1=settings.width,
        y1=settings.height,
        **pack_background(scene.background, ambient, scene.camera),
        **tables,
        **clip,
        **of_sky,
        **_pack_glass(buffers, camera, clip, settings),
        shadow_catcher=buffers.count + 1 if is_caught else 0,
    )
    return View(camera, lights, buffers.view.materials, frame, sky)


def repack_view(buffers: SceneBuffers, scene: Scene, settings: RenderSettings, pose: Pose) -> View:
    """Return the same spheres with another camera, light, background or size."""
    x, y, z = buffers.view.frame["environment"]["background_up"][0].tolist()
    up = world_up(scene.background, scene.camera, (x, y, z))
    if scene.environment is not None and scene.background.up is None:
        # The environment does not turn with the camera's up axis.
        scene = replace(scene, background=replace(scene.background, up=(x, y, z)))
    with prefix_errors(scene.source):
        return _pack_view(buffers, scene, settings, pose, up)


def _part_fields(buffers: SceneBuffers, part: str) -> dict[str, Any]:
    values = buffers.view.frame[part]
    return {name: values[name][0] for name in values.dtype.names or ()}


def _pack_ground(scene: Scene, camera: Camera, spheres: Spheres, space: Space) -> NDArray[np.void]:
    ground = scene.ground
    assert ground is not None
    up, height = background_up(scene.background, camera), ground.height
    if isinstance(height, str):
        packed = pack_plane(up, find_lowest_height(spheres, up))
    else:
        middle = sum(axis * x for axis, x in zip(up, space.center, strict=True))
        placed = (height - middle) / space.scale
        if not abs(placed) < MAX_COORDINATE:
            raise SceneError(
                "ground.height: is too far from the spheres for 32-bit numbers; move it"
            )
        packed = pack_plane(up, placed)
    if ground.fade:
        sides = [*np.eye(3), *-np.eye(3)]
        reach = float(np.float32(max(Subject(spheres, fit="all").reach(sides)[0])))
        packed["fade_begin"], packed["fade_end"] = 0.25 * ground.fade * reach, ground.fade * reach
    return packed


def count_visible_large(large: NDArray[np.void], has_ground: bool, pose: Pose) -> int:
    """Return how many large spheres a camera sees; the last, the ground, only from above."""
    return len(large) - (has_ground and pose.is_below(large[-1]))


def _pack_opacity(scene: Scene, surfaces: Sequence[SphereSet]) -> NDArray[np.uint16]:
    """Return the opacity of each surface, uint16 (N,), or (0,) if all are opaque."""
    pairs = [(s, scene.material_of(s).opacity) for s in surfaces]
    if all(s.opacity is None and of_material == 1.0 for s, of_material in pairs):
        return np.zeros(0, np.uint16)
    packed = np.empty(sum(s.count for s in surfaces), np.uint16)
    start = 0
    for surface, of_material in pairs:
        of_surface: Any = 1.0 if surface.opacity is None else surface.opacity
        packed[start : start + surface.count] = np.rint(of_surface * (of_material * OPAQUE))
        start += surface.count
    return packed if bool((packed < OPAQUE).any()) else packed[:0]


def _pack_clip(clip: Clip | None, space: Space) -> dict[str, Any]:
    if clip is None:
        return {}
    cuts = clip.planes()
    planes = np.zeros(struct_dtype("Clip")["clip_planes"].shape).reshape(-1, 4)
    for row, (normal, offset) in zip(planes, cuts, strict=False):
        row[:3] = normal
        row[3] = (offset - float(np.dot(normal, space.center))) / space.scale
        if not abs(row[3]) < np.finfo(np.float32).max:
            raise SceneError("clip: a plane is too far from the spheres for 32-bit numbers")
    return {
        "clip_planes": planes.ravel(),
        "clip_count": len(cuts),
        "clip_removes": int(clip.remove is not None),
    }


def _warn_of_dark(scene: Scene, sets: Sequence[SolidSet]) -> None:
    """Warn of solids with emission, where only spheres illuminate others."""
    lit = (each.noun for each in sets if getattr(scene.material_of(each), "emission", 0.0) > 0.0)
    for noun in dict.fromkeys(lit):
        warn(
            f"emission: {noun}s that emit light illuminate others only with path tracing: give "
            '--integrator path, or integrator = "path" under [render]'
        )


def _pack_glass(
    buffers: SceneBuffers, camera: NDArray[np.void], clip: Mapping[str, Any],
    settings: RenderSettings,
) -> dict[str, Any]:  # fmt: skip
    """Return the fields of `Frame` about light that passes through solids."""
    principled = buffers.view.materials["kind"] == enum_value("MaterialKind", "principled")
    parameters = buffers.view.materials["principled"]
    glass = principled & (parameters["transmission"] > 0)
    if settings.resolved_integrator != "path":
        return {"transparent_shadows": int(settings.transparent_shadows and glass.any())}
    glass &= parameters["metallic"] < 1
    if not glass.any():
        return {}
    from raytracer.packing.solids import pack_media  # late: few scenes have any

    return pack_media(camera, buffers, glass, parameters["priority"], clip)


def _pack_sky(
    buffers: SceneBuffers, scene: Scene, settings: RenderSettings
) -> tuple[NDArray[np.void], dict[str, Any]]:
    """Return the texels of the environment, structured (M,), and its fields of `Frame`.

    A stated environment is packed once. With path tracing and no stated light at all, the ambient
    light of the look comes from all directions, and the background emits none: a picture on white
    would be too bright. A transparent background hides the environment from the camera, as in
    Cycles; the edits of a window change it, so that this is packed anew for each view.
    """
    around, before = scene.environment, buffers.view
    if around is not None and len(before.sky):
        light = before.frame["environment"]["environment_light"][0]
        fields = _part_fields(buffers, "environment_map") | {"environment_light": light}
        return before.sky, fields | {"map_visible": _is_environment_seen(around, scene.background)}
    if around is None and settings.resolved_integrator == "path":
        look = settings.rig
        if scene.lights is None and scene.ambient is None and look.ambient > 0.0:
            from raytracer.model.environment import Environment

            around = Environment(color="white", intensity=look.ambient)
    if around is None:
        return empty_structs("EnvironmentTexel"), {}
    from raytracer.packing.environment_map import pack_environment  # late: few scenes

    texels, fields = pack_environment(around, background_up(scene.background, scene.camera))
    # highlights show an even map too, and paths do not find it there
    phong = before.materials["kind"] == enum_value("MaterialKind", "phong")
    has_highlights = bool((phong & (before.materials["phong"]["specular"] > 0)).any())
    fields["map_highlights"] = int(fields["map_even"] and has_highlights)
    fields["map_visible"] = _is_environment_seen(around, scene.background)
    return texels, fields


def _is_environment_seen(around: Environment, background: Background) -> int:
    return int(around.visible and not background.transparent)


def _warn_of_pose(pose: Pose, spheres: Spheres, space: Space) -> None:
    if pose.aperture > 0.0 and pose.depth_of_focus <= 0.0:
        warn("camera.focus: is behind the camera, so nothing is blurred; move it to the front")
    outliers = pose.outliers
    if outliers is None:
        return
    verb = "is" if outliers.total == 1 else "are"
    row = outliers.farthest
    center = zip(spheres.taken(np.array([row]))[:3], space.center, strict=True)
    place = [float(axis[0]) * space.scale + middle for axis, middle in center]
    digit = max(map(abs, place)) * 1e-6  # the precision of float32
    shown = ", ".join(f"{0.0 if abs(v) < digit else v:g}" for v in place)
    warn(
        f"{outliers.total:,} of {spheres.size:,} spheres {verb} far away from the others and "
        f"left out of the frame; the farthest is sphere {row} at ({shown}), "
        f"{outliers.times:.3g} times as far out as the others. To frame every sphere, give "
        '--fit all, fit = "all" under [camera] in a scene file, or Camera(fit="all")'
    )


def add_boxes(scene: Scene, around: Surroundings) -> Surroundings:
    """Add the boxes of a scene's files to the surroundings, if its camera fits "box"."""
    if scene.camera is None or scene.camera.fit != "box":
        return around
    from raytracer.model.simulation_box import find_file_box

    boxes = tuple(box for spheres in scene.spheres if (box := find_file_box(spheres)) is not None)
    if not boxes and not around.boxes:
        raise SceneError(
            'camera.fit: "box" needs a simulation box, but the files have none: use true'
        )
    return Surroundings(around.room, (*around.boxes, *boxes))


def choose_render_space(sets: Sequence[SphereSet]) -> Space:
    """Choose centre and scale from an evenly strided sample of nonempty sphere sets."""
    if not sets:
        return Space((0.0, 0.0, 0.0), 1.0)
    stride = -(-sum(s.count for s in sets) // MAX_SAMPLE)
    centers, radii = zip(*(sample_spheres(each, stride) for each in sets), strict=True)
    return fit_space(np.concatenate(centers), np.concatenate(radii))


def sample_spheres(
    spheres: SphereSet, stride: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if spheres.cell is not None:
        spheres, stride = spheres.taken(np.arange(0, spheres.count, stride)), 1
    every = slice(None, None, stride)
    centers, radius = (_take_rows(spheres, n, every, checked=False) for n in ("centers", "radius"))
    if not (np.isfinite(centers).all() and (radius > 0.0).all() and (radius < np.inf).all()):
        _ = spheres.centers, spheres.radius  # of a GPU; they say what is wrong
    centers = centers.astype(np.float64)
    radius = np.broadcast_to(radius, len(centers))
    placed = transform_rows(centers, spheres.transform.linear(), spheres.transform.translate)
    return placed, radius.astype(np.float64) * spheres.transform.scale


def _take_rows(spheres: SphereSet, name: str, rows: slice, *, checked: bool = True) -> NDArray[Any]:
    """Return some rows of the centres, or of the radii or the one radius, on the host."""
    array = raw_attribute(spheres, name)
    if isinstance(array, float):
        return np.array([array])
    if isinstance(array, np.ndarray):
        found: NDArray[Any] = array[rows]
        return found
    part: NDArray[Any] = array[rows].to_host()
    if not checked:
        return part
    if name == "centers":
        return check_centers(part, spheres.where)
    return np.atleast_1d(check_radius(part, len(part), spheres.where))


def _pack_on_device(
    placer: Placer, sets: Sequence[SphereSet], surfaces: Sequence[SphereSet], space: Space
) -> tuple[DeviceRecords, tuple[DeviceColors, NDArray[np.int32], str] | None] | None:
    """Return spheres, and their colours if they are arrays of a GPU, in the memory of a device, as
    `pack_colors`; None where it leaves that to the host, which also says what is wrong."""
    changes, first = [], 0
    for each in sets:
        radii = raw_attribute(each, "radius")
        radii = np.atleast_1d(radii) if isinstance(radii, float) else radii
        centers = raw_attribute(each, "centers")
        changes.append(space.update([each], first, positions=centers, radii=radii))
        first += each.count
    paints = _device_colors(surfaces)
    placed = placer(changes, paints, lambda rows: to_render_space(sets, space, rows))
    if placed is None:
        return None
    count = sum(each.count for each in surfaces)
    colors = DeviceColors(count, lambda: pack_colors(surfaces)[0])
    return placed, (colors, np.zeros(0, np.int32), PER_SPHERE) if paints else None


def _device_colors(surfaces: Sequence[SphereSet]) -> list[SphereUpdate]:
    """Return the colours of all surfaces, if one has an array of a GPU and each has N colours."""
    from raytracer.packing.sphere_update import SphereUpdate

    colors = [raw_attribute(each, "color") for each in surfaces]
    if all(isinstance(each, np.ndarray) for each in colors) or any(
        len(color) != each.count or each.color_id is not None
        for each, color in zip(surfaces, colors, strict=True)
    ):
        return []
    firsts = accumulate((each.count for each in surfaces), initial=0)
    return [
        SphereUpdate(0, each.count, first_color=first, **color_arguments(each))
        for each, first in zip(surfaces, firsts, strict=False)
    ]


def color_arguments(spheres: SphereSet) -> dict[str, Any]:
    """Return the arguments of a `SphereUpdate` for the colours of a set."""
    color, scale = raw_attribute(spheres, "color"), spheres.color_scale
    if isinstance(color, np.ndarray):
        return {"colors": linear_rgb(color, spheres.color_space)}
    if scale is not None:
        return {"colors": color, "color_map": scale.color_map()}
    return {"colors": color, "color_space": spheres.color_space}


def to_render_space(
    sets: Sequence[SphereSet], space: Space, rows: slice | None = None
) -> SphereColumns:
    """Return the spheres of nonempty sets in render space, or some rows of them."""
    begin, end = (0, sum(s.count for s in sets)) if rows is None else (rows.start, rows.stop)
    found, first = SphereColumns(*(np.empty(end - begin, np.float32) for _ in range(4))), 0
    for spheres in sets:
        own = slice(max(begin - first, 0), min(end - first, spheres.count))
        if own.start < own.stop:
            to = slice(first + own.start - begin, first + own.stop - begin)
            _transform_rows(spheres, own, space, SphereColumns(*(column[to] for column in found)))
        first += spheres.count
    return found


def _transform_rows(spheres: SphereSet, rows: slice, space: Space, out: SphereColumns) -> None:
    # Division by a power of two is exact, so it can go into the coefficients. The offset is a
    # difference first: sphere coordinates are then added to small numbers only.
    linear, move = space.affine_from(spheres.transform)
    factor = spheres.transform.scale / space.scale
    centers, radius = (align(_take_rows(spheres, name, rows)) for name in ("centers", "radius"))
    wrong = core().place(
        centers, radius, linear.ravel().tolist(), move.tolist(), factor, out, choose_thread_count()
    )
    if wrong is not None:
        from raytracer.packing.sphere_update import (
            OutOfRangeError,  # late: few scenes have such spheres
        )

        with prefix_errors(spheres.source):
            raise OutOfRangeError(f"sphere {rows.start + wrong}")


def bounding_spheres(scene: Scene) -> list[SphereSet]:
    """Return the nonempty sets of spheres, and the balls at the ends of solids or around them."""
    balls = [ball for each in scene.solids if each.count for ball in each.balls]
    return [each for each in scene.spheres if each.count] + balls


def second_color_balls(solids: Sequence[SolidSet]) -> list[SphereSet]:
    """Return the balls with further colours of solids."""
    return [each.second_colors for each in solids if each.count and each.second_colors]


def _locate_exactly(sets: Sequence[SphereSet], space: Space, row: int) -> tuple[Exact, Fraction]:
    """Return centre, (3,), and radius of a sphere in render space, without a rounding."""
    for spheres in sets:
        if row < spheres.count:
            break
        row -= spheres.count
    transform = spheres.transform
    move = to_fractions(transform.translate) - to_fractions(space.center)
    center = to_fractions(transform.linear()) @ to_fractions(spheres.centers[row]) + move
    radius = spheres.radius if isinstance(spheres.radius, float) else spheres.radius[row]
    scale = to_fractions(space.scale)
    return center / scale, to_fractions([radius, transform.scale]).prod() / scale


def pack_colors(
    sets: Sequence[SphereSet],
) -> tuple[NDArray[np.float32], NDArray[np.int32], str]:
    """Return linear colours (K, 3), indices into them (N,) or (0,), and the word of `ColorMode`."""
    none = np.zeros(0, np.int32)
    if not sets:
        return linear_rgb(np.array([DEFAULT_COLOR])), none, UNIFORM
    mode, _, _ = _color_mode(sets)
    if mode == UNIFORM:
        return linear_rgb(sets[0].color[:1], sets[0].color_space), none, mode
    colors = [linear_rgb(each.color, each.color_space) for each in sets]
    if mode == PER_SPHERE:
        return _concatenate(list(map(_expand_colors, sets, colors))), none, mode
    firsts = accumulate(map(len, colors), initial=0)
    ids = [first + _color_rows(each) for first, each in zip(firsts, sets, strict=False)]
    return _concatenate(colors), _concatenate(ids), mode


def _expand_colors(spheres: SphereSet, colors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the colour of each sphere of a set, float32 (N, 3)."""
    has_each = spheres.color_id is None and len(colors) == spheres.count
    return colors if has_each else colors[_color_rows(spheres)]


def _color_rows(spheres: SphereSet) -> NDArray[np.int32]:
    """Return the index of each sphere's colour among those of its set, int32 (N,)."""
    if spheres.color_id is not None:
        return spheres.color_id.astype(np.int32, copy=False)
    is_one = len(spheres.color) == 1
    return np.zeros(spheres.count, np.int32) if is_one else np.arange(spheres.count, dtype=np.int32)


def _concatenate(arrays: Sequence[NDArray[Any]]) -> NDArray[Any]:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)


def _color_mode(sets: Sequence[SphereSet]) -> tuple[str, int, int]:
    """Return the colour mode, the number of spheres and the number of colours in a palette."""
    sizes = [len(raw_attribute(s, "color")) for s in sets]
    count, colors = sum(s.count for s in sets), sum(sizes)
    if colors == len(sets):
        keys = {(s.color.tobytes(), s.color.dtype.str, s.color_space) for s in sets}
        if len(keys) < 2:
            return UNIFORM, count, 1
    # Compare sizes in words: three per colour, one per index.
    return PER_SPHERE if 3 * count <= 3 * colors + count else INDEXED, count, colors


def _pack_materials(
    scene: Scene, sets: Sequence[SphereSet], scale: float
) -> tuple[NDArray[np.void], NDArray[np.int32]]:
    """Return the distinct materials, and the index of each sphere's unless all are the same."""
    used: dict[AnyMaterial, int] = {}
    of_set = [used.setdefault(scene.material_of(s), len(used)) for s in sets]
    if not used:
        used[Material()] = 0
    materials = np.zeros(len(used), struct_dtype("Material"))
    for material, index in used.items():
        pack_material(material, materials[index], scale)
    counts = [s.count if len(used) > 1 else 0 for s in sets]
    return materials, np.repeat(np.array(of_set, np.int32), np.array(counts, np.intp))


def estimate_look_bytes(scene: Scene) -> int:
    sets = scene.surfaces()
    has_ids = len({scene.material_of(s) for s in sets}) > 1
    mode, count, colors = _color_mode([*sets, *second_color_balls(scene.solids)])
    size = {UNIFORM: 12, PER_SPHERE: 12 * count, INDEXED: 12 * colors + 4 * count}[mode]
    return size + (4 * sum(s.count for s in sets) if has_ids else 0)


def count_array_bytes(scene: Scene) -> int:
    """Return the size in bytes of a scene's arrays, counting shared memory once."""
    owners: dict[int, int] = {}
    for each in bounding_spheres(scene):
        arrays = [raw_attribute(each, name) for name in ("centers", "radius", "color")]
        arrays += [each.color_id, each.rows, each.labels and each.labels.ids]
        arrays += each.data.arrays.values()
        for owner in arrays:
            while getattr(getattr(owner, "base", None), "nbytes", None) is not None:
                owner = owner.base
            owners[id(owner)] = getattr(owner, "nbytes", 0)
    return sum(owners.values())
