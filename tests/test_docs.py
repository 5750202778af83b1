"""What the pages of docs/ and the READMEs say is so: tree, commands, files, keys, links."""

import importlib
import inspect
import re
import shlex
import tomllib
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from runpy import run_path
from types import FunctionType
from typing import Any

import pytest

import raytracer
from raytracer import compile_all
from raytracer.appearance.coloring import maps
from raytracer.commands.cli import SUMMARIES
from raytracer.exporting.export import ENDINGS
from raytracer.film.aovs import AOVS
from raytracer.film.aovs import GUIDES as GUIDES_OF_DENOISER
from raytracer.model.key_types import collect_tables
from raytracer.model.parts import GLYPHS
from raytracer.scene_files.tables import SCENE
from support.commands import accept
from support.pages import (
    DOCS,
    PAGES,
    ROOT,
    anchors,
    blocks,
    commands,
    files,
    links,
    marked,
    text_of,
)

CONTRIBUTING = DOCS / "contributing.md"
MAP = DOCS / "map.md"
PYTHON = DOCS / "reference" / "python.md"
GENERATED = "<!-- generated: python docs/scene_reference.py -->\n\n"
# What builds, tools and people leave in a checkout; names that start with a dot are left out too.
NOT_OURS = {"build", "dist", "venv", "output", "__pycache__"}


def folders(below: Path) -> Iterator[str]:
    """Every folder of ours that holds a file, relative to the root."""
    for path in sorted(below.iterdir()):
        if path.is_dir() and path.name not in NOT_OURS and path.name[0] != ".":
            if any(part.is_file() for part in path.iterdir()):
                yield path.relative_to(ROOT).as_posix()
            yield from folders(path)


def mapped() -> list[str]:
    """The paths of the map of the tree, relative to the root."""
    found: list[str] = []
    above: list[str] = []
    for line in marked(MAP, "map").splitlines():
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        above = [*above[:depth], name.rstrip("/")]
        found.append("/".join(above))
        path = ROOT / found[-1]
        assert path.is_dir() if name.endswith("/") else path.is_file(), f"no {found[-1]}"
    return found


def test_map_is_the_tree() -> None:
    found = mapped()
    assert len(found) == len(set(found))
    expected = set(folders(ROOT))
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "raytracer").glob("[a-z]*.py")}
    assert expected | modules <= set(found), "add these to docs/map.md"


def test_files_that_are_named_are_there() -> None:
    folders = "raytracer|kernels|docs|tests|renders|scenes"
    for path in PAGES:
        for name in re.findall(rf"`((?:{folders})/[\w./-]*)`", text_of(path)):
            if not re.search("NAME|OP|NN_|/name", name):
                assert (ROOT / name).exists(), f"{path}: {name}"


def test_every_command_parses() -> None:
    for words in [words for path in PAGES for words in commands(path)]:
        if words and words[0].endswith("raytracer"):
            accept(words)
            for word in words:
                if word.startswith(("scenes/", "renders/")):
                    assert (ROOT / word).is_file(), word
        elif words[1:3] == ["-m", "raytracer.compile_all"]:
            assert compile_all.parser().parse_args(words[3:]).arch


def test_every_command_in_the_text_parses() -> None:
    """Also in tables and sentences; parts such as `raytracer render ...` and OP are no commands."""
    for path in PAGES:
        if path.name == "experiments.md":
            continue  # of earlier versions
        text = re.sub(r"^```.*?^```$", "", text_of(path), flags=re.MULTILINE | re.DOTALL)
        for command in re.findall(r"`(raytracer [a-z][^`]*)`", text):
            words = " ".join(command.replace("\\|", "|").split())
            if not re.search(r"\.\.\.|[A-Z]{2,}|\||<|\$", words):
                accept(shlex.split(words), complete=False)


def test_files_shown_can_be_rendered(tmp_path: Path) -> None:
    shown = files()
    assert {Path(name).suffix for name in shown} == {".xyz", ".csv", ".toml", ".py", ".cu", ".obj"}
    for name, text in shown.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in shown:
        if not name.endswith((".py", ".cu", ".obj")):
            small: Any = {"width": 48, "height": 27, "samples": 1, "threads": 1}
            image = raytracer.render(tmp_path / name, backend="cpu", **small)
            assert image.to_uint8().std() > 5.0, name


def test_tables_shown_are_parts_of_scenes(tmp_path: Path) -> None:
    for name, other in files().items():
        (tmp_path / name).write_text(other, encoding="utf-8")
    shown = tmp_path / "shown.toml"
    tables = [text for path in PAGES for _, kind, text in blocks(path) if kind == "toml"]
    for text in tables:
        empty = "" if "spheres" in tomllib.loads(text) else "spheres = []\n"
        shown.write_text(empty + text, encoding="utf-8")
        assert raytracer.load(shown).source == str(shown), text


