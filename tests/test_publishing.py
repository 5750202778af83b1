"""What hosts and readers look for beside the code: citation, pages and forms of .github, workflows,
notices of what wheels contain."""

import re
import shlex
import tomllib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

import raytracer
from raytracer import compile_all
from support.pages import ROOT, anchors, links, text_of

HOST = ROOT / ".github"
PAGES = sorted(HOST.glob("*.md"))
FORMS = sorted((HOST / "ISSUE_TEMPLATE").glob("*.yml"))
WORKFLOWS = sorted((HOST / "workflows").glob("*.yml"))
PROJECT: dict[str, Any] = tomllib.loads(text_of(ROOT / "pyproject.toml"))

# The keys of a citation file of version 1.2.0, and those that each has.
REQUIRED = {"authors", "cff-version", "message", "title"}
KEYS = REQUIRED | {
    "abstract", "commit", "contact", "date-released", "doi", "identifiers", "keywords", "license",
    "license-url", "preferred-citation", "references", "repository", "repository-artifact",
    "repository-code", "type", "url", "version",
}  # fmt: skip
FIELDS = {"checkboxes", "dropdown", "input", "markdown", "textarea"}  # of the form of an issue


def parsed(path: Path) -> Any:
    return pytest.importorskip("yaml").safe_load(text_of(path))


def commands() -> Iterator[tuple[dict[str, Any], list[str]]]:
    """Yield the words of every command of the workflows, with the job it belongs to."""
    for path in WORKFLOWS:
        for job in parsed(path)["jobs"].values():
            for step in job["steps"]:
                text = re.sub(r"\$\{\{.*?\}\}", "EXPRESSION", step.get("run", ""))
                for line in re.split(r"\n|&&", text.replace("\\\n", " ")):
                    if words := shlex.split(line):
                        yield job, words


def test_the_citation_names_this_version() -> None:
    citation = parsed(ROOT / "CITATION.cff")
    assert citation.keys() >= REQUIRED
    assert citation.keys() <= KEYS
    assert citation["cff-version"] == "1.2.0"
    assert citation["type"] == "software"
    assert citation["version"] == raytracer.__version__
    project = PROJECT["project"]
    assert citation["title"] == project["name"]
    for key in ("license", "keywords", "authors"):
        assert citation[key] == project[key], key


def test_pages_of_the_host_link_to_what_is_there() -> None:
    assert {path.stem for path in PAGES} == {
        "CODE_OF_CONDUCT", "CONTRIBUTING", "PULL_REQUEST_TEMPLATE", "SECURITY",
    }  # fmt: skip
    assert "../docs/contributing.md" in links(HOST / "CONTRIBUTING.md")
    for path in PAGES:
        for link in links(path):
            name, _, anchor = link.partition("#")
            target = path.parent / name if name else path
            assert target.is_file(), f"{path}: {link}"
            assert not anchor or anchor in anchors(target), f"{path}: {link}"


def test_paths_that_the_host_names_are_there() -> None:
    folders = "raytracer|kernels|docs|tests|renders|scenes|licenses|\\.ci|\\.github"
    found = 0
    for path in (*PAGES, *FORMS, *WORKFLOWS):
        for name in re.findall(rf"(?<![\w./-])((?:{folders})/[\w./-]*\w)", text_of(path)):
            made = name.startswith("kernels/cubins")  # by a step of the workflow
            assert made or (ROOT / name).exists(), f"{path}: {name}"
            found += 1
    assert found > 10


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_forms_of_issues_are_such_as_the_host_accepts(path: Path) -> None:
    form = parsed(path)
    assert form.keys() == {"name", "description", "body"}
    assert {field["type"] for field in form["body"]} <= FIELDS - {"markdown"}
    assert all(field["attributes"]["label"] for field in form["body"])
    ids = [field["id"] for field in form["body"]]
    assert len(ids) == len({*ids}) > 0
    for words in re.findall(r"`raytracer ([^\s`]+)[^`]*`", text_of(path)):
        assert words == "--version" or find_spec(f"raytracer.commands.{words}")


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_may_only_read_and_take_actions_by_major_version(path: Path) -> None:
    workflow = parsed(path)
    assert workflow["permissions"] == {"contents": "read"}
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    actions = [step["uses"] for step in steps if "uses" in step]
    assert actions
    assert [name for name in actions if not re.fullmatch(r"[\w-]+/[\w-]+@v\d+", name)] == []
    assert all(("uses" in step) != ("run" in step) for step in steps)


