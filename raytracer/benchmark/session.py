"""A whole run of the bench on one GPU."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import cast

from raytracer.backends.cuda.context import translated
from raytracer.benchmark import ceilings, copies, gpu, ncu
from raytracer.benchmark.axes import points
from raytracer.benchmark.choice import Choice, dtype_of, sources, temporary_folder
from raytracer.benchmark.cuda.kernel import Kernel, RefusedError
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.datasheet import card
from raytracer.benchmark.operations.base import Op
from raytracer.benchmark.record import DataSheet, Device, Result
from raytracer.benchmark.results import result
from raytracer.errors import RaytracerError

SUSTAINED_SECONDS = 2.0  # of device time at least, long enough for the power limit to bite

Tell = Callable[[str], None]


def run(chosen: list[Op], choice: Choice, tell: Tell) -> tuple[Device, list[Result]]:
    """Run operations; gives the device with its ceilings, and the results."""
    results = []
    with Session() as session, temporary_folder() as name:
        device = session.describe()
        tell("measuring the ceilings of this card")
        with translated(session.driver):
            device["ceilings"] = ceilings.measure(session)
        if known := card(str(device["device"])):
            device["data_sheet"] = cast(DataSheet, asdict(known))
        for op in chosen:
            dtype = dtype_of(op, choice)
            found = sources(op, choice, Path(name))
            for axes in points(op, list(choice.sizes), dict(choice.axes or {})):
                plan = _plan(op, axes, dtype, choice)
                results.append(_one(session, plan, choice, found, tell))
                if choice.ncu:
                    tell(f"counting {op.name} with Nsight Compute")
                    _count(results[-1], plan, choice, found)
    return device, results


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


def profile(op: Op, choice: Choice) -> list[str]:
    """Launch each chosen variant once between profiler marks; the labels of those that ran."""
    ran = []
    with Session() as session, temporary_folder() as name:
        dtype = dtype_of(op, choice)
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


def _one(
    session: Session, plan: gpu.Plan, choice: Choice, found: list[gpu.Source], tell: Tell
) -> Result:
    """One operation at one size; memory that does not suffice ends it alone."""
    done = result(plan.op, plan.axes, plan.dtype, choice, [])
    done["input"] = plan.distribution
    try:
        with translated(session.driver):
            if plan.op.name == "copy":
                tell("timing copies")
                done["rows"] = copies.rows(session, plan)
            else:
                made = gpu.contest(session, plan, found, tell)
                done["rows"], done["memory_used"] = made.rows, made.memory_used
                done["clock"] = made.clock
    except RaytracerError as error:
        done["failed"] = str(error)
    return done
