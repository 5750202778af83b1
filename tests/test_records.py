"""Tables of pages are those that their records give, and say what kernels these are of.

`docs/figures.py` writes the tables; a table of figures that no record gives stands where the text
says that there is none.
"""

import importlib
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest

from raytracer.benchmark.run import kernel_digest
from raytracer.benchmark.sources import digests, list_sources
from raytracer.config.errors import UserError
from reference.peers import command
from support.commands import accept
from support.pages import DOCS, PAGES, README, ROOT, text_of

sys.path.append(str(DOCS))
figures: Any = importlib.import_module("figures")
quotes: Any = importlib.import_module("quotes")
diagrams: Any = importlib.import_module("diagrams")
RESULTS = DOCS / "kernels" / "figures.md"
RECORDS = sorted((ROOT / "renders").glob("bench/*.json"))
RECORDS += sorted((ROOT / "renders" / "records").rglob("*.json"))
NO_TABLES = {"revisions", "compiled", "gpu-tests"}  # of `renders/records`: no measurements
IN_TEXT = (
    "bench/tone",
    "records/optix-capsules",
    "records/squares/",
    "records/histograms/",
    "records/elements",
)
NOT_SHOWN = ("squares-h100-bf16", "means", "environment-noise", "h200-optix", "optix", "optix-h100")
UNIT = r"(?:ms|µs|us|ns|s|GB/s|TFLOP/s|GFLOP/s|frames/s|MB/s)"
TIMED = re.compile(rf"(?:over )?[\d.,]+(?: (?:to|and) [\d.,]+)? ?{UNIT}\b.*")
NUMBERS = re.compile(r"\d[\d.,e]*(?: to [\d.,]+)?(?: ?[A-Za-zµ/]+)?(?:, \d.*)?(?: \(.*\))?")
NONE = re.compile(r"\b(?:[Nn]o records?|computed, not measured)\b")


class Table(NamedTuple):
    """A table of a page: the text of its section before it, its name there or "", its cells."""

    page: Path
    text: str
    name: str
    header: list[str]
    rows: list[list[str]]

    @property
    def has_figures(self) -> bool:
        """Whether it has times or rates, or numbers in most of its cells after the first ones."""
        cells = [cell for row in self.rows for cell in row]
        timed = sum(TIMED.fullmatch(cell) is not None for cell in cells)
        others = [cell for row in self.rows for cell in row[1:] if cell]
        numbers = sum(NUMBERS.fullmatch(cell) is not None for cell in others)
        return 2 * timed >= len(self.rows) or numbers > 0.6 * len(others)


def tables(page: Path, text: str) -> Iterator[Table]:
    start = re.split(r"^##+ ", text, maxsplit=1, flags=re.MULTILINE)[0]
    for part in re.split(r"^(?=##+ )", text, flags=re.MULTILINE):
        above, rows = [start], list[list[str]]()
        for line in [*part.splitlines(), ""]:
            if line.startswith("|"):
                rows.append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
                continue
            if rows:
                name = re.fullmatch(r"<!-- table: ([\w-]+) -->", above[-1])
                yield Table(page, "\n".join(above), name[1] if name else "", rows[0], rows[2:])
                rows = []
            above.append(line)


def undeclared(page: Path, text: str) -> list[str]:
    """The headers of tables of figures that neither have a record nor say that there is none."""
    return [
        " | ".join(table.header)
        for table in tables(page, text)
        if table.has_figures and not table.name and not NONE.search(table.text)
    ]


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tables_are_those_of_their_records(page: Path) -> None:
    assert figures.written(text_of(page)) == text_of(page), "python docs/figures.py"


