"""Selections of atoms in the language of MDAnalysis, and the words of VMD for distances.

`protein`, `resname LYS and name CA` and `around 5 resname HEM` are evaluated by MDAnalysis on the
columns of the particles. `within 5 of ...` of VMD includes the atoms themselves, `exwithin 5 of
...` leaves them out, as `around` does.
"""

from __future__ import annotations

import ast
import re
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import SceneError, quote

if TYPE_CHECKING:
    from raytracer.appearance.columns import Columns

_ALONE = {"protein", "backbone", "nucleic", "nucleicbackbone", "nucleicbase", "nucleicsugar",
          "water", "all"}  # fmt: skip
"""Selections of one word."""

_WORDS = re.compile(
    rf"\b(?:{'|'.join(sorted(_ALONE))})\b|\b(?:resname|resid|resnum|name|chain|chainID|segid|element"
    r"|type|index|bynum|around|within|exwithin|byres|sphzone|prop|same|altloc|mass)\s+[\"']?[\w.*+-]"
)
_WITHIN = re.compile(r"\b(ex)?within\s+([\d.]+(?:[eE][+-]?\d+)?)\s+of\s+")
_STOP = re.compile(r"[()]| (?:and|or)\b")
_WATER = "resname HOH WAT SOL H2O TIP TIP3 TIP3P TIP4 TIP4P TIP5P SPC SPCE"

TEXTS = {"names": "name", "resnames": "resname", "segids": "chain", "elements": "element",
         "types": "type"}  # fmt: skip
"""Columns of texts by the attribute of MDAnalysis."""

NUMBERS = {"resids": "resid", "masses": "mass", "tempfactors": "beta", "charges": "charge"}


def is_selection(text: str, columns: Columns) -> bool:
    """Whether a condition is a selection of atoms, not an expression over columns."""
    if not _WORDS.search(text):
        return False
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return True
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return bool(names) and names <= _ALONE and not any(name in columns for name in names)


def select_atoms(text: str, columns: Columns, place: str) -> NDArray[np.intp]:
    """Return the indices of the particles that a selection of atoms takes; distances are without
    images. Raises SceneError."""
    try:
        import MDAnalysis
    except ImportError:
        raise SceneError(
            f"{place}: '{quote(text)}' is a selection of atoms, which MDAnalysis evaluates: pip "
            "install 'raytracer[mdanalysis]'"
        ) from None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of properties that it guesses or lacks
            words = re.sub(r"\s+", " ", re.sub("[\"']", "", text))  # VMD quotes names
            words = re.sub(r"\bwaters?\b", f"({_WATER})", re.sub(r"\bchain\b", "segid", words))
            found: NDArray[np.intp] = _select_group(
                _make_universe(MDAnalysis, columns), words
            ).indices
    except RecursionError:
        raise SceneError(f"{place}: '{quote(text)}' has too many nested selections") from None
    except Exception as error:  # of the library: selections, missing attributes, numbers
        why = quote(str(error).strip().partition("\n")[0], 160)
        if lack := re.search(r"has no attribute '(\w+)'", why):
            why = f"the particles have no {lack[1]}"
        raise SceneError(
            f"{place}: '{quote(text)}' is neither an expression nor a selection of these atoms "
            f"({why})"
        ) from None
    return found


def _select_group(universe: Any, text: str) -> Any:
    """Return the atoms that a selection takes. What `within` refers to is selected first and named,
    because its translation names it twice."""
    if not text.strip():
        raise ValueError("a distance is to nothing")
    parts, groups, place = list[str](), dict[str, Any](), 0
    while match := _WITHIN.search(text, place):
        end = _find_operand_end(text, match.end())
        name = f"near{len(groups)}"
        groups[name] = _select_group(universe, text[match.end() : end])
        around = f"around {match[2]} group {name}"
        inclusive = f"(group {name} or ({around}))"
        parts += text[place : match.start()], f"({around})" if match[1] else inclusive
        place = end
    return universe.select_atoms("".join([*parts, text[place:]]), **groups)


def _find_operand_end(text: str, start: int) -> int:
    """Return where the selection ends that begins at `start`: at and, or, or a parenthesis."""
    depth = 0
    for stop in _STOP.finditer(text, start):
        if depth == 0 and stop[0] != "(":
            return stop.start()
        depth += (stop[0] == "(") - (stop[0] == ")")
    return len(text)


def _make_universe(package: Any, columns: Columns) -> Any:
    count = columns.count
    known = {key: _values(columns, name) for key, name in (TEXTS | NUMBERS).items()}
    residues = np.zeros(count, np.intp)
    for values in (known["resids"], known["resnames"], known["segids"]):
        if values is not None:
            residues[1:] |= values[1:] != values[:-1]
    residues = np.cumsum(residues)
    first = np.unique(residues, return_index=True)[1]
    chains = known.pop("segids")
    segments, index = np.unique(
        np.zeros(len(first), "U1") if chains is None else chains[first], return_inverse=True
    )
    made = package.Universe.empty(
        count, len(first), len(segments), atom_resindex=residues, residue_segindex=index,
        trajectory=True,
    )  # fmt: skip
    made.atoms.positions = np.stack([columns[axis] for axis in "xyz"], axis=1)
    made.add_TopologyAttr("segids", [str(each) for each in segments])
    for key, each in known.items():
        if each is not None:
            values = each[first] if key in ("resnames", "resids") else each
            made.add_TopologyAttr(
                key, values.astype(object) if values.dtype.kind in "US" else values
            )
    return made


def _values(columns: Columns, name: str) -> NDArray[Any] | None:
    values = columns.get(name)
    if values is None or values.ndim != 1:
        return None
    return np.char.decode(values) if values.dtype.kind == "S" else values
