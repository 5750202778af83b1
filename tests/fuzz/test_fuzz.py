"""A few cases of the mutating fuzzer; `.ci/run` runs more of them."""

from __future__ import annotations

import pytest

from fuzz import mutate
from fuzz.files import mutated


def test_mutated_files_are_read_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert mutate.run(40) == 0, capsys.readouterr().out


def test_a_case_is_the_same_everywhere() -> None:
    assert mutated(b"x,y,z\n1,2,3\n", 5, "a.csv") == mutated(b"x,y,z\n1,2,3\n", 5, "a.csv")
    assert len({mutated(b"x,y,z\n1,2,3\n", number, "a.csv") for number in range(50)}) > 40