@pytest.mark.parametrize("page", figures.PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_tables_of_figures_have_a_record_or_say_that_there_is_none(page: Path) -> None:
    assert undeclared(page, text_of(page)) == []


def test_a_table_without_a_record_is_found() -> None:
    table = "\n| spheres | ours |\n| --- | ---: |\n| 1,000 | 3.2 ms |\n"
    assert undeclared(RESULTS, f"# A\n## B\n{table}") == ["spheres | ours"]
    assert undeclared(RESULTS, f"# A\n## B\nNo record: `x`.\n{table}") == []
    assert undeclared(RESULTS, f"# A\nNo record.\n## B\n{table}") == []
    assert undeclared(RESULTS, f"# A\n## B\nNo record.\n## C\n{table}") == ["spheres | ours"]
    named = f"<!-- table: moving -->{table}"
    assert undeclared(RESULTS, f"# A\n## B\n{named}") == []
    assert undeclared(RESULTS, f"# A\n## B\n{named}{table}") == ["spheres | ours"]
    columns = "\n| spheres | time, ms |\n| --- | ---: |\n| 1,000 | 3.2 |\n"
    assert undeclared(RESULTS, f"# A\n{columns}") == ["spheres | time, ms"]


def test_each_table_is_written_once() -> None:
    text = "".join(map(text_of, figures.PAGES))
    assert sorted(re.findall(r"<!-- table: ([\w-]+) -->\n\|", text)) == sorted(figures.TABLES)
    assert text.count("<!-- table: ") == len(figures.TABLES)


def test_each_record_has_a_table() -> None:
    used = {name for table in figures.TABLES.values() for name in table.records}
    found = {path.relative_to(ROOT / "renders").with_suffix("").as_posix() for path in RECORDS}
    assert used <= found
    others = {name for name in found - used if not name.startswith(IN_TEXT)}
    assert {name.rpartition("/")[2] for name in others} <= {*NO_TABLES, *NOT_SHOWN}


def test_a_changed_number_is_noticed() -> None:
    text = text_of(RESULTS)
    for before, after in (
        ("| 0.173 |", "| 0.174 |"),
        ("kernels of `e81ae4d2`, load", "today's kernels, load"),
    ):
        assert before in text
        assert figures.written(text.replace(before, after)) == text


LADDERS = "".join(text_of(page) for page in sorted((DOCS / "kernels").glob("*.md")))


def test_each_rung_has_a_heading_on_the_page_with_the_table_of_its_ladder() -> None:
    pages = [text_of(page) for page in sorted((DOCS / "kernels").glob("*.md"))]
    rungs = sorted((ROOT / "kernels" / "ladders").glob("*/*.cu"))
    ladders = {path.parent.name for path in rungs} - {"ceiling"}  # what rungs are compared with
    assert {table.ladder for table in figures.TABLES.values()} - {""} == ladders
    for ladder in ladders:
        (page,) = [text for text in pages if f"<!-- table: rungs-{ladder} -->" in text]
        titles = " ".join(re.findall(r"^### (.*)$", page, re.MULTILINE))
        for path in rungs:
            if path.parent.name == ladder:
                assert re.search(rf"\b{path.stem}\b", titles), path


def test_a_changed_quotation_is_noticed_and_a_missing_line_is_an_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.cu").write_text("int f() {\n  if (x) {\n#pragma unroll\n    g();\n  }\n}\n")
    monkeypatch.setattr(quotes, "ROOT", tmp_path)
    marker = "<!-- lines: a.cu: if ( ... } -->\n"
    right = f"{marker}```cuda\nif (x) {{\n#pragma unroll\n  g();\n}}\n```\n\ntext\n"
    assert quotes.with_quotes(right) == right
    assert quotes.with_quotes(right.replace("g()", "h()")) == right
    assert quotes.with_quotes(f"{marker}\ntext\n") == right
    single = "<!-- lines: a.cu: g() -->\n"
    assert quotes.with_quotes(single) == f"{single}```cuda\ng();\n```\n"
    with pytest.raises(ValueError, match=r"a.cu: no line from 2 on contains 'h\(\)'"):
        quotes.with_quotes("<!-- lines: a.cu: if ( ... h() -->\n")


@pytest.mark.parametrize("name", diagrams.DIAGRAMS)
def test_diagrams_are_those_of_the_program_and_shown_once(name: str) -> None:
    drawn = diagrams.DIAGRAMS[name]().svg()
    assert text_of(DOCS / "static" / f"{name}.svg") == drawn, "python docs/diagrams.py"
    assert LADDERS.count(f"](../static/{name}.svg)") == 1


def test_rungs_without_a_record_say_what_measures_them() -> None:
    for name, table in figures.TABLES.items():
        text = figures.markdown(name)
        waits = figures.NOT_YET in text.partition("Records:")[0]
        assert ("What is not measured yet" in text) == waits, name
        if waits:
            (command,) = re.findall(r"yet: `(.*?)`", text)
            assert is_accepted(command), command
        if name.startswith("rungs-") and table.ladder != "tone":
            stems = {path.stem for path in (ROOT / "kernels/ladders" / table.ladder).glob("*.cu")}
            assert stems <= {cells[0] for cells in table.rows()}, name


def test_ratios_are_of_ours_by_the_peer_and_speeds_the_other_way() -> None:
    assert figures.triple(1.0, 2.0) == ["1.00", "2.00", "0.50"]
    for name, table in figures.TABLES.items():
        columns = table.columns.split(" | ")
        for cells in table.rows():
            for at, column in enumerate(columns):
                if column.strip() == "ratio" and cells[at]:
                    ours, peer = (number(cell) for cell in cells[at - 2 : at])
                    assert abs(number(cells[at]) - ours / peer) < 0.006 + 0.01 * ours / peer, name
                elif column == "relative speed":
                    ours, peer = number(cells[columns.index("speed")]), number(cells[at - 1])
                    assert abs(number(cells[at]) - ours / peer) < 0.006 + 0.01 * ours / peer, name


def number(cell: str) -> float:
    return float(cell.split()[0].replace(",", ""))


@pytest.mark.parametrize(("value", "text"), [
    (0.18234, "0.182"), (1.7149, "1.71"), (24.35, "24.4"), (4303.2, "4,303"), (0.0497, "0.0497"),
])  # fmt: skip
def test_figures_have_three_digits(value: float, text: str) -> None:
    assert figures.figure(value) == text


def found_record(monkeypatch: pytest.MonkeyPatch, **values: Any) -> None:
    known = {"records/revisions": {"old": "12345678"}, "bench/x": values}
    monkeypatch.setattr(figures, "record", known.__getitem__)


def test_a_record_of_todays_sources_is_todays_whatever_else_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    measured = digests(list_sources("cuda", "tone"))
    found_record(monkeypatch, kernel_digest="old", results=[{"kernels": measured}])
    assert figures.revision_of("bench/x") == ""
    for changed in (measured | {next(iter(measured)): "0" * 32}, {"kernels/cuda/gone.cu": "1"}, {}):
        results = [{"kernels": measured}, {"kernels": changed}]
        found_record(monkeypatch, kernel_digest="old", results=results)
        assert figures.revision_of("bench/x") == "12345678"


def test_a_record_of_unknown_kernels_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    found_record(monkeypatch, kernel_digest="new", results=[{}])
    with pytest.raises(KeyError, match="new"):
        figures.revision_of("bench/x")
    found_record(monkeypatch, kernel_digest=kernel_digest(), results=[{}])
    assert figures.revision_of("bench/x") == ""


def is_accepted(line: str) -> bool:
    """Whether today's programs take the command of a record."""
    words = shlex.split(line.partition(", once")[0].replace("NAME", "weekend"))
    try:
        if words[0] == "raytracer":
            accept(words)
        elif words[:2] == ["python", "tests/reference/peers"]:
            command.options(words[2:])
        else:
            return False
    except (click.UsageError, UserError, SystemExit):
        return False
    return True


@pytest.mark.parametrize("name", figures.TABLES)
def test_commands_of_records_are_accepted_or_the_table_says_which_is(name: str) -> None:
    table = figures.TABLES[name]
    commands = [found.get("command", "") for each in table.records
                for found in [figures.record(each)] if isinstance(found, dict)]  # fmt: skip
    if len(commands) < len(table.records) or not all(c and is_accepted(c) for c in commands):
        assert table.renew, f"{name}: give a command of today that measures it again"
    if table.renew:
        assert is_accepted(table.renew.replace("SCENE", "x.toml")), table.renew
        assert table.renew in text_of(RESULTS)


def test_commands_of_the_list_of_records_are_accepted() -> None:
    text = " ".join(text_of(ROOT / "renders" / "records" / "README.md").split())
    commands = re.findall(r"`(raytracer bench [a-z_0-9]+ --[^`]*)`", text)
    assert len(commands) == 5
    assert [line for line in commands if not is_accepted(line)] == []


def test_commands_of_python_name_files_that_are_there() -> None:
    for page in PAGES:
        text = text_of(page)
        for line in re.findall(r"(?<!git show )\bpython ((?:docs|tests|scenes)/[^`\n]*)", text):
            words = shlex.split(line.replace("\\", " ").partition("  #")[0], comments=True)
            assert (ROOT / words[0]).exists(), f"{page}: {line}"
            complete = "..." not in line and not re.search(r"\b[A-Z]{2,}\b", line)
            if words[0] == "tests/reference/peers" and len(words) > 1 and complete:
                command.options(words[1:])


TEXT = " ".join(text_of(RESULTS).split())


def test_rates_in_the_text_are_those_of_records() -> None:
    files = ("histogram-hot", "vecadd")
    old, new = (
        figures.record(f"bench/{each}")["device"]["ceilings"]["copy_gbps"] for each in files
    )
    assert f"copy moves {old:,.0f} GB/s on the H100 and {new:,.0f} GB/s on the H200" in TEXT
    (histogram,), (vectors,) = (figures.results(each) for each in files)
    rates = figures.rate(histogram, "04_"), figures.rate(vectors, "08_")
    assert f"move up to {rates[0]:,.0f} and {rates[1]:,.0f}" in TEXT
    found = [each for each in figures.results("render")
             if each["axes"]["scene"] in ("weekend", "molecule")]  # fmt: skip
    rungs = [[figures.seconds(each, f"0{n}_") for n in (1, 2, 3, 4)] for each in found]
    gains = [100 * (1 - four / one) for one, _, _, four in rungs]
    losses = [100 * (four / three - 1) for _, _, three, four in rungs]
    assert f"gains {min(gains):.0f}% to {max(gains):.0f}%" in TEXT
    assert f"{min(losses):.0f}% to {max(losses):.0f}% longer" in TEXT
    assert f"takes {100 * (rungs[0][1] / rungs[0][0] - 1):.0f}% longer" in TEXT


def test_capsules_in_the_text_are_those_of_the_record() -> None:
    rows = {row["scene"]: row for row in figures.record("records/optix-capsules")["rows"]}
    found = [rows[f"capsules_{count}, primary + shadow"] for count in (100_000, 1_000_000)]
    ours = " and ".join(figures.figure(row["ours"]["frame"]["median"]) for row in found)
    ratios = " and ".join(f"{row['frame_ratio']:.2f}" for row in found)
    assert f"{ours} ms for 100,000 and 1,000,000, ratios of {ratios}" in TEXT


def test_operations_in_the_text_are_those_of_records() -> None:
    *_, whole = figures.results("tone")
    times = [1e6 * row["time"]["median"] for row in whole["rows"]]
    histogram = 1e6 * figures.seconds(figures.results("tone")[0], "one")
    assert f"takes {min(times):.0f} to {max(times):.0f} µs" in TEXT
    assert f"exposure of {histogram:.0f} µs" in TEXT
    elements = figures.record("records/elements")
    shares = [r["of_copy"] for r in elements["rows"] if r["op"] == "contraction"]
    assert f"has {min(shares):.2f} to {max(shares):.2f} of the rate" in TEXT
    assert f"({elements['ceilings']['copy_gbps']:,.0f} GB/s" in TEXT
    for name, unit in (("bytes", " GB/s"), ("bins", " µs")):
        files = sorted((ROOT / "renders/records/histograms").glob(f"{name}-*.json"))
        every = [json.loads(text_of(file))["results"][0] for file in files]
        found = [
            figures.rate(each, "05_") if name == "bytes" else 1e6 * figures.seconds(each, "02_")
            for each in every
        ]
        between = " to ".join(figures.figure(each) for each in (min(found), max(found)))
        assert between + unit in TEXT
    for file, dtype in (("bf16", "bfloat16"), ("fp32", "float32")):
        speeds = [
            relative(each) for each in figures.record(f"records/squares/squares-{file}")["results"]
        ]
        assert f"{', '.join(f'{speed:.2f}' for speed in speeds)} in {dtype}" in TEXT


def relative(result: dict[str, Any]) -> float:
    """The speed of ours by that of the fastest library."""
    times: dict[str, list[float]] = {"variant": [], "peer": []}
    for row in result["rows"]:
        if "time" in row:
            times[row["kind"]].append(row["time"]["median"])
    return min(times["peer"]) / min(times["variant"])


@pytest.mark.parametrize(
    "name", ["bench/tone", "records/optix-capsules", "records/squares/squares-bf16",
             "records/squares/squares-fp32", "records/histograms/bytes-odd", "records/elements"],
)  # fmt: skip
def test_records_in_the_text_are_of_the_revision_that_it_names(name: str) -> None:
    folder = name.rpartition("/")[0]
    named = f"renders/{name}.json" if f"renders/{name}.json" in TEXT else f"renders/{folder}"
    revision = figures.revision_of(name)
    assert re.search(rf"`{named}`, kernels of `{revision}`", TEXT) if revision else named in TEXT


def test_numbers_of_other_pages_are_those_of_records() -> None:
    small = [1.0 / figures.seconds(each, "small") for each in figures.results("live")]
    guide = re.findall(r"renders (\d+), (\d+) and (\d+) pictures", text_of(DOCS / "guide/live.md"))
    assert [int(word) for word in guide[0]] == [round(rate) for rate in small[1:]]
    host, device = (cells[-1] for cells in figures.large())
    large = " ".join(text_of(DOCS / "guide/large_data.md").split())
    assert f"{float(host):.1f} GiB on the CPU and {float(device):.1f} GiB on a GPU" in large
    (frame,) = [each for each in figures.record(figures.OPTIX[0])["results"]
                if (each["op"], each["axes"]["spheres"]) == ("shadow", 10_000_000)]  # fmt: skip
    assert "renders a frame of them in one millisecond" in text_of(README)
    assert 0.95 < 1e3 * frame["rows"][0]["time"]["median"] < 1.05


def test_revisions_are_all_needed() -> None:
    known = json.loads(text_of(ROOT / "renders" / "records" / "revisions.json"))
    assert all(re.fullmatch("[0-9a-f]{8}", revision) for revision in known.values())
    found = [json.loads(text_of(path)) for path in RECORDS]
    stated = {each.get("kernel_digest") for each in found if isinstance(each, dict)}
    names = {path.relative_to(ROOT / "renders").with_suffix("").as_posix() for path in RECORDS}
    assert set(known) <= stated | names
