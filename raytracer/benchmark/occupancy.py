"""Occupancy: how many blocks of a kernel a multiprocessor holds, and what limits them.

The rules are those of `cuda_occupancy.h` and of the occupancy calculator of Nsight Compute, with
the limits of the CUDA programming guide, "Technical specifications per compute capability".
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from raytracer.benchmark.record import Record, Resources, Result, Row, read_record, validate_record
from raytracer.benchmark.report import escape, sizes
from raytracer.files.access import is_path

WARP = 32  # threads
REGISTERS = 1 << 16  # of a multiprocessor
REGISTER_UNIT = 256  # registers that are allocated to a warp at a time
SCHEDULERS = 4  # of a multiprocessor, each with a quarter of the registers
KIB = 1 << 10


@dataclass(frozen=True)
class Limits:
    """What a multiprocessor has."""

    warps: int
    blocks: int
    shared: int  # bytes of shared memory, at most
    reserved: int = KIB  # bytes of shared memory that CUDA takes of each block
    shared_unit: int = 128  # bytes of shared memory that are allocated at a time


LIMITS = {
    "7.0": Limits(64, 32, 96 * KIB, 0, 256),
    "7.5": Limits(32, 16, 64 * KIB, 0, 256),
    "8.0": Limits(64, 32, 164 * KIB),
    "8.6": Limits(48, 16, 100 * KIB),
    "8.7": Limits(48, 16, 164 * KIB),
    "8.9": Limits(48, 24, 100 * KIB),
    "9.0": Limits(64, 32, 228 * KIB),
    "10.0": Limits(64, 32, 228 * KIB),
    "10.3": Limits(64, 32, 228 * KIB),
    "12.0": Limits(48, 24, 100 * KIB),
}
"""Limits by compute capability."""


@dataclass(frozen=True)
class Occupancy:
    """The blocks of a kernel that a multiprocessor holds at once."""

    blocks: int
    warps: int
    of_warps: int  # that a multiprocessor can hold
    limited_by: tuple[str, ...]  # "registers", "shared memory", "warps", "blocks"

    @property
    def share(self) -> float:
        return self.warps / self.of_warps


def occupancy(registers: int, shared: int, threads: int, limits: Limits) -> Occupancy:
    """Return the occupancy of a kernel.

    registers: of a thread. shared: bytes of shared memory of a block, static and dynamic. threads:
    of a block.
    """
    warps = -(-threads // WARP)
    of_warp = _round_up(registers * WARP, REGISTER_UNIT)
    most = {"warps": limits.warps // warps, "blocks": limits.blocks}
    if of_warp:
        by_scheduler = REGISTERS // SCHEDULERS // of_warp
        most["registers"] = SCHEDULERS * by_scheduler // warps
    if room := _round_up(shared + limits.reserved, limits.shared_unit):
        most["shared memory"] = limits.shared // room
    blocks = min(most.values())
    limited_by = tuple(name for name, count in most.items() if count == blocks)
    return Occupancy(blocks, blocks * warps, limits.warps, limited_by)


def _round_up(value: int, unit: int) -> int:
    return -(-value // unit) * unit


def explain_record(record: Record | str | Path) -> str:
    """Say for each kernel of a record of the bench how many of its blocks a multiprocessor of the
    GPU holds, and which resource limits them.

    Args:
        record: of `raytracer.bench`, or the path of one that was saved.

    Returns:
        Lines of text, one for each kernel.

    Raises:
        UserError: the file is no record.
    """
    record = read_record(record) if is_path(record) else validate_record(record, "record")
    return escape("\n".join(_lines(record)) + "\n")


def _lines(record: Record) -> Iterator[str]:
    if record["backend"] == "cpu":
        yield "occupancy is a property of kernels on a GPU: this record is of the CPU"
        return
    capability = record["device"].get("compute_capability", "?")
    limits = LIMITS.get(capability)
    if limits is None:
        known = ", ".join(LIMITS)
        yield f"occupancy is known of compute capability {known}, and not of {capability}"
        return
    for result in record["results"]:
        lines = [_explain(row, limits) for row in result["rows"] if row.get("resources")]
        if lines:
            yield f"{_title(result)}: occupancy of a multiprocessor"
            yield from (f"  {line}" for line in lines)
        else:
            yield f"{_title(result)}: the record has no resources of kernels"


def _title(result: Result) -> str:
    return f"{result['op']} ({sizes(result)})"


def _explain(row: Row, limits: Limits) -> str:
    """Return the occupancy of a kernel in words."""
    used: Resources = row["resources"]
    threads, registers = used.get("threads"), used.get("registers")
    if not threads or registers is None:
        return f"{row['label']}: unknown, the record does not have the threads of a block"
    shared = used.get("shared", 0) + used.get("dynamic_shared", 0)
    found = occupancy(registers, shared, threads, limits)
    words = {
        "registers": f"registers ({registers} per thread)",
        "shared memory": f"shared memory ({shared:,} bytes per block)",
        "warps": "the number of threads",
        "blocks": f"the number of blocks ({limits.blocks})",
    }
    count = f"{found.blocks} block{'' if found.blocks == 1 else 's'}"
    line = (
        f"{row['label']}: {count} of {threads} threads, {found.warps} of {found.of_warps} warps "
        f"({found.share:.0%}); "
    )
    if found.warps == found.of_warps:
        line += "full"
    else:
        line += f"limited by {' and '.join(words[each] for each in found.limited_by)}"
    if spilled := used.get("spilled"):
        line += f"; spills {spilled:,} bytes of registers to local memory"
    return line