@pytest.mark.parametrize("name", [name for name in files() if name.endswith(".py")])
def test_python_shown_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []

    def shrink(name: str, **size: int) -> None:
        real = getattr(raytracer, name)

        def smaller(*arguments: Any, **options: Any) -> Any:
            asked.append(options["samples"])
            return real(*arguments, **options | {"backend": "cpu"} | size)

        monkeypatch.setattr(raytracer, name, smaller)

    shrink("render", width=48, height=27)
    shrink("LiveScene", width=48, height=27)
    shrink("animate")
    monkeypatch.chdir(tmp_path)
    exec(compile(files()[name], name, "exec"), {"__name__": "__main__"})
    assert asked
    assert list(tmp_path.glob("*.png")) + list(tmp_path.glob("*.gif"))


def test_the_reference_of_keys_is_that_of_the_definitions() -> None:
    page = text_of(DOCS / "reference" / "scene.md")
    table = page.split(GENERATED)[1].split("\n\n<!-- end -->")[0]
    markdown = run_path(str(DOCS / "scene_reference.py"))["markdown"]
    assert table == markdown(), "python docs/scene_reference.py"


def test_every_public_name_is_described() -> None:
    text = text_of(PYTHON)
    table = set(re.findall(r"`(\w+)`", text))
    entry = r"^\.\. (?:auto\w+|py:data):: raytracer\.(\w+)$"
    generated = set(re.findall(entry, text, re.MULTILINE))
    public = set(raytracer.__all__) - {"__version__"}
    assert public <= table
    assert public == generated


def documented_members() -> Iterator[tuple[str, Any]]:
    """Functions and properties of the classes whose members the reference lists."""
    entry = r"^\.\. autoclass:: ([\w.]+)\.(\w+)\n((?:   :.*\n)*)"
    for module, name, options in re.findall(entry, text_of(PYTHON), re.MULTILINE):
        kind = getattr(importlib.import_module(module), name)
        if ":members:" in options:
            inherits = ":inherited-members:" in options
            for member in dir(kind) if inherits else vars(kind):
                found = inspect.getattr_static(kind, member)
                code: Any = FunctionType | classmethod | staticmethod | property | cached_property
                if isinstance(found, code) and not member.startswith("_"):
                    yield f"{module}.{name}.{member}", found


def test_every_public_member_has_a_docstring() -> None:
    """One without any is not in the reference; Sphinx takes that of the base class, too."""
    members = dict(documented_members())
    assert {"raytracer.Film.pixel_counts", "raytracer.EllipsoidSet.count"} <= members.keys()
    assert [name for name, member in members.items() if not inspect.getdoc(member)] == []


def test_every_variable_is_described() -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "raytracer").rglob("*.py"))
    used = set(re.findall(r"\bRAYTRACER_[A-Z_]+\b", source))
    text = text_of(DOCS / "reference" / "environment.md")
    assert set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)) == used


def test_every_extra_that_is_named_can_be_installed() -> None:
    """Messages and pages name extras in commands; pip only warns of one that is not there."""
    sources = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "raytracer").rglob("*.py"))
    text = sources + "".join(map(text_of, PAGES))
    named = re.findall(r"(?:raytracer|\.whl|[\"' ]\.)\[([a-z0-9,]+)\]", text)
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    extras = {name for names in named for name in names.split(",")}
    assert {"serve", "cuda"} <= extras <= {*project["optional-dependencies"]}


def test_every_link_leads_somewhere() -> None:
    for path, target in [(page, target) for page in PAGES for target in links(page)]:
        assert "://" not in target, f"{target}: add a check for links to elsewhere"
        file, _, anchor = target.partition("#")
        linked = path.parent / file if file else path
        assert linked.exists(), f"{path}: {target}"
        if anchor:
            assert anchor in anchors(linked), f"{path}: {target}"


GUIDES = ("live_view", "preview", "browser")
FRONT_ENDS = ("LiveScene", "live", "LiveView", "preview", "serve", "show")


