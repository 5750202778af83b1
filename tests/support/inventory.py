"""What users have, read from the program's own tables: lines of text by kind.

`tests/stays/KIND.txt` has the lines that stay. Run as a program, this module adds the new ones.
"""

import inspect
import re
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import click

ROOT = Path(__file__).resolve().parents[2]
LISTS = ROOT / "tests/stays"
REMOVED = LISTS / "removed.toml"
COMMAND = "python tests/support/inventory.py"

Schema = Mapping[str, Any]


def _each(label: str, items: Iterable[Any]) -> Iterator[str]:
    return (f"{label}: {each}" for each in items)


def particle_formats() -> Iterator[str]:
    """Endings, contents, libraries and objects that are read as particles."""
    from raytracer.particles import compressed, registry
    from raytracer.particles.formats import vtk
    from raytracer.particles.objects import registry as objects

    for form in registry.FORMATS:
        yield from (f"ending: {suffix} {form.named(suffix).name}" for suffix in form.suffixes)
        if form.magic or form.pattern:
            yield f"content: {form.named().name}{form.variant and f', {form.variant}'}"
        yield from _each("content: signature", map(repr, form.magic))
    yield from _each("compressed", (name for name, _ in compressed.MAGIC.values()))
    yield from _each("library", registry.LIBRARIES.values())
    yield from _each("tables inside", registry.WITH_PARTS)
    yield from _each("VTK", vtk.KINDS)
    for table in (objects.KINDS, objects.TRAJECTORIES):
        yield from _each("object", (f"{name}.{each}" for name in table for each in table[name]))


def other_files() -> Iterator[str]:
    """Endings of all other files that are read or written, and what films hold."""
    from raytracer.animation import encoder
    from raytracer.appearance.glyphs import isosurface
    from raytracer.exporting import export
    from raytracer.film import aovs, film_file, formats
    from raytracer.model import environment
    from raytracer.rendering import measurements
    from raytracer.scene_files import solid_files, source

    yield from _each("picture", formats.SUFFIXES)
    for form in formats.FORMATS:
        yield from (f"picture: {form.name}, {bits} bits" for bits in form.bits)
    yield from _each("movie", (*encoder.CONTAINERS, *encoder.PICTURES))
    yield from _each("movie", encoder.ENCODERS)
    yield from _each("film", film_file.SUFFIXES)
    yield from (f"output variable: {name} {parts}" for name, parts in aovs.AOVS.items())
    yield from _each("environment", (*environment.ENDINGS, *environment.FORMATS))
    yield from _each("export", export.ENDINGS)
    yield from _each("measurements", measurements.ENDINGS)
    yield from _each("mesh", solid_files.MESHES)
    yield from _each("mesh without a scene", source.MESH_SUFFIXES)
    yield from _each("scene", source.SCENE_SUFFIXES)
    yield from _each("grid of an isosurface", isosurface.ENDINGS)


def options() -> Iterator[str]:
    """Commands, their arguments and options, and the words that an option takes."""
    from raytracer.commands.cli import program

    yield from _options_of(program, "raytracer")


def _options_of(command: click.Command, path: str) -> Iterator[str]:
    yield path
    for param in command.params:
        if isinstance(param, click.Argument):
            yield f"{path} {param.make_metavar(click.Context(command))}"
            continue
        setting = getattr(param.type, "kind", None)
        words = getattr(param.type, "choices", ()) or getattr(setting, "words", ())
        for name in (*param.opts, *param.secondary_opts):
            yield f"{path} {name}"
        yield from (f"{path} {param.opts[0]} = {word}" for word in words)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if (each := command.get_command(context, name)) is not None:
                yield from _options_of(each, f"{path} {name}")


def scene_keys() -> Iterator[str]:
    """Keys of scene files with their types and the words that they take."""
    from raytracer.scene_files.tables import make_schema

    whole = make_schema()
    yield from _keys_of(whole, "", whole["$defs"])


def _keys_of(schema: Schema, path: str, tables: Schema) -> Iterator[str]:
    """Yield the keys of a JSON Schema, such as `camera(panorama).fit: string` and `lights[]`."""
    if "$ref" in schema:
        schema = tables[schema["$ref"].rpartition("/")[2]]
    for each in (*schema.get("anyOf", ()), *schema.get("oneOf", ())):
        yield from _keys_of(each, path, tables)
    kind = schema.get("type")
    if kind == "array":
        yield f"{path}: list"
        yield from _keys_of(schema.get("items", {}), f"{path}[]", tables)
    elif kind == "object":
        keys = schema.get("properties", {})
        if path and (types := keys.get("type", {}).get("enum")):
            path += f"({','.join(types)})"
        yield from [f"{path}: table"] if path else []
        for name, each in keys.items():
            yield from _keys_of(each, f"{path}.{name}".lstrip("."), tables)
        if isinstance(schema.get("additionalProperties"), Mapping):
            yield from _keys_of(schema["additionalProperties"], f"{path}.*", tables)
    elif kind not in (None, "null"):
        yield f"{path}: {kind}"
    yield from (f"{path} = {word}" for word in schema.get("enum", ()))


