"""`raytracer bench OPERATION`: the ladder of an operation on a GPU, or its form in NumPy."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from raytracer.benchmark import gpu, host, ncu
from raytracer.benchmark.axes import points
from raytracer.benchmark.benchmark import Machine, Tell
from raytracer.benchmark.choice import Choice, dtype_of, select, sources, temporary_folder
from raytracer.benchmark.explain import explain
from raytracer.benchmark.operations.base import Op
from raytracer.benchmark.presentation import OperationPresentation
from raytracer.benchmark.record import Result
from raytracer.benchmark.results import result
from raytracer.errors import RaytracerError, UserError

if TYPE_CHECKING:
    from raytracer.benchmark.cuda.session import Session

SUSTAINED_SECONDS = 2.0  # of device time at least, long enough for the power limit to bite
CPU_BYTES, CPU_FLOP = 256 << 20, 2e9  # sizes that a CPU is asked for by default


class OperationBenchmark:
    """An operation's variants, checked against its reference and timed beside its peers."""

    by_default = True
    takes_kernels = True
    is_counted = True
    presentation = OperationPresentation()

    def __init__(self, op: Op) -> None:
        """The benchmark of an operation."""
        self.op, self.name = op, op.name

    def listing(self) -> Iterator[str]:
        """Axes, types, inputs and variants."""
        op = self.op
        axes = ", ".join(f"{axis} {size}" for axis, size in op.axes.items())
        yield f"{op.name}: {op.summary}"
        yield f"  axes {axes}; {', '.join(op.dtypes)}; input {', '.join(op.distributions)}"
        for variant in select(op, ()):
            needs = ", ".join(map(str, variant.needs))
            yield f"  {variant.label:<28} {needs:<10} {variant.title}"

    def check(self, choice: Choice) -> None:
        """Type, input, sizes and variants must exist."""
        dtype_of(self.op, choice)
        if choice.distribution not in self.op.distributions:
            raise UserError(f"{self.name} takes the inputs {', '.join(self.op.distributions)}")
        points(self.op, list(choice.sizes), dict(choice.axes or {}))
        select(self.op, choice.variant)

    def run(self, machine: Machine, choice: Choice, tell: Tell) -> list[Result]:
        """A result for each combination of sizes."""
        if machine.backend == "cpu":
            return self._on_host(choice, tell)
        made = []
        with machine.session(tell) as session, temporary_folder() as name:
            found = sources(self.op, choice, Path(name))
            dtype = dtype_of(self.op, choice)
            for axes in points(self.op, list(choice.sizes), dict(choice.axes or {})):
                plan = _plan(self.op, axes, dtype, choice)
                made.append(self._one(session, plan, choice, found, tell))
                if choice.ncu and self.is_counted:
                    tell(f"counting {self.name} with Nsight Compute")
                    _count(made[-1], plan, choice, found)
        return made

    def explain(self, choice: Choice, arch: str) -> str:
        """Each rung's idea, and what it takes of the GPU."""
        axes = points(self.op, list(choice.sizes), dict(choice.axes or {}))[0]
        return explain(
            self.op, axes, dtype_of(self.op, choice), select(self.op, choice.variant), arch
        )

    def profile(self, choice: Choice) -> list[str]:
        """Launch each chosen variant once between profiler marks; the labels of those that ran."""
        from raytracer.backends.cuda.context import translated
        from raytracer.benchmark.cuda.kernel import Kernel, RefusedError
        from raytracer.benchmark.cuda.session import Session

        op, dtype, ran = self.op, dtype_of(self.op, choice), []
        with Session() as session, temporary_folder() as name:
            axes = points(op, list(choice.sizes), dict(choice.axes or {}))[0]
            plan = _plan(op, axes, dtype, choice)
            arrays = op.inputs(axes, dtype, choice.distribution, plan.seed)
            with gpu.loaded(session, plan, arrays) as (memory, _), translated(session.driver):
                for source in sources(op, choice, Path(name)):
                    macros = op.macros(axes, dtype)
                    try:
                        kernel = Kernel(
                            session, source.variant, macros, source.root, shipped=not source.mine
                        )
                        launch = gpu.launcher(session, plan, kernel, memory, arrays)
                    except RefusedError:
                        continue
                    launch()
                    session.wait()
                    session.profiled(launch)
                    ran.append(source.variant.label)
        return ran

    def contest(
        self, session: Session, plan: gpu.Plan, found: list[gpu.Source], tell: Tell
    ) -> gpu.Contest:
        """The rows of one size."""
        return gpu.contest(session, plan, found, tell)

    def _one(
        self,
        session: Session,
        plan: gpu.Plan,
        choice: Choice,
        found: list[gpu.Source],
        tell: Tell,
    ) -> Result:
        """One size; memory that does not suffice ends it alone."""
        from raytracer.backends.cuda.context import translated

        done = result(plan.op, plan.axes, plan.dtype, choice, [])
        done["input"] = plan.distribution
        try:
            with translated(session.driver):
                made = self.contest(session, plan, found, tell)
        except RaytracerError as error:
            done["failed"] = str(error)
            return done
        done["rows"] = made.rows
        if made.memory_used is not None:
            done["memory_used"] = made.memory_used
        if made.clock is not None:
            done["clock"] = made.clock
        return done

    def _on_host(self, choice: Choice, tell: Tell) -> list[Result]:
        op, dtype, made = self.op, dtype_of(self.op, choice), []
        for axes in points(op, list(choice.sizes), dict(choice.axes or {})):
            if not choice.sizes and not choice.axes:
                axes = host.reduced(op, axes, dtype, CPU_BYTES, CPU_FLOP)
            host.fitting(op, axes, dtype)
            tell(f"timing {op.name} on the CPU")
            row = host.row(op, axes, dtype, choice.distribution, choice.min_time, seed=1)
            made.append(result(op, axes, dtype, choice, [row]))
            made[-1]["mode"] = "NumPy"
        return made


def _count(result: Result, plan: gpu.Plan, choice: Choice, found: list[gpu.Source]) -> None:
    """Add the counters of Nsight Compute to the rows that were timed."""
    right = {row["label"] for row in result["rows"] if row["status"] == "ok"}
    ran = [source for source in found if source.variant.label in right]
    options = ["--dtype", plan.dtype, "--input", plan.distribution]
    options += [word for n, size in plan.axes.items() for word in ("--axis", f"{n}={size}")]
    options += [word for s in ran if not s.mine for word in ("--variant", s.variant.label)]
    if choice.mine:
        options += ["--with", str(choice.mine)]
    if ran:
        steps = {source.variant.label: len(source.variant.entries) for source in ran}
        ncu.add(result, steps, ncu.profile(plan.op.name, options))


def _plan(op: Op, axes: dict[str, int], dtype: str, choice: Choice) -> gpu.Plan:
    least = SUSTAINED_SECONDS if choice.mode == "sustained" else 0.0
    return gpu.Plan(
        op,
        axes,
        dtype,
        choice.distribution if choice.distribution in op.distributions else "normal",
        choice.mode,
        max(choice.min_time, least),
        choice.peers,
    )
