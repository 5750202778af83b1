"""Operators on elements of every n: the rate of the kernel that `raytracer.ops` takes.

    python tests/reference/elements.py [contraction ...] [--dtype float32] [-o FILE]

Each kernel is compared with float64, then timed over 800 MB of normal data by graphs or events as
the bench does it, with caches flushed. Prints the share of the copy rate of the same run for each
n from 2 to 16; of all floors (copy, multiply-adds, shared memory) the copy is the highest for each.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from raytracer import compile_all
from raytracer.backends.cuda.check import translated
from raytracer.backends.cuda.sources import kernels_root
from raytracer.benchmark import ceilings, operations, runner
from raytracer.benchmark.cuda.random_pool import RandomPool
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.digests import kernel_digest
from raytracer.benchmark.operations.base import Op
from raytracer.errors import RaytracerError
from raytracer.variants import Variant, discover, preferred

NAMES = ("contraction", "diffusion", "mass", "advection")
SIZES = range(2, 17)
BYTES = 800_000_000  # read and written by a launch


def main() -> int:
    """Measure what the arguments ask for; gives the exit status."""
    parser = argparse.ArgumentParser(description="Operators on elements of every n.")
    parser.add_argument("operators", nargs="*", default=list(NAMES), help=", ".join(NAMES))
    parser.add_argument("--dtype", nargs="+", default=["float32", "float64"])
    parser.add_argument("-o", "--output", type=Path)
    options = parser.parse_args()
    try:
        return record(options)
    except RaytracerError as error:
        print(error, file=sys.stderr)
        return 2


def record(options: argparse.Namespace) -> int:
    """Measure, print and save; gives the exit status."""
    with Session() as session:
        _compile(options.operators, session.arch)
        device = session.describe()
        limits = ceilings.measure(session)
        rows = [
            row
            for name in options.operators
            for dtype in options.dtype
            for row in measure(session, operations.find(name), dtype)
        ]
        # at the end, too: the rate changes with the temperature by a per cent
        limits["copy_gbps"] = (limits["copy_gbps"] + ceilings.measure(session)["copy_gbps"]) / 2
    for row in rows:
        row["of_copy"] = round(row["gbps"] / limits["copy_gbps"], 4) if "gbps" in row else None
    for line in table(rows):
        print(line)
    if options.output:
        told = {
            "command": " ".join(["python tests/reference/elements.py", *options.operators]),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "device": device,
            "ceilings": limits,
            "kernel_digest": kernel_digest(),
            "bytes": BYTES,
            "rows": rows,
        }
        options.output.write_text(json.dumps(told, indent=1) + "\n")
    return 1 if any("wrong" in row for row in rows) else 0


def measure(session: Session, op: Op, dtype: str) -> list[dict[str, Any]]:
    """Time the kernel that is preferred for each n."""
    rows, loaded = [], runner.Kernels()
    of_point = int(op.work(op.resolve({"elements": 1000, "n": 10}), dtype).bytes) // 10**6
    sizes = {n: op.resolve({"n": n, "elements": BYTES // (of_point * n**3)}) for n in SIZES}
    with RandomPool(session, op, dtype, "normal", list(sizes.values()), seed=1) as pool:
        for axes in sizes.values():
            order = preferred([v for v in discover(op.name) if v.admits(session.arch)], axes, dtype)
            plan = runner.Plan(op, axes, dtype, "normal", "cold", 0.05, False)
            row: dict[str, Any] = {"op": op.name, "dtype": dtype, **axes}
            with translated(session.driver):
                sources = [runner.Source(variant) for variant in order]
                timed = runner.measure_best(session, plan, sources, loaded, pool)
            for each in timed:
                if "time" in each:
                    seconds = each["time"]["median"]
                    row |= {
                        "kernel": each["label"],
                        "gbps": op.work(axes, dtype).bytes / seconds / 1e9,
                    }
                else:
                    row |= {"wrong": f"{each['label']}: {each['reason']}"}
            rows.append(row)
    return rows


def table(rows: list[dict[str, Any]]) -> list[str]:
    """Lines of Markdown: a row for each operator and type, a column for each n."""
    lines = [
        f"| share of the copy | {' | '.join(map(str, SIZES))} |",
        f"| --- |{' ---: |' * len(SIZES)}",
    ]
    for key in dict.fromkeys((row["op"], row["dtype"]) for row in rows):
        of_key = [row for row in rows if (row["op"], row["dtype"]) == key]
        shares = [f"{row['of_copy']:.2f}" if row["of_copy"] else "wrong" for row in of_key]
        rungs = [row.get("kernel", "")[:2] for row in of_key]
        lines.append(f"| {' '.join(key)} | {' | '.join(shares)} |")
        lines.append(f"| rung | {' | '.join(rungs)} |")
    return lines


def _compile(names: list[str], arch: str) -> None:
    """Fill the cache by all cores."""
    jobs = [job for name in names for job in compile_all.fastest(name, kernels_root(), [arch])]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for result in [pool.submit(_compiled, job) for job in jobs]:
            result.result()


def _compiled(job: compile_all.Job) -> None:
    assert isinstance(job.kernel, Variant)
    with suppress(RaytracerError):  # said when it is timed
        compile_all.run(job, kernels_root(), None)


if __name__ == "__main__":
    sys.exit(main())
