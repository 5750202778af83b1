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

from raytracer.config.errors import DataFileError, quote, suggest
from raytracer.model import particle_names as naming
from raytracer.model.particle_source import Particles, ParticleSource, forward_property

LIGHT_SPEED = 299_792.458  # km/s
HUBBLE = 70.0  # km/s/Mpc, for distances from redshifts
PARSEC = 1000.0  # distance in pc times parallax in mas
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


class Angles(NamedTuple):
    """Names of two angles: longitude and latitude of a system of coordinates."""

    system: str
    examples: tuple[str, str]
    patterns: tuple[str, str]  # regular expressions of the names, as of `naming.plain`


_END = r"(_?(j2000|icrs|deg|mean|degrees))?"
ANGLES = (
    Angles("equatorial", ("RAJ2000", "DEJ2000"), (
        rf"(target_)?(ra|right_ascension){_END}", rf"(target_)?(de|dec|decl|declination){_END}",
    )),
    Angles("galactic", ("glon", "glat"), (r"glon|gal_lon|gal_l|l", r"glat|gal_lat|gal_b|b")),
)  # fmt: skip
"""Columns that are directions. The letters `l` and `b` alone are some only beside a distance."""


class Distance(NamedTuple):
    """How a table states distances: a column by which a choice is made, and what is told of it."""

    example: str  # such a name
    pattern: str  # regular expression of its names, as of `naming.plain`
    told: str  # formula in the warning about positions
    factor: float = 1.0  # of its values
    unit: str = ""  # of the distances; "" is that of the column, or of its name
    is_inverse: bool = False


DISTANCES = (
    Distance("distance_kpc", r"(comoving_)?(distance|dist)(_(?P<unit>[kmg]?pc|ly))?|rgeo|r_med_geo",
             "as in the file"),
    Distance("parallax", r"(parallax|plx)(_mas)?", "1000 / parallax in mas", PARSEC, "pc", True),
)  # fmt: skip
"""Columns that are distances, the likeliest first; without any, directions are on the unit
sphere."""

REDSHIFT = Distance(
    "z_spec", r"redshift|z_?(spec|phot|cosmo|best|cmb|hel|helio|red|obs|true)|z",
    f"c z / H0 with H0 = {HUBBLE:g} km/s/Mpc", LIGHT_SPEED / HUBBLE, "Mpc",
)  # fmt: skip
"""A distance only where it is asked for: it depends on a model of the universe."""


class DistanceColumn(NamedTuple):
    """What a table says about distances."""

    name: str  # of the column; "" is none
    factor: float  # of a distance, in `unit`
    unit: str
    formula: str
    is_inverse: bool = False  # whether the column is a parallax


def find_angle_columns(names: Collection[str]) -> list[str]:
    """Return the columns of longitude and latitude, or []."""
    by_name = [(name, naming.normalize_name(name)) for name in names]
    for angles in ANGLES:
        found = [next((name for name, plain in by_name if re.fullmatch(each, plain)), "")
                 for each in angles.patterns]  # fmt: skip
        if all(found):
            return found
    return []


def with_celestial_positions(source: ParticleSource, redshift: str = "") -> ParticleSource:
    """Return a source of one frame, with celestial positions if it has no others, or if a column of
    redshifts is named. Raises DataFileError: there is no such column, or there are no angles."""
    columns = source.columns
    numbers = [name for name, each in columns.items()
               if not each.shape and each.kind in ("number", "integer")]  # fmt: skip
    angles = find_angle_columns(numbers)
    has_places = naming.find_usual_name("centers", columns) or all(
        naming.find_usual_name(axis, numbers) for axis in "xy"
    )
    if redshift:
        if not angles:
            raise explain_missing_angles(source)
        if redshift not in numbers:
            hint = suggest(redshift, numbers)
            raise source.error(f"there is no column of numbers '{quote(redshift)}'; {hint}")
    elif not angles or has_places:
        return source
    others = [name for name in numbers if name not in angles]
    made = CelestialSource(source, angles, others, redshift)
    are_letters = all(
        len(naming.normalize_name(name)) == 1 for name in angles
    )  # l and b of anything
    return source if are_letters and not made.far.name else made


def explain_missing_angles(source: ParticleSource) -> DataFileError:
    return source.error(
        "'redshift' is for files with columns of celestial coordinates, such as 'ra' and 'dec'"
    )


