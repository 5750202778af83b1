"""Counters of Nsight Compute for each kernel: `raytracer bench OP --ncu`.

A second process launches every variant once between profiler marks, under `ncu`. The counters
report occupancy, throughput and the stall reasons of warps.
"""

from __future__ import annotations

import csv
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import islice

from raytracer.benchmark.record import Result, Row
from raytracer.errors import BackendError

METRICS = {
    "occupancy": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "issue": "smsp__issue_active.avg.pct_of_peak_sustained_active",
    "dram": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "l2": "lts__throughput.avg.pct_of_peak_sustained_elapsed",
    "l1": "l1tex__throughput.avg.pct_of_peak_sustained_active",
    "load_passes": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_ld.sum",
    "loads": "smsp__sass_inst_executed_op_shared_ld.sum",
    "store_passes": "smsp__sass_l1tex_data_pipe_lsu_wavefronts_mem_shared_op_st.sum",
    "stores": "smsp__sass_inst_executed_op_shared_st.sum",
}
STALL = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
# Stall reasons by their name in Nsight Compute, with a description.
STALLS = {
    "long_scoreboard": "global memory",
    "short_scoreboard": "shared memory",
    "barrier": "barrier",
    "mio_throttle": "shared memory queue",
    "lg_throttle": "global memory queue",
    "math_pipe_throttle": "arithmetic unit",
    "gmma": "tensor cores",
    "wait": "fixed latency",
    "not_selected": "other warps' turn",
    "branch_resolve": "branch",
    "no_instruction": "instructions",
    "imc_miss": "constant memory",
    "membar": "memory fence",
    "sleeping": "sleep",
    "dispatch_stall": "dispatch",
    "drain": "stores at the end",
    "tex_throttle": "texture queue",
}
COLUMNS = (
    "variant", "occupancy", "issue", "DRAM", "L2", "L1", "passes a load", "a store",
    "warps wait for",
)  # fmt: skip
SHOWN_STALLS = 2


def find() -> str:
    """Return the path of ncu; raise BackendError if it is not installed."""
    home = os.environ.get("CUDA_HOME") or "/usr/local/cuda"
    folders = (os.environ.get("PATH", ""), f"{home}/bin", "/usr/local/cuda/bin")
    if path := shutil.which("ncu", path=os.pathsep.join(folders)):
        return path
    raise BackendError(
        "--ncu: Nsight Compute is not found; install it with the CUDA toolkit or put ncu on PATH"
    )


def supported(program: str) -> list[str]:
    """Return the metrics that this GPU supports; ncu rejects lists with unknown ones."""
    metrics = [*METRICS.values(), *(STALL.format(name) for name in STALLS)]
    query = subprocess.run([program, "--query-metrics"], capture_output=True, text=True)
    available = {line.split()[0] for line in query.stdout.splitlines() if line.strip()}
    return [metric for metric in metrics if metric.split(".")[0] in available] or metrics


def profile(op: str, options: Sequence[str]) -> list[dict[str, float]]:
    """Run ncu and return the counters of each launched kernel, in order.

    Raises:
        BackendError: ncu is missing or fails, or may not read the counters.
    """
    program = find()
    command = [program, "--csv", "--page", "raw", "--profile-from-start", "off"]
    command += ["--target-processes", "application-only", "--metrics"]
    command += [",".join(supported(program)), sys.executable, "-m", "raytracer", "bench", op]
    process = subprocess.run([*command, "--profile", *options], capture_output=True, text=True)
    if "ERR_NVGPUCTRPERM" in process.stdout + process.stderr:
        raise BackendError(
            "--ncu: the driver lets only administrators read the counters of this GPU; run as root "
            "or load the driver with NVreg_RestrictProfilingToAdminUsers=0"
        )
    counters = parse(process.stdout.splitlines())
    if process.returncode or not counters:
        message = next((x for x in process.stdout.splitlines() if x.startswith("==ERROR==")), "")
        message = message or (process.stderr.strip().splitlines() or ["it printed nothing"])[-1]
        raise BackendError(f"--ncu: Nsight Compute gave no counters: {message}")
    return counters


def parse(lines: Iterable[str]) -> list[dict[str, float]]:
    """Parse the raw page of ncu in CSV into counters by kernel, without non-numeric values."""
    metrics = METRICS | {f"stall_{name}": STALL.format(name) for name in STALLS}
    counters = list[dict[str, float]]()
    for row in csv.DictReader(line for line in lines if line.startswith('"')):
        if not row["ID"]:  # the row of units
            continue
        counters.append({})
        for name, metric in metrics.items():
            with suppress(ValueError):
                counters[-1][name] = float((row.get(metric) or "").replace(",", ""))
    return counters


def add(result: Result, steps: Mapping[str, int], counters: list[dict[str, float]]) -> None:
    """Add counters, in launch order, to the rows of variants that launch some kernels each."""
    remaining = iter(counters)
    for label, count in steps.items():
        kernels = list(islice(remaining, count))
        for row in result["rows"]:
            if row["label"] == label:
                row["ncu"] = kernels


def cells(row: Row) -> list[list[str]]:
    """Return the table rows of one variant, one for each of its kernels."""
    lines = []
    for step, kernel in enumerate(row["ncu"], start=1):
        label = row["label"] if len(row["ncu"]) == 1 else f"{row['label']} {step}"
        shares = [
            f"{kernel[name]:.0f}%" if name in kernel else ""
            for name in ("occupancy", "issue", "dram", "l2", "l1")
        ]
        lines.append(
            [label, *shares, _passes(kernel, "load"), _passes(kernel, "store"), _stalls(kernel)]
        )
    return lines


def _passes(kernel: Mapping[str, float], kind: str) -> str:
    """Return shared-memory wavefronts per access of a warp.

    Without bank conflicts it is 1, or up to 2 and 4 for accesses of 8 and 16 bytes.
    """
    count = kernel.get(f"{kind}s")
    return f"{kernel.get(f'{kind}_passes', 0) / count:.2f}" if count else ""


def _stalls(kernel: Mapping[str, float]) -> str:
    """Return the largest stall reasons, in cycles per issued instruction."""
    waits = {name: kernel.get(f"stall_{name}", 0.0) for name in STALLS}
    largest = sorted(waits, key=lambda name: -waits[name])[:SHOWN_STALLS]
    return ", ".join(f"{STALLS[name]} {waits[name]:.1f}" for name in largest if waits[name] > 0)