def test_workflows_check_everything_and_build_wheels() -> None:
    programs = {words[0] for _, words in commands()}
    assert {".ci/run", "cibuildwheel"} <= programs
    assert (ROOT / ".ci/run").stat().st_mode & 0o100
    assert "--long" in text_of(ROOT / ".ci/run")


def test_workflows_install_extras_that_there_are() -> None:
    extras = PROJECT["project"]["optional-dependencies"]
    asked = []
    for job, words in commands():
        if any(word.startswith(".[") for word in words):
            assert "-e" in words  # a later step imports the package in the checkout
            rows = job["strategy"]["matrix"]["include"]
            asked += [name for row in rows for name in row["extras"].split(",")]
    assert {"wheels", "cuda12"} <= {*asked}
    assert {*asked} <= extras.keys()


def test_workflows_compile_the_kernels_that_wheels_ship() -> None:
    lines = [words for _, words in commands() if "raytracer.compile_all" in words]
    (words,) = lines
    assert words[:3] == ["python", "-m", "raytracer.compile_all"]
    chosen = compile_all.parser().parse_args(words[3:])
    assert chosen.production
    assert f"/{chosen.output}" in PROJECT["tool"]["scikit-build"]["sdist"]["include"]


def test_the_source_distribution_has_no_files_of_the_host() -> None:
    left_out = PROJECT["tool"]["scikit-build"]["sdist"]["exclude"]
    assert {"/.ci", "/.github", "/renders"} <= {*left_out}


def test_wheels_have_the_notices_of_what_they_contain() -> None:
    """nanobind and its hash map are compiled in, as are two tone curves and a hash; the font and a
    colour map are data."""
    files = [path for pattern in PROJECT["project"]["license-files"] for path in ROOT.glob(pattern)]
    texts = {path.name: " ".join(text_of(path).split()) for path in files}
    owners = {
        "LICENSE": "The raytracer authors",
        "aces_fit.txt": "Copyright (c) 2016 MJP",
        "agx_fit.txt": "Missing Deadlines (Benjamin Wrensch)",
        "nanobind.txt": "Wenzel Jakob",
        "owen_scramble.txt": "Copyright 2021 Nathan Vegdahl",
        "robin_map.txt": "Thibaut Goetghebuer-Planchon",
        "turbo.txt": "Copyright 2019 Google LLC.",
        "OFL.txt": "SIL OPEN FONT LICENSE",
    }
    assert texts.keys() == owners.keys()
    for name, words in owners.items():
        assert words in texts[name]
    assert "TERMS AND CONDITIONS FOR USE, REPRODUCTION, AND DISTRIBUTION" in texts["turbo.txt"]
    for name in ("aces_fit.txt", "agx_fit.txt", "owen_scramble.txt", "robin_map.txt"):
        assert "The above copyright notice and this permission notice shall be" in texts[name]


def test_a_notice_names_the_source_that_it_is_for() -> None:
    """A notice whose subject has left the sources has to leave, too."""
    heads = {path: text_of(path).partition("\n\n")[0] for path in ROOT.glob("licenses/*.txt")}
    named = {
        (path.stem, name)
        for path, head in heads.items()
        for name in re.findall(r"\b(?:kernels|raytracer)/[\w./]*\w", head)
    }
    assert len(named) == 4  # nanobind and its hash map come with the build
    for notice, name in named:
        assert (ROOT / name).is_file(), f"{notice}: {name}"