class CelestialSource(ParticleSource):
    """The rows of a table with known distances.

    Args:
        table: the source of all rows.
        angles: its columns of longitude and latitude.
        numbers: its other columns of numbers.
        redshift: the one of redshifts that are distances, or "".
    """

    columns = forward_property("table", "columns")

    def __init__(
        self, table: ParticleSource, angles: list[str], numbers: list[str], redshift: str = ""
    ) -> None:
        super().__init__(table.file, table.variant)
        self.table = table
        self.format, self.notes = table.format, table.notes
        self._angles = angles
        self.far = (
            self._distance_column(redshift, REDSHIFT) if redshift else self._distances(numbers)
        )
        self._redshift = "" if self.far.name else self._find_redshift_column(numbers)

    def _distances(self, numbers: list[str]) -> DistanceColumn:
        for distance in DISTANCES:
            for name in numbers:
                if found := re.fullmatch(distance.pattern, naming.normalize_name(name)):
                    if not distance.is_inverse:
                        return self._distance_column(name, distance, found["unit"] or "")
                    if factor := _MILLIARCSECONDS.get(self.columns[name].unit.lower()):
                        return self._distance_column(
                            name, distance._replace(factor=PARSEC / factor)
                        )
        return DistanceColumn("", 1.0, "", "")

    def _distance_column(self, name: str, distance: Distance, unit: str = "") -> DistanceColumn:
        unit = distance.unit or self.columns[name].unit or unit
        return DistanceColumn(name, distance.factor, unit, distance.told, distance.is_inverse)

    def _find_redshift_column(self, numbers: list[str]) -> str:
        """Return the column that may be redshifts, or ""."""
        if naming.has_bands(numbers):
            numbers = [name for name in numbers if naming.normalize_name(name) != "z"]
        fits = (
            name for name in numbers if re.fullmatch(REDSHIFT.pattern, naming.normalize_name(name))
        )
        return min(fits, key=lambda name: naming.normalize_name(name) == "z", default="")

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
        far = self.far.name or self._redshift or lat  # `Z` is no label then
        whole = self.table.particles({**names, "x": lon, "y": lat, "z": far})
        whole.centers = self._to_cartesian(np.asarray(whole.centers, np.float64)[self.rows])
        whole.unit, whole.columns["centers"] = self.far.unit, ()  # other values than theirs
        for name in ("radius", "color" if whole.color_id is None else "color_id"):
            values = getattr(whole, name)
            if np.shape(values)[:1] == self._is_known.shape:
                setattr(whole, name, values[self.rows])
        if whole.labels is not None:
            whole.labels = whole.labels._replace(ids=whole.labels.ids[self.rows])
        whole.extra = {name: values[self.rows] for name, values in whole.extra.items()}
        whole.notes.append(("", self._describe_positions(len(self._is_known) - len(self.rows))))
        return whole

    def _degree_factor(self, name: str) -> float:
        """Return the factor of the unit of an angle. Raises DataFileError for an unknown one."""
        if (factor := _DEGREES.get(self.columns[name].unit.lower())) is None:
            raise self.error(
                f"the unit '{quote(self.columns[name].unit)}' of '{quote(name)}' is unknown: one "
                f"of {', '.join(filter(None, _DEGREES))}"
            )
        return factor

    def _to_cartesian(self, given: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return positions from longitude, latitude and distance, parallax or redshift, (N, 3)."""
        degrees = given[:, :2] * [self._degree_factor(name) for name in self._angles]
        if np.any(np.abs(degrees[:, 1]) > 90.0):
            raise self.error(
                f"'{quote(self._angles[1])}' is beyond 90 degrees: give --columns "
                "x=NAME,y=NAME,z=NAME"
            )
        lon, lat = np.radians(degrees).T
        far, radius = self.far, np.ones(len(given))
        if far.name:
            radius = far.factor / given[:, 2] if far.is_inverse else far.factor * given[:, 2]
        axes = [np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)]
        return np.stack(axes, axis=1) * radius[:, None]

    def _describe_positions(self, left: int) -> str:
        far = self.far
        lon, lat = (f"'{quote(name)}'" for name in self._angles)
        text = f"{lon} and {lat}, on the unit sphere: there is no distance"
        if name := quote(self._redshift):
            text += f" (--columns redshift={name} makes '{name}' one: {REDSHIFT.told})"
        if far.name:
            unit = f", in {quote(far.unit)}" if far.unit else ""
            text = f"{lon}, {lat} and '{quote(far.name)}' (distance: {far.formula}{unit})"
        what = f"; rows without a {'positive ' if far.is_inverse else ''}value are left out"
        return f"{self.name}: positions are from {text}" + (f"{what}: {left:,}" if left else "")
