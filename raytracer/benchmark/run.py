"""`raytracer.bench`: checks and times operations, on a GPU or by NumPy; gives a record."""

from __future__ import annotations

import platform
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

from raytracer._version import __version__
from raytracer.arguments import function, is_a, items, mapping, plain, real, text, truth, whole
from raytracer.backends.cuda.compile import find_nvcc, nvcc_version
from raytracer.backends.cuda.probe import why_not
from raytracer.benchmark import host
from raytracer.benchmark.axes import points
from raytracer.benchmark.choice import Choice, dtype_of, operations_of
from raytracer.benchmark.digests import kernel_digest
from raytracer.benchmark.operations.base import Op
from raytracer.benchmark.record import FORMAT, Device, Record, Result
from raytracer.benchmark.results import result
from raytracer.door import path_of
from raytracer.errors import BackendError, UserError, suggestion

CPU_BYTES, CPU_FLOP = 256 << 20, 2e9  # sizes that a CPU is asked for by default

Tell = Callable[[str], None]


def bench(
    *names: str,
    variant: str | Sequence[str] = (),
    axes: Mapping[str, int | Sequence[int]] | None = None,
    size: int | Sequence[int] = (),
    dtype: str | None = None,
    backend: str = "auto",
    input: str = "normal",  # noqa: A002 - the name of the option
    mode: str = "cold",
    min_time: float = 0.5,
    peers: bool = True,
    with_file: str | Path | None = None,
    ncu: bool = False,
    scene: str | Sequence[str] = (),
    progress: Tell | None = None,
) -> Record:
    """Time operations: each variant is checked against a reference first, wrong ones not timed.

    Args:
        *names: of operations; all by default; "render" for the example scenes,
            "tone" for a film's statistics and picture, "preview" for the window.
        variant: labels, names or numbers of variants; all by default.
        axes: sizes by name, each a number or several.
        size: sizes of the largest axes.
        dtype: one of the operation's; its first by default.
        backend: "auto" (the GPU where there is one, else NumPy), "cuda" or "cpu".
        input: "normal", "uniform", "constant", "sorted" or "zeros"; it changes the figures.
        mode: "cold" (L2 emptied before each launch), "hot" or "sustained" (back to back).
        min_time: seconds of measuring for each row.
        peers: whether libraries are measured beside ours.
        with_file: a .cu file of yours to check and rank among the variants of one operation.
        ncu: add Nsight Compute's counters of each kernel, from a second process.
        scene: example scenes for "render"; all by default.
        progress: called with a line before each step.

    Returns:
        The record, as JSON types: device, versions, and results with their rows, in the form that
        `raytracer bench --schema` prints.

    Raises:
        UserError: it cannot be run.
    """
    given = mapping({} if axes is None else axes, "axes", UserError)
    choice = Choice(
        variant=_texts(variant, "variant"),
        axes={name: _several(value, f"axes[{name!r}]") for name, value in given.items()},
        sizes=tuple(_several(size, "size")),
        dtype=None if dtype is None else text(dtype, "dtype", UserError),
        distribution=text(input, "input", UserError),
        mode=text(mode, "mode", UserError),
        min_time=real(min_time, "min_time", error=UserError),
        peers=truth(peers, "peers", UserError),
        mine=None if with_file is None else path_of(with_file, "with_file"),
        ncu=truth(ncu, "ncu", UserError),
        scenes=_texts(scene, "scene"),
    )
    names = _texts(names, "names")
    text(backend, "backend", UserError)
    function(progress, "progress")
    chosen = operations_of(names, choice)
    on = _backend(backend)
    if ncu:
        _require_ncu(on)
    results: list[Result] = []
    device: Device = {}
    if "render" in names:
        results += _render(on, choice, progress or _quiet)
        device = results[0]["device"]
    if "tone" in names:
        device, found = _tone(on, choice, progress or _quiet)
        results += found
    if "preview" in names:
        from raytracer.benchmark import previews

        device, found = previews.results(on, tell=progress or _quiet)
        results += found
    if chosen and on == "cuda":
        from raytracer.benchmark import session

        device, found = session.run(chosen, choice, progress or _quiet)
        results += found
    elif chosen:
        results += _on_host(chosen, choice, progress or _quiet)
    return _record(on, device, results)


