"""Records have a digest of each source that was measured, which changes with what it includes."""

from pathlib import Path

import pytest

import raytracer
from raytracer.benchmark import run, sources
from raytracer.benchmark.benchmark import BenchOptions
from raytracer.benchmark.operations import OPERATIONS
from raytracer.system.resources import kernels_folder


@pytest.mark.parametrize(("backend", "part"), sources.RENDERER)
def test_parts_of_the_renderer_have_sources(backend: str, part: str) -> None:
    found = sources.digests(sources.list_sources(backend, part))
    assert found
    assert all((kernels_folder().parent / name).is_file() for name in found)


def test_a_digest_covers_what_is_included_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "kernels_folder", lambda: tmp_path)
    kernel, header, other = (tmp_path / name for name in ("a.cu", "a.h", "b.h"))
    kernel.write_text('#include "a.h"\n')
    header.write_text("int a;\n")
    before = sources.digests([kernel, kernel])
    other.write_text("int b;\n")
    assert sources.digests([kernel]) == before
    header.write_text("int c;\n")
    assert sources.digests([kernel]) != before
    assert [*before] == ["kernels/a.cu"]


@pytest.mark.parametrize("name", [*OPERATIONS, "render", "tone", "build", "live"])
def test_every_benchmark_names_its_sources(name: str) -> None:
    found = run.find(name)
    backends = ("cuda",) if name in OPERATIONS else ("cuda", "cpu")
    for backend in backends:
        names = sources.digests(found.sources(backend, BenchOptions()))
        assert names
        assert all(path.startswith("kernels/cpu/") for path in names) == (backend == "cpu")


def test_sources_are_those_of_the_variants_that_are_measured() -> None:
    render, matmul = run.find("render"), run.find("matmul")
    chosen = render.sources("cuda", BenchOptions(variant=("12", "01")))
    assert [path.name for path in chosen] == ["render_thread.cu", "01_linear_list.cu"]
    alone = matmul.sources("cuda", BenchOptions(variant=("15",), peers=False))
    assert [path.name for path in alone] == ["15_any_size.cu"]
    assert "peers" in str(matmul.sources("cuda", BenchOptions(variant=("15",)))[-1])


def test_a_record_has_them() -> None:
    record = raytracer.bench("tone", backend="cpu", axes={"width": 8, "height": 8}, min_time=1e-6)
    measured = sources.digests(sources.list_sources("cpu", "tone"))
    assert [result["kernels"] for result in record["results"]] == [measured] * 3
