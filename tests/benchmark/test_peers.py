"""Peers that are files: compilation by nvcc, and checks and times over a stand-in driver."""

import ctypes
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import raytracer
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import driver as binding
from raytracer.backends.cuda import transfer
from raytracer.benchmark import operation_benchmark, peers, record
from raytracer.benchmark.benchmark import BenchOptions
from raytracer.benchmark.cuda import session as device
from raytracer.benchmark.cuda.session import RefusedError, Session
from raytracer.benchmark.operation_benchmark import measure
from raytracer.benchmark.operations import OPERATIONS
from raytracer.benchmark.peers import PeerFile, build, find_peers
from raytracer.config.errors import BackendError
from support.bench_driver import BenchFakeDriver
from support.fake_cuda import cleared
from support.libraries import library_path

TITLES = {
    "vecadd": ["Thrust transform"],
    "histogram": ["CUB DeviceHistogram", "one core of the CPU, with the copy of the keys"],
    "histogram_bins": ["CUB DeviceHistogram"],
    "matmul": ["cuBLASLt (best of 16)"],
    "matmul_bf16": ["cuBLASLt (best of 16)"],
    "matrixadd": [],
    **{op: [] for op in OPERATIONS if "elements" in OPERATIONS[op].axes},
}
# Logs its arguments; "compiles" if the option that NEEDS names is there, else says what ANSWER has.
NVCC = """#!/bin/sh
case "$*" in
--version) echo "Cuda compilation tools, release 13.0, V13.0.88"; exit 0;;
--dryrun*) echo "#$ TOP=/toolkit/bin/.." >&2; exit 0;;
esac
echo "$@" >> {folder}/log
case "$*" in
*"{needs}"*) ;;
*) echo "{answer}" >&2; exit 1;;
esac
while [ "$1" != -o ]; do shift; done
echo library > "$2"
"""
NO_HEADER = "peer.cu:3:10: fatal error: cublasLt.h: No such file or directory"
NO_LIBRARY = "/usr/bin/ld: cannot find -lcublasLt: No such file or directory"


@pytest.mark.parametrize("op", OPERATIONS)
def test_a_peer_is_a_file_in_the_folder_of_its_operation(op: str) -> None:
    assert [peer.title for peer in find_peers(op)] == TITLES[op]
    for peer in find_peers(op):
        assert peer.links == ("cublasLt" if "cublas" in peer.path.name else "")
        assert [each for each in OPERATIONS[op].dtypes if not peer.supports(each)] == (
            ["int32"] if op == "matmul" else []  # cuBLAS multiplies no integers of 32 bits
        )


def test_a_header_names_types(tmp_path: Path) -> None:
    (tmp_path / "peers/copy").mkdir(parents=True)
    (tmp_path / "peers/copy/fast.cu").write_text("// title: Fast\n// dtypes: float32 uint8\n")
    (tmp_path / "peers/copy/plain.cu").write_text("int x;\n")
    fast, plain = find_peers("copy", tmp_path)
    assert (fast.title, plain.title) == ("Fast", "plain")
    assert [fast.supports(dtype) for dtype in ("float32", "uint8", "float64")] == [
        True,
        True,
        False,
    ]
    assert plain.supports("float64")


class Toolkit:
    """An nvcc of which `folder` keeps the arguments."""

    def __init__(self, folder: Path, patch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, patch

    def answers(self, needs: str = "", answer: str = "") -> None:
        path = self.folder / "nvcc"
        path.write_text(NVCC.format(folder=self.folder, needs=needs, answer=answer))
        path.chmod(0o755)
        self.patch.setenv("RAYTRACER_NVCC", str(path))

    @property
    def calls(self) -> list[str]:
        log = self.folder / "log"
        return log.read_text().splitlines() if log.is_file() else []


@pytest.fixture
def toolkit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Toolkit]:
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(peers, "find_spec", lambda _: None)
    with cleared(compiler.read_nvcc_version):
        yield Toolkit(tmp_path, monkeypatch)


