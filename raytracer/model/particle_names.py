"""Names of arrays, columns and properties in particle files, and their meanings.

Names are compared without their unit ("x [nm]") and "particle", in any case, with one underscore
for each run of spaces, points, colons and hyphens: OVITO's "Position.X", ParaView's "Points:0" and
"Particle X-Coordinate" of Rocky are known. Coordinates under other names are three names that
differ in their axis alone, and have a word for a place: "Center of Mass X (mm)", "rlnCoordinateX".
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

from raytracer.config.errors import DataFileError, quote

_CENTERS = ("centers", "centres", "center", "centre", "positions", "position", "pos",
            "coordinates", "coords", "points", "xyz", "locations", "location", "loc",
            "nodes")  # fmt: skip

USUAL = {
    "centers": _CENTERS,
    "radius": ("radii", "radius", "rad", "radius_of_particle", "equivalent_radius", "pscale"),
    "diameter": (
        "diameters", "diameter", "diam", "equivalent_diameter", "eq_diameter", "eqdiameter",
        "equivdiameter", "equivalentdiameter", "esd", "equivalent_spherical_diameter",
        "areashape_equivalentdiameter", "equivalentdiameters", "durchmesser",
    ),
    "color": ("colors", "color", "colours", "colour", "rgb", "hex"),
    "r": ("r", "red", "color_r", "rgb_0", "color_0", "colors_0"),
    "g": ("g", "green", "color_g", "rgb_1", "color_1", "colors_1"),
    "b": ("b", "blue", "color_b", "rgb_2", "color_2", "colors_2"),
}  # fmt: skip
"""Usual names of each part, the likeliest first."""

IDS = ("id", "ids", "particle_id", "particleids", "particle_ids", "identifier",
       "particle_identifier", "serial", "tag", "atom_id")  # fmt: skip
"""Names of the column that identifies particles, the likeliest first."""

ALPHA = ("a", "alpha", "color_a", "color_alpha", "rgba_3", "color_3", "colors_3", "opacity")
"""Names of alpha columns beside r, g and b."""

_STEMS = ("position", "pos", "coordinates", "coordinate", "coords", "coord", "centers", "center",
          "centres", "centre", "centroid", "points", "location", "loc", "positions", "com", "c",
          "p", "r", "q")  # fmt: skip
_UNITS = ("m", "mm", "um", "µm", "nm", "km", "cm", "pc", "kpc", "mpc", "au", "px", "pix", "world")
for _index, _axis in enumerate("xyz"):
    USUAL[_axis] = (
        _axis,
        *(f"{stem}_{_axis}" for stem in _STEMS),
        *(f"{stem}{_axis}" for stem in _STEMS),
        *(f"{_axis}_{stem}" for stem in _STEMS[:12]),
        *(f"{_axis}{stem}" for stem in ("pos", "coord", "com", "c")),
        *(f"{stem}_{_index}" for stem in _STEMS[:15] if stem != "centroid"),
        f"centroid_{2 - _index}",  # of scikit-image: z, y, x
        *(f"{_axis}_{unit}" for unit in _UNITS),
        *(f"{_axis}{unit}" for unit in ("nm", "um", "µm", "mm")),
        f"axis_{2 - _index}",  # of napari: z, y, x
    )

_PLACES = frozenset((*_CENTERS, *_STEMS[:16], "centroids", "koordinate", "wert", "coor", "point",
                     "barycenter", "bary", "world"))  # fmt: skip
"""Words of names that are places."""

_OTHERS = frozenset(
    ("acceleration", "angle", "bounding", "box", "color", "colors", "err", "error", "extent",
     "force", "forces", "gradient", "intensity", "max", "maximum", "min", "minimum", "momentum",
     "normal", "normals", "orientation", "precision", "rate", "rgb", "rotation", "sigma", "size",
     "spin", "std", "v", "vel", "velocities", "velocity", "width")
)  # fmt: skip
"""Words of names of vectors that are no places."""

_AXES = ("xyz", "012", "123")
"""Letters or digits by which names differ."""

MAX_NAME = 256  # letters of the longest name that may have a meaning
GUESSES = {"radius": "r", "diameter": "d"}  # used without better names, with a warning

_BANDS = frozenset("griz")
"""Columns of magnitudes of a survey, beside which `r` is no radius and `z` no redshift."""

# Compiled by `re` at first use: most files need none of them.
_WORDS = r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+"
_COMPONENT = r"(?i)[\[(]\s*([xyz012])\s*[\])]\s*$"  # of P[x], which is no unit
_UNIT = r"\s*(\[[^\]]*\]|\([^)]*\)|/\s*\S+)\s*$"
_SIZE = r"(^|_)(size|sizes|sigma|scale|width|rad|radi[iu]\w*|diam\w*)(_|$)"
_COLOR = r"colou?r|rgb|(^|_)(red|green|blue|hue)(_|$)"


def normalize_name(name: str) -> str:
    """Return a name in the form for comparison."""
    text = name.lower()
    if len(name) > MAX_NAME:
        return text
    if not name.isidentifier():  # the usual case has neither unit nor separators
        if "[" in name or "(" in name or "/" in name:  # what both expressions begin with
            name = re.sub(_UNIT, "", re.sub(_COMPONENT, r"_\1", name))
        text = re.sub(r"[\s.:_-]+", "_", name.strip(" '_").lower())
    return text.removeprefix("particle_")


def parse_unit(name: str) -> str:
    """Return the unit in a name, without brackets, or ""."""
    match = re.search(_UNIT, name[-MAX_NAME:])
    return match[1].strip("[]()/ ") if match else ""


@lru_cache(1)
def _load_length_units() -> dict[str, tuple[float, int]]:
    """Return known units of length in metres, as factors and powers of ten."""
    powers = {"": 0, "k": 3, "c": -2, "m": -3, "u": -6, "µ": -6, "μ": -6, "n": -9, "p": -12}
    words = {"": 0, "kilo": 3, "centi": -2, "milli": -3, "micro": -6, "nano": -9, "pico": -12}
    known = {f"{prefix}m": (1.0, power) for prefix, power in powers.items()}
    known |= {f"{prefix}{word}{end}": (1.0, power) for prefix, power in words.items()
              for word in ("meter", "metre") for end in ("", "s")}  # fmt: skip
    known |= dict.fromkeys(("micron", "microns"), (1.0, -6))
    known |= dict.fromkeys(("Å", "Å", "A", "ang", "Ang", "angstrom", "angstroms"), (1.0, -10))
    known |= dict.fromkeys(("bohr", "Bohr"), (5.29177210903, -11))
    known |= dict.fromkeys(("au", "AU"), (1.495978707, 11))
    parsec = 3.0856775814913673
    known |= {"pc": (parsec, 16), "kpc": (parsec, 19), "Mpc": (parsec, 22), "mpc": (parsec, 22)}
    return known | {"inch": (2.54, -2), "in": (2.54, -2), "ft": (3.048, -1), "feet": (3.048, -1)}


_OTHER_UNITS = frozenset(("px", "pix", "pixel", "pixels", "voxel", "voxels", "vox", "hu", "deg",
                          "degree", "degrees", "rad", "arcsec", "arcmin", "mas", "%"))  # fmt: skip
"""Units that are no lengths; other words behind names need not be units."""


def parse_length_unit(name: str) -> str:
    """Return the unit of a length in a name, in brackets or after the last underscore, or ""."""
    if found := parse_unit(name):
        return found
    end = name.rpartition("_")[2] if "_" in name else ""
    return end if end in _UNITS and end in _load_length_units() else ""


def convert_length_unit(one: str, other: str) -> float | None:
    """Return a unit of length in another; None if one is no length, or only one is per h."""
    (first, _, more), (second, _, rest) = one.partition("/"), other.partition("/")
    known = _load_length_units()
    sizes = [known.get(each) or known.get(each.lower() if len(each) > 3 else "")
             for each in (first.strip(), second.strip())]  # fmt: skip
    if sizes[0] is None or sizes[1] is None or more != rest:
        return None
    (factor, power), (base, of_base) = sizes[0], sizes[1]
    return factor / base * 10.0 ** (power - of_base)


def is_unit(text: str) -> bool:
    return convert_length_unit(text, text) is not None or text.lower() in _OTHER_UNITS


def find_usual_name(part: str, known: Iterable[str]) -> str | None:
    """Return the likeliest known name of a part, a key of `USUAL`, or None."""
    names = dict.fromkeys(known)  # a line may have a million empty ones
    by_plain = _index_by_plain_name(tuple(names))
    for name in USUAL[part]:
        if name in names:
            return name
        if name in by_plain:
            return by_plain[name]
    if part == "centers":
        return _find_name_ending_in_center(names)
    return _find_axis_columns(names).get(part) if part in "xyz" else None


@lru_cache(2)  # it is asked for each part of a table, which may have hundreds of thousands
def _index_by_plain_name(names: tuple[str, ...]) -> dict[str, str]:
    return {normalize_name(name): name for name in reversed(names)}


def find_axes(names: Iterable[str]) -> list[str]:
    """Return the names of the coordinates that there are, in the order x, y, z."""
    known = list(names)
    return [name for axis in "xyz" if (name := find_usual_name(axis, known)) is not None]


def has_axes(names: Iterable[str]) -> bool:
    known = list(names)
    return all(find_usual_name(axis, known) for axis in "xyz")


def _find_axis_columns(names: Collection[str]) -> dict[str, str]:
    """Return names by their axes: the first three with a word for a place that differ in these."""
    groups: dict[tuple[str, ...], dict[int, str]] = defaultdict(dict)
    for name in names:
        words = [word.lower() for word in re.findall(_WORDS, name)] if len(name) <= MAX_NAME else []
        for place, word in enumerate(words):
            others = words[:place] + words[place + 1 :]
            if len(word) > 1 or _PLACES.isdisjoint(others) or not _OTHERS.isdisjoint(others):
                continue
            for axes in _AXES:
                if word in axes:
                    group = groups[axes, *words[:place], "", *words[place + 1 :]]
                    group.setdefault(axes.index(word), name)
    for end in ("", "v"):  # of Athena++
        numbered = {place: f"x{place + 1}{end}" for place in range(3)}
        if all(name in names for name in numbered.values()):
            groups[end, "numbered"] = numbered
    whole = next((group for group in groups.values() if len(group) == len("xyz")), {})
    return {axis: whole[place] for place, axis in enumerate("xyz") if whole}


def _find_name_ending_in_center(names: Collection[str]) -> str | None:
    """Return the first name whose last word is one of centres: GroupPos of halo finders."""
    for name in names:
        words = [word.lower() for word in re.findall(_WORDS, name[-MAX_NAME:])[1:]]
        if words and words[-1] in _CENTERS and _OTHERS.isdisjoint(words):
            return name
    return None


def is_other_vector(name: str) -> bool:
    """Whether a name says that a vector is no place: a velocity, a normal, ..."""
    words = (word.lower() for word in re.findall(_WORDS, name))
    return not _OTHERS.isdisjoint(words)


def plural(noun: str) -> str:
    return "properties" if noun == "property" else f"{noun}s"


def require_one(
    chosen: Iterable[str], names: Sequence[str], source: str, noun: str, stated: Collection[str]
) -> None:
    """Refuse names in use, `chosen`, that several of all `names` of a file have. One that the user
    stated, or is written as in `USUAL`, matches only exactly. Raises DataFileError."""
    for name in chosen:
        exact = name in stated or name == normalize_name(name)
        same = [
            each
            for each in names
            if each == name or (not exact and normalize_name(each) == normalize_name(name))
        ]
        if len(same) > 1:
            but = "" if same.count(name) == len(same) else " except for units and case"
            what = f"{plural(noun)} {quote_names(same)}"
            raise DataFileError(
                f"{source}: the {what} have the same name{but}; rename or remove all but one"
            )


def has_bands(names: Iterable[str]) -> bool:
    """Whether a table has magnitudes of the bands of a survey."""
    return {normalize_name(name) for name in names} >= _BANDS


def guess_part(names: Iterable[str], source: str, kind: str) -> tuple[str, str, str] | None:
    """Return the likely part, name and warning for an unused name of one letter, or None."""
    left = {normalize_name(name): name for name in reversed(list(names))}
    part = next((part for part, letter in GUESSES.items() if letter in left), None)
    if part is None or has_bands(left):
        return None
    name = left[GUESSES[part]]
    quoted, key = quote(name), {"radius": "radii", "diameter": "diameters"}[part]
    sentence = (
        f"{source}: {kind} '{quoted}' is taken as the {part}: to be certain, rename it to {part}, "
        f'give --columns {part}={quoted}, or set arrays = {{{key} = "{quoted}"}} in a scene file'
    )
    return part, name, sentence


def quote_names(names: Sequence[str], most: int = 8) -> str:
    """Join names in quotes, only the first `most`."""
    quoted = ", ".join(f"'{quote(name)}'" for name in names[:most])
    return quoted if len(names) <= most else f"{quoted} and {len(names) - most:,} more"


def describe_unused(
    source: str, noun: str, names: Sequence[str], parts: Iterable[str]
) -> list[tuple[str, str]]:
    """Return the warnings about unused names that suggest `parts`, of "radius" and "color"."""
    warnings = []
    for part in parts:
        what, pattern = {"radius": ("radii", _SIZE), "color": ("colours", _COLOR)}[part]
        if found := [name for name in names if re.search(pattern, normalize_name(name[:MAX_NAME]))]:
            key = f'radii = "{quote(found[0])}"' if part == "radius" else 'colors = "..."'
            stated = key.replace(" = ", "=").replace('"', "").replace("radii", "radius")
            subject, verb = (plural(noun), "are") if len(found) > 1 else (noun, "is")
            warnings.append((part, (
                f"{source}: {subject} {quote_names(found)} {verb} not used: to take {what} from "
                f"there, give --columns {stated}, or set arrays = {{{key}}} in a scene file"
            )))  # fmt: skip
    return warnings
