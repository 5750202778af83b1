"""Labels of coordinate files: chemical elements, or types without a meaning.

Programs of chemistry write symbols or atomic numbers; those of physics write types: numbers from 1,
letters from A, or names of beads. Types get one colour each. Files do not state which of the two
they have; in doubtful cases a warning says what was assumed.
"""

import json
import re
from collections.abc import Mapping, Sequence
from colorsys import hls_to_rgb
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, SceneError
from raytracer.config.inferred import current_defaults
from raytracer.model.colors import RGB
from raytracer.model.elements import Element, find_element, find_symbol, load_elements
from raytracer.model.particle_names import quote_names

MEANINGS = ("elements", "types")  # meanings that a user can state; None decides by the labels
MAX_GAPS = 3  # types count from 1: numbers with more gaps than this are atomic numbers

# The colours of Okabe and Ito without black, distinct for any colour vision.
_COLORS = ("E69F00", "56B4E9", "009E73", "F0E442", "0072B2", "D55E00", "CC79A7")
GOLDEN = 0.6180339887  # step on the colour circle from one further type to the next: golden ratio


class ParticleLabels(NamedTuple):
    """The labels of a file."""

    names: list[str]  # the K distinct labels, in order of first use
    ids: NDArray[np.int32]  # int32 (N,), the label of each particle
    # their meaning, one of `MEANINGS`, if the file or the user states it
    meaning: str | None = None
    line: int = 3  # line of the first particle in the file, for messages
    stated: Mapping[str, Element] = {}  # radii and colours by label or symbol, from the scene file
    known: tuple[str, ...] = ()  # the labels in all frames of the file, or some; () if unknown
    types: tuple[str, ...] | None = None  # the types that are not numbers, in the order of colours
    with_residues: bool = False  # elements by the names of atoms and residues, so no beads


class LabelStyles(NamedTuple):
    """Radii (K,), NaN for types without one; sRGB colours (K, 3); the assumption, or ""."""

    radii: NDArray[np.float64]
    colors: NDArray[np.float32]
    assumed: str = ""


def find_label_styles(labels: ParticleLabels, source: str) -> LabelStyles:
    """Return radii and colours of the labels of a file; `source` is its name. Raises DataFileError:
    a label is not an element, though all are stated to be elements."""
    types, assumed = _find_types(labels)
    order = current_defaults().rank_types(sorted(types, key=_rank), labels.types)
    elements = []
    for index, name in enumerate(labels.names):
        stated = labels.stated.get(name, Element())
        is_number = name.isdecimal()
        if name in types or (
            is_number and stated.radius is not None and labels.meaning != "elements"
        ):
            place = int(name) - 1 if is_number else order[name]
            elements.append(Element(stated.radius, stated.color or type_color(place)))
            continue
        try:
            elements.append(find_element(name, labels.stated))
        except SceneError as error:
            line = labels.line + int(np.argmax(labels.ids == index))
            raise DataFileError(f"{source}: line {line}: {error}") from None
    radii = np.array([np.nan if e.radius is None else e.radius for e in elements], np.float64)
    colors = np.array([e.color for e in elements], np.float32).reshape(len(elements), 3)
    return LabelStyles(radii, colors, f"{source}: {assumed}" if assumed else "")


def find_element_symbols(labels: ParticleLabels) -> list[str | None]:
    """Return the element of each label, None for types."""
    types, _ = _find_types(labels)
    symbols = {name: element.symbol for name, element in labels.stated.items()}
    return [
        symbols.get(name) or (None if name in types else find_symbol(name)) for name in labels.names
    ]


def type_color(index: int) -> RGB:
    if 0 <= index < len(_COLORS):
        red, green, blue = (int(_COLORS[index][i : i + 2], 16) / 255.0 for i in (0, 2, 4))
        return (red, green, blue)
    return hls_to_rgb(index * GOLDEN % 1.0, 0.45 + 0.2 * (index % 2), 0.6)


def list_type_names(labels: ParticleLabels) -> list[str]:
    """Return the types of a file that are not numbers."""
    return [name for name in _find_types(labels)[0] if not name.isdecimal()]


def _find_types(labels: ParticleLabels) -> tuple[set[str], str]:
    """Return the labels that are types, and the assumption, or ""."""
    if labels.meaning == "elements":
        return set(), ""
    # A label with a radius in the scene file is fully described there.
    known = list(dict.fromkeys([*labels.names, *labels.known]))
    open_ = [name for name in known if labels.stated.get(name, Element()).radius is None]
    if labels.meaning == "types":
        return set(open_), ""
    numbers = sorted(filter(str.isdecimal, open_), key=_rank)
    words = [name for name in open_ if not name.isdecimal()]
    generic = "A" in known  # not an element, so other letters are not either
    types = [w for w in words if find_symbol(w) is None or (generic and len(w) == 1)]
    if numbers and (types or not words):
        first, last = int(numbers[0]), int(numbers[-1])
        count = len({int(name) for name in numbers})
        if not types and first >= 1 and count + MAX_GAPS < last <= len(load_elements()):
            named = ", ".join(dict.fromkeys(find_symbol(number) or "" for number in numbers))
            return set(), (
                f"the labels {_join_numbers(numbers)} are taken as atomic numbers ({named}): if "
                "they are "
                'types, set labels = "types" in a scene file'
            )
        types += [name for name in open_ if name.isdecimal()]
    unnamed = [name for name in types if name not in labels.stated]
    return set(types), _describe_types(unnamed) if unnamed else ""


def _describe_types(names: list[str]) -> str:
    """Return the warning about labels that are taken as types."""
    key = names[0] if re.fullmatch(r"[A-Za-z0-9_-]+", names[0]) else json.dumps(names[0])
    what, other = quote_names(names), ""
    if all(map(str.isdecimal, names)):
        what = _join_numbers(sorted(names, key=_rank))
        other = ' (or labels = "elements" in the set if they are atomic numbers)'
    taken = f"label {what} is taken as a type, not as an element"
    if len(names) > 1:
        taken = f"labels {what} are taken as types, not as elements"
    return (
        f'the {taken}: to change that, write element = "Cu", or radius and color, under '
        f"[elements.{key}] in a scene file{other}"
    )


def _join_numbers(numbers: Sequence[str]) -> str:
    return ", ".join(numbers[:8]) + (", ..." if len(numbers) > 8 else "")


def _rank(name: str) -> tuple[int, str]:
    """Return a sort key: numbers by value, then words."""
    return (int(name), "") if name.isdecimal() else (10**9, name)