def test_a_peer_is_compiled_once_for_each_device_and_type(
    toolkit: Toolkit, capfd: pytest.CaptureFixture[str]
) -> None:
    toolkit.answers()
    (peer,) = find_peers("histogram_bins")
    first = build(peer, "sm_90a", {"RT_KEY": "float"})
    assert first.read_text() == "library\n"
    assert (
        "compiling CUB DeviceHistogram for sm_90a by nvcc 13.0.88 (once" in capfd.readouterr().err
    )
    assert build(peer, "sm_90a", {"RT_KEY": "float"}) == first
    assert capfd.readouterr().err == ""
    (call,) = toolkit.calls
    assert "-arch=sm_90a -DRT_KEY=float" in call
    assert "-shared" in call
    assert call.endswith(str(peer.path))
    others = {build(peer, "sm_80", {"RT_KEY": "float"}), build(peer, "sm_90a", {"RT_KEY": "int"})}
    assert len({first, *others}) == len(toolkit.calls) == 3


def test_a_library_of_the_toolkit_is_linked(toolkit: Toolkit) -> None:
    toolkit.answers()
    build(find_peers("matmul")[0], "sm_90a", {})
    (call,) = toolkit.calls
    assert "-lcublasLt -Xlinker -rpath=/toolkit/bin/../lib64" in call


@pytest.mark.parametrize(
    ("answer", "missing"), [(NO_HEADER, "cublasLt.h"), (NO_LIBRARY, "libcublasLt")]
)
def test_a_missing_library_is_named(toolkit: Toolkit, answer: str, missing: str) -> None:
    toolkit.answers("-never", answer)
    with pytest.raises(RefusedError, match=f"nvcc has no {missing}: install this part of it"):
        build(find_peers("matmul")[0], "sm_90a", {})
    assert len(toolkit.calls) == 1
    assert not [*toolkit.folder.glob("cache/peers/*")]


@pytest.mark.parametrize("answer", [NO_HEADER, NO_LIBRARY])
def test_the_library_of_a_python_package_serves(toolkit: Toolkit, answer: str) -> None:
    package = toolkit.folder / "nvidia/cu13"
    for name in ("include/cublasLt.h", "lib/libcublasLt.so.13"):
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).touch()
    found = SimpleNamespace(submodule_search_locations=[str(package.parent)])
    toolkit.patch.setattr(peers, "find_spec", lambda name: found if name == "nvidia" else None)
    toolkit.answers(f"-isystem {package}/include", answer)
    build(find_peers("matmul")[0], "sm_90a", {})
    _, call = toolkit.calls
    assert f"-L{package}/lib" in call
    assert "-l:libcublasLt.so.13" in call
    assert f"-rpath={package}/lib" in call


def test_what_nvcc_cannot_compile_is_an_error(toolkit: Toolkit) -> None:
    toolkit.answers("-never", "a warning\npeer.cu(4): error: expected a semicolon")
    with pytest.raises(BackendError, match=r"cannot compile it: .*expected a semicolon"):
        build(find_peers("vecadd")[0], "sm_90a", {})


def test_without_nvcc_there_are_no_peers(toolkit: Toolkit) -> None:
    toolkit.patch.setattr(compiler, "find_nvcc", lambda: None)
    with pytest.raises(RefusedError, match="needs nvcc of the CUDA toolkit on Linux: install it"):
        build(find_peers("vecadd")[0], "sm_90a", {})


def test_a_library_that_cannot_be_kept_is_an_error(toolkit: Toolkit) -> None:
    toolkit.answers()
    (toolkit.folder / "cache").write_text("a file")
    with pytest.raises(
        BackendError, match="set RAYTRACER_CACHE to a folder that only you can write"
    ):
        build(find_peers("vecadd")[0], "sm_90a", {})


def test_a_library_that_others_could_have_written_is_not_loaded(toolkit: Toolkit) -> None:
    toolkit.answers()
    (peer,) = find_peers("vecadd")
    build(peer, "sm_90a", {}).chmod(0o666)
    with pytest.raises(BackendError, match="others may write"):
        build(peer, "sm_90a", {})