def python() -> Iterator[str]:
    """Public names, the parameters of functions, and the members of classes and theirs."""
    import raytracer
    from raytracer import ops

    modules: dict[str, ModuleType] = {"": raytracer, "ops.": ops}
    for prefix, module in modules.items():
        for name in (*module.__all__, *(ops.names() if module is ops else ())):
            public = getattr(module, name)
            yield prefix + name
            if isinstance(public, type):
                yield from _members_of(public, prefix + name)
            elif callable(public):
                yield from _parameters_of(public, prefix + name)


def _members_of(public: type, path: str) -> Iterator[str]:
    from raytracer.config.fields import Defined, find_definitions

    fields = getattr(public, "__dataclass_fields__", {})
    if issubclass(public, Defined):
        fields = find_definitions(public)
    yield from (f"{path}.{name}" for name in fields if not name.startswith("_"))
    own = [each for each in public.__mro__ if each.__module__.startswith("raytracer")]
    if own and not issubclass(public, Exception):
        yield from _parameters_of(public, path)
    for name in {name for each in own for name in vars(each) if not name.startswith("_")}:
        member = inspect.getattr_static(public, name)
        yield f"{path}.{name}"
        if callable(member) or isinstance(member, (classmethod, staticmethod)):
            yield from _parameters_of(getattr(public, name), f"{path}.{name}")


def _parameters_of(function: Callable[..., Any], path: str) -> Iterator[str]:
    """Yield parameters; those of settings are fields of the classes that the function takes."""
    from raytracer.config.fields import SETTINGS, accepted_settings, find_definitions

    function = getattr(function, "__func__", function)
    settings = accepted_settings(function) if SETTINGS in getattr(function, "__dict__", {}) else ()
    yield from (f"{path}({name})" for kind in settings for name in find_definitions(kind))
    for name, each in inspect.signature(function).parameters.items():
        is_own = name not in ("self", "cls") and not name.startswith("_")
        if is_own and each.kind is not inspect.Parameter.VAR_KEYWORD:
            yield f"{path}({name})"


def views() -> Iterator[str]:
    """Keys, gestures, actions and choices of window, page and exported page."""
    from raytracer.exporting import page
    from raytracer.viewer import choices, content, controls, panel, view_actions
    from raytracer.viewer.actions import ACTIONS

    yield from _each("gesture", (each.shown for each in controls.MOUSE))
    names, left_out = _of_page()
    for control in controls.CONTROLS:
        does = " ".join([control.action, *(_word(each) for each in control.amount)])
        for key in control.keys:
            yield f"key of the window: {key} {does}"
            if not names.fullmatch(key.rpartition("+")[2]):
                continue
            if control.action not in left_out:
                yield f"key of the page: {key} {does}"
            if control.action in page.ACTIONS:
                yield f"key of the exported page: {key} {does}"
    for name, action in ACTIONS.items():
        yield f"action: {name}"
        yield from (f"action: {name}({each})" for each in action.parameters)
    yield from (f"row of the panel: {each.section}, {each.name}" for each in choices.CHOICES)
    yield from _each("colour map offered", choices.MAPS)
    yield from _each("range offered", choices.RANGES)
    yield from _each("background", content.BACKGROUNDS)
    yield from _each("view with a button", panel.AXES)
    yield from _each("saved view", view_actions.DIGITS)
    yield from (f"typed: {each.name}" for each in choices.CHOICES if each.example)
    for folder in ("browser", "exporting"):
        for path in sorted(_client(folder).glob("*.js")):
            found = re.findall(r'\bbutton\("([^"]+)"', path.read_text(encoding="utf-8"))
            yield from _each(f"button of {folder}", found)


def _client(folder: str) -> Path:
    return ROOT / "raytracer" / folder / "client"


