"""Suggestions: what was probably meant, and silence where nothing is near."""

import pytest

from raytracer.errors import nearest, suggestion
from raytracer.synonyms import NAMES

OPTIONS = ["--width", "--threads", "--meter", "--resume", "--samples", "--transparent"]


@pytest.mark.parametrize(
    ("name", "known", "near"),
    [
        ("--Width", OPTIONS, "--width"),
        ("--sample", OPTIONS, "--samples"),
        ("--spp", OPTIONS, "--samples"),
        ("--radius", OPTIONS, None),
        ("ortho", ["perspective", "orthographic"], "orthographic"),
        ("gausian", ["box", "tent", "gaussian"], "gaussian"),
        ("three_bals", ["three_balls", "cloud"], "three_balls"),
        ("a", [], None),
    ],
)
def test_the_nearest_name(name: str, known: list[str], near: str | None) -> None:
    assert nearest(name, known) == near


def test_a_suggestion_lists_what_there_is_where_nothing_is_near() -> None:
    assert suggestion("colour", ["color", "radius"]) == "did you mean 'color'?"
    assert suggestion("zzz", ["color", "radius"]) == "known are color, radius"
    assert suggestion("zzz", [str(number) for number in range(20)]).endswith("10, 11, ...")
    assert suggestion("zzz", []) == "none is known here"


def test_synonyms_are_written_as_they_are_looked_up() -> None:
    for ours, words in NAMES.items():
        assert words == words.lower().replace("-", "_")
        assert ours not in words.split()