RUNTIME = """
#pragma once
#include <cstddef>
#include <cstdlib>
enum cudaError_t { cudaSuccess };
using cudaStream_t = void*;
inline const char* cudaGetErrorString(cudaError_t) { return "?"; }
inline cudaError_t cudaMalloc(void** p, size_t size) { return *p = std::malloc(size), cudaSuccess; }
inline void cudaFree(void* p) { std::free(p); }
"""
ADDITION = """
#include "peers/peer.h"
extern "C" { char* base; int finished; }
std::string version() { return "1.2.3"; }
struct Addition : Peer {
  int launches = 0;
  ~Addition() override { ++finished; }
  void launch(const Call& call) override {
    auto at = [&](int i) { return reinterpret_cast<float*>(base + (size_t)call.arrays[i]); };
    const float *a = at(0), *b = at(1);
    float* c = at(2);
    const long long n = call.sizes[0];
    ++launches;
    BODY
  }
};
std::unique_ptr<Peer> prepare(const Call& call) {
  if (call.dtype != std::string("float32")) throw std::runtime_error("no such type");
  PREPARE
  return std::make_unique<Addition>();
}
"""
RIGHT = "for (long long i = 0; i < n; ++i) c[i] = a[i] + b[i];"


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[BenchFakeDriver]:
    made = BenchFakeDriver()
    monkeypatch.setattr(binding, "load", lambda: made)
    monkeypatch.setattr(binding, "format_label", lambda: "fake 1.0")
    monkeypatch.setattr(device, "explain_missing", lambda _: None)
    monkeypatch.setattr(device, "load_bindings", lambda: made)
    monkeypatch.setattr(device, "call", lambda _: None)
    monkeypatch.setattr(device, "SCRATCH", 4096)
    monkeypatch.setattr(operation_benchmark, "LOAD_TIME", 0.0)
    with cleared(binding.get_primary_context, transfer.get_staging):
        yield made
    assert not made.live


Add = Callable[..., dict[str, Any]]


@pytest.fixture
def add(driver: BenchFakeDriver, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Add:
    """Time a peer of vecadd that is compiled for the CPU; return its row."""
    (tmp_path / "cuda_runtime.h").write_text(RUNTIME)

    def run(body: str, prepare: str = "", options: BenchOptions | None = None) -> dict[str, Any]:
        text = ADDITION.replace("BODY", body).replace("PREPARE", prepare)
        path = library_path(tmp_path, "addition", text, "-I", str(tmp_path))
        library = ctypes.CDLL(str(path))
        ctypes.c_void_p.in_dll(library, "base").value = driver.memory.ctypes.data
        monkeypatch.setattr(operation_benchmark, "find_peers", lambda _: [PeerFile(path, "Sum")])
        monkeypatch.setattr(peers, "build", lambda *_: path)
        op = replace(OPERATIONS["vecadd"].at({"n": 1000}), peers=())
        into = record.result(op.name, op.axes, [], "cold", "normal") | {"work": op.work}
        with Session() as session:
            measure(session, op, [], options or BenchOptions(min_time=0.01), lambda _: None, into)
        rows: list[Any] = into["rows"]
        finished = ctypes.c_int.in_dll(library, "finished").value
        return {"finished": finished} | (rows[0] if rows else {})

    return run


@pytest.mark.parametrize("mode", ["cold", "hot"])
def test_a_peer_is_timed_as_a_kernel_is(add: Add, mode: str) -> None:
    row = add(RIGHT, options=BenchOptions(min_time=0.01, mode=mode))
    assert (row["status"], row["kind"], row["label"]) == ("ok", "peer", "Sum")
    assert row["version"] == "1.2.3"
    assert row["time"]["count"] >= 10
    assert row["finished"] == 1


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("", r"c\[0\] is nan instead of .* at the timed size"),
        (f"if (launches < 9) {{ {RIGHT} }}", r"c\[0\] is nan .*, after \d+ launches, when timed"),
        (f"{RIGHT} c[n] = 1.0f;", "writes past the end of c"),
        (f"{RIGHT} const_cast<float*>(a)[0] += 1.0f;", "changes a, an input"),
    ],
)
def test_results_of_a_peer_are_checked(add: Add, body: str, reason: str) -> None:
    row = add(body)
    assert row["status"] == "wrong"
    assert "time" not in row
    assert re.search(reason, row["reason"]), row["reason"]
    assert row["finished"] == 1