def _of_page() -> tuple[re.Pattern[str], set[str]]:
    """Return the names of keys that a page knows, and the actions that have no key there."""
    keys = (_client("browser") / "keys.js").read_text(encoding="utf-8")
    table = keys.partition("const KEY_NAMES = {")[2].partition("}")[0]
    names = re.findall(r': "([A-Z]+)"', table)
    assert len(names) > 10, "keys.js has its names of keys elsewhere"
    view = (_client("browser") / "view.js").read_text(encoding="utf-8")
    kept = re.search(r"controls\.filter\((.*)\)", view)
    assert kept, "view.js chooses the keys of the page elsewhere"
    left_out = {*re.findall(r'action !== "([a-z-]+)"', kept[1])}
    # the others have the same names in a browser: letters, digits with "_", F1, TAB
    return re.compile("|".join([*names, "[A-Z]", "_[0-9]", "F[0-9]+", "TAB"])), left_out


def _word(amount: float | str | None) -> str:
    return f"{amount:.6g}" if isinstance(amount, (int, float)) else str(amount)


def words() -> Iterator[str]:
    """Names that options, keys and arguments take as values."""
    from raytracer import SphereSet
    from raytracer.appearance.coloring import expression, maps, scale, scale_types
    from raytracer.appearance.glyphs import backbone
    from raytracer.config import tone_settings
    from raytracer.model import (
        animation,
        annotations,
        background,
        bond_settings,
        camera,
        colors,
        elements,
        lights,
        materials,
        presets,
        settings,
        solids,
    )
    from raytracer.model import particle_labels as labels
    from raytracer.model import particle_source as particles
    from raytracer.model import views as standard

    one = SphereSet([[0.0, 0.0, 0.0]], 1.0)
    tables: dict[str, Iterable[Any]] = {
        "filter": settings.FILTERS,
        "integrator": settings.INTEGRATORS,
        "shading": settings.SHADINGS,
        "look": settings.LOOKS,
        "key light": settings.KEY_LIGHTS,
        "placement of lights": settings.PLACEMENTS,
        "tone curve": tone_settings.CURVES,
        "metering": tone_settings.METERS,
        "camera": camera.CAMERA_TYPES,
        "view": standard.VIEWS,
        "fit": standard.FITS,
        "light": lights.LIGHTS,
        "falloff": lights.FALLOFFS,
        "material": materials.MATERIALS,
        "preset": presets.PRESETS,
        "ends of capsules": solids.CAPS,
        "change of colour": solids.COLOR_CHANGES,
        "colour space": colors.COLOR_SPACES,
        "colour map": maps.NAMES,
        "package of colour maps": maps._PACKAGES,
        "colour scale": scale.KINDS,
        "palette": scale_types.PALETTES,
        "radii of elements": elements.RADII,
        "element": elements.load_elements(),
        "labels": labels.MEANINGS,
        "units of LAMMPS": particles.LAMMPS_STYLES,
        "bonds": bond_settings.WORDS,
        "style": bond_settings.STYLES,
        "structure": backbone.STRUCTURES,
        "place in the picture": annotations.PLACES,
        "place of axes": annotations.IN_SCENE,
        "value in a text": annotations.VALUES,
        "height of the ground": [background.BELOW],
        "easing": animation.EASINGS,
        "codec": animation.CODECS,
        "point to follow": [animation.CENTER],
        "operator": [each.__name__ for each in (*expression._OPERATORS, *expression._LOGIC)],
        "function": [*expression._FUNCTIONS, *expression._Evaluator("1", one.columns, "").calls],
        "function over all particles": expression._REDUCTIONS,
        "constant": expression._CONSTANTS,
    }
    for label, items in tables.items():
        yield from _each(label, items)


def names() -> Iterator[str]:
    """Usual names of columns in files, and words of other programs that lead to ours."""
    from raytracer.appearance import columns
    from raytracer.appearance.coloring import atoms
    from raytracer.appearance.glyphs import contacts, vectors
    from raytracer.config import synonyms
    from raytracer.model import particle_names as naming
    from raytracer.particles import columns as particle_columns
    from raytracer.particles import read
    from raytracer.scene_files import solid_files

    for part, usual in (naming.USUAL | columns.EXPECTED).items():
        yield from (f"column of {part}: {each}" for each in usual)
    yield from _each("column of alpha", naming.ALPHA)
    yield from _each("column of labels", (*particle_columns.LABELS, *columns.ELEMENT_NAMES))
    yield from _each("column of labels", columns.TYPE_NAMES)
    yield from _each("column of orientations", read.ORIENTED)
    yield from _each("column of ids of contacts", (each for pair in contacts.IDS for each in pair))
    yield from _each("column of forces of contacts", contacts.FORCES)
    yield from _each("columns of axes", (" ".join(each) for each, _ in vectors.AXES))
    yield from _each("columns of rotations", (" ".join(each) for each, _ in vectors.TURNS))
    yield from _each("columns of a vector", (" ".join(each) for each in vectors.PARTS.values()))
    yield from _each("column of positions", vectors.PLACES)
    for kind, usual_of in solid_files.COLUMNS.items():
        for part, usual in usual_of.items():
            yield from (f"column of {kind}, {part}: {each}" for each in usual)
    yield from _each("word of selections", (*atoms.TEXTS, *atoms.NUMBERS, *atoms._ALONE))
    for name, others in synonyms.NAMES.items():
        yield from (f"word for {name}: {each}" for each in others.split())
    yield from _each("hint", (each for words in synonyms.ELSEWHERE for each in words.split()))


