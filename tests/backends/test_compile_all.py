"""`python -m raytracer.compile_all --record`: what was compiled before is compiled once."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from raytracer import compile_all
from raytracer.config.errors import BackendError

ARCHITECTURES = ("sm_80", "sm_90a", "sm_120")


@pytest.fixture
def compiled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What is compiled, file and architecture; a file with #error does not compile."""
    done: list[tuple[str, str]] = []

    def jobs(root: Path, architectures: list[str], *_: object) -> list[compile_all.Job]:
        kernels: list[Any] = [
            SimpleNamespace(place=path.name, translation_unit=path) for path in root.glob("*.cu")
        ]
        return [compile_all.Job(each, arch, {}) for each in kernels for arch in architectures]

    def run(job: compile_all.Job, _root: Path, _output: Path | None) -> str:
        if "#error" in job.kernel.translation_unit.read_text():
            raise BackendError("does not compile")
        done.append((job.kernel.place, job.arch))
        return "compiled"

    monkeypatch.setattr("raytracer.backends.cuda.compile.describe_compiler", lambda: "nvcc 13.0.88")
    monkeypatch.setattr(compile_all, "jobs", jobs)
    monkeypatch.setattr(compile_all, "run", run)
    (tmp_path / "common.h").write_text("constexpr int one = 1;\n")
    (tmp_path / "a.cu").write_text('#include "common.h"\n')
    (tmp_path / "b.cu").write_text("\n")
    return done


def compile_for(root: Path, *architectures: str) -> int:
    words = ["--arch", *architectures, "--kernels", str(root), "--record", str(root / "done.json")]
    return compile_all.main(words)


def test_only_what_changed_is_compiled_for_all_architectures(
    tmp_path: Path, compiled: list[tuple[str, str]]
) -> None:
    all_of = {name: [(name, arch) for arch in ARCHITECTURES] for name in ("a.cu", "b.cu")}
    assert compile_for(tmp_path, *ARCHITECTURES) == 0
    assert sorted(compiled) == sorted(all_of["a.cu"] + all_of["b.cu"])

    compiled.clear()
    assert compile_for(tmp_path, *ARCHITECTURES) == 0
    assert sorted(compiled) == [("a.cu", "sm_80"), ("b.cu", "sm_80")]

    compiled.clear()
    (tmp_path / "common.h").write_text("constexpr int one = 2;\n")
    assert compile_for(tmp_path, *ARCHITECTURES) == 0
    assert sorted(compiled) == sorted([*all_of["a.cu"], ("b.cu", "sm_80")])

    compiled.clear()
    assert compile_for(tmp_path, "sm_80", "sm_75") == 0  # other architectures: a new record
    assert len(compiled) == 4


def test_what_does_not_compile_is_tried_again(
    tmp_path: Path, compiled: list[tuple[str, str]]
) -> None:
    (tmp_path / "b.cu").write_text("#error\n")
    assert compile_for(tmp_path, *ARCHITECTURES) == 1
    (tmp_path / "b.cu").write_text("// repaired\n")
    compiled.clear()
    assert compile_for(tmp_path, *ARCHITECTURES) == 0
    assert sorted(compiled) == sorted(
        [("a.cu", "sm_80"), *[("b.cu", arch) for arch in ARCHITECTURES]]
    )