@pytest.mark.parametrize(
    ("body", "prepare"),
    [
        (RIGHT, 'throw std::runtime_error("no room");'),
        ('throw std::runtime_error("no room");', ""),
        (f'if (launches > 20) throw std::runtime_error("no room"); {RIGHT}', ""),
    ],
)
def test_what_a_library_throws_is_the_reason(add: Add, body: str, prepare: str) -> None:
    row = add(body, prepare)
    assert (row["status"], row["reason"]) == ("failed", "the library fails: no room")
    assert row["finished"] == (0 if prepare else 1)


def test_peers_can_be_left_out(add: Add) -> None:
    assert "status" not in add(RIGHT, options=BenchOptions(min_time=0.01, peers=False))


def test_a_missing_library_is_a_row_with_the_reason(
    driver: BenchFakeDriver, toolkit: Toolkit
) -> None:
    toolkit.answers("-never", NO_HEADER)
    op = replace(OPERATIONS["matmul"].at({"m": 8, "n": 8, "k": 8}), peers=())
    into = record.result(op.name, op.axes, [], "cold", "normal") | {"work": op.work}
    with Session() as session:
        measure(session, op, [], BenchOptions(min_time=0.01), lambda _: None, into)
    (row,) = into["rows"]
    assert (row["label"], row["status"]) == ("cuBLASLt (best of 16)", "skipped")
    assert "has no cublasLt.h: install this part of it" in row["reason"]


SIZES: list[tuple[str, str, dict[str, int]]] = [
    ("vecadd", "float32", {"n": 1_000_003}),
    ("vecadd", "float32", {"n": 1_000_003, "offset": 1}),
    ("histogram", "uint8", {"n": 20_000_033}),
    ("histogram", "uint8", {"n": 20_000_033, "offset": 3}),
    ("histogram_bins", "float32", {"n": 1_000_003, "bins": 1000}),
    ("histogram_bins", "uint16", {"n": 1_000_003, "bins": 300}),
    ("histogram_bins", "uint32", {"n": 1_000_003, "bins": 1000}),
    ("matmul", "float32", {"m": 385, "n": 1284, "k": 517}),
    ("matmul_bf16", "bfloat16", {"m": 384, "n": 1280, "k": 512}),
    ("matmul_bf16", "bfloat16_out", {"m": 385, "n": 1284, "k": 517}),
]


@pytest.mark.gpu
@pytest.mark.parametrize("mode", ["cold", "hot"])
@pytest.mark.parametrize(("op", "dtype", "axes"), SIZES)
def test_libraries_of_the_toolkit_agree(
    op: str, dtype: str, axes: dict[str, int], mode: str, cuda: str
) -> None:
    first = str(operation_benchmark.select(OPERATIONS[op], ())[-1].number)
    found = raytracer.bench(
        op, variant=first, axes=axes, dtype=dtype, backend=cuda, mode=mode, min_time=0.02
    )
    rows = {row["label"]: row for row in found["results"][0]["rows"]}
    for title in TITLES[op]:
        row = rows[title]
        if row["status"] == "skipped":
            pytest.skip(row["reason"])
        assert row["status"] == "ok", row
        assert row["version"]
        assert row["time"]["median"] > 0


@pytest.mark.slow
@pytest.mark.skipif(compiler.find_nvcc() is None or sys.platform == "win32", reason="no nvcc")
@pytest.mark.parametrize("op", ["histogram", "vecadd"])
def test_nvcc_compiles_peers(op: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RAYTRACER_CACHE", str(tmp_path))
    try:
        library = ctypes.CDLL(str(build(find_peers(op)[0], "sm_80", {})))
    except RefusedError as error:
        pytest.skip(str(error))
    library.peer_version.restype = ctypes.c_char_p
    assert library.peer_version().split(b".")[0].isdigit()
