"""The reference of all keys of a scene file, from their definitions.

    python docs/scene_reference.py

prints it as a table in Markdown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from raytracer.config.field_types import FieldType
from raytracer.config.fields import Definition
from raytracer.model.key_types import NamedTables, Tables, TableType
from raytracer.scene_files.tables import SCENE


class Row(NamedTuple):
    """A key or setting; texts may be Markdown.

    Attributes:
        key: path of the key: "render.max_depth", "lights[].type", "materials.NAME.mirror".
        option: option of `raytracer render`, or "".
        default: "required" for a required value, "" for none.
        values: allowed values, "" if the meaning says enough.
        meaning: a sentence or more.
    """

    key: str
    option: str
    default: str
    values: str
    meaning: str


def rows() -> list[Row]:
    """Return a row per key, in the order of the definitions."""
    return list(_rows(SCENE.keys, ""))


def markdown() -> str:
    head = ("key", "option", "default", "values", "meaning")
    lines = [head, ("---",) * len(head)]
    for row in rows():
        option = f"`{row.option}`" if row.option else ""
        lines.append((f"`{row.key}`", option, row.default, row.values, row.meaning))
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _rows(keys: Mapping[str, Definition], prefix: str) -> Iterator[Row]:
    for name, key in keys.items():
        path, inside = prefix + name, key.kind.tables()
        if not inside or len(key.kind.plain) > 1:
            yield _row(path, key, key.option_name if prefix == "render." else "")
        if inside:
            joint = "[]." if isinstance(key.kind, Tables) else "."
            joint = ".NAME." if isinstance(key.kind, NamedTables) else joint
            yield from _rows(_merged(inside), path + joint)


def _merged(tables: list[TableType]) -> Mapping[str, Definition]:
    """Return the keys of a table, or of all types of an object, with the types of each key."""
    if len(tables) == 1:
        return tables[0].keys
    types = {table.keys["type"].kind.values(): table.keys for table in tables}
    first = tables[0].keys["type"]
    kind = FieldType({}, wording=", ".join(types))
    merged = {"type": Definition(kind, first.summary, default=first.default)}
    for name in dict.fromkeys(name for keys in types.values() for name in keys):
        if name != "type":
            merged[name] = _of_types(
                {each: keys[name] for each, keys in types.items() if name in keys}, len(types)
            )
    return merged


def _of_types(keys: dict[str, Definition], count: int) -> Definition:
    """Describe a key by type; its default, too, if it differs."""
    meanings: dict[str, list[str]] = {}
    for each, key in keys.items():
        meanings.setdefault(key.text, []).append(each)
    text = " ".join(
        meaning if len(of) == count else f"Type {', '.join(of)}: {meaning[0].lower()}{meaning[1:]}"
        for meaning, of in meanings.items()
    )
    defaults = {each: _default(key) for each, key in keys.items()}
    default = ", ".join(f"{each} {words}" for each, words in defaults.items())
    key = next(iter(keys.values()))
    default = default if len(set(defaults.values())) > 1 else key.default_text
    return Definition(key.kind, text, default_text=default, default=key.default)


def _default(key: Definition) -> str:
    return "required" if key.required else key.default_words


def _row(path: str, key: Definition, option: str) -> Row:
    return Row(path, option, _default(key), key.kind.values(), key.text)


if __name__ == "__main__":
    print(markdown())
