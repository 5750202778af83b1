"""The pose of a `Camera`: position and axes in render space, in float64."""

from dataclasses import dataclass, replace
from math import atan, degrees, radians, tan

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import SceneError
from raytracer.model.camera import Camera
from raytracer.model.extent import Doubles, Outliers, Subject, find_center, find_ground_up
from raytracer.model.render_space import Space
from raytracer.model.views import VIEW_UP
from raytracer.packing.buffers import Spheres
from raytracer.packing.framing import NOTHING, Basis, Surroundings, fit_subject, view_basis
from raytracer.system.layout import enum_value, struct_dtype

ROUNDING = 1e-9  # largest relative error of a camera rounded to scene units; float32 has 6e-8
MAX_FOCUS = 1e15  # largest focus distance in render space: its square is a float32
LEVEL = 1e-6  # sine of the angle from which a view counts as upwards: float32 axes are less exact
MIN_ANGLE, MAX_ANGLE = 0.001, 179.0  # limits of `Camera.vertical_fov` in degrees


@dataclass(frozen=True, eq=False)
class Pose:
    """A camera in render space."""

    kind: str  # "perspective", "orthographic" or "panorama"
    eye: Doubles  # (3,); for an orthographic camera the middle of the plane where rays start
    axes: Basis  # of the view
    half: float  # tangent of half the vertical field of view, or half the height of the picture
    outliers: Outliers | None = None  # spheres that a fitted camera leaves out
    aperture: float = 0.0  # diameter of the lens relative to the focus distance; 0: a pinhole
    focus: Doubles | None = None  # (3,), a point in focus; None: the centre of the spheres

    def pack(self, aspect: float) -> NDArray[np.void]:
        """Return the camera for the kernels, structured (1,); `aspect` is width by height."""
        packed = np.zeros(1, struct_dtype("Camera"))
        packed["kind"] = enum_value("CameraKind", self.kind)
        with np.errstate(over="ignore"):  # infinity is refused below
            packed["origin"] = self.eye
            packed["forward"] = self.axes.forward
            wide, high = (1.0, 1.0) if self.kind == "panorama" else (self.half * aspect, self.half)
            packed["right"] = self.axes.right * wide
            packed["up"] = self.axes.up * high
            packed["focus_distance"] = self.focus_distance
            packed["lens_radius"] = 0.5 * self.aperture * self.focus_distance
        problem = "too far from the spheres for 32-bit numbers; move it"
        if not self.focus_distance < MAX_FOCUS:
            raise SceneError(f"camera.focus: {problem}")
        if not all(np.isfinite(packed[name]).all() for name in ("origin", "right", "up")):
            raise SceneError(f"camera.position: {problem}")
        return packed

    @property
    def focus_distance(self) -> float:
        """Distance of the focal plane along the view; 0 for a pinhole."""
        return max(self.depth_of_focus, 1e-3) if self.aperture else 0.0

    @property
    def depth_of_focus(self) -> float:
        """Distance of the point in focus along the view; negative behind the camera."""
        away = -self.eye if self.focus is None else self.focus - self.eye
        return float(away @ self.axes.forward)

    def is_below(self, ground: np.void) -> bool:
        """Return whether the camera is below a plane, a `LargeSphere` whose normal points down; an
        orthographic camera, infinitely far away, if it looks upwards."""
        if self.kind == "orthographic":
            return bool(self.axes.forward @ ground["normal"] < -LEVEL)
        return bool(self.eye @ ground["normal"] >= ground["height"])

    def camera(self, given: Camera, space: Space) -> Camera:
        """Return a camera in scene units that looks at the depth of the spheres' centre; `given`
        has the fields that a pose does not have."""
        # The origin of render space is the spheres' centre.
        distance = float(-(self.eye @ self.axes.forward)) or 1.0
        target = self.eye + self.axes.forward * max(distance, 1e-3)
        center = np.array(space.center)
        position, look_at = (
            tuple((point * space.scale + center + 0.0).tolist()) for point in (self.eye, target)
        )
        angle, height = given.vertical_fov, None
        if self.kind == "orthographic":
            height = 2.0 * self.half * space.scale
        elif given.zoom != 1.0:
            angle = degrees(2.0 * atan(self.half))
        if not MIN_ANGLE <= angle <= MAX_ANGLE:
            raise SceneError(
                f"camera.zoom: {given.zoom:g} gives a field of view of {angle:.3g} degrees; it "
                f"must be between {MIN_ANGLE:g} and {MAX_ANGLE:g}"
            )
        return replace(
            given, position=position, look_at=look_at, height=height, fit=False, direction=None,
            elevation=None, vertical_fov=angle, zoom=1.0,
        )  # fmt: skip


