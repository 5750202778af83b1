"""The columns of particles in a page: values of those that one picks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.exporting.sections import Section, section_of
from raytracer.scene.coloring.expression import Texts
from raytracer.warning import warn

if TYPE_CHECKING:
    from raytracer.scene.scene import Scene

MAX_WORDS = 1 << 16  # of a column of texts
DIGITS, FEW_DIGITS = 6, 4  # of a number that is shown
MANY = 1_000_000  # particles from which numbers have few digits: their columns then fit


def column_sections(scene: Scene, room: int) -> tuple[list[dict[str, Any]], dict[str, Section]]:
    """Return descriptions of the columns of all sets, and their sections, as far as there is room.

    Those that colours follow come first.
    """
    sets = [each for each in scene.spheres if each.count]
    if not sets:
        return [], {}
    shown = " ".join(scale.title for scale in scene.color_scales)
    names = sorted(sets[0].columns.others, key=lambda name: name not in shown)
    about: list[dict[str, Any]] = []
    sections: dict[str, Section] = {}
    omitted: list[str] = []
    rows = np.concatenate(
        [np.arange(each.count) if each.rows is None else each.rows for each in sets]
    )
    if any(each.rows is not None for each in sets):
        sections["rows"] = section_of(rows.astype(np.uint32))
        room -= sections["rows"].nbytes
    for name in names:
        if any(not each.columns.has(name) for each in sets):
            continue
        if room < scene.count // 8:
            omitted.append(name)
            continue
        made = _column(name, [each.columns.value(name) for each in sets], len(about))
        if made is None:
            continue
        size = sum(section.nbytes for section in made[1].values())
        if size > room:
            omitted.append(name)
            continue
        about.append(made[0] | {"unit": sets[0].columns.unit(name)})
        sections |= made[1]
        room -= size
    if omitted:
        warn(f"columns {', '.join(omitted)} are left out: the page would be too large")
    return about, sections


def _column(
    name: str, values: list[NDArray[Any] | Texts], number: int
) -> tuple[dict[str, Any], dict[str, Section]] | None:
    """Return the description and the sections of a column; None if it is no table of values."""
    key = f"column{number}_"
    if all(isinstance(each, Texts) for each in values):
        words = np.concatenate([np.array(each.names)[each.ids] for each in values])  # type: ignore[union-attr]
        return _words(name, key, words)
    parts = [np.array(each.names)[each.ids] if isinstance(each, Texts) else each for each in values]
    if len({part.shape[1:] for part in parts}) != 1 or parts[0].ndim > 2:
        return None
    column = np.concatenate(parts)
    if column.dtype.kind in "SU":
        return _words(name, key, column)
    if column.dtype.kind not in "biuf":
        return None
    wide = column.reshape(len(column), -1)
    about: dict[str, Any] = {"name": name, "parts": wide.shape[1], "kind": "f4"}
    if column.dtype.kind in "biu" and len(wide) and abs(wide.astype(np.float64)).max() < 2**31:
        about["kind"] = "i4"
    kind = np.int32 if about["kind"] == "i4" else np.float32
    with np.errstate(over="ignore"):
        cast = wide.astype(kind)
    about["digits"] = DIGITS
    if kind is np.float32 and len(cast) >= MANY:
        cast = _rounded(np.asarray(cast, np.float32))
        about["digits"] = FEW_DIGITS
    return about, {f"{key}{part}": section_of(cast[:, part]) for part in range(wide.shape[1])}


def _rounded(values: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return numbers with 11 bits after the first, whose low bytes deflate to nothing."""
    half, kept = np.uint32(1 << 11), np.uint32(0xFFFFF000)
    finite = np.isfinite(values)
    return np.where(finite, ((values.view(np.uint32) + half) & kept).view(np.float32), values)


def _words(
    name: str, key: str, words: NDArray[Any]
) -> tuple[dict[str, Any], dict[str, Section]] | None:
    table, ids = np.unique(words, return_inverse=True)
    if len(table) > MAX_WORDS:
        return None
    texts = [
        each.decode("utf-8", "replace") if isinstance(each, bytes) else str(each)
        for each in table.tolist()
    ]
    about = {"name": name, "parts": 1, "kind": "text", "words": texts}
    return about, {f"{key}0": section_of(ids.ravel().astype(np.uint32))}
