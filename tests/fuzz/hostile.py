"""Hostile input of named kinds: each command ends as it must, soon, and in words that print.

    python tests/fuzz/hostile.py [--only TEXT]

A case is files, a command, and the exit code that is right, with words that the command must print
where a wrong reading would end the same way. Each runs in a process and a folder of its own. A
traceback, a hang, a gigabyte of memory, characters that a terminal would obey, a file that was left
where nothing was to be written: all of them are failures. The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.cases import arrays, atoms, commands, films, pictures, scenes, tables, variables
from fuzz.cases.base import CASES, Case

SECONDS = 10.0
"""Of processor time: other work on the machine counts little, but how fast it is does. A scene of
50,000 lights took 2.5 s alone and 7.3 s on a busy machine."""

MEMORY = 2 << 30
"""Bytes of resident memory."""

for group in (scenes, tables, atoms, arrays, pictures, films, commands, variables):
    group.register()

RUN = """
import atexit, resource, runpy, sys
def tell():
    used = resource.getrusage(resource.RUSAGE_SELF)
    sys.stderr.write(f"\\npeak {1024 * used.ru_maxrss} {used.ru_utime + used.ru_stime}")
atexit.register(tell)
sys.argv = ["raytracer", *sys.argv[1:]]
runpy.run_module("raytracer", run_name="__main__", alter_sys=True)
"""


def failure(found: Case, folder: Path) -> str:
    """Run a case in an empty folder; gives what is wrong with its end, or ""."""
    for name, content in found.files.items():
        path = folder / name
        if callable(content):
            content(path)
        else:
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
    before = {path.name for path in folder.iterdir()}
    env = {"RAYTRACER_THREADS": "1"} | found.env
    command = [sys.executable, "-c", RUN, *found.command]
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            input=found.stdin,
            capture_output=True,
            check=False,
            timeout=10 * SECONDS,
            env=os.environ | env,
        )
    except subprocess.TimeoutExpired:
        return "did not end"
    said = (done.stdout + done.stderr).decode("utf-8", "surrogateescape")
    *_, report = said.rpartition("\npeak ")
    said = said[: -len("\npeak ") - len(report)]
    peak, seconds = (float(figure) for figure in report.split()) if report else (0.0, 0.0)
    left = {path.name for path in folder.iterdir()} - before
    tail = said[-300:]
    if "Traceback" in said or done.returncode not in (0, 1, 2):
        return f"ended with {done.returncode}: {said[-1500:]}"
    if done.returncode != found.code:
        return f"ended with {done.returncode}, not {found.code}: {tail}"
    if found.says not in said:
        return f"does not say {found.says!r}: {tail}"
    if not said.replace("\n", "").isprintable():
        return f"prints what a terminal would obey: {tail!r}"
    if left != set(found.makes):
        return f"made {left}, not {set(found.makes)}: {tail}"
    if found.code == 2 and said.count("\n") > 12:
        return f"has too many sentences: {tail}"
    if seconds > SECONDS:
        return f"took {seconds:.1f} s"
    return f"took {peak / 2**20:.0f} MiB" if peak > MEMORY else ""


def run(only: str = "", step: int = 1) -> int:
    """Run each `step`-th of the cases whose names contain a text; gives how many failed."""
    chosen = {name: CASES[name] for name in [n for n in CASES if only in n][::step]}

    def one(name: str) -> str:
        with tempfile.TemporaryDirectory(prefix="raytracer-hostile-") as outer:
            folder = Path(outer) / "in"  # a case may read the folder above
            folder.mkdir()
            said = failure(chosen[name], folder)
        if said:
            print(f"{name}: {said}\n", flush=True)
        return said

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        failed = sum(map(bool, pool.map(one, chosen)))
    print(f"{len(chosen)} cases, {failed} failures")
    return failed


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Run commands on hostile input.")
    parser.add_argument("--only", default="", help="cases whose names contain this")
    sys.exit(1 if run(parser.parse_args().only) else 0)
