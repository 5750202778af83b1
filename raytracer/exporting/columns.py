"""The columns of particles in a page: values of those that one picks."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.exporting.sections import Section, section_of
from raytracer.scene.coloring.expression import Texts
from raytracer.scene.columns import left_out, shared_names, shared_values
from raytracer.scene.particles.columns import label_ids
from raytracer.scene.scene import Scene

MAX_WORDS = 1 << 16  # of a column of texts
DIGITS, FEW_DIGITS = 6, 4  # of a number that is shown
MANY = 1_000_000  # particles from which numbers have few digits: their columns then fit


def column_sections(scene: Scene, room: int) -> tuple[list[dict[str, Any]], dict[str, Section]]:
    """Return descriptions of the columns of all sets, and their sections, as far as there is room;
    those that colours follow come first."""
    sets = [each for each in scene.spheres if each.count]
    if not sets:
        return [], {}
    shown = " ".join(scale.title for scale in scene.color_scales)
    names = sorted(shared_names(sets), key=lambda name: name not in shown)
    about: list[dict[str, Any]] = []
    sections: dict[str, Section] = {}
    omitted: list[str] = []
    wordy: list[str] = []
    if any(each.rows is not None for each in sets):
        rows = [np.arange(each.count) if each.rows is None else each.rows for each in sets]
        sections["rows"] = section_of(np.concatenate(rows).astype(np.uint32))
        room -= len(sections["rows"].text)
    for name in names:
        if room < scene.count // 8:
            omitted.append(name)
        elif (values := shared_values(name, sets)) is not None:
            entry, parts = _column(values, f"column{len(about)}_", name)
            size = sum(len(section.text) for section in parts.values())
            if len(entry.get("words", ())) > MAX_WORDS:
                wordy.append(name)
            elif size > room:
                omitted.append(name)
            else:
                about.append({"name": name, **entry, "unit": sets[0].columns.unit(name)})
                sections |= parts
                room -= size
    left_out(omitted, "the page would be too large")
    left_out(wordy, f"they have more than {MAX_WORDS:,} different texts")
    return about, sections


def _column(
    values: list[NDArray[Any] | Texts], key: str, name: str
) -> tuple[dict[str, Any], dict[str, Section]]:
    """Return the description and the sections of a column, whose names begin with `key`."""
    if any(isinstance(each, Texts) for each in values):
        return _words(values, key, name)
    column = np.concatenate([each for each in values if not isinstance(each, Texts)])
    wide = column.reshape(len(column), -1)
    kind = _kind(wide)
    with np.errstate(over="ignore", under="ignore"):
        cast = wide.astype(kind)
    about: dict[str, Any] = {"parts": wide.shape[1], "kind": kind}
    if kind[0] == "f":
        about["digits"] = FEW_DIGITS if len(cast) >= MANY else DIGITS
        cast = _rounded(cast) if len(cast) >= MANY else cast
    sections: dict[str, Section] = {}
    for part, numbers in enumerate(cast.T):
        if numbers.itemsize < 8:
            sections[f"{key}{part}"] = section_of(numbers)
            continue
        halves = numbers.astype(f"<{kind}").view("<u4").reshape(-1, 2)
        sections |= {f"{key}{part}_low": section_of(halves[:, 0]),
                     f"{key}{part}_high": section_of(halves[:, 1])}  # fmt: skip
    return about, sections


def _kind(values: NDArray[Any]) -> str:
    """Return the narrowest type that keeps all integers, or the range of all other numbers."""
    if values.dtype.kind == "f":
        if values.itemsize <= 4:
            return "f4"
        sizes = np.abs(values[np.isfinite(values) & (values != 0)])
        limits = np.finfo(np.float32)
        fits = not sizes.size or (limits.tiny <= sizes.min() and sizes.max() <= limits.max)
        return "f4" if fits else "f8"
    least, most = (int(values.min()), int(values.max())) if values.size else (0, 0)
    if least >= -(2**31) and most < 2**31:
        return "i4"
    return "i8" if most < 2**63 else "u8"


def _rounded(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers with 11 bits after the first, whose low bytes deflate to nothing."""
    word = np.dtype(f"u{values.itemsize}").type
    dropped = np.finfo(values.dtype).nmant - 11
    half, low = word(1 << (dropped - 1)), word((1 << dropped) - 1)
    rounded = ((values.view(word) + half) & ~low).view(values.dtype)
    return np.where(np.isfinite(values), rounded, values)


def _words(
    values: list[NDArray[Any] | Texts], key: str, name: str
) -> tuple[dict[str, Any], dict[str, Section]]:
    places: dict[str, int] = {}
    ids = []
    for each in values:
        texts = each if isinstance(each, Texts) else Texts(*label_ids(each, name))
        table = [places.setdefault(text, len(places)) for text in texts.names]
        ids.append(np.array(table, np.uint32)[texts.ids])
    about = {"parts": 1, "kind": "text", "words": list(places)}
    return about, {f"{key}0": section_of(np.concatenate(ids))}
