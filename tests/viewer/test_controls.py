"""The table of keys and its help: each action is there, no key is taken twice, pages fit."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from raytracer.viewer import session  # noqa: F401 - it imports all actions
from raytracer.viewer.actions import ACTIONS
from raytracer.viewer.controls import CONTROLS, GROUPS, MIN_MEANING, help_groups, help_pages


def test_every_action_is_a_method_that_takes_these_arguments() -> None:
    for control in CONTROLS:
        action = ACTIONS[control.action]
        action.bound(control.amount, {})
        assert action.function.__doc__, control
        assert control.amount or not control.held, "a held key needs an amount a second"
    assert {each.action for each in CONTROLS if each.help} == {each.action for each in CONTROLS}


def test_no_key_has_two_meanings() -> None:
    keys = [key for control in CONTROLS for key in control.keys]
    assert [key for key, count in Counter(keys).items() if count > 1] == []


@given(columns=st.integers(20, 250), rows=st.integers(4, 100))
def test_help_has_everything_under_its_heading_on_pages_that_fit(columns: int, rows: int) -> None:
    pages = help_pages(columns, rows)
    for page in pages:
        assert len(page) <= rows
        assert max(map(len, page)) <= max(columns, len("  Right drag, Shift drag  ") + MIN_MEANING)
    words = " ".join(" ".join(line for line in page) for page in pages).split()
    for heading in GROUPS:
        assert heading.split()[-1] in words
    for keys, meaning in (row for _, each in help_groups() for row in each):
        assert set(keys.split()) <= set(words)
        assert set(meaning.split()) <= set(words)
