"""Wheels with compiled kernels: what is added, and that loading takes it without a compiler."""

from __future__ import annotations

import base64
import hashlib
import zipfile
from pathlib import Path

import pytest

from raytracer import pack_wheel
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import nvrtc

KERNEL = """\
// title: Fill
// idea: writes a constant
// block: 32
// needs: sm_75+
// source: none
extern "C" __global__ void __launch_bounds__(32) fill(float* out) { out[threadIdx.x] = 3; }
"""
PLACE = "raytracer/kernels/cuda/fill.cu"
RUNG = "raytracer/kernels/ladders/fill/01_plain.cu"  # of the bench, which is not compiled
RECORD = "raytracer-1.dist-info/RECORD"


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A wheel with one kernel and an old cubin, and an empty cache."""
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RAYTRACER_CUBINS", raising=False)
    path = tmp_path / "raytracer-1-py3-none-any.whl"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(PLACE, KERNEL)
        archive.writestr(RUNG, KERNEL)
        archive.writestr("raytracer/kernels/cubins/old.cubin", b"old")
        lines = [f"{PLACE},,", f"{RUNG},,", "raytracer/kernels/cubins/old.cubin,,", f"{RECORD},,"]
        archive.writestr(RECORD, "\n".join(lines) + "\n")
    return path


@pytest.mark.usefixtures("cuda_compiler")
def test_an_installed_wheel_needs_no_compiler(
    wheel: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "dist"
    words = [str(wheel), "--arch", "sm_80", "compute_80", "-o", str(output)]
    assert pack_wheel.main(words) == 0
    assert "2 of 2 kernels compiled" in capsys.readouterr().out
    with zipfile.ZipFile(output / wheel.name) as archive:
        archive.extractall(tmp_path / "site")
        names = archive.namelist()
        record = archive.read(RECORD).decode().splitlines()
    added = [name for name in names if name.startswith(pack_wheel.CUBINS)]
    assert len(added) == 2
    assert all(name.endswith(".cubin") for name in added)
    assert record[-1] == f"{RECORD},,"
    assert {line.split(",")[0] for line in record} == set(names)
    for name in added:
        data = (tmp_path / "site" / name).read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        assert f"{name},sha256={digest},{len(data)}" in record
    monkeypatch.setenv("RAYTRACER_NVCC", "none")
    monkeypatch.setattr(nvrtc, "release", lambda: "")
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path / "empty"))
    root = tmp_path / "site/raytracer/kernels"
    source = root / "cuda/fill.cu"
    for arch, start in (("sm_86", b"\x7fELF"), ("sm_120", b"//")):
        cubin = compiler.load(source, arch, root, lambda _: None)
        assert cubin.path is not None
        assert cubin.path.parent == root / "cubins"
        assert cubin.code.lstrip().startswith(start)


@pytest.mark.usefixtures("no_compiler")
def test_without_a_compiler_nothing_is_written(
    wheel: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert pack_wheel.main([str(wheel), "-o", str(tmp_path / "dist")]) == 2
    assert "there is no compiler" in capsys.readouterr().err
    assert not (tmp_path / "dist").exists()
