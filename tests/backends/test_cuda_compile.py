"""From sources to cubins: what a key covers, what the cache serves, what compile_all reports."""

import os
import re
from pathlib import Path

import pytest

from raytracer import compile_all
from raytracer.backends.cuda import cache as cubins
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import nvrtc
from raytracer.backends.cuda.cache import Cubin, collect_includes
from raytracer.backends.cuda.driver import format_architecture
from raytracer.backends.cuda.kernel_selection import IMAGES, OF_IMAGES, PRODUCTION, list_variants
from raytracer.backends.kernel_sources import read_production_kernels
from raytracer.config.errors import BackendError
from raytracer.system.resources import kernels_folder

each_compiler = pytest.mark.usefixtures("cuda_compiler")

KERNEL = """\
// title: Fill
// idea: writes a constant
// block: 32
// needs: {needs}
// source: none
#include "core/value.h"
#include <stdint.h>
extern "C" __global__ void fill(float* out) {{ out[threadIdx.x] = VALUE; }}
"""


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of kernels with one variant and two headers, and an empty cache."""
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("RAYTRACER_CUBINS", raising=False)
    root = tmp_path / "kernels"
    (root / "core").mkdir(parents=True)
    (root / "ladders/fill").mkdir(parents=True)
    (root / "core" / "value.h").write_text('#pragma once\n#  include "deeper.h"\n')
    (root / "core" / "deeper.h").write_text("#define VALUE 3.0f\n")
    (root / "ladders/fill/01_plain.cu").write_text(KERNEL.format(needs="sm_80+"))
    return root


@pytest.fixture
def source(tree: Path) -> Path:
    return tree / "ladders/fill" / "01_plain.cu"


def silent(_: str) -> None:
    """Nobody to tell."""


def test_closure_follows_includes_beside_the_file_and_under_the_root(source: Path) -> None:
    tree, header = source.parents[2], source.parents[2] / "core/deeper.h"
    files = ["core/deeper.h", "core/value.h", "ladders/fill/01_plain.cu"]
    assert list(collect_includes(source, tree)) == files
    header.write_text('#include "value.h"\n')  # a circle ends
    assert len(collect_includes(source, tree)) == 3
    header.write_text("#include WHICH\n")
    with pytest.raises(BackendError, match="#include WHICH is computed"):
        collect_includes(source, tree)


def test_key_covers_headers_architecture_flags_and_environment(
    tree: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def file() -> str:
        return compiler.make_cubin_name(source, "sm_80", tree)

    names = [file(), compiler.make_cubin_name(source, "sm_90a", tree)]
    assert file() == names[0]
    (tree / "core" / "deeper.h").write_text("#define VALUE 4.0f\n")
    names.append(file())
    monkeypatch.setattr(compiler, "FLAGS", (*compiler.FLAGS, "-G"))
    names.append(file())
    if compiler.find_nvcc():
        monkeypatch.setenv("NVCC_APPEND_FLAGS", "-Xptxas -O1")
        names.append(file())
    monkeypatch.setenv("RAYTRACER_NVCC", "none")
    for release in ("13.0.48", "13.0.88", ""):
        monkeypatch.setattr(nvrtc, "read_release", lambda: release)  # noqa: B023
        names.append(file())
    assert len(set(names)) == len(names)


def test_architecture_of_each_generation() -> None:
    seen = [format_architecture(each) for each in ((7, 5), (8, 9), (9, 0), (10, 0), (12, 0))]
    assert seen == ["sm_75", "sm_89", "sm_90a", "sm_100a", "sm_120"]


@pytest.mark.parametrize(
    ("arch", "served"), [("sm_89", "sm_80"), ("sm_121", "sm_120"), ("sm_103", "compute_80"),
                         ("sm_130", "compute_80"), ("sm_90a", "compute_80"), ("sm_75", None)],
)  # fmt: skip
@pytest.mark.usefixtures("no_compiler")
def test_shipped_code_of_another_architecture_serves_without_a_compiler(
    tree: Path, source: Path, arch: str, served: str | None
) -> None:
    for each in ("sm_80", "sm_120", "compute_80"):
        name = compiler.make_cubin_name(source, each, tree)
        cubins.write_cubin(tree / "cubins", name, Cubin(each.encode(), "log"))
    assert bool(compiler.find_ready_made(source, arch, tree)) == (served is not None)
    if served is not None:
        assert compiler.load_cubin(source, arch, tree, silent).code.decode() == served


@each_compiler
def test_ptx_is_text_that_ends_with_a_zero(tree: Path, source: Path) -> None:
    ptx = compiler.compile_source(source, compiler.PTX, tree).code
    assert b".target sm_80" in ptx
    assert ptx.endswith(b"\0")


@each_compiler
def test_compiler_that_is_too_old_for_the_gpu_leaves_the_shipped_code(
    tree: Path, source: Path
) -> None:
    name = compiler.make_cubin_name(source, compiler.PTX, tree)
    cubins.write_cubin(tree / "cubins", name, Cubin(b"ptx", "log"))
    assert compiler.load_cubin(source, "sm_990", tree, silent).code == b"ptx"


def test_flags_keep_the_numbers_of_the_cpu() -> None:
    for kernel in read_production_kernels():
        flags = compiler.collect_flags(kernel.path)
        assert "--fmad=false" in flags, kernel.place
        assert not any("fast" in flag for flag in flags), kernel.place


def test_flags_of_the_header_enter_the_key(tree: Path, source: Path) -> None:
    plain = compiler.make_cubin_name(source, "sm_80", tree)
    assert "--fmad=false" not in compiler.collect_flags(source)
    source.write_text(f"// flags: --fmad=false\n{KERNEL.format(needs='sm_80+')}")
    assert compiler.collect_flags(source)[-1] == "--fmad=false"
    assert compiler.make_cubin_name(source, "sm_80", tree).split(".")[2] != plain.split(".")[2]


NAME = "fill-01_plain.sm_80.0123.abcd.cubin"


@pytest.mark.usefixtures("no_compiler")
def test_shipped_cubin_serves_a_machine_without_a_compiler(tree: Path, source: Path) -> None:
    assert not compiler.find_ready_made(source, "sm_80", tree)
    with pytest.raises(BackendError, match="no compiler: `pip install"):
        compiler.load_cubin(source, "sm_80", tree, silent)
    name = compiler.make_cubin_name(source, "sm_80", tree)
    cubins.write_cubin(tree / "cubins", name.replace("*", "another"), Cubin(b"code", "log"))
    assert compiler.find_ready_made(source, "sm_80", tree)
    assert compiler.load_cubin(source, "sm_80", tree, silent).code == b"code"
    (tree / "core" / "deeper.h").write_text("#define VALUE 4.0f\n")
    assert not compiler.find_ready_made(source, "sm_80", tree)


@each_compiler
def test_compiled_once_then_served_then_mended(tree: Path, source: Path) -> None:
    told: list[str] = []
    first = compiler.load_cubin(source, "sm_80", tree, told.append)
    again = compiler.load_cubin(source, "sm_80", tree, told.append)
    assert len(told) == 1
    assert f"fill-01_plain for sm_80 by {compiler.describe_compiler()} (once" in told[0]
    assert first.compiler == compiler.describe_compiler()
    assert first == again
    assert first.code.startswith(b"\x7fELF")
    assert first.path is not None
    first.path.write_bytes(first.path.read_bytes()[:-1])
    assert compiler.load_cubin(source, "sm_80", tree, told.append) == first
    assert len(told) == 2


def test_one_message_is_for_all_instances_of_a_kernel(
    tree: Path, source: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiler, "_announced", set())
    monkeypatch.setattr(compiler, "describe_compiler", lambda: "nvcc 13.0")
    monkeypatch.setattr(compiler, "compile_source", lambda *_: Cubin(b"code", ""))
    said = list[str]()
    for arch, tile in [("sm_80", "1"), ("sm_80", "2"), ("sm_90a", "1"), ("sm_80", "1")]:
        compiler.load_cubin(source, arch, tree, notify=said.append, macros={"TILE": tile})
    assert said == [
        f"compiling fill-01_plain for {arch} by nvcc 13.0 (once; the result is kept)"
        for arch in ("sm_80", "sm_90a")
    ]


@each_compiler
def test_cache_that_cannot_be_written_is_said_and_endured(
    tree: Path, source: Path, tmp_path: Path
) -> None:
    (tmp_path / "cache").write_text("a file where the folder should be")
    told: list[str] = []
    assert compiler.load_cubin(source, "sm_80", tree, told.append).code.startswith(b"\x7fELF")
    assert "RAYTRACER_CACHE" in told[-1]


@each_compiler
def test_compile_all_keeps_cubins_where_another_machine_finds_them(
    tree: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    request: pytest.FixtureRequest,
) -> None:
    (tree / "ladders/fill" / "02_hopper.cu").write_text(KERNEL.format(needs="sm_90a"))
    folder = tmp_path / "carry"
    arguments = ["--kernels", str(tree), "-o", str(folder), "--arch", "sm_80", "sm_90a"]
    assert compile_all.main(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines[:-1]] == [
        "kernels/ladders/fill/01_plain.cu sm_80",
        "kernels/ladders/fill/01_plain.cu sm_90a",
        "kernels/ladders/fill/02_hopper.cu sm_90a",
    ]
    assert re.search(
        r": fill \d+ registers, 0 bytes shared, 0 bytes spilled, in \d+\.\d s$", lines[0]
    )
    request.getfixturevalue("no_compiler")
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path / "empty"))
    monkeypatch.setenv("RAYTRACER_CUBINS", str(folder))
    source = tree / "ladders/fill" / "02_hopper.cu"
    assert compiler.load_cubin(source, "sm_90a", tree, silent).code.startswith(b"\x7fELF")


@each_compiler
def test_architecture_that_a_compiler_does_not_know_is_said(tree: Path, source: Path) -> None:
    with pytest.raises(compiler.CompileError, match=r"cannot compile .* for sm_10:(.|\n)*arch"):
        compiler.compile_source(source, "sm_10", tree)


def test_variants_of_some_architectures_can_be_left_out() -> None:
    made = compile_all.jobs(kernels_folder(), ["sm_75", "sm_80"], complete=["sm_80"])
    for arch, of_each in (("sm_75", list_variants), ("sm_80", lambda _: [()])):
        for name in PRODUCTION:
            of_kernel = [job for job in made if job.arch == arch and job.kernel.name == name]
            of_images = [job for job in of_kernel if job.macros == IMAGES]
            assert len(of_images) == (name in OF_IMAGES), (arch, name)
            assert len(of_kernel) == len(of_each(name)) + len(of_images), (arch, name)
            assert any(not job.macros for job in of_kernel)


@pytest.mark.usefixtures("no_compiler")
def test_compile_all_without_a_compiler(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert compile_all.main(["--kernels", str(tree)]) == 2
    assert "there is no compiler: `pip install" in capsys.readouterr().err
    assert [job.label for job in compile_all.jobs(tree, ["sm_75", "sm_120"])] == [
        "kernels/ladders/fill/01_plain.cu sm_120"
    ]


def test_cache_refuses_a_damaged_truncated_or_missing_file(tmp_path: Path) -> None:
    written = cubins.write_cubin(
        tmp_path, NAME, Cubin(b"\x7fELF code", "a log", compiler="nvcc 13")
    )
    assert written == tmp_path / "fill-01_plain.sm_80.0123.abcd.cubin"
    assert cubins.read_cubin(written) == Cubin(b"\x7fELF code", "a log", written, "nvcc 13")
    assert [entry.name for entry in tmp_path.iterdir()] == [written.name]
    whole = written.read_bytes()
    path = tmp_path / "damaged"
    assert cubins.read_cubin(path) is None
    for place in range(len(whole)):
        changed = whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :]
        for damaged in (whole[:place], changed):
            path.write_bytes(damaged)
            assert cubins.read_cubin(path) is None


def test_cache_of_another_user_is_neither_read_nor_written(
    tree: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if os.geteuid() != 0:
        pytest.skip("needs root, to make a folder of another user")
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path / "own"))
    folder = cubins.make_own_folder()
    assert folder.stat().st_mode & 0o777 == 0o700
    cubins.write_cubin(folder, NAME, Cubin(b"code", "log"))
    assert cubins.find_cubin(NAME, tree)
    os.chown(folder, 12345, 12345)
    assert cubins.find_cubin(NAME, tree) is None
    monkeypatch.setattr(compiler, "compile_source", lambda *_: Cubin(b"code", "log"))
    told: list[str] = []
    assert compiler.load_cubin(source, "sm_80", tree, told.append).path is None
    assert "belongs to another user" in told[-1]
    assert "set RAYTRACER_CACHE" in told[-1]


@pytest.mark.parametrize("way", ["writable", "link", "pipe", "foreign", "not of this program"])
def test_a_cubin_that_others_could_have_written_is_made_anew(
    tree: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(compiler, "compile_source", lambda *_: Cubin(b"code", "log"))
    kept = compiler.load_cubin(source, "sm_80", tree, silent).path
    assert kept is not None
    assert cubins.find_cubin(kept.name, tree)
    other = tmp_path / "other.cubin"
    kept.rename(other)
    if way == "writable":
        kept.write_bytes(other.read_bytes())
        kept.chmod(0o666)
    elif way == "link":
        kept.symlink_to(other)
    elif way == "pipe":
        os.mkfifo(kept)
    elif way == "foreign":
        if os.geteuid() != 0:
            pytest.skip("needs root, to make a file of another user")
        kept.write_bytes(other.read_bytes())
        os.chown(kept, 12345, 12345)
    else:
        body = b"code\n[]"
        kept.write_bytes(body + cubins._digest(body))
    assert cubins.find_cubin(kept.name, tree) is None
    assert compiler.load_cubin(source, "sm_80", tree, silent).path == kept
    assert cubins.find_cubin(kept.name, tree)


@pytest.mark.parametrize("way", ["writable", "link"])
def test_cache_that_others_may_write_is_neither_read_nor_written(
    tree: Path, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, way: str
) -> None:
    monkeypatch.setattr(compiler, "compile_source", lambda *_: Cubin(b"code", "log"))
    folder = tmp_path / "cache" / "cubins"
    other = tmp_path / "other"
    assert compiler.load_cubin(source, "sm_80", tree, silent).path is not None
    if way == "link":
        folder.rename(other)
        folder.symlink_to(other)
    else:
        folder.chmod(0o775)
    told: list[str] = []
    assert compiler.load_cubin(source, "sm_80", tree, told.append).path is None
    assert str(folder) in told[-1]
    assert "set RAYTRACER_CACHE" in told[-1]
