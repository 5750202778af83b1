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


def removals(text: str) -> Iterator[tuple[str, str, str]]:
    """Yield the kind and the line of each item that was removed, and the words of the changelog."""
    for decision in tomllib.loads(text)["removed"]:
        for item in decision["items"]:
            kind, _, line = item.partition("/")
            yield kind, line, decision["changelog"]


def mistakes(removed: str, changelog: str) -> Iterator[str]:
    """Yield what is wrong in a list of removals, of which a changelog has the words."""
    for kind, line, words in removals(removed):
        if kind not in inventory.KINDS:
            yield f"{kind}/{line}: there is no list {kind!r}"
            continue
        if len(words) < MIN_WORDS:
            yield f"{kind}/{line}: {words!r} is too short to name anything"
        if plain(words) not in plain(changelog):
            yield f"{kind}/{line}: docs/changelog.md does not say {words!r}"
        if line in has(kind):
            yield f"{kind}/{line}: is there again: take it from removed.toml"
        if line in inventory.listed(kind):
            yield f"{kind}/{line}: is listed as staying, too"


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


def test_what_was_removed_is_gone_and_the_changelog_says_so() -> None:
    removed = inventory.REMOVED.read_text(encoding="utf-8")
    assert [*mistakes(removed, CHANGELOG.read_text(encoding="utf-8"))] == []


WORDS = "The filter `sinc` is removed"
EXPECTED = {
    ("words/filter: sinc", WORDS): None,
    ("word/filter: sinc", WORDS): "there is no list 'word'",
    ("words/filter: sinc", "removed"): "too short",
    ("words/filter: sinc", "`sinc`, a filter, is removed"): "does not say",
    ("words/filter: box", WORDS): "is there again",
    ("views/key of the window: gone", WORDS): "is listed as staying",
}


@pytest.mark.parametrize(("item", "words"), EXPECTED)
def test_a_mistake_in_the_list_of_removals_is_named(
    item: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(inventory, "listed", lambda kind: ["key of the window: gone"])
    removed = f"[[removed]]\nchangelog = '{words}'\nitems = ['{item}']\n"
    found = [*mistakes(removed, "# Changelog\nThe filter\n`sinc` is removed.")]
    expected = EXPECTED[item, words]
    assert len(found) == (expected is not None)
    assert all(str(expected) in each for each in found)


def test_the_command_only_adds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory, "LISTS", tmp_path)
    monkeypatch.setitem(inventory.KINDS, "words", lambda: iter(["b", "a"]))
    (tmp_path / "words.txt").write_text("a\ngone\n")
    assert inventory.add("words") == ["b"]
    assert inventory.listed("words") == ["a", "b", "gone"]
    assert inventory.add("words") == []
