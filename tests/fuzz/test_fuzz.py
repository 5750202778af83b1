"""A few cases of each fuzzer; `.ci/run` runs more of them."""

from __future__ import annotations

import pytest

from fuzz import arguments, hostile, mutate
from fuzz.cases.base import CASES
from fuzz.files import mutated


def test_mutated_files_are_read_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert mutate.run(40) == 0, capsys.readouterr().out


def test_odd_arguments_are_used_or_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert arguments.run(600) == 0, capsys.readouterr().out


def test_a_case_is_the_same_everywhere() -> None:
    assert mutated(b"x,y,z\n1,2,3\n", 5, "a.csv") == mutated(b"x,y,z\n1,2,3\n", 5, "a.csv")
    assert len({mutated(b"x,y,z\n1,2,3\n", number, "a.csv") for number in range(50)}) > 40


def test_hostile_input_ends_as_it_must(capsys: pytest.CaptureFixture[str]) -> None:
    assert hostile.run(step=20) == 0, capsys.readouterr().out


# Parts of the names of cases that once were read wrongly or ended with a traceback.
@pytest.mark.parametrize(
    "only", ["xyz: kind", "for the count", "true for a c", "quoted line", "MPLBACKEND",
             "stands twice", "'３'", "--film ''", "-o ''", "ASCII", "99999"]
)  # fmt: skip
def test_what_was_mended_stays_so(only: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert any(only in name for name in CASES)
    assert hostile.run(only) == 0, capsys.readouterr().out
