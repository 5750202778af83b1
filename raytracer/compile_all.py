"""Compiles every kernel, for checks and for machines without a compiler.

    python -m raytracer.compile_all [--arch sm_80 sm_90a compute_80] [-o FOLDER]
    python -m raytracer.compile_all --production [--arch sm_80 sm_90a compute_80] [-o FOLDER]

The second compiles what pictures need, without the kernels of the bench. Ends with 1 if a kernel
does not compile and with 2 without a compiler. A folder made with -o serves a machine of one of
those architectures: name it in RAYTRACER_CUBINS there. A wheel holds those in kernels/cubins.

With --record FILE, sources that have been compiled for all architectures before are compiled for
the first one alone; others for all, and FILE then has the digest of each. For architectures of
--complete only the complete render kernels are compiled, without their faster variants. --kernels
names the folder of the kernels, by default the package's.
"""

import argparse
import itertools
import json
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from raytracer.backends.cuda import cache as cubins
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import compute_digest, parse_usage_by_entry
from raytracer.backends.cuda.kernel import make_macros_without
from raytracer.backends.cuda.kernel_selection import IMAGES, OF_IMAGES, PRODUCTION, list_variants
from raytracer.backends.kernel_sources import (
    Kernel,
    discover_variants,
    list_operations,
    read_production_kernels,
)
from raytracer.benchmark.operations import OPERATIONS
from raytracer.benchmark.products.tiles import every_compilation, has_clusters, make_problem
from raytracer.config.errors import RaytracerError
from raytracer.system.resources import kernels_folder

# sm_80 serves 8.6 and 8.9 too, sm_120 also 12.1; PTX (compute_80) serves devices of the future.
ARCHITECTURES = ("sm_75", "sm_80", "sm_90a", "sm_100a", "sm_120", compiler.PTX)
AT_ONCE = 2  # a compiler takes a core and up to a gigabyte for a large kernel


@dataclass
class Job:
    """One kernel for one architecture."""

    kernel: Kernel
    arch: str
    macros: Mapping[str, str]

    def name(self, root: Path) -> str:
        return compiler.make_cubin_name(self.kernel.translation_unit, self.arch, root, self.macros)

    @property
    def label(self) -> str:
        macros = "".join(f" {name}={value}" for name, value in self.macros.items())
        return f"{self.kernel.place} {self.arch}{macros}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Compile what the arguments ask for; gives the exit status."""
    options = parser().parse_args(arguments)
    if unknown := set(options.complete) - set(options.arch):
        print(f"--complete: {', '.join(sorted(unknown))} is not in --arch", file=sys.stderr)
        return 2
    root: Path = options.kernels or kernels_folder()
    if not compiler.describe_compiler():
        print(f"there is no compiler: {compiler.GET_COMPILER}", file=sys.stderr)
        return 2
    try:
        work = jobs(root, options.arch, options.complete, not options.production)
    except RaytracerError as error:
        print(error, file=sys.stderr)
        return 1
    if not work:
        print(f"{root} holds no kernel for {', '.join(options.arch)}", file=sys.stderr)
        return 1
    file: Path | None = options.record
    today = _digests(work, root)
    before = _recorded(file, options.arch)
    unchanged = {place for place, key in today.items() if before.get(place) == key}
    if unchanged:
        alone = f"{options.arch[0]} alone: {len(unchanged)} of {len(today)} sources"
        print(f"unchanged since they were compiled, for {alone}", flush=True)
    first = options.arch[0]
    work = [job for job in work if job.arch == first or job.kernel.place not in unchanged]
    failed = list[str]()
    with ThreadPoolExecutor(AT_ONCE) as pool:
        results = [pool.submit(run, job, root, options.output) for job in work]
        for job, result in zip(work, results, strict=True):
            try:
                print(f"{job.label}: {result.result()}", flush=True)
            except (RaytracerError, OSError) as error:
                failed.append(job.kernel.place)
                print(f"{job.label}: {error}", file=sys.stderr, flush=True)
    print(f"{len(work) - len(failed)} of {len(work)} kernels compiled")
    if file:
        sources = {place: key for place, key in today.items() if place not in failed}
        file.write_text(json.dumps({"arch": options.arch, "sources": sources}, indent=1) + "\n")
    return 1 if failed else 0


