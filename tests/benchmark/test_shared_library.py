"""Libraries made of .cu files: built once, kept, and their results right on a GPU."""

from __future__ import annotations

import os
import shutil
import stat
from pathlib import Path

import numpy as np
import pytest

from conftest import backend_missing
from raytracer.backends.cuda.compile import CompileError, find_nvcc
from raytracer.benchmark import operations as ops
from raytracer.benchmark.cuda import shared_library
from raytracer.benchmark.cuda.guarded_memory import Memory
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.peers import CUB
from raytracer.errors import BackendError

NVCC = """#!/bin/sh
[ "$1" = --version ] && { echo "release 1.0"; exit 0; }
echo run >> "$(dirname "$0")/runs"
while [ "$1" != -o ]; do shift; done
echo made > "$2"
"""


@pytest.fixture
def nvcc(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that counts its runs."""
    path = tmp_path / "nvcc"
    path.write_text(NVCC, encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("RAYTRACER_NVCC", str(path))
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path / "cache"))
    return path


def test_library_is_built_once_for_each_architecture(nvcc: Path, tmp_path: Path) -> None:
    source = tmp_path / "sum.cu"
    source.write_text("int x;", encoding="utf-8")
    first = shared_library.build(source, "sm_80")
    assert first.read_text(encoding="utf-8", errors="replace").startswith("made\n")
    assert shared_library.build(source, "sm_80") == first
    assert shared_library.build(source, "sm_90a") != first
    source.write_text("int y;", encoding="utf-8")
    assert shared_library.build(source, "sm_80") != first
    assert (nvcc.parent / "runs").read_text(encoding="utf-8").count("run") == 3


def test_a_library_that_was_changed_is_built_again(nvcc: Path, tmp_path: Path) -> None:
    source = tmp_path / "sum.cu"
    source.write_text("int x;", encoding="utf-8")
    built = shared_library.build(source, "sm_80")
    good = built.read_bytes()
    built.write_bytes(good.replace(b"made", b"evil"))
    assert shared_library.build(source, "sm_80").read_bytes() == good
    built.chmod(0o777)
    assert shared_library.build(source, "sm_80").stat().st_mode & 0o022 == 0
    assert (nvcc.parent / "runs").read_text().count("run") == 3
    assert built.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(shutil.which("g++") is None, reason="g++ is missing")
def test_the_file_in_the_cache_is_loaded_as_a_library(nvcc: Path, tmp_path: Path) -> None:
    source = tmp_path / "sum.cu"
    source.write_text('extern "C" long long scratch_bytes(const long long* n) { return *n; }')
    nvcc.write_text(NVCC.replace('echo made > "$2"', f'g++ -shared -fPIC -o "$2" -x c++ {source}'))
    library = shared_library.Launcher(shared_library.build(source, "sm_80"), (17,))
    assert library.scratch_bytes() == 17


def test_a_folder_of_another_user_is_not_loaded_from(nvcc: Path, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to make a folder of another user")
    source = tmp_path / "sum.cu"
    source.write_text("int x;", encoding="utf-8")
    folder = shared_library.build(source, "sm_80").parent
    os.chown(folder, 12345, 12345)
    with pytest.raises(BackendError, match=r"only you can access.*set RAYTRACER_CACHE"):
        shared_library.build(source, "sm_80")


def test_what_nvcc_refuses_is_said(nvcc: Path, tmp_path: Path) -> None:
    nvcc.write_text(NVCC.replace("echo made", "echo 'sum.cu(1): error: no'; exit 1 #"))
    source = tmp_path / "sum.cu"
    source.write_text("int x", encoding="utf-8")
    with pytest.raises(CompileError, match=r"sum.cu\(1\): error: no"):
        shared_library.build(source, "sm_80")


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["histogram", "vecadd"])
def test_cub_computes_the_same(name: str) -> None:
    if reason := backend_missing("cuda"):
        pytest.skip(f"cuda: {reason}")
    if find_nvcc() is None:
        pytest.skip("nvcc is missing, which libraries with host code need")
    op = ops.find(name)
    axes = {"n": 100_003}
    arrays = op.values(axes, op.dtypes[0], "normal", 3)
    ((out, output),) = op.output_arrays(axes, op.dtypes[0]).items()
    found = np.zeros(output.shape, output.dtype)
    with Session() as session:
        made = shared_library.Launcher(
            shared_library.build(CUB / f"{name}.cu", session.arch), op.sizes(axes)
        )
        room = made.scratch_bytes()
        sizes = {key: array.nbytes for key, array in arrays.items()}
        with Memory(session, {**sizes, out: output.nbytes, "scratch": max(room, 1)}) as memory:
            for key, array in arrays.items():
                memory.upload(key, array)
            places = [memory.address(key) for key in (*arrays, out)]
            made.launch(memory.address("scratch"), room, places, int(session.stream.handle))
            session.wait()
            memory.download(out, found)
    np.testing.assert_allclose(found, op.reference(arrays)[out], rtol=1e-6)
