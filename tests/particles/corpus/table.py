"""Prints the table of kinds of files of `docs/reference/corpus.md`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from particles.corpus import modules
from particles.corpus.kinds import KINDS

assert modules  # which list the kinds


def table() -> str:
    """Return a table of Markdown: format, name, writer, what positions are kept as."""
    rows = ["| format | file | written by | positions are kept as |", "| --- | --- | --- | --- |"]
    for each in KINDS:
        writer = each.writer.partition(".")[0]
        row = (each.format, f"`{each.file}`", writer, each.keeps)
        rows.append(f"| {' | '.join(row)} |")
    return "\n".join(rows) + "\n"


if __name__ == "__main__":
    print(table(), end="")