def _digests(work: Sequence[Job], root: Path) -> dict[str, str]:
    """Return the digest of each source: of all that it includes, and of the macros of its jobs."""
    names: dict[str, list[str]] = {}
    for job in work:
        names.setdefault(job.kernel.place, []).append(job.name(root).split(".")[2])
    return {place: compute_digest({}, *sorted(each)) for place, each in sorted(names.items())}


def _recorded(file: Path | None, architectures: Sequence[str]) -> dict[str, str]:
    """Return the digests of sources that were compiled for these architectures."""
    if not file or not file.is_file():
        return {}
    record = json.loads(file.read_text())
    same = record["arch"] == list(architectures)
    return dict(record.get("sources", {})) if same else {}


def jobs(
    root: Path, architectures: Sequence[str], complete: Sequence[str] = (), bench: bool = True
) -> list[Job]:
    """Return every kernel under `root`, for the architectures that its `needs:` line admits.

    complete: architectures for which the kernels that render are compiled with all their features
    alone, which render every scene. bench: whether the kernels of the bench are among them, at the
    default sizes where sizes are macros.
    """
    made = list[Job]()
    for kernel, arch in itertools.product(read_production_kernels(root), architectures):
        has_variants = kernel.name in PRODUCTION and arch not in complete
        for missing in list_variants(kernel.name) if has_variants else [()]:
            made.append(Job(kernel, arch, make_macros_without(missing)))
        if kernel.name in OF_IMAGES:
            made.append(Job(kernel, arch, IMAGES))
    for op, arch in itertools.product(list_operations(root) if bench else (), architectures):
        known = OPERATIONS.get(op)
        for variant in discover_variants(op, root):
            usual = [
                known.macros(known.axes, each) for each in known.dtypes if variant.supports(each)
            ] if known else [{}]  # fmt: skip
            each = _tiles(op, arch) if variant.sizes else usual
            made += [Job(variant.product or variant, arch, macros) for macros in each]
    distinct = {job.label: job for job in made}.values()
    return [job for job in distinct if job.kernel.admits(job.arch)]


def _tiles(op: str, arch: str) -> list[dict[str, str]]:
    """Return the macros of a product of any size, both factors as the operation has them."""
    known, made = OPERATIONS[op], list[dict[str, str]]()
    for dtype in known.dtypes:
        problem = make_problem(known.at({}, dtype), lambda _: 0)
        made += every_compilation(problem, has_clusters(arch))
    return made


def run(job: Job, root: Path, output: Path | None) -> str:
    """Compile one kernel into the cache, and into `output` if given; tells what it takes.

    The seconds are next to none where the cache has it.
    """
    begun = time.perf_counter()
    source = job.kernel.translation_unit
    cubin = compiler.load_cubin(
        source, job.arch, root, lambda _: None, shipped=False, macros=job.macros
    )
    seconds = time.perf_counter() - begun
    if output is not None:
        cubins.write_cubin(output, job.name(root), cubin)
    kernels = [
        f"{name} {usage.registers} registers, {usage.shared} bytes shared, "
        f"{usage.spilled} bytes spilled"
        for name, usage in parse_usage_by_entry(cubin.log).items()
    ]
    return f"{', '.join(kernels) or 'no kernel'}, in {seconds:.1f} s"


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(
        prog="python -m raytracer.compile_all",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument("--production", action="store_true")
    made.add_argument("--arch", nargs="+", default=ARCHITECTURES)
    made.add_argument("--complete", nargs="+", default=(), metavar="ARCH")
    made.add_argument("-o", "--output", type=Path, metavar="FOLDER")
    made.add_argument("--record", type=Path, metavar="FILE")
    made.add_argument("--kernels", type=Path, metavar="FOLDER")
    return made


if __name__ == "__main__":
    sys.exit(main())
