"""What pydantic finds wrong with a scene file, as sentences with the path of the field."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import BaseModel

from ..errors import MOST_SENTENCES, TEXT_LETTERS, shown, shown_value, suggestion

if TYPE_CHECKING:
    from pydantic import ValidationError
    from pydantic_core import ErrorDetails


# Pydantic's kinds of problem, and what the value must be, with limits from the problem's context.
_MUST = {
    "bool_type": "true or false",
    "dict_type": "a table",
    "finite_number": "a finite number",
    "float_type": "a number",
    "greater_than": "above {gt}",
    "greater_than_equal": "at least {ge}",
    "int_from_float": "a whole number",
    "int_type": "a whole number",
    "less_than_equal": "at most {le}",
    "list_type": "a list",
    "model_attributes_type": "a table",
    "model_type": "a table",
    "string_type": "text",
}


PAIRS = (("radius", "radii"), ("color", "colors"))
"""Fields that take one value for all spheres of a set, and those that take one for each."""

# Pydantic's kinds of problem where a table belongs.
_TABLES = ("dict_type", "model_attributes_type", "model_type")


def sentences(error: ValidationError, model: type[BaseModel], file: str) -> list[str]:
    """Return a sentence for each problem: file, field, what is wrong.

    Beyond those that an error keeps they are empty: to find the nearest known name takes a while.

    Args:
        error: from validating `model`.
        model: the class of the whole file.
        file: what to call it.
    """
    lines = []
    problems = error.errors(include_url=False, include_context=True)
    for problem in problems[:MOST_SENTENCES]:
        path, owners, inside = _locate(problem["loc"], model)
        text = _brackets(problem, path, inside, file) or _describe(problem, owners, inside)
        lines.append(f"{file}: {path}: {text}{_other_number(problem, owners)}")
    return lines + [""] * (len(problems) - len(lines))


def _locate(
    location: Sequence[int | str], model: type[BaseModel]
) -> tuple[str, list[type[BaseModel]], list[type[BaseModel]]]:
    """Return the path of a field as people write it, the classes it is in, and those in it.

    Pydantic's own path also names the chosen kind of camera or light, which the file does not.
    """
    path = ""
    owners: list[type[BaseModel]] = []
    inside = [model]
    named = False  # whether the next step is a name that the user chose
    for step in location:
        if isinstance(step, int):
            path += f"[{step}]"
            continue
        if named:
            path, named = f"{path}.{shown(step)}", False
            continue
        fields = [f for t in inside for n, f in t.model_fields.items() if step in (n, f.alias)]
        chosen = [t for t in inside if _tag(t) == step]
        if not fields and chosen and len(inside) > 1:
            inside = chosen
            continue
        path += f".{shown(step)}" if path else shown(step)
        owners = inside
        if fields:
            named = get_origin(fields[0].annotation) is dict
            inside = [m for f in fields for m in _models(f.annotation)]
    return path or "the file", owners, inside


def _tag(table: type[BaseModel]) -> str | None:
    """Return the kind that selects this class among others."""
    field = table.model_fields.get("type")
    return str(get_args(field.annotation)[0]) if field else None


def _models(annotation: Any) -> Iterator[type[BaseModel]]:
    """Yield every model class inside a type."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    else:
        for part in get_args(annotation):
            yield from _models(part)


def _brackets(
    problem: ErrorDetails, path: str, inside: list[type[BaseModel]], file: str
) -> str | None:
    """Return how to write a table where a list of tables stands, and the reverse, or None."""
    kind, value = problem["type"], problem["input"]
    if not inside:
        return None
    toml = not file.lower().endswith(".json")
    if kind == "list_type" and isinstance(value, dict):
        form = f"[[{path}]], with two brackets" if toml else f'"{path}": [{{...}}]'
        return f"is a list of tables: write {form}"
    if kind in _TABLES and isinstance(value, list):
        place = path if kind != "dict_type" else f"{path}.NAME"
        form = f"[{place}], with one bracket" if toml else f'"{path}": {{...}}'
        return f"is {'one table' if kind != 'dict_type' else 'a table of names'}: write {form}"
    return None


def _other_number(problem: ErrorDetails, owners: list[type[BaseModel]]) -> str:
    """Return which field takes a value per sphere, or one for all, for the end of a sentence."""
    name, value = str(problem["loc"][-1]), problem["input"]
    known = {field for owner in owners for field in owner.model_fields}
    for one, each in PAIRS:
        if not {one, each} <= known:
            continue
        numbers = isinstance(value, list) and any(map(_is_number, value))
        if name == one and isinstance(value, list) and not (one == "color" and numbers):
            return f"; a value per sphere goes into {each}"
        if name == each and isinstance(value, (int, float, str)):
            return f"; one value for all spheres goes into {one}"
    return ""


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float))


def _describe(
    problem: ErrorDetails, owners: list[type[BaseModel]], inside: list[type[BaseModel]]
) -> str:
    """Return what is wrong with one field."""
    kind, value = problem["type"], problem["input"]
    context = problem.get("ctx", {})
    if kind == "extra_forbidden":
        known = [f.alias or n for t in owners for n, f in t.model_fields.items()]
        return f"unknown key; {suggestion(str(problem['loc'][-1]), dict.fromkeys(known))}"
    if kind == "missing":
        return "is missing"
    tags = [tag for t in inside if (tag := _tag(t)) is not None]
    if kind == "union_tag_not_found":
        return f"type is missing; known are {', '.join(tags)}"
    if kind == "union_tag_invalid":
        tag = str(context.get("tag"))
        return f"there is no type '{shown(tag)}'; {suggestion(tag, tags)}"
    if kind == "literal_error" and isinstance(value, str):
        known = [w.strip(" '") for w in str(context["expected"]).replace(" or ", ",").split(",")]
        return f"'{shown(value)}' is not known; {suggestion(value, known)}"
    if kind in ("too_short", "too_long"):
        return f"needs three numbers, has {context['actual_length']}"  # only vectors have a length
    if kind == "value_error":
        return problem["msg"].removeprefix("Value error, ")
    if kind in _MUST:
        return f"must be {_MUST[kind].format_map(_in_full(context))}{_shown(value)}"
    text = problem["msg"].replace("Input should", "must")
    return f"{text[0].lower()}{text[1:]}{_shown(value)}"


def _in_full(context: Mapping[str, Any]) -> dict[str, str]:
    """Return the limits in an error's context as text; whole numbers with all their digits."""
    return {
        name: f"{limit:.0f}" if limit == limit // 1 and abs(limit) < 1e15 else f"{limit:g}"
        for name, limit in context.items()
        if isinstance(limit, (int, float))
    }


def _shown(value: Any) -> str:
    """Return the offending value for the end of a sentence, unless it is a large one."""
    if isinstance(value, dict):
        return ", not a table"
    text = shown_value(value)
    return f", not {text}" if len(text) < TEXT_LETTERS else ""
