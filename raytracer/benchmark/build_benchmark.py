"""`raytracer bench build`: trees over spheres, built and refitted; the ladder that leads there."""

from collections.abc import Callable, Iterator
from pathlib import Path

from raytracer.backends.base import Device
from raytracer.backends.kernel_sources import Variant, discover_variants
from raytracer.benchmark.benchmark import BenchOptions, Tell, kernel_lines, list_names, matching
from raytracer.benchmark.build_ladder import RAYS, Ladder, LoadedRung
from raytracer.benchmark.cuda.session import Enqueue, Session
from raytracer.benchmark.ray_search import draw_rays, records_of
from raytracer.benchmark.record import Result
from raytracer.benchmark.sphere_kinds import KINDS, SEED, Array, spheres
from raytracer.benchmark.tree_benchmark import STEP, Rows, SpheresBenchmark, time_builds
from raytracer.config.errors import BackendError

COUNTS = (10_000, 100_000)  # of spheres, by default
NOTE = (
    "build: from a packed scene to its tree. build refit: from new positions, at most "
    f"{STEP} radii from those before, to the tree around them. build ladder: from records in the "
    "memory of the GPU to a tree, sort included. build rays: nearest hits of "
    f"{RAYS:,} rays from around all spheres to points in and beside single ones, with the tree of "
    f"each rung. Seed {SEED}."
)


class BuildBenchmark(SpheresBenchmark):
    """Trees of the renderer, and on a GPU those of the rungs."""

    def listing(self, ideas: bool) -> Iterator[str]:
        yield from super().listing(ideas)
        yield from kernel_lines(discover_variants("build"), ideas)

    def check(self, options: BenchOptions) -> None:
        super().check(options)
        rungs(options)

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> list[Result]:
        if session is None and options.variant:
            raise BackendError("the rungs of build need an NVIDIA GPU: leave out --variant")
        return super().run(session, options, tell)

    def sources(self, backend: str, options: BenchOptions) -> list[Path]:
        ladder = rungs(options) if backend == "cuda" else []
        return super().sources(backend, options) + [each.translation_unit for each in ladder]

    def timer(
        self, session: Session | None, device: Device, options: BenchOptions, tell: Tell
    ) -> Callable[[Array, Array], Rows]:
        of_renderer = super().timer(session, device, options, tell)
        if session is None:
            return of_renderer
        ladder = Ladder(session, rungs(options), options, tell)

        def time_set(centers: Array, radii: Array) -> Rows:
            rows = {} if options.variant else of_renderer(centers, radii)
            return rows | ladder.measure(records_of(centers, radii))

        return time_set

    def launches(self, session: Session, options: BenchOptions) -> Iterator[tuple[str, Enqueue]]:
        kind, count = (options.scenes or tuple(KINDS))[0], options.counts(COUNTS)[0]
        records = records_of(*spheres(kind, count))
        for rung in rungs(options):
            tree = LoadedRung(session, rung).tree(records, draw_rays(records, 1))
            yield rung.label, tree.build
            tree.close()


def rungs(options: BenchOptions) -> list[Variant]:
    """Return the rungs that the options name, all without any; raise UserError for others."""
    return matching(discover_variants("build"), options.variant, list_names, "build")


BUILD = BuildBenchmark(
    "build",
    "trees over spheres: built and refitted, and from a Morton curve to the renderer's",
    COUNTS,
    NOTE,
    time_builds,
    ("build", "move", "refit"),
    default_on="cpu",
    takes=("sizes", "scenes", "variant"),
)