def bench() -> Iterator[str]:
    """Operations of the bench with their axes, types, inputs, rungs and peers; what is checked."""
    from raytracer.backends.kernel_sources import discover_variants, list_operations
    from raytracer.benchmark import op, render_benchmark, report, run, sphere_kinds, tone_benchmark
    from raytracer.benchmark.benchmark import CHECKS, MODES
    from raytracer.benchmark.operations import OPERATIONS
    from raytracer.benchmark.peers import find_peers

    yield from _each("operation", run.BENCHMARKS)
    for name, each in OPERATIONS.items():
        yield from _each(f"{name}, axis", [*each.axes, *["offset"] * each.has_offset])
        yield from _each(f"{name}, type", each.dtypes)
        yield from _each(f"{name}, values", each.distributions)
        yield from _each(f"{name}, input", each.inputs)
        yield from _each(f"{name}, output", each.outputs)
        yield from _each(f"{name}, peer", (peer.name for peer in each.peers))
        yield from _each(f"{name}, peer", (peer.title for peer in find_peers(name)))
        for axis, sizes in each.macro_sizes.items():
            yield from _each(f"{name}, {axis}", sizes)
    for ladder in list_operations():
        yield from _each(f"{ladder}, rung", (variant.name for variant in discover_variants(ladder)))
    yield from _each("values", op.DISTRIBUTIONS)
    yield from _each("mode", MODES)
    yield from _each("check", CHECKS)
    yield from _each("form", report.FORMS)
    yield from _each("backend", run.BACKENDS)
    yield from _each("render, scene", render_benchmark.SCENES)
    yield from _each("render, level", render_benchmark.LEVELS)
    yield from _each("build and live, spheres", sphere_kinds.KINDS)
    yield from _each("tone, result", tone_benchmark.RESULTS)
    folders = (ROOT / "tests/reference/peers").glob("*/README.md")
    yield from _each("peer in a program of its own", (path.parent.name for path in folders))


def installation() -> Iterator[str]:
    """Extras, environment variables, example scenes and generators."""
    from raytracer.scene_files.generate import GENERATORS, build

    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    yield from _each("command", project["scripts"])
    for extra, packages in project["optional-dependencies"].items():
        yield f"extra: {extra}"
        named = (each.partition(";")[0].strip() for each in packages)
        yield from (f"extra: {extra}, {re.split('[<>=]', each)[0]}" for each in named)
    for generator in GENERATORS:
        yield f"generator: {generator}"
        yield from (f"generator: {generator}/{part.name}" for part in build(generator, 64))
    yield from _each("generator, parameter", list(inspect.signature(build).parameters)[1:])
    yield from _each("example", (path.name for path in (ROOT / "scenes").glob("*.[tx]*")))
    texts = (path.read_text(encoding="utf-8") for path in (ROOT / "raytracer").rglob("*.py"))
    found = (name for text in texts for name in re.findall(r"\bRAYTRACER_[A-Z_]+\b", text))
    yield from _each("environment variable", found)


KINDS: dict[str, Callable[[], Iterator[str]]] = {
    each.__name__: each
    for each in (
        particle_formats, other_files, options, scene_keys, python, views, words, names, bench,
        installation,
    )
}  # fmt: skip


def has(kind: str) -> set[str]:
    """Return what the program has of a kind."""
    return set(KINDS[kind]())


def listed(kind: str) -> list[str]:
    """Return the lines of a list; none if there is no such file."""
    path = LISTS / f"{kind}.txt"
    return path.read_text(encoding="utf-8").splitlines() if path.exists() else []


def add(kind: str) -> list[str]:
    """Add what is new to the list of a kind; return it. Nothing is taken from the list."""
    known = listed(kind)
    new = sorted(has(kind) - {*known})
    if new:
        text = "".join(f"{line}\n" for line in sorted({*known, *new}))
        (LISTS / f"{kind}.txt").write_text(text, encoding="utf-8")
    return new


if __name__ == "__main__":
    added = [f"{kind}: {line}" for kind in KINDS for line in add(kind)]
    print(*added or ["there is nothing new"], sep="\n")
