"""Lines of sources that pages quote: written anew from the files, so that they cannot go stale.

Below `<!-- lines: PATH: FIRST ... LAST -->` stand the lines of PATH from the first one that
contains FIRST to the next one that contains LAST, or that line alone where there is no LAST.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
# a marker and the block below
MARKED = re.compile(
    r"(<!-- lines: (\S+?): (.+?)(?: \.\.\. (.+?))? -->\n)(?:```\w+\n.*?^```\n)?",
    re.MULTILINE | re.DOTALL,
)


def quoted(path: str, first: str, last: str | None) -> str:
    """Return the lines as a block of code, without the indentation that all of them share.

    Raises:
        ValueError: where no line of the file contains `first`, or none from there on `last`
    """
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    begin = find(lines, first, 0, path)
    end = begin if last is None else find(lines, last, begin, path)
    found = [line.rstrip() for line in lines[begin : end + 1]]
    # directives begin at the margin wherever they stand
    indents = [len(line) - len(line.lstrip()) for line in found if line and line[0] != "#"]
    cut = min(indents, default=0)
    text = "\n".join(line if line.startswith("#") else line[cut:] for line in found)
    return f"```cuda\n{text}\n```\n"


def find(lines: list[str], text: str, begin: int, path: str) -> int:
    for at in range(begin, len(lines)):
        if text in lines[at]:
            return at
    raise ValueError(f"{path}: no line from {begin + 1} on contains {text!r}; mend the marker")


def with_quotes(page: str) -> str:
    """Return a page with its quotations as the files have them."""
    return MARKED.sub(lambda match: match[1] + quoted(match[2], match[3], match[4]), page)