def fit_camera(
    camera: Camera, spheres: Spheres, space: Space, aspect: float, around: Surroundings = NOTHING
) -> tuple[Pose, Camera]:
    """Return the pose of a camera, and the camera in scene units with that pose.

    The pose is computed from the returned camera, after rounding its fitted position: a render with
    it gives the same picture to the last bit. aspect: width by height; around: what a fitted camera
    shows beside the spheres, which are in render space.
    """
    camera = aim_camera(camera, spheres, space)
    first = _compute_pose(camera, spheres, space, aspect, around)
    if not camera.fit and camera.zoom == 1.0:
        return first, camera
    stated = first.camera(camera, space)
    rounded = _compute_pose(stated, spheres, space, aspect, NOTHING)
    if not _are_alike(first, rounded):  # too far from the origin for float64
        return first, stated
    return replace(rounded, outliers=first.outliers), stated


def _compute_pose(
    camera: Camera, spheres: Spheres, space: Space, aspect: float, around: Surroundings
) -> Pose:
    directed = pose_at_origin(camera, space)
    axes, half, outliers = directed.axes, directed.half, None
    if camera.fit or camera.position is None:
        subject = Subject(spheres, camera.fit, points=around.points(space))
        eye, half, outliers = fit_subject(camera.type, subject, axes, half, aspect, around.room)
        if camera.position is None and camera.look_at is not None:
            offset = space.point(camera.look_at) - eye
            eye = eye + offset - (offset @ axes.forward) * axes.forward
    else:
        eye = space.point(camera.position)
        if camera.height is not None and camera.type == "orthographic":
            half = camera.height / 2.0 / space.scale
    return replace(directed, eye=eye, half=half / camera.zoom, outliers=outliers)


def pose_at_origin(camera: Camera, space: Space) -> Pose:
    """Return the pose of a settled camera at the origin: its direction, field of view and lens."""
    backward, up = (np.array(v, np.float64) for v in (camera.backward(), camera.upward))
    focus = camera.look_at if camera.focus is None else camera.focus
    return Pose(
        camera.type, np.zeros(3), view_basis(backward, up), tan(radians(camera.vertical_fov) / 2.0),
        aperture=camera.aperture, focus=None if focus is None else space.point(focus),
    )  # fmt: skip


def _are_alike(one: Pose, other: Pose) -> bool:
    """Whether two poses differ only by the rounding to scene units."""
    units = max(float(np.abs(one.eye).max()), 1e-3), 1.0, one.half
    first, second = ([np.array(v) for v in (p.eye, p.axes, p.half)] for p in (one, other))
    triples = zip(first, second, units, strict=True)
    return all(bool(np.abs(a - b).max() <= ROUNDING * unit) for a, b, unit in triples)


def aim_camera(camera: Camera, spheres: Spheres, space: Space) -> Camera:
    """Return the settled camera; without a target it looks at the centre of the spheres."""
    camera = with_up(camera, spheres).settled()
    if camera.position is None or camera.look_at is not None:
        return camera
    target = (0.0, 0.0, 0.0)
    if spheres.size:
        x, y, z = find_center(spheres) * space.scale + np.array(space.center)
        target = (float(x), float(y), float(z))
    if target == tuple(camera.position):
        raise SceneError(
            "camera.look_at: is missing, and the default, the centre of the spheres, is the "
            "camera's position; give one"
        )
    return replace(camera, look_at=target)


def with_up(camera: Camera, spheres: Spheres) -> Camera:
    """Return the camera; a view without `up` takes the up direction of the ground."""
    if camera.view is None or camera.up is not None:
        return camera
    return replace(camera, up=find_ground_up(spheres) or VIEW_UP)
