"""The camera of a scene."""

from copy import copy
from dataclasses import dataclass
from math import hypot
from typing import Any, Self

from raytracer.config.errors import SceneError
from raytracer.config.field_types import AnyOf, Axis, Truth, Vector3, WordChoice
from raytracer.config.fields import Defined, find_definitions, setting
from raytracer.model.key_types import (
    APERTURE,
    ELEVATION,
    FIELD_OF_VIEW,
    PICTURE_HEIGHT,
    SHUTTER,
    ZOOM,
)
from raytracer.model.views import (
    AXES,
    FITS,
    PLAIN_UP,
    VIEW_UP,
    VIEWS,
    Triple,
    Vector,
    find_standard_direction,
    find_view_direction,
)

CAMERA_TYPES = ("perspective", "orthographic", "panorama")

PARALLEL = 1e-6  # sine of the angle between view and `up` below which they count as parallel


@dataclass(frozen=True, repr=False, eq=False)
class Camera(Defined, place="camera"):
    """The camera: position, direction and lens.

    Args:
        position: Eye point in scene units.
        look_at: Point at the centre of the picture, in scene units. The default is the centre of
            the box around the spheres, without giants and outliers. A fitted camera without a
            position moves across to it.
        up: Up direction: three numbers of any length, or an axis. The default is y, and z with a
            `view`; but away from a ball on which the others stand. A particle file without a scene
            has that of its box, of gravity or of the floor that the particles lie on.
        vertical_fov: Vertical field of view in degrees, also of a fitted camera; that of a particle
            file without a scene is 30.
        height: Height of the picture in scene units; not with `fit`.
        type: Camera type.
        fit: Whether to place the camera so that the spheres fill the frame. At most 1% of the
            spheres, or one of ten or more, are left out, with a warning, if they are more than ten
            times as far out as the others; `"all"` includes them. `"bulk"`, the default of particle
            files without a scene, leaves out 1%, or 5%, if the others are then twice as large in
            the picture. `"box"` includes the simulation box of the files, which is always included
            if it is drawn. Only the direction from `look_at` to `position` counts.
        direction: Direction from the spheres to a fitted camera, instead of a position; any length.
        view: A standard view instead of a direction: x looks from +x, front from -y with z up. The
            guide of the camera lists what is to the right and up in each.
        zoom: Magnification from the same place: 2 shows half the width.
        aperture: Diameter of the lens as a fraction of the focus distance; 0: all is sharp.
        focus: A point in focus, in scene units; the focal plane passes through it.
        shutter: Time for which the shutter is open, half before and half after the shown moment:
            moving particles are blurred. The unit is the distance of two frames of the trajectory,
            or that of time in the velocities.
        elevation: Angle of the default direction above the plane across `up`, in degrees.

    Raises:
        SceneError: a value is out of range, or settings contradict each other.
    """

    position: Triple | None = setting(None, Vector3(), default_text="fitted")
    look_at: Triple | None = setting(None, Vector3(), default_text="the middle of the spheres")
    up: Triple | str | None = setting(None, Axis(AXES), default_text="y; with a view, z")
    vertical_fov: float = setting(40.0, FIELD_OF_VIEW, variant="perspective")
    height: float | None = setting(
        None, PICTURE_HEIGHT, default_text="fitted", variant="orthographic"
    )
    type: str = setting("perspective", WordChoice(CAMERA_TYPES, "camera"))
    fit: bool | str | None = setting(
        None, AnyOf(Truth(), WordChoice(FITS)), default_text="true without a position"
    )
    direction: Triple | None = setting(
        None, Vector3(), default_text="[1, 0.7, 1.4], or with another `up` the same turned with it"
    )
    view: str | None = setting(None, WordChoice(VIEWS, "view"))
    zoom: float = setting(1.0, ZOOM)
    aperture: float = setting(0.0, APERTURE, variant="perspective")
    focus: Triple | None = setting(None, Vector3(), default_text="`look_at`", variant="perspective")
    shutter: float = setting(0.0, SHUTTER)
    elevation: float | None = setting(
        None, ELEVATION, default_text="22; of a particle file without a scene 35"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fit is None:
            object.__setattr__(self, "fit", self.position is None)
        self._check_consistency()

    def _check_consistency(self) -> None:
        if self.fit and self.height is not None:
            raise SceneError("camera.height: a fitted camera computes its height; leave it out")
        if self.type == "orthographic" and not self.fit and self.height is None:
            raise SceneError("camera.height: an orthographic camera needs a height, or fit = true")
        if self.type == "panorama" and self.fit:
            raise SceneError("camera.position: missing; a panorama needs a position")
        if self.type != "perspective" and (self.aperture or self.focus is not None):
            name = "aperture" if self.aperture else "focus"
            raise SceneError(f"camera.{name}: only a perspective camera has a lens; leave it out")
        if self.direction is not None and not self.fit:
            raise SceneError("camera.direction: is for a fitted camera; use look_at")
        if self.view is not None and not self.fit:
            raise SceneError("camera.view: is for a fitted camera; leave out the position")
        if self.position is None and not self.fit:
            raise SceneError("camera.position: missing; give a position, or fit = true")
        if self.direction is not None and self.position is not None:
            raise SceneError("camera.direction: give either a direction or a position, not both")
        if self.view is not None and (self.direction or self.position) is not None:
            given = "position" if self.direction is None else "direction"
            raise SceneError(f"camera.view: give either a view or a {given}, not both")
        if self.up is not None and hypot(*self.upward) == 0.0:
            raise SceneError("camera.up: has no length; give a direction")
        if self.position is None or self.look_at is not None:
            self.settled().check_axes()  # otherwise `look_at` depends on the spheres

    def check_axes(self) -> None:
        """Refuse a settled camera without a view direction, or with one parallel to `up`."""
        backward = self.backward()
        length = hypot(*backward)
        if length == 0.0:
            name = "camera.direction" if self.direction is not None else "camera.look_at"
            problem = "has no length" if self.direction is not None else "is the camera's position"
            raise SceneError(f"{name}: {problem}, so there is no view direction; change it")
        up = self.upward
        # Each is scaled by its own length first, so that the product cannot overflow.
        height = hypot(*up)
        b = [v / length for v in backward]
        u = [v / height for v in up]
        side = hypot(
            b[1] * u[2] - b[2] * u[1], b[2] * u[0] - b[0] * u[2], b[0] * u[1] - b[1] * u[0]
        )
        if side < PARALLEL:
            raise SceneError("camera.up: is parallel to the view; give another direction")

    def settled(self) -> Self:
        """Return the camera with default `up`, and default `direction` if it has no position."""
        up, direction = self.upward, self.direction
        if self.view is not None:
            direction, up = find_view_direction(self.view, up)
        elif self.position is None and direction is None:
            direction = find_standard_direction(up, self.elevation)
        if (up, direction, None) == (self.up, self.direction, self.view):
            return self
        settled = copy(self)
        for name, value in (("up", up), ("direction", direction), ("view", None)):
            object.__setattr__(settled, name, value)  # already checked
        return settled

    @property
    def upward(self) -> Vector:
        """The up direction, any length: `up`, or the default."""
        if isinstance(self.up, str) or self.up is None:  # checking replaces axis names
            return PLAIN_UP if self.view is None else VIEW_UP
        x, y, z = self.up
        return (x, y, z)

    def backward(self) -> Vector:
        """Return the vector from the point looked at to the camera, any length."""
        if self.position is None:
            a, b, c = self.settled().direction or (0.0, 0.0, 0.0)
            return (a, b, c)
        target = (0.0, 0.0, 0.0) if self.look_at is None else self.look_at
        a, b, c = (p - t for p, t in zip(self.position, target, strict=True))
        return (a, b, c)

    @property
    def about(self) -> dict[str, Any]:
        """What metadata say of the camera."""
        return {"camera": {name: each for name, each in vars(self).items() if each is not None}}

    def table(self) -> dict[str, Any]:
        """Return the keys of the table `[camera]` of a scene file."""
        keys = find_definitions(Camera)
        values = {n: getattr(self, n) for n in keys if keys[n].variant in ("", self.type)}
        for name, default in {"aperture": 0.0, "shutter": 0.0, "zoom": 1.0}.items():
            if values.get(name) == default:
                del values[name]
        if values["fit"] in (False, self.position is None):  # the default
            del values["fit"]
        return {n: each for n, each in values.items() if each is not None}

    def to_toml(self) -> str:
        """Return the table `[camera]` of a scene file, with all digits."""
        import json  # whose words, numbers and lists are those of TOML

        return "\n".join(["[camera]", *(f"{n} = {json.dumps(v)}" for n, v in self.table().items())])
