"""`raytracer bench OPERATION`: its variants on a GPU."""

from collections.abc import Iterator
from contextlib import suppress

from raytracer.backends.cuda.probe import why_not
from raytracer.benchmark import record, runner
from raytracer.benchmark.benchmark import Benchmark, kernel_lines
from raytracer.benchmark.cuda.timing import RefusedError, Session
from raytracer.benchmark.operations.base import Axes, Op
from raytracer.benchmark.options import BenchOptions, Tell, kernels_of, select
from raytracer.benchmark.record import Result
from raytracer.errors import BackendError, RaytracerError, UserError


class OperationBenchmark(Benchmark):
    """Variants of an operation, checked against its reference and timed beside libraries."""

    default_on = "cuda"
    takes = ("variant", "axes", "sizes", "dtype", "user_kernel")

    def __init__(self, op: Op) -> None:
        self.op, self.name = op, op.name

    def listing(self, ideas: bool) -> Iterator[str]:
        op = self.op
        axes = ", ".join(f"{axis} {size}" for axis, size in op.axes.items())
        yield f"{op.name}: {op.summary}"
        yield f"  axes {axes}; {', '.join(op.dtypes)}; input {', '.join(op.distributions)}"
        yield from [f"  {op.note}"] if ideas and op.note else ()
        yield from kernel_lines(select(op, ()), ideas)

    def check(self, options: BenchOptions) -> None:
        options.dtype_of(self.op)
        if options.distribution not in self.op.distributions:
            raise UserError(f"{self.name} takes the inputs {', '.join(self.op.distributions)}")
        options.points(self.op)
        select(self.op, options.variant)

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> list[Result]:
        if session is None:
            raise BackendError(
                f"the kernels of {self.name} need an NVIDIA GPU: "
                f"{why_not() or 'leave out --backend cpu'}; render, tone, build and live run "
                "on the CPU, too"
            )
        results = []
        with kernels_of(self.op, options) as kernels:
            for axes in options.points(self.op):
                plan = self._plan(axes, options)
                found = record.result(self.name, axes, [], options.mode, plan.distribution)
                found |= {"dtype": plan.dtype, "note": self.op.note, "work": plan.work}
                results.append(found)
                try:
                    runner.measure(session, plan, kernels, options, tell, found)
                except RaytracerError as error:  # memory is insufficient, for instance
                    found["failed"] = str(error)
        return results

    def profile(self, options: BenchOptions) -> list[str]:
        labels = []
        plan = self._plan(options.points(self.op)[0], options)
        with (
            Session() as session,
            kernels_of(self.op, options) as kernels,
            runner.loaded(session, plan, plan.values()) as memory,
        ):
            for variant in kernels:
                with suppress(RefusedError):
                    launch, _ = runner.launcher(session, plan, variant, memory)
                    session.profiled(launch)
                    labels.append(variant.label)
        return labels

    def _plan(self, axes: Axes, options: BenchOptions) -> runner.Plan:
        known = options.distribution in self.op.distributions  # if all operations run, not of each
        distribution = options.distribution if known else "normal"
        return runner.Plan(self.op, dict(axes), options.dtype_of(self.op), distribution)