def test_one_table_says_which_front_end_is_for_what() -> None:
    """The guides, the first pages and the docstrings lead to it."""
    section = text_of(DOCS / "guide/live.md").partition("## Which one\n")[2].partition("\n## ")[0]
    assert re.findall(r"^\| `(\w+)", section, re.MULTILINE) == [*FRONT_ENDS]
    for page in ("index.md", "reference/python.md", *(f"guide/{n}.md" for n in GUIDES)):
        assert any(each.endswith("live.md#which-one") for each in links(DOCS / page)), page
    assert any(each.endswith("live.md#which-one") for each in links(ROOT / "README.md"))
    for name in FRONT_ENDS:
        words = " ".join(str(getattr(raytracer, name).__doc__).split())
        assert 'docs/guide/live.md, "Which one"' in words, name


def test_a_row_for_each_key() -> None:
    rows = run_path(str(DOCS / "scene_reference.py"))["rows"]
    listed = [row.key for row in rows()]
    assert len(listed) == len(set(listed))
    names = {key.rpartition(".")[2] for key in listed}
    for table in collect_tables(SCENE):
        own = table.keys.items()
        inside = {name for name, key in own if name in SCENE.keys or key.default == {}}
        assert set(table.keys) - inside - {"generate", "arrays", "transform", "keyframes"} <= names


TOOLS = ("wheels", "test", "corpus", "docs", "dev", "all")  # extras for contributors


def test_extras_for_users_have_upper_bounds() -> None:
    """A new major release of a reader is taken up on purpose, since some have broken formats."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    needs = [need for name, needs in extras.items() if name not in TOOLS for need in needs]
    assert needs
    assert [need for need in needs if "<" not in need.partition(";")[0]] == []


def rows_of(page: str) -> set[str]:
    """The names that begin rows of the tables of a page."""
    return set(re.findall(r"^\| `([^`]+)`", text_of(DOCS / page), re.MULTILINE))


def test_the_guide_names_every_command_variable_map_ending_and_glyph() -> None:
    assert {" ".join(name.split()[1:2]) for name in rows_of("reference/commands.md")} == {
        *SUMMARIES
    }
    assert {*AOVS} <= rows_of("guide/tone_and_films.md")
    lists = " ".join(str(getattr(raytracer.render, "__doc__")).split())  # noqa: B009
    shown = inspect.getsource(importlib.import_module("raytracer.commands.render"))
    for name in {*AOVS} - {*GUIDES_OF_DENOISER}:
        assert f'"{name}"' in lists, f"the docstring of render lacks {name}"
        assert re.search(rf"[:,]\"?\s*\"?{name}[,.]", shown), f"the help of --aov lacks {name}"
    words = {
        "guide/color_by_data.md": maps.NAMES,
        "guide/export.md": ENDINGS,
        "reference/scene.md": [f"`{name}." for name in GLYPHS],
    }
    for page, names in words.items():
        assert [name for name in names if name not in text_of(DOCS / page)] == [], page


def test_words_of_other_programs_lead_to_options_that_parse() -> None:
    text = text_of(DOCS / "reference/words.md")
    wanted = (
        "cartoon", "NewCartoon", "licorice", "sticks", "spacefill", "putty", "representation",
        "color by chain", "rainbow", "glyph", "tube filter", "point gaussian", "contour",
        "threshold", "color coding", "coordinate tripod", "silhouettes",
    )  # fmt: skip
    rows = " ".join(re.findall(r"^\| ([^|]+) \|", text, re.MULTILINE)) + text.partition("\n| ")[0]
    assert [word for word in wanted if word not in rows] == []
    options = [shlex.split(span) for span in re.findall(r"`(--[^`]+)`", text)]
    assert len(options) > 60
    for words in options:
        name = "animate" if words[0] in {"--turntable", "--orbit"} else "render"
        accept(["raytracer", name, "protein.pdb", *words], complete=False)


def test_the_glossary_has_each_word_once() -> None:
    glossary = text_of(CONTRIBUTING).partition("\n## Glossary\n")[2]
    words = re.findall(r"^\| ([a-z ]+?)(?: \([A-Z]+\))? \| \S", glossary, re.MULTILINE)
    words.remove("word")
    assert words == sorted({*words})
    assert {"scene", "set", "film", "sample", "frame", "view", "pose", "source", "column"} <= {
        *words
    }
    assert 35 <= len(words) <= 50


def test_what_a_change_touches_has_the_common_changes() -> None:
    section = (
        text_of(CONTRIBUTING).partition("\n## What a change touches\n")[2].partition("\n## ")[0]
    )
    rows = re.findall(r"^\| ([a-z][^|]*?) \| *([\d+ or]+) \|", section, re.MULTILINE)
    common = (
        "particle format",
        "colour map",
        "glyph",
        "output variable",
        "export format",
        "subcommand",
    )
    for name in common:
        assert any(new.startswith(name) for new, _ in rows), name
    assert len(rows) == len({new for new, _ in rows})
