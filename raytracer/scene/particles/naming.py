"""Names of arrays, columns and properties in particle files, and what each one means.

Names are compared without their unit ("x [nm]"), in any case of letters, with one underscore for
each run of spaces, points and colons: OVITO's "Position.X" and ParaView's "Points:0" are known.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence

from raytracer.errors import DataFileError, shown

_CENTERS = ("centers", "centres", "center", "centre", "positions", "position", "pos",
            "coordinates", "coords", "points", "xyz")  # fmt: skip

USUAL = {
    "centers": _CENTERS,
    "radius": ("radii", "radius", "rad", "particle_radius", "radius_of_particle"),
    "diameter": ("diameters", "diameter", "diam", "particle_diameter"),
    "color": ("colors", "color", "colours", "colour", "rgb", "hex"),
    "r": ("r", "red", "color_r", "rgb_0", "color_0", "colors_0"),
    "g": ("g", "green", "color_g", "rgb_1", "color_1", "colors_1"),
    "b": ("b", "blue", "color_b", "rgb_2", "color_2", "colors_2"),
}
"""The names of each part that are known without being told, the likeliest first."""

ALPHA = ("a", "alpha", "color_a", "color_alpha", "rgba_3", "color_3", "colors_3", "opacity")
"""Names of a column that is the alpha of colours, where r, g and b are there too."""

for _index, _axis in enumerate("xyz"):
    _stems = ("position", "positions", "pos", "coordinates", "coord", "center", "centers", "centre")
    USUAL[_axis] = (
        _axis, f"p{_axis}", *(f"{stem}_{_axis}" for stem in _stems), f"{_axis}_coordinate",
        f"points_{_index}", f"centers_{_index}", f"position_{_index}", f"coordinates_{_index}",
    )  # fmt: skip

GUESSES = {"radius": "r", "diameter": "d"}
"""Names of one letter that are taken where nothing better is there, with a warning."""

# Compiled by `re` where they are needed first: most files ask for none of them.
_UNIT = r"\s*(\[[^\]]*\]|\([^)]*\)|/\s*\S+)\s*$"
_SIZE = r"(^|_)(size|sizes|sigma|scale|width|rad\w*|diam\w*)(_|$)"
_COLOR = r"colou?r|rgb|(^|_)(red|green|blue|hue)(_|$)"


def plain(name: str) -> str:
    """Return a name as it is compared."""
    if name.isidentifier():  # the usual case: without a unit, spaces, points and colons
        return name.lower()
    return re.sub(r"[\s.:]+", "_", re.sub(_UNIT, "", name).strip().lower())


def bare(name: str) -> str:
    """Return a name that somebody asks for as it is compared: what looks like a unit may be none.

    "vx / 2" and "velocities[0]" are expressions.
    """
    return re.sub(r"[\s.:]+", "_", name.strip().lower())


def unit(name: str) -> str:
    """Return the unit that a name states, without brackets, or ""."""
    match = re.search(_UNIT, name)
    return match[1].strip("[]()/ ") if match else ""


def unit_of_all(names: Iterable[str]) -> str:
    """Return the unit that all of some names state, or ""."""
    units = {unit(name) for name in names}
    return units.pop() if len(units) == 1 else ""


def usual(part: str, known: Iterable[str]) -> str | None:
    """Return the likeliest of known names that means a part, a key of `USUAL`, or None."""
    names = list(known)
    by_plain = {plain(name): name for name in reversed(names)}
    for name in USUAL[part]:
        if name in names:
            return name
        if name in by_plain:
            return by_plain[name]
    return None


def plural(noun: str) -> str:
    """Return what several columns are called: "properties" of "property"."""
    return "properties" if noun == "property" else f"{noun}s"


def require_one(
    chosen: Iterable[str], names: Sequence[str], source: str, noun: str, stated: Collection[str]
) -> None:
    """Refuse names of columns that are read and that more than one column has.

    A name that the user stated, or is written as in `USUAL`, means only what is called exactly so.

    Args:
        chosen: names that are read.
        names: all names in the file.
        source: the file, with the line of the names if there is one.
        noun: "column", "array" or "property".
        stated: names that the user gave.

    Raises:
        DataFileError: two names are the same.
    """
    for name in chosen:
        exact = name in stated or name == plain(name)
        same = [
            each for each in names if each == name or (not exact and plain(each) == plain(name))
        ]
        if len(same) > 1:
            but = "" if same.count(name) == len(same) else " but for units and capital letters"
            what = f"{plural(noun)} {listed(same)}"
            raise DataFileError(
                f"{source}: the {what} have the same name{but}; rename or remove all but one"
            )


def guess(names: Iterable[str], source: str, kind: str) -> tuple[str, str, str] | None:
    """Return what an unused name of one letter likely means: part, name, and a warning, or None."""
    left = {plain(name): name for name in reversed(list(names))}
    for part, key in (("radius", "radii"), ("diameter", "diameters")):
        name = left.get(GUESSES[part])
        if name is not None:
            quoted = shown(name)
            sentence = (
                f"{source}: {kind} '{quoted}' is taken as the {part}: to be certain, call it "
                f'{part}, or say arrays = {{{key} = "{quoted}"}} in a scene file'
            )
            return part, name, sentence
    return None


def sizes(names: Iterable[str]) -> list[str]:
    """Return the names that sound like a size."""
    return [name for name in names if re.search(_SIZE, plain(name))]


def colors(names: Iterable[str]) -> list[str]:
    """Return the names that sound like a colour."""
    return [name for name in names if re.search(_COLOR, plain(name))]


def listed(names: Sequence[str], most: int = 8) -> str:
    """Return names in quotes with commas between, the first few of many."""
    quoted = ", ".join(f"'{shown(name)}'" for name in names[:most])
    return quoted if len(names) <= most else f"{quoted} and {len(names) - most:,} more"


def unused(
    source: str, noun: str, sizes: Sequence[str], colors: Sequence[str], way: str
) -> list[tuple[str, str]]:
    """Return the warnings about names that sound like sizes or colours and are not used.

    Args:
        source: the file.
        noun: "column", "array" or "property".
        sizes, colors: the names; none where sizes or colours are read.
        way: how a scene file names colours in `arrays`.
    """
    warnings = []
    for part, what, names, key in (
        ("radius", "radii", sizes, f'radii = "{shown(sizes[0])}"' if sizes else ""),
        ("color", "colours", colors, way),
    ):
        if names:
            subject, verb = (plural(noun), "are") if len(names) > 1 else (noun, "is")
            warnings.append((part, (
                f"{source}: {subject} {listed(names)} {verb} not used: to take {what} from "
                f"there, say arrays = {{{key}}} in a scene file"
            )))  # fmt: skip
    return warnings
