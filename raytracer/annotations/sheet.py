"""Sheets: shapes with the size of a point, the ink colour, and the room that is left."""

from dataclasses import dataclass, field
from typing import NamedTuple, Self

from raytracer.config.errors import SceneError
from raytracer.drawing.shapes import RGB, Shape, pixels_per_point
from raytracer.model.annotations import Legend, ScaleBar, TextLabel
from raytracer.model.colors import Color, linear_to_srgb, parse_color, srgb_to_linear
from raytracer.model.simulation_box import to_triple

Backdrop = tuple[RGB, RGB]  # sRGB of the lower and the upper edge of a background

MARGIN = 12.0  # in points, at the edges of the picture and between things at the same place
MAX_SIZE = 1.0  # maximum size of letters, as a part of the larger side of the picture

BLACK, WHITE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)

DARK = 0.45  # luma of sRGB below which a colour asks for white ink


class OccupiedBox(NamedTuple):
    place: str  # one of `PLACES`
    x: float  # of the upper left corner
    y: float
    width: float
    height: float

    def is_overlapping(self, other: Self) -> bool:
        """Return whether two boxes have an area in common."""
        return (
            self.x < other.x + other.width and other.x < self.x + self.width
            and self.y < other.y + other.height and other.y < self.y + self.height
        )  # fmt: skip


@dataclass
class Sheet:
    """A picture to draw over."""

    width: int  # of the whole picture in pixels
    height: int
    dpi: float | None = None  # see `pixels_per_point`
    backdrop: Backdrop | None = None  # None if it is transparent
    shapes: list[Shape] = field(default_factory=list, init=False)
    boxes: list[OccupiedBox] = field(default_factory=list, init=False)
    _used: dict[str, float] = field(default_factory=dict, init=False)

    @property
    def point(self) -> float:
        return pixels_per_point(self.width, self.height, self.dpi)

    def choose_font_size(self, points: float, name: str) -> float:
        """Return a font size in pixels; name: of the annotation, for messages. Raises SceneError:
        letters are larger than the picture."""
        size = points * self.point
        if size > MAX_SIZE * max(self.width, self.height):
            raise SceneError(
                f"{name}.size: letters of {points:g} points are {size:.0f} pixels high, in a "
                f"picture of {self.width}x{self.height}: make the size, or render.dpi, smaller"
            )
        return size

    def choose_pen(self, text: Legend | ScaleBar | TextLabel) -> tuple[float, RGB, RGB | None]:
        """Return size, colour and rim of the letters of an annotation."""
        ink = self.choose_ink(text.color, text.place)
        return self.choose_font_size(text.size, text._place), ink, self.halo(ink)

    def choose_ink(self, color: Color | None, place: str = "") -> RGB:
        """Return a colour; by default black or white, for contrast with the background there."""
        if color is not None:
            return parse_color(color)
        if self.backdrop is None:
            return BLACK
        if place.startswith(("bottom", "top")):
            return contrasting_color(self.backdrop[place.startswith("top")])
        return contrasting_color(
            to_triple(linear_to_srgb(srgb_to_linear(self.backdrop).mean(axis=0)))
        )

    def halo(self, ink: RGB) -> RGB | None:
        """Return the colour of the rim around letters; None over a transparent background."""
        return None if self.backdrop is None else contrasting_color(ink)

    @property
    def wide(self) -> float:
        """Width between the margins, pixels: longer lines are wrapped or shortened."""
        return max(self.width - 2.0 * MARGIN * self.point, 1.0)

    def free_height(self, place: str) -> float:
        """Return the free height at a place, pixels."""
        margin = MARGIN * self.point
        used = 0.0 if place in ("left", "right") else self._used.get(place, 0.0)
        return self.height - 2.0 * margin - used

    def reserve(self, place: str, width: float, height: float) -> tuple[float, float]:
        """Occupy a box at a place, beside what is there already; return its upper left corner."""
        margin = MARGIN * self.point
        used = self._used.get(place, 0.0)
        beside = place in ("left", "right")
        self._used[place] = used + margin / 2.0 + (width if beside else height)
        x, y = (self.width - width) / 2.0, (self.height - height) / 2.0
        if "left" in place or "right" in place:
            start = margin + (used if beside else 0.0)
            x = start if "left" in place else self.width - width - start
        if place.startswith(("top", "bottom")):
            y = margin + used if "top" in place else self.height - margin - height - used
        taken = self._moved_away(OccupiedBox(place, x, y, width, height), margin / 2.0)
        self.boxes.append(taken)
        return taken.x, taken.y

    def _moved_away(self, box: OccupiedBox, gap: float) -> OccupiedBox:
        """Move a box inwards past those at other places that it would overlap, if there is room."""
        for across in (box.place in ("left", "right"), True):
            moved = box
            for _ in self.boxes:
                other = next((each for each in self.boxes if moved.is_overlapping(each)), None)
                if other is None:
                    break
                if across and "right" in box.place:
                    moved = moved._replace(x=other.x - gap - box.width)
                elif across:
                    moved = moved._replace(x=other.x + other.width + gap)
                elif box.place.startswith("bottom"):
                    moved = moved._replace(y=other.y - gap - box.height)
                else:
                    moved = moved._replace(y=other.y + other.height + gap)
            inside = 0.0 <= moved.x <= self.width - box.width
            inside &= 0.0 <= moved.y <= self.height - box.height
            if inside and not any(moved.is_overlapping(other) for other in self.boxes):
                return moved
        return box


def contrasting_color(color: RGB) -> RGB:
    """Return black or white, whichever contrasts with a colour."""
    luma = 0.2126 * color[0] + 0.7152 * color[1] + 0.0722 * color[2]  # weights of Rec. 709
    return WHITE if luma < DARK else BLACK
