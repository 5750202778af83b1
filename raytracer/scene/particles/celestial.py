"""Positions from celestial coordinates: two angles, and a distance, a parallax or a redshift.

For tables without Cartesian coordinates. Axes are those of the angles: x points to (0, 0), z to the
pole.
"""

import re
from collections.abc import Collection, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown
from raytracer.scene.particles import naming
from raytracer.scene.particles.source import Particles, ParticleSource, of

LIGHT_SPEED = 299_792.458  # km/s
HUBBLE = 70.0  # km/s/Mpc, for distances from redshifts
PARSEC = 1000.0  # distance in pc times parallax in mas
_END = r"(_?(j2000|icrs|deg|mean|degrees))?"
_ANGLES = (
    (rf"(target_)?(ra|right_ascension){_END}", rf"(target_)?(de|dec|decl|declination){_END}"),
    (r"glon|gal_lon|gal_l|l", r"glat|gal_lat|gal_b|b"),
)
"""Names of longitudes and latitudes: equatorial, galactic."""

_DISTANCE = r"(comoving_)?(distance|dist)(_(?P<unit>[kmg]?pc|ly))?|rgeo|r_med_geo"
_PARALLAX = r"(parallax|plx)(_mas)?"
_REDSHIFT = r"redshift|z_?(spec|phot|cosmo|best|cmb|hel|helio|red|obs|true)"
_SHORT_REDSHIFT = r"z"

_DEGREES = {
    **dict.fromkeys(("", "deg", "degree", "degrees", "°", "d"), 1.0),
    **dict.fromkeys(("h", "hr", "hour", "hours", "hourangle"), 15.0),
    **dict.fromkeys(("rad", "radian", "radians"), 180.0 / np.pi),
    "arcmin": 1.0 / 60.0, "arcsec": 1.0 / 3600.0, "mas": 1.0 / 3.6e6,
}  # fmt: skip
_MILLIARCSECONDS = {
    **dict.fromkeys(("", "mas", "milliarcsec", "milliarcsecond", "milliarcseconds"), 1.0),
    **dict.fromkeys(("arcsec", "as", "arcsecond", "arcseconds"), 1000.0),
    **dict.fromkeys(("uas", "µas"), 0.001),
}
"""Factors of units of angles, and of parallaxes."""


class Far(NamedTuple):
    """What a table says about distances."""

    name: str  # of the column; "" is none
    factor: float  # of a distance, in `unit`
    unit: str
    formula: str
    is_inverse: bool = False  # whether the column is a parallax


def directions(names: Collection[str]) -> list[str]:
    """Return the columns of longitude and latitude, or []."""
    by_name = [(name, naming.plain(name)) for name in names]
    for pair in _ANGLES:
        found = [next((name for name, plain in by_name if re.fullmatch(each, plain)), "")
                 for each in pair]  # fmt: skip
        if all(found):
            return found
    return []


def placed(source: ParticleSource) -> ParticleSource:
    """Return a source of one frame, with celestial positions if it has no others."""
    columns = source.columns
    numbers = [name for name, each in columns.items()
               if not each.shape and each.kind in ("number", "integer")]  # fmt: skip
    angles = directions(numbers)
    has_places = naming.usual("centers", columns) or all(
        naming.usual(axis, numbers) for axis in "xy"
    )
    if not angles or has_places:
        return source
    made = Celestial(source, angles, [name for name in numbers if name not in angles])
    are_letters = all(len(naming.plain(name)) == 1 for name in angles)  # l and b of anything
    return source if are_letters and not made.far.name else made


