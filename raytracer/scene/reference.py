"""The reference of all keys of a scene file and of the tone settings, from their definitions.

    python -m raytracer.scene.reference [TABLE]

prints a table in Markdown: of all keys of a scene file, of those of one table ("render",
"camera", ...), or of the tone settings ("tone").
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from raytracer.errors import UserError, suggestion
from raytracer.fields import Definition, definitions
from raytracer.kinds import Kind
from raytracer.scene.kinds import NamedTables, Table, Tables, Variants
from raytracer.scene.tables import SCENE

TONE = "tone"
"""Name of the settings that are no table of a scene file."""


class Row(NamedTuple):
    """A key, or a setting; every text may hold Markdown.

    Attributes:
        key: path of the key: "render.max_depth", "lights[].type", "materials.NAME.mirror".
        option: of `raytracer render`, "" where there is none.
        default: "required" where there must be a value, "" for none.
        values: which there are, "" where the meaning says enough.
        meaning: a sentence or more.
    """

    key: str
    option: str
    default: str
    values: str
    meaning: str


def rows(table: str | None = None) -> list[Row]:
    """Return a row for each key, in the order of the definitions.

    Args:
        table: one of the tables of a scene file, or "tone"; None gives the whole file.

    Raises:
        UserError: there is no such table.
    """
    if table == TONE:
        from raytracer.tone_settings import ToneSettings

        return [_row(key.name, key, key.option_name) for key in definitions(ToneSettings).values()]
    if table is None:
        return list(_rows(SCENE.keys, ""))
    known = [name for name, key in SCENE.keys.items() if list(_inside(key.kind))]
    if table not in known:
        raise UserError(f"there is no table '{table}'; {suggestion(table, [*known, TONE])}")
    return list(_rows({table: SCENE.keys[table]}, ""))


def markdown(table: str | None = None) -> str:
    """Return the rows as a table in Markdown.

    Args:
        table: as for `rows`.

    Raises:
        UserError: there is no such table.
    """
    listed = rows(table)
    options = any(row.option for row in listed)
    head = ("key", *(("option",) if options else ()), "default", "values", "meaning")
    lines = [head, ("---",) * len(head)]
    for row in listed:
        option = (f"`{row.option}`" if row.option else "",) if options else ()
        lines.append((f"`{row.key}`", *option, row.default, row.values, row.meaning))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _rows(keys: Mapping[str, Definition], prefix: str) -> Iterator[Row]:
    for name, key in keys.items():
        path, inside = prefix + name, list(_inside(key.kind))
        if not inside:
            yield _row(path, key, key.option_name if prefix == "render." else "")
            continue
        joint = {Tables: "[].", NamedTables: ".NAME."}.get(type(key.kind), ".")
        told = set()
        for table in inside:
            for row in _rows(_of_type(table, inside), path + joint):
                if row.key not in told:
                    told.add(row.key)
                    yield row


def _of_type(table: Table, all_types: list[Table]) -> dict[str, Definition]:
    """Return the keys of a table; `type` has the values of all types of the object."""
    keys = dict(table.keys)
    if len(all_types) > 1:
        kind = keys.pop("type")
        values = ", ".join(each.keys["type"].kind.values() for each in all_types)
        keys = {"type": Definition(_Listed(values), kind.summary, default=kind.default), **keys}
    return keys


class _Listed(Kind):
    """A kind of which only the values are told."""

    def __init__(self, values: str) -> None:
        self._values = values

    def values(self) -> str:
        return self._values


def _row(path: str, key: Definition, option: str) -> Row:
    default = "required" if key.required else key.default_words
    only = f" Only {key.variant}." if key.variant else ""
    meaning = f"{key.summary} {key.details}".rstrip() + only
    return Row(path, option, default, key.kind.values(), meaning)


def _inside(kind: Kind) -> Iterator[Table]:
    """Yield the tables that a value of a kind is, one for each type."""
    if isinstance(kind, Table):
        yield kind
    elif isinstance(kind, Variants):
        yield from kind.variants.values()
    elif isinstance(kind, (Tables, NamedTables)):
        yield from _inside(kind.item)


if __name__ == "__main__":
    try:
        print(markdown(*sys.argv[1:2]))
    except UserError as error:
        sys.exit(f"raytracer: {error}")
