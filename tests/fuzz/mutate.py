"""A mutating fuzzer: right files, broken in many ways, must be read or refused with a sentence.

    python tests/fuzz/mutate.py --cases 2000 [--kind csv] [--first 0]

Each case is read as the program reads it, with warnings as errors, and in full: a film is toned,
the metadata of a picture are printed, a sphere is described. `--keep FOLDER` keeps the first file
of each kind of failure. The exit code is 1 if anything failed.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import resource
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.files import mutated, seeds
from raytracer import Film, load
from raytracer.cli import main
from raytracer.errors import SENTENCE_LETTERS, UserError
from raytracer.warning import RaytracerWarning

SECONDS = 5.0  # more than this for one small file is a hang
MEMORY = 4 << 30  # bytes of address space


def read(path: Path) -> None:
    """Read a file by its ending, all of it."""
    if path.suffix == ".exr" or path.name.startswith("film"):
        Film.load(path).tonemap(threads=1)
    elif path.suffix == ".png":
        silent = contextlib.redirect_stderr(io.StringIO())
        with silent, contextlib.redirect_stdout(io.StringIO()) as said:
            code = main(["info", str(path)])
        if code == 0 and not said.getvalue().replace("\n", "").isprintable():
            raise AssertionError("control characters on standard output")
    else:
        scene = load(path)
        if scene.count:
            for line in scene.describe(scene.count - 1).lines():
                assert line.isprintable()


def failure(path: Path) -> str:
    """Read a file; gives what went wrong that must not, or ""."""
    begin = time.perf_counter()
    try:
        with (
            contextlib.redirect_stderr(io.StringIO()),
            warnings.catch_warnings(record=True) as told,
        ):
            warnings.simplefilter("error")
            warnings.simplefilter("always", RaytracerWarning)
            read(path)
        for warning in told:
            if not str(warning.message).isprintable():
                return f"a warning that does not print: {warning.message!r}"[:300]
    except UserError as error:
        for sentence in error.sentences:
            if not sentence.isprintable() or len(sentence) > 2 * SENTENCE_LETTERS:
                return f"a sentence that does not print: {sentence[:200]!r}"
    except BaseException as error:
        where = traceback.extract_tb(error.__traceback__)[-1]
        return f"{type(error).__name__} in {Path(where.filename).name}:{where.lineno}: {error}"[
            :300
        ]
    if time.perf_counter() - begin > SECONDS:
        return f"took more than {SECONDS:g} seconds"
    return ""


def run(
    cases: int, first: int = 0, kinds: list[str] | None = None, keep: Path | None = None
) -> int:
    """Run so many cases of every seed; gives how many failed."""
    found: Counter[str] = Counter()
    done = 0
    with tempfile.TemporaryDirectory(prefix="raytracer-fuzz-") as name:
        folder = Path(name)
        for seed, content in seeds(folder).items():
            if kinds and not any(kind in seed for kind in kinds):
                continue
            path = folder / seed
            path.write_bytes(content)
            if said := failure(path):
                raise SystemExit(f"{seed} itself: {said}")
            for number in range(first, first + cases):
                data = mutated(content, number, seed)
                path.write_bytes(data)
                done += 1
                if said := failure(path):
                    key = f"{seed}: {said.replace(str(folder), '')}"
                    found[key] += 1
                    if found[key] == 1:
                        print(f"{seed} case {number}: {said}", flush=True)
                        if keep is not None:
                            keep.mkdir(exist_ok=True)
                            (keep / f"{number}-{seed}").write_bytes(data)
    print(f"{done:,} cases, {sum(found.values()):,} failures of {len(found)} kinds")
    return sum(found.values())


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Read mutated files of every kind.")
    parser.add_argument("--cases", type=int, default=500, help="of each seed")
    parser.add_argument("--first", type=int, default=0, help="number of the first")
    parser.add_argument("--kind", action="append", help="only seeds with this in their names")
    parser.add_argument("--keep", type=Path, help="folder for what fails")
    return parser.parse_args()


if __name__ == "__main__":
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    options = _arguments()
    sys.exit(1 if run(options.cases, options.first, options.kind, options.keep) else 0)
