"""What users have stays: lists of it, of which only a decision in the changelog takes a line."""

import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from support import inventory

MIN_WORDS = 20  # letters of the words of the changelog
CHANGELOG = inventory.ROOT / "docs/changelog.md"
has = cache(inventory.has)


def removals() -> Iterator[tuple[str, str, str]]:
    """Yield the kind and the line of each item that was removed, and the words of the changelog."""
    tables = tomllib.loads(inventory.REMOVED.read_text(encoding="utf-8"))
    for decision in tables["removed"]:
        for item in decision["items"]:
            kind, _, line = item.partition("/")
            is_list = kind in inventory.KINDS
            assert is_list, f"removed.toml: {item!r}: there is no list {kind!r}"
            yield kind, line, decision["changelog"]


def plain(text: str) -> str:
    """The words of a text, however its lines are broken."""
    return " ".join(text.split())


@pytest.mark.parametrize("kind", inventory.KINDS)
def test_what_is_listed_is_there(kind: str) -> None:
    gone = sorted({*inventory.listed(kind)} - has(kind))
    assert not gone, (
        f"the program has no longer, of tests/stays/{kind}.txt:\n  " + "\n  ".join(gone) + "\n"
        "Put it back; or, where docs/changelog.md says that it is removed, take it from the list "
        "and add it to tests/stays/removed.toml with these words of the changelog."
    )


@pytest.mark.parametrize("kind", inventory.KINDS)
def test_what_is_there_is_listed(kind: str) -> None:
    new = sorted(has(kind) - {*inventory.listed(kind)})
    assert not new, (
        f"not in tests/stays/{kind}.txt:\n  " + "\n  ".join(new) + "\n"
        f"`{inventory.COMMAND}` adds it (and takes nothing away)."
    )


@pytest.mark.parametrize("kind", inventory.KINDS)
def test_lists_are_sorted(kind: str) -> None:
    """Two changes then merge, and a difference shows what is new."""
    lines = inventory.listed(kind)
    assert lines == sorted({*lines})
    assert all(lines)


def test_the_changelog_names_what_was_removed() -> None:
    changelog = plain(CHANGELOG.read_text(encoding="utf-8"))
    words = {words for _, _, words in removals()}
    short = sorted(each for each in words if len(each) < MIN_WORDS)
    assert not short, f"removed.toml: too short to name anything: {short}"
    missing = sorted(each for each in words if plain(each) not in changelog)
    assert not missing, f"removed.toml has words that docs/changelog.md does not have: {missing}"


def test_what_was_removed_is_neither_listed_nor_there() -> None:
    back = [f"{kind}/{line}" for kind, line, _ in removals() if line in has(kind)]
    assert not back, f"is there again: take it from removed.toml: {back}"
    both = [f"{kind}/{line}" for kind, line, _ in removals() if line in inventory.listed(kind)]
    assert not both, f"is listed as removed and as staying: {both}"


def test_the_command_only_adds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "LISTS", tmp_path)
    monkeypatch.setitem(inventory.KINDS, "words", lambda: iter(["b", "a"]))
    (tmp_path / "words.txt").write_text("a\ngone\n")
    assert inventory.add("words") == ["b"]
    assert inventory.listed("words") == ["a", "b", "gone"]
    assert inventory.add("words") == []