class Celestial(ParticleSource):
    """The rows of a table with known distances.

    Args:
        table: the source of all rows.
        angles: its columns of longitude and latitude.
        numbers: its other columns of numbers.
    """

    columns = of("table", "columns")

    def __init__(self, table: ParticleSource, angles: list[str], numbers: list[str]) -> None:
        super().__init__(table.file, table.variant)
        self.table = table
        self.format, self.notes = table.format, table.notes
        self._angles = angles
        self.far = self._distances(numbers)

    def _distances(self, numbers: list[str]) -> Far:
        if naming.has_bands(numbers):
            numbers = [name for name in numbers if naming.plain(name) != "z"]
        for pattern in (_DISTANCE, _PARALLAX, _REDSHIFT, _SHORT_REDSHIFT):
            for name in numbers:
                found, unit = re.fullmatch(pattern, naming.plain(name)), self.columns[name].unit
                if found is None:
                    continue
                if pattern == _DISTANCE:
                    return Far(name, 1.0, unit or found["unit"] or "", "as in the file")
                if pattern != _PARALLAX:
                    formula = f"c z / H0 with H0 = {HUBBLE:g} km/s/Mpc"
                    return Far(name, LIGHT_SPEED / HUBBLE, "Mpc", formula)
                if factor := _MILLIARCSECONDS.get(unit.lower()):
                    return Far(name, PARSEC / factor, "pc", "1000 / parallax in mas", True)
        return Far("", 1.0, "", "")

    @cached_property
    def _is_known(self) -> NDArray[np.bool_]:
        """Which rows of the table have a direction and a distance, (N,)."""
        far = self.far
        columns = self.table.load([*self._angles, *([far.name] if far.name else [])])
        known: Any = np.isfinite(list(columns.values())).all(axis=0)
        if far.name:
            is_valid = np.greater if far.is_inverse else np.greater_equal
            known = known & is_valid(columns[far.name], 0)
        return np.asarray(known)

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        return np.flatnonzero(self._is_known)

    @property
    def count(self) -> int | None:
        return len(self.rows)

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return {name: values[self.rows] for name, values in self.table.load(names).items()}

    def particles(self, names: Mapping[str, str]) -> Particles:
        lon, lat = self._angles
        self.table.also = self.also
        whole = self.table.particles({**names, "x": lon, "y": lat, "z": self.far.name or lat})
        whole.centers = self._cartesian(np.asarray(whole.centers, np.float64)[self.rows])
        whole.unit, whole.columns["centers"] = self.far.unit, ()  # other values than theirs
        for name in ("radius", "color" if whole.color_id is None else "color_id"):
            values = getattr(whole, name)
            if np.shape(values)[:1] == self._is_known.shape:
                setattr(whole, name, values[self.rows])
        if whole.labels is not None:
            whole.labels = whole.labels._replace(ids=whole.labels.ids[self.rows])
        whole.extra = {name: values[self.rows] for name, values in whole.extra.items()}
        whole.notes.append(("", self._told(len(self._is_known) - len(self.rows))))
        return whole

    def _degrees(self, name: str) -> float:
        """Return the factor of the unit of an angle. Raises DataFileError for an unknown one."""
        if (factor := _DEGREES.get(self.columns[name].unit.lower())) is None:
            raise self.error(
                f"the unit '{shown(self.columns[name].unit)}' of '{shown(name)}' is unknown: one "
                f"of {', '.join(filter(None, _DEGREES))}"
            )
        return factor

    def _cartesian(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return positions from longitude, latitude and distance, parallax or redshift, (N, 3)."""
        degrees = given[:, :2] * [self._degrees(name) for name in self._angles]
        if np.any(np.abs(degrees[:, 1]) > 90.0):
            raise self.error(
                f"'{shown(self._angles[1])}' is beyond 90 degrees: give --columns "
                "x=NAME,y=NAME,z=NAME"
            )
        lon, lat = np.radians(degrees).T
        far, radius = self.far, np.ones(len(given))
        if far.name:
            radius = far.factor / given[:, 2] if far.is_inverse else far.factor * given[:, 2]
        axes = [np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]
        return np.stack(axes, axis=1) * radius[:, None]

    def _told(self, left: int) -> str:
        far = self.far
        lon, lat = (f"'{shown(name)}'" for name in self._angles)
        text = f"{lon} and {lat}, on the unit sphere: there is no distance"
        if far.name:
            unit = f", in {shown(far.unit)}" if far.unit else ""
            text = f"{lon}, {lat} and '{shown(far.name)}' (distance: {far.formula}{unit})"
        what = f"; rows without a {'positive ' if far.is_inverse else ''}value are left out"
        return f"{self.name}: positions are from {text}" + (f"{what}: {left:,}" if left else "")
