"""The form of a saved record: its schema, what is refused, and that the records shown are in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from raytracer.benchmark import record
from raytracer.cli import main
from raytracer.errors import DataFileError

SAVED = Path(__file__).parents[2] / "renders" / "bench"
RECORDS = sorted(SAVED.glob("*.json"))


@pytest.mark.parametrize("path", RECORDS, ids=lambda path: path.stem)
def test_saved_records_are_in_the_form(path: Path) -> None:
    content = json.loads(path.read_text(encoding="utf-8"))
    assert record.validated(content, path.name) is content


def test_the_schema_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--schema"]) == 0
    schema = json.loads(capsys.readouterr().out)
    assert schema == record.schema()
    assert schema["title"] == "Record"
    assert set(schema["required"]) == set(record.Record.__annotations__)
    row = schema["$defs"]["Row"]
    assert row["properties"]["status"]["enum"] == ["ok", "wrong", "skipped", "failed"]
    assert row["properties"]["nodes"]["description"] == "Nodes of a tree."


def changed(*path: str | int, to: Any) -> Any:
    """A saved record with one place changed; without it where `to` is None."""
    content = json.loads((SAVED / "vecadd.json").read_text(encoding="utf-8"))
    place = content
    for step in path[:-1]:
        place = place[step]
    if to is None:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return content


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ([], "the whole: Input should be a valid dictionary"),
        (changed("date", to=None), "date: Field required"),
        (changed("results", 0, "rows", 2, "kind", to="king"), "results.0.rows.2.kind: Input"),
        (changed("results", 0, "rows", 0, "time", "median", to=0.0), "rows.0.time.median: Input"),
        (changed("device", "memory_total", to="a" * 5000), "device.memory_total: Input"),
        (changed("load_average", to=float("nan")), "load_average: Input should be a finite"),
    ],
)
def test_what_is_no_record_is_one_sentence(content: Any, words: str) -> None:
    with pytest.raises(DataFileError) as caught:
        record.validated(content, "r.json")
    said = str(caught.value)
    assert said.startswith("r.json: is not a record of `raytracer bench --save`: ")
    assert words in said
    assert "\n" not in said
    assert len(said) < 500
