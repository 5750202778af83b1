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
from raytracer.field_types import Kind
from raytracer.fields import Definition, definitions
from raytracer.scene.kinds import Either, NamedTables, Table, Tables
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
    """
    if table == TONE:
        from raytracer.film.tone_settings import ToneSettings

        return [_row(key.name, key, key.option_name) for key in definitions(ToneSettings).values()]
    if table is None:
        return list(_rows(SCENE.keys, ""))
    known = [name for name, key in SCENE.keys.items() if key.kind.tables()]
    if table not in known:
        raise UserError(f"there is no table '{table}'; {suggestion(table, [*known, TONE])}")
    return list(_rows({table: SCENE.keys[table]}, ""))


def markdown(table: str | None = None) -> str:
    """Return the rows as a table in Markdown."""
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
        path, inside = prefix + name, key.kind.tables()
        if isinstance(key.kind, Either):
            yield _row(path, key, "")
        if inside:
            joint = "[]." if isinstance(key.kind, Tables) else "."
            joint = ".NAME." if isinstance(key.kind, NamedTables) else joint
            yield from _rows(_merged(inside), path + joint)
        else:
            option = key.option_name if prefix == "render." else ""
            yield _row(path, key, option)


def _merged(tables: list[Table]) -> dict[str, Definition]:
    """Return the keys of a table, or of all types of an object: `type` and who has which."""
    if len(tables) == 1:
        return dict(tables[0].keys)
    types = {table.keys["type"].kind.values(): table.keys for table in tables}
    first = tables[0].keys["type"]
    kind = Kind()
    kind.said = ", ".join(types)
    merged = {"type": Definition(kind, first.summary, default=first.default)}
    for keys in types.values():
        for name, key in keys.items():
            if name not in merged:
                own = {each: its[name] for each, its in types.items() if name in its}
                text, default = _by_types(own, every=len(own) == len(types))
                merged[name] = Definition(
                    key.kind, text, default_text=default or key.default_text, default=key.default
                )
    return merged


def _by_types(own: dict[str, Definition], *, every: bool) -> tuple[str, str]:
    """Return what a key means by type, and its default where that depends on the type, else "".

    own: definitions by type. every: whether these are all types.
    """
    meanings: dict[str, list[str]] = {}
    for each, key in own.items():
        meanings.setdefault(key.text, []).append(each)
    if every and len(meanings) == 1:
        text = next(iter(meanings))
    else:
        text = " ".join(
            f"Type {', '.join(of)}: {meaning[0].lower()}{meaning[1:]}"
            for meaning, of in meanings.items()
        )
    defaults = {each: "required" if k.required else k.default_words for each, k in own.items()}
    if len(set(defaults.values())) == 1:
        return text, ""
    return text, ", ".join(f"{each} {default}" for each, default in defaults.items())


def _row(path: str, key: Definition, option: str) -> Row:
    default = "required" if key.required else key.default_words
    return Row(path, option, default, key.kind.values(), key.text)


if __name__ == "__main__":
    try:
        print(markdown(*sys.argv[1:2]))
    except UserError as error:
        sys.exit(f"raytracer: {error}")
