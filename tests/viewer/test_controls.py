"""The table of keys: each action is there, no key is taken twice, the help is complete."""

from __future__ import annotations

from collections import Counter

import pytest

from raytracer.viewer.actions import ACTIONS
from raytracer.viewer.controls import CONTROLS, MOUSE, Control, find, help_rows


@pytest.mark.parametrize("control", CONTROLS, ids=lambda c: c.keys[0])
def test_every_action_is_a_method_that_takes_these_arguments(control: Control) -> None:
    action = ACTIONS[control.action.replace("_", "-")]
    action.bound(control.amount, {})
    assert action.function.__doc__
    if control.held:
        assert control.amount, "a held key needs an amount a second"


def test_no_key_has_two_meanings() -> None:
    keys = [key for control in CONTROLS for key in control.keys]
    assert [key for key, count in Counter(keys).items() if count > 1] == []
    for control in CONTROLS:
        for key in control.keys:
            assert find(key) is control
    assert find("SHIFT+CTRL+X") is None
    assert find("NOTHING") is None


def test_help_has_a_row_for_every_action() -> None:
    """Where several keys share a row, it names them all; the mouse is there too."""
    rows = help_rows()
    assert [row for row in rows if row[0] in [drag.label for drag in MOUSE]] == [
        (drag.label, drag.help) for drag in MOUSE
    ]
    assert all(label and meaning for label, meaning in rows)
    assert len(set(rows)) == len(rows)
    told = {control.action for control in CONTROLS if control.help}
    assert told == {control.action for control in CONTROLS}
    shown = {control.label for control in CONTROLS if control.help}
    for control in CONTROLS:
        if (
            not control.help
        ):  # an arrow beside the one that has the row, or the other sign of an axis
            opposite = control.keys[0].removeprefix("SHIFT+").title()
            assert control.shown in shown or opposite in shown


FACTORS = ("scale_shininess", "change_aperture")
"""Actions whose amounts multiply."""


def test_what_has_two_ways_has_both() -> None:
    """Each amount can be taken back by another key."""
    amounts: dict[str, list[tuple[float, ...]]] = {}
    for control in CONTROLS:
        numbers = [float(each) for each in control.amount if isinstance(each, (int, float))]
        if numbers and control.action not in ("next_look", "next_background"):  # which go round
            amounts.setdefault(control.action, []).append(tuple(numbers))
    for action, found in amounts.items():
        for amount in found:
            back = tuple(1.0 / a if action in FACTORS else -a for a in amount)
            assert any(back == pytest.approx(other) for other in found), (action, amount)
