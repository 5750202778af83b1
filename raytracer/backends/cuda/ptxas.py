"""What `ptxas -v` reports of compiled kernels: registers, shared memory, spills."""

import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Usage:
    """Resources of a kernel, or the sum over the kernels of a log."""

    registers: int
    shared: int
    spilled: int


def usage(log: str) -> Usage:
    """Return the resources that a log reports; registers and shared memory of its first kernel."""
    return Usage(
        _first(r"Used (\d+) registers", log),
        _first(r"(\d+) bytes smem", log),
        sum(int(size) for size in re.findall(r"(\d+) bytes spill", log)),
    )


def by_entry(log: str) -> dict[str, Usage]:
    """Return the resources of each kernel of a log, by the name of its entry function."""
    sections = log.split("Compiling entry function ")[1:]
    return {section.split("'")[1]: usage(section) for section in sections}


def _first(pattern: str, text: str) -> int:
    match = re.search(pattern, text)
    return int(match[1]) if match else 0
