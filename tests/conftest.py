"""Fixtures that every test file shares: backends, settings of hypothesis, picture comparison."""

import gc
import json
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from support.chromium import browser
from support.display import drawing_missing, missing
from support.pictures import Bench
from support.probe import TARGETS, Probe, cpu
from support.probe import cuda as cuda_probe

_COMMON: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
# The same examples on every machine; HYPOTHESIS_PROFILE=explore looks for new ones.
settings.register_profile("ci", max_examples=25, derandomize=True, **_COMMON)
settings.register_profile("explore", max_examples=500, **_COMMON)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--record FILE` keeps the result of a run on a GPU beside the digest of the kernels,
    `--list-skipped FILE` what an environment with more packages has to run."""
    parser.addoption("--record", type=Path, help="write outcomes, device and kernel digest as JSON")
    parser.addoption(
        "--list-skipped",
        type=Path,
        help="write the tests skipped for want of a package, one a line",
    )


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark tests that ask for a display, before they are selected by their marks."""
    for item in items:
        if "xvfb" in getattr(item, "fixturenames", ()):
            item.add_marker("window")


def pytest_collection_finish() -> None:
    """Leave all that lives as long as the tests out of garbage collections, which some ask for."""
    gc.collect()
    gc.freeze()


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
) -> None:
    """Say why tests were skipped, a line a reason, and write the files of the options."""
    skipped = Counter(_reason(report) for report in terminalreporter.stats.get("skipped", ()))
    for reason, count in skipped.most_common():
        terminalreporter.write_line(f"{count} tests skipped: {reason}")
    # with xdist each process has a summary: that of the first has the results of all
    if hasattr(config, "workerinput"):
        return
    if path := config.getoption("--record"):
        write_record(path, terminalreporter.stats, int(exitstatus))
    if path := config.getoption("--list-skipped"):
        names = {
            report.nodeid
            for report in terminalreporter.stats.get("skipped", ())
            if not _reason(report).startswith((*ALLOWED_SKIPS, "cuda: ", "probe: "))
        }
        path.write_text("".join(f"{name}\n" for name in sorted(names)))


# Reasons to skip a test where all extras are installed: packages of no extra, and users.
ALLOWED_SKIPS = (
    "could not import 'jax_md'", "could not import 'newton'", "could not import 'torch'",
    "root may read everything",
)  # fmt: skip


def _fail_if_skipped(report: Any) -> None:
    """Make a failure of a skipped test where RAYTRACER_REQUIRE_PACKAGES is set, as .ci/run does
    with all extras."""
    if os.environ.get("RAYTRACER_REQUIRE_PACKAGES") and report.outcome == "skipped":
        reason = _reason(report)
        if not hasattr(report, "wasxfail") and not reason.startswith(ALLOWED_SKIPS):
            report.outcome = "failed"
            report.longrepr = f"skipped where all extras are installed: {reason}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    report = yield
    _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    report = yield
    _fail_if_skipped(report)
    return report


def _reason(report: Any) -> str:
    """Why a test was skipped."""
    text = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
    return str(text).removeprefix("Skipped: ")


def backend_missing(name: str) -> str:
    """Why a backend cannot be used here; empty when it can."""
    import raytracer

    for device in raytracer.devices():
        if device["backend"] == name:
            return "" if device["available"] else str(device["reason"])
    return f"the backend {name} is not known"


@pytest.fixture(params=["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def backend(request: pytest.FixtureRequest) -> str:
    """The name of each backend in turn; one that is missing is skipped with the reason."""
    name = str(request.param)
    reason = backend_missing(name) if name != "cpu" else ""
    if reason:
        pytest.skip(f"{name}: {reason}")
    return name


@pytest.fixture
def cuda() -> str:
    """The CUDA backend's name; skips with the reason where it is missing (mark the test `gpu`)."""
    if reason := backend_missing("cuda"):
        pytest.skip(f"cuda: {reason}")
    return "cuda"


@pytest.fixture(params=["nvcc", "NVRTC"])
def cuda_compiler(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Each compiler of kernels in turn; one that is missing is skipped."""
    from raytracer.backends.cuda import compile as compiling

    if request.param == "NVRTC":
        monkeypatch.setenv("RAYTRACER_NVCC", "none")
    if not compiling.describe_compiler().startswith(request.param):
        pytest.skip(f"{request.param} is missing")
    return str(request.param)


@pytest.fixture
def no_compiler(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hide both compilers of kernels."""
    from raytracer.backends.cuda import nvrtc

    monkeypatch.setenv("RAYTRACER_NVCC", "none")
    monkeypatch.setattr(nvrtc, "read_release", lambda: "")


@pytest.fixture(scope="session")
def libraries(pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what tests compile for the CPU, kept from one run to the next."""
    kept = getattr(pytestconfig, "cache", None)  # missing with -p no:cacheprovider
    return Path(kept.mkdir("libraries")) if kept else tmp_path_factory.mktemp("libraries")


@pytest.fixture(scope="session")
def probes(libraries: Path) -> Callable[[str], Probe]:
    """Device functions on a target by its name, compiled once; skips where there is none."""
    from raytracer import _core

    made: dict[str, Probe] = {}

    def probe_of(target: str) -> Probe:
        if target not in made:
            if target == "cuda":
                if reason := backend_missing("cuda"):
                    pytest.skip(f"cuda: {reason}")
                made[target] = cuda_probe()
            else:
                isa = target.split()[0]
                if isa not in _core.isas():
                    pytest.skip(f"probe: this CPU or build has no {isa}")
                made[target] = cpu(target, libraries)
        return made[target]

    return probe_of


def _marked(target: str) -> Any:
    """A target with its marks; an ordinary run takes the best lanes and the portable floats."""
    from raytracer import _core

    first = {_core.isas()[0], "portable scalar"}
    slow = [] if target in first else [pytest.mark.slow]
    return pytest.param(target, marks=[pytest.mark.gpu] if target == "cuda" else slow)


@pytest.fixture(params=[_marked(target) for target in TARGETS])
def probe(request: pytest.FixtureRequest, probes: Callable[[str], Probe]) -> Probe:
    """The device functions on each target in turn."""
    return probes(request.param)


@pytest.fixture
def pictures(tmp_path: Path) -> Bench:
    """Picture comparison that leaves its failures in the test's own folder."""
    return Bench(tmp_path)


@pytest.fixture
def default_isa() -> Iterator[None]:
    """Puts back the instruction set that the extension chose, whatever the test selects."""
    from raytracer import _core

    before = _core.isa()
    yield
    _core.use_isa(before)


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A headless Chromium with WebGL; skips with the reason where there is none."""
    with browser() as running:
        yield running


@pytest.fixture(scope="session")
def egl_reason() -> str:
    """Why there is no OpenGL without a display; empty when there is."""
    return drawing_missing(dict(os.environ), headless=True)


@pytest.fixture
def egl(egl_reason: str) -> None:
    """Skips where nothing can be drawn without a display."""
    missing(egl_reason)


def write_record(path: Path, stats: Mapping[str, Sequence[Any]], exit_status: int) -> None:
    """Write counts of outcomes, failures, the device and the digest of the kernels as JSON.

    stats: pytest's outcome name -> reports.
    """
    import raytracer
    from raytracer.benchmark.run import kernel_digest

    record: dict[str, Any] = {
        "what": "pytest -m gpu",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": raytracer.__version__,
        "kernel_digest": kernel_digest(),
        "devices": [d for d in raytracer.devices() if d["backend"] == "cuda"],
        "outcomes": {
            name: len(stats.get(name, ())) for name in ("passed", "failed", "error", "skipped")
        },
        "failures": [
            report.nodeid for name in ("failed", "error") for report in stats.get(name, ())
        ],
        "exit_status": exit_status,
    }
    path.write_text(json.dumps(record, indent=1, default=str) + "\n")
