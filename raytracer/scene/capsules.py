"""Capsules: segments with a radius and round ends, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.errors import SceneError, counted
from raytracer.scene.scene import Capsules, SphereSet

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.materials import AnyMaterial
    from raytracer.scene.transform import Transform


class CapsuleSet(Capsules):
    """Capsules that share a material and a transform: bonds, rods, edges, lines.

    A capsule is all that is within its radius of the segment from its start to its end.

    Args:
        starts: (N, 3), own units.
        ends: (N, 3), own units; an end at its start makes a sphere.
        radius: one radius or (N,), own units.
        color: as for `SphereSet`: one colour, N colours, or a palette (K, 3) for `color_id`.
        end_color: the colour of the half towards the end, in the same forms; None is that of the
            whole capsule. The colour changes at the middle.
        color_id: integers (N,) into the palette `color`.
        end_color_id: integers (N,) into the palette `end_color`.
        color_space: "srgb" or "linear": what the numbers of colours are.
        material: a `Material`, a `Principled`, or the name of one of the scene's.
        transform: from own units to scene units; None leaves them as they are.
        names: a file's own names of "starts", "ends", "radius", "color" and "end_color", for
            messages.

    Raises:
        SceneError: arrays that do not fit, NaN or infinity (with the index of the first), radii
            that are not positive, colours out of range.
    """

    def __init__(
        self,
        starts: Any,
        ends: Any,
        radius: Any,
        color: Any = None,
        end_color: Any = None,
        *,
        color_id: Any = None,
        end_color_id: Any = None,
        color_space: str = "srgb",
        material: str | AnyMaterial = "default",
        transform: Transform | None = None,
        names: Mapping[str, str] | None = None,
    ) -> None:
        said = {name: name for name in ("starts", "ends", "radius", "color", "end_color")}
        said |= dict(names or {})
        shared: dict[str, Any] = {
            "color_space": color_space,
            "material": material,
            "transform": transform,
        }
        if radius is None:
            raise SceneError(f"{said['radius']}: is None; give the radius of the capsules")
        self.start: SphereSet = _Ends(
            starts,
            radius,
            color,
            color_id=color_id,
            names={"centers": said["starts"], "radius": said["radius"], "color": said["color"]},
            **shared,
        )
        self.has_end_colors = end_color is not None or end_color_id is not None
        # The radius has been checked, unless there are fewer ends than starts.
        same = len(self.start.centers) == _length(ends)
        self.end: SphereSet = _Ends(
            ends,
            self.start.radius if same else 1.0,
            end_color,
            color_id=end_color_id,
            names={"centers": said["ends"], "color": said["end_color"]},
            **shared,
        )
        if self.end.count != self.start.count:
            raise SceneError(
                f"{said['ends']}: has {counted(self.end.count, 'end')} for "
                f"{counted(self.start.count, 'start')}"
            )

    @property
    def starts(self) -> NDArray[np.floating[Any]]:
        """Starts, float32 or float64 (N, 3), own units."""
        return self.start.centers

    @property
    def ends(self) -> NDArray[np.floating[Any]]:
        """Ends, float32 or float64 (N, 3), own units."""
        return self.end.centers

    @property
    def radius(self) -> NDArray[np.floating[Any]] | float:
        """One radius, or one for each capsule, own units."""
        return self.start.radius

    def __repr__(self) -> str:
        return f"<CapsuleSet: {counted(self.count, 'capsule')}>"


class _Ends(SphereSet):
    """The balls at one end of capsules: arrays, colours and material are checked as those."""

    noun = "capsule"


def _length(values: Any) -> int:
    """Return the number of items, -1 of what has none."""
    try:
        return len(values)
    except Exception:  # whatever a foreign object raises
        return -1