def _backend(asked: str) -> Literal["cpu", "cuda"]:
    if asked not in ("auto", "cpu", "cuda"):
        raise UserError(f"backend {asked!r}; {suggestion(asked, ('auto', 'cpu', 'cuda'))}")
    if asked == "cpu":
        return "cpu"
    reason = why_not()
    if reason and asked == "cuda":
        raise BackendError(f"the cuda backend cannot run here: {reason}")
    return "cpu" if reason else "cuda"


def _require_ncu(on: str) -> None:
    from raytracer.benchmark import ncu

    if on == "cpu":
        raise BackendError(f"--ncu needs a GPU: {why_not() or 'leave out --backend cpu'}")
    ncu.find()


def _on_host(chosen: list[Op], choice: Choice, tell: Tell) -> list[Result]:
    if choice.mine is not None:
        raise BackendError(f"--with needs a GPU: {why_not() or 'leave out --backend cpu'}")
    made = []
    for op in chosen:
        dtype = dtype_of(op, choice)
        for axes in points(op, list(choice.sizes), dict(choice.axes or {})):
            if not choice.sizes and not choice.axes:
                axes = host.reduced(op, axes, dtype, CPU_BYTES, CPU_FLOP)
            host.fitting(op, axes, dtype)
            tell(f"timing {op.name} on the CPU")
            seed = 1
            row = host.row(op, axes, dtype, choice.distribution, choice.min_time, seed)
            made.append(result(op, axes, dtype, choice, [row]) | {"mode": "NumPy"})
    return made


def _render(backend: str, choice: Choice, tell: Tell) -> list[Result]:
    """The example scenes, the smallest first."""
    from raytracer.benchmark import renders

    size = renders.picture_size(dict(choice.axes or {}))
    made = [
        renders.result(name, backend, choice.min_time, size, variant=choice.variant, tell=tell)
        for name in renders.chosen(choice.scenes)
    ]
    if choice.ncu:
        for each in made:
            tell(f"counting render {each['input']} with Nsight Compute")
            _count_render(each)
    made.sort(key=lambda each: int(each["axes"]["spheres"]))
    for each in made[:-1]:
        each["note"] = ""  # once is enough
    return made


def _count_render(result: Result) -> None:
    """Add Nsight Compute's counters to the rungs that were timed."""
    from raytracer.benchmark import ncu

    ran = [r["label"] for r in result["rows"] if r["kind"] == "variant" and r["status"] == "ok"]
    options = ["--scene", result["input"]]
    options += [word for name in ("width", "height") for word in _axis(name, result["axes"])]
    options += [word for label in ran for word in ("--variant", label)]
    if ran:
        ncu.add(result, dict.fromkeys(ran, 1), ncu.profile("render", options))


def _axis(name: str, axes: Mapping[str, Any]) -> tuple[str, str]:
    return "--axis", f"{name}={axes[name]}"


def _tone(backend: str, choice: Choice, tell: Tell) -> tuple[Device, list[Result]]:
    from raytracer.benchmark import tones

    tell("developing a 4K film")
    if backend == "cuda":
        return tones.on_device(choice.min_time, choice.peers)
    return {}, tones.on_host(choice.min_time)


def _record(on: Literal["cpu", "cuda"], device: Device, results: list[Result]) -> Record:
    import numpy

    from raytracer.benchmark.measure import load_average

    nvcc = find_nvcc()
    return {
        "format": FORMAT,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": "",
        "backend": on,
        "device": device or {"device": platform.processor() or platform.machine()},
        "why_no_gpu": (why_not() or "") if on == "cpu" else "",
        "compiler": nvcc_version(nvcc).splitlines()[-1] if nvcc else "none",
        "kernel_digest": kernel_digest(),
        "load_average": load_average(),
        "versions": {
            "raytracer": __version__,
            "python": platform.python_version(),
            "numpy": numpy.__version__,
        },
        "results": results,
    }


def _several(value: int | Sequence[int], name: str) -> list[int]:
    """One size or several as a list."""
    several = [value] if is_a(value, (int, float)) else items(value, name, UserError)
    plainly = [plain(v) for v in several]
    numbers = [int(v) if is_a(v, float) and v.is_integer() else v for v in plainly]
    return [whole(number, name, error=UserError) for number in numbers]


def _texts(value: str | Sequence[str], name: str) -> tuple[str, ...]:
    """One text or several as a tuple."""
    if is_a(value, str):
        return (text(value, name, UserError),)
    return tuple(text(each, name, UserError) for each in items(value, name, UserError))


def _quiet(_: str) -> None:
    """Nobody asked."""
