"""`raytracer bench OPERATION`: its variants on a GPU, or its NumPy implementation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import cast

from raytracer.backends.cuda.check import translated
from raytracer.benchmark import record, runner, timing
from raytracer.benchmark.benchmark import Benchmark, Machine, Tell
from raytracer.benchmark.cuda.kernel import RefusedError
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.explain import explain
from raytracer.benchmark.operations.base import Axes, Op, relative_error
from raytracer.benchmark.options import BenchOptions, kernels_of, select
from raytracer.benchmark.record import Result, Row, WorkDone
from raytracer.errors import RaytracerError, UserError
from raytracer.memory import size_text
from raytracer.resources import available_memory

MAX_BYTES, MAX_FLOP = 256 << 20, 2e9  # of the default sizes on a CPU
SUSTAINED_SECONDS = 2.0  # minimum device time, long enough to reach the power limit


class OperationBenchmark(Benchmark):
    """Variants of an operation, checked against its reference and timed beside libraries."""

    by_default = True
    takes_kernels = True

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
                        runner.measure(session, plan, kernels, tell, outcome)
                except RaytracerError as error:  # memory is insufficient, for instance
                    outcome["failed"] = str(error)
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

    def _on_host(self, options: BenchOptions, tell: Tell) -> list[Result]:
        op, dtype, results = self.op, options.dtype_of(self.op), []
        for axes in options.points(op):
            if not (options.sizes or options.axes):
                axes = reduced(op, axes, dtype)
            need, free = 2 * op.work(axes, dtype).bytes, available_memory()
            if free is not None and need > free:
                sizes = " ".join(f"{name}={size}" for name, size in axes.items())
                raise UserError(
                    f"{op.name} at {sizes} needs about {size_text(need)} of memory and "
                    f"{size_text(free)} are free: give smaller sizes with --axis"
                )
            tell(f"timing {op.name} on the CPU")
            results.append(self._result(axes, options))
            row = _numpy_row(op, axes, dtype, options)
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
        made["work"] = cast(WorkDone, asdict(self.op.work(axes, dtype)))
        return made


def reduced(op: Op, axes: Axes, dtype: str) -> dict[str, int]:
    """Halve the largest axes until bytes and FLOP of a call are below the limits."""
    axes = dict(axes)
    while True:
        work, largest = op.work(axes, dtype), max(axes.values())
        if (work.bytes <= MAX_BYTES and work.flop <= MAX_FLOP) or largest < 2:
            return axes
        axes = {name: size // 2 if size == largest else size for name, size in axes.items()}


def _numpy_row(op: Op, axes: Axes, dtype: str, options: BenchOptions) -> Row:
    """Check and time the NumPy implementation."""
    label, title = "numpy", "NumPy on the CPU"
    arrays = op.values(axes, dtype, options.distribution, seed=1)
    outputs = op.compute(arrays)
    for name, expected in op.reference(arrays).items():
        error = relative_error(outputs[name], expected)
        if not error <= op.tolerance(axes, dtype):
            return record.row(label, title, "cpu", "wrong", f"{name} is off by {error:.2g}")
    samples = timing.clocked(lambda: op.compute(arrays), options.min_time)
    return timing.row(label, samples, title, "cpu")
