"""`raytracer bench OPERATION`: its variants on a GPU, or its NumPy implementation."""

from __future__ import annotations

from collections.abc import Iterator

from raytracer.backends.cuda.check import translated
from raytracer.benchmark import host, ncu, record, runner
from raytracer.benchmark.benchmark import Benchmark, Machine, Tell
from raytracer.benchmark.cuda.kernel import RefusedError
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.explain import explain
from raytracer.benchmark.operations.base import Axes, Op
from raytracer.benchmark.options import BenchOptions, kernels_of, select
from raytracer.benchmark.record import Result
from raytracer.errors import RaytracerError, UserError
from raytracer.variants import Variant

SUSTAINED_SECONDS = 2.0  # minimum device time, long enough to reach the power limit


class OperationBenchmark(Benchmark):
    """Variants of an operation, checked against its reference and timed beside libraries."""

    by_default = True
    takes_kernels = True
    is_counted = True

    def __init__(self, op: Op) -> None:
        """Create the benchmark of an operation."""
        self.op, self.name = op, op.name

    def listing(self) -> Iterator[str]:
        """Yield axes, types, inputs and variants."""
        op = self.op
        axes = ", ".join(f"{axis} {size}" for axis, size in op.axes.items())
        yield f"{op.name}: {op.summary}"
        yield f"  axes {axes}; {', '.join(op.dtypes)}; input {', '.join(op.distributions)}"
        for variant in select(op, ()):
            needs = ", ".join(map(str, variant.needs))
            yield f"  {variant.label:<28} {needs:<10} {variant.title}"

    def check(self, options: BenchOptions) -> None:
        """Validate type, input, sizes and variants."""
        options.dtype_of(self.op)
        if options.distribution not in self.op.distributions:
            raise UserError(f"{self.name} takes the inputs {', '.join(self.op.distributions)}")
        options.points(self.op)
        select(self.op, options.variant)

    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        """Return a result for each combination of sizes."""
        if machine.backend == "cpu":
            return self._on_host(options, tell)
        results = []
        with machine.session(tell) as session, kernels_of(self.op, options) as kernels:
            for axes in options.points(self.op):
                plan, outcome = self._plan(axes, options), self._result(axes, options)
                outcome["input"] = plan.distribution
                results.append(outcome)
                try:
                    with translated(session.driver):
                        self.measure(session, plan, kernels, tell, outcome)
                except RaytracerError as error:  # memory is insufficient, for instance
                    outcome["failed"] = str(error)
                if options.ncu and self.is_counted:
                    tell(f"counting {self.name} with Nsight Compute")
                    _count(outcome, plan, options, kernels)
        return results

    def explain(self, options: BenchOptions, arch: str) -> str:
        """Describe idea and resources of each variant."""
        axes = options.points(self.op)[0]
        return explain(
            self.op, axes, options.dtype_of(self.op), select(self.op, options.variant), arch
        )

    def profile(self, options: BenchOptions) -> list[str]:
        """Launch each selected variant once between profiler marks; return their labels."""
        labels = []
        with Session() as session, kernels_of(self.op, options) as kernels:
            plan = self._plan(options.points(self.op)[0], options)
            arrays = plan.values()
            with runner.loaded(session, plan, arrays) as memory, translated(session.driver):
                for variant in kernels:
                    try:
                        kernel = runner.load(session, plan, variant)
                        launch = runner.launcher(session, plan, kernel, memory, arrays)
                    except RefusedError:
                        continue
                    launch()
                    session.wait()
                    session.profiled(launch)
                    labels.append(variant.label)
        return labels

    def measure(
        self,
        session: Session,
        plan: runner.Plan,
        kernels: list[Variant],
        tell: Tell,
        into: Result,
    ) -> None:
        """Check and time kernels at one size."""
        runner.measure(session, plan, kernels, tell, into)

    def _on_host(self, options: BenchOptions, tell: Tell) -> list[Result]:
        op, dtype, results = self.op, options.dtype_of(self.op), []
        for axes in options.points(op):
            if not (options.sizes or options.axes):
                axes = host.reduced(op, axes, dtype)
            host.require_memory(op, axes, dtype)
            tell(f"timing {op.name} on the CPU")
            results.append(self._result(axes, options))
            row = host.row(op, axes, dtype, options.distribution, options.min_time)
            results[-1]["rows"], results[-1]["mode"] = [row], "NumPy"
        return results

    def _plan(self, axes: Axes, options: BenchOptions) -> runner.Plan:
        sustained = options.mode == "sustained"
        known = options.distribution in self.op.distributions
        return runner.Plan(
            self.op,
            dict(axes),
            options.dtype_of(self.op),
            options.distribution if known else "normal",
            options.mode,
            max(options.min_time, SUSTAINED_SECONDS if sustained else 0.0),
            options.peers,
            timed=True,
        )

    def _result(self, axes: Axes, options: BenchOptions) -> Result:
        """Return the result at one size, without rows."""
        dtype = options.dtype_of(self.op)
        made = record.result(self.name, axes, [], options.mode, options.distribution)
        made["dtype"], made["note"] = dtype, self.op.note
        work = self.op.work(axes, dtype)
        made["work"] = {
            "flop": work.flop,
            "bytes_read": work.bytes_read,
            "bytes_written": work.bytes_written,
        }
        return made


def _count(
    result: Result, plan: runner.Plan, options: BenchOptions, kernels: list[Variant]
) -> None:
    """Add the counters of Nsight Compute to the timed rows."""
    labels = {row["label"] for row in result["rows"] if row["status"] == "ok"}
    timed = [variant for variant in kernels if variant.label in labels]
    arguments = ["--dtype", plan.dtype, "--input", plan.distribution]
    arguments += [word for n, size in plan.axes.items() for word in ("--axis", f"{n}={size}")]
    arguments += [word for v in timed if v.folder is None for word in ("--variant", v.label)]
    if options.user_kernel:
        arguments += ["--with", str(options.user_kernel)]
    if timed:
        steps = {variant.label: len(variant.entries) for variant in timed}
        ncu.add(result, steps, ncu.profile(plan.op.name, arguments))
